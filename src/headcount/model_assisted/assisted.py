"""`assisted_shares`, `assisted_group_shares`: class shares from labels drawn at random and predictions for all items."""

from typing import Any

import numpy as np

from headcount._typing import FloatArray
from headcount._validation import quoted
from headcount.designs import SurveyDesign
from headcount.exceptions import DataError
from headcount.model_assisted.regression import Fit, fit_free, fit_nothing, fit_stacked
from headcount.model_assisted.result import AssistedShares
from headcount.model_assisted.sampling import SamplingDesign, sampling_design
from headcount.model_assisted.score_intervals import design_effects, score_intervals

__all__ = ["FEWEST_LABELS", "assisted_group_shares", "assisted_shares"]

FEWEST_LABELS = 10
"""With fewer labels neither the variance nor the tuning can be estimated."""
_SMALLEST_EFFECT = 1e-3
"""Lower bound of a design effect, unless every item is labelled: few labels can't show that predictions are perfect."""


def assisted_shares(
    codes: Any,
    labelled: Any,
    features: Any,
    n_classes: int,
    *,
    probabilities: Any = None,
    strata: Any = None,
    finite_population: bool = True,
    level: float = 0.95,
    survey: SurveyDesign | None = None,
) -> AssistedShares:
    r"""Estimate class shares of N items from labels of n of them, drawn at random, and features of all.

    With :math:`m(x)` a regression of the class indicators :math:`y` on the features (ridge, its penalty chosen by leave-one-out
    residuals), :math:`\pi_i` the inclusion probabilities and :math:`s` the labelled items:

    .. math:: \hat p = \frac1N \sum_{i=1}^N m(x_i) + \frac1N \sum_{i \in s} \frac{y_i - m(x_i)}{\pi_i}

    This is the generalised regression (difference) estimator of survey sampling (Särndal, Swensson and Wretman, 1992): it holds
    whatever the features are worth, because the second sum removes the error of the first. Prediction-powered inference with
    power tuning (Angelopoulos, Duchi and Zrnic, 2023) is the special case of one prediction and one class. Useless features are
    shrunk away. The variance rests on residuals of models that have not seen the item, and the intervals invert a score test, so
    that they stay within [0, 1] and have a width at 0 and 1.

    Parameters
    ----------
    codes : array of int of shape (n,)
        Class of each labelled item, 0 to ``n_classes - 1``, in the order of ``labelled``.
    labelled : array of bool of shape (N,), or of int of shape (n,)
        Which items are labelled, or their positions.
    features : array of shape (N, p) or (N, J, n_classes), or None
        Of all items. Two-dimensional: any numbers, whose scale does not matter. Three-dimensional: J predictors, each of which
        gives every class a number (a posterior, a one-hot answer), in the order of the classes; zeros where it abstains. Two
        regressions are averaged: one with a single coefficient for each predictor, which few labels can tell, and one that also
        learns which classes it confuses. None: the labels alone.
    n_classes : int
    probabilities : array of shape (N,) or (n,), optional
        Inclusion probabilities, above 0 and at most 1. By default the labelled items are a simple random sample (of each stratum).
    strata : array of shape (N,), optional
        Stratum of each item, if labels were drawn within strata.
    finite_population : bool, default=True
        Whether the shares of these N items are meant, so that the labelled ones are known. False: shares in what the N items were
        themselves drawn from.
    level : float, default=0.95
    survey : SurveyDesign, optional
        How the N items were drawn: their weights count in the shares and, unless ``finite_population``, clusters and strata in the
        errors. Labels are drawn at random out of the items, and independently in different clusters.

    Returns
    -------
    AssistedShares

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> y = generator.choice(3, 2000, p=[0.6, 0.3, 0.1])
    >>> answers = np.where(generator.random(2000) < 0.8, y, generator.integers(0, 3, 2000))
    >>> labelled = generator.choice(2000, 200, replace=False)
    >>> result = assisted_shares(y[labelled], labelled, np.eye(3)[answers], 3)
    >>> bool((abs(result.shares - [0.6, 0.3, 0.1]) < 0.05).all()), result.effective_labels > 300
    (True, True)
    """
    given = np.asarray(codes)
    matrix, n_items = _features(features, labelled, n_classes)
    design = sampling_design(labelled, n_items, probabilities, strata, survey)
    indicators = _indicators(given, len(design.rows), n_classes)
    return _answer(_fit(indicators, matrix, design), indicators, design, finite_population, level)


def assisted_group_shares(
    codes: Any,
    labelled: Any,
    features: Any,
    n_classes: int,
    groups: Any,
    *,
    finite_population: bool = True,
    level: float = 0.95,
) -> list[AssistedShares]:
    r"""Estimate class shares of each of several groups of items, with one regression for all of them.

    Which answers go with which classes is learnt from the labels of all groups, its mean error from those of each group alone:

    .. math:: \hat p_g = \frac1{N_g} \sum_{i \in g} m(x_i) + \frac1{n_g} \sum_{i \in s_g} (y_i - m(x_i))

    So the answer of a group holds whatever the answers are worth there. Labels were drawn at random in each group, in one at a
    higher rate than in another if need be.

    Parameters
    ----------
    codes, labelled, features, n_classes, finite_population, level
        As in `assisted_shares`.
    groups : array of int of shape (N,)
        Group of each item, 0 to G - 1; at least ten items of each are labelled.

    Returns
    -------
    list of AssistedShares
        One for each group, in order.

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> groups = np.repeat([0, 1], 1000)
    >>> y = (generator.random(2000) < np.array([0.2, 0.6])[groups]).astype(int)
    >>> answers = np.where(generator.random(2000) < 0.9, y, 1 - y)
    >>> labelled = generator.choice(2000, 200, replace=False)
    >>> found = assisted_group_shares(y[labelled], labelled, np.eye(2)[answers][:, None], 2, groups)
    >>> [bool(abs(result.shares[1] - share) < 0.08) for result, share in zip(found, (0.2, 0.6))]
    [True, True]
    """
    given = np.asarray(codes)
    matrix, n_items = _features(features, labelled, n_classes)
    design = sampling_design(labelled, n_items, strata=groups)
    indicators = _indicators(given, len(design.rows), n_classes)
    few = np.flatnonzero(design.counts < FEWEST_LABELS)
    if few.size:
        raise DataError(
            f"{int(design.counts[few[0]])} labelled items in group {few[0]}: at least {FEWEST_LABELS} are needed in each."
        )
    fit = _fit(indicators, matrix, design)
    answers = []
    for g in range(len(design.sizes)):
        part, rows = design.of_stratum(g), design.strata == g
        of_group = Fit(
            fit.predictions[design.all_strata == g],
            fit.residuals[rows],
            fit.degrees * float(design.counts[g]) / len(design.rows),
            fit.tuning,
        )
        answers.append(_answer(of_group, indicators[rows], part, finite_population, level))
    return answers


def _fit(indicators: FloatArray, matrix: FloatArray | None, design: SamplingDesign) -> Fit:
    if matrix is None or not design.centre(indicators).any():
        return fit_nothing(indicators, design)
    return (fit_stacked if matrix.ndim == 3 else fit_free)(indicators, matrix, design)


def _answer(
    fit: Fit, indicators: FloatArray, design: SamplingDesign, finite_population: bool, level: float
) -> AssistedShares:
    alone = fit_nothing(indicators, design)
    found = {
        name: _with_intervals(f, indicators, design, finite_population, level)
        for name, f in (("", fit), ("_alone", alone))
    }
    left, spread = _mean_squares(fit.residuals, design), _mean_squares(alone.residuals, design)
    return AssistedShares(
        **{f"{key}{name}": value for name, values in found.items() for key, value in values.items()},
        level=level,
        n_labelled=len(design.rows),
        n_items=design.n_items,
        residual_variance=left,
        variance_alone=spread,
        item_variances=_item_variances(fit.predictions, float(left.sum())),
        predictions=fit.predictions,
        residuals=fit.residuals,
        tuning=fit.tuning,
        degrees=fit.degrees,
        finite_population=finite_population,
    )


def _features(features: Any, labelled: Any, n_classes: int) -> tuple[FloatArray | None, int]:
    """Return checked features and the number of items."""
    if features is None:
        mask = np.asarray(labelled)
        if mask.dtype.kind != "b":
            raise DataError(
                "Without features, labelled must be an array of booleans, which says how many items there are."
            )
        return None, len(mask)
    matrix = np.asarray(features, dtype=np.float64)
    if matrix.ndim not in (2, 3) or (matrix.ndim == 3 and matrix.shape[2] != n_classes):
        raise DataError(
            f"features must have shape (n_items, n_features) or (n_items, n_predictors, {n_classes}); got {matrix.shape}."
        )
    if not np.isfinite(matrix).all():
        raise DataError("features hold NaN or infinite numbers: fill them in, or leave those columns out.")
    return matrix, len(matrix)


def _indicators(codes: FloatArray, n_labelled: int, n_classes: int) -> FloatArray:
    if codes.shape != (n_labelled,) or codes.dtype.kind not in "iu":
        raise DataError(
            f"codes must be the class of each of the {n_labelled:,} labelled items, as integers; got {codes.shape}."
        )
    if n_labelled < FEWEST_LABELS:
        raise DataError(
            f"{n_labelled} labelled items: at least {FEWEST_LABELS} are needed, drawn at random. Label "
            f"{FEWEST_LABELS - n_labelled} more."
        )
    outside = (codes < 0) | (codes >= n_classes)
    if outside.any():
        raise DataError(f"codes hold {quoted(codes[outside])}, outside the {n_classes} classes 0 to {n_classes - 1}.")
    return np.asarray(np.eye(n_classes)[codes], dtype=np.float64)


def _with_intervals(
    fit: Fit, indicators: FloatArray, design: SamplingDesign, finite: bool, level: float
) -> dict[str, FloatArray]:
    """Return shares, their covariance and their intervals."""
    n, n_items = float(len(design.rows)), design.n_items
    weighted = design.stratum_means(indicators)
    raw = design.sizes @ weighted / n_items
    degrees = max(n - len(design.sizes) - fit.degrees, 1.0)
    alone = (n - 1.0) * float(design.variance_weights.sum()) + (0.0 if finite else n / n_items)
    if finite or design.survey is None:
        sampled = design.covariance(fit.residuals)
        covariance = sampled if finite else sampled + (np.diag(raw) - np.outer(raw, raw)) / n_items
    else:
        found = design.two_phase_covariance(fit.predictions, fit.residuals)
        covariance, degrees = found.covariance, min(degrees, float(found.degrees))
        binomial = float(raw @ (1.0 - raw)) / max(n - 1.0, 1.0)
        if binomial > 0.0:
            labels = design.two_phase_covariance(weighted[design.all_strata], design.centre(indicators))
            alone = max(alone, float(np.trace(labels.covariance)) / binomial)
    counts = indicators.sum(axis=0)
    labelled = design.all_weights[design.rows] @ indicators
    rest = labelled.sum() - labelled
    known = (labelled / n_items, 1.0 - rest / n_items) if finite else (np.zeros_like(raw), np.ones_like(raw))
    shares = _kept_within(design.mean(fit.predictions), *known)
    smallest: float = 0.0 if finite and n == n_items else _SMALLEST_EFFECT
    effects = design_effects(raw, np.diag(covariance), alone, n, smallest)
    low, high = score_intervals(shares, effects, n, degrees, level)
    # Predictions alone can't show that a class is there of which no label is, or that there is another than that of all labels.
    low, high = np.where(counts > 0.0, low, 0.0), np.where(counts < n, high, 1.0)
    return {
        "shares": shares,
        "covariance": covariance,
        "low": np.minimum(np.maximum(low, known[0]), shares),
        "high": np.maximum(np.minimum(high, known[1]), shares),
    }


def _kept_within(shares: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the nearest shares with sum 1 between bounds: all are moved by the same amount, found by bisection."""
    if (shares >= low).all() and (shares <= high).all():
        return shares
    down, up = -1.0, 1.0
    for _ in range(60):
        middle = (down + up) / 2.0
        down, up = (middle, up) if np.clip(shares + middle, low, high).sum() < 1.0 else (down, middle)
    moved = np.clip(shares + up, low, high)
    return np.asarray(moved / moved.sum(), dtype=np.float64)


def _mean_squares(residuals: FloatArray, design: SamplingDesign) -> FloatArray:
    """Return the weighted mean over the items of the residuals' squares, by class."""
    corrections = (design.counts / np.maximum(design.counts - 1.0, 1.0))[design.strata]
    return np.asarray((design.weights * corrections) @ residuals**2 / design.n_items, dtype=np.float64)


def _item_variances(predictions: FloatArray, total: float) -> FloatArray:
    """Return m (1 - m), summed over the classes, scaled so that the items' mean is what leave-one-out residuals show."""
    m = np.clip(predictions, 0.0, 1.0)
    spread = (m * (1.0 - m)).sum(axis=1)
    mean = float(spread.mean())
    return np.asarray(spread * (total / mean) if mean > 0.0 else np.full(len(m), total), dtype=np.float64)
