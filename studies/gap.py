"""Print the figures of gap.md: measured over published errors of ACC and PACC on IMDB, one factor at a time.

``PYTHONPATH=studies python studies/gap.py STORE [STORE ...]`` reads the stores that the plans gap-*.toml were run with, and fits nothing.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from headcount.exceptions import HeadcountError
from headcount.report.published import published
from headcount.report.scores import Key
from headcount.study import read_plan
from headcount.study.results import Results

FOLDER = Path(__file__).parent
METHODS = ("ACC", "PACC")
MEASURES = ("ae", "rae")


class Use(NamedTuple):
    """What a published figure is of, with the factor that was changed (empty: none)."""

    factor: str
    method: str
    learner: str
    target: str


Errors = dict[tuple[Use, str], np.ndarray]
"""Errors by use and measure, one row a run and one column a sample."""


def errors_of(name: str, stores: list[str]) -> tuple[Errors, np.ndarray]:
    """Return the errors that the stores have for a plan, and the true share of each sample."""
    plan = read_plan(FOLDER / f"{name}.toml")
    runs: dict[tuple[Use, str], list[np.ndarray]] = defaultdict(list)
    true = np.empty(0)
    for store in stores:
        try:
            cells = [cell for cell in Results(plan, store).cells if cell.estimated is not None]
        except HeadcountError:
            continue
        for cell in cells:
            method, _, variant = cell.method.partition(" ")
            learner, _, features = cell.learner.partition(".")
            use = Use((variant or features).partition(" #")[0], method, learner, cell.target)
            for measure in MEASURES:
                runs[use, measure].append(cell.errors(measure, plan.protocol.sample_size))
            true = cell.true[:, 0]
        if cells:
            break
    return {key: np.array(values) for key, values in runs.items()}, true


def ratios(errors: Errors, factor: str, method: str, measure: str, targets: set[str]) -> dict[Use, np.ndarray]:
    """Return measured over published errors of each run, by use."""
    found = {}
    for (use, of), values in errors.items():
        if (use.factor, use.method, of) == (factor, method, measure) and use.target in targets:
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


def rows(name: str, label: str, stores: list[str], targets: set[str], methods: tuple[str, ...] = METHODS) -> Iterator[str]:
    """Yield a line of the table for each factor of a plan."""
    errors, _ = errors_of(name, stores)
    for factor in dict.fromkeys(use.factor for use, _ in errors):
        figures = []
        for measure in MEASURES:
            for method in methods:
                found = ratios(errors, factor, method, measure, targets)
                at, error = median(found) if found else (np.nan, np.nan)
                figures.append(f"{at:.2f} ± {error:.2f}" if len(next(iter(found.values()), ())) > 1 else f"{at:.2f}")
        runs = max(len(values) for (use, _), values in errors.items() if use.factor == factor)
        yield f"| {label}{': ' + factor if factor else ''} ({runs}) | " + " | ".join(figures) + " |"


def cells(names: list[str], stores: list[str]) -> Iterator[str]:
    """Yield a line for each published figure: it, and what each plan measured with the standard error over runs."""
    measured = [errors_of(name, stores)[0] for name in names]
    for key in measured[0]:
        (use, measure) = key
        paper = published(Key("imdb", use.method, use.learner, use.target), measure)
        texts = []
        for errors in measured:
            means = errors[key].mean(axis=1) if key in errors else np.array([np.nan])
            error = f" ± {means.std(ddof=1) / len(means) ** 0.5:.4f}" if len(means) > 1 else ""
            texts.append(f"{means.mean():.4f}{error}")
        yield f"| {use.method} {use.learner} {use.target} {measure} | {paper} | " + " | ".join(texts) + " |"


def luck(stores: list[str]) -> Iterator[str]:
    """Yield a line for each use of gap-runs: how much a mean of ten runs, and a draw of test samples, vary."""
    errors, true = errors_of("gap-runs", stores)
    for (use, measure), values in errors.items():
        paper = published(Key("imdb", use.method, use.learner, use.target), measure)
        means = values.mean(axis=1)
        tens = means[: len(means) // 10 * 10].reshape(-1, 10).mean(axis=1)
        pooled = values.mean(axis=0)
        groups = [pooled[true == share] for share in np.unique(true)]
        draw = np.sqrt(sum(group.var(ddof=1) / len(group) for group in groups)) / len(groups)
        yield (
            f"| {use.method} {use.learner} {measure} | {paper} | {means.mean():.4f} | {means.std(ddof=1):.4f} | {tens.std(ddof=1):.4f} "
            f"| {tens.min():.4f} to {tens.max():.4f} | {draw:.4f} | {int((tens <= paper).sum())} of {len(tens)} |"
        )


def main(stores: list[str]) -> None:
    """Print all tables."""
    every, defaults = {"none", "accuracy", "f1", "ae"}, {"none"}
    head = "| factor (runs) | AE ACC | AE PACC | RAE ACC | RAE PACC |\n|---|---:|---:|---:|---:|"
    print(head)
    for name, label in (("gap-text", "text"), ("gap-code", "features of the scripts"), ("gap-seed", "another seed")):
        print(*rows(name, label, stores, every), sep="\n")
    print("\nCC and PCC\n")
    for name, label in (("gap-text", "text"), ("gap-code", "features of the scripts"), ("gap-seed", "another seed")):
        print(*rows(name, label, stores, every, ("CC", "PCC")), sep="\n")
    print("\nAt defaults\n")
    for name in ("gap-text", "gap-code", "gap-seed", "gap-runs", "gap-splits", "gap-features", "gap-calibration"):
        print(*rows(name, name.removeprefix("gap-"), stores, defaults), sep="\n")
    print("\nAt defaults, CC and PCC\n")
    for name in ("gap-text", "gap-features"):
        print(*rows(name, name.removeprefix("gap-"), stores, defaults, ("CC", "PCC")), sep="\n")
    print("\nLuck, a hundred runs at defaults\n")
    print(*luck(stores), sep="\n")
    print("\nEach figure\n")
    print(*cells(["gap-text", "gap-code", "gap-seed"], stores), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
