# ruff: noqa: T201
"""Print the figures of gap.md: measured over published errors of ACC and PACC on IMDB, one factor at a time.

``PYTHONPATH=studies python studies/gap.py STORE`` reads the store that the plans gap-*.toml were run with; nothing is fitted.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from headcount.report.published import published
from headcount.report.scores import Key
from headcount.study import read_plan
from headcount.study.results import Results

FOLDER = Path(__file__).parent
METHODS = ("ACC", "PACC")
MEASURES = ("ae", "rae")
SLOPE = "slope"
"""Of the estimated over the true share: below 1 if the rates are those of a better classifier than it is on the test items."""


class Use(NamedTuple):
    """What a published figure is of, with the factor that was changed (empty: none)."""

    factor: str
    method: str
    learner: str
    target: str


class Among(NamedTuple):
    """The learners and targets that a median is over."""

    learners: set[str]
    targets: set[str]

    def has(self, use: Use, factor: str, method: str) -> bool:
        """Whether a use is one of these, of a factor and a method."""
        return (
            (use.factor, use.method) == (factor, method) and use.learner in self.learners and use.target in self.targets
        )


Errors = dict[tuple[Use, str], np.ndarray]
"""Errors by use and measure, one row a run and one column a sample."""


@cache
def errors_of(name: str, store: str) -> tuple[Errors, np.ndarray]:
    """Return the errors that a store has for a plan, and the true share of each sample."""
    plan = read_plan(FOLDER / f"{name}.toml")
    runs: dict[tuple[Use, str], list[np.ndarray]] = defaultdict(list)
    true = np.empty(0)
    for cell in Results(plan, store).cells:
        if cell.estimated is None or cell.true is None:
            continue
        method, _, variant = cell.method.partition(" ")
        learner, _, features = cell.learner.partition(".")
        use = Use((variant or features).partition(" #")[0], method, learner, cell.target)
        for measure in MEASURES:
            runs[use, measure].append(cell.errors(measure, plan.protocol.sample_size))
        true = cell.true[:, 0]
        inside = (true > 0.2) & (true < 0.8)  # where clipping changes little
        slope, _ = np.polyfit(true[inside], cell.estimated[inside, 0], 1)
        runs[use, SLOPE].append(np.array([slope]))
    return {key: np.array(values) for key, values in runs.items()}, true


def ratios(errors: Errors, factor: str, method: str, measure: str, among: Among) -> dict[Use, np.ndarray]:
    """Return measured over published errors of each run, by use."""
    found = {}
    for (use, of), values in errors.items():
        if of == measure and among.has(use, factor, method):
            paper = published(Key("imdb", use.method, use.learner, use.target), measure)
            if paper:
                found[use] = values.mean(axis=1) / paper
    return found


def median(found: dict[Use, np.ndarray]) -> tuple[float, float]:
    """Return the median over uses of the ratio of the mean over runs, and its standard error over the runs (by bootstrap)."""
    generator = np.random.default_rng(0)
    at = float(np.median([values.mean() for values in found.values()]))
    drawn = [
        np.median([generator.choice(values, len(values)).mean() for values in found.values()]) for _ in range(1000)
    ]
    return at, float(np.std(drawn))


def rows(name: str, label: str, store: str, among: Among, methods: tuple[str, ...] = METHODS) -> Iterator[str]:
    """Yield a line of the table for each factor of a plan."""
    errors, _ = errors_of(name, store)
    for factor in dict.fromkeys(use.factor for use, _ in errors):
        figures = []
        for measure in MEASURES:
            for method in methods:
                found = ratios(errors, factor, method, measure, among)
                at, error = median(found) if found else (np.nan, np.nan)
                counts = {len(values) for values in found.values()}
                figures.append(f"{at:.3f} ± {error:.3f}" if counts - {1} else f"{at:.3f}" if found else "–")
        if set(figures) == {"–"}:
            continue
        runs = max(len(values) for (use, _), values in errors.items() if among.has(use, factor, methods[-1]))
        slopes = [
            [values.mean() for (use, of), values in errors.items() if of == SLOPE and among.has(use, factor, method)]
            for method in methods
        ]
        figures += [f"{np.mean(values):.3f}" if values else "–" for values in slopes]
        yield f"| {label}{': ' + factor if factor else ''} ({runs}) | " + " | ".join(figures) + " |"


def cells(names: list[str], store: str) -> Iterator[str]:
    """Yield a line for each published figure: it, and what each plan measured with the standard error over runs."""
    measured = [errors_of(name, store)[0] for name in names]
    for key in measured[0]:
        use, measure = key
        if measure == SLOPE:
            continue
        paper = published(Key("imdb", use.method, use.learner, use.target), measure)
        texts = []
        for errors in measured:
            means = errors[key].mean(axis=1) if key in errors else np.array([np.nan])
            error = f" ± {means.std(ddof=1) / len(means) ** 0.5:.4f}" if len(means) > 1 else ""
            texts.append(f"{means.mean():.4f}{error}")
        yield f"| {use.method} {use.learner} {use.target} {measure} | {paper} | " + " | ".join(texts) + " |"


def luck(store: str) -> Iterator[str]:
    """Yield a line for each use of gap-runs: how much a mean of ten runs, and a draw of test samples, vary."""
    errors, true = errors_of("gap-runs", store)
    for (use, measure), values in errors.items():
        if measure == SLOPE:
            continue
        paper = published(Key("imdb", use.method, use.learner, use.target), measure)
        means = values.mean(axis=1)
        tens = means[: len(means) // 10 * 10].reshape(-1, 10).mean(axis=1)
        pooled = values.mean(axis=0)
        groups = [pooled[true == share] for share in np.unique(true)]
        draw = np.sqrt(sum(group.var(ddof=1) / len(group) for group in groups)) / len(groups)
        figures = (paper, means.mean(), means.std(ddof=1), means.std(ddof=1) / 10**0.5, tens.min(), tens.max(), draw)
        below = f"{int((tens <= paper).sum())} of {len(tens)}"
        name = f"{use.method} {use.learner} {measure}"
        yield f"| {name} | " + " | ".join(f"{figure:.4f}" for figure in figures) + f" | {below} |"


def main(store: str) -> None:
    """Print all tables."""
    among = {
        "All targets, lr, mnb": Among({"lr", "mnb"}, {"none", "accuracy", "f1", "ae"}),
        "Target ae, lr, mnb": Among({"lr", "mnb"}, {"ae"}),
        "At defaults, lr, mnb": Among({"lr", "mnb"}, {"none"}),
        "At defaults, svm": Among({"svm"}, {"none"}),
    }
    for title, part in among.items():
        names = ["gap-text", "gap-code", "gap-seed"]
        if part.targets == {"none"}:
            names += ["gap-runs", "gap-splits", "gap-features", "gap-calibration"]
        for methods in (METHODS, ("CC", "PCC")):
            print(f"\n{title}\n")
            heads = [f"{measure.upper()} {method}" for measure in (*MEASURES, SLOPE) for method in methods]
            print("| factor (runs) |", " | ".join(heads), "|")
            for name in names:
                for row in rows(name, name.removeprefix("gap-"), store, part, methods):
                    print(row)
    print("\nLuck, forty runs at defaults\n")
    print(
        "| | published | mean | sd of a run | sd of a mean of ten | lowest ten | highest ten | draw of samples | tens below |"
    )
    print(*luck(store), sep="\n")
    print("\nEach figure: published, gap-text, gap-code, gap-seed\n")
    print(*cells(["gap-text", "gap-code", "gap-seed"], store), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1])
