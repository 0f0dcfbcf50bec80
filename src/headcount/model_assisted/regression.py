"""Ridge regression of the labels on features, whose penalty leave-one-out residuals in closed form choose."""

from dataclasses import dataclass

import numpy as np

from headcount._typing import FloatArray
from headcount.model_assisted.sampling import SamplingDesign

__all__ = ["Fit", "fit_aligned", "fit_free", "fit_nothing", "fit_stacked"]

PENALTIES = np.append(np.inf, np.logspace(-2.5, 1.5, 9)[::-1])
"""Penalties that are tried, as parts of the features' sum of squares; the infinite one leaves the labels alone."""
_GAIN = 1e-9
"""Part by which a lower penalty must lower the variance."""


@dataclass(frozen=True, eq=False)
class Fit:
    """Predictions of the classes from the features.

    Attributes
    ----------
    predictions : array of shape (N, K)
        Of all items; their mean is the estimate of the shares.
    residuals : array of shape (n, K)
        Of the labelled items, each from a model that has not seen it, centred as those of the labels alone would be.
    degrees : float
        Number of parameters that the regression used, beside the intercepts.
    tuning : float
        1 / (1 + penalty): 0 for the labels alone, 1 for no shrinkage.
    """

    predictions: FloatArray
    residuals: FloatArray
    degrees: float
    tuning: float


def fit_nothing(indicators: FloatArray, design: SamplingDesign) -> Fit:
    """Predict the shares among the labelled items of a stratum for all of its items."""
    means = design.stratum_means(indicators)
    return Fit(means[design.all_strata], design.centre(indicators), 0.0, 0.0)


def fit_stacked(indicators: FloatArray, predictions: FloatArray, design: SamplingDesign) -> Fit:
    r"""Average two regressions by what their leave-one-out residuals show: aligned predictors, and the same numbers freely.

    The aligned one has a coefficient for each predictor and is better where predictors are right or wrong at random; the free one
    has a coefficient for each class that a predictor may name and each class that is meant, which is better where predictors
    confuse classes systematically. With residuals :math:`a` and :math:`f` of models that have not seen the item, the weight of the
    free one (stacking, Wolpert 1992; Breiman 1996) is

    .. math:: w = \frac{\sum_i d_i \, a_i (a_i - f_i)}{\sum_i d_i (a_i - f_i)^2} \in [0, 1]

    Parameters
    ----------
    indicators : array of shape (n, K)
    predictions : array of shape (N, J, K)
        What each of J predictors gives each class, such as a posterior.
    design : SamplingDesign
    """
    aligned = fit_aligned(indicators, predictions, design)
    # What is lacking to a sum of one is 1 where a predictor abstains: an answer of its own.
    cells = np.concatenate([predictions, 1.0 - predictions.sum(axis=2, keepdims=True)], axis=2)
    free = fit_free(indicators, cells.reshape(len(predictions), -1), design, standardise=False)
    difference = aligned.residuals - free.residuals
    spread = float(design.variance_weights @ (difference**2).sum(axis=1))
    gain = float(design.variance_weights @ (aligned.residuals * difference).sum(axis=1))
    if gain <= 0.0:
        return aligned
    w = min(gain / spread, 1.0)
    return Fit(
        (1.0 - w) * aligned.predictions + w * free.predictions,
        (1.0 - w) * aligned.residuals + w * free.residuals,
        (1.0 - w) * aligned.degrees + w * free.degrees,
        (1.0 - w) * aligned.tuning + w * free.tuning,
    )


def fit_free(indicators: FloatArray, features: FloatArray, design: SamplingDesign, standardise: bool = True) -> Fit:
    r"""Ridge regression of each class's indicator on all features, with one penalty for all classes.

    The penalty is the one whose leave-one-out residuals give the smallest variance of the estimate, summed over classes:

    .. math:: e_i^{(-i)} = e_i / (1 - h_{ii})

    Parameters
    ----------
    indicators : array of shape (n, K)
        1 where a labelled item is of the class.
    features : array of shape (N, p)
        Of all items.
    design : SamplingDesign
    standardise : bool, default=True
        Whether a column's scale does not matter. False for one-hot answers: a rare answer then has less to say than a frequent one.
    """
    centred = features - features.mean(axis=0)
    spread = centred.std(axis=0)
    varies = spread > 1e-12
    scaled = centred[:, varies] / spread[varies] if standardise else centred[:, varies]
    X, Y = design.centre(scaled[design.rows]), design.centre(indicators)
    root = np.sqrt(design.weights)[:, None]
    U, s2 = _left_directions(root * X)
    projected = U.T @ (root * Y)
    unit = float(design.n_items) if standardise else float(s2.sum())
    intercept = design.weights / design.sizes[design.strata]
    lowest, chosen, factors = 1e300, (Y, 0.0, 0.0), np.zeros_like(s2)
    for relative in PENALTIES if s2.size else PENALTIES[:1]:
        tried = s2 / (s2 + relative * unit) if np.isfinite(relative) else np.zeros_like(s2)
        left = 1.0 - intercept - (U**2) @ tried
        residuals = (Y - U @ (tried[:, None] * projected) / root) * ((1.0 - intercept) / np.maximum(left, 1e-9))[
            :, None
        ]
        loss = float(design.variance_weights @ (residuals**2).sum(axis=1))
        if loss < lowest * (1.0 - _GAIN):
            lowest, chosen, factors = loss, (residuals, float(tried.sum()), 1.0 / (1.0 + float(relative))), tried
    coefficients = X.T @ (root * (U @ ((factors / np.where(s2 > 0.0, s2, 1.0))[:, None] * projected)))
    intercepts = design.stratum_means(indicators) - design.stratum_means(scaled[design.rows]) @ coefficients
    return Fit(intercepts[design.all_strata] + scaled @ coefficients, *chosen)


def _left_directions(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the left singular vectors of a matrix and the squares of its singular values, by its smaller Gram matrix."""
    wide = matrix.shape[1] > matrix.shape[0]
    squares, vectors = np.linalg.eigh(matrix @ matrix.T if wide else matrix.T @ matrix)
    keep = squares > 1e-10 * max(float(squares.max(initial=0.0)), 1e-300)
    squares, vectors = squares[keep], vectors[:, keep]
    return (vectors if wide else matrix @ vectors / np.sqrt(squares)), squares


def fit_aligned(indicators: FloatArray, predictions: FloatArray, design: SamplingDesign) -> Fit:
    """Ridge regression on predictors that give every class a number, with one coefficient for each predictor.

    Parameters
    ----------
    indicators : array of shape (n, K)
    predictions : array of shape (N, J, K)
        What each of J predictors gives each class, such as a posterior; as much for each where it abstains.
    design : SamplingDesign
    """
    predictions = predictions - predictions.mean(axis=2, keepdims=True)  # so that fitted indicators sum to 1
    Z, Y = design.centre(predictions[design.rows]), design.centre(indicators)
    weights = design.weights
    gram = np.tensordot(Z * weights[:, None, None], Z, axes=([0, 2], [0, 2]))
    s2, V = np.linalg.eigh(gram)
    s2 = np.maximum(s2, 0.0)
    if not s2[-1] > 0.0:
        return fit_nothing(indicators, design)
    # In the directions V of the predictors, in which their Gram matrix is diagonal.
    rotated = np.matmul(V.T, Z)
    right = np.tensordot(rotated * weights[:, None, None], Y, axes=([0, 2], [0, 1]))
    left = 1.0 - weights / design.sizes[design.strata]
    shrunk = s2 + PENALTIES[1:, None] * s2.mean()
    W = right / shrunk
    tried = _without_own_label(Y - np.tensordot(W, rotated, axes=(1, 1)), rotated, shrunk, weights, left)
    losses = np.concatenate(
        [[design.variance_weights @ (Y**2).sum(axis=1)], (tried**2).sum(axis=2) @ design.variance_weights]
    )
    best = int(np.argmax(losses <= losses.min() * (1.0 + _GAIN)))  # the largest penalty, if several are as good
    if best == 0:
        return fit_nothing(indicators, design)
    fitted = np.tensordot(V @ W[best - 1], predictions, axes=(0, 1))
    intercepts = design.stratum_means(indicators) - design.stratum_means(fitted[design.rows])
    degrees = float((s2 / shrunk[best - 1]).sum())
    return Fit(intercepts[design.all_strata] + fitted, tried[best - 1], degrees, 1.0 / (1.0 + float(PENALTIES[best])))


def _without_own_label(
    residuals: FloatArray, Z: FloatArray, shrunk: FloatArray, weights: FloatArray, left: FloatArray
) -> FloatArray:
    r"""Return residuals of models that have not seen the item, times c, one minus the intercept's leverage.

    .. math:: e_i^{(-i)} = c_i \, (c_i I - d_i Z_i' A^{-1} Z_i)^{-1} e_i

    Which is a system of as many equations as there are classes, or, by Woodbury's formula, predictors: the fewer are solved.

    Parameters
    ----------
    residuals : array of shape (P, n, K)
        Of each of P penalties.
    Z : array of shape (n, J, K)
        Of the labelled items, in directions in which A is diagonal.
    shrunk : array of shape (P, J)
        Diagonals of A.
    weights, left : arrays of shape (n,)
        d and c.
    """
    n, J, K = Z.shape
    if K <= J:
        products = (Z[:, :, :, None] * Z[:, :, None, :]).transpose(1, 0, 2, 3).reshape(J, -1)
        leverages = ((1.0 / shrunk) @ products).reshape(-1, n, K, K)
        systems = left[:, None, None] * np.eye(K) - weights[:, None, None] * leverages
        return np.asarray(left[:, None] * np.linalg.solve(systems, residuals[..., None])[..., 0])
    inner = -weights[:, None, None] * np.matmul(Z, Z.transpose(0, 2, 1))
    systems = inner + left[:, None, None] * (np.eye(J) * shrunk[:, None, :])[:, None]
    solved = np.linalg.solve(systems, np.matmul(Z, residuals[..., None]))
    return np.asarray(residuals + weights[:, None] * np.matmul(Z.transpose(0, 2, 1), solved)[..., 0])
