"""Bias-corrected temperature scaling: posteriors calibrated on labelled items that the classifier was not trained on."""

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from headcount._typing import FloatArray, IntArray

__all__ = ["BiasCorrectedTemperature"]

_LEAST_POSTERIOR = 1e-12
"""Smaller posteriors count as this one, so that their logarithms are finite."""
_PRECISION = 1e-2
"""Precision of a normal prior about "no change", which keeps the temperature finite where no validation item is misclassified."""
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

    @classmethod
    def learnt(cls, P: FloatArray, codes: IntArray) -> "BiasCorrectedTemperature":
        """Find the most likely parameters by Newton steps, each halved until the loss does not rise."""
        no_change = np.eye(P.shape[1])[0]
        theta = no_change
        loss = cls(theta)._loss(P, codes)
        for _ in range(_STEPS):
            current = cls(theta)
            gradient = current.scores(P, codes).sum(axis=0) - _PRECISION * (theta - no_change)
            step = current.inverse_information(P) @ gradient
            while (new_loss := cls(theta + step)._loss(P, codes)) > loss and np.abs(step).max() > _TOL:
                step = step / 2.0
            if new_loss <= loss:
                theta, loss = theta + step, new_loss
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
        """Return the gradient of each item's log-likelihood: shape (n_items, n_classes)."""
        return _gradients(np.eye(P.shape[1])[codes] - self.posteriors(P), logarithms(P))

    def information(self, P: FloatArray) -> FloatArray:
        """Return the negative second derivatives of the items' joint log-likelihood: shape (n_classes, n_classes)."""
        logs, Q = logarithms(P), self.posteriors(P)
        centred = Q * (logs - (Q * logs).sum(axis=1, keepdims=True))
        second: FloatArray = np.diag(Q.sum(axis=0)) - Q.T @ Q
        second[0, 0] = (centred * logs).sum()
        second[0, 1:] = second[1:, 0] = centred[:, 1:].sum(axis=0)
        return second

    def influence(self, P: FloatArray, codes: IntArray) -> FloatArray:
        """Return each item's influence on the parameters, as the jackknife would: shape (n_items, n_classes).

        The number of items of each class is fixed, so scores are centred within classes. They are divided by one minus the item's
        leverage, because an item with a large influence pulls the fit towards itself.
        """
        k = P.shape[1]
        inverse = self.inverse_information(P)
        Q, logs = self.posteriors(P), logarithms(P)
        root = np.linalg.cholesky(inverse)
        leverage = np.zeros(len(P))
        for j in range(k):  # the mean over the classes that the item may have
            leverage += Q[:, j] * np.square(_gradients(np.eye(k)[j] - Q, logs) @ root).sum(axis=1)
        scores = _gradients(np.eye(k)[codes] - Q, logs) / np.maximum(1.0 - leverage, 0.1)[:, None]
        for j in range(k):
            of_class = codes == j
            n = int(of_class.sum())
            scores[of_class] -= scores[of_class].mean(axis=0)
            scores[of_class] *= np.sqrt(n / (n - 1.0)) if n > 1 else 1.0
        return scores @ inverse

    def inverse_information(self, P: FloatArray) -> FloatArray:
        """Return the inverse of the items' joint information."""
        return np.asarray(np.linalg.inv(self.information(P) + _PRECISION * np.eye(P.shape[1])), dtype=np.float64)

    def _loss(self, P: FloatArray, codes: IntArray) -> float:
        Q = self.posteriors(P)[np.arange(len(P)), codes]
        change = self.theta - np.eye(P.shape[1])[0]
        return float(-np.log(np.maximum(Q, 1e-300)).sum() + _PRECISION / 2 * change @ change)


def _gradients(residuals: FloatArray, logs: FloatArray) -> FloatArray:
    """Return the gradients of the items' log-likelihoods, given the residuals (class indicator minus posterior)."""
    return np.column_stack([np.einsum("nc,nc->n", residuals, logs), residuals[:, 1:]])


def logarithms(P: FloatArray) -> FloatArray:
    """Return the logarithms of posteriors, which are raised to at least 1e-12."""
    return np.log(np.maximum(P, _LEAST_POSTERIOR))
