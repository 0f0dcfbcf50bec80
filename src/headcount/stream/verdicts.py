"""Verdicts and advice of many groups in a few sentences: whether their shares can be used, and each reason once."""

from collections import Counter
from collections.abc import Sequence

from headcount.checks.verdict import NOT_CHECKED, Advice

__all__ = [
    "DO_NOT_TRUST",
    "LABELLED",
    "NOT_CHECKED",
    "TOO_FEW",
    "TOO_FEW_LABELS",
    "advice_by_reason",
    "verdict_summary",
]

TOO_FEW = "too few items"
TOO_FEW_LABELS = "too few labels"
LABELLED = "labelled"
"""Verdict of a group with a design-based answer, which no check of label shift is about."""
DO_NOT_TRUST = "do not trust"
_WORST_FIRST = ("do not trust", "caution", TOO_FEW, TOO_FEW_LABELS, NOT_CHECKED, LABELLED, "trust")
_OUTCOMES = {
    "caution": (
        "needs a look before its shares are used (caution)",
        "need a look before their shares are used (caution)",
    ),
    "do not trust": (
        "has shares that should not be used (do not trust)",
        "have shares that should not be used (do not trust)",
    ),
    TOO_FEW: ("has too few items for an estimate", "have too few items for an estimate"),
    NOT_CHECKED: ("could not be checked", "could not be checked"),
}
"""What a verdict says of one group, and of several."""
_MANY = 5
"""Groups of which a single caution may be chance: a check raises a false alarm in at most 5 % of groups."""


def verdict_summary(verdicts: Sequence[str], advice: Sequence[Sequence[str]]) -> str:
    """Say in a sentence or two whether the shares of groups can be used.

    >>> verdict_summary(["trust", "trust", "caution"], [[], [], ["Few items."]])
    '2 of 3 groups look fine. 1 of 3 needs a look before its shares are used (caution).'
    >>> verdict_summary(["trust"], [[]])
    'The checks found nothing unusual: the shares can be used.'
    """
    count = Counter(verdicts)
    n = len(verdicts)
    if count[LABELLED] or count[TOO_FEW_LABELS]:
        return _labelled_summary(count, n)
    checked = n - count[TOO_FEW] - count[NOT_CHECKED]
    if count[TOO_FEW] == n:
        whom = "All groups have" if n > 1 else "There are"
        return f"{whom} too few items for an estimate: use longer periods or larger groups."
    if checked == 0:
        reason = next(sentences[-1] for sentences, v in zip(advice, verdicts, strict=True) if v == NOT_CHECKED)
        return f"Whether the shares can be trusted was not checked. {reason}".rstrip()
    if n == 1:
        return {
            "trust": "The checks found nothing unusual: the shares can be used.",
            "caution": "Something looks unusual (caution): read why before you use the shares.",
            "do not trust": "These shares should not be used (do not trust): read why.",
        }[verdicts[0]]
    everyone = "Both groups" if n == 2 else f"All {n:,} groups"
    if count["trust"] == n:
        return f"{everyone} look fine: the shares can be used."
    sentences = (
        [f"{count['trust']:,} of {n:,} groups look{'s' if count['trust'] == 1 else ''} fine."] if count["trust"] else []
    )
    for verdict, (one, many) in _OUTCOMES.items():
        if count[verdict]:
            whom = everyone if count[verdict] == n else f"{count[verdict]:,} of {n:,}{'' if sentences else ' groups'}"
            sentences.append(f"{whom} {one if count[verdict] == 1 else many}.")
    if n >= _MANY and 0 < count["caution"] <= n // _MANY:
        sentences.append("Of 20 groups in which nothing is wrong, about one gets caution by chance.")
    return " ".join(sentences)


def _labelled_summary(count: Counter[str], n: int) -> str:
    """Say how many groups have a design-based answer, and what it rests on."""
    rests = "It rests on labels drawn at random, and holds whatever has changed since the model was made."
    answered = count[LABELLED]
    if n == 1:
        return rests if answered else "There are too few labels for a design-based answer."
    who = f"All {n:,} groups have"
    if answered != n:
        who = (
            f"{answered:,} of {n:,} groups {'has' if answered == 1 else 'have'}"
            if answered
            else f"None of {n:,} groups has"
        )
    sentences = [f"{who} a design-based answer.", *([rests] if answered else [])]
    for verdict, what in ((TOO_FEW_LABELS, "labels"), (TOO_FEW, "items")):
        if count[verdict]:
            sentences.append(f"{count[verdict]:,} of {n:,} {'has' if count[verdict] == 1 else 'have'} too few {what}.")
    return " ".join(sentences)


def advice_by_reason(
    labels: Sequence[str], verdicts: Sequence[str], advice: Sequence[Sequence[str]]
) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return each reason of the advice once, worst verdicts first and notes last, with the groups that it is about and figures.

    >>> far = [Advice("The shares are far off{}.", f"{points} points") for points in (31, 40)]
    >>> advice_by_reason(["May", "June"], ["caution", "caution"], [[far[0]], [far[1]]])
    [('The shares are far off.', [('May', '31 points'), ('June', '40 points')])]
    """
    by_reason: dict[str, list[tuple[str, str]]] = {}
    notes: set[str] = set()
    for g in sorted(range(len(labels)), key=lambda g: _WORST_FIRST.index(verdicts[g])):
        for sentence in advice[g]:
            if isinstance(sentence, Advice) and len(labels) == 1:
                by_reason[str(sentence)] = [(labels[g], "")]
            elif isinstance(sentence, Advice):
                by_reason.setdefault(sentence.reason, []).append((labels[g], sentence.figures))
                notes |= {sentence.reason} if sentence.is_note else set()
            elif verdicts[g] != "trust" and sentence:
                by_reason.setdefault(sentence, []).append((labels[g], ""))
    positions = {label: position for position, label in enumerate(labels)}
    return [
        (reason, sorted(by_reason[reason], key=lambda group: positions[group[0]]))
        for reason in sorted(by_reason, key=notes.__contains__)
    ]
