"""What a model's predictions will leave of items that are not labelled yet, learnt from labelled items that it has not seen."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from headcount._typing import FloatArray, IntArray
from headcount.model_assisted import assisted_shares
from headcount.model_assisted.regression import fit_aligned
from headcount.model_assisted.sampling import sampling_design
from headcount.planning.rounds import FirstRound

__all__ = ["ResidualModel", "moved_posteriors", "source_predictions", "steadied_shares"]

_SHIFT = 0.2
"""Standard deviation of shares from those of the source, where an estimate says nothing."""
_PRIOR_LABELS = 8.0
"""Labels of the target that the residual variance of the labelled source counts for."""


def moved_posteriors(posteriors: FloatArray, prior: FloatArray, shares: FloatArray) -> FloatArray:
    r"""Return posteriors under other shares than the prior that they hold for.

    .. math:: P'_j(x) \propto P_j(x) \frac{p_j}{\pi_j}

    >>> moved_posteriors(np.array([[0.8, 0.2]]), np.array([0.5, 0.5]), np.array([0.2, 0.8])).tolist()
    [[0.5, 0.5]]
    """
    joint = posteriors * (shares / np.maximum(prior, 1e-300))
    totals = joint.sum(axis=1, keepdims=True)
    return np.asarray(np.where(totals > 0.0, joint / np.where(totals > 0.0, totals, 1.0), shares), dtype=np.float64)


def source_predictions(
    posteriors: FloatArray, labelled: FloatArray, codes: IntArray, shares: FloatArray
) -> tuple[FloatArray, FloatArray]:
    r"""Return posteriors of new items and of labelled ones under the shares of the new items.

    Of a classifier that only decides, the posterior is that of the decision d by Bayes' theorem, with half an item added to each
    cell: :math:`P'_j \propto p_j \, \hat P(d \mid j)`.

    Parameters
    ----------
    posteriors : array of shape (N, K)
        Of the new items.
    labelled : array of shape (n, K)
        Of the labelled items of the source.
    codes : array of int of shape (n,)
        Their classes.
    shares : array of shape (K,)
    """
    k = posteriors.shape[1]
    counts = np.bincount(codes, minlength=k).astype(np.float64)
    prior = counts / counts.sum()
    if ((labelled == 0.0) | (labelled == 1.0)).all():
        cells = labelled.T @ np.eye(k)[codes] + 0.5  # row d, column j
        rates = cells / cells.sum(axis=0)
        return tuple(  # type: ignore[return-value]
            moved_posteriors(P @ rates, np.ones(k), shares) for P in (posteriors, labelled)
        )
    return moved_posteriors(posteriors, prior, shares), moved_posteriors(labelled, prior, shares)


def steadied_shares(
    shares: FloatArray, standard_errors: FloatArray, prior: FloatArray, spread: float = _SHIFT
) -> FloatArray:
    r"""Draw estimated shares towards those of the source, the more the less sure they are.

    .. math:: \tilde p_j \propto \frac{p_j / s_j^2 + \pi_j / \tau^2}{1 / s_j^2 + 1 / \tau^2}

    A classifier that hardly tells classes apart gives shares anywhere from 0 to 1, which would make a plan too bold or too timid.

    >>> steadied_shares(np.array([1.0, 0.0]), np.array([0.2, 0.2]), np.array([0.5, 0.5])).tolist()
    [0.75, 0.25]
    """
    s2 = np.where(np.isfinite(standard_errors), standard_errors, 0.0) ** 2
    mixed = (shares * spread**2 + prior * s2) / (spread**2 + s2)
    return np.asarray(mixed / mixed.sum(), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class ResidualModel:
    r"""Expected squares of the residuals of each class's indicator, as a parabola in what the posterior says of its variance.

    .. math:: v_k(x) = a_k + b_k u_k(x) + c_k u_k(x)^2, \quad u_k = m_k (1 - m_k), \quad a_k, b_k, c_k \ge 0

    with :math:`m` the posteriors under the shares of the target. Posteriors that are too sure leave more where they are near 0 or 1
    than they say: :math:`a_k` is above 0. Of those that are not sure enough, :math:`c_k` is.

    Attributes
    ----------
    coefficients : array of shape (3, K)
    """

    coefficients: FloatArray

    @classmethod
    def fit(cls, predictions: FloatArray, codes: IntArray, shares: FloatArray) -> "ResidualModel":
        """Learn from labelled items of the source, weighted such that their classes have the shares of the target.

        Parameters
        ----------
        predictions : array of shape (n, K)
            Posteriors under the shares of the target, by a classifier that was not trained on the items.
        codes : array of int of shape (n,)
        shares : array of shape (K,)
        """
        k = predictions.shape[1]
        counts = np.bincount(codes, minlength=k)
        weights = (np.where(counts > 0, shares / np.maximum(counts, 1), 0.0))[codes]
        weights = weights / weights.sum()
        Y = np.eye(k)[codes]
        y, m = Y - weights @ Y, predictions - weights @ predictions
        power = float(weights @ (m**2).sum(axis=1))
        coefficient = max(float(weights @ (m * y).sum(axis=1)) / power, 0.0) if power > 0.0 else 0.0
        squares = (y - coefficient * m) ** 2
        coefficients = np.empty((3, k))
        root = np.sqrt(weights)[:, None]
        for j in range(k):
            coefficients[:, j], _ = nnls(root * _powers(predictions[:, j]), root[:, 0] * squares[:, j])
        return cls(coefficients)

    @classmethod
    def trusting(cls, n_classes: int) -> "ResidualModel":
        """Return the model by which posteriors are right, for classifiers without labelled items to learn it from."""
        return cls(np.array([[0.0], [1.0], [0.0]]) * np.ones(n_classes))

    def variances(self, predictions: FloatArray) -> FloatArray:
        """Return the expected squares for items with these posteriors, shape (n, K)."""
        columns = [_powers(predictions[:, j]) @ self.coefficients[:, j] for j in range(predictions.shape[1])]
        return np.asarray(np.column_stack(columns), dtype=np.float64)

    def with_first_round(
        self, predictions: FloatArray, first: FirstRound, codes: IntArray
    ) -> "tuple[ResidualModel, FloatArray]":
        """Return the model scaled to labels of a first round, and the shares that these give together with the predictions.

        Parameters
        ----------
        predictions : array of shape (N, K)
            Of all items.
        first : FirstRound
        codes : array of int of shape (n1,)
        """
        k = predictions.shape[1]
        features = predictions[:, None, :]
        answer = assisted_shares(codes, first.rows, features, k, probabilities=first.probabilities)
        design = sampling_design(first.rows, len(predictions), first.probabilities)
        residuals = fit_aligned(np.eye(k)[codes], features, design).residuals
        scaled = self.scaled_to(predictions[first.rows], residuals**2, design.weights)
        return scaled, answer.shares

    def scaled_to(self, predictions: FloatArray, squares: FloatArray, weights: FloatArray) -> "ResidualModel":
        """Return the model whose level is that of labelled items of the target, drawn towards this one's by a few labels.

        Parameters
        ----------
        predictions : array of shape (n, K)
            Of labelled items of the target.
        squares : array of shape (n, K)
            Of their residuals, by models that have not seen the item.
        weights : array of shape (n,)
            One over the inclusion probabilities, up to a factor.
        """
        scaled = weights / weights.mean()
        expected = self.variances(predictions)
        # The common factor first: a class of few items says little about its own.
        prior = _PRIOR_LABELS * float(expected.sum(axis=1).mean())
        common = (float(scaled @ squares.sum(axis=1)) + prior) / max(
            float(scaled @ expected.sum(axis=1)) + prior, 1e-300
        )
        own = _PRIOR_LABELS * common * expected.mean(axis=0)
        factors = common * (scaled @ squares + own) / np.maximum(common * (scaled @ expected) + own, 1e-300)
        return ResidualModel(self.coefficients * factors)


def _powers(posteriors: FloatArray) -> FloatArray:
    """Return 1, u and u² of what posteriors say of the variance, u, side by side."""
    m = np.clip(posteriors, 0.0, 1.0)
    u = m * (1.0 - m)
    return np.column_stack([np.ones(len(u)), u, u**2])
