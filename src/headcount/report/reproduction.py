"""Measured figures compared with published ones, for the data sets of the paper, with the number of those that agree."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from headcount.data import PAPER_SETS
from headcount.report.published import published, published_keys
from headcount.report.scores import Errors, Key, label_of
from headcount.report.table import Cell, Column, Table
from headcount.study.plan import OWN

__all__ = ["TOLERANCES", "Comparison", "Reproduction", "Tolerance", "reproduction"]


def _percent(share: float) -> str:
    return f"{100.0 * share:.0f} %"


class Tolerance(NamedTuple):
    """How far a measured figure may be from the published one: the larger of a difference and a share of the published figure."""

    measure: str
    absolute: float
    relative: float

    @property
    def label(self) -> str:
        """The tolerance as a column's name has it."""
        return f"{self.absolute:g} or {_percent(self.relative)}" if self.absolute else _percent(self.relative)

    def in_words(self) -> str:
        """Return the tolerance as a sentence has it."""
        if not self.absolute:
            return f"within {_percent(self.relative)} of the published one"
        return f"within the larger of {self.absolute:g} and {_percent(self.relative)} of the published one"


TOLERANCES = (Tolerance("ae", 0.01, 0.25), Tolerance("ae", 0.005, 0.15), Tolerance("rae", 0.0, 0.25))
"""The first is generous where errors are small: 0.01 is half of a good method's AE."""


@dataclass(frozen=True)
class Comparison:
    """A measured figure beside the published one.

    Attributes
    ----------
    key : Key
    measure : str
    measured, published : float
    runs : dict of int to float
        The mean error of each run with a seed of its own.
    draws : bool
        Whether the method draws at random.
    files : str
        The files of the store that the measured figure comes from.
    """

    key: Key
    measure: str
    measured: float
    published: float
    runs: Mapping[int, float]
    draws: bool
    files: str = ""

    @property
    def ratio(self) -> float:
        """Measured divided by published."""
        return self.measured / self.published

    def within(self, tolerance: Tolerance) -> bool:
        """Whether the measured figure is within a tolerance of the published one."""
        allowed = max(tolerance.absolute, tolerance.relative * self.published)
        return abs(self.measured - self.published) <= allowed + 1e-12


def mean_ratio(comparisons: Sequence[Comparison]) -> tuple[float, float | None]:
    r"""Return the mean ratio of measured to published figures, and its Monte Carlo error over runs; None if it is unknown.

    The error is :math:`s / \sqrt R`, s the standard deviation of the mean ratios of R runs. Runs with one number share a seed, so
    that figures of one run are averaged first. It is 0 where nothing is drawn at random, and unknown with one run of what is.
    """
    ratio = float(np.mean([c.ratio for c in comparisons]))
    drawn = [c for c in comparisons if c.draws]
    if not drawn:
        return ratio, 0.0
    common = sorted(set.intersection(*(set(c.runs) for c in drawn)))
    if len(common) < 2:
        return ratio, None
    of_runs = np.array([[c.runs[run] / c.published for run in common] for c in drawn]).sum(axis=0) / len(comparisons)
    return ratio, float(of_runs.std(ddof=1) / np.sqrt(len(common)))


@dataclass(frozen=True)
class Reproduction:
    """How near a study comes to the published figures.

    Attributes
    ----------
    comparisons : list of Comparison
        One for each published figure that was measured.
    published : dict of str to int
        Number of figures that the paper published, by measure.
    """

    comparisons: list[Comparison]
    published: Mapping[str, int]

    def of(self, measure: str) -> list[Comparison]:
        """Return the comparisons by a measure."""
        return [c for c in self.comparisons if c.measure == measure]

    def near(self, tolerance: Tolerance) -> int:
        """Return the number of figures within a tolerance of the published ones."""
        return sum(c.within(tolerance) for c in self.of(tolerance.measure))

    @property
    def misses(self) -> list[str]:
        """Sentences on the figures outside the last tolerance of their measure, the largest ratios first."""
        strict = {tolerance.measure: tolerance for tolerance in TOLERANCES}
        outside = [c for c in self.comparisons if not c.within(strict[c.measure])]
        return [_in_words(c) for c in sorted(outside, key=lambda c: (c.measure, -abs(np.log(max(c.ratio, 1e-9)))))]

    def in_words(self) -> list[str]:
        """Return the counts as sentences, each with its denominator."""
        if not self.comparisons:
            return ["The study has no figures on the paper's own data sets."]
        sentences = []
        names = list(dict.fromkeys(c.key.data_set for c in self.comparisons))
        for measure, total in self.published.items():
            compared, label = self.of(measure), label_of(measure)
            counts = [
                f"{self.near(t)} ({_percent(self.near(t) / len(compared))}) are {t.in_words()}"
                for t in TOLERANCES
                if t.measure == measure
            ]
            ratios = np.quantile([c.ratio for c in compared], (0.5, 0.1, 0.9))
            of_sets = sum(by == measure and key.data_set in names for key, by in published_keys())
            have = "all of these have" if len(compared) == of_sets else f"{len(compared)} of these have"
            sentences.append(
                f"Of {total} published {label} values {of_sets} are of data sets of this study ({', '.join(names)}), and "
                f"{have} results here. Of these {len(compared)}, {' and '.join(counts)}. The median ratio of measured to "
                f"published {label} is {ratios[0]:.2f}, and 80 % of the ratios are between {ratios[1]:.2f} and {ratios[2]:.2f}."
            )
        return sentences

    def agreement(self) -> Table:
        """Return the counts and ratios for each method and learner, for each method, each learner and all figures."""
        measures = [measure for measure in self.published if self.of(measure)]
        columns = []
        for measure in measures:
            label = label_of(measure)
            columns += [Column("compared", label)]
            columns += [Column(f"within {t.label}", label) for t in TOLERANCES if t.measure == measure]
            columns += [Column("ratio", label)]
        table = Table(
            "Agreement with the published figures",
            "Compared is the number of figures that were measured here, of all that the paper published for the method and learner "
            "on its three data sets. Each is counted as within if it differs by at most the larger of the two tolerances. The "
            "ratio is that of measured to published figures, averaged; after ± stands its Monte Carlo error over runs, which is ? "
            "where a method that draws at random has one run, and is left out where nothing is drawn.",
            ["method", "learner"],
            columns,
        )
        for labels, name in self._groups():
            cells: list[Cell] = []
            for measure in measures:
                compared = [c for c in self.of(measure) if name(c.key)]
                cells += (
                    _agreement_cells(compared, _count(measure, name))
                    if compared
                    else [Cell(None)] * (2 + sum(t.measure == measure for t in TOLERANCES))
                )
            table.rows.append((labels, cells))
        return table

    def _groups(self) -> Iterator[tuple[list[str], "_Filter"]]:
        keys = list(dict.fromkeys(c.key for c in self.comparisons))
        for method, learner in dict.fromkeys((key.method, key.learner) for key in keys):
            yield [method, learner], _Filter(method, learner)
        several = [
            m for m in dict.fromkeys(k.method for k in keys) if len({k.learner for k in keys if k.method == m}) > 1
        ]
        yield from (([method, "all"], _Filter(method, None)) for method in several)
        yield from (
            (["all", learner or OWN], _Filter(None, learner)) for learner in dict.fromkeys(k.learner for k in keys)
        )
        yield ["all", "all"], _Filter(None, None)

    def figures(self) -> Table:
        """Return each compared figure with the published one."""
        table = Table(
            "Measured and published figures",
            "The ratio is that of measured to published; after ± stands the Monte Carlo error of the measured figure over runs, "
            "which is ? with one run of a method that draws at random, and is left out where nothing is drawn. Bold ratios are "
            + "outside  and ".join(f"{t.label} ({label_of(t.measure)})" for t in _strictest())
            + " of the published figure.",
            ["data set", "method", "learner", "optimised for"],
            [Column(name, label_of(m)) for m in self.published for name in ("measured", "published", "ratio")],
        )
        strict = {t.measure: t for t in _strictest()}
        by_key: dict[Key, dict[str, Comparison]] = {}
        for c in self.comparisons:
            by_key.setdefault(c.key, {})[c.measure] = c
        for key, by_measure in by_key.items():
            cells: list[Cell] = []
            for measure in self.published:
                if measure not in by_measure:
                    cells += [Cell(None)] * 3
                    continue
                c = by_measure[measure]
                _, error = mean_ratio([c])
                of_measured = None if error is None else error * c.published
                details = {"monte_carlo_error": of_measured, "runs": len(c.runs), "files": c.files}
                cells += [
                    Cell(c.measured, note=_error_text(of_measured, 3), details=details),
                    Cell(c.published),
                    Cell(c.ratio, digits=2, bold=not c.within(strict[measure])),
                ]
            table.rows.append((list(key), cells))
        return table


class _Filter(NamedTuple):
    """Which figures a row of the agreement counts: those of a method and a learner, None for all."""

    method: str | None
    learner: str | None

    def __call__(self, key: Key) -> bool:
        same_method = self.method is None or key.method.lower() == self.method.lower()
        return same_method and (self.learner is None or key.learner == self.learner)


def _agreement_cells(compared: Sequence[Comparison], total: int) -> list[Cell]:
    """Return the cells of a row and measure: the number compared, those within each tolerance, the mean ratio."""
    ratio, error = mean_ratio(compared)
    n = len(compared)
    near = [sum(c.within(t) for c in compared) for t in TOLERANCES if t.measure == compared[0].measure]
    return [
        Cell(n, digits=0, note=f"of {total}", details={"of": total}),
        *(Cell(k, digits=0, note=_percent(k / n), shade=min(0.0, k / n - 1.0)) for k in near),
        Cell(ratio, digits=2, note=_error_text(error, 3), details={"monte_carlo_error": error}),
    ]


def _count(measure: str, name: _Filter) -> int:
    """Return the number of figures that the paper published by a measure."""
    return sum(by == measure and name(key) for key, by in published_keys())


def _strictest() -> list[Tolerance]:
    return list({tolerance.measure: tolerance for tolerance in TOLERANCES}.values())


def _error_text(error: float | None, digits: int) -> str:
    return "± ?" if error is None else f"± {error:.{digits}f}" if error else ""


def _in_words(c: Comparison) -> str:
    name = " ".join(filter(None, c.key[1:3]))
    target = "at its defaults" if c.key.target == "none" else f"optimised for {c.key.target}"
    _, error = mean_ratio([c])
    spread = "" if error is None or not error else f" ± {error * c.published:.3f}"
    return (
        f"{name} {target} on {c.key.data_set}: the measured {label_of(c.measure)} is {c.measured:.3f}{spread}, the published one "
        f"{c.published:.3f} (ratio {c.ratio:.2f})."
    )


def reproduction(errors: Errors) -> Reproduction:
    """Compare the figures of a study by AE and RAE with those that the paper published for the same data set.

    A figure that the paper has in two tables counts once.
    """
    plan = errors.plan
    measures = tuple(dict.fromkeys(tolerance.measure for tolerance in TOLERANCES))
    comparisons = []
    for data_set in (name for name in plan.data_sets if name in PAPER_SETS):
        for row in plan.rows():
            for target in row.method.targets:
                key = Key(data_set, row.method.name, row.learner_name, target)
                for measure in measures:
                    paper, measured = published(key, measure), errors.mean(key, measure)
                    if paper is not None and measured is not None:
                        runs = errors.run_means(key, measure)
                        comparisons.append(Comparison(key, measure, measured, paper, *runs, errors.where(key)))
    total = {measure: sum(by == measure for _, by in published_keys()) for measure in measures}
    return Reproduction(comparisons, total)
