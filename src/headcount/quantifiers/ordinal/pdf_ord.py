"""PDF-ord: the mixture of the classes' distributions of one ordinal score that is nearest to a sample's."""

from typing import Any, ClassVar

import numpy as np

from headcount._typing import FloatArray, IntArray, RandomState
from headcount._validation import StrOptions, integers_from
from headcount.learners import Need, Outputs, Validation
from headcount.quantifiers.base import DEFAULT_VALIDATION
from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.histograms import EDGE
from headcount.quantifiers.ordinal.solvers import EarthMover, NearestFrequencies
from headcount.quantifiers.representations import Cells
from headcount.quantifiers.solvers import Solver
from headcount.quantifiers.sums import SumsQuantifier

__all__ = ["PDFOrd"]


class MeanClass(Cells):
    """The mean class number of an item under its posteriors, from 0 to n_classes - 1, as one of equal bins.

    >>> P = Outputs.from_posteriors(np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]), [1, 2, 3])
    >>> MeanClass(4).codes(P).tolist()
    [[2], [7]]
    """

    needs: Need = "posteriors"

    def __init__(self, bins: int) -> None:
        self.bins = bins

    def width(self, n_classes: int) -> int:
        """Return the number of bins between the lowest and the highest class."""
        return self.bins * (n_classes - 1)

    def codes(self, outputs: Outputs) -> IntArray:
        """Return the bin of each item, in one column."""
        P = outputs.need(self.needs)
        scores: FloatArray = P @ np.arange(P.shape[1], dtype=np.float64)
        bins = np.minimum(scores * self.bins + EDGE, self.width(P.shape[1]) - 1)
        codes: IntArray = bins.astype(np.int32)[:, None]
        return codes


@register_method(
    "nearest mixture of distributions of the mean class",
    "Castaño et al. 2022",
    group="matching",
    needs="posteriors, validation part, an order",
    aliases=("PDF_EMD", "PDF_L2"),
)
class PDFOrd(SumsQuantifier):
    r"""Match the distribution of the mean class of a sample's items with a mixture of the classes' distributions.

    An item's score is :math:`s(x) = \sum_k k \Pr(k \mid x)`, one number on the scale of the classes. With q the sample's share of
    scores in each of equal bins, and column j of M that of the validation items of class j, the shares p on the simplex minimise
    the earth mover's distance between M p and q, the sum of absolute differences of the distribution functions; or the sum of
    squared differences of the histograms ("l2").

    **When to use it.** Where the order says most of what the classifier knows, as with stars: one histogram of many bins needs
    fewer items than one for each class. **When not.** Where classes differ in other ways than by being higher or lower, an
    item between two classes and one that may be of either extreme have the same score.

    Parameters
    ----------
    classifier : estimator, default=None
        Any scikit-learn classifier; None means `NewtonLogisticRegression`. Without ``predict_proba`` it is calibrated by Platt's
        method. With a ``FrozenEstimator`` all data given to ``fit`` is the validation part.
    distance : {"emd", "l2"}, default="emd"
    bins : int, default=32
        Bins from one class to the next. The published methods have 32 with "emd" and 4 with "l2".
    validation : int, float or splitter, default=5
        A number of folds or a splitter, or a fraction to hold out, as for :class:`ACC`.
    refit : bool, default=False
        As for :class:`ACC`.
    random_state : int, RandomState, Generator or None, default=None
        For the split.
    classes : sequence of labels, optional
        The classes from lowest to highest; needed for more than two classes whose labels are texts.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    classifier_ : fitted classifier
    M_ : array of shape (bins * (n_classes - 1), n_classes)
        The histogram of the scores of each class's validation items.

    References
    ----------
    Castaño, González, González and del Coz (2022). Matching distributions algorithms based on the earth mover's distance for
    ordinal quantification. IEEE Transactions on Neural Networks and Learning Systems.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(4000, n_informative=6, n_classes=3, class_sep=2.0, random_state=0)
    >>> sample = np.flatnonzero(y[2000:] == 2)[:500] + 2000           # items of the highest class only
    >>> PDFOrd(random_state=0).fit(X[:2000], y[:2000]).predict(X[sample]).round(1).tolist()
    [0.0, 0.0, 1.0]
    """

    adjusts_for_shift = True
    needs_order = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SumsQuantifier._parameter_constraints,
        "distance": [StrOptions({"emd", "l2"})],
        "bins": integers_from(2),
    }

    def __init__(
        self,
        classifier: Any = None,
        *,
        distance: str = "emd",
        bins: int = 32,
        validation: Validation = DEFAULT_VALIDATION,
        refit: bool = False,
        random_state: RandomState = None,
        classes: Any = None,
    ) -> None:
        super().__init__(classifier, validation=validation, refit=refit, random_state=random_state, classes=classes)
        self.distance = distance
        self.bins = bins

    @property
    def representation(self) -> MeanClass:  # type: ignore[override]
        """The bins of the score."""
        return MeanClass(self.bins)

    @property
    def solver(self) -> Solver:  # type: ignore[override]
        """The distance with the search for its least value."""
        return EarthMover() if self.distance == "emd" else NearestFrequencies()
