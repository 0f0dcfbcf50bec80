"""`JudgeCorrection`: learns from human labels of some items what the answers of judges are worth, and corrects their shares."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from headcount._typing import AnyArray, IntArray
from headcount._validation import plain, quoted
from headcount.exceptions import DataError
from headcount.judges.answers import AnswerMap, JudgeAnswers, human_codes, is_missing, read_answers
from headcount.judges.choice import keep_judges, labels_needed
from headcount.judges.drawn_at_random import random_draw_test
from headcount.judges.label_shift import label_shift_estimate
from headcount.judges.reports import judge_report
from headcount.judges.result import CorrectedGroup, JudgedShares
from headcount.model_assisted import FEWEST_LABELS, AssistedShares, assisted_group_shares, assisted_shares

__all__ = ["JudgeCorrection"]

_NOT_RANDOM = 1e-3
"""P-value below which labelled items do not look like a random draw."""
_MANY_ABSTENTIONS = 0.05


class JudgeCorrection(BaseEstimator):
    r"""Class shares of items that judges (language models, say) have labelled all, and humans some, drawn at random.

    Counting a judge's answers repeats its mistakes. With :math:`m(x)` a regression of the human labels on the answers of all
    judges, the estimate is its mean over all items, plus its mean error among the labelled ones, so that it holds whatever the
    judges are worth (see `headcount.model_assisted.assisted_shares`):

    .. math:: \hat p = \frac1N \sum_{i=1}^N m(x_i) + \frac1n \sum_{i \in s} (y_i - m(x_i))

    A judge that is useless or always says the same gets no weight; several judges are used jointly.

    Parameters
    ----------
    classes : sequence, optional
        All classes; by default those of the human labels, sorted.
    mapping : mapping or sequence of pairs, optional
        The class that each free text stands for (`AnswerMap`).
    level : float, default=0.95
    half_width : float, default=0.05
        For which the number of human labels still needed is told.
    estimand : {"sample", "population"}, default="sample"
        The shares among these very items, or in what they are themselves a random sample of.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    shares_, low_, high_ : arrays of shape (n_classes,)
        Of all items, with the ends of their intervals.
    result_ : JudgedShares
        All answers: by group, the labels alone, the judges, which to keep, how many more labels.

    References
    ----------
    Särndal, Swensson and Wretman, "Model Assisted Survey Sampling", 1992. Angelopoulos, Bates, Fannjiang, Jordan and Zrnic,
    "Prediction-powered inference", Science 382, 2023. Rogan and Gladen, "Estimating prevalence from the results of a screening
    test", American Journal of Epidemiology 107, 1978.

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> truth = generator.choice(["bad", "good"], 2000, p=[0.3, 0.7])
    >>> judge = np.where((truth == "bad") & (generator.random(2000) < 0.4), "good", truth)   # lenient
    >>> human = np.full(2000, None, dtype=object)
    >>> labelled = generator.choice(2000, 150, replace=False)
    >>> human[labelled] = truth[labelled]
    >>> correction = JudgeCorrection().fit({"model": judge}, human)
    >>> share = (truth == "bad").mean()
    >>> round(float(share), 2), round(float(correction.result_.judges[0].shares[0]), 2)
    (0.3, 0.18)
    >>> bool(correction.low_[0] <= share <= correction.high_[0])
    True
    """

    def __init__(
        self,
        classes: Any = None,
        mapping: Any = None,
        level: float = 0.95,
        half_width: float = 0.05,
        estimand: str = "sample",
    ) -> None:
        self.classes = classes
        self.mapping = mapping
        self.level = level
        self.half_width = half_width
        self.estimand = estimand

    def fit(self, answers: Any, labels: Any, by: Any = None, ids: Any = None) -> Self:
        """Estimate the shares.

        Parameters
        ----------
        answers : mapping of name to answers, data frame, or array
            Of each judge a decision for each item (a class, a text that ``mapping`` has, or missing), or an array of scores of
            shape (n_items, n_classes) in the order of the classes. A one-dimensional array is of one judge.
        labels : sequence of shape (n_items,)
            Human labels of the items that were drawn at random to be labelled; missing (None, NaN, empty) for the others.
        by : sequence of shape (n_items,), optional
            Group of each item.
        ids : sequence of shape (n_items,), optional
            Names of the items, each of which must be there once.

        Returns
        -------
        self
        """
        self._check_parameters()
        classes, human = human_codes(labels, self.classes)
        mapping = (
            self.mapping if self.mapping is None or isinstance(self.mapping, AnswerMap) else AnswerMap(self.mapping)
        )
        read = read_answers(answers, classes, mapping)
        if len(read) != len(human):
            raise DataError(
                f"There are {len(human):,} labels (missing ones included) and answers for {len(read):,} items."
            )
        _check_ids(ids, human)
        n_labelled = int((human >= 0).sum())
        if n_labelled < FEWEST_LABELS:
            raise DataError(
                f"{n_labelled} items have a human label: at least {FEWEST_LABELS} are needed, drawn at random; label "
                f"{FEWEST_LABELS - n_labelled} more. With 50 to 200 the intervals are useful."
            )
        names, groups = _group_codes(by, len(human))
        self.classes_ = classes
        self.result_ = self._result(read, human, names, groups)
        self.shares_, self.low_, self.high_ = (getattr(self.result_.total, part) for part in ("shares", "low", "high"))
        return self

    def _check_parameters(self) -> None:
        if not 0.0 < self.level < 1.0:
            raise DataError(f"level must be between 0 and 1, such as 0.95; got {self.level!r}.")
        if not 0.0 < self.half_width < 0.5:
            raise DataError(
                f"half_width (--half-width) must be between 0 and 0.5, such as 0.03 for 3 points; got {self.half_width!r}."
            )
        if self.estimand not in ("sample", "population"):
            raise DataError(f"estimand must be 'sample' or 'population'; got {self.estimand!r}.")

    def _result(self, read: JudgeAnswers, human: IntArray, names: list[Any] | None, groups: IntArray) -> JudgedShares:
        rows = np.flatnonzero(human >= 0)
        codes, k = human[rows], len(self.classes_)
        counts = np.bincount(groups[rows], minlength=int(groups.max()) + 1)
        stratified = names is not None and bool((counts >= FEWEST_LABELS).all())
        finite = self.estimand == "sample"
        strata = groups if stratified else None

        def shares(judges: list[int], whole: bool = finite) -> AssistedShares:
            return assisted_shares(
                codes, rows, read.chosen(judges), k, strata=strata, finite_population=whole, level=self.level
            )

        everyone = list(range(len(read.names)))
        total = shares(everyone)
        of_these = total if finite else shares(everyone, True)
        singles = [shares([j]) for j in everyone] if len(everyone) > 1 else [total]
        judges = [
            judge_report(name, read.codes[:, j], human, read.others[j], of_these, singles[j])
            for j, name in enumerate(read.names)
        ]
        all_labelled = len(rows) == len(human)
        kept = keep_judges(read.names, len(rows), total.effective_labels, lambda some: shares(some).effective_labels)
        n_items = len(human) if finite else None
        needed, needed_alone = (
            labels_needed(variance, n_items, self.half_width, self.level)
            for variance in (total.residual_variance, total.variance_alone)
        )
        of_groups: tuple[CorrectedGroup, ...] = ()
        warnings = _warnings(read, human, self.classes_, groups, all_labelled)
        if names is not None:
            of_groups, notes = self._groups(read, human, names, groups, counts)
            warnings += notes
            if not stratified:
                warnings += _uneven(counts, np.bincount(groups))
        return JudgedShares(
            classes=self.classes_,
            level=self.level,
            estimand=self.estimand,
            total=CorrectedGroup.of("all", total),
            groups=of_groups,
            judges=tuple(judges),
            kept=kept,
            half_width=self.half_width,
            labels_needed=needed,
            labels_needed_alone=needed_alone,
            warnings=tuple(warnings),
        )

    def _groups(
        self,
        read: JudgeAnswers,
        human: IntArray,
        names: list[Any],
        groups: IntArray,
        counts: IntArray,
    ) -> tuple[tuple[CorrectedGroup, ...], list[str]]:
        """Return the answers of all groups, those from labels and those under label shift, and why one is lacking."""
        k, notes = len(self.classes_), list[str]()
        usable = np.flatnonzero(counts >= FEWEST_LABELS)
        answers: dict[int, AssistedShares] = {}
        if usable.size:
            kept = np.isin(groups, usable)
            position = np.cumsum(np.isin(np.arange(len(counts)), usable)) - 1
            found = assisted_group_shares(
                human[kept & (human >= 0)],
                np.flatnonzero(human[kept] >= 0),
                read.predictors[kept],
                k,
                position[groups[kept]],
                finite_population=self.estimand == "sample",
                level=self.level,
            )
            answers = dict(zip(usable.tolist(), found, strict=True))
        # Without groups: the predictions of a stratified regression would tell them apart.
        pooled = assisted_shares(human[human >= 0], human >= 0, read.predictors, k, level=self.level)
        shifted = label_shift_estimate(read, human, pooled, groups, self.estimand, self.level)
        if isinstance(shifted, str):
            notes.append(shifted)
            moved: Any = None
        else:
            moved = shifted
        sizes = np.bincount(groups)
        result = tuple(
            CorrectedGroup.of(
                name,
                answers.get(g),
                None
                if moved is None
                else tuple(np.atleast_2d(part)[g] for part in (moved.shares, moved.low, moved.high)),
                int(sizes[g]),
                int(counts[g]),
                k,
            )
            for g, name in enumerate(names)
        )
        few = [group.label for group in result if group.n_labelled < FEWEST_LABELS]
        if few:
            notes.append(
                f"Fewer than {FEWEST_LABELS} human labels, so no answer from labels, in {len(few):,} of {len(result):,} groups: "
                f"{quoted(few, 6)}."
            )
        apart = [group.label for group in result if group.answers_disagree]
        if apart:
            notes.append(
                f"In {quoted(apart, 6)} the answer from labels and the one under label shift exclude each other: there the judges "
                "err in another way than elsewhere, and only the answer from labels holds."
            )
        return result, notes


def _check_ids(ids: Any, human: IntArray) -> None:
    if ids is None:
        return
    names = [plain(value) for value in ids]
    if len(names) != len(human):
        raise DataError(f"There are {len(names):,} ids and {len(human):,} items.")
    seen: dict[Any, int] = {}
    for i, name in enumerate(names):
        if is_missing(name):
            raise DataError(f"Item {i + 1:,} has no id.")
        first = seen.setdefault(name, i)
        if first != i:
            both = human[first] >= 0 and human[i] >= 0
            what = "is labelled twice" if both else "is there twice"
            raise DataError(
                f"The item {quoted([name])} {what} (items {first + 1:,} and {i + 1:,}): keep one row of each item."
            )


def _group_codes(by: Any, n_items: int) -> tuple[list[Any] | None, IntArray]:
    """Return the names of the groups, sorted, and the group of each item."""
    if by is None:
        return None, np.zeros(n_items, dtype=np.int64)
    values = [None if is_missing(value) else plain(value) for value in by]
    if len(values) != n_items:
        raise DataError(f"by has {len(values):,} groups for {n_items:,} items: one for each item is needed.")
    names = sorted(
        set(values),
        key=lambda name: (
            name is None,
            not isinstance(name, int | float),
            name if isinstance(name, int | float) else 0,
            str(name),
        ),
    )
    position = {name: g for g, name in enumerate(names)}
    return names, np.array([position[value] for value in values], dtype=np.int64)


def _warnings(
    read: JudgeAnswers, human: IntArray, classes: AnyArray, groups: IntArray, all_labelled: bool
) -> list[str]:
    """Return what a reader should know of labels and answers before trusting the shares."""
    notes = []
    k = len(classes)
    labelled = human >= 0
    counts = np.bincount(human[labelled], minlength=k)
    if all_labelled:
        notes.append("Every item has a human label: the shares are known, and no judge is needed for them.")
    else:
        judge, p = random_draw_test(read, labelled, groups)
        if p < _NOT_RANDOM:
            notes.append(
                f"The labelled items do not look like a random draw: {judge} answers otherwise about them than about the others "
                f"(p = {p:.2g}). Unless they were drawn at random, none of these intervals holds."
            )
    if (counts == 0).any():
        notes.append(
            f"No human label is {quoted(classes[counts == 0])}: the shares of such classes are bounded by chance alone."
        )
    for name, codes, others in zip(read.names, read.codes.T, read.others, strict=True):
        values, times = np.unique(codes, return_counts=True)
        if len(values) == 1:
            notes.append(f"{name} says {quoted([classes[values[0]]])} of every item: it adds nothing.")
        n_other = int(times[values == k].sum())
        if n_other > _MANY_ABSTENTIONS * len(codes):
            named = {text: n for text, n in others.items() if text}
            examples = f", such as {quoted(sorted(named, key=lambda text: -named[text]), 3)}" if named else ""
            notes.append(
                f"{name} names no class for {n_other:,} of {len(codes):,} items ({n_other / len(codes):.0%}; {others.get('', 0):,} "
                f"empty, {sum(named.values()):,} other answers{examples}): that counts as an answer of its own."
            )
    return notes


def _uneven(counts: IntArray, sizes: IntArray) -> list[str]:
    """Return a warning if some groups were labelled at another rate than others, and can't be weighted for it."""
    from scipy.special import chdtrc

    expected = sizes * counts.sum() / sizes.sum()
    statistic = float(
        ((counts - expected) ** 2 / (expected * np.maximum(1.0 - counts.sum() / sizes.sum(), 1e-9))).sum()
    )
    if float(chdtrc(max(len(sizes) - 1, 1), statistic)) >= _NOT_RANDOM:
        return []
    return [
        "Groups were labelled at different rates, so the shares of all items together do not hold: go by the groups, or label at "
        f"least {FEWEST_LABELS} items in each, which lets the total be weighted."
    ]
