"""`Claim`, and how claims are written: a conclusion, a rule, and a function that judges it by the evidence there is."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headcount.report.evidence import Evidence
from headcount.report.figures import VARIANTS, Key

__all__ = [
    "CHECKS",
    "HOLDS",
    "HOLDS_NOT",
    "OPEN",
    "Claim",
    "Figure",
    "Outcome",
    "ae",
    "balanced",
    "check",
    "imbalanced",
    "learners",
    "pairs",
    "partly",
]

HOLDS, HOLDS_NOT, OPEN = "holds", "does not hold", "cannot be judged here"
IMBALANCED, BALANCED = 0.7, 0.6
"""Training shares of the most frequent class: at least, and at most."""


@dataclass(frozen=True)
class Figure:
    """A figure that a claim is judged by, and the files of the store that it comes from."""

    label: str
    value: float | str
    files: list[str] = field(default_factory=list)

    def text(self) -> str:
        """Return the figure as it is written."""
        return self.value if isinstance(self.value, str) else f"{self.value:.3f}"


@dataclass(frozen=True)
class Claim:
    """A conclusion of the paper, judged.

    Attributes
    ----------
    name : str
    says : str
        The conclusion.
    rule : str
        When it is said to hold.
    verdict : str
        `HOLDS`, `HOLDS_NOT` or `OPEN`.
    why : str
        The verdict's reason in words.
    figures : list of Figure
    published : str
        The verdict by the same rule on the figures that the paper published.
    """

    name: str
    says: str
    rule: str
    verdict: str
    why: str
    figures: list[Figure] = field(default_factory=list)
    published: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the claim as plain data."""
        return {**vars(self), "figures": [vars(figure) for figure in self.figures]}


Outcome = tuple[bool | None, str, list[Figure]]
"""Whether a claim holds (None: cannot be judged), why, and by which figures."""
CHECKS: list[tuple[str, str, str, Callable[[Evidence], Outcome]]] = []


def check(says: str, rule: str) -> Callable[[Callable[[Evidence], Outcome]], Callable[[Evidence], Outcome]]:
    """Register a function as the check of a conclusion; the claim is named after it."""

    def registered(function: Callable[[Evidence], Outcome]) -> Callable[[Evidence], Outcome]:
        CHECKS.append((function.__name__.strip("_").replace("_", "-"), says, rule, function))
        return function

    return registered


def partly(kept: Sequence[bool], wanted: int) -> bool | None:
    """Judge by cases of which some may be missing: one that fails is enough to say no, and all are needed to say yes."""
    return False if not all(kept) else True if len(kept) == wanted else None


def imbalanced(evidence: Evidence) -> list[str]:
    """Return the data sets with imbalanced training data."""
    return [name for name in evidence.data_sets if (evidence.largest_share(name) or 0.0) >= IMBALANCED]


def balanced(evidence: Evidence) -> list[str]:
    """Return the data sets with balanced training data."""
    return [name for name in evidence.data_sets if (evidence.largest_share(name) or 1.0) <= BALANCED]


def learners(evidence: Evidence) -> list[str]:
    """Return the learners of the variants, in the order of the rows."""
    return list(dict.fromkeys(learner for method, learner, _ in evidence.rows() if method in VARIANTS))


def pairs(
    evidence: Evidence, data_sets: Sequence[str], learners: Sequence[str], method: str, targets: tuple[str, str]
) -> Iterator[tuple[Key, Key]]:
    """Yield the uses that both have figures: of one method for two targets, on each data set with each learner."""
    for data_set in data_sets:
        for learner in learners:
            x, y = ((data_set, method, learner, target) for target in targets)
            if evidence.mean(x, "ae") is not None and evidence.mean(y, "ae") is not None:
                yield x, y


def ae(evidence: Evidence, key: Key) -> float:
    """Return the mean AE of a use, NaN if there is none."""
    value = evidence.mean(key, "ae")
    return np.nan if value is None else value
