"""The paper's conclusions on which measure to optimise learners for."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from headcount.report.claims.claim import Figure, Outcome, ae, balanced, check, imbalanced, learners, pairs, partly
from headcount.report.evidence import Evidence
from headcount.report.scores import VARIANTS, Key

_CLEAR = 0.1
"""Relative change of the error that counts as a clear gain."""
_TARGET_NAMES = {"none": "at defaults", "ae": "for AE", "accuracy": "for accuracy", "f1": "for F1"}


def _lower_for_all(evidence: Evidence, targets: tuple[str, str]) -> Outcome:
    """Judge whether each variant's mean AE with SVM and LR on imbalanced data is lower for the first target than the second."""
    lower, figures = [], []
    for method in VARIANTS:
        both = list(pairs(evidence, imbalanced(evidence), ("svm", "lr"), method, targets))
        if not both:
            continue
        means = []
        for target, keys in zip(targets, zip(*both, strict=True), strict=True):
            means.append(float(np.mean([ae(evidence, key) for key in keys])))
            figures.append(Figure(f"{method}, {_TARGET_NAMES[target]}", means[-1], evidence.files(*keys)))
        lower.append(means[0] < means[1])
    if not lower:
        return None, "There are no figures of SVM or LR for both targets on imbalanced training data.", figures
    why = f"The mean AE is lower for {sum(lower)} of {len(lower)} variants."
    return partly(lower, len(VARIANTS)), _with_count(why, len(lower)), figures


def _with_count(why: str, n: int) -> str:
    """Add how many variants have figures, if not all four do."""
    return why if n == len(VARIANTS) else f"{why} There are figures of {n} of the four variants."


@check(
    "SVM and LR gain from being optimised for AE where the training data are imbalanced.",
    "The mean AE over imbalanced data sets (largest training share at least 0.7), SVM and LR is lower optimised for AE than at "
    "defaults, for each of CC, ACC, PCC and PACC.",
)
def _gain_where_imbalanced(evidence: Evidence) -> Outcome:
    return _lower_for_all(evidence, ("ae", "none"))


@check(
    "They gain more from a quantification loss than from a classification loss.",
    "Likewise, the mean AE is lower optimised for AE than for accuracy, for each of CC, ACC, PCC and PACC.",
)
def _quantification_loss_gains_more(evidence: Evidence) -> Outcome:
    return _lower_for_all(evidence, ("ae", "accuracy"))


@check(
    "Where the training data are balanced, model selection brings no clear gain.",
    "On data sets with a largest training share of at most 0.6, fewer than half of the uses (variant and learner) lower "
    "their AE by more than 10 % when optimised for AE.",
)
def _no_gain_where_balanced(evidence: Evidence) -> Outcome:
    changes = []
    for method in VARIANTS:
        for x, y in pairs(evidence, balanced(evidence), learners(evidence), method, ("ae", "none")):
            default = ae(evidence, y)
            change = ae(evidence, x) / default - 1.0 if default else 0.0 if ae(evidence, x) == 0.0 else np.inf
            figure = Figure(f"{method} {x.learner} on {x.data_set}", f"{change:+z.1%}", evidence.files(x, y))
            changes.append((change, figure))
    if not changes:
        return None, "There are no figures on balanced training data.", []
    gains = sum(change < -_CLEAR for change, _ in changes)
    return 2 * gains < len(changes), f"Of {len(changes)} uses, {gains} gain clearly.", [figure for _, figure in changes]


_TEST = "the test over test pools and runs at 0.05 (of the published figures, the paper's paired t-test)"
_OUTCOMES = {
    ">>": "{x} errs less (p < 0.001)",
    ">": "{x} errs less (p < 0.05)",
    "~": "there is no significant difference",
    "<": "{y} errs less (p < 0.05)",
    "<<": "{y} errs less (p < 0.001)",
    "?": "it is not judged",
}
"""What a mark of table 5 says of two targets."""


class _Mark(NamedTuple):
    """The mark of table 5 for a variant and two targets, and that of the paired t-test beside it (None where it is the same)."""

    method: str
    pair: tuple[str, str]
    mark: str
    paired: str | None
    files: list[str]

    def in_words(self) -> str:
        """Return what both tests say."""
        x, y = (_TARGET_NAMES[target] for target in self.pair)
        first, second = (
            _OUTCOMES[m].format(x=f"that {x}", y=f"that {y}") for m in (self.mark, self.paired or self.mark)
        )
        return first if self.paired is None else f"{first}; by the paired t-test {second}"

    @property
    def figure(self) -> Figure:
        """The mark as a figure of a claim."""
        return Figure(self.method, self.in_words(), self.files)


def _marks(evidence: Evidence, pair: tuple[str, str], methods: Sequence[str] = VARIANTS) -> list[_Mark]:
    """Return the marks of table 5 for a pair of targets, of the methods that have one, each beside that of the paired t-test."""
    marks = []
    for method in methods:
        mark, paired = (of(*pair, method, "ae") for of in (evidence.mark, evidence.paired_mark))
        if mark is not None:
            marks.append(_Mark(method, pair, mark, paired, evidence.files_of_mark(*pair, method)))
    return marks


def _judged(marks: Sequence[_Mark]) -> list[_Mark]:
    """Return the marks of tests that could be made: not those of one run, or of a store without the labels of the test items."""
    return [mark for mark in marks if mark.mark != "?"]


def _figures(marks: Sequence[_Mark]) -> list[Figure]:
    return [mark.figure for mark in marks]


def _by_paired(marks: Sequence[_Mark], count: Callable[[Sequence[str]], str]) -> str:
    """Return what the paper's paired t-test says of the same pairs, as a sentence; nothing where it is the only test."""
    paired = [mark.paired for mark in marks if mark.paired is not None]
    return f" By the paper's paired t-test {count(paired)}." if paired else ""


def _all_better(evidence: Evidence, pair: tuple[str, str]) -> Outcome:
    marks = _marks(evidence, pair)
    if not marks:
        return None, "There are no figures for both targets.", []
    judged = _judged(marks)
    if not judged:
        return None, _NOT_JUDGED, _figures(marks)

    def number(signs: Sequence[str]) -> int:
        return sum(sign.startswith(">") for sign in signs)

    better = [mark.mark.startswith(">") for mark in judged]
    why = f"It is significantly better for {sum(better)} of {len(better)} variants."
    why = _with_count(why, len(better)) + _by_paired(judged, lambda signs: f"it is for {number(signs)} of {len(signs)}")
    return partly(better, len(VARIANTS)), why, _figures(marks)


_NOT_JUDGED = (
    "Luck can't be judged: there is one run, or the store has no labels of the test items. "
    "The differences hold for these fits only."
)


@check(
    "Optimising for AE beats optimising for accuracy.",
    f"Table 5, by AE: {_TEST} says so for each of CC, ACC, PCC and PACC.",
)
def _ae_beats_accuracy(evidence: Evidence) -> Outcome:
    return _all_better(evidence, ("ae", "accuracy"))


@check(
    "Optimising for AE beats leaving the learner at its defaults.",
    f"Table 5, by AE: {_TEST} says so for each of CC, ACC, PCC and PACC.",
)
def _ae_beats_defaults(evidence: Evidence) -> Outcome:
    return _all_better(evidence, ("ae", "none"))


@check(
    "Between AE and F1 there is no clear winner.",
    f"Table 5, by AE: neither target is better for all of CC, ACC, PCC and PACC, by {_TEST}.",
)
def _ae_or_f1_is_open(evidence: Evidence) -> Outcome:
    marks = _marks(evidence, ("ae", "f1"))
    if len(marks) < len(VARIANTS):
        return None, "There are not figures of all four variants for both targets.", _figures(marks)
    if len(_judged(marks)) < len(marks):
        return None, _NOT_JUDGED, _figures(marks)

    def counts(signs: Sequence[str]) -> tuple[int, ...]:
        return tuple(sum(sign.startswith(of) for sign in signs) for of in "><")

    better, worse = counts([mark.mark for mark in marks])
    why = f"AE is significantly better for {better} variants, F1 for {worse}."
    why += _by_paired(marks, lambda signs: "AE is for {}, F1 for {}".format(*counts(signs)))
    return max(better, worse) < len(marks), why, _figures(marks)


@check(
    "PACC, the strongest variant, is better optimised for AE than for F1.",
    f"Table 5, by AE: {_TEST} says so for PACC.",
)
def _pacc_prefers_ae(evidence: Evidence) -> Outcome:
    marks = _marks(evidence, ("ae", "f1"), ["PACC"])
    if not marks:
        return None, "There are no figures of PACC for both targets.", []
    if not _judged(marks):
        return None, _NOT_JUDGED, _figures(marks)
    words = marks[0].in_words()
    return marks[0].mark.startswith(">"), f"Of PACC optimised for AE and for F1, {words}.", _figures(marks)


@check(
    "PACC is the strongest of the variants.",
    "Optimised for AE, its mean AE over all data sets and learners is the lowest of CC, ACC, PCC and PACC.",
)
def _pacc_is_strongest(evidence: Evidence) -> Outcome:
    cases = [
        [Key(name, method, learner, "ae") for method in VARIANTS]
        for name, learner in product(evidence.data_sets, learners(evidence))
    ]
    # Means are comparable only over data sets and learners on which all four have figures.
    common = [keys for keys in cases if not any(np.isnan(ae(evidence, key)) for key in keys)]
    if not common:
        return None, "There are no figures of all four variants on the same data set and learner.", []
    by_method = dict(zip(VARIANTS, zip(*common, strict=True), strict=True))
    means = {method: float(np.mean([ae(evidence, key) for key in keys])) for method, keys in by_method.items()}
    figures = [Figure(method, mean, evidence.files(*by_method[method])) for method, mean in means.items()]
    best = min(means, key=lambda method: means[method])
    return best == "PACC", f"The lowest is that of {best}, over {len(common)} data sets and learners.", figures
