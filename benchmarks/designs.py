"""How often intervals hold under survey designs, and whether the design effects that are said are the true ones.

In each simulation labelled and new items are drawn anew (`benchmarks.design_worlds`). The plain interval, which takes items for
independent, stands beside. The true design effect is the variance over simulations of the error of the free estimate (before it is
kept within [0, 1]), over that with as many independent items of equal weight from the same populations. Simulations are drawn in
parts of 50 with seeds of their own, and each finished part is kept in the folder ``--store``: a run that is stopped goes on.

    python -m benchmarks.designs --only clusters --simulations 3000 --jobs 2 --store /tmp/designs
"""

import argparse
import os
import platform
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import headcount
from benchmarks.design_worlds import Side, draw, independent
from headcount import ACC, PACC, SLD, DyS, EDy, HDy, KDEyML, estimate
from headcount.intervals.evidence import gather_evidence
from headcount.learners import Fits

SEED = 24_1119
PART = 50
"""Simulations that are kept together."""
METHODS: dict[str, Callable[..., Any]] = {
    "PACC": PACC,
    "ACC": ACC,
    "SLD": partial(SLD, calibration="bcts"),
    "HDy": HDy,
    "DyS": DyS,
    "KDEyML": KDEyML,
    "EDy": EDy,
}
TWO_CLASSES_ONLY = {"HDy", "DyS"}
LEARNERS: dict[str, Callable[[], Any]] = {
    "logistic regression": LogisticRegression,
    "naive Bayes": GaussianNB,
    "forest": lambda: RandomForestClassifier(40, min_samples_leaf=5, random_state=0),
}
FIGURES = ("held", "plain", "width", "said", "error", "independent")


@dataclass(frozen=True)
class Setting:
    """One row of each method.

    Attributes
    ----------
    name : str
    labelled, new : Side
    shares : tuple of float
        Of the new items' population; labelled ones have equal shares.
    learner : str
        A classifier to be fitted in each simulation; else posteriors are ready.
    validation : int or float
    methods : tuple of str
    """

    name: str
    labelled: Side
    new: Side
    shares: tuple[float, ...]
    learner: str = ""
    validation: Any = 5
    methods: tuple[str, ...] = tuple(METHODS)

    @property
    def title(self) -> str:
        shares = ", ".join(f"{share:g}" for share in self.shares[1:])
        of = f"share {shares}" if len(self.shares) == 2 else f"3 classes, shares {shares}"
        fit = "" if not self.learner else f"; {self.learner}, {_said(self.validation)}"
        return f"{self.name}; {of}{fit}" if self.shares[1] >= 0 else f"{self.name}{fit}"

    def used(self) -> list[str]:
        """Names of the methods for so many classes."""
        return [name for name in self.methods if len(self.shares) == 2 or name not in TWO_CLASSES_ONLY]


def _said(validation: Any) -> str:
    return f"{validation} folds" if isinstance(validation, int) else f"{validation:.0%} held out"


def clusters_settings() -> Iterator[Setting]:
    for size in (2, 5, 10):
        for correlation in (0.2, 0.5):
            for share in (0.5, 0.1):
                side = Side(60, size, correlation)
                yield Setting(f"clusters of {size}, correlation {correlation}", side, side, (1.0 - share, share))


def classes_settings() -> Iterator[Setting]:
    for size in (2, 5, 10):
        for correlation in (0.2, 0.5):
            side = Side(100, size, correlation)
            yield Setting(f"clusters of {size}, correlation {correlation}", side, side, (0.5, 0.3, 0.2))


def weights_settings() -> Iterator[Setting]:
    plain = Side(1000)
    for kind in ("chance", "informative"):
        one = Side(1600, weights=kind)
        name = f"weights 1:4 {'informative' if kind == 'informative' else 'not informative'}"
        for share in (0.5, 0.1):
            for where, labelled, new in (("both sides", one, one), ("labelled", one, plain), ("new", plain, one)):
                yield Setting(f"{name}, {where}", labelled, new, (1.0 - share, share))
        both = Side(160, 5, 0.5, kind)
        yield Setting(f"{name}, clusters of 5, correlation 0.5", both, both, (0.7, 0.3))
        three = Side(2000, weights=kind)
        yield Setting(f"{name}, both sides", three, three, (0.5, 0.3, 0.2))


def strata_settings() -> Iterator[Setting]:
    for size, correlation in ((1, 0.0), (5, 0.5)):
        side = Side(400 if size == 1 else 160, size, correlation, strata=True)
        name = "4 strata, equal numbers" + (f", clusters of {size}, correlation {correlation}" if size > 1 else "")
        yield Setting(name, side, side, (0.83, 0.17))


def population_settings() -> Iterator[Setting]:
    for fraction in (0.5, 0.9, 1.0):
        for size, correlation in ((1, 0.0), (5, 0.5)):
            labelled = Side(1200 if size == 1 else 240, size, correlation)
            new = Side(300 if size == 1 else 80, size, correlation, fraction=fraction)
            name = f"{fraction:.0%} of the population" + (
                f", clusters of {size}, correlation {correlation}" if size > 1 else ""
            )
            yield Setting(name, labelled, new, (0.7, 0.3))


def refitted_settings(learner: str) -> Iterator[Setting]:
    for size, validation in ((2, 5), (5, 5), (5, 0.4), (10, 5)):
        side = Side(100 if size == 5 and validation != 5 else 120 if size == 2 else 80, size, 0.5)
        name = f"{side.clusters} clusters of {size}, correlation 0.5"
        if learner != "forest" or validation == 5:
            yield Setting(name, side, side, (0.7, 0.3), learner, validation)
    side = Side(100, 5, 0.5)
    if learner != "forest":
        yield Setting("100 clusters of 5, correlation 0.5", side, side, (0.5, 0.3, 0.2), learner, 5)
    side = Side(1000, weights="informative")
    yield Setting("weights 1:4 informative, both sides", side, side, (0.7, 0.3), learner, 5)


BLOCKS: dict[str, Callable[[], Iterator[Setting]]] = {
    "clusters": clusters_settings,
    "classes": classes_settings,
    "weights": weights_settings,
    "strata": strata_settings,
    "population": population_settings,
    "refitted": lambda: chain(refitted_settings("logistic regression"), refitted_settings("naive Bayes")),
    "forests": lambda: refitted_settings("forest"),
}


def answers(setting: Setting, labelled: Any, new: Any, with_design: bool) -> dict[str, Any]:
    """Return the estimate of each method."""
    return {
        name: estimate(quantifier, outputs, design=new.design if with_design else None)
        for name, quantifier, outputs in fitted(setting, labelled, new, with_design)
    }


def free_shares(setting: Setting, labelled: Any, new: Any) -> dict[str, Any]:
    """Return the estimates of each method before they are kept within [0, 1], of items without a design."""
    found = {}
    for name, quantifier, outputs in fitted(setting, labelled, new, False):
        statistics = quantifier.reduce(outputs)
        found[name] = gather_evidence(quantifier, statistics, np.array([outputs.n_items]), True).centre[0]
    return found


def fitted(setting: Setting, labelled: Any, new: Any, with_design: bool) -> Iterator[tuple[str, Any, Any]]:
    """Yield each method, fitted, and the outputs of the new items; the classifiers are fitted once for all methods."""
    design = labelled.design if with_design else None
    items = labelled.X if setting.learner else labelled.outputs()
    fits = Fits(items, labelled.y, remember=True, design=design)
    outputs = None if setting.learner else new.outputs()
    for name in setting.used():
        more: dict[str, Any] = {}
        if setting.learner:
            more = {"classifier": LEARNERS[setting.learner](), "validation": setting.validation, "random_state": 0}
        quantifier = METHODS[name](**more)
        if design is not None and design.weights is not None and not quantifier.takes_labelled_weights:
            continue
        quantifier.fit_through(fits)
        if outputs is None:
            outputs = quantifier.outputs(new.X, {"posteriors", "decisions"})
        yield name, quantifier, outputs


def simulate(setting: Setting, seed: list[int]) -> dict[str, Any]:
    """Return the figures of each method in one part of the simulations: arrays of shape (PART, figures, classes)."""
    warnings.simplefilter("ignore")
    generator, k, wide = np.random.default_rng(seed), len(setting.shares), bool(setting.learner)
    equal = np.full(k, 1.0 / k)
    rows: dict[str, list[Any]] = {}
    for _ in range(PART):
        labelled = draw(generator, setting.labelled, equal, "labelled", wide)
        new = draw(generator, setting.new, setting.shares, "new", wide)
        like = independent(generator, len(labelled.y), labelled.shares, wide)
        like_new = independent(generator, len(new.y), setting.shares, wide)
        designed, plain = (answers(setting, labelled, new, flag) for flag in (True, False))
        alike = free_shares(setting, like, like_new)
        for name, answer in designed.items():
            other, p = plain[name], new.shares
            effects = np.ones(k) if answer.design is None else answer.design.effects[0]
            rows.setdefault(name, []).append(
                [
                    (answer.low <= p) & (p <= answer.high),
                    (other.low <= p) & (p <= other.high),
                    answer.high - answer.low,
                    effects,
                    answer.evidence.centre[0] - p,
                    alike[name] - np.asarray(setting.shares),
                ]
            )
    return {name: np.array(values, dtype=float) for name, values in rows.items()}


def part_path(store: Path, block: str, setting: Setting, part: int) -> Path:
    slug = "".join(c if c.isalnum() else "-" for c in f"{block}-{setting.title}")
    return store / f"{slug}-{part}.npz"


def compute(store: Path, block: str, setting: Setting, part: int) -> float:
    """Simulate one part, unless it is there; return the seconds it took."""
    path = part_path(store, block, setting, part)
    if path.exists():
        return 0.0
    start = time.perf_counter()
    figures = simulate(setting, [SEED, zlib.crc32(f"{block} {setting.title}".encode()), part])
    written = path.with_suffix(f".{os.getpid()}.tmp.npz")
    np.savez(written, **figures)
    written.replace(path)
    return time.perf_counter() - start


def table(store: Path, block: str, settings: list[Setting], n_parts: int) -> None:
    """Print the rows of a block: figures are means over classes, of two classes those of the second."""
    print(f"\n### {block}\n")
    print("| setting | method | simulations | held, % | without the design, % | width | said | true | said / true |")
    print("|---|---|---|---|---|---|---|---|---|")
    for setting in settings:
        paths = [part_path(store, block, setting, part) for part in range(n_parts)]
        parts = [dict(np.load(path)) for path in paths if path.exists()]
        for name in setting.used():
            if parts and name in parts[0]:
                print(line(setting, name, np.concatenate([one[name] for one in parts])))


def line(setting: Setting, name: str, values: Any) -> str:
    values = values[:, :, 1:] if values.shape[2] == 2 else values
    held, plain, width, said, error, alike = np.moveaxis(values, 1, 0)
    n = len(held)
    coverage = held.mean()
    mc = 100.0 * np.sqrt(max(coverage * (1.0 - coverage), 0.0025) / n)
    true = error.var(axis=0) / alike.var(axis=0)
    # Of a variance the relative Monte Carlo error is the root of (kurtosis - 1) / n.
    of_ratio = np.sqrt(sum((_kurtosis(one) - 1.0) / n for one in (error, alike)))
    ratio = said.mean(axis=0) / true
    return (
        f"| {setting.title} | {name} | {n:,} | {100 * coverage:.1f} ± {mc:.1f} | {100 * plain.mean():.1f} | "
        f"{100 * width.mean():.1f} | {said.mean():.2f} | {true.mean():.2f} | {ratio.mean():.2f} ± {of_ratio.mean():.2f} |"
    )


def _kurtosis(values: Any) -> Any:
    centred = values - values.mean(axis=0)
    return (centred**4).mean(axis=0) / (centred**2).mean(axis=0) ** 2


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default=",".join(BLOCKS), help="blocks, separated by commas")
    parser.add_argument("--simulations", type=int, default=3000)
    parser.add_argument("--forests", type=int, default=400, help="simulations of forests")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--store", type=Path, default=Path("designs-store"))
    parser.add_argument("--minutes", type=float, default=1e9, help="begin no further part after so many minutes")
    parser.add_argument("--methods", default=",".join(METHODS), help="methods, separated by commas")
    asked = parser.parse_args()
    asked.store.mkdir(parents=True, exist_ok=True)
    methods = tuple(asked.methods.split(","))
    blocks = {name: [replace(setting, methods=methods) for setting in BLOCKS[name]()] for name in asked.only.split(",")}
    counts = {name: -(-(asked.forests if name == "forests" else asked.simulations) // PART) for name in blocks}
    # Parts in turn, so that a run that is stopped has some of each.
    tasks = [
        (name, setting, part)
        for part in range(max(counts.values()))
        for name, settings in blocks.items()
        for setting in settings
        if part < counts[name]
    ]
    end = time.time() + 60.0 * asked.minutes
    Parallel(n_jobs=asked.jobs)(delayed(_compute_until)(end, asked.store, *task) for task in tasks)
    versions = f"headcount {headcount.__version__}, numpy {np.__version__}, Python {platform.python_version()}"
    print(f"Seed {SEED}; {versions}. 95 % intervals; widths in points; ± is the Monte Carlo error.")
    for name, settings in blocks.items():
        table(asked.store, name, settings, counts[name])


def _compute_until(end: float, store: Path, *task: Any) -> float:
    return compute(store, *task) if time.time() < end else 0.0


if __name__ == "__main__":
    main()
