"""ContinuousSweep: the mean of the adjusted counts over all thresholds between two barriers, with rates of normal scores."""

import numbers
import warnings
from typing import Any, ClassVar

import numpy as np

from headcount._typing import AnyArray, FloatArray, IntArray, RandomState
from headcount._validation import Interval, StrOptions
from headcount.exceptions import IdentifiabilityWarning
from headcount.learners import Need, Outputs, Validation
from headcount.quantifiers.base import DEFAULT_VALIDATION
from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.representations import Vectors
from headcount.quantifiers.solvers import Solver
from headcount.quantifiers.sums import SumsQuantifier
from headcount.quantifiers.thresholds.normal_rates import (
    SweptScores,
    interpolated,
    largest_difference,
    least_variance_barrier,
    swept_scores,
)

__all__ = ["ContinuousSweep"]

_SMALLEST = 1e-4
"""Posteriors are at least so far from 0 and 1 when log odds are taken of them."""
_LEAST_DEVIATION = 1e-10
"""Standard deviations are at least so many times the distance of the class means."""


def _scores(posteriors: FloatArray, kind: str) -> FloatArray:
    """Return the score of each item: the posterior of the second class, or its log odds."""
    p: FloatArray = posteriors[:, 1]
    if kind == "posteriors":
        return p
    p = np.clip(p, _SMALLEST, 1.0 - _SMALLEST)
    odds: FloatArray = np.log(p / (1.0 - p))
    return odds


class _Swept(Vectors):
    """An item is the integral H of 1 / (TPR - FPR) over the thresholds below its score, divided by that over all thresholds."""

    needs: Need = "posteriors"

    def __init__(self, table: FloatArray, kind: str) -> None:
        self.table, self.kind = table, kind

    def width(self, n_classes: int) -> int:
        return 1

    def vectors(self, outputs: Outputs) -> FloatArray:
        t, H, slope = self.table
        scores = _scores(outputs.need(self.needs), self.kind)
        vectors: FloatArray = interpolated(t, H / H[-1], slope / H[-1], scores)[:, None]
        return vectors


class _NormalProfiles(Solver):
    """The share for which a mixture of the class means that normal scores imply has the sample's mean; these need no items."""

    has_equation = True

    def __init__(self, means: FloatArray) -> None:
        self.means = means

    def solve(self, q: FloatArray, M: FloatArray) -> FloatArray:
        low, high = self.means
        positive = np.full(len(q), 0.5) if low == high else np.clip((q[:, 0] - low) / (high - low), 0.0, 1.0)
        return np.column_stack([1.0 - positive, positive])

    def estimating_matrix(self, M: FloatArray) -> FloatArray:
        return np.ones((*M.shape[:-2], 1, 1))

    def check_profiles(self, M: FloatArray, classes: AnyArray, name: str) -> None:
        if self.means[0] == self.means[1]:
            warnings.warn(
                "On the validation part the scores of both classes have the same mean and spread, so that "
                f"{name} can't tell their shares and returns equal ones. Use a better classifier (balanced class weights, "
                "another C, more labelled items).",
                IdentifiabilityWarning,
                stacklevel=5,
            )


@register_method(
    "mean of the adjusted counts over thresholds, with rates of normal scores",
    "Kloos et al. 2023",
    group="thresholds",
    needs="posteriors, validation part",
)
class ContinuousSweep(SumsQuantifier):
    r"""Continuous sweep: the mean of the adjusted counts over all thresholds between two barriers, with rates of normal scores.

    .. math:: \hat p = \frac{1}{r - l} \int_l^r \frac{q(t) - F_0(t)}{F_1(t) - F_0(t)} \, dt

    clipped to [0, 1], where q(t) is the share of the sample's items with a score of at least t, :math:`F_0` and :math:`F_1` are
    the shares of the two classes, those of normal distributions with the mean and variance of the validation items' scores, and
    l and r are the thresholds where :math:`|F_1 - F_0|` falls to the barrier :math:`\Delta`. The answer is a mean of item
    scores,

    .. math:: \hat p = \frac1n \sum_i h(s_i), \quad h(s) = \frac{1}{r - l} \left[ \int_l^{\min(\max(s, l), r)}
        \frac{dt}{F_1 - F_0} - \int_l^r \frac{F_0 \, dt}{F_1 - F_0} \right]

    whose variance for n items of a population with share p follows from the normal distributions (:meth:`variance`),

    .. math:: \mathrm{Var}(\hat p) = \frac1n \left[ p \, E_1 h^2 + (1 - p) \, E_0 h^2 - p^2 \right].

    The integrals are computed once in a fit. For two classes.

    When to use it: where the log odds of both classes are near normal, as those of linear classifiers often are, and labelled
    items are few: four numbers are learnt from them. Not with forests, naive Bayes and other classifiers whose scores pile up:
    the rates are then wrong and the estimate is biased, whatever the number of items. `PACC` and `MS2` assume no distribution.

    The interval (`estimate`) does not assume normal scores: it inverts a test on the mean of h(s), whose means in the classes
    are those of the validation items. Where scores are not normal the estimate may lie near its end.

    Parameters
    ----------
    classifier : estimator, default=None
        Any scikit-learn classifier; None means `NewtonLogisticRegression`. Without ``predict_proba`` it is calibrated by Platt's
        method. With a ``FrozenEstimator`` all data given to ``fit`` is the validation part.
    barrier : "least variance" or float in (0, 1), default="least variance"
        The difference between TPR and FPR that a threshold must exceed. By default the one with the least variance, on average
        over all shares from 0 to 1. (The paper chooses it for the share of each sample; chosen once, samples can be merged.)
        One that no threshold exceeds is replaced by half the largest difference, with a warning.
    scores : {"log-odds", "posteriors"}, default="log-odds"
        The scores that are taken for normal. Posteriors nearer to 0 or 1 than 0.0001 are moved there before log odds are taken.
    validation : int, float or splitter, default=5
        A number of folds or a splitter: cross-fitting. Each fold's classifier is fitted on the other folds, the rates are
        learnt from its own fold, and later items are scored by all of them; that takes K fits, K scorings of each item and K times
        the memory for outputs. Fewer folds where the rarest class has fewer items. A fraction: a stratified part of that size is
        held out to learn the rates, the classifier is fitted on the rest only: one fit, one scoring, estimates that vary more.
    refit : bool, default=False
        With folds: whether a classifier that is fitted on all items scores later ones, with the rates of the fold classifiers (the
        published scheme: one scoring). It is better than they are, so that estimates are biased and there is no interval.
    random_state : int, RandomState, Generator or None, default=None
        For the split.
    classes : sequence of labels, optional
        The classes in order, where they have one; by default sorted.

    Attributes
    ----------
    classes_ : array of shape (2,)
    classifier_ : fitted classifier
    normals_ : array of shape (2, 2)
        Mean and standard deviation of the validation items' scores, a row each class.
    barrier_ : float
    M_ : array of shape (1, 2)
        Mean over the validation items of each class of the integral up to their score, as part of the whole integral.

    References
    ----------
    Kloos, Karch, Meertens and de Rooij (2023). Continuous sweep: an improved, binary quantifier. arXiv:2308.08387.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> import numpy as np
    >>> X, y = make_classification(4000, flip_y=0.1, random_state=0)
    >>> sample = np.flatnonzero(y[2000:] == 1)[:500] + 2000           # positives only
    >>> sweep = ContinuousSweep(random_state=0).fit(X[:2000], y[:2000])
    >>> sweep.predict(X[sample]).round(1).tolist()
    [0.0, 1.0]
    >>> bool(sweep.variance(1000, share=0.2) == sweep.variance(500, share=0.2) / 2)
    True
    """

    adjusts_for_shift = True
    max_classes = 2
    normals_: FloatArray
    barrier_: float
    swept_: FloatArray
    moments_: FloatArray
    learnt_shapes: ClassVar[dict[str, tuple[str | int | None, ...]]] = {
        "normals_": (2, 2),
        "swept_": (3, None),
        "moments_": (2, 2),
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SumsQuantifier._parameter_constraints,
        "barrier": [StrOptions({"least variance"}), Interval(numbers.Real, 0, 1, closed="neither")],
        "scores": [StrOptions({"log-odds", "posteriors"})],
    }

    def __init__(
        self,
        classifier: Any = None,
        *,
        barrier: Any = "least variance",
        scores: str = "log-odds",
        validation: Validation = DEFAULT_VALIDATION,
        refit: bool = False,
        random_state: RandomState = None,
        classes: Any = None,
    ) -> None:
        super().__init__(classifier, validation=validation, refit=refit, random_state=random_state, classes=classes)
        self.barrier = barrier
        self.scores = scores

    @property
    def representation(self) -> _Swept:  # type: ignore[override]
        """The integral up to each item's score."""
        return _Swept(getattr(self, "swept_", np.empty((3, 0))), self.scores)

    @property
    def solver(self) -> _NormalProfiles:  # type: ignore[override]
        """The mixture of the class means that normal scores imply."""
        return _NormalProfiles(getattr(self, "moments_", np.zeros((2, 2)))[0])

    def variance(self, n_items: int, share: float) -> float:
        """Return the variance of the estimate from so many items, if scores are normal and the rates known, before it is clipped.

        Parameters
        ----------
        n_items : int
        share : float
            Share of the second class in the population.
        """
        t, H, slope = self.swept_
        return SweptScores(t, H, slope, *self.moments_ * H[-1] ** np.array([[1], [2]])).variances(share) / n_items

    def _learn_profiles(self, outputs: Outputs, codes: IntArray, folds: IntArray | None = None) -> None:
        self.normals_ = _normals(_scores(outputs.need("posteriors"), self.scores), codes)
        self._sweep()
        super()._learn_profiles(outputs, codes, folds)

    def _sweep(self) -> None:
        """Choose the barrier and compute the integrals."""
        _, largest = largest_difference(self.normals_)
        if abs(largest) <= 1e-12:
            middle = self.normals_[0, 0]
            self.barrier_, self.moments_ = 0.0, np.full((2, 2), 0.5)
            self.swept_ = np.array([[middle - 1.0, middle + 1.0], [0.0, 1.0], [0.5, 0.5]])
            return
        self.barrier_ = least_variance_barrier(self.normals_) if self.barrier == "least variance" else self.barrier
        if self.barrier_ >= abs(largest):
            warnings.warn(
                f"On the validation part TPR - FPR is at most {abs(largest):.3g}, below the barrier of {self.barrier_:g}: half "
                "that difference is used. Lower the barrier, or use a better classifier.",
                IdentifiabilityWarning,
                stacklevel=5,
            )
            self.barrier_ = abs(largest) / 2.0
        table = swept_scores(self.normals_, self.barrier_)
        self.swept_ = np.stack([table.t, table.H, table.slope])
        whole = table.H[-1]
        self.moments_ = np.stack([table.means / whole, table.squares / whole**2])


def _normals(scores: FloatArray, codes: IntArray) -> FloatArray:
    """Return mean and standard deviation of the scores of each class; of one item alone, the deviation of the other class."""
    means = [scores[codes == j].mean() for j in (0, 1)]
    deviations = [scores[codes == j].std(ddof=1) if (codes == j).sum() > 1 else np.nan for j in (0, 1)]
    known = np.where(np.isnan(deviations), np.nanmax([*deviations, 0.0]), deviations)
    least = max(_LEAST_DEVIATION * max(abs(means[1] - means[0]), np.abs(means).max()), 1e-300)
    return np.column_stack([means, np.maximum(known, least)])
