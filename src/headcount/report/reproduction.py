"""Measured figures compared with published ones, for the data sets of the paper."""

from collections import Counter
from dataclasses import dataclass, field

from headcount.data import PAPER_SETS
from headcount.report.published import published
from headcount.report.scores import Errors, Key, label_of
from headcount.report.table import Cell, Column, Table
from headcount.study.plan import OWN

__all__ = ["Reproduction", "reproduction"]

_ABSOLUTE = 0.01
_RELATIVE = 0.25
"""A figure is near the published one within the larger of these: a difference, and a share of the published figure."""


@dataclass(frozen=True)
class Reproduction:
    """How near a study comes to the published figures.

    Attributes
    ----------
    table : Table
        A row for each published figure that was measured.
    near, of : Counter
        For each learner ("own" for methods without a learner of the plan), the number of figures within the larger of 0.01 and
        25 % of the published one, and the number of all.
    misses : list of str
        The figures that are not within it.
    """

    table: Table
    near: Counter[str] = field(default_factory=Counter)
    of: Counter[str] = field(default_factory=Counter)
    misses: list[str] = field(default_factory=list)

    def in_words(self) -> str:
        """Return the counts as a sentence."""
        if not self.of:
            return "The study has no figures on the paper's own data sets."
        total, near = sum(self.of.values()), sum(self.near.values())
        parts = ", ".join(f"{name} {self.near[name]} of {n}" for name, n in self.of.items())
        share = f"{near} of {total} figures ({near / total:.0%})"
        return f"{share} are within the larger of 0.01 and 25 % of the published ones: {parts}."


def reproduction(errors: Errors, measure: str = "ae") -> Reproduction:
    """Compare the figures of a study by a measure with those that the paper published for the same data set.

    A figure that the paper has in two tables counts once.
    """
    plan = errors.plan
    table = Table(
        f"Measured and published {label_of(measure)}",
        "Within: the difference is at most the larger of 0.01 and 25 % of the published figure.",
        ["data set", "method", "learner", "optimised for"],
        [Column("measured"), Column("published"), Column("difference"), Column("within")],
    )
    result = Reproduction(table)
    for data_set in (name for name in plan.data_sets if name in PAPER_SETS):
        for row in plan.rows():
            for target in row.method.targets:
                key = Key(data_set, row.method.name, row.learner_name, target)
                paper, measured = published(key, measure), errors.mean(key, measure)
                if paper is None or measured is None:
                    continue
                within = abs(measured - paper) <= max(_ABSOLUTE, _RELATIVE * paper)
                cells = [
                    Cell(measured, title=errors.where(key)),
                    Cell(paper),
                    Cell(f"{measured - paper:+.3f}"),
                    Cell("yes" if within else "no", bold=not within),
                ]
                table.rows.append((list(key), cells))
                learner = row.learner_name or OWN
                result.of[learner] += 1
                result.near[learner] += within
                if not within:
                    name = " ".join(filter(None, key))
                    result.misses.append(f"{name}: measured {measured:.3f}, published {paper:.3f}")
    return result
