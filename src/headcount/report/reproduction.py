"""Measured beside published figures, for the data sets that are the paper's own."""

from dataclasses import dataclass, field

from headcount.data import PAPER_SETS
from headcount.report.figures import Errors
from headcount.report.published import published
from headcount.report.table import Cell, Column, Table

__all__ = ["Reproduction", "reproduction"]

_ABSOLUTE = 0.01
_RELATIVE = 0.25


@dataclass(frozen=True)
class Reproduction:
    """How near a study comes to the published figures.

    Attributes
    ----------
    table : Table
        A row for each published figure that was measured.
    near, of : dict
        For each learner ("own" for methods without one of the plan), how many figures are within the larger of 0.01 and 25 % of
        the published one, of how many.
    misses : list of str
        The others.
    """

    table: Table
    near: dict[str, int] = field(default_factory=dict)
    of: dict[str, int] = field(default_factory=dict)
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
    """Compare all figures of a study by a measure with those that the paper published for the same data set.

    Each figure counts once, also where it stands in two tables.
    """
    plan = errors.plan
    table = Table(
        f"Measured and published {measure.upper()}",
        "Within: the difference is at most the larger of 0.01 and 25 % of the published figure.",
        ["data set", "method", "learner", "optimised for"],
        [Column("measured"), Column("published"), Column("difference"), Column("within")],
    )
    made = Reproduction(table)
    for data_set in (name for name in plan.data_sets if name in PAPER_SETS):
        for method, learner in plan.rows():
            for target in method.targets:
                key = data_set, method.name, learner.name if learner else "", target
                paper, own = published(key, measure), errors.mean(key, measure)
                if paper is None or own is None:
                    continue
                within = abs(own - paper) <= max(_ABSOLUTE, _RELATIVE * paper)
                cells = [
                    Cell(own, title=errors.where(key)), Cell(paper), Cell(f"{own - paper:+.3f}"),
                    Cell("yes" if within else "no", bold=not within),
                ]  # fmt: skip
                table.rows.append((list(key), cells))
                group = learner.name if learner else "own"
                made.of[group] = made.of.get(group, 0) + 1
                made.near[group] = made.near.get(group, 0) + within
                if not within:
                    made.misses.append(f"{' '.join(filter(None, key))}: measured {own:.3f}, published {paper:.3f}")
    return made
