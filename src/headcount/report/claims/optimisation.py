"""The paper's conclusions on which measure to optimise learners for."""

from collections.abc import Sequence
from itertools import product

import numpy as np

from headcount.report.claims.claim import Figure, Outcome, ae, balanced, check, imbalanced, learners, pairs, partly
from headcount.report.evidence import Evidence
from headcount.report.scores import VARIANTS, Key

_CLEAR = 0.1
"""Relative change of the error that counts as a clear gain."""
_TARGET_NAMES = {"none": "at defaults", "ae": "for AE", "accuracy": "for accuracy"}


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
            figure = Figure(f"{method} {x.learner} on {x.data_set}", f"{change:+.1%}", evidence.files(x, y))
            changes.append((change, figure))
    if not changes:
        return None, "There are no figures on balanced training data.", []
    gains = sum(change < -_CLEAR for change, _ in changes)
    return 2 * gains < len(changes), f"{gains} of {len(changes)} gain clearly.", [figure for _, figure in changes]


_TEST = "the test over test pools and runs at 0.05 (of the published figures, the paper's paired t-test)"


def _marks(evidence: Evidence, pair: tuple[str, str], methods: Sequence[str] = VARIANTS) -> list[Figure]:
    """Return the marks of table 5 for a pair of targets, of the methods that have one, each beside that of the paired t-test."""
    figures = []
    for method in methods:
        mark, paired = (of(*pair, method, "ae") for of in (evidence.mark, evidence.paired_mark))
        if mark is not None:
            text = mark if paired is None else f"{mark} (paired t-test {paired})"
            figures.append(Figure(method, text, evidence.files_of_mark(*pair, method)))
    return figures


def _judged(marks: Sequence[Figure]) -> list[Figure]:
    """Return the marks of tests that could be made: not those of one run, or of a store without the labels of the test items."""
    return [mark for mark in marks if not mark.text().startswith("?")]


def _all_better(evidence: Evidence, pair: tuple[str, str]) -> Outcome:
    marks = _marks(evidence, pair)
    if not marks:
        return None, "There are no figures for both targets.", marks
    if not _judged(marks):
        return None, _NOT_JUDGED, marks
    better = [mark.text().startswith(">") for mark in _judged(marks)]
    why = f"It is better for {sum(better)} of {len(better)} variants."
    return partly(better, len(VARIANTS)), _with_count(why, len(better)), marks


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
        return None, "There are not figures of all four variants for both targets.", marks
    if len(_judged(marks)) < len(marks):
        return None, _NOT_JUDGED, marks
    better, worse = (sum(mark.text().startswith(sign) for mark in marks) for sign in "><")
    return max(better, worse) < len(marks), f"AE is better for {better} variants, F1 for {worse}.", marks


@check(
    "PACC, the strongest variant, is better optimised for AE than for F1.",
    f"Table 5, by AE: {_TEST} says so for PACC.",
)
def _pacc_prefers_ae(evidence: Evidence) -> Outcome:
    marks = _marks(evidence, ("ae", "f1"), ["PACC"])
    if not marks:
        return None, "There are no figures of PACC for both targets.", []
    if not _judged(marks):
        return None, _NOT_JUDGED, marks
    mark = marks[0].text()
    return mark.startswith(">"), f"The mark is {mark}.", marks


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
