"""Bias-corrected temperature scaling: posteriors calibrated on labelled items that the classifier was not trained on."""

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from headcount._typing import FloatArray, IntArray

__all__ = ["BiasCorrectedTemperature"]

_LEAST_POSTERIOR, _LARGEST_FLOOR = 1e-12, 1e-2
"""Bounds of the least posterior, which stands for smaller ones, so that their logarithms are finite."""
_PRECISION = 1e-2
"""Precision of a normal prior about "no change", which keeps the temperature finite where no validation item is misclassified.

It holds for the biases less their mean, so that the order of the classes does not matter."""
_STEPS = 100
_TOL = 1e-10
"""Newton steps end when no parameter changes by more than this."""


@dataclass(frozen=True, eq=False)
class BiasCorrectedTemperature:
    r"""Bias-corrected temperature scaling: posteriors proportional to :math:`\exp(t \log P_j + b_j)`, with :math:`b_0 = 0`.

    Calibrated posteriors hold under the class shares of the items that the parameters are learnt from.

    Attributes
    ----------
    theta : array of shape (n_classes,)
        The factor t, then the biases of all classes but the first.
    least : float
        Smaller posteriors count as this one. Where there are zeros, as from forests, it is half the least other posterior among the
        items that the parameters are learnt from: with a much smaller number, zeros alone would decide the factor.

    References
    ----------
    Alexandari, Kundaje and Shrikumar (2020). Maximum likelihood with bias-corrected calibration is hard-to-beat at label shift
    adaptation. ICML.

    Examples
    --------
    >>> P = np.array([[0.9, 0.1], [0.9, 0.1], [0.9, 0.1], [0.1, 0.9], [0.1, 0.9], [0.1, 0.9]])      # overconfident
    >>> learnt = BiasCorrectedTemperature.learnt(P, np.array([0, 0, 1, 1, 1, 0]))
    >>> learnt.posteriors(P[:1]).round(2).tolist()
    [[0.67, 0.33]]
    """

    theta: FloatArray
    least: float = _LEAST_POSTERIOR

    @classmethod
    def learnt(cls, P: FloatArray, codes: IntArray) -> "BiasCorrectedTemperature":
        """Find the most likely parameters by Newton steps, each halved until the loss does not rise."""
        no_change = np.eye(P.shape[1])[0]
        theta, least = no_change, _least_posterior(P)
        loss = cls(theta, least)._loss(P, codes)
        for _ in range(_STEPS):
            current = cls(theta, least)
            gradient = current.scores(P, codes).sum(axis=0) - _precision(P.shape[1]) @ (theta - no_change)
            step = current.inverse_information(P) @ gradient
            while (new_loss := cls(theta + step, least)._loss(P, codes)) > loss and np.abs(step).max() > _TOL:
                step = step / 2.0
            if new_loss <= loss:
                theta, loss = theta + step, new_loss
            if np.abs(step).max() <= _TOL:
                break
        return cls(theta, least)

    def posteriors(self, P: FloatArray) -> FloatArray:
        """Return calibrated posteriors."""
        values = self.theta[0] * self._logarithms(P)
        values[:, 1:] += self.theta[1:]
        calibrated: FloatArray = softmax(values, axis=1)
        return calibrated

    def scores(self, P: FloatArray, codes: IntArray) -> FloatArray:
        """Return the gradient of each item's log-likelihood: shape (n_items, n_classes)."""
        return _gradients(np.eye(P.shape[1])[codes] - self.posteriors(P), self._logarithms(P))

    def information(self, P: FloatArray) -> FloatArray:
        """Return the negative second derivatives of the items' joint log-likelihood: shape (n_classes, n_classes)."""
        logs, Q = self._logarithms(P), self.posteriors(P)
        centred = Q * (logs - (Q * logs).sum(axis=1, keepdims=True))
        second: FloatArray = np.diag(Q.sum(axis=0)) - Q.T @ Q
        second[0, 0] = (centred * logs).sum()
        second[0, 1:] = second[1:, 0] = centred[:, 1:].sum(axis=0)
        return second

    def jackknifed_posteriors(self, P: FloatArray, codes: IntArray) -> FloatArray:
        """Return the calibrated posteriors of the items that the parameters were learnt from, each calibrated without itself.

        To first order an item changes the parameters by its score times the inverse information, divided by one minus its leverage,
        because an item with a large influence pulls the fit towards itself.
        """
        k = P.shape[1]
        inverse = self.inverse_information(P)
        Q, logs = self.posteriors(P), self._logarithms(P)
        root = np.linalg.cholesky(inverse)
        leverage = np.zeros(len(P))
        for j in range(k):  # the mean over the classes that the item may have
            leverage += Q[:, j] * np.square(_gradients(np.eye(k)[j] - Q, logs) @ root).sum(axis=1)
        scores = _gradients(np.eye(k)[codes] - Q, logs) / np.maximum(1.0 - leverage, 0.1)[:, None]
        without = self.theta - scores @ inverse
        values = without[:, :1] * logs
        values[:, 1:] += without[:, 1:]
        calibrated: FloatArray = softmax(values, axis=1)
        return calibrated

    def inverse_information(self, P: FloatArray) -> FloatArray:
        """Return the inverse of the items' joint information."""
        return np.asarray(np.linalg.inv(self.information(P) + _precision(P.shape[1])), dtype=np.float64)

    def _logarithms(self, P: FloatArray) -> FloatArray:
        logs: FloatArray = np.log(np.maximum(P, self.least))
        return logs

    def _loss(self, P: FloatArray, codes: IntArray) -> float:
        Q = self.posteriors(P)[np.arange(len(P)), codes]
        change = self.theta - np.eye(P.shape[1])[0]
        return float(-np.log(np.maximum(Q, 1e-300)).sum() + change @ _precision(P.shape[1]) @ change / 2.0)


def _precision(k: int) -> FloatArray:
    """Return the precision matrix of the prior of the parameters."""
    precision = np.full((k, k), -_PRECISION / k)
    precision[0] = precision[:, 0] = 0.0
    precision[np.diag_indices(k)] += _PRECISION
    return precision


def _gradients(residuals: FloatArray, logs: FloatArray) -> FloatArray:
    """Return the gradients of the items' log-likelihoods, given the residuals (class indicator minus posterior)."""
    return np.column_stack([np.einsum("nc,nc->n", residuals, logs), residuals[:, 1:]])


def _least_posterior(P: FloatArray) -> float:
    """Return the posterior that stands for smaller ones."""
    if P.min() > 0.0:
        return _LEAST_POSTERIOR
    return float(np.clip(P[P > 0.0].min() / 2.0, _LEAST_POSTERIOR, _LARGEST_FLOOR))
