"""DMx: the mixture of the classes' feature histograms that is nearest to a sample's, by one of several distances."""

from typing import Any, ClassVar

from headcount._typing import IntArray
from headcount._validation import StrOptions, integers_from
from headcount.learners import Outputs
from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.on_features.base import FeaturesQuantifier
from headcount.quantifiers.on_features.binned import BinnedFeatures
from headcount.quantifiers.on_features.matching import NearestFeatures

__all__ = ["DMx"]


@register_method(
    "nearest mixture of feature histograms, several distances",
    "Firat 2016; Moreo et al. 2024",
    group="on features",
    needs="features",
)
class DMx(BinnedFeatures, FeaturesQuantifier):  # type: ignore[misc]
    r"""Match the histograms of a sample's features with a mixture of the classes' histograms, for any number of classes.

    With :math:`q_{fb}` the share of the sample's items whose feature f is in bin b, and :math:`M_{fb,j}` that of the labelled
    items of class j, the shares p on the simplex minimise

    .. math:: \sum_f d(q_f, m_f), \qquad m_{fb} = \sum_j p_j M_{fb,j},

    where d is one of

    - "hellinger": :math:`\sum_b (\sqrt{m_b} - \sqrt{q_b})^2`
    - "topsoe": :math:`\sum_b m_b \log \frac{2 m_b}{m_b + q_b} + q_b \log \frac{2 q_b}{m_b + q_b}`
    - "l2": :math:`\sum_b (m_b - q_b)^2`

    With ``cdf`` the distribution functions at the inner edges of the bins take the place of the histograms. The sum is convex in p,
    and its least value is found. (QuaPy's DMx adds up the roots of the Hellinger distances, which is not convex.)
    Bins are equal parts of the range of the labelled items; values outside it are in the first or the last bin.

    When to use it: as for :class:`HDx`, with any number of classes. ``distance="l2", cdf=True`` suffers least from few items a bin.
    Where a classifier can be trained, methods over its outputs are nearly always better.

    The interval is that of a weighted sum of squares over the histograms, which near its minimum equals the other distances; it is
    widened to hold the estimate where that lies outside.

    Memory: ``bins`` numbers for each feature of a sample, 4 bytes for each feature of an item.

    Parameters
    ----------
    bins : int, default=8
        The number of bins of each histogram.
    distance : {"hellinger", "topsoe", "l2"}, default="hellinger"
    cdf : bool, default=False
        Whether distribution functions are compared instead of histograms.
    transformer : transformer, optional
        Makes numeric features of the items, such as a vectorizer of texts followed by ``TruncatedSVD``; fitted on the labelled
        items. By default items are vectors of numbers, dense or sparse. Features that are constant among labelled items are
        left out.
    classes : sequence of labels, optional
        The classes in order, where they have one; by default sorted.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    features_ : array of int
        The features that are used: those that vary.
    M_ : array of shape (n_features * bins, n_classes)
        The histograms of each class, one feature after the other.

    References
    ----------
    Firat (2016). Unified framework for quantification. arXiv:1606.00868.
    Bunse (2022). On multi-class extensions of adjusted classify and count. LQ.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> import numpy as np
    >>> X, y = make_classification(6000, n_informative=6, n_redundant=0, n_features=6, n_classes=3, class_sep=2.0, random_state=0)
    >>> sample = np.flatnonzero(y[3000:] == 1)[:500] + 3000           # items of the second class only
    >>> DMx().fit(X[:3000], y[:3000]).predict(X[sample]).round(1).tolist()
    [0.0, 1.0, 0.0]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **FeaturesQuantifier._parameter_constraints,
        "bins": integers_from(2),
        "distance": [StrOptions({"hellinger", "topsoe", "l2"})],
        "cdf": ["boolean"],
    }

    def __init__(
        self,
        bins: int = 8,
        *,
        distance: str = "hellinger",
        cdf: bool = False,
        transformer: Any = None,
        classes: Any = None,
    ) -> None:
        super().__init__(transformer, classes=classes)
        self.bins = bins
        self.distance = distance
        self.cdf = cdf

    @property
    def solver(self) -> NearestFeatures:  # type: ignore[override]
        """The search for the nearest mixture."""
        return NearestFeatures(self.representation, self.distance, self.cdf)

    def _learn_features(self, outputs: Outputs, codes: IntArray) -> None:
        self._learn_ranges(outputs, (int(self.bins),))
