"""The paper's conclusions on how methods and learners compare with each other."""

from itertools import product
from typing import Any

import numpy as np

from headcount.report.claims.claim import Figure, Outcome, ae, check, imbalanced, learners, least_ae, partly
from headcount.report.evidence import Evidence
from headcount.report.scores import VARIANTS, Key, Row, ranks_of, unoptimised
from headcount.study.plan import DEFAULT


@check(
    "RF and MNB are biased to the majority class until they are adjusted.",
    "On each imbalanced data set, with each of the two and optimised for AE, CC overestimates the majority class by 0.2 or more on "
    "average, and the better of ACC and PACC has at most half of CC's AE.",
)
def _majority_bias_until_adjusted(evidence: Evidence) -> Outcome:
    cases, figures = [], []
    for data_set, learner in product(imbalanced(evidence), ("rf", "mnb")):
        cc, *adjusted = (Key(data_set, method, learner, "ae") for method in ("CC", "ACC", "PACC"))
        plain, best = ae(evidence, cc), least_ae(evidence, adjusted)
        if np.isnan(plain) or np.isnan(best):
            continue
        bias, where = evidence.bias(cc), f"{learner} on {data_set}"
        if bias is not None:
            figures.append(Figure(f"bias of CC {where}", f"{bias:+z.3f}", evidence.files(cc)))
        figures.append(Figure(f"AE of CC {where}", plain, evidence.files(cc)))
        figures.append(Figure(f"of the better of ACC and PACC {where}", best, evidence.files(*adjusted)))
        cases.append((bias is None or bias >= 0.2) and best <= plain / 2.0)
    if not cases:
        return None, "There are no figures of RF or MNB on imbalanced training data.", figures
    n_cases = 2 * len(imbalanced(evidence))
    why = f"It is so in {sum(cases)} of {len(cases)} cases."
    if len(cases) < n_cases:
        why += f" For {n_cases - len(cases)} more there are no figures."
    return partly(cases, n_cases), why, figures


_TOP = ("SLD", "HDy")
_ADVANCED = ("SVM(KLD)", "SVM(NKLD)", "SVM(Q)", "SVM(AE)", "SVM(RAE)", "QuaNet")


@check(
    "SLD and HDy are the best methods.",
    "Both are among the three rows of table 6 with the lowest mean rank over its columns (data sets, by AE and RAE).",
)
def _sld_and_hdy_on_top(evidence: Evidence) -> Outcome:
    rows = evidence.rows
    ranks = np.array([ranks_of(evidence, rows, name, by)[0] for name in evidence.data_sets for by in ("ae", "rae")])
    ranks = ranks[~np.isnan(ranks).all(axis=1)]  # without the columns that have no figure at all
    complete = ~np.isnan(ranks).any(axis=0) if len(ranks) else np.zeros(len(rows), dtype=bool)
    means = {rows[i]: float(ranks[:, i].mean()) for i in np.flatnonzero(complete)}
    methods = {row.method for row in means}
    if not methods.issuperset((*_TOP, *VARIANTS)):
        return None, "SLD, HDy and all four variants of CC are needed, each with figures in the same columns.", []
    best = sorted(means, key=lambda row: means[row])[:3]
    figures = [
        Figure(f"mean rank of {row.name}", f"{mean:.1f}", _files(evidence, row))
        for row, mean in means.items()
        if row in best or row.method in _TOP
    ]
    named = ", ".join(row.name for row in best)
    return {row.method for row in best}.issuperset(_TOP), f"The first three are {named}.", figures


def _files(evidence: Evidence, row: Row) -> list[str]:
    return evidence.files(*(row.on(data_set) for data_set in evidence.data_sets))


@check(
    "Many methods that are thought better do not improve on an optimised CC.",
    "The five SVMs with a quantification loss, and QuaNet: in at least half of the cases (method and data set) the AE is "
    "no lower than that of CC with the better of SVM and LR, optimised for AE.",
)
def _many_do_not_beat_cc(evidence: Evidence) -> Outcome:
    failed, figures = [], []
    for data_set in evidence.data_sets:
        keys = [Key(data_set, "CC", learner, "ae") for learner in ("svm", "lr")]
        plain = least_ae(evidence, keys)
        advanced = [row.on(data_set) for row in evidence.rows if row.method in _ADVANCED]
        means = [(key, mean) for key in advanced if (mean := evidence.mean(key, "ae")) is not None]
        if means and not np.isnan(plain):
            figures.append(Figure(f"CC on {data_set}", plain, evidence.files(*keys)))
            figures += [Figure(f"{key.method} on {data_set}", mean, evidence.files(key)) for key, mean in means]
            failed += [mean >= plain for _, mean in means]
    if not failed:
        return None, "There are no figures of such methods beside CC.", figures
    return 2 * sum(failed) >= len(failed), f"Of {len(failed)} cases, {sum(failed)} are no better than CC.", figures


def _variants_both_ways(evidence: Evidence, data_set: str) -> bool:
    """Whether all variants of CC that have figures on a data set were optimised, and tested at their learner's defaults too."""
    pairs = [
        (row, evidence.mean(unoptimised(row).on(data_set), "ae"))
        for row in evidence.rows
        if row.method in VARIANTS and evidence.mean(row.on(data_set), "ae") is not None
    ]
    return bool(pairs) and all(row.target != DEFAULT and default is not None for row, default in pairs)


@check(
    "Other methods lose ranks once the variants of CC are optimised.",
    "The mean rank by AE of the five SVMs with a quantification loss and QuaNet is worse than with the variants at defaults.",
)
def _others_lose_ranks(evidence: Evidence) -> Outcome:
    rows = evidence.rows
    which = [i for i, row in enumerate(rows) if row.method in _ADVANCED]
    names = [name for name in evidence.data_sets if _variants_both_ways(evidence, name)]
    if not which or not names:
        return None, "Such methods are needed beside variants of CC, optimised and at defaults.", []
    optimised, plain = np.array([ranks_of(evidence, rows, name, "ae") for name in names]).swapaxes(0, 1)
    ranked = ~np.isnan(optimised[:, which])
    if not ranked.any():
        return None, "There are no figures of such methods beside the variants of CC.", []
    after, before = (float(ranks[:, which][ranked].mean()) for ranks in (optimised, plain))
    files = [name for i in which for name in _files(evidence, rows[i])]
    figures = [Figure("mean rank", f"{after:.1f}", files), Figure("mean rank, CC at defaults", f"{before:.1f}", files)]
    return after > before, f"The mean rank goes from {before:.1f} to {after:.1f}.", figures


@check(
    "CC and ACC with SVM and LR climb many ranks on imbalanced data.",
    "On imbalanced data sets they climb by three ranks or more on average, by AE.",
)
def _cc_and_acc_climb(evidence: Evidence) -> Outcome:
    rows = evidence.rows
    names = [name for name in imbalanced(evidence) if _variants_both_ways(evidence, name)]
    climbs, figures = [], []
    for i, row in enumerate(rows):
        if row.method not in ("CC", "ACC") or row.learner not in ("svm", "lr"):
            continue
        for name in names:
            optimised, plain = ranks_of(evidence, rows, name, "ae")
            if not np.isnan(optimised[i]):
                climbs.append(float(plain[i] - optimised[i]))
                moved = f"from {plain[i]:g} to {optimised[i]:g}"
                figures.append(Figure(f"{row.name} on {name}", moved, evidence.files(row.on(name))))
    if not climbs:
        return None, "There are no figures of them, optimised and at defaults, on imbalanced training data.", figures
    mean = float(np.mean(climbs))
    return mean >= 3.0, f"They climb by {mean:.1f} ranks on average, by {max(climbs):g} at most.", figures


@check(
    "CNN is the learner that model selection changes least.",
    "The mean absolute change of AE and RAE against the defaults, over variants, targets and data sets, is the smallest.",
)
def _cnn_least_sensitive(evidence: Evidence) -> Outcome:
    changes: dict[str, dict[Any, float]] = {}
    files: dict[str, list[str]] = {}
    for learner in learners(evidence):
        for case in product(VARIANTS, evidence.data_sets, ("ae", "rae"), ("accuracy", "f1", "ae")):
            method, data_set, measure, target = case
            keys = [Key(data_set, method, learner, t) for t in (target, DEFAULT)]
            value, default = (evidence.mean(key, measure) for key in keys)
            if value is not None and default:
                changes.setdefault(learner, {})[case] = abs(value / default - 1.0)
                files.setdefault(learner, []).extend(evidence.files(*keys))
    common = set.intersection(*(set(by_case) for by_case in changes.values())) if changes else set()
    means = {learner: float(np.mean([by_case[c] for c in common])) for learner, by_case in changes.items() if common}
    figures = [Figure(learner, f"{mean:.1%}", list(dict.fromkeys(files[learner]))) for learner, mean in means.items()]
    if "cnn" not in means or len(means) < 2:
        return None, "CNN and at least one other learner are needed, with figures in the same cases.", figures
    least = min(means, key=lambda learner: means[learner])
    data_sets = {data_set for _, data_set, _, _ in common}
    why = f"The smallest change is that of {least}"
    if len(data_sets) < len(evidence.data_sets):
        return None, f"{why}, but only on {' and '.join(sorted(data_sets))} do all learners have figures.", figures
    return least == "cnn", f"{why}.", figures
