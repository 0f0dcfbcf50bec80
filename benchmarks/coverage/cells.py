"""The cells with intervals and regions, the hard ones first, and the list of all cells."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from benchmarks.coverage.cell import ALL, BINARY, BINARY_WITH_PLAIN, FEW, SUMS, WITH_PLAIN, Cell
from benchmarks.coverage.comparison_cells import differences, families, stable, unchanged
from benchmarks.coverage.field_cells import field
from benchmarks.coverage.real import Texts
from benchmarks.coverage.real_cells import tables, texts
from benchmarks.coverage.worlds import Confusion, Gaussian, Scores, UnequalGaussian


def absent() -> Iterator[Cell]:
    three = Cell(
        "absent: 3 classes, LR", "An absent class", Gaussian(3, 4.0), (0.0, 0.3, 0.7), 300, 300, methods=WITH_PLAIN
    )
    yield three
    yield replace(three, name="absent: 3 classes, true posteriors", world=Scores(3, 4.0), reported=())
    yield replace(three, name="absent: 3 classes, too sure", world=Scores(3, 3.0, 3.0))
    yield replace(three, name="absent: 3 classes, LR, 5 folds", validation=5, methods=ALL)
    ten = np.arange(10) / 45
    more = replace(
        three, name="absent: 10 classes, LR", world=Gaussian(10, 3.5, 10), methods=ALL, labelled=1000, target=1000
    )
    yield replace(more, shares=tuple(ten.tolist()))
    five = (0.0, 0.0, 0.2, 0.3, 0.5)
    yield replace(more, name="absent: 5 classes, LR", world=Gaussian(5, 3.0, 10), shares=five, labelled=500)
    two = replace(
        three, name="absent: 2 classes, LR", world=Gaussian(2, 2.0), shares=(1.0, 0.0), target=500, methods=BINARY
    )
    yield two
    forest = replace(two, name="absent: 2 classes, forest", world=Gaussian(2, 2.0, 8), learner="forest", labelled=500)
    yield replace(forest, methods=ALL, simulations=FEW)


def rare() -> Iterator[Cell]:
    forest = Cell("rare: forest, .001", "Rare classes", Gaussian(2, 3.0, 8), (0.999, 0.001), 1000, 5000, "forest")
    yield replace(forest, simulations=FEW)
    many = replace(
        forest, name="rare: LR 4,000 labelled, .02", world=Gaussian(2, 2.0, 8), shares=(0.98, 0.02), learner="LR"
    )
    many = replace(many, labelled=4000, target=10_000, methods=BINARY_WITH_PLAIN)
    yield many
    yield replace(many, name="rare: LR 4,000 labelled, .02, unequal spread", world=UnequalGaussian(2, 2.0, 8))
    for share in (0.02, 0.001):
        sure = replace(many, name=f"rare: too sure, {share}", world=Scores(2, 2.0, 3.0), shares=(1 - share, share))
        yield replace(sure, labelled=400, target=5000)
    both = replace(
        many, name="rare: labelled rare too", world=Gaussian(2, 2.5), shares=(0.9, 0.1), labelled_shares=(0.95, 0.05)
    )
    yield replace(both, labelled=400, target=1000, methods=BINARY)
    for n, share in ((200, 0.001), (200, 0.02), (1000, 0.001)):
        cell = Cell(f"level 99: LR {n} labelled, {share}", "Level 99 %", Gaussian(2, 2.5), (1 - share, share), n, 2000)
        yield replace(cell, level=0.99)


def wrong() -> Iterator[Cell]:
    group = "Posteriors that are wrong"
    few = Cell(
        "wrong: LR 200 labelled, 10k", group, Gaussian(2, 2.0, 20), (0.7, 0.3), 200, 10_000, methods=BINARY_WITH_PLAIN
    )
    yield few
    unequal = replace(
        few, name="wrong: LR, unequal spread", world=UnequalGaussian(2, 2.0, 8), labelled=1000, methods=BINARY
    )
    yield unequal
    unequal = replace(
        unequal, name="wrong: LR, 3 classes, unequal spread", world=UnequalGaussian(3, 3.0, 8), methods=ALL
    )
    yield replace(unequal, shares=(0.1, 0.3, 0.6), target=2000)
    for learner in ("NB", "tree"):
        world = Gaussian(2, 2.0, 4, copies=4)
        cell = Cell(f"wrong: {learner}", group, world, (0.8, 0.2), 500, 2000, learner, BINARY_WITH_PLAIN)
        yield cell
        yield replace(cell, name=f"wrong: {learner}, .01", shares=(0.99, 0.01), methods=BINARY)
    yield Cell("wrong: NB, 3 classes", group, Gaussian(3, 2.5, 4, copies=4), (0.02, 0.18, 0.8), 500, 1000, "NB")
    forest = Cell("wrong: forest, 3 classes", group, Gaussian(3, 2.5, 8), (0.05, 0.25, 0.7), 500, 1000, "forest")
    yield replace(forest, simulations=FEW)


def folds() -> Iterator[Cell]:
    wide = Cell("", "Folds", Gaussian(2, 3.0, 156), (0.7, 0.3), 200, 2000, methods=BINARY)
    for validation in (5, 2, 0.4):
        how = "held-out part" if validation == 0.4 else f"{validation} folds"
        yield replace(wide, name=f"folds: 158 features, 200 labelled, {how}", validation=validation)
    five = replace(
        wide, name="folds: 158 features, 200 labelled, 5 folds, .02", shares=(0.98, 0.02), validation=5, methods=ALL
    )
    yield five
    forest = replace(five, name="folds: forest, 5 folds", world=Gaussian(2, 2.0, 8), shares=(0.8, 0.2), labelled=1000)
    yield replace(forest, learner="forest", simulations=FEW)
    yield replace(forest, name="folds: NB, 5 folds", world=Gaussian(2, 2.0, 4, copies=4), learner="NB", labelled=500)
    three = replace(five, name="folds: 3 classes, 60 labelled", world=Gaussian(3, 3.0), shares=(0.02, 0.18, 0.8))
    yield replace(three, labelled=60, target=500)
    more = replace(
        five, name="folds: 5 classes, 500 labelled", world=Gaussian(5, 3.0, 10), shares=(0.1, 0.1, 0.2, 0.2, 0.4)
    )
    yield replace(more, labelled=500, target=1000)
    large = replace(five, name="folds: LR 1,000 labelled, 10k", world=Gaussian(2, 2.0, 20), shares=(0.9, 0.1))
    yield replace(large, labelled=1000, target=10_000, methods=BINARY)
    four = Cell("", "Folds", Gaussian(4, 4.0, 30), (0.05, 0.15, 0.3, 0.5), 240, 800, validation=5, simulations=FEW)
    for learner in ("5 neighbours", "extra trees", "boosting"):
        yield replace(four, name=f"folds: {learner}, 4 classes", learner=learner)


def counting() -> Iterator[Cell]:
    group, methods = "CC and PCC, truly no shift", ("CC", "PCC")
    for shares in ((0.9, 0.1), (0.5, 0.5)):
        cell = Cell(f"no shift: {shares[1]}", group, Gaussian(2, 2.0), shares, 500, 5000, "LR", methods, shares)
        yield cell
    three = (0.1, 0.3, 0.6)
    yield Cell("no shift: 3 classes", group, Gaussian(3, 2.5), three, 500, 5000, "LR", methods, three)
    naive, fifth = Gaussian(2, 2.0, 4, copies=4), (0.8, 0.2)
    yield Cell("no shift: NB", group, naive, fifth, 500, 5000, "NB", methods, fifth)
    text = Cell(
        "no shift: kindle", group, Texts("kindle_devices"), (0.15, 0.85), 500, 1000, "text LR", methods, (0.15, 0.85)
    )
    yield replace(text, simulations=FEW)


def regions() -> Iterator[Cell]:
    group = "Regions for all classes at once"
    few = Cell("region: 3 classes, 60 labelled, LR", group, Gaussian(3, 3.0), (0.02, 0.18, 0.8), 60, 500)
    yield few
    yield replace(
        few, name="region: 3 classes, 60 labelled, scores", world=Scores(3, 2.0), methods=WITH_PLAIN, reported=()
    )
    yield replace(few, name="region: 3 classes, 300 labelled, LR", labelled=300, target=1000)
    five = (0.05, 0.1, 0.15, 0.3, 0.4)
    yield replace(few, name="region: 5 classes, 150 labelled, LR", world=Gaussian(5, 3.5), shares=five, labelled=150)
    rates = ((0.95, 0.05, 0.0), (0.05, 0.95, 0.0), (0.1, 0.1, 0.8))
    for shares in ((0.5, 0.5, 0.0), (0.48, 0.48, 0.04)):
        name = f"boundary: decisions, 30 items, {shares[2]}"
        yield Cell(name, group, Confusion(rates), shares, 300, 30, methods=("ACC",))
    never = Cell(
        "never decided: 3 classes", group, Gaussian(3, 1.2), (0.5, 0.3, 0.2), 300, 500, methods=SUMS, identified=False
    )
    yield replace(never, labelled_shares=(0.6, 0.36, 0.04))
    yield replace(never, name="twins: 3 classes", world=Gaussian(3, 3.0, twins=2), shares=(0.2, 0.4, 0.4), methods=ALL)


def informative() -> Iterator[Cell]:
    cell = Cell("", "Intervals that say nothing", Gaussian(2, 2.2), (0.7, 0.3), 0, 500, methods=BINARY)
    for separation, labelled, validation, auc in (
        (2.2, 100, 0.4, 0.9),
        (2.2, 40, 5, 0.9),
        (1.5, 200, 0.4, 0.8),
        (1.5, 80, 5, 0.8),
    ):
        items = round(labelled / 2 * (validation if validation < 1 else 1))
        how = "held-out part" if validation < 1 else f"{validation} folds"
        setting = replace(
            cell, name=f"vacuous: {items} validation items a class, {how}", world=Gaussian(2, separation), auc=auc
        )
        yield replace(setting, labelled=labelled, validation=validation)
    three = replace(
        cell, name="vacuous: 3 classes, 20 a class", world=Gaussian(3, 2.6), shares=(0.2, 0.3, 0.5), labelled=150
    )
    yield replace(three, auc=0.9, methods=ALL)
    text = replace(
        cell,
        name="vacuous: imdb, 40 a class",
        world=Texts("imdb"),
        learner="text LR",
        shares=(0.45, 0.55),
        labelled=200,
    )
    yield replace(text, target=1000, auc=0.8, methods=ALL, simulations=FEW)


def friendly() -> Iterator[Cell]:
    settings = ((0.98, 0.02), (0.8, 0.2), (0.5, 0.5), (0.02, 0.18, 0.8), (0.2, 0.3, 0.5))
    for estimand in ("population", "sample"):
        group = f"True posteriors under equal shares, {estimand}"
        sizes = (
            ((200, 500), (200, 2000), (1000, 500), (1000, 2000))
            if estimand == "population"
            else ((200, 500), (1000, 2000))
        )
        for labelled, target in sizes:
            for shares in settings:
                name = f"scores, {estimand}: {labelled} labelled, {target} items, {', '.join(map(str, shares))}"
                cell = Cell(
                    name, group, Scores(len(shares), 2.0), shares, labelled, target, estimand=estimand, reported=()
                )
                yield replace(cell, methods=BINARY_WITH_PLAIN if len(shares) == 2 else WITH_PLAIN, simulations=1000)
    methods = (*SUMS, "SLD plain")
    for shares in settings:
        name = f"bootstrap: 200 labelled, 500 items, {', '.join(map(str, shares))}"
        cell = Cell(name, "Bootstrap", Scores(len(shares), 2.0), shares, 200, 500, methods=methods, reported=methods)
        yield replace(cell, interval="bootstrap", simulations=FEW)


def all_cells() -> list[Cell]:
    """Return all cells in the order of the page."""
    groups = (
        absent,
        rare,
        wrong,
        folds,
        counting,
        regions,
        differences,
        unchanged,
        families,
        texts,
        tables,
        informative,
        stable,
        friendly,
    )
    cells = [cell for group in groups for cell in group()]
    return [*cells, *field(cells)]
