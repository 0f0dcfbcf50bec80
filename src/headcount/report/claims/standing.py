"""The paper's conclusions on where methods and learners stand."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from headcount.report.claims.claim import Figure, Outcome, ae, check, imbalanced, learners, partly
from headcount.report.evidence import Evidence
from headcount.report.figures import VARIANTS, Key, ranks_of, unoptimised


@check(
    "RF and MNB are biased to the majority class until they are adjusted.",
    "On each imbalanced data set, with each of the two and optimised for AE, CC overestimates the majority class by 0.2 or more on "
    "average, and the better of ACC and PACC has at most half of CC's AE.",
)
def _majority_bias_until_adjusted(evidence: Evidence) -> Outcome:
    kept, figures = [], []
    for data_set in imbalanced(evidence):
        for learner in ("rf", "mnb"):
            keys: dict[str, Key] = {method: (data_set, method, learner, "ae") for method in ("CC", "ACC", "PACC")}
            plain = ae(evidence, keys["CC"])
            adjusted = [value for m in ("ACC", "PACC") if not np.isnan(value := ae(evidence, keys[m]))]
            if np.isnan(plain) or not adjusted:
                continue
            bias = evidence.bias(keys["CC"])
            if bias is not None:
                figures.append(
                    Figure(f"bias of CC {learner} on {data_set}", f"{bias:+.3f}", evidence.files(keys["CC"]))
                )
            figures.append(Figure(f"AE of CC {learner} on {data_set}", plain, evidence.files(keys["CC"])))
            files = [*evidence.files(keys["ACC"]), *evidence.files(keys["PACC"])]
            figures.append(Figure(f"of the better of ACC and PACC {learner} on {data_set}", min(adjusted), files))
            kept.append((bias is None or bias >= 0.2) and min(adjusted) <= plain / 2.0)
    if not kept:
        return None, "There are no figures of RF or MNB on imbalanced training data.", figures
    wanted = 2 * len(imbalanced(evidence))
    why = f"It is so in {sum(kept)} of {len(kept)} cases." + (
        "" if len(kept) == wanted else f" There should be {wanted}."
    )
    return partly(kept, wanted), why, figures


_TOP = ("SLD", "HDy")
_ADVANCED = ("SVM(KLD)", "SVM(NKLD)", "SVM(Q)", "SVM(AE)", "SVM(RAE)", "QuaNet")


def _places(evidence: Evidence, data_sets: Sequence[str]) -> tuple[Any, Any]:
    """Return the ranks by AE of all rows on data sets, and had the variants of CC not been optimised."""
    ranks = [ranks_of(evidence, evidence.rows(), name, "ae") for name in data_sets]
    return np.array([own for own, _ in ranks]), np.array([plain for _, plain in ranks])


@check(
    "SLD and HDy are the best methods.",
    "Both are among the three rows of table 6 with the lowest mean rank over its columns (data sets, by AE and RAE).",
)
def _sld_and_hdy_on_top(evidence: Evidence) -> Outcome:
    rows = evidence.rows()
    own = np.array([ranks_of(evidence, rows, name, by)[0] for name in evidence.data_sets for by in ("ae", "rae")])
    own = own[~np.isnan(own).all(axis=1)]  # columns without any figure compare nothing
    there = ~np.isnan(own).any(axis=0) if len(own) else np.zeros(len(rows), dtype=bool)
    known = {rows[i]: float(own[:, i].mean()) for i in np.flatnonzero(there)}
    methods = {row[0] for row in known}
    if not methods.issuperset((*_TOP, *VARIANTS)):
        return None, "SLD, HDy and all four variants of CC are needed, each with figures in the same columns.", []
    best = sorted(known, key=lambda row: known[row])[:3]
    figures = [
        Figure(f"mean rank of {row[0]} {row[1]}".strip(), f"{known[row]:.1f}", _files(evidence, row))
        for row in known
        if row in best or row[0] in _TOP
    ]
    named = ", ".join(f"{row[0]} {row[1]}".strip() for row in best)
    return all(any(row[0] == name for row in best) for name in _TOP), f"The first three are {named}.", figures


def _files(evidence: Evidence, row: Any) -> list[str]:
    return [name for data_set in evidence.data_sets for name in evidence.files((data_set, *row))]


@check(
    "Many methods that are thought better do not improve on an optimised CC.",
    "The five SVMs with a quantification loss, and QuaNet: in at least half of the cases (method and data set) the AE is "
    "no lower than that of CC with the better of SVM and LR, optimised for AE.",
)
def _many_do_not_beat_cc(evidence: Evidence) -> Outcome:
    failed, figures = [], []
    for data_set in evidence.data_sets:
        plain = [
            v for learner in ("svm", "lr") if (v := evidence.mean((data_set, "CC", learner, "ae"), "ae")) is not None
        ]
        if not plain:
            continue
        files = [name for learner in ("svm", "lr") for name in evidence.files((data_set, "CC", learner, "ae"))]
        cases = []
        for row in evidence.rows():
            value = evidence.mean((data_set, *row), "ae") if row[0] in _ADVANCED else None
            if value is not None:
                cases.append(Figure(f"{row[0]} on {data_set}", value, evidence.files((data_set, *row))))
                failed.append(value >= min(plain))
        if cases:
            figures += [Figure(f"CC on {data_set}", min(plain), files), *cases]
    if not failed:
        return None, "There are no figures of such methods beside CC.", figures
    return 2 * sum(failed) >= len(failed), f"{sum(failed)} of {len(failed)} are no better.", figures


def _variants_both_ways(evidence: Evidence, data_set: str) -> bool:
    """Whether all variants of CC that have figures on a data set were optimised, and tested at their learner's defaults too."""
    there = [
        (row, evidence.mean((data_set, *unoptimised(row)), "ae"))
        for row in evidence.rows()
        if row[0] in VARIANTS and evidence.mean((data_set, *row), "ae") is not None
    ]
    return bool(there) and all(row[2] != "none" and default is not None for row, default in there)


@check(
    "Other methods lose ranks once the variants of CC are optimised.",
    "The mean rank by AE of the five SVMs with a quantification loss and QuaNet is worse than with the variants at defaults.",
)
def _others_lose_ranks(evidence: Evidence) -> Outcome:
    rows = evidence.rows()
    which = [i for i, row in enumerate(rows) if row[0] in _ADVANCED]
    names = [name for name in evidence.data_sets if _variants_both_ways(evidence, name)]
    if not which or not names:
        return None, "Such methods are needed beside variants of CC, optimised and at defaults.", []
    own, plain = _places(evidence, names)
    both = ~np.isnan(own[:, which])
    if not both.any():
        return None, "There are no figures of such methods beside the variants of CC.", []
    with_, without = (float(ranks[:, which][both].mean()) for ranks in (own, plain))
    files = [name for i in which for name in _files(evidence, rows[i])]
    figures = [Figure("mean rank", f"{with_:.1f}", files), Figure("mean rank, CC at defaults", f"{without:.1f}", files)]
    return with_ > without, f"The mean rank goes from {without:.1f} to {with_:.1f}.", figures


@check(
    "CC and ACC with SVM and LR climb many ranks on imbalanced data.",
    "On imbalanced data sets they climb by three ranks or more on average, by AE.",
)
def _cc_and_acc_climb(evidence: Evidence) -> Outcome:
    rows = evidence.rows()
    names = [name for name in imbalanced(evidence) if _variants_both_ways(evidence, name)]
    climbs, figures = [], []
    for i, row in enumerate(rows):
        if row[0] not in ("CC", "ACC") or row[1] not in ("svm", "lr"):
            continue
        for name in names:
            own, plain = ranks_of(evidence, rows, name, "ae")
            if not np.isnan(own[i]) and not np.isnan(plain[i]):
                climbs.append(float(plain[i] - own[i]))
                moved = f"from {plain[i]:g} to {own[i]:g}"
                figures.append(Figure(f"{row[0]} {row[1]} on {name}", moved, evidence.files((name, *row))))
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
        for place in product(VARIANTS, evidence.data_sets, ("ae", "rae"), ("accuracy", "f1", "ae")):
            method, data_set, measure, target = place
            keys: list[Key] = [(data_set, method, learner, t) for t in (target, "none")]
            value, default = (evidence.mean(key, measure) for key in keys)
            if value is not None and default:
                changes.setdefault(learner, {})[place] = abs(value / default - 1.0)
                files.setdefault(learner, []).extend(name for key in keys for name in evidence.files(key))
    common = set.intersection(*(set(own) for own in changes.values())) if changes else set()
    means = {learner: float(np.mean([own[place] for place in common])) for learner, own in changes.items() if common}
    figures = [Figure(learner, f"{mean:.1%}", list(dict.fromkeys(files[learner]))) for learner, mean in means.items()]
    if "cnn" not in means or len(means) < 2:
        return None, "CNN and at least one other learner are needed, with figures in the same places.", figures
    least = min(means, key=lambda learner: means[learner])
    sets = {place[1] for place in common}
    why = f"The smallest change is that of {least}"
    if len(sets) < len(evidence.data_sets):
        return None, f"{why}, but the learners have figures on {_and(sorted(sets))} alone.", figures
    return least == "cnn", f"{why}.", figures


def _and(names: Sequence[str]) -> str:
    return " and ".join(names)
