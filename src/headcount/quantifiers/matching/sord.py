"""SORD: the mixture of the classes' scores whose distribution function encloses the least area with that of a sample."""

from typing import Any, ClassVar

import numpy as np

from headcount._typing import FloatArray, RandomState
from headcount._validation import integers_from
from headcount.learners import Validation
from headcount.quantifiers.base import DEFAULT_VALIDATION
from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.matching.distances import nearest_shares
from headcount.quantifiers.matching.score_steps import ScoreSteps
from headcount.quantifiers.solvers import Solver
from headcount.quantifiers.sums import SumsQuantifier

__all__ = ["SORD"]


class _LeastArea(Solver):
    """The share of two classes for which the area between distribution functions is least."""

    compares_cells = True
    nested_cells = True
    squares = True

    def compared(self, frequencies: FloatArray) -> FloatArray:
        """Return the distribution function after each step but the last, where all are 1."""
        functions: FloatArray = np.cumsum(frequencies, axis=-1)[..., :-1]
        return functions

    def solve(self, q: FloatArray, M: FloatArray) -> FloatArray:
        """Return the shares of each sample."""
        return nearest_shares("l1", self.compared(q), self.compared(M.T).T)


@register_method(
    "least area between distribution functions",
    "Maletzke et al. 2019",
    group="matching",
    needs="posteriors, validation part",
)
class SORD(SumsQuantifier):
    r"""Sample ordinal distance: the least area between the distribution functions of weighted training scores and of a sample.

    With :math:`F^{\oplus}`, :math:`F^{\ominus}` and :math:`F` the distribution functions of the posteriors of the second class,
    among validation items of the second and first class and in the sample, the share :math:`\alpha` in [0, 1] minimises

    .. math:: A(\alpha) = \int_0^1 \lvert \alpha F^{\oplus}(s) + (1 - \alpha) F^{\ominus}(s) - F(s) \rvert \, ds,

    the cost of moving one set of scores to the other. It is piecewise linear and convex in :math:`\alpha`: its minimum is a
    weighted median of the shares at which the terms are 0, which is found exactly. For two classes.

    Posteriors are rounded to the nearest of ``steps`` equal steps, so that a sample is a sum over its items. That moves no score by
    more than half a step, so that for any share the area is off by at most 1 / steps, and the area at the answer is at
    most 2 / steps above the least there is.

    **When to use it.** Where there are too few validation items for histograms, with no number of bins to choose: scores near each
    other count as near. In our simulations its error was nearly that of PACC. With a hundred or more validation items of
    each class :class:`DyS` sees more.

    The interval is that of the sum of squared differences of the distribution functions, which has an equation where the area has
    none, extended where the estimate lies outside.

    Memory: ``steps + 1`` numbers for each sample.

    Parameters
    ----------
    classifier : estimator, default=None
        Any scikit-learn classifier; None means `NewtonLogisticRegression`. Without ``predict_proba`` it is calibrated by Platt's
        method. With a ``FrozenEstimator`` all data given to ``fit`` is the validation part.
    steps : int, default=1000
        Steps of [0, 1] to which posteriors are rounded.
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
    M_ : array of shape (steps + 1, 2)
        The share of each class's validation items at each rounded posterior.

    References
    ----------
    Maletzke, dos Reis, Cherman and Batista (2019). DyS: a framework for mixture models in quantification. AAAI.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(4000, flip_y=0.1, random_state=0)
    >>> import numpy as np
    >>> sample = np.flatnonzero(y[2000:] == 1)[:500] + 2000           # positives only
    >>> SORD(random_state=0).fit(X[:2000], y[:2000]).predict(X[sample]).round(1).tolist()
    [0.0, 1.0]
    """

    adjusts_for_shift = True
    max_classes = 2
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SumsQuantifier._parameter_constraints,
        "steps": integers_from(2),
    }
    solver = _LeastArea()

    def __init__(
        self,
        classifier: Any = None,
        *,
        steps: int = 1000,
        validation: Validation = DEFAULT_VALIDATION,
        refit: bool = False,
        random_state: RandomState = None,
        classes: Any = None,
    ) -> None:
        super().__init__(classifier, validation=validation, refit=refit, random_state=random_state, classes=classes)
        self.steps = steps

    @property
    def representation(self) -> ScoreSteps:  # type: ignore[override]
        """The rounded scores that are counted."""
        return ScoreSteps(self.steps)
