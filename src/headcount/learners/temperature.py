"""Posteriors calibrated on labelled items that the classifier has not seen: temperature and biases, as few as can be learnt."""

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from headcount._typing import FloatArray, IntArray

__all__ = ["BiasCorrectedTemperature"]

_LEAST_POSTERIOR = 1e-12
_PRECISION = 1e-2
"""Of a normal prior about no change: where validation items are told apart without error, the temperature stays finite."""
_STEPS, _TOL = 100, 1e-10


@dataclass(frozen=True, eq=False)
class BiasCorrectedTemperature:
    r"""Bias-corrected temperature scaling: posteriors proportional to :math:`\exp(t \log P_j + b_j)`, with :math:`b_0 = 0`.

    The shares of the classes among the items it is learnt from are those under which the calibrated posteriors hold.

    Attributes
    ----------
    theta : array of shape (n_classes,)
        The factor t, then the biases of all classes but the first.

    References
    ----------
    Alexandari, Kundaje and Shrikumar (2020). Maximum likelihood with bias-corrected calibration is hard-to-beat at label shift
    adaptation. ICML.

    Examples
    --------
    >>> P = np.array([[0.9, 0.1], [0.9, 0.1], [0.9, 0.1], [0.1, 0.9], [0.1, 0.9], [0.1, 0.9]])      # surer than it should be
    >>> learnt = BiasCorrectedTemperature.learnt(P, np.array([0, 0, 1, 1, 1, 0]))
    >>> learnt.posteriors(P[:1]).round(2).tolist()
    [[0.67, 0.33]]
    """

    theta: FloatArray

    @classmethod
    def learnt(cls, P: FloatArray, codes: IntArray) -> "BiasCorrectedTemperature":
        """Find the most likely parameters, by Newton steps (halved where they would lead uphill)."""
        k = P.shape[1]
        none = np.eye(k)[0]
        theta = none
        loss = cls(theta)._loss(P, codes)
        for _ in range(_STEPS):
            here = cls(theta)
            gradient = here.scores(P, codes).sum(axis=0) - _PRECISION * (theta - none)
            step = here.inverse_information(P) @ gradient
            while (ahead := cls(theta + step)._loss(P, codes)) > loss and np.abs(step).max() > _TOL:
                step = step / 2.0
            if ahead <= loss:
                theta, loss = theta + step, ahead
            if np.abs(step).max() <= _TOL:
                break
        return cls(theta)

    def posteriors(self, P: FloatArray) -> FloatArray:
        """Return calibrated posteriors."""
        values = self.theta[0] * logarithms(P)
        values[:, 1:] += self.theta[1:]
        calibrated: FloatArray = softmax(values, axis=1)
        return calibrated

    def scores(self, P: FloatArray, codes: IntArray) -> FloatArray:
        """Return the gradient of each item's log likelihood: shape (n_items, n_classes)."""
        return _scores(np.eye(P.shape[1])[codes] - self.posteriors(P), logarithms(P))

    def information(self, P: FloatArray) -> FloatArray:
        """Return the negative second derivatives of the items' joint log likelihood: shape (n_classes, n_classes)."""
        logs, Q = logarithms(P), self.posteriors(P)
        off = Q * (logs - (Q * logs).sum(axis=1, keepdims=True))
        second: FloatArray = np.diag(Q.sum(axis=0)) - Q.T @ Q
        second[0, 0] = (off * logs).sum()
        second[0, 1:] = second[1:, 0] = off[:, 1:].sum(axis=0)
        return second

    def influence(self, P: FloatArray, codes: IntArray) -> FloatArray:
        """Return what each item adds to the error of the parameters, as jackknifing would: shape (n_items, n_classes).

        How many items of a class there are is not left to chance, so an item counts by its difference from its class; an item
        that the fit leans on counts for more.
        """
        k = P.shape[1]
        inverse = self.inverse_information(P)
        Q, logs = self.posteriors(P), logarithms(P)
        root = np.linalg.cholesky(inverse)
        leverage = np.zeros(len(P))
        for j in range(k):  # as if the item were of this class
            leverage += Q[:, j] * np.square(_scores(np.eye(k)[j] - Q, logs) @ root).sum(axis=1)
        scores = _scores(np.eye(k)[codes] - Q, logs) / np.maximum(1.0 - leverage, 0.1)[:, None]
        for j in range(k):
            own = codes == j
            n = int(own.sum())
            scores[own] -= scores[own].mean(axis=0)
            scores[own] *= np.sqrt(n / (n - 1.0)) if n > 1 else 1.0
        influence: FloatArray = scores @ inverse
        return influence

    def inverse_information(self, P: FloatArray) -> FloatArray:
        """Return the inverse of the items' joint information."""
        return np.asarray(np.linalg.inv(self.information(P) + _PRECISION * np.eye(P.shape[1])), dtype=np.float64)

    def _loss(self, P: FloatArray, codes: IntArray) -> float:
        Q = self.posteriors(P)[np.arange(len(P)), codes]
        off = self.theta - np.eye(P.shape[1])[0]
        return float(-np.log(np.maximum(Q, 1e-300)).sum() + _PRECISION / 2 * off @ off)


def _scores(off: FloatArray, logs: FloatArray) -> FloatArray:
    """Return the gradients of items whose posteriors are this far from their classes."""
    return np.column_stack([np.einsum("nc,nc->n", off, logs), off[:, 1:]])


def logarithms(P: FloatArray) -> FloatArray:
    """Return the logarithms of posteriors, none less than that of one in a million million."""
    logs: FloatArray = np.log(np.maximum(P, _LEAST_POSTERIOR))
    return logs
