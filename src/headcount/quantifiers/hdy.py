"""HDy: the mixture of the classes' histograms of posteriors that is nearest to a sample's in Hellinger distance."""

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from headcount._threads import in_chunks, one_blas_thread
from headcount._typing import AnyArray, FloatArray, RandomState
from headcount._validation import integers_from
from headcount.exceptions import IdentifiabilityWarning
from headcount.learners import Validation
from headcount.quantifiers.base import DEFAULT_VALIDATION
from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.histograms import Histograms
from headcount.quantifiers.solvers import Solver
from headcount.quantifiers.sums import SumsQuantifier

__all__ = ["HDy"]

_SAMPLES_PER_CHUNK = 256


class _NearestHistograms(Solver):
    """For each number of bins the share on a grid with the least Hellinger distance; the median of these shares."""

    compares_cells = True

    def __init__(self, histograms: Histograms, n_candidates: int) -> None:
        self.histograms, self.n_candidates = histograms, n_candidates

    def solve(self, q: FloatArray, M: FloatArray) -> FloatArray:
        """Return the shares of each sample."""
        histograms = self.histograms
        shares = np.linspace(0.0, 1.0, self.n_candidates)
        mixtures = (1.0 - shares)[:, None] * M[:, 0] + shares[:, None] * M[:, 1]
        # One matrix product for each number of bins gives the affinity, 1 - HD^2, of all samples with all mixtures.
        roots = [np.sqrt(histograms.folded(mixtures, b)).T for b in histograms.bins]
        positive = np.empty(len(q))

        def match(start: int, stop: int) -> None:
            part = q[start:stop]
            best = [
                _middle_of_best(np.sqrt(histograms.folded(part, b)) @ root, shares)
                for b, root in zip(histograms.bins, roots, strict=True)
            ]
            positive[start:stop] = np.median(best, axis=0)

        with one_blas_thread():
            in_chunks(match, len(q), _SAMPLES_PER_CHUNK)
        return np.column_stack([1.0 - positive, positive])

    def check_profiles(self, M: FloatArray, classes: AnyArray, name: str) -> None:
        """Warn if both classes have the same histograms."""
        if np.abs(M[:, 0] - M[:, 1]).max() < 1e-12:
            warnings.warn(
                f"On the validation part both classes have the same histograms of posteriors, so {name} can't tell their shares. "
                "Use a better classifier (balanced class weights, another C, more labelled items).",
                IdentifiabilityWarning,
                stacklevel=5,
            )


@register_method(
    "nearest mixture of histograms",
    "González-Castro et al. 2013",
    group="matching",
    needs="posteriors, validation part",
)
class HDy(SumsQuantifier):
    r"""Match a sample's histogram of posteriors with a mixture of the two classes' histograms (Hellinger distance).

    For each number of bins the share :math:`\alpha` is chosen from a grid such that

    .. math:: \mathrm{HD}^2 = 1 - \sum_b \sqrt{q_b \, (\alpha h^{\oplus}_b + (1 - \alpha) h^{\ominus}_b)}

    is least, where q is the histogram of the sample's posteriors of the second class, and :math:`h^{\oplus}` and
    :math:`h^{\ominus}` are those of the validation items of the second and first class. The answer is the median over the
    numbers of bins. For two classes.

    **When to use it.** To compare with published results. For shares `DyS`, `SELSE` or calibrated `SLD` had smaller errors on most
    tables, and for more than two classes use `DMy`.

    Parameters
    ----------
    classifier : estimator, default=None
        Any scikit-learn classifier; None means `NewtonLogisticRegression`. Without ``predict_proba`` it is calibrated by Platt's
        method. With a ``FrozenEstimator`` all data given to ``fit`` is the validation part.
    bins : sequence of int, default=(10, 20, .., 110)
        The numbers of bins.
    n_candidates : int, default=101
        Points of the grid of shares, 0 and 1 included.
    validation : int, float or splitter, default=5
        A number of folds or a splitter: cross-fitting. Each fold's classifier is fitted on the other folds, the histograms are
        learnt from its own fold, and later items are scored by all of them; that takes K fits, K scorings of each item and K times
        the memory for outputs. Fewer folds where the rarest class has fewer items. A fraction: a stratified part of that size is
        held out to learn the histograms, the classifier is fitted on the rest only: one fit, one scoring, estimates that vary more.
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
    M_ : array of shape (n_bins_in_all, 2)
        The histograms of each class, one number of bins after the other (those from which the others follow).

    References
    ----------
    González-Castro, Alaiz-Rodríguez and Alegre (2013). Class distribution estimation based on the Hellinger distance. Information
    Sciences 218.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(4000, flip_y=0.1, random_state=0)
    >>> import numpy as np
    >>> sample = np.flatnonzero(y[2000:] == 1)[:500] + 2000           # positives only
    >>> HDy(random_state=0).fit(X[:2000], y[:2000]).predict(X[sample]).round(1).tolist()
    [0.0, 1.0]
    """

    adjusts_for_shift = True
    max_classes = 2
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SumsQuantifier._parameter_constraints,
        "bins": ["array-like"],
        "n_candidates": integers_from(2),
    }

    def __init__(
        self,
        classifier: Any = None,
        *,
        bins: Sequence[int] = tuple(range(10, 111, 10)),
        n_candidates: int = 101,
        validation: Validation = DEFAULT_VALIDATION,
        refit: bool = False,
        random_state: RandomState = None,
        classes: Any = None,
    ) -> None:
        super().__init__(classifier, validation=validation, refit=refit, random_state=random_state, classes=classes)
        self.bins = bins
        self.n_candidates = n_candidates

    @property
    def representation(self) -> Histograms:  # type: ignore[override]
        """The histograms that are counted."""
        return Histograms(self.bins)

    @property
    def solver(self) -> Solver:  # type: ignore[override]
        """The search over a grid of shares."""
        return _NearestHistograms(self.representation, self.n_candidates)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Model files of the first format keep the profiles by class, under another name.
        if "profiles_" in state:
            state = {**state, "M_": np.ascontiguousarray(state["profiles_"].T)}
            del state["profiles_"]
        super().__setstate__(state)


def _middle_of_best(affinity: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the share of the largest affinity of each row; of several, the middle between the first and the last."""
    best = affinity >= affinity.max(axis=1, keepdims=True) - 1e-14
    first = best.argmax(axis=1)
    last = len(shares) - 1 - best[:, ::-1].argmax(axis=1)
    middle: FloatArray = (shares[first] + shares[last]) / 2
    return middle
