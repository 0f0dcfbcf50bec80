"""The least generalised distance of a sample's frequencies from all mixtures of the classes', and its p-value."""

import numpy as np

from headcount._distributions import f_tail
from headcount._typing import FloatArray
from headcount.simplex import mixture_least_squares

__all__ = ["distance_from_mixtures", "hotelling_p_value"]

_LEAST_VARIANCE = 1e-14
"""Least variance of one item's cell that double precision tells from none."""


def hotelling_p_value(statistic: float, dof: int, shares: FloatArray, sizes: FloatArray, n: float) -> float:
    """Return the statistic's p-value, Hotelling's: covariances that were learnt from few items make large values likelier."""
    parts = np.append(shares**2 / sizes, 1.0 / n)
    items = parts.sum() ** 2 / (parts**2 / np.append(sizes, n)).sum()
    left = max(items - dof, 1.0)
    return f_tail(statistic * left / (dof * items), dof, left)


def distance_from_mixtures(
    H: FloatArray, smooth: list[FloatArray], sizes: FloatArray, q: FloatArray, n: float, p: FloatArray, decided: bool
) -> tuple[float, FloatArray, FloatArray]:
    """Return the least generalised distance of q from a mixture, its shares and their standard errors; weights follow the shares.

    Shares may leave the simplex, except with decisions, where nearly every q would be a mixture otherwise. At the true shares that
    distance is distributed as a mixture of chi-squared with up to k - 1 degrees of freedom, so with k - 1 false alarms are
    rarer than they may be.
    """
    k = H.shape[1]
    base = np.full(k, 1.0 / k)
    directions = np.linalg.svd(np.ones((1, k)))[2][1:].T
    A = (H @ directions)[:-1]  # the last cell follows from the others
    value, spread = 0.0, np.empty((k, k))
    for _ in range(4):
        inverse = _weights(smooth, sizes, n, p)
        information = A.T @ inverse @ A
        if decided:
            root = np.linalg.cholesky(inverse).T
            p = mixture_least_squares(root @ H[:-1], (root @ q[:-1])[None, :])[0]
        else:
            off = (q - H @ base)[:-1]
            p = base + directions @ np.linalg.lstsq(information, A.T @ inverse @ off, rcond=None)[0]
        residual = (q - H @ p)[:-1]
        value = float(residual @ inverse @ residual)
        spread = directions @ _inverse(information) @ directions.T
    confined = np.clip(p, 0.0, 1.0)
    return value, confined / confined.sum(), np.sqrt(np.maximum(np.diag(spread), 0.0))


def _weights(smooth: list[FloatArray], sizes: FloatArray, n: float, p: FloatArray) -> FloatArray:
    """Return the inverse covariance of the frequencies of all cells but the last, at shares p."""
    weights = np.clip(p, 0.0, 1.0)
    weights = weights / weights.sum()
    S = _multinomial(np.column_stack(smooth) @ weights) / n
    for j, share in enumerate(weights):
        S = S + share**2 * _multinomial(smooth[j]) / sizes[j]
    S, least = S[:-1, :-1], _LEAST_VARIANCE / n
    smallest = float(np.linalg.eigvalsh(S)[0])
    if smallest < least:  # nearly all labelled items are in one cell: rounding makes its variance 0 or negative
        S = S + (least - smallest) * np.eye(len(S))
    return np.asarray(np.linalg.inv(S), dtype=np.float64)


def _inverse(information: FloatArray) -> FloatArray:
    """Return the inverse, in which directions without information have a very large variance rather than none."""
    values, vectors = np.linalg.eigh(information)
    inverse: FloatArray = (vectors / np.maximum(values, 1e-6)) @ vectors.T
    return inverse


def _multinomial(shares: FloatArray) -> FloatArray:
    covariance: FloatArray = np.diag(shares) - np.outer(shares, shares)
    return covariance
