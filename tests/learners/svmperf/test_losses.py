"""Losses against their definitions, and the search for the worst labelling against enumeration."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headcount.exceptions import DataError, UnknownNameError
from headcount.learners.svmperf.losses import LOSSES, worst_labelling


def loss_of(name, a, b, P, N):
    """The loss when a positives and b negatives are labelled positive, from its definition."""
    n, k = P + N, a + b
    p, q, p_, q_ = (P + 0.5) / (n + 1), (N + 0.5) / (n + 1), (k + 0.5) / (n + 1), (n - k + 0.5) / (n + 1)
    kld = p * np.log(p / p_) + q * np.log(q / q_) if k != P else 0.0
    if name == "q":
        recall, share = (a / P if P else 1.0), 1 - abs(k - P) / max(P, N)
        return 100 * (1 - 2 * recall * share / (recall + share)) if recall + share > 0 else 100.0
    return {
        "ae": 100 * abs(k - P) / n,
        "rae": 50 * abs(k - P) * (1 / (P + 0.5) + 1 / (N + 0.5)),
        "kld": kld,
        "nkld": 100 - 200 / (1 + np.exp(kld)),
        "error": 100 * (P - a + b) / n,
        "f1": 100 * (1 - 2 * a / (P + k)) if P + k else 0.0,
    }[name]


def by_enumeration(name, positive, negative):
    """The largest loss plus gain of all labellings with a loss."""
    P, N = len(positive), len(negative)
    scores = np.concatenate([positive, negative])
    best = -np.inf
    for called in itertools.product([False, True], repeat=P + N):
        called = np.array(called)
        loss = loss_of(name, int(called[:P].sum()), int(called[P:].sum()), P, N)
        if loss > 0:
            best = max(best, loss + 100 / (P + N) * (scores[called].sum() - scores[:P].sum()))
    return best


def descending(values):
    return np.sort(np.array(values, dtype=float))[::-1]


scores = st.lists(st.sampled_from([-40.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0, 25.0]) | st.floats(-50, 50), max_size=5)


@pytest.mark.kernels
@pytest.mark.parametrize("name", LOSSES)
@settings(max_examples=300, deadline=None)
@given(positive=scores, negative=scores)
def test_the_worst_labelling_equals_that_of_enumeration(name, positive, negative):
    positive, negative = descending(positive), descending(negative)
    P, N = len(positive), len(negative)
    if P + N == 0:
        return
    search = worst_labelling(name, P, N)
    value, a, b = search(positive, negative)
    expected = by_enumeration(name, positive, negative)
    if a < 0:  # no labelling is worse than the true one
        assert expected <= 0
        return
    assert value == pytest.approx(expected, abs=1e-9)
    gain = negative[:b].sum() - positive[a:].sum()
    assert search.loss(a, b) == pytest.approx(loss_of(name, a, b, P, N), abs=1e-12)
    assert search.loss(a, b) + 100 / (P + N) * gain == pytest.approx(value, abs=1e-9)


@pytest.mark.kernels
@pytest.mark.parametrize("name", LOSSES)
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), P=st.integers(1, 60), N=st.integers(1, 60), spread=st.sampled_from([0.1, 1.0, 30.0]))
def test_the_search_equals_trying_all_pairs_of_numbers(name, seed, P, N, spread):
    """Larger sets: the general search tries every pair (how many positives, how many negatives)."""
    generator = np.random.default_rng(seed)
    positive, negative = (descending(np.round(spread * generator.standard_normal(n), 1)) for n in (P, N))

    def table(tp, fp, fn, tn):
        return np.vectorize(lambda a, b: loss_of(name, a, b, P, N))(tp, fp)

    value, a, _ = worst_labelling(name, P, N)(positive, negative)
    general, general_a, general_b = worst_labelling(table, P, N)(positive, negative)
    if a < 0:
        assert general <= 0
    else:
        assert value == pytest.approx(general, abs=1e-9)
        assert worst_labelling(table, P, N).loss(general_a, general_b) == pytest.approx(
            loss_of(name, general_a, general_b, P, N)
        )


@pytest.mark.kernels
@pytest.mark.parametrize("name", ["ae", "rae", "kld", "nkld", "q", "f1"])
def test_of_tied_labellings_the_fewest_positives_then_the_most_negatives_are_chosen(name):
    """All scores 0, as at the start: the first cut is that of the smallest a, and among those of the largest b."""
    for P, N in ((3, 3), (2, 5), (5, 2), (1, 1)):
        ties = [
            (a, -b)
            for a in range(P + 1)
            for b in range(N + 1)
            if loss_of(name, a, b, P, N) == pytest.approx(by_enumeration(name, np.zeros(P), np.zeros(N)))
        ]
        _, a, b = worst_labelling(name, P, N)(np.zeros(P), np.zeros(N))
        # For the losses of the count alone, the top k of equal scores takes negatives first: only such pairs are considered.
        assert (a, -b) == min(ties)


def test_of_equal_scores_negatives_come_first():
    value, a, b = worst_labelling("ae", 2, 3)(np.array([1.0, 1.0]), np.array([1.0, 1.0, -50.0]))
    assert (a, b) == (2, 2)
    assert value == pytest.approx(100 * 2 / 5 + 20 * 2)


def test_invalid_losses_are_an_error():
    with pytest.raises(UnknownNameError, match=r"There is no loss 'hinge': use one of 'ae', 'rae'"):
        worst_labelling("hinge", 1, 1)
    with pytest.raises(DataError, match=r"given arrays of shape \(3, 4\) .* returned an array of shape \(\)"):
        worst_labelling(lambda tp, fp, fn, tn: 1.0, 2, 3)
    with pytest.raises(DataError, match="not finite"):
        worst_labelling(lambda tp, fp, fn, tn: np.where(tp == 0, np.nan, 1.0), 2, 3)


def test_a_large_table_is_computed_in_blocks(monkeypatch):
    from headcount.learners.svmperf import losses

    def table(tp, fp, fn, tn):
        return 100.0 * np.abs(fp - fn) / (tp + fp + fn + tn)

    generator = np.random.default_rng(0)
    positive, negative = descending(generator.standard_normal(40)), descending(generator.standard_normal(30))
    whole = worst_labelling(table, 40, 30)
    monkeypatch.setattr(losses, "_TABLE_LIMIT", 300)
    blocks = worst_labelling(table, 40, 30)
    assert losses._LossTable(table, 40, 30).table is None
    assert blocks(positive, negative) == whole(positive, negative)
    assert blocks.loss(3, 4) == whole.loss(3, 4)
