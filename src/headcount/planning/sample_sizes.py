"""Sample sizes before there are labels: from a guess of the classifier's AUC, or from a small table with scores and labels."""

from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from headcount._distributions import normal_quantile, student_quantile
from headcount._typing import FloatArray, IntArray
from headcount.exceptions import DataError
from headcount.planning.half_width import expected_half_widths, fewest_labels
from headcount.planning.plan import check_half_width
from headcount.planning.residuals import moved_posteriors

__all__ = ["SampleSizes", "ScoreModel", "binormal_scores", "pilot_scores", "sample_sizes"]

_MOST = 10_000_000
"""Labels beyond which no number is named."""


@dataclass(frozen=True, eq=False)
class ScoreModel:
    """Posteriors of a classifier in each class, as weighted points.

    Attributes
    ----------
    posteriors : array of shape (n, K)
        Under the shares ``prior``.
    weights : array of shape (n, K)
        Of each point in each class; columns sum to 1.
    prior : array of shape (K,)
    """

    posteriors: FloatArray
    weights: FloatArray
    prior: FloatArray

    @property
    def spread(self) -> FloatArray:
        """Entry (l, j): variance in class l of what PACC makes of an item for the share of class j."""
        G = self.weights.T @ self.posteriors  # row l: mean posteriors in class l
        vectors = self.posteriors @ np.linalg.pinv(G)
        means = self.weights.T @ vectors
        return np.asarray(np.maximum(self.weights.T @ vectors**2 - means**2, 0.0), dtype=np.float64)

    @property
    def separates(self) -> bool:
        """Whether the classes differ in their mean posteriors."""
        values = np.linalg.svd(self.weights.T @ self.posteriors, compute_uv=False)
        return bool(values[-1] > 1e-3 * values[0])

    def residual_variances(self, shares: FloatArray) -> FloatArray:
        """Return what the best line in the posteriors under these shares leaves of each class's indicator, shape (K,)."""
        m = moved_posteriors(self.posteriors, self.prior, shares)
        joint = self.weights * shares
        total = joint.sum(axis=1)
        centred = m - total @ m
        power = float(total @ (centred**2).sum(axis=1))
        product = float((joint * centred).sum())
        coefficient = max(product / power, 0.0) if power > 0.0 else 0.0
        square = total @ centred**2
        with_class = (joint * centred).sum(axis=0)
        left = shares * (1.0 - shares) - 2.0 * coefficient * with_class + coefficient**2 * square
        return np.asarray(np.maximum(left, 0.0), dtype=np.float64)


def binormal_scores(auc: float) -> ScoreModel:
    r"""Return the posteriors of a calibrated classifier of two classes with this AUC, whose scores are normal in both classes.

    With equal variances the classes' means are :math:`d = \sqrt2 \, \Phi^{-1}(\mathrm{AUC})` standard deviations apart, and the log
    odds of an item with score s are :math:`d s - d^2 / 2` under equal shares (Green and Swets, 1966).

    Parameters
    ----------
    auc : float
        Above 0.5 and below 1.

    Examples
    --------
    >>> model = binormal_scores(0.85)
    >>> model.posteriors[:, 1] @ model.weights
    array([0.31..., 0.68...])
    """
    if not 0.5 < auc < 1.0:
        raise DataError(
            f"The AUC must be above 0.5, which is guessing, and below 1, as in 0.85; got {auc:g}."
            + (" For 85 % write 0.85." if auc > 1.0 else "")
        )
    d = float(np.sqrt(2.0) * normal_quantile(1.0 - auc))
    scores = np.linspace(-8.0, 8.0 + d, 2001)
    densities = np.exp(-0.5 * (scores[:, None] - np.array([0.0, d])) ** 2)
    positive = 1.0 / (1.0 + np.exp(-(d * scores - d**2 / 2.0)))
    return ScoreModel(np.column_stack([1.0 - positive, positive]), densities / densities.sum(axis=0), np.full(2, 0.5))


def pilot_scores(posteriors: FloatArray, codes: IntArray) -> ScoreModel:
    """Return the posteriors of labelled items, each a point of its class.

    Parameters
    ----------
    posteriors : array of shape (n, K)
        By a classifier that was not trained on the items.
    codes : array of int of shape (n,)
    """
    k = posteriors.shape[1]
    counts = np.bincount(codes, minlength=k).astype(np.float64)
    if (counts < 2).any():
        raise DataError("A pilot needs at least 2 labelled items of each class.")
    return ScoreModel(posteriors, np.eye(k)[codes] / counts, counts / counts.sum())


@dataclass(frozen=True, eq=False)
class SampleSizes:
    """Labels that a half-width takes, three ways.

    Attributes
    ----------
    shares : array of shape (K,)
        Guessed.
    labels_alone : int or None
        Labels of new items drawn at random, and nothing else; None if no number suffices.
    labels_assisted : int or None
        Labels of new items drawn at random, with the classifier's predictions of all of them.
    source_labels : int or None
        Labelled items of the source for PACC, as many of each class, under label shift.
    limit : float
        Half-width of PACC with any number of labelled items.
    """

    shares: FloatArray
    labels_alone: int | None
    labels_assisted: int | None
    source_labels: int | None
    limit: float


def sample_sizes(
    model: ScoreModel,
    shares: Any,
    half_width: float,
    *,
    n_items: int | None = None,
    source_shares: Any = None,
    finite_population: bool = False,
    level: float = 0.95,
) -> SampleSizes:
    r"""Return how many labels the shares of new items take for a half-width, before any of these are there.

    With m labelled items of the source, n new items and :math:`\sigma_{lj}^2` the variance in class l of what PACC makes of an
    item for the share of class j,

    .. math:: V_j = \frac1n \Bigl(\sum_l p_l \sigma_{lj}^2 + p_j (1 - p_j)\Bigr) + \sum_l \frac{p_l^2 \sigma_{lj}^2}{m_l}

    and the half-width is Student's quantile, with the degrees of freedom of the smallest class, times its root.

    Parameters
    ----------
    model : ScoreModel
    shares : array of shape (K,)
        Guessed, of the new items.
    half_width : float
        Of the widest class.
    n_items : int, optional
        Number of new items; by default so many that they do not matter.
    source_shares : array of shape (K,), optional
        Of the labelled items to come; by default all classes alike.
    finite_population : bool, default=False
        Whether the shares of these new items are meant, not those of their source.
    level : float, default=0.95

    Examples
    --------
    >>> sizes = sample_sizes(binormal_scores(0.85), [0.8, 0.2], 0.03)
    >>> sizes.labels_assisted < sizes.labels_alone, sizes.labels_alone
    (True, 684)
    """
    check_half_width(half_width)
    p = np.asarray(shares, dtype=np.float64)
    if (p <= 0.0).any() or (p >= 1.0).any() or abs(float(p.sum()) - 1.0) > 1e-6:
        raise DataError("Shares must be above 0 and below 1, and sum to 1.")
    k, n = len(p), float(n_items or np.inf)
    most = _MOST if n_items is None else n_items

    def needed(left: FloatArray, predictors: float) -> int | None:
        def widest(labels: int) -> float:
            part = labels / n
            V = left * (1.0 - part) / labels + (0.0 if finite_population else p * (1.0 - p) / n)
            effect = 1.0 - part if finite_population else 1.0
            bound = n if finite_population else np.inf
            return float(expected_half_widths(p, V, effect, labels, bound, predictors, level).max())

        return None if widest(most) > half_width else fewest_labels(widest, half_width, 10, most)

    spread = model.spread
    source = np.full(k, 1.0 / k) if source_shares is None else np.asarray(source_shares, dtype=np.float64)
    items = (p @ spread + (0.0 if finite_population else p * (1.0 - p))) / n
    profiles = (p**2 / source) @ spread
    tail = (1.0 - level) / 2.0

    def width(m: int) -> float:
        degrees = max(m * float(source.min()) - 1.0, 1.0)
        return float(student_quantile(tail, degrees) * np.sqrt((items + profiles / m).max()))

    limit = float(normal_quantile(tail) * np.sqrt(items.max())) if model.separates else float("inf")
    reachable = model.separates and limit < half_width and width(_MOST) <= half_width
    return SampleSizes(
        shares=p,
        labels_alone=needed(p * (1.0 - p), 0.0),
        labels_assisted=needed(model.residual_variances(p), 1.0),
        source_labels=fewest_labels(width, half_width, ceil(2 / float(source.min())), _MOST) if reachable else None,
        limit=limit,
    )
