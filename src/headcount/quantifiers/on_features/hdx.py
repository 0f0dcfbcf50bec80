"""HDx: the mixture of the classes' feature histograms that is nearest to a sample's in mean Hellinger distance."""

from collections.abc import Sequence
from typing import Any, ClassVar

from headcount._typing import IntArray
from headcount._validation import integers_from
from headcount.learners import Outputs
from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.on_features.base import FeaturesQuantifier
from headcount.quantifiers.on_features.binned import BinnedFeatures
from headcount.quantifiers.on_features.matching import NearestOnGrid

__all__ = ["HDx"]


@register_method(
    "nearest mixture of feature histograms", "González-Castro et al. 2013", group="on features", needs="features"
)
class HDx(BinnedFeatures, FeaturesQuantifier):  # type: ignore[misc]
    r"""Match the histograms of a sample's features with a mixture of the two classes' histograms (Hellinger distance).

    For each number of bins the share :math:`\alpha` is chosen from a grid such that the mean over features of

    .. math:: \mathrm{HD}_f = \sqrt{1 - \sum_b \sqrt{q_{fb} \, (\alpha h^{\oplus}_{fb} + (1 - \alpha) h^{\ominus}_{fb})}}

    is least, where :math:`q_f` is the histogram of feature f in the sample, and :math:`h^{\oplus}_f` and :math:`h^{\ominus}_f`
    are those of the labelled items of the second and first class, in equal bins between the least and the largest labelled
    value; values outside are in the first or the last bin. The answer is the median over the numbers of bins. For two classes,
    without a classifier.

    When to use it: a few numeric features of which single ones tell the classes apart, with hundreds of labelled items or more,
    and no classifier at hand. Where a classifier can be trained, methods over its outputs are nearly always better: they use
    the features together. Not for texts: features that are almost always 0 say little each.

    The interval is that of a weighted sum of squares over the histograms with the fewest bins, which near its minimum equals the
    squared Hellinger distance; it is widened to hold the estimate where that lies outside.

    Memory: a sample takes 510 numbers for each feature with the default bins (samples are worked on in parts), the pool 24
    bytes for each feature of an item.

    Parameters
    ----------
    bins : sequence of int, default=(10, 20, .., 110)
        The numbers of bins.
    n_candidates : int, default=101
        Points of the grid of shares, 0 and 1 included.
    transformer : transformer, optional
        Makes numeric features of the items, such as a vectorizer of texts followed by ``TruncatedSVD``; fitted on the labelled
        items. By default items are vectors of numbers, dense or sparse. Features that are constant among labelled items are
        left out.
    classes : sequence of labels, optional
        The classes in order, where they have one; by default sorted.

    Attributes
    ----------
    classes_ : array of shape (2,)
    features_ : array of int
        The features that are used: those that vary.
    M_ : array of shape (n_features * n_bins_in_all, 2)
        The histograms of each class, one feature after the other.

    References
    ----------
    González-Castro, Alaiz-Rodríguez and Alegre (2013). Class distribution estimation based on the Hellinger distance. Information
    Sciences 218.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> import numpy as np
    >>> X, y = make_classification(4000, n_features=6, n_redundant=0, class_sep=2.0, random_state=0)
    >>> sample = np.flatnonzero(y[2000:] == 1)[:500] + 2000           # positives only
    >>> HDx().fit(X[:2000], y[:2000]).predict(X[sample]).round(1).tolist()
    [0.0, 1.0]
    """

    max_classes = 2
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **FeaturesQuantifier._parameter_constraints,
        "bins": ["array-like"],
        "n_candidates": integers_from(2),
    }

    def __init__(
        self,
        bins: Sequence[int] = tuple(range(10, 111, 10)),
        *,
        n_candidates: int = 101,
        transformer: Any = None,
        classes: Any = None,
    ) -> None:
        super().__init__(transformer, classes=classes)
        self.bins = bins
        self.n_candidates = n_candidates

    @property
    def solver(self) -> NearestOnGrid:  # type: ignore[override]
        """The search over a grid of shares."""
        return NearestOnGrid(self.representation, self.n_candidates)

    def _learn_features(self, outputs: Outputs, codes: IntArray) -> None:
        self._learn_ranges(outputs, self.bins)
