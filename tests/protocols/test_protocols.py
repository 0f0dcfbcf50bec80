"""Protocols draw the right number of items of each class, uniformly, with and without replacement, and repeatably."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare
from sklearn.base import clone

from headcount import (
    ArtificialPrevalence,
    DirichletPrevalence,
    NaturalPrevalence,
    OrdinalShift,
    SmoothPrevalence,
    UniformPrevalence,
)
from headcount.exceptions import DataError

PROTOCOLS = [
    ArtificialPrevalence(5, repeats=3, sample_size=20, random_state=0),
    UniformPrevalence(30, sample_size=20, random_state=0),
    NaturalPrevalence(30, sample_size=20, random_state=0),
    DirichletPrevalence(0.7, n_samples=30, sample_size=20, random_state=0),
    OrdinalShift("location", 1.5, n_samples=30, sample_size=20, random_state=0),
    OrdinalShift("spread", n_samples=30, sample_size=20, random_state=0),
    SmoothPrevalence(0.5, n_samples=30, sample_size=20, random_state=0),
]
every = pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: type(p).__name__)


def labels(n, n_classes, seed=0):
    y = np.random.default_rng(seed).integers(0, n_classes, n)
    y[:n_classes] = np.arange(n_classes)
    return y


@every
@pytest.mark.kernels
@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("n_items", [12, 100])
def test_true_shares_are_those_of_the_drawn_items(protocol, n_classes, n_items):
    y = labels(n_items, n_classes)
    samples, true = protocol.draw(y)
    assert (samples.sizes == 20).all()
    counted = [np.bincount(y[rows], minlength=n_classes) / 20 for rows in samples]
    np.testing.assert_allclose(true, counted, atol=1e-15)


@pytest.mark.kernels
@given(n_negative=st.integers(1, 40), n_positive=st.integers(1, 40), seed=st.integers(0, 1000))
def test_items_are_drawn_without_replacement_only_if_the_class_has_enough(n_negative, n_positive, seed):
    y = np.repeat([0, 1], [n_negative, n_positive])
    samples, true = ArtificialPrevalence(5, repeats=2, sample_size=20, random_state=seed).draw(y)
    for rows, p in zip(samples, true, strict=True):
        for c, available in enumerate((n_negative, n_positive)):
            of_class = rows[y[rows] == c]
            count = round(20 * p[c])
            assert len(of_class) == count
            if count <= available:
                assert len(set(of_class.tolist())) == count


def test_the_papers_protocol_for_two_classes():
    samples, true = ArtificialPrevalence(21, repeats=10, sample_size=500, random_state=0).draw(labels(5000, 2))
    assert len(samples) == 210
    assert true[:, 1].tolist() == np.repeat(np.arange(0, 501, 25) / 500, 10).tolist()
    assert len({tuple(sorted(rows.tolist())) for rows in samples}) == 210


@pytest.mark.parametrize(("size", "replaced"), [(30, False), (200, True)])
def test_every_item_of_a_class_is_drawn_equally_often(size, replaced):
    y = np.repeat([0, 1], [60, 60])
    samples, _ = ArtificialPrevalence(3, repeats=2000, sample_size=size, random_state=1).draw(y)
    drawn = np.bincount(samples.indices, minlength=120)
    assert chisquare(drawn[:60]).pvalue > 1e-3
    assert chisquare(drawn[60:]).pvalue > 1e-3
    assert any(len(set(rows.tolist())) < len(rows) for rows in samples) == replaced


def test_pairs_of_items_are_drawn_equally_often():
    samples, _ = NaturalPrevalence(20_000, sample_size=2, random_state=3).draw([0, 1] * 3)
    pairs = np.array(list(samples))
    counts = np.zeros((6, 6))
    np.add.at(counts, (pairs[:, 0], pairs[:, 1]), 1)
    assert (np.diag(counts) == 0).all()
    assert chisquare(counts[~np.eye(6, dtype=bool)]).pvalue > 1e-3


def test_consecutive_samples_are_independent():
    """A sample starts from the item order that the previous one left; that must not make them dependent."""
    samples, _ = NaturalPrevalence(20_000, sample_size=3, random_state=4).draw([0, 1] * 5)
    first = np.array([rows[0] for rows in samples])
    counts = np.zeros((10, 10))
    np.add.at(counts, (first[:-1], first[1:]), 1)
    assert chisquare(counts.ravel()).pvalue > 1e-3


def test_uniform_prevalence_covers_the_simplex():
    _, true = UniformPrevalence(5000, sample_size=100, random_state=0).draw(labels(3000, 3))
    np.testing.assert_allclose(true.mean(axis=0), 1 / 3, atol=0.015)
    np.testing.assert_allclose(true.var(axis=0), 1 / 18, atol=0.004)


def test_natural_prevalence_varies_around_the_shares_of_the_pool():
    y = np.repeat(["a", "b"], [900, 100])
    _, true = NaturalPrevalence(2000, sample_size=50, random_state=0).draw(y)
    assert true[:, 1].mean() == pytest.approx(0.1, abs=0.004)
    without_replacement = 0.09 / 50 * (1000 - 50) / 999
    assert true[:, 1].var() == pytest.approx(without_replacement, rel=0.1)


@every
def test_same_seed_same_bits_for_any_number_of_threads(protocol, monkeypatch):
    big = clone(protocol).set_params(sample_size=3000)
    y = labels(5000, 2)
    drawn = []
    for threads in (1, 2, 5):
        monkeypatch.setattr("headcount._threads.thread_count", lambda threads=threads: threads)
        drawn.append(big.draw(y)[0].indices)
    assert np.array_equal(drawn[0], drawn[1])
    assert np.array_equal(drawn[0], drawn[2])


@every
def test_random_state_may_be_an_integer_none_or_a_generator(protocol):
    y = labels(100, 2)

    def draw(random_state):
        return clone(protocol).set_params(random_state=random_state).draw(y)[0].indices

    for seed in (0, 7, np.int64(7), 2**40):
        assert np.array_equal(draw(seed), draw(seed))
    assert not np.array_equal(draw(0), draw(1))
    assert not np.array_equal(draw(None), draw(None))
    for make in (np.random.RandomState, np.random.default_rng):
        assert np.array_equal(draw(make(5)), draw(make(5)))
        running = make(5)
        assert not np.array_equal(draw(running), draw(running))
    with pytest.raises(DataError, match="random_state must be"):
        draw("seven")
    with pytest.raises(DataError, match="random_state must be"):
        draw(-1)


@every
def test_the_global_generator_is_neither_used_nor_seeded(protocol):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    clone(protocol).set_params(random_state=None).draw(labels(50, 2))
    assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@every
def test_protocols_can_be_cloned_pickled_and_shown(protocol):
    assert repr(clone(protocol)) == repr(protocol)
    assert "<th>sample_size</th><td>20</td>" in protocol._repr_html_()
    assert "Not fitted" not in protocol._repr_mimebundle_()["text/html"]
    again = pickle.loads(pickle.dumps(protocol))
    y = labels(60, 2)
    assert np.array_equal(again.draw(y)[0].indices, protocol.draw(y)[0].indices)


@every
def test_classes_may_be_given_in_another_order_and_strings_work(protocol):
    y = np.array(["neg", "pos"])[labels(60, 2)]
    samples, true = protocol.draw(y, classes=["pos", "neg"])
    np.testing.assert_allclose(true[:, 0], [(y[rows] == "pos").mean() for rows in samples], atol=1e-15)


def test_a_class_missing_from_the_pool_is_refused_unless_drawn_at_natural_prevalence():
    y = np.array(["a", "b"] * 30)
    for protocol in (*PROTOCOLS[:2], PROTOCOLS[3]):
        with pytest.raises(DataError, match="asks for items of class 'c', and the pool has none"):
            protocol.draw(y, classes=["a", "b", "c"])
    _, true = PROTOCOLS[2].draw(y, classes=["a", "c", "b"])
    assert (true[:, 1] == 0).all()


def test_a_pool_of_one_class_needs_the_classes_argument():
    with pytest.raises(DataError, match="only one class, 'a'"):
        NaturalPrevalence().draw(["a"] * 5)
    _, true = NaturalPrevalence(3, sample_size=2).draw(["a"] * 5, classes=["a", "b"])
    assert true.tolist() == [[1, 0]] * 3


def test_too_many_samples_are_refused_with_a_way_to_lift_the_limit():
    y = labels(200, 6)
    with pytest.raises(DataError, match=r"531,300 samples; the limit is 10,000\. .*limit=None lifts it"):
        ArtificialPrevalence(21, repeats=10, limit=10_000).draw(y)
    samples, _ = ArtificialPrevalence(4, repeats=1, sample_size=5, limit=None).draw(y)
    assert len(samples) == 56


@pytest.mark.parametrize(
    ("protocol", "words"),
    [
        (ArtificialPrevalence(1), "'n_prevalences' parameter of ArtificialPrevalence must be an int in the range"),
        (ArtificialPrevalence(repeats=0), "'repeats' parameter"),
        (ArtificialPrevalence(sample_size=0), "'sample_size' parameter"),
        (UniformPrevalence(sample_size=2.5), "'sample_size' parameter"),
        (NaturalPrevalence(0), "'n_samples' parameter"),
    ],
)
def test_parameters_out_of_range_are_refused(protocol, words):
    with pytest.raises(ValueError, match=words):
        protocol.draw([0, 1])


@every
@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([], "is empty"),
        ([[0, 1], [1, 0]], "one-dimensional"),
        ([0.0, np.nan], "missing label at position 1"),
        (np.array([0.0, np.inf]), "NaN or infinite label at position 1"),
        (["a", float("nan")], "missing label at position 1"),
        ([1, "1"], "different types"),
        (["a", None], "missing label at position 1"),
        (np.array(["a", 1], dtype=object), "can't be ordered"),
        (np.ma.masked_array([1, 2], mask=[0, 1]), "masked"),
    ],
)
def test_invalid_labels_are_refused(protocol, y, words):
    with pytest.raises(DataError, match=words):
        protocol.draw(y)


@pytest.mark.kernels
@pytest.mark.parametrize("size", [5, 30])
def test_the_drawn_items_equal_a_shuffle_by_the_numpy_generator(size):
    """The kernel computes the same random numbers as numpy, so the draw can be repeated in plain Python."""
    from headcount.protocols import Samples
    from headcount.protocols.base import draw_items

    seed = np.random.SeedSequence(5)
    drawn = draw_items(np.full((4, 1), size), Samples.whole(20), seed)
    uniforms = iter(np.random.Generator(np.random.SFC64(np.random.SeedSequence(5, spawn_key=(0,)))).random(4 * size))
    order = np.arange(20)
    for rows in drawn:
        for i in range(size):
            if size > 20:
                assert rows[i] == order[int(next(uniforms) * 20)]
                continue
            j = i + int(next(uniforms) * (20 - i))
            order[[i, j]] = order[[j, i]]
            assert rows[i] == order[i]
