"""Ridge regression of the labels on features, whose penalty leave-one-out residuals in closed form choose."""

from dataclasses import dataclass

import numpy as np

from headcount._typing import FloatArray
from headcount.model_assisted.sampling import SamplingDesign

__all__ = ["Fit", "fit_aligned", "fit_free", "fit_nothing"]

PENALTIES = np.append(np.inf, np.logspace(-2.5, 1.5, 17)[::-1])
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
    penalty : float
    """

    predictions: FloatArray
    residuals: FloatArray
    degrees: float
    penalty: float


def fit_nothing(indicators: FloatArray, design: SamplingDesign) -> Fit:
    """Predict the shares among the labelled items of a stratum for all of its items."""
    means = design.stratum_means(indicators)
    return Fit(means[design.all_strata], design.centre(indicators), 0.0, np.inf)


def fit_free(indicators: FloatArray, features: FloatArray, design: SamplingDesign) -> Fit:
    r"""Ridge regression of each class's indicator on all features, with one penalty for all classes.

    The penalty is the one whose leave-one-out residuals give the smallest variance of the estimate, summed over classes:

    .. math:: e_i^{(-i)} = e_i / (1 - h_{ii})

    Parameters
    ----------
    indicators : array of shape (n, K)
        1 where a labelled item is of the class.
    features : array of shape (N, p)
        Of all items; a column's scale does not matter.
    design : SamplingDesign
    """
    spread = features.std(axis=0)
    scaled = (features - features.mean(axis=0)) / np.where(spread > 1e-12, spread, np.inf)
    X, Y = design.centre(scaled[design.rows]), design.centre(indicators)
    root = np.sqrt(design.weights)[:, None]
    U, s, Vt = np.linalg.svd(root * X, full_matrices=False)
    s2, projected = s**2, U.T @ (root * Y)
    intercept = design.weights / design.sizes[design.strata]
    best, residuals, degrees, penalty = 1e300, Y, 0.0, np.inf
    shrunk = np.zeros_like(s2)
    for relative in PENALTIES:
        factors = s2 / (s2 + relative * design.n_items) if np.isfinite(relative) else np.zeros_like(s2)
        left = 1.0 - intercept - (U**2) @ factors
        tried = (Y - U @ (factors[:, None] * projected) / root) * ((1.0 - intercept) / np.maximum(left, 1e-9))[:, None]
        loss = float(design.variance_weights @ (tried**2).sum(axis=1))
        if loss < best * (1.0 - _GAIN):
            best, residuals, degrees, penalty, shrunk = loss, tried, float(factors.sum()), float(relative), factors
    coefficients = Vt.T @ ((shrunk / np.where(s > 0.0, s, 1.0))[:, None] * projected)
    intercepts = design.stratum_means(indicators) - design.stratum_means(scaled[design.rows]) @ coefficients
    return Fit(intercepts[design.all_strata] + scaled @ coefficients, residuals, degrees, penalty)


def fit_aligned(indicators: FloatArray, predictions: FloatArray, design: SamplingDesign) -> Fit:
    """Ridge regression on predictors that give every class a number, with one coefficient for each predictor.

    Parameters
    ----------
    indicators : array of shape (n, K)
    predictions : array of shape (N, J, K)
        What each of J predictors gives each class, such as a posterior.
    design : SamplingDesign
    """
    Z, Y = design.centre(predictions[design.rows]), design.centre(indicators)
    weights, n_predictors = design.weights, predictions.shape[1]
    gram = np.einsum("i,ijk,ilk->jl", weights, Z, Z)
    right = np.einsum("i,ijk,ik->j", weights, Z, Y)
    scale = np.diag(gram).mean()
    left = 1.0 - weights / design.sizes[design.strata]
    best, residuals, degrees, penalty = 1e300, Y, 0.0, np.inf
    chosen = np.zeros(n_predictors)
    for relative in PENALTIES if scale > 0.0 else PENALTIES[:1]:
        if np.isfinite(relative):
            A = gram + relative * scale * np.eye(n_predictors)
            w = np.linalg.solve(A, right)
            e = Y - np.einsum("j,ijk->ik", w, Z)
            # (cI - d Z' A^-1 Z)^-1 e, with c one minus the intercept's leverage, through a system of J equations.
            inner = left[:, None, None] * A - weights[:, None, None] * np.einsum("ijk,ilk->ijl", Z, Z)
            solved = np.linalg.solve(inner, np.einsum("ijk,ik->ij", Z, e)[:, :, None])[:, :, 0]
            tried = e + weights[:, None] * np.einsum("ijk,ij->ik", Z, solved)
            used = float(np.trace(np.linalg.solve(A, gram)))
        else:
            w, tried, used = np.zeros(n_predictors), Y, 0.0
        loss = float(design.variance_weights @ (tried**2).sum(axis=1))
        if loss < best * (1.0 - _GAIN):
            best, residuals, degrees, penalty, chosen = loss, tried, used, float(relative), w
    fitted = np.einsum("j,ijk->ik", chosen, predictions)
    intercepts = design.stratum_means(indicators) - design.stratum_means(fitted[design.rows])
    return Fit(intercepts[design.all_strata] + fitted, residuals, degrees, penalty)
