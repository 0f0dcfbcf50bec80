"""Warnings grouped by reason: groups whose advice differs only in figures are named together."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from headcount.checks.verdict import Advice
from headcount.stream.verdicts import NOT_CHECKED

__all__ = ["Reason", "warnings_by_reason"]

_SEVERITY = ("do not trust", "caution")
"""Verdicts whose reasons come first, in this order."""


class Reason(NamedTuple):
    """A reason for a warning: its sentence, with figures if it is about one group, its groups, and how many have which verdict."""

    text: str
    groups: list[int]
    verdicts: dict[str, int]


def warnings_by_reason(verdicts: Sequence[str], advice: Sequence[Sequence[str]]) -> list[Reason]:
    """Group the sentences on all groups that have a warning.

    >>> off = [Advice("The shares are off{}.", f"{points} points") for points in (5, 9)]
    >>> warnings_by_reason(["caution", "trust", "caution"], [[off[0]], [], [off[1]]])
    [Reason(text='The shares are off.', groups=[0, 2], verdicts={'caution': 2})]
    """
    found: dict[str, list[tuple[int, str]]] = {}
    for g, (verdict, sentences) in enumerate(zip(verdicts, advice, strict=True)):
        if verdict not in ("trust", NOT_CHECKED):
            for sentence in sentences:
                if isinstance(sentence, Advice) and sentence.is_note:
                    continue
                reason = sentence.reason if isinstance(sentence, Advice) else sentence
                found.setdefault(reason, []).append((g, str(sentence)))
    reasons = []
    for reason, entries in found.items():
        groups = list(dict.fromkeys(g for g, _ in entries))
        counted = Counter(sorted((verdicts[g] for g in groups), key=_severity))  # the worst first
        reasons.append(Reason(entries[0][1] if len(entries) == 1 else reason, groups, dict(counted)))
    return sorted(reasons, key=lambda reason: (_severity(next(iter(reason.verdicts))), -len(reason.groups)))


def _severity(verdict: str) -> int:
    return _SEVERITY.index(verdict) if verdict in _SEVERITY else len(_SEVERITY)
