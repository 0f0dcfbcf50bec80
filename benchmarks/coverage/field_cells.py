"""The methods of the whole field, in the cells where ACC, PACC, SLD and HDy cover least.

Each method is in ten such cells at least: methods for two classes in the ten lowest of two classes, those for any number in the
six lowest of more and the four lowest of two, those on features where the cell's features suit them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from benchmarks.coverage.cell import Cell
from benchmarks.coverage.real import Texts

FIELD = "The whole field"
"""Name of the group of these cells."""
ANY = (
    "BBSE",
    "RLLS",
    "FM",
    "SELSE",
    "RUN",
    "KDEyML",
    "KDEyCS",
    "EDy",
    "MMDy",
    "DMy",
    "BayesianCC",
    "SLD ts",
    "SLD vs",
    "SLD nbvs",
)
TWO = ("T50", "X", "MAX", "MS", "MS2", "ContinuousSweep", "SMM", "DyS", "SORD")
ON_NUMBERS = ("DMx", "EDx")
LOWEST_OF_TWO = (
    "kindle: 500 labelled, .6, 5 folds",
    "kindle: 500 labelled, .6",
    "imdb: NB, .1, 5 folds",
    "vacuous: imdb, 40 a class",
    "scores, population: 1000 labelled, 500 items, 0.8, 0.2",
    "spambase: LR, 5 folds",
    "imdb: 800 labelled, .55",
    "rare: LR 4,000 labelled, .02",
    "folds: 158 features, 200 labelled, 5 folds",
    "folds: NB, 5 folds",
)
LOWEST_OF_MORE = (
    "folds: extra trees, 4 classes",
    "trec6: shares reversed, 5 folds",
    "folds: 3 classes, 60 labelled",
    "categories: NB, one absent",
    "categories: one absent, 5 folds",
    "region: 3 classes, 300 labelled, LR",
    "folds: 5 classes, 500 labelled",
)
NUMBERS = (
    "folds: extra trees, 4 classes",
    "folds: 3 classes, 60 labelled",
    "region: 3 classes, 300 labelled, LR",
    "folds: 5 classes, 500 labelled",
    "absent: 3 classes, LR",
    "wrong: NB, 3 classes",
    "spambase: LR",
    "phoneme: NB",
    "folds: NB, 5 folds",
    "absent: 2 classes, LR",
)
"""Cells with features in numbers: none of a classifier's own settings matter there."""


def field(cells: Iterable[Cell]) -> Iterator[Cell]:
    """Yield the cells of the whole field, made of those of the page."""
    known = {cell.name: cell for cell in cells}
    for name in LOWEST_OF_TWO:
        methods = (*ANY, *TWO) if name in LOWEST_OF_TWO[:4] else TWO
        yield _with(known[name], methods)
    for name in LOWEST_OF_MORE:
        yield _with(known[name], ANY)
    for name in NUMBERS:
        two = len(known[name].shares) == 2
        cell = _with(known[name], (*ON_NUMBERS, "HDx") if two else ON_NUMBERS)
        yield replace(cell, name=f"features, {known[name].name}", learner="LR", validation=0.4)


def _with(cell: Cell, methods: tuple[str, ...]) -> Cell:
    simulations = min(cell.simulations, 400 if isinstance(cell.world, Texts) else 2000)
    changed = replace(cell, name=f"field, {cell.name}", group=FIELD, methods=methods)
    return replace(changed, reported=(), check=False, auc=0.0, simulations=simulations)
