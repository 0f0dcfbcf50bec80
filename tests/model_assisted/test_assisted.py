"""Shares from labels drawn at random and predictions for all items: identities, coverage, bad input."""

import re
from typing import Any

import numpy as np
import pytest

from headcount.exceptions import DataError
from headcount.model_assisted import assisted_group_shares, assisted_shares, regression
from headcount.model_assisted.regression import fit_aligned, fit_free, fit_nothing, fit_stacked
from headcount.model_assisted.sampling import sampling_design


def _population(n_items: int = 1000, seed: int = 0) -> tuple[Any, Any, Any]:
    """True classes, a judge's answers right four times in five, and a generator."""
    generator = np.random.default_rng(seed)
    y = generator.choice(3, n_items, p=[0.6, 0.3, 0.1])
    answers = np.where(generator.random(n_items) < 0.8, y, generator.integers(0, 3, n_items))
    return y, answers, generator


def test_without_features_it_is_the_mean_of_the_labels_with_the_finite_population_correction() -> None:
    y, _, generator = _population()
    rows = generator.choice(1000, 80, replace=False)
    labelled = np.zeros(1000, dtype=bool)
    labelled[rows] = True
    result = assisted_shares(y[labelled], labelled, None, 3)
    p = np.bincount(y[labelled], minlength=3) / 80
    np.testing.assert_allclose(result.shares, p)
    np.testing.assert_allclose(np.diag(result.covariance), p * (1 - p) / 79 * (1 - 80 / 1000))
    assert result.effective_labels == pytest.approx(80)
    infinite = assisted_shares(y[labelled], labelled, None, 3, finite_population=False)
    expected = p * (1 - p) / 79 * (1 - 80 / 1000) + p * (1 - p) / 1000
    np.testing.assert_allclose(np.diag(infinite.covariance), expected)


@pytest.mark.parametrize("features", [np.ones((1000, 3)), np.ones((1000, 2, 3))])
def test_a_constant_predictor_changes_nothing(features: Any) -> None:
    y, _, generator = _population()
    rows = generator.choice(1000, 50, replace=False)
    result = assisted_shares(y[rows], rows, features, 3)
    np.testing.assert_allclose(result.shares, result.shares_alone)
    np.testing.assert_allclose(result.low, result.low_alone)
    assert result.effective_labels == pytest.approx(50)
    assert result.tuning == 0.0


@pytest.mark.parametrize("aligned", [False, True])
def test_perfect_predictions_give_nearly_the_true_shares(aligned: bool) -> None:
    y, _, generator = _population()
    rows = generator.choice(1000, 60, replace=False)
    features = np.eye(3)[y]
    result = assisted_shares(y[rows], rows, features[:, None] if aligned else features, 3)
    np.testing.assert_allclose(result.shares, np.bincount(y) / 1000, atol=0.005)
    assert result.effective_labels > 600
    assert (result.high > result.low).all()
    assert (result.high - result.low < 0.09).all()  # 0.25 for the labels alone


@pytest.mark.parametrize(("aligned", "n_noise"), [(False, 1), (True, 1), (True, 4)])
@pytest.mark.parametrize("weighted", [False, True])
def test_residuals_are_those_of_models_that_have_not_seen_the_item(aligned: bool, n_noise: int, weighted: bool) -> None:
    y, answers, generator = _population(200, 3)
    rows = generator.choice(200, 24, replace=False)
    strata = np.arange(200) % 2 if weighted else None
    design = sampling_design(rows, 200, generator.uniform(0.1, 0.5, 200) if weighted else None, strata)
    noise = [generator.standard_normal((200, 3)) for _ in range(n_noise)]  # fewer and more predictors than classes
    noise = [part - part.mean(axis=1, keepdims=True) for part in noise]
    features = (
        np.stack([np.eye(3)[answers] - 1 / 3, *noise], axis=1) if aligned else np.hstack([np.eye(3)[answers], *noise])
    )
    Y = np.eye(3)[y[rows]]
    fit = (fit_aligned if aligned else fit_free)(Y, features, design)
    assert 0.0 < fit.tuning < 1.0
    penalty = 1.0 / fit.tuning - 1.0
    for i in range(24):
        keep = np.arange(24) != i
        d, h = design.weights[keep], design.strata[keep]
        F = features if aligned else (features - features.mean(0)) / features.std(0)

        def centred(values: Any, i: int = i, keep: Any = keep, d: Any = d, h: Any = h) -> tuple[Any, Any]:
            means = np.stack([np.average(values[keep][h == s], axis=0, weights=d[h == s]) for s in np.unique(h)])
            return values[keep] - means[h], values[i] - means[design.strata[i]]

        (X, x), (T, t) = centred(F[rows]), centred(Y)
        if aligned:
            gram = np.einsum("i,ijk,ilk->jl", d, X, X)
            all_gram = np.einsum("i,ijk,ilk->jl", design.weights, design.centre(F[rows]), design.centre(F[rows]))
            A = gram + penalty * np.diag(all_gram).mean() * np.eye(1 + n_noise)
            predicted = np.linalg.solve(A, np.einsum("i,ijk,ik->j", d, X, T)) @ x
        else:
            predicted = x @ np.linalg.solve((X.T * d) @ X + penalty * 200 * np.eye(6), (X.T * d) @ T)
        leverage = design.weights[i] / design.sizes[design.strata[i]]
        np.testing.assert_allclose(fit.residuals[i], (t - predicted) * (1 - leverage), atol=1e-10)


def test_strata_and_known_probabilities_by_hand() -> None:
    y = np.array([0] * 20 + [1] * 20 + [0, 1] * 30)
    strata = np.repeat(["a", "b"], [40, 60])
    rows = np.array([0, 1, 2, 25, 26, 27, 40, 41, 42, 43, 44, 47])
    labelled = np.isin(np.arange(100), rows)
    result = assisted_shares(y[rows], labelled, None, 2, strata=strata)
    a, b = y[rows[:6]].mean(), y[rows[6:]].mean()
    assert result.shares[1] == pytest.approx(0.4 * a + 0.6 * b)
    variance = 0.16 * (1 - 6 / 40) * a * (1 - a) / 5 + 0.36 * (1 - 6 / 60) * b * (1 - b) / 5
    assert result.covariance[1, 1] == pytest.approx(variance)
    chances = np.where(strata == "a", 0.2, 0.05)
    hajek = assisted_shares(y[rows], labelled, None, 2, probabilities=chances)
    assert hajek.shares[1] == pytest.approx(np.average(y[rows], weights=1 / chances[rows]))


@pytest.mark.parametrize("share", [0.0, 0.01, 1.0])
def test_intervals_near_the_ends_stay_within_and_have_a_width(share: float) -> None:
    y = (np.arange(1000) < 1000 * share).astype(int)
    generator = np.random.default_rng(1)
    for _ in range(20):
        rows = generator.choice(1000, 20, replace=False)
        result = assisted_shares(y[rows], rows, np.eye(2)[y], 2)
        assert (result.low >= 0).all()
        assert (result.high <= 1).all()
        assert (result.high - result.low > 1e-4).all()
        assert (result.low <= result.shares).all()
        assert (result.shares <= result.high).all()
        assert result.shares.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("n_labelled", "aligned", "n_items"), [(50, False, 1000), (20, True, 1000), (100, False, 300), (100, True, 1000)]
)
def test_intervals_cover(n_labelled: int, aligned: bool, n_items: int) -> None:
    y, answers, generator = _population(n_items)
    truth = np.bincount(y, minlength=3) / n_items
    F = np.eye(3)[answers]
    inside = np.zeros(3)
    for _ in range(200):
        rows = generator.choice(n_items, n_labelled, replace=False)
        result = assisted_shares(y[rows], rows, F[:, None] if aligned else F, 3)
        inside += (result.low <= truth) & (truth <= result.high)
    assert 0.92 <= inside.mean() / 200 <= 0.99  # standard error 0.01


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"codes": np.zeros(5, int), "labelled": np.arange(5)}, "5 labelled items: at least 10 are needed"),
        ({"codes": np.full(20, 3)}, "codes hold 3, 3, 3, 3, 3 and 15 more, outside the 3 classes"),
        ({"codes": np.zeros(19, int)}, "codes must be the class of each of the 20 labelled items"),
        ({"labelled": np.zeros(20, int)}, "The items at 0 are labelled more than once"),
        ({"labelled": np.arange(100, 120)}, "outside the 100 items"),
        ({"labelled": np.ones(5, bool)}, "whether it is labelled; its shape is (5,)"),
        ({"labelled": np.ones(20)}, "labelled must be an array of booleans"),
        ({"features": np.ones((100, 2, 2))}, "features must have shape"),
        ({"features": np.full((100, 2), np.nan)}, "features hold NaN"),
        ({"features": None}, "Without features, labelled must be an array of booleans"),
        ({"probabilities": np.zeros(100)}, "it must be above 0 and at most 1"),
        ({"probabilities": np.full(20, 1.5)}, "The inclusion probability of a labelled item is 1.5"),
        ({"probabilities": np.ones(3)}, "probabilities must be one for each"),
        ({"strata": np.ones(3)}, "strata must name the stratum"),
        ({"strata": np.arange(100) // 19}, "0 labelled items in the stratum 1, 2, 3"),
    ],
)
def test_bad_input_is_a_sentence(change: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {
        "codes": np.zeros(20, int),
        "labelled": np.arange(20),
        "features": np.ones((100, 2)),
    } | change
    options = {name: given.pop(name) for name in ("probabilities", "strata") if name in given}
    with pytest.raises(DataError, match=re.escape(message)):
        assisted_shares(given["codes"], given["labelled"], given["features"], 3, **options)


def test_fitted_shares_sum_to_one_where_predictors_abstain() -> None:
    y, answers, generator = _population(500, 4)
    one_hot = np.eye(3)[answers]
    one_hot[generator.random(500) < 0.3] = 0.0
    for seed in range(5):
        rows = np.random.default_rng(seed).choice(500, 80, replace=False)
        result = assisted_shares(y[rows], rows, one_hot[:, None], 3)
        np.testing.assert_allclose(result.predictions.sum(axis=1), 1.0)
        assert result.effective_labels > 90


def test_an_abstention_is_a_cell_like_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """To the free regression a judge that abstains is one that names a class that it never named else."""
    monkeypatch.setattr(regression, "fit_aligned", lambda Y, _, design: fit_nothing(Y, design))
    y, answers, generator = _population(400, 7)
    answers = np.where(y == 2, 2, answers % 2)
    rows = generator.choice(400, 60, replace=False)
    named, silent = np.eye(3)[answers], np.vstack([np.eye(3)[:2], np.zeros(3)])[answers]
    design, Y = sampling_design(rows, 400), np.eye(3)[y[rows]]
    one, other = (fit_stacked(Y, features[:, None], design) for features in (named, silent))
    np.testing.assert_allclose(other.predictions, one.predictions, atol=1e-12)
    np.testing.assert_allclose(other.residuals, one.residuals, atol=1e-12)


def test_an_abstention_that_says_something_is_learnt_from() -> None:
    y, answers, generator = _population(2000, 5)
    silent = y == 2  # the judge refuses to answer for items of the last class
    one_hot = np.where(silent[:, None], 0.0, np.eye(3)[answers])
    rows = generator.choice(2000, 200, replace=False)
    with_silence = assisted_shares(y[rows], rows, one_hot[:, None], 3)
    assert with_silence.residual_variance[2] < 0.3 * with_silence.variance_alone[2]


def test_groups_have_the_mean_error_of_their_own_labels() -> None:
    y, answers, generator = _population(900, 6)
    groups = np.arange(900) % 3
    y = np.where(
        (groups == 2) & (y == 0), 1, y
    )  # of the first class in that group there is nothing: the judge is wrong there
    rows = np.sort(generator.choice(900, 240, replace=False))
    features = np.eye(3)[answers][:, None]
    found = assisted_group_shares(y[rows], rows, features, 3, groups)
    for g, result in enumerate(found):
        labelled = rows[groups[rows] == g]
        assert (result.n_items, result.n_labelled) == (300, len(labelled))
        np.testing.assert_allclose(result.shares_alone, np.bincount(y[labelled], minlength=3) / len(labelled))
        truth = np.bincount(y[groups == g], minlength=3) / 300
        assert (result.low - 0.02 <= truth).all()
        assert (truth <= result.high + 0.02).all()
    one = assisted_group_shares(y[rows], rows, features, 3, np.zeros(900, int))[0]
    np.testing.assert_allclose(one.shares, assisted_shares(y[rows], rows, features, 3).shares)
    np.testing.assert_allclose(one.low, assisted_shares(y[rows], rows, features, 3).low)
    few = np.r_[np.arange(0, 60, 3), 1, 4, 7, np.arange(2, 62, 3)]
    with pytest.raises(DataError, match="3 labelled items in group 1: at least 10"):
        assisted_group_shares(y[few], few, features, 3, groups)


def test_averaging_helps_where_a_judge_confuses_classes_and_costs_little_elsewhere() -> None:
    generator = np.random.default_rng(8)
    y = generator.choice(3, 3000, p=[0.4, 0.4, 0.2])
    swapped = np.eye(3)[np.array([1, 2, 0])[y]][:, None]  # always wrong, always in the same way
    rows = generator.choice(3000, 100, replace=False)
    assert assisted_shares(y[rows], rows, swapped, 3).effective_labels > 1000
    noise = np.eye(3)[generator.integers(0, 3, (3000, 5))]
    errors, errors_alone = [], []
    truth = np.bincount(y) / 3000
    for _ in range(200):
        rows = generator.choice(3000, 100, replace=False)
        result = assisted_shares(y[rows], rows, noise, 3)
        errors.append(result.shares - truth)
        errors_alone.append(result.shares_alone - truth)
    assert np.var(errors_alone, axis=0).sum() / np.var(errors, axis=0).sum() > 0.93
