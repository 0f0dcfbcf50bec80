"""Temperature and vector scaling: posteriors calibrated on labelled items that the classifier was not trained on."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from scipy.special import softmax

from headcount._typing import FloatArray, IntArray

__all__ = [
    "CALIBRATIONS",
    "BiasCorrectedTemperature",
    "LogLinearCalibration",
    "NoBiasVectorScaling",
    "TemperatureScaling",
    "VectorScaling",
]

_LEAST_POSTERIOR, _LARGEST_FLOOR = 1e-12, 1e-2
"""Bounds of the least posterior, which stands for smaller ones, so that their logarithms are finite."""
_PRECISION = 1e-2
"""Precision of a normal prior about "no change", which keeps the temperature finite where no validation item is misclassified.

It holds for the biases less their mean, so that the order of the classes does not matter."""
_STEPS = 100
_TOL = 1e-10
"""Newton steps end when no parameter changes by more than this."""


@dataclass(frozen=True, eq=False)
class LogLinearCalibration:
    r"""Base of calibrations by posteriors proportional to :math:`\exp(w_j \log P_j + b_j)`, with :math:`b_0 = 0`.

    A subclass says which parameters there are.

    Attributes
    ----------
    theta : array of shape (n_parameters,)
        The factor w that the classes share, or those of all classes; then, if there are any, the biases of all classes but the
        first.
    least : float
        Smaller posteriors count as this one. Where there are zeros, as from forests, it is half the least other posterior among the
        items that the parameters are learnt from: with a much smaller number, zeros alone would decide the factor.
    """

    theta: FloatArray
    least: float = _LEAST_POSTERIOR

    has_biases: ClassVar[bool] = True
    has_class_factors: ClassVar[bool] = False
    """Whether each class has a factor of its own. It multiplies the logarithm less the mean over the classes, as logits are known
    up to a number that they share."""

    @classmethod
    def learnt(cls, P: FloatArray, codes: IntArray, weights: FloatArray | None = None) -> Self:
        """Find the most likely parameters by Newton steps, each halved until the loss does not rise.

        Parameters
        ----------
        P : array of shape (n_items, n_classes)
        codes : array of int of shape (n_items,)
        weights : array of shape (n_items,), optional
            An item counts as often in the likelihood; 1 on average.
        """
        no_change = cls.no_change(P.shape[1])
        theta, least = no_change, _least_posterior(P)
        loss = cls(theta, least)._loss(P, codes, weights)
        for _ in range(_STEPS):
            current = cls(theta, least)
            scores = current.scores(P, codes)
            total = scores.sum(axis=0) if weights is None else weights @ scores
            gradient = total - cls._precision(P.shape[1]) @ (theta - no_change)
            step = current.inverse_information(P, weights) @ gradient
            while (new_loss := cls(theta + step, least)._loss(P, codes, weights)) > loss and np.abs(step).max() > _TOL:
                step = step / 2.0
            if new_loss <= loss:
                theta, loss = theta + step, new_loss
            if np.abs(step).max() <= _TOL:
                break
        return cls(theta, least)

    @property
    def steepness(self) -> float:
        """The most that calibrated logarithms can move apart when those of the posteriors move by up to 1."""
        if not self.has_class_factors:
            return abs(float(self.theta[0]))
        k = (len(self.theta) + 1) // 2 if self.has_biases else len(self.theta)
        return 2.0 * float(np.abs(self.theta[:k]).max())

    def posteriors(self, P: FloatArray) -> FloatArray:
        """Return calibrated posteriors."""
        return self._calibrated(self.theta[None, :], self._logarithms(P))

    def _calibrated(self, theta: FloatArray, logs: FloatArray) -> FloatArray:
        """Return calibrated posteriors, by the same parameters for all items or a row for each."""
        k = logs.shape[1]
        n_factors = k if self.has_class_factors else 1
        values = logs * theta[:, :n_factors]
        if self.has_biases:
            values[:, 1:] += theta[:, n_factors:]
        calibrated: FloatArray = softmax(values, axis=1)
        return calibrated

    def scores(self, P: FloatArray, codes: IntArray) -> FloatArray:
        """Return the gradient of each item's log-likelihood: shape (n_items, n_parameters)."""
        return self._gradients(np.eye(P.shape[1])[codes] - self.posteriors(P), self._logarithms(P))

    def information(self, P: FloatArray, weights: FloatArray | None = None) -> FloatArray:
        """Return the negative second derivatives of the items' joint log-likelihood: shape (n_parameters, n_parameters)."""
        logs, Q = self._logarithms(P), self.posteriors(P)
        counted = Q if weights is None else Q * weights[:, None]  # linear in this, with Q beside it
        biases: FloatArray = np.diag(counted.sum(axis=0)) - counted.T @ Q
        if self.has_class_factors:
            weighed = counted * logs
            factors = np.diag((weighed * logs).sum(axis=0)) - weighed.T @ (Q * logs)
            mixed = np.diag(weighed.sum(axis=0)) - weighed.T @ Q
        else:
            centred = counted * (logs - (Q * logs).sum(axis=1, keepdims=True))
            factors = (centred * logs).sum().reshape(1, 1)
            mixed = centred.sum(axis=0)[None, :]
        if not self.has_biases:
            return np.asarray(factors, dtype=np.float64)
        return np.asarray(np.block([[factors, mixed[:, 1:]], [mixed[:, 1:].T, biases[1:, 1:]]]), dtype=np.float64)

    def jackknifed_posteriors(self, P: FloatArray, codes: IntArray, weights: FloatArray | None = None) -> FloatArray:
        """Return the calibrated posteriors of the items that the parameters were learnt from, each calibrated without itself.

        To first order an item changes the parameters by its score times the inverse information, divided by one minus its leverage,
        because an item with a large influence pulls the fit towards itself.
        """
        k = P.shape[1]
        inverse = self.inverse_information(P, weights)
        Q, logs = self.posteriors(P), self._logarithms(P)
        root = np.linalg.cholesky(inverse)
        leverage = np.zeros(len(P))
        for j in range(k):  # the mean over the classes that the item may have
            leverage += Q[:, j] * np.square(self._gradients(np.eye(k)[j] - Q, logs) @ root).sum(axis=1)
        scores = self._gradients(np.eye(k)[codes] - Q, logs)
        if weights is not None:
            leverage *= weights
            scores *= weights[:, None]
        scores /= np.maximum(1.0 - leverage, 0.1)[:, None]
        return self._calibrated(self.theta - scores @ inverse, logs)

    def inverse_information(self, P: FloatArray, weights: FloatArray | None = None) -> FloatArray:
        """Return the inverse of the items' joint information."""
        information = self.information(P, weights) + self._precision(P.shape[1])
        return np.asarray(np.linalg.inv(information), dtype=np.float64)

    def _logarithms(self, P: FloatArray) -> FloatArray:
        logs: FloatArray = np.log(np.maximum(P, self.least))
        return logs - logs.mean(axis=1, keepdims=True) if self.has_class_factors else logs

    def _gradients(self, residuals: FloatArray, logs: FloatArray) -> FloatArray:
        """Return the gradients of the items' log-likelihoods, given the residuals (class indicator minus posterior)."""
        factors = residuals * logs if self.has_class_factors else np.einsum("nc,nc->n", residuals, logs)[:, None]
        return np.column_stack([factors, residuals[:, 1:]]) if self.has_biases else factors

    def _loss(self, P: FloatArray, codes: IntArray, weights: FloatArray | None = None) -> float:
        logs = np.log(np.maximum(self.posteriors(P)[np.arange(len(P)), codes], 1e-300))
        change = self.theta - self.no_change(P.shape[1])
        likelihood = logs.sum() if weights is None else weights @ logs
        return float(-likelihood + change @ self._precision(P.shape[1]) @ change / 2.0)

    @classmethod
    def no_change(cls, k: int) -> FloatArray:
        """Return the parameters that leave posteriors as they are."""
        factors = np.ones(k if cls.has_class_factors else 1)
        return np.concatenate([factors, np.zeros(k - 1)]) if cls.has_biases else factors

    @classmethod
    def _precision(cls, k: int) -> FloatArray:
        """Return the precision matrix of the prior of the parameters."""
        n_factors = k if cls.has_class_factors else 1
        size = n_factors + (k - 1 if cls.has_biases else 0)
        precision = np.zeros((size, size))
        precision[n_factors:, n_factors:] = -_PRECISION / k
        precision[np.diag_indices(size)] += _PRECISION
        return precision


class BiasCorrectedTemperature(LogLinearCalibration):
    r"""Bias-corrected temperature scaling (BCTS): posteriors proportional to :math:`\exp(t \log P_j + b_j)`, with :math:`b_0 = 0`.

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


class TemperatureScaling(LogLinearCalibration):
    r"""Temperature scaling (TS): posteriors proportional to :math:`P_j^t` (Guo et al. 2017).

    >>> P = np.array([[0.9, 0.1], [0.9, 0.1], [0.9, 0.1], [0.1, 0.9], [0.1, 0.9], [0.1, 0.9]])      # overconfident
    >>> TemperatureScaling.learnt(P, np.array([0, 0, 1, 1, 1, 0])).posteriors(P[:1]).round(2).tolist()
    [[0.67, 0.33]]
    """

    has_biases = False


class VectorScaling(LogLinearCalibration):
    r"""Vector scaling (VS; Guo et al. 2017): posteriors proportional to :math:`\exp(w_j z_j + b_j)`, z being centred logarithms.

    >>> P = np.array([[0.9, 0.1], [0.9, 0.1], [0.9, 0.1], [0.1, 0.9], [0.1, 0.9], [0.1, 0.9]])      # overconfident
    >>> VectorScaling.learnt(P, np.array([0, 0, 1, 1, 1, 0])).posteriors(P[:1]).round(2).tolist()
    [[0.67, 0.33]]
    """

    has_class_factors = True


class NoBiasVectorScaling(LogLinearCalibration):
    r"""Vector scaling without biases (NBVS): posteriors proportional to :math:`\exp(w_j z_j)` (Alexandari et al. 2020).

    >>> P = np.array([[0.9, 0.1], [0.9, 0.1], [0.9, 0.1], [0.1, 0.9], [0.1, 0.9], [0.1, 0.9]])      # overconfident
    >>> NoBiasVectorScaling.learnt(P, np.array([0, 0, 1, 1, 1, 0])).posteriors(P[:1]).round(2).tolist()
    [[0.67, 0.33]]
    """

    has_class_factors = True
    has_biases = False


CALIBRATIONS: dict[str, type[LogLinearCalibration]] = {
    "bcts": BiasCorrectedTemperature,
    "ts": TemperatureScaling,
    "vs": VectorScaling,
    "nbvs": NoBiasVectorScaling,
}


def _least_posterior(P: FloatArray) -> float:
    """Return the posterior that stands for smaller ones."""
    if P.min() > 0.0:
        return _LEAST_POSTERIOR
    return float(np.clip(P[P > 0.0].min() / 2.0, _LEAST_POSTERIOR, _LARGEST_FLOOR))
