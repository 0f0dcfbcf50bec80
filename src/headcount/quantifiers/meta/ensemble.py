"""Ensemble: members trained under varied class shares, whose estimates are averaged, all or the best of them."""

from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from headcount._typing import FloatArray, IntArray, RandomState
from headcount._validation import Interval, StrOptions, integers_from, seed_sequence
from headcount.errors import ae
from headcount.exceptions import DataError
from headcount.learners import VALIDATION_CONSTRAINTS, Fits, Outputs, validation_parts
from headcount.protocols import default_protocol
from headcount.quantifiers.base import Quantifier
from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.meta.median import median_shares
from headcount.quantifiers.meta.members import MembersQuantifier, MemberStatistics, fit_member, seeded
from headcount.quantifiers.meta.similarity import PosteriorSimilarity
from headcount.quantifiers.pacc import PACC

__all__ = ["Ensemble"]

_LEAST_OF_A_CLASS = 5
"""Items of each class that a member is trained on at least, if there are as many."""
_JUDGING_SAMPLE = 100


@register_method(
    "members trained under varied shares, averaged",
    "Pérez-Gállego et al. 2017",
    group="meta",
    needs="what its members need",
)
class Ensemble(MembersQuantifier):
    r"""Ensemble of quantifiers that are trained on parts of the labelled items with different class shares.

    .. math:: \hat p = \frac{1}{|S|} \sum_{m \in S} \hat p^{(m)}

    For each member m, shares are drawn uniformly from the simplex. Of each class, as many labelled items as these shares of all of
    them are, at most all that the class has, train a clone of the quantifier, its classifier included. Items are drawn without
    replacement: of copies of an item, a fold would validate some and train on others. S are the best of the members or, with
    ``selection=None``, all of them:

    - ``"accuracy"``: those with the least mean absolute error on samples drawn from labelled items that are held out from all
      members (static; they are chosen in ``fit``);
    - ``"ptr"``: for each sample, those whose training shares are nearest to the mean estimate of all members (dynamic);
    - ``"ds"``: for each sample, those whose training items have posteriors like the sample's, by the Hellinger distance of their
      histograms, of one classifier over all labelled items (dynamic).

    *When to use it*: with methods that depend on the shares that their classifier was trained under, such as CC and HDy, and
    ``"ptr"``. On two Gaussian classes, with 15 members over logistic regression, the mean absolute error of HDy fell from .048 to
    .032 with 200 labelled items and stayed at .018 with 1,500; that of CC fell from .084 to .05, that of PACC from .024 to .022 and
    from .0175 to .017 (six draws, standard errors up to .0035; ``python -m benchmarks.ensembles``). *When not*: without selection,
    members trained under far shares spoil the mean of CC (.12 and .11) and HDy (.07 and .03); it takes ``n_members`` times the
    fits, scorings and memory for outputs; intervals are needed.

    Parameters
    ----------
    quantifier : quantifier, default=None
        What members are clones of; None means ``PACC()``.
    n_members : int, default=50
    selection : {"accuracy", "ptr", "ds"} or None, default="ptr"
        None: all members count.
    n_selected : int, default=None
        Number of members that are selected; None means half of them.
    aggregation : {"mean", "median"}, default="mean"
        How the estimates of members are combined; medians of each class are scaled to sum 1.
    test_size : float, default=0.3
        With ``selection="accuracy"``, the fraction of the labelled items that judges the members.
    random_state : int, RandomState, Generator or None, default=None
        For the shares and items of members, and for members without a seed.
    classes : sequence of labels, optional
        The classes in order, where they have one; by default sorted.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    members_ : list of fitted quantifiers
        Those that were selected, with ``selection="accuracy"``.
    training_shares_ : array of shape (n_members, n_classes)
        Shares of the classes among the items that each of these was trained on.

    References
    ----------
    Pérez-Gállego, Quevedo and del Coz (2017). Using ensembles for problems with characterizable changes in data distribution: A
    case study on quantification. Information Fusion 34.
    Pérez-Gállego, Castaño, Quevedo and del Coz (2019). Dynamic ensemble selection for quantification tasks. Information Fusion 45.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> from headcount import PACC
    >>> X, y = make_classification(4000, flip_y=0.1, random_state=0)
    >>> sample = np.flatnonzero(y[2000:] == 1)[:500] + 2000           # positives only
    >>> q = Ensemble(PACC(), n_members=8, random_state=0)
    >>> q.fit(X[:2000], y[:2000]).predict(X[sample]).round(1).tolist()
    [0.0, 1.0]
    """

    adjusts_for_shift = True
    training_shares_: FloatArray
    learnt_shapes: ClassVar[dict[str, tuple[str | int | None, ...]]] = {
        "training_shares_": ("members", "classes"),
        "histograms_": ("members", None),
    }
    interval_refusal = (
        "the members of {name} learn from the same labelled items and err together, and no formula tells how far. Use its "
        "quantifier alone, such as PACC."
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **MembersQuantifier._parameter_constraints,
        "n_members": integers_from(2),
        "selection": [StrOptions({"accuracy", "ptr", "ds"}), None],
        "n_selected": [Interval(Integral, 1, None, closed="left"), None],
        "aggregation": [StrOptions({"mean", "median"})],
        "test_size": VALIDATION_CONSTRAINTS[:1],
    }

    def __init__(
        self,
        quantifier: Any = None,
        *,
        n_members: int = 50,
        selection: str | None = "ptr",
        n_selected: int | None = None,
        aggregation: str = "mean",
        test_size: float = 0.3,
        random_state: RandomState = None,
        classes: Any = None,
    ) -> None:
        self.quantifier = quantifier
        self.n_members = n_members
        self.selection = selection
        self.n_selected = n_selected
        self.aggregation = aggregation
        self.test_size = test_size
        self.random_state = random_state
        self.classes = classes

    @staticmethod
    def default_quantifier() -> Quantifier:
        """Return the quantifier that ``quantifier=None`` means."""
        return PACC()

    def check_learnt(self) -> None:
        """Raise DataError unless what selects members is of as many as there are."""
        selects = self.selection == "ds"
        if selects != hasattr(self, "similarity_") or selects != hasattr(self, "histograms_"):
            raise DataError("what selects members is missing")
        super().check_learnt()
        if len(self.training_shares_) != len(self.members_):
            raise DataError("training_shares_ is of other members")

    def _learn(self, fits: Fits, codes: IntArray) -> None:
        inner, k = self._inner()[0], len(self.classes_)
        selected = self._n_selected()
        of_members, of_test = seed_sequence(self.random_state).spawn(2)
        seed = int(of_test.generate_state(1)[0])
        train, held_out = np.arange(len(codes)), None
        if self.selection == "accuracy":
            train, held_out = next(validation_parts(float(self.test_size), codes, seed, "test_size"))
        parts, self.members_ = [], []
        for one in of_members.spawn(int(self.n_members)):
            generator = np.random.default_rng(one)
            rows = train[_rows_with_shares(codes[train], generator.dirichlet(np.ones(k)), generator)]
            member = seeded(inner, None if self.random_state is None else int(generator.integers(2**31)), self.classes)
            self.members_.append(fit_member(member, fits, rows))
            parts.append(rows)
        self.training_shares_ = np.stack([np.bincount(codes[rows], minlength=k) / len(rows) for rows in parts])
        for name in ("similarity_", "histograms_"):
            self.__dict__.pop(name, None)
        if held_out is not None:
            best = np.sort(np.argsort(self._errors(fits, codes, held_out, seed), kind="stable")[:selected])
            self.members_ = [self.members_[m] for m in best]
            self.training_shares_ = self.training_shares_[best]
        if self.selection == "ds":
            similarity = PosteriorSimilarity(
                getattr(inner, "classifier", None), random_state=seed, classes=self.classes
            )
            self.similarity_ = fit_member(similarity, fits)
            self.histograms_ = similarity.histograms(parts)

    def _n_selected(self) -> int:
        if self.n_selected is None:
            return -(-int(self.n_members) // 2)
        if self.n_selected > self.n_members:
            raise DataError(f"n_selected={self.n_selected} members can't be selected of n_members={self.n_members}.")
        return int(self.n_selected)

    def _errors(self, fits: Fits, codes: IntArray, rows: IntArray, seed: int) -> FloatArray:
        """Return the mean absolute error of each member on samples drawn from these items."""
        X = fits.X.take(rows) if isinstance(fits.X, Outputs) else fits.part(rows)[0]
        protocol = default_protocol(len(self.classes_), repeats=10, sample_size=_JUDGING_SAMPLE, random_state=seed)
        samples, true = protocol.draw(codes[rows], np.arange(len(self.classes_)))
        statistics = self.reduce(self.outputs_of(X), samples)
        pairs = zip(self.members_, statistics.parts, strict=True)
        return np.array([np.mean(ae(true, self._in_order(one, one.solve(part)))) for one, part in pairs])

    def outputs_of(self, X: Any) -> Outputs:
        """Return the outputs of items while members are being selected."""
        return X if isinstance(X, Outputs) else self._score(X, self.needs)

    def _scorers(self) -> list[Quantifier]:
        return [*self.members_, *([self.similarity_] if hasattr(self, "similarity_") else [])]

    def _combine(self, estimates: FloatArray, statistics: MemberStatistics) -> FloatArray:
        if self.selection in ("ptr", "ds"):
            chosen = self._chosen(estimates, statistics)
            estimates = np.take_along_axis(estimates, chosen.T[:, :, None], axis=0)
        if self.aggregation == "median":
            return median_shares(estimates)
        mean = estimates.mean(axis=0)
        shares: FloatArray = mean / mean.sum(axis=1, keepdims=True)
        return shares

    def _chosen(self, estimates: FloatArray, statistics: MemberStatistics) -> IntArray:
        """Return the members that are selected for each sample, shape (n_samples, n_selected)."""
        if self.selection == "ptr":
            far = np.square(self.training_shares_[None] - estimates.mean(axis=0)[:, None]).sum(axis=2)
        else:
            far = -self.similarity_.affinities(statistics.parts[-1], self.histograms_)
        chosen: IntArray = np.sort(np.argsort(far, axis=1, kind="stable")[:, : self._n_selected()], axis=1)
        return chosen


def _rows_with_shares(codes: IntArray, shares: FloatArray, generator: np.random.Generator) -> IntArray:
    """Draw items of each class without replacement, as many as these shares of all items if there are; return their rows.

    >>> codes = np.repeat([0, 1], [80, 20])
    >>> np.bincount(codes[_rows_with_shares(codes, np.array([0.6, 0.4]), np.random.default_rng(0))]).tolist()
    [60, 20]
    """
    there = np.bincount(codes, minlength=len(shares))
    counts = np.clip(np.round(shares * len(codes)).astype(np.int64), np.minimum(_LEAST_OF_A_CLASS, there), there)
    drawn = [generator.choice(np.flatnonzero(codes == j), n, replace=False) for j, n in enumerate(counts)]
    return np.sort(np.concatenate(drawn))
