"""`Claim`, and the decorator that registers one: a conclusion, a rule, and a function that judges it by the evidence."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headcount.report.evidence import Evidence
from headcount.report.scores import VARIANTS, Key

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
    "least_ae",
    "pairs",
    "partly",
]

HOLDS, HOLDS_NOT, OPEN = "holds", "does not hold", "cannot be judged here"
IMBALANCED, BALANCED = 0.7, 0.6
"""Training share of the most frequent class: at least, of an imbalanced data set; at most, of a balanced one."""


@dataclass(frozen=True)
class Figure:
    """A figure that a claim is judged by, and the files of the store that it comes from."""

    label: str
    value: float | str
    files: list[str] = field(default_factory=list)

    def text(self) -> str:
        """Return the figure as text."""
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
        The rule by which it holds.
    verdict : str
        `HOLDS`, `HOLDS_NOT` or `OPEN`.
    why : str
        The reason of the verdict.
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
"""Whether a claim holds (None: cannot be judged), why, and the figures that it was judged by."""
CHECKS: list[tuple[str, str, str, Callable[[Evidence], Outcome]]] = []


def check(says: str, rule: str) -> Callable[[Callable[[Evidence], Outcome]], Callable[[Evidence], Outcome]]:
    """Register a function as the check of a conclusion; its name becomes the claim's."""

    def registered(function: Callable[[Evidence], Outcome]) -> Callable[[Evidence], Outcome]:
        CHECKS.append((function.__name__.strip("_").replace("_", "-"), says, rule, function))
        return function

    return registered


def partly(cases: Sequence[bool], n_cases: int) -> bool | None:
    """Judge by cases of which not all may be there: one that fails is enough to say no, all are needed to say yes."""
    return False if not all(cases) else True if len(cases) == n_cases else None


def imbalanced(evidence: Evidence) -> list[str]:
    """Return the data sets with imbalanced training data."""
    return [name for name in evidence.data_sets if (evidence.largest_share(name) or 0.0) >= IMBALANCED]


def balanced(evidence: Evidence) -> list[str]:
    """Return the data sets with balanced training data."""
    return [name for name in evidence.data_sets if (evidence.largest_share(name) or 1.0) <= BALANCED]


def learners(evidence: Evidence) -> list[str]:
    """Return the learners of the variants, in the order of the rows."""
    return list(dict.fromkeys(row.learner for row in evidence.rows if row.method in VARIANTS))


def pairs(
    evidence: Evidence, data_sets: Sequence[str], learners: Sequence[str], method: str, targets: tuple[str, str]
) -> Iterator[tuple[Key, Key]]:
    """Yield the keys of a method for two targets, on each data set with each learner, where both have figures."""
    for data_set in data_sets:
        for learner in learners:
            x, y = (Key(data_set, method, learner, target) for target in targets)
            if evidence.mean(x, "ae") is not None and evidence.mean(y, "ae") is not None:
                yield x, y


def ae(evidence: Evidence, key: Key) -> float:
    """Return the mean AE of a key, NaN if there is none."""
    value = evidence.mean(key, "ae")
    return np.nan if value is None else value


def least_ae(evidence: Evidence, keys: Sequence[Key]) -> float:
    """Return the lowest mean AE of the keys that have one, NaN if none has."""
    return float(np.fmin.reduce([ae(evidence, key) for key in keys]))
