"""Laws that every error measure of shares obeys. An exemption states its reason."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headcount.errors import check_comparable, get_error, list_errors
from headcount.exceptions import DataError
from headcount.selection.scoring import measures_of


def with_equal_training_shares(measure):
    """Return the measure with training shares that are equal, if it needs any: then the order of the classes does not matter."""
    if not measure.needs_training:
        return measure
    return replace(
        measure,
        needs_training=False,
        function=lambda true, estimated: measure(
            true, estimated, training=np.full(np.shape(estimated)[-1], 1 / np.shape(estimated)[-1])
        ),
    )


MEASURES = [with_equal_training_shares(measure) for measure in list_errors("shares") if not measure.signed]
"""A signed measure, the bias, is below 0 for underestimated shares; it has laws of its own."""
every_measure = pytest.mark.parametrize("measure", MEASURES, ids=lambda m: m.name)


@st.composite
def pairs(draw, most_classes=5):
    """True and estimated shares of a few samples, with zeros and ones among them, and the samples' sizes."""
    k = draw(st.integers(2, most_classes))
    n = draw(st.integers(1, 6))
    counts = st.lists(st.integers(0, 9), min_size=k, max_size=k).filter(any)
    p, p_hat = (np.array(draw(st.lists(counts, min_size=n, max_size=n)), dtype=float) for _ in range(2))
    sizes = np.array(draw(st.lists(st.integers(1, 10_000), min_size=n, max_size=n)))
    return p / p.sum(axis=1, keepdims=True), p_hat / p_hat.sum(axis=1, keepdims=True), sizes


@every_measure
@given(case=pairs())
def test_zero_if_and_only_if_the_shares_are_equal(measure, case):
    p, p_hat, sizes = case
    np.testing.assert_allclose(measure(p, p, sizes), 0, atol=1e-12)
    errors, equal = measure(p, p_hat, sizes), np.abs(p - p_hat).max(axis=1) < 1e-12
    assert (errors >= 0).all()
    assert (errors[~equal] > 0).all()


@every_measure
@given(case=pairs())
def test_many_samples_at_once_equal_one_by_one(measure, case):
    p, p_hat, sizes = case
    one_by_one = [measure(a, b, size) for a, b, size in zip(p, p_hat, sizes, strict=True)]
    np.testing.assert_allclose(measure(p, p_hat, sizes), one_by_one, rtol=1e-12)
    assert np.shape(one_by_one[0]) == ()


@every_measure
@given(case=pairs())
def test_values_stay_within_the_declared_bound(measure, case):
    if measure.upper is not None:
        assert (measure(*case) <= measure.upper + 1e-9).all()


@every_measure
@given(case=pairs(), seed=st.integers(0, 100))
def test_the_order_of_classes_matters_only_to_measures_of_ordered_classes(measure, case, seed):
    p, p_hat, sizes = case
    k = p.shape[1]
    order = np.arange(k)[::-1] if measure.ordered else np.random.default_rng(seed).permutation(k)
    np.testing.assert_allclose(
        measure(p[:, order], p_hat[:, order], sizes), measure(p, p_hat, sizes), rtol=1e-9, atol=1e-12
    )


@every_measure
@given(case=pairs(), t=st.floats(0.01, 0.99))
def test_grows_with_the_distance_along_a_line(measure, case, t):
    p, p_hat, sizes = case
    between = (1 - t) * p + t * p_hat
    assert (measure(p, between, sizes) <= measure(p, p_hat, sizes) + 1e-9).all()


@every_measure
@pytest.mark.parametrize(
    ("true", "estimated", "words"),
    [
        ([0.5, 0.6], [0.5, 0.5], "sum to 1"),
        ([0.5, 0.5], [np.nan, 0.5], "sum to 1"),
        ([1.5, -0.5], [0.5, 0.5], "not negative"),
        ([0.5, 0.5], [0.2, 0.3, 0.5], "must be the same"),
        ([1.0], [1.0], "at least two classes"),
        (np.empty((0, 2)), np.empty((0, 2)), "at least two classes"),
        (["a", "b"], [0.5, 0.5], "must hold numbers"),
        ([[0.5, 0.5], [1.0]], [0.5, 0.5], "must hold numbers"),
    ],
)
def test_invalid_shares_are_refused(measure, true, estimated, words):
    with pytest.raises(DataError, match=words):
        measure(true, estimated, 100)


@every_measure
def test_shares_rounded_below_zero_are_accepted(measure):
    rounded = np.array([1 + 1e-10, -1e-10])
    for size in (np.inf, 10**12):
        assert measure(rounded, [1.0, 0.0], size) < 1e-6
        assert measure([0.5, 0.5], rounded, size) > 0
        assert measure(rounded, [0.5, 0.5], size) > 0


@pytest.mark.parametrize("measure", [m for m in MEASURES if m.needs_sample_size], ids=lambda m: m.name)
def test_smoothing_measures_need_a_positive_sample_size(measure):
    with pytest.raises(DataError, match="pass sample_size"):
        measure([0.5, 0.5], [0.4, 0.6])
    with pytest.raises(DataError, match="must be positive"):
        measure([0.5, 0.5], [0.4, 0.6], 0)
    with pytest.raises(DataError, match="one number or one for each sample"):
        measure([[0.5, 0.5]], [[0.4, 0.6]], [100, 200])
    finite = measure([0.2, 0.8], [0.4, 0.6], 10**9)
    np.testing.assert_allclose(measure([0.2, 0.8], [0.4, 0.6], np.inf), finite, rtol=1e-6)


@pytest.mark.parametrize("measure", [m for m in MEASURES if m.needs_sample_size], ids=lambda m: m.name)
def test_errors_of_an_empty_class_without_smoothing(measure):
    assert measure([0.0, 1.0], [0.0, 1.0], np.inf) == 0
    expected = {"rae": np.inf, "nrae": 1.0, "aqe": np.inf, "kld": 0.4 * 0 + 0.6 * np.log(0.6 / 0.5)}
    expected["nkld"] = np.tanh(expected["kld"] / 2)
    assert measure([0.0, 0.4, 0.6], [0.1, 0.4, 0.5], np.inf) == pytest.approx(expected[measure.name])


@every_measure
def test_shares_are_validated_once(measure, monkeypatch):
    from headcount.errors import shares

    calls = []
    validate = shares.as_shares
    monkeypatch.setattr(shares, "as_shares", lambda values, what: calls.append(what) or validate(values, what))
    measure([0.5, 0.5], [0.4, 0.6], 100)
    assert [what for what in calls if what != "training"] == ["true", "estimated"]


@given(case=pairs(most_classes=2))
def test_the_bias_is_the_error_of_the_second_share_and_changes_sign_with_the_classes(case):
    p, p_hat, sizes = case
    bias = get_error("bias")
    np.testing.assert_allclose(bias(p, p_hat, sizes), p_hat[:, 1] - p[:, 1], atol=1e-15)
    np.testing.assert_allclose(bias(p[:, ::-1], p_hat[:, ::-1]), -bias(p, p_hat), atol=1e-12)
    np.testing.assert_allclose(np.abs(bias(p, p_hat)), get_error("ae")(p, p_hat), atol=1e-12)


@pytest.mark.parametrize("name", ["bias", "sre"])
def test_what_does_not_rank_methods_is_refused_as_a_scoring(name):
    with pytest.raises(DataError, match="choose by another measure"):
        check_comparable(get_error(name))
    with pytest.raises(DataError, match="choose by another measure"):
        measures_of(["ae", name])
    check_comparable(get_error("aqe"))
