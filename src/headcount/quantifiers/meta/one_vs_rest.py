"""OneVsRest: a method for two classes, for any number of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from headcount._typing import FloatArray, IntArray, Items, RandomState
from headcount._validation import plain, seed_sequence
from headcount.exceptions import DataError
from headcount.learners import BlackBox, Fits, Need, Outputs, score
from headcount.quantifiers.base import Quantifier
from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.hdy import HDy
from headcount.quantifiers.meta.members import MembersQuantifier, MemberStatistics, fit_member, seeded

__all__ = ["OneVsRest"]


@register_method(
    "two-class method for each class against the rest", "Forman 2008", group="meta", needs="what its quantifier needs"
)
class OneVsRest(MembersQuantifier):
    r"""One versus rest: a method for two classes estimates each class's share against all others; the shares are scaled to sum 1.

    .. math:: \hat p_j = \frac{\hat a_j}{\sum_l \hat a_l}

    where :math:`\hat a_j` is the share that the quantifier estimates for class j, with a classifier of its own for j against the
    rest. Where all :math:`\hat a_j` are 0 the answer is equal shares. A ``FrozenEstimator`` in the quantifier, or ready-made
    `Outputs`, hold the posteriors of all classes: those of class j and of the rest, and the decisions for j or not, are then made
    of them.

    With two classes it is the quantifier itself.

    *When to use it*: for methods that are defined for two classes only, such as `HDy`. *When not*: the mixture of the rest
    changes with the shares, which these methods take for fixed, so that estimates are biased where the other classes look
    different to the classifier; methods for any number of classes, such as PACC and SLD, are not. It takes as many fits as there
    are classes.

    Parameters
    ----------
    quantifier : quantifier, default=None
        The method for two classes; None means ``HDy()``.
    random_state : int, RandomState, Generator or None, default=None
        For a quantifier without a seed.
    classes : sequence of labels, optional
        The classes in order, where they have one; by default sorted.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    members_ : list of fitted quantifiers
        One for each class, with the classes 0 (the rest) and 1; with two classes, one for the second class.
    classifier_ : fitted classifier
        If all classes are scored by one: a frozen one, or that of ready-made outputs.

    References
    ----------
    Forman (2008). Quantifying counts and costs via classification. Data Mining and Knowledge Discovery 17.

    Examples
    --------
    >>> import numpy as np
    >>> from headcount import HDy
    >>> y = np.arange(3000) % 3
    >>> X = np.eye(3)[y] + 0.4 * np.random.default_rng(0).standard_normal((3000, 3))
    >>> q = OneVsRest(HDy(), random_state=0).fit(X[:1500], y[:1500])
    >>> q.predict(X[1500:][y[1500:] < 2]).round(1).tolist()
    [0.5, 0.5, 0.0]
    """

    adjusts_for_shift = True
    interval_refusal = (
        "the shares of {name} are estimated class by class and scaled, and the mixture of the rest changes with them, so that no "
        "interval counts its error. Use PACC or SLD."
    )

    def __init__(self, quantifier: Any = None, *, random_state: RandomState = None, classes: Any = None) -> None:
        self.quantifier = quantifier
        self.random_state = random_state
        self.classes = classes

    @staticmethod
    def default_quantifier() -> Quantifier:
        """Return the quantifier that ``quantifier=None`` means."""
        return HDy()

    def _is_frozen(self) -> bool:
        return self._inner()[0]._is_frozen()

    @property
    def _positive(self) -> list[int]:
        """Positions of the classes that a member estimates."""
        return [1] if len(self.classes_) == 2 else list(range(len(self.classes_)))

    def check_learnt(self) -> None:
        """Raise DataError unless there is a member for each class, or for the second of two."""
        super().check_learnt()
        if len(self.members_) != len(self._positive):
            raise DataError("there are more or fewer members than classes")

    def _classes_of_members(self) -> list[Any]:
        return [0, 1]

    def _learn(self, fits: Fits, codes: IntArray) -> None:
        inner = self._inner()[0]
        seed = None
        if self.random_state is not None:
            seed = int(seed_sequence(self.random_state).generate_state(1)[0])
        self.__dict__.pop("classifier_", None)
        outputs = fits.X if isinstance(fits.X, Outputs) else None
        if outputs is not None:
            self.classifier_ = BlackBox(tuple(plain(label) for label in self.classes_)).fit()
        elif inner._is_frozen():
            self.classifier_ = inner.classifier
            outputs = score(self.classifier_, fits.X, inner.needs, self.classes_)
        self.members_ = []
        for j in self._positive:
            member, labels = seeded(inner, seed), (codes == j).astype(np.int64)
            if outputs is None:
                self.members_.append(fit_member(member, fits, labels=labels))
            else:
                free = member.set_params(classifier=None) if inner._is_frozen() else member
                self.members_.append(free.fit(_against_rest(outputs, j), labels))

    def _score(self, X: Items, needs: Any) -> Outputs:
        if hasattr(self, "classifier_"):
            return score(self.classifier_, X, needs, self.classes_)
        return super()._score(X, needs)

    @property
    def needs(self) -> frozenset[Need]:
        """What must be known of each item: what the quantifier needs."""
        return self._inner()[0].needs

    def _shared_outputs(self, outputs: Outputs) -> Sequence[Outputs]:
        return [_against_rest(outputs, j) for j in self._positive]

    def _in_order(self, member: Quantifier, shares: FloatArray) -> FloatArray:
        return shares[:, 1:]

    def _combine(self, estimates: FloatArray, statistics: MemberStatistics) -> FloatArray:
        shares = estimates[:, :, 0].T
        if len(self.classes_) == 2:
            return np.column_stack([1.0 - shares[:, 0], shares[:, 0]])
        totals = shares.sum(axis=1, keepdims=True)
        return np.where(totals > 0.0, shares / np.where(totals > 0.0, totals, 1.0), 1.0 / len(self.classes_))


def _against_rest(outputs: Outputs, j: int) -> Outputs:
    """Return the outputs for class j, as class 1, against all others, as class 0."""
    if outputs.folds is not None:
        return Outputs.from_folds([_against_rest(fold, j) for fold in outputs.folds])
    posteriors, decisions = outputs.posteriors, outputs.decisions
    if posteriors is not None:
        own = np.minimum(posteriors[:, j], 1.0)
        posteriors = np.column_stack([1.0 - own, own])
    if decisions is not None:
        decisions = (decisions == j).astype(np.int32)
    return Outputs(np.array([0, 1]), outputs.n_items, decisions, posteriors, outputs.embeddings)
