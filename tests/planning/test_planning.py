"""How many labels a half-width takes and which: identities, small simulations, bad input."""

from typing import Any

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator

from headcount import PACC, estimate
from headcount.exceptions import DataError
from headcount.learners import BlackBox
from headcount.model_assisted import assisted_shares
from headcount.planning import (
    Design,
    FirstRound,
    ResidualModel,
    allocation_sizes,
    binormal_scores,
    draw_items,
    inclusion_probabilities,
    pilot_scores,
    plan_labels,
    sample_sizes,
    source_items_needed,
)
from headcount.planning.residuals import source_predictions, steadied_shares


def _scores(n: int, share: float, seed: int = 0, separation: float = 1.5) -> tuple[Any, Any]:
    """Classes, and calibrated posteriors under equal shares."""
    generator = np.random.default_rng(seed)
    y = (generator.random(n) < share).astype(np.int64)
    positive = 1.0 / (1.0 + np.exp(-separation * (generator.normal(separation * y, 1.0) - separation / 2.0)))
    return y, np.column_stack([1.0 - positive, positive])


def test_probabilities_sum_to_n_and_items_are_drawn_with_them() -> None:
    sizes = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 90.0])
    chances = inclusion_probabilities(sizes, 3)
    np.testing.assert_allclose(chances, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    np.testing.assert_allclose(
        inclusion_probabilities(sizes, 2, most=0.5), [0, 0.25, 0.25 + 0.0, 0.5, 0.5, 0.5], atol=0.1
    )
    assert inclusion_probabilities(sizes, 2, most=0.5).sum() == pytest.approx(2.0)
    generator = np.random.default_rng(0)
    draws = np.zeros(6)
    for _ in range(4000):
        rows = draw_items(chances, generator)
        assert len(rows) == 3
        draws[rows] += 1
    np.testing.assert_allclose(draws / 4000, chances, atol=4 * np.sqrt(0.25 / 4000))
    assert draw_items(chances, 5).tolist() == draw_items(chances, 5).tolist()


def test_sizes_keep_a_part_even() -> None:
    sizes = allocation_sizes(np.array([0.0, 0.0, 1.0]))
    assert sizes.min() == pytest.approx(0.3)
    assert sizes.mean() == pytest.approx(1.0)
    np.testing.assert_array_equal(allocation_sizes(np.zeros(3)), np.ones(3))


def test_two_even_rounds_are_one_simple_random_sample() -> None:
    first = FirstRound(np.arange(20), np.full(20, 0.2))
    design = Design(100, first)
    chances = design.chances(np.ones(100), 30)
    np.testing.assert_allclose(chances, 30 / 80)
    np.testing.assert_allclose(design.probabilities(chances, 30), 0.5)
    V, effect = design.sampling_variances(np.full((100, 1), 0.25), chances, 30)
    assert V[0] == pytest.approx(0.25 / 50 * (1 - 50 / 100))
    assert effect == pytest.approx(1 - 50 / 100)
    everything = design.chances(np.ones(100), 80)
    np.testing.assert_allclose(design.probabilities(everything, 80), 1.0)


def test_residual_model_learns_what_posteriors_leave() -> None:
    y, P = _scores(40_000, 0.5)
    m, _ = source_predictions(P, P, y, np.array([0.5, 0.5]))
    model = ResidualModel.fit(m, y, np.array([0.5, 0.5]))
    assert model.variances(m).mean() == pytest.approx(((y - P[:, 1]) ** 2).mean(), rel=0.02)
    assert (model.coefficients[0] < 0.01).all()
    honest = m * (1.0 - m)
    assert np.abs(model.variances(m) - honest).mean() < 0.05 * honest.mean()
    sure = P**3 / (P**3).sum(axis=1, keepdims=True)  # too sure: more is left where it is near 0 or 1 than it says
    assert (ResidualModel.fit(sure, y, np.array([0.5, 0.5])).coefficients[0] > 0.03).all()


def test_posteriors_of_decisions_are_those_of_their_rates() -> None:
    y = np.repeat([0, 1], 1000)
    decided = np.eye(2)[np.concatenate([np.repeat([0, 1], [900, 100]), np.repeat([0, 1], [200, 800])])]
    m, _ = source_predictions(np.eye(2), decided, y, np.array([0.8, 0.2]))
    np.testing.assert_allclose(
        m[:, 1], [0.2 * 0.2 / (0.8 * 0.9 + 0.2 * 0.2), 0.2 * 0.8 / (0.8 * 0.1 + 0.2 * 0.8)], atol=2e-3
    )


def test_an_unsure_estimate_is_drawn_to_the_source() -> None:
    prior = np.array([0.5, 0.5])
    np.testing.assert_allclose(steadied_shares(np.array([0.9, 0.1]), np.full(2, 1e-4), prior), [0.9, 0.1], atol=1e-4)
    np.testing.assert_allclose(steadied_shares(np.array([0.9, 0.1]), np.full(2, np.nan), prior), [0.9, 0.1])
    np.testing.assert_allclose(steadied_shares(np.array([1.0, 0.0]), np.full(2, 50.0), prior), prior, atol=1e-4)


@pytest.mark.parametrize("share", [0.5, 0.1])
@pytest.mark.parametrize("finite", [True, False])
def test_the_promise_is_kept_and_unequal_probabilities_help(share: float, finite: bool) -> None:
    y, P = _scores(3000, share, 1, separation=2.5)
    m, of_source = source_predictions(P, P, y, np.array([1 - share, share]))
    variances = ResidualModel.fit(of_source, y, np.array([1 - share, share])).variances(m)
    half_width = 0.03
    plan = plan_labels(variances, [1 - share, share], half_width=half_width, finite_population=finite, random_state=0)
    assert plan.half_widths.max() <= half_width
    assert plan.reached
    assert plan.labels_uniform is not None
    assert plan.n_labels < 0.95 * plan.labels_uniform
    truth, generator = y.mean(), np.random.default_rng(3)
    widths, held, even = [], [], []
    for _ in range(80):
        rows = draw_items(plan.probabilities, generator)
        answer = assisted_shares(
            y[rows], rows, m[:, None], 2, probabilities=plan.probabilities, finite_population=finite
        )
        widths.append((answer.high[1] - answer.low[1]) / 2)
        held.append(answer.low[1] <= truth <= answer.high[1])
        rows = generator.choice(3000, plan.n_labels, replace=False)
        other = assisted_shares(y[rows], rows, m[:, None], 2, finite_population=finite)
        even.append((other.high[1] - other.low[1]) / 2)
    assert np.mean(widths) == pytest.approx(half_width, rel=0.15)
    assert np.mean(held) > 0.87  # 80 simulations: 0.95 less three standard errors
    assert np.mean(widths) < np.mean(even)


def test_a_second_round_reaches_the_half_width_without_bias() -> None:
    y, P = _scores(2000, 0.3, 2, separation=1.2)
    wrong = P**2 / (P**2).sum(axis=1, keepdims=True)
    trusting = ResidualModel.trusting(2)
    generator = np.random.default_rng(4)
    errors, held, widths, promised = [], [], [], []
    for _ in range(60):
        one = plan_labels(trusting.variances(wrong), [0.5, 0.5], labels=50, random_state=generator)
        first = FirstRound(one.rows, one.probabilities[one.rows])
        model, shares = trusting.with_first_round(wrong, first, y[one.rows])
        plan = plan_labels(model.variances(wrong), shares, half_width=0.05, first=first, random_state=generator)
        assert not set(plan.rows) & set(one.rows)
        rows = np.sort(np.concatenate([one.rows, plan.rows]))
        answer = assisted_shares(y[rows], rows, wrong[:, None], 2, probabilities=plan.probabilities)
        errors.append(answer.shares[1] - y.mean())
        held.append(answer.low[1] <= y.mean() <= answer.high[1])
        widths.append((answer.high[1] - answer.low[1]) / 2)
        promised.append(plan.half_widths[1])
    assert np.mean(widths) == pytest.approx(np.mean(promised), rel=0.15)
    assert abs(np.mean(errors)) < 4 * np.std(errors) / np.sqrt(60)
    assert np.mean(held) > 0.85


def test_a_first_round_that_suffices_needs_no_more() -> None:
    variances = np.full((500, 2), 0.01)
    first = FirstRound(np.arange(100), np.full(100, 0.2))
    plan = plan_labels(variances, [0.5, 0.5], half_width=0.1, first=first)
    assert plan.n_labels == 0
    assert len(plan.rows) == 0
    np.testing.assert_allclose(plan.probabilities[:100], 0.2)


def test_what_the_items_themselves_leave_is_not_reached() -> None:
    plan = plan_labels(np.full((200, 2), 0.1), [0.5, 0.5], half_width=0.03, finite_population=False)
    assert not plan.reached
    assert plan.n_labels == 200
    assert plan_labels(np.full((200, 2), 0.1), [0.5, 0.5], half_width=0.03).reached


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"half_width": 0.0}, "above 0 and below 0.5"),
        ({"half_width": -0.1}, "above 0 and below 0.5"),
        ({"half_width": 0.5}, "not below 0.5"),
        ({"half_width": 3.0}, "for 3 % points write 0.03"),
        ({"labels": 101}, "more than the 100 items"),
        ({"labels": 3}, "too few"),
        ({}, "either a half-width"),
    ],
)
def test_bad_requests_are_refused(settings: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        plan_labels(np.full((100, 2), 0.1), [0.5, 0.5], **settings)


def test_wrong_probabilities_are_refused() -> None:
    with pytest.raises(DataError, match="whole number"):
        draw_items([0.5, 0.3])
    with pytest.raises(DataError, match="from 0 to 1"):
        draw_items([1.5, 0.5])
    with pytest.raises(DataError, match="can't be drawn"):
        inclusion_probabilities([1.0, 1.0], 3)
    with pytest.raises(DataError, match="not negative"):
        inclusion_probabilities([1.0, -1.0], 1)


def _pacc(y: Any, P: Any) -> Any:
    return PACC(FrozenEstimator(BlackBox((0, 1), ()).fit())).fit(P, y)


def test_source_labels_for_a_half_width_give_it() -> None:
    y, P = _scores(300, 0.5, 5)
    _, new = _scores(20_000, 0.2, 6)
    answer = estimate(_pacc(y, P), new, estimand="sample")
    widths = (answer.high - answer.low) / 2
    need = source_items_needed(answer.evidence.take(0), widths, 0.03)
    assert need.n_labelled == 300
    assert need.needed is not None
    assert need.limit < 0.03 < need.half_width
    more, scores = _scores(need.needed, 0.5, 7)
    reached = estimate(_pacc(more, scores), new, estimand="sample")
    assert (reached.high - reached.low)[1] / 2 == pytest.approx(0.03, rel=0.15)


def test_too_few_new_items_can_not_be_made_up_for() -> None:
    y, P = _scores(300, 0.5, 5)
    _, new = _scores(100, 0.2, 6)
    answer = estimate(_pacc(y, P), new)
    need = source_items_needed(answer.evidence.take(0), (answer.high - answer.low) / 2, 0.03)
    assert need.needed is None
    assert "too few" in need.reason


def test_source_labels_from_an_auc_give_the_half_width() -> None:
    """A guess before there is anything: simulated PACC has the half-width that was promised."""
    separation = 1.5
    auc = 0.8555  # of normal scores 1.5 standard deviations apart
    sizes = sample_sizes(binormal_scores(auc), [0.8, 0.2], 0.04)
    assert sizes.source_labels is not None
    widths = []
    for seed in range(8):
        y, P = _scores(sizes.source_labels, 0.5, 10 + seed, separation)
        _, new = _scores(40_000, 0.2, 50 + seed, separation)
        answer = estimate(_pacc(y, P), new)
        widths.append((answer.high - answer.low)[1] / 2)
    assert np.mean(widths) == pytest.approx(0.04, rel=0.1)


def test_a_pilot_says_the_same_as_the_auc_of_its_scores() -> None:
    y, P = _scores(20_000, 0.5, 8)
    guess, measured = (sample_sizes(m, [0.8, 0.2], 0.03) for m in (binormal_scores(0.8555), pilot_scores(P, y)))
    assert measured.labels_alone == guess.labels_alone
    assert measured.source_labels == pytest.approx(guess.source_labels, rel=0.1)
    assert measured.labels_assisted == pytest.approx(guess.labels_assisted, rel=0.05)


def test_sample_sizes_of_scores_that_tell_nothing_apart() -> None:
    y, _ = _scores(200, 0.5, 9)
    model = pilot_scores(np.full((200, 2), 0.5), y)
    sizes = sample_sizes(model, [0.5, 0.5], 0.05, n_items=1000, finite_population=True)
    assert sizes.source_labels is None
    assert sizes.labels_alone is not None
    assert sizes.labels_alone < 385  # 1.96² / 4 / 0.05², without the finite population


@pytest.mark.parametrize("auc", [0.5, 1.0, 85.0, float("nan")])
def test_an_auc_that_can_not_be_is_refused(auc: float) -> None:
    with pytest.raises(DataError, match="AUC must be above"):
        binormal_scores(auc)


def test_shares_that_can_not_be_are_refused() -> None:
    with pytest.raises(DataError, match="above 0 and below 1"):
        sample_sizes(binormal_scores(0.8), [1.0, 0.0], 0.05)
    with pytest.raises(DataError, match="at least 2 labelled items of each class"):
        pilot_scores(np.full((3, 2), 0.5), np.array([0, 0, 1]))
