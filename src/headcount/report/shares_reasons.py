"""Warnings grouped by reason: groups whose advice differs only in figures are named together."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from headcount.stream.group_shares import NOT_CHECKED

__all__ = ["Reason", "warnings_by_reason"]

_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?%?")
_ASIDE = re.compile(r" \([^()]*\)")
_SEVERITY = ("do not trust", "caution")
"""Verdicts whose reasons come first, in this order."""


class Reason(NamedTuple):
    """A reason for a warning: its sentence, with ranges where figures differ, its groups, and how many have which verdict."""

    text: str
    groups: list[int]
    verdicts: dict[str, int]


def warnings_by_reason(verdicts: Sequence[str], advice: Sequence[Sequence[str]]) -> list[Reason]:
    """Group the sentences on all groups that have a warning.

    Sentences are one reason if they differ only in figures or in what stands in parentheses. Figures that differ become ranges;
    parentheses whose words differ are omitted.

    >>> verdicts, advice = ["caution", "trust", "caution"], [["5 points off (p = 0.1)."], [], ["9 points off (p = 0.02)."]]
    >>> warnings_by_reason(verdicts, advice)
    [Reason(text='5 to 9 points off (p = 0.02 to 0.1).', groups=[0, 2], verdicts={'caution': 2})]
    """
    found: dict[str, list[tuple[int, str]]] = {}
    for g, (verdict, sentences) in enumerate(zip(verdicts, advice, strict=True)):
        if verdict not in ("trust", NOT_CHECKED):
            for sentence in sentences:
                found.setdefault(_NUMBER.sub("#", _ASIDE.sub("", sentence)), []).append((g, sentence))
    reasons = []
    for entries in found.values():
        groups = list(dict.fromkeys(g for g, _ in entries))
        counted = Counter(sorted((verdicts[g] for g in groups), key=_severity))  # the worst first
        reasons.append(Reason(_merged([sentence for _, sentence in entries]), groups, dict(counted)))
    return sorted(reasons, key=lambda reason: (_severity(next(iter(reason.verdicts))), -len(reason.groups)))


def _severity(verdict: str) -> int:
    return _SEVERITY.index(verdict) if verdict in _SEVERITY else len(_SEVERITY)


def _merged(sentences: list[str]) -> str:
    """Return one sentence for several that differ in figures, or in what stands in parentheses."""
    if len({_NUMBER.sub("#", sentence) for sentence in sentences}) > 1:
        sentences = [_ASIDE.sub("", sentence) for sentence in sentences]
    columns = zip(*(_NUMBER.findall(sentence) for sentence in sentences), strict=True)
    ranges = iter([_range(list(dict.fromkeys(column))) for column in columns])
    return _NUMBER.sub(lambda _: next(ranges), sentences[0])


def _range(figures: list[str]) -> str:
    ordered = sorted(figures, key=lambda figure: float(figure.rstrip("%").replace(",", "")))
    return ordered[0] if len(ordered) == 1 else f"{ordered[0]} to {ordered[-1]}"
