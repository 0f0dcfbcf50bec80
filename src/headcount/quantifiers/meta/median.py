"""MedianQuantifier: the median of the estimates of several settings, learners or methods."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from headcount._typing import FloatArray, IntArray, RandomState
from headcount._validation import quoted, seed_sequence
from headcount.exceptions import DataError
from headcount.learners import Fits, NewtonLogisticRegression, Outputs
from headcount.quantifiers.base import Quantifier
from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.meta.members import MembersQuantifier, MemberStatistics, fit_member, seeded
from headcount.quantifiers.pacc import PACC

__all__ = ["MedianQuantifier", "median_shares"]

_DEFAULT_GRID = {"classifier__C": (0.01, 0.1, 1.0, 10.0, 100.0)}
"""Without a quantifier: PACC over logistic regression of these strengths."""


@register_method(
    "median over learners or settings",
    "Donyavi, Serapião and Batista 2023",
    group="meta",
    needs="what its members need",
)
class MedianQuantifier(MembersQuantifier):
    r"""The median of the estimates of several settings of a quantifier (MC-SQ: several classifiers, one quantifier).

    .. math:: \hat p_j \propto \mathrm{median}_m \, \hat p_j^{(m)}

    over members m: the quantifier with each setting of a grid, such as several classifiers or strengths of regularisation.
    Nothing is chosen, so no labelled items are spent on a choice, and one member that fails does no harm. A classifier is fitted
    once, and scores a pool once, however many members are made over it; settings that differ in C alone start from each other.

    *When to use it*: where it is not known which learner suits the data, and there are too few labelled items to choose by. *When
    not*: where one setting is clearly better, `QuantifierSearch` finds it; intervals are needed.

    Parameters
    ----------
    quantifier : quantifier or list of quantifiers, default=None
        What members are made of. None means ``PACC`` over logistic regression with five values of C.
    grid : dict of str to sequence, or list of dicts, default=None
        Settings of members, as `QuantifierSearch` takes them: ``{"classifier": [LogisticRegression(), GaussianNB()]}``. A key that
        only some quantifiers of a list have applies to those. None: each quantifier as it is.
    random_state : int, RandomState, Generator or None, default=None
        For quantifiers without a seed: all of them split the labelled items alike, so that their fits are shared.
    classes : sequence of labels, optional
        The classes in order, where they have one; by default sorted.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    members_ : list of fitted quantifiers

    References
    ----------
    Donyavi, Serapião and Batista (2023). MC-SQ: A highly accurate ensemble for multi-class quantification. SDM.

    Examples
    --------
    >>> import numpy as np
    >>> from headcount import PACC, NewtonLogisticRegression
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = make_classification(4000, flip_y=0.1, random_state=0)
    >>> sample = np.flatnonzero(y[2000:] == 1)[:500] + 2000           # positives only
    >>> q = MedianQuantifier(PACC(), {"classifier": [NewtonLogisticRegression(), GaussianNB()]}, random_state=0)
    >>> q.fit(X[:2000], y[:2000]).predict(X[sample]).round(1).tolist()
    [0.0, 1.0]
    """

    adjusts_for_shift = True
    interval_refusal = (
        "{name} takes the median of estimates that err together, and no formula tells how far. Use one of its members, or "
        "AutoQuantifier, which chooses among them."
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **MembersQuantifier._parameter_constraints,
        "quantifier": [*MembersQuantifier._parameter_constraints["quantifier"], list, tuple],
        "grid": [dict, list, None],
    }

    def __init__(
        self, quantifier: Any = None, grid: Any = None, *, random_state: RandomState = None, classes: Any = None
    ) -> None:
        self.quantifier = quantifier
        self.grid = grid
        self.random_state = random_state
        self.classes = classes

    @staticmethod
    def default_quantifier() -> Quantifier:
        """Return the quantifier that ``quantifier=None`` means."""
        return PACC(NewtonLogisticRegression())

    def _learn(self, fits: Fits, codes: IntArray) -> None:
        if not fits.remember:
            fits = Fits(fits.X, fits.y, remember=True, fit_params=fits.fit_params)
        seed = int(seed_sequence(self.random_state).generate_state(1)[0])
        settings = self._settings(isinstance(fits.X, Outputs))
        self.members_ = [fit_member(seeded(one, seed, self.classes), fits) for one in settings]

    def _settings(self, of_outputs: bool) -> list[Quantifier]:
        """Return the members, not fitted: each quantifier with each setting, alike ones once."""
        from sklearn.model_selection import ParameterGrid  # slow to import

        grid = self.grid
        if grid is None:
            grid = _DEFAULT_GRID if self.quantifier is None and not of_outputs else {}
        inner = self._inner()
        if self.quantifier is None and of_outputs:
            inner = [PACC()]
        members: dict[str, Quantifier] = {}
        unused = {key for one in ParameterGrid(grid) for key in one}
        for position, one in enumerate(inner):
            for setting in ParameterGrid(grid):
                named = _explicit(one, setting)
                chosen = {key: value for key, value in setting.items() if _has(named, key, setting)}
                unused -= set(chosen)
                member = clone(named).set_params(**{key: _cloned(value) for key, value in chosen.items()})
                members.setdefault(f"{position} {sorted(chosen.items(), key=str)!r}", member)
        if unused:
            raise DataError(
                f"The grid names {quoted(sorted(unused))}, which no quantifier of {type(self).__name__} has."
            )
        return list(members.values())

    def _combine(self, estimates: FloatArray, statistics: MemberStatistics) -> FloatArray:
        return median_shares(estimates)


def median_shares(estimates: FloatArray) -> FloatArray:
    """Return the median of each share over the first axis, scaled to sum 1; the mean where all medians are 0.

    >>> median_shares(np.array([[[0.2, 0.8]], [[0.3, 0.7]], [[1.0, 0.0]]])).tolist()
    [[0.3, 0.7]]
    """
    median = np.median(estimates, axis=0)
    empty = median.sum(axis=1) <= 0.0
    if empty.any():
        median[empty] = estimates.mean(axis=0)[empty]
    shares: FloatArray = median / median.sum(axis=1, keepdims=True)
    return shares


def _explicit(quantifier: Quantifier, setting: Mapping[str, Any]) -> Quantifier:
    """Make the default classifier explicit where the setting has parameters of it."""
    named = any(key.startswith("classifier__") for key in setting)
    if named and getattr(quantifier, "classifier", 0) is None:
        explicit: Quantifier = clone(quantifier).set_params(classifier=quantifier.default_classifier())
        return explicit
    return quantifier


def _has(quantifier: Quantifier, key: str, setting: Mapping[str, Any]) -> bool:
    """Whether a quantifier has this parameter, or another parameter of the setting brings it."""
    head, _, inner = key.partition("__")
    brought = setting.get(head)
    if inner and brought is not None and hasattr(brought, "get_params"):
        return inner in brought.get_params()
    return key in quantifier.get_params()


def _cloned(value: Any) -> Any:
    return clone(value) if hasattr(value, "get_params") and not isinstance(value, type) else value
