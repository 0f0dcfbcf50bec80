"""Samples: how they are made, their sums and counts, slices, groups and merging, and invalid ones refused."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headcount import Samples
from headcount.exceptions import DataError
from headcount.protocols import as_samples


@st.composite
def cases(draw):
    """Codes and feature rows of a pool, and samples of it, possibly empty and possibly weighted."""
    n_items = draw(st.integers(1, 30))
    sizes = draw(st.lists(st.integers(0, 12), min_size=1, max_size=8))
    generator = np.random.default_rng(draw(st.integers(0, 10**6)))
    n_columns = draw(st.integers(1, 4))
    indices = generator.integers(0, n_items, sum(sizes))
    weights = generator.random(sum(sizes)) if draw(st.booleans()) else None
    samples = Samples(indices, np.cumsum([0, *sizes]), weights)
    return samples, generator.integers(0, n_columns, n_items).astype(np.int32), generator.random((n_items, n_columns))


@pytest.mark.kernels
@given(case=cases())
def test_sums_and_counts_equal_a_plain_loop(case):
    samples, codes, rows = case
    k = rows.shape[1]
    weights = np.ones(len(samples.indices)) if samples.weights is None else samples.weights
    for s in range(len(samples)):
        entries = slice(samples.indptr[s], samples.indptr[s + 1])
        items, w = samples.indices[entries], weights[entries]
        np.testing.assert_allclose(samples.sum(rows)[s], w @ rows[items], atol=1e-12)
        np.testing.assert_allclose(
            samples.count(codes, k)[s], [w[codes[items] == c].sum() for c in range(k)], atol=1e-12
        )
        assert samples.total_weights()[s] == pytest.approx(w.sum())


@pytest.mark.kernels
def test_long_samples_are_summed_without_losing_digits():
    n = 5000
    rows = np.column_stack([np.full(n, 0.1), np.full(n, 1e-9), np.linspace(0, 1, n)])
    unweighted = Samples.whole(n)
    np.testing.assert_allclose(unweighted.sum(rows)[0], [500, 5e-6, n / 2], rtol=1e-13)
    np.testing.assert_allclose(unweighted.sum(rows[:, :2])[0], [500, 5e-6], rtol=1e-13)
    weighted = Samples(np.arange(n), [0, n], weights=np.full(n, 0.5))
    np.testing.assert_allclose(weighted.sum(rows)[0], [250, 2.5e-6, n / 4], rtol=1e-13)
    assert weighted.count(np.zeros(n, dtype=np.int32), 2).tolist() == [[n / 2, 0]]


@given(groups=st.lists(st.sampled_from(["b", "a", "zz"]), min_size=1, max_size=40))
def test_groups_partition_the_items_in_order(groups):
    samples = Samples.from_groups(groups)
    assert samples.names == tuple(sorted(set(groups)))
    for name, rows in zip(samples.names, samples, strict=True):
        assert rows.tolist() == [i for i, g in enumerate(groups) if g == name]


def test_samples_from_a_matrix_lists_and_none():
    matrix = np.array([[0, 1], [2, 2]])
    for samples in (Samples.from_matrix(matrix), Samples.from_lists(matrix), as_samples(matrix.tolist(), 3)):
        assert [rows.tolist() for rows in samples] == matrix.tolist()
    assert as_samples(None, 4)[0].tolist() == [0, 1, 2, 3]
    assert as_samples(samples, 3) is samples
    assert samples[-1].tolist() == [2, 2]
    assert Samples.from_lists([]).sizes.tolist() == []


def test_samples_are_read_only_and_copy_the_given_arrays():
    rows = np.array([0, 1, 2])
    samples = Samples(rows, [0, 3])
    rows[0] = 99
    assert samples[0].tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="read-only"):
        samples.indices[0] = 1
    with pytest.raises(AttributeError, match="frozen"):
        samples.indices = rows


def test_samples_can_be_pickled():
    samples = Samples([0, 1, 2], [0, 1, 3], weights=[1, 2, 3], names=["x", "y"])
    copy = pickle.loads(pickle.dumps(samples))
    assert copy.names == ("x", "y")
    assert copy.weights.tolist() == [1, 2, 3]
    assert not copy.indices.flags.writeable


def test_repr_shows_the_number_of_samples_and_items():
    assert repr(Samples.whole(1234)) == "Samples(1 sample of 1,234 items)"
    assert repr(Samples([0, 1], [0, 2], weights=[1, 1])) == "Samples(1 sample of 2 items, weighted)"
    assert repr(Samples([], [0])) == "Samples(0 samples)"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Samples([0, -1], [0, 2]), "start at 0"),
        (lambda: Samples([0, 1], [0, 3]), "must rise from 0"),
        (lambda: Samples([0, 1], [0, 2, 1, 2]), "must rise from 0"),
        (lambda: Samples([0, 1], []), "must rise from 0"),
        (lambda: Samples([[0, 1]], [0, 2]), "one-dimensional"),
        (lambda: Samples([0.5, 1], [0, 2]), "whole numbers"),
        (lambda: Samples([True, False], [0, 2]), "whole numbers"),
        (lambda: Samples([0, 1], [0, 2], weights=[1.0]), "one for each of the 2 entries"),
        (lambda: Samples([0, 1], [0, 2], weights=[1.0, -1]), "not negative"),
        (lambda: Samples([0, 1], [0, 2], weights=[1.0, np.nan]), "finite"),
        (lambda: Samples([0, 1], [0, 2], names=["a", "b"]), "2 names were given for 1 samples"),
        (lambda: Samples.from_matrix([0, 1]), "one row a sample"),
        (lambda: Samples.from_matrix([[0, 1], [2]]), "from_lists"),
        (lambda: Samples.from_groups(["a", None]), "missing label at position 1"),
        (lambda: as_samples([[0, 5]], 3), "row number 5, but the pool has 3 items"),
        (lambda: Samples([0, 5], [0, 2]).sum(np.ones((3, 1))), "row number 5"),
        (lambda: Samples([0, 5], [0, 2]).count(np.zeros(3, dtype=np.int32), 1), "row number 5"),
        (lambda: Samples([0], [0, 1]).count(np.array([10**9], dtype=np.int32), 3), "codes must be from 0 to 2"),
        (lambda: Samples([0], [0, 1]).count(np.array([[-1]], dtype=np.int32), 3), "codes must be from 0 to 2"),
        (lambda: Samples([0], [0, 1]).sum(np.ones(3)), "one row an item"),
        (lambda: Samples([0], [0, 1]).sum(np.array([["a"]])), "A matrix of numbers is needed"),
        (lambda: Samples([0, 1], [0, 2], weights=[1e308, 1e308]), "finite"),
        (lambda: Samples.from_lists([0, 1]), "row numbers of each sample"),
        (lambda: Samples.from_groups(np.array(["a", 1], dtype=object)), "different types"),
        (lambda: Samples.whole(-1), "can't have -1 items"),
        (lambda: Samples.merged(Samples.whole(1), Samples([], [0, 0, 0]), 1), "can't be merged"),
    ],
)
def test_invalid_samples_are_refused(make, words):
    with pytest.raises(DataError, match=words):
        make()


def test_a_slice_of_samples_is_samples():
    samples = Samples([0, 1, 2, 3], [0, 1, 2, 4], weights=[1, 2, 3, 4], names=["x", "y", "z"])
    part = samples[1:]
    assert [rows.tolist() for rows in part] == [[1], [2, 3]]
    assert part.names == ("y", "z")
    assert part.total_weights().tolist() == [2, 7]
    assert len(samples[3:]) == len(samples[2:1]) == 0
    with pytest.raises(IndexError, match="steps of 1"):
        samples[::2]


def test_groups_keep_the_type_of_their_names():
    days = np.array(["2020-02-01", "2020-01-01"], dtype="datetime64[ns]")
    assert Samples.from_groups(days).names == tuple(np.sort(days))
    assert Samples([0, 1], [0, 1, 2], names=[("a", 1), ("b", 2)]).names == (("a", 1), ("b", 2))


@given(case=cases(), cut=st.integers(0, 30))
def test_merging_two_parts_of_the_pool_keeps_the_sums(case, cut):
    samples, _, rows = case
    cut = min(cut, len(rows))
    parts = []
    for low, high in ((0, cut), (cut, len(rows))):
        inside = (samples.indices >= low) & (samples.indices < high)
        ends = np.concatenate([[0], np.cumsum(inside)])[samples.indptr]
        weights = None if samples.weights is None else samples.weights[inside]
        parts.append(Samples(samples.indices[inside] - low, ends, weights))
    merged = Samples.merged(*parts, offset=cut)
    np.testing.assert_allclose(merged.sum(rows), samples.sum(rows), atol=1e-12)


def test_an_index_beyond_the_last_sample_is_refused():
    with pytest.raises(IndexError, match="no sample 2"):
        Samples([0, 1], [0, 1, 2])[2]


def test_samples_are_tables_in_notebooks():
    samples = Samples([0, 1, 2], [0, 2, 3], weights=[1.0, 2.0, 3.0], names=["<a>", "b"], counts=[1, 1, 4])
    assert "&lt;a&gt;" in samples._repr_html_()
    assert "30 more rows" in Samples.from_matrix(np.zeros((50, 1), dtype=int))._repr_html_()
    frame = samples.to_frame()
    assert frame.to_dict("list") == {
        "sample": ["<a>", "<a>", "b"],
        "item": [0, 1, 2],
        "weight": [1.0, 2.0, 3.0],
        "count": [1.0, 1.0, 4.0],
    }
