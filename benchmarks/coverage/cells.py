"""The cells of the table: settings under which intervals, regions and comparisons must hold, the hard ones first."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from benchmarks.coverage.worlds import Confusion, Gaussian, Scores, Texts, World

SUMS = ("ACC", "PACC")
ALL = ("ACC", "PACC", "SLD bcts")
WITH_PLAIN = (*ALL, "SLD plain")
BINARY = (*ALL, "HDy")
BINARY_WITH_PLAIN = (*BINARY, "SLD plain")
MANY, FEW = 2000, 400
"""Simulations of cells that are quick (Gaussian classes, logistic regression), and of forests and texts."""


@dataclass(frozen=True)
class Cell:
    """A setting: where items come from, how many are labelled, what the target is, and what is asked.

    Attributes
    ----------
    name, group : str
        The group is a section of the page.
    labelled_shares : tuple or None
        Shares of the classes among labelled items; None means equal ones.
    validation : float, int or None
        As the quantifier takes it; a scorer that comes with the world is frozen, and all labelled items are validation items.
    kind : {"estimate", "difference", "family", "stability", "rename"}
    second : tuple or None
        Shares of the second target of a difference.
    family_kind : {"first", "previous"}
        What each of twelve months is compared with.
    auc : float
        Above this AUC at most 5 % of intervals may be vacuous; 0 where that is not asked.
    identified : bool
        Whether the classifier tells all classes apart, so that a region may be too wide.
    """

    name: str
    group: str
    world: World
    shares: tuple[float, ...]
    labelled: int
    target: int
    learner: str = "LR"
    methods: tuple[str, ...] = ALL
    labelled_shares: Any = None
    validation: Any = 0.4
    level: float = 0.95
    estimand: str = "population"
    interval: str = "auto"
    kind: str = "estimate"
    second: tuple[float, ...] | None = None
    family_kind: str = "first"
    check: bool = False
    auc: float = 0.0
    identified: bool = True
    simulations: int = MANY
    reported: tuple[str, ...] = field(default=("SLD plain",))

    def __post_init__(self) -> None:
        if self.labelled_shares is None:
            object.__setattr__(self, "labelled_shares", tuple(np.full(len(self.shares), 1 / len(self.shares))))

    @property
    def floor(self) -> float:
        """Lowest coverage that is accepted."""
        if self.level == 0.99:
            return 0.98
        folds = isinstance(self.validation, int) and self.labelled <= 200 and self.world.scorer() is None
        return 0.92 if 0.0 in self.shares or folds else 0.93

    def may_be_too_wide(self, c: int) -> bool:
        """Whether coverage of class c may not exceed 99 %: where its share is above 0 and at least 10 items are expected."""
        return self.identified and self.level < 0.99 and self.shares[c] * self.target >= 10


def _absent() -> Iterator[Cell]:
    group = "An absent class"
    three = (0.0, 0.3, 0.7)
    yield Cell("absent: 3 classes, LR", group, Gaussian(3, 4.0), three, 300, 300, methods=WITH_PLAIN)
    yield Cell(
        "absent: 3 classes, true posteriors", group, Scores(3, 4.0), three, 300, 300, methods=WITH_PLAIN, reported=()
    )
    yield Cell("absent: 3 classes, too sure", group, Scores(3, 3.0, 3.0), three, 300, 300, methods=WITH_PLAIN)
    yield Cell("absent: 3 classes, LR, 5 folds", group, Gaussian(3, 4.0), three, 300, 300, validation=5)
    five = (0.0, 0.0, 0.2, 0.3, 0.5)
    yield Cell("absent: 5 classes, LR", group, Gaussian(5, 3.0, 10), five, 500, 1000)
    ten = (0.0, *(np.arange(1, 10) / 45).round(6))
    ten = (*ten[:-1], 1 - sum(ten[:-1]))
    yield Cell("absent: 10 classes, LR", group, Gaussian(10, 3.5, 10), ten, 1000, 1000, simulations=1000)
    yield Cell("absent: 2 classes, LR", group, Gaussian(2, 2.0), (1.0, 0.0), 300, 500, methods=BINARY)
    yield Cell("absent: 2 classes, forest", group, Gaussian(2, 2.0, 8), (1.0, 0.0), 500, 500, "forest", simulations=FEW)


def _rare() -> Iterator[Cell]:
    group = "Rare classes and wrong posteriors"
    yield Cell("rare: forest, .001", group, Gaussian(2, 3.0, 8), (0.999, 0.001), 1000, 5000, "forest", simulations=FEW)
    yield Cell(
        "rare: LR 4,000 labelled, .02",
        group,
        Gaussian(2, 2.0, 8),
        (0.98, 0.02),
        4000,
        10_000,
        methods=BINARY_WITH_PLAIN,
    )
    for share in (0.02, 0.001):
        name = f"rare: too sure, {share}"
        yield Cell(name, group, Scores(2, 2.0, 3.0), (1 - share, share), 400, 5000, methods=BINARY_WITH_PLAIN)
    wrong = "wrong: LR 200 labelled, 10k"
    yield Cell(wrong, group, Gaussian(2, 2.0, 20), (0.7, 0.3), 200, 10_000, methods=BINARY_WITH_PLAIN)
    for learner in ("NB", "tree"):
        world = Gaussian(2, 2.0, 4, copies=4)
        yield Cell(f"wrong: {learner}", group, world, (0.8, 0.2), 500, 2000, learner, methods=BINARY_WITH_PLAIN)
        yield Cell(f"wrong: {learner}, .01", group, world, (0.99, 0.01), 500, 2000, learner, methods=BINARY)
    yield Cell("wrong: NB, 3 classes", group, Gaussian(3, 2.5, 4, copies=4), (0.02, 0.18, 0.8), 500, 1000, "NB")
    yield Cell(
        "wrong: forest, 3 classes", group, Gaussian(3, 2.5, 8), (0.05, 0.25, 0.7), 500, 1000, "forest", simulations=FEW
    )
    natural = (0.95, 0.05)
    yield Cell(
        "rare: labelled rare too",
        group,
        Gaussian(2, 2.5),
        (0.9, 0.1),
        400,
        1000,
        labelled_shares=natural,
        methods=BINARY,
    )
    for n, share in ((200, 0.001), (200, 0.02), (1000, 0.001)):
        yield Cell(
            f"level 99: LR {n} labelled, {share}",
            "Level 99 %",
            Gaussian(2, 2.5),
            (1 - share, share),
            n,
            2000,
            level=0.99,
        )


def _folds() -> Iterator[Cell]:
    group = "Folds"
    wide = Gaussian(2, 3.0, 156)
    for validation in (5, 2, 0.4):
        how = "held-out part" if validation == 0.4 else f"{validation} folds"
        cell = Cell(
            f"folds: 158 features, 200 labelled, {how}", group, wide, (0.7, 0.3), 200, 2000, validation=validation
        )
        yield replace(cell, methods=BINARY)
    yield Cell("folds: 158 features, 200 labelled, 5 folds, .02", group, wide, (0.98, 0.02), 200, 2000, validation=5)
    forest = Gaussian(2, 2.0, 8)
    yield Cell("folds: forest, 5 folds", group, forest, (0.8, 0.2), 1000, 2000, "forest", validation=5, simulations=FEW)
    yield Cell("folds: NB, 5 folds", group, Gaussian(2, 2.0, 4, copies=4), (0.8, 0.2), 500, 2000, "NB", validation=5)
    yield Cell("folds: 3 classes, 60 labelled", group, Gaussian(3, 3.0), (0.02, 0.18, 0.8), 60, 500, validation=5)
    yield Cell(
        "folds: 5 classes, 500 labelled",
        group,
        Gaussian(5, 3.0, 10),
        (0.1, 0.1, 0.2, 0.2, 0.4),
        500,
        1000,
        validation=5,
    )
    yield Cell(
        "folds: LR 1,000 labelled, 10k",
        group,
        Gaussian(2, 2.0, 20),
        (0.9, 0.1),
        1000,
        10_000,
        validation=5,
        methods=BINARY,
    )


def _counting() -> Iterator[Cell]:
    group = "CC and PCC, truly no shift"
    for shares in ((0.9, 0.1), (0.5, 0.5)):
        name = f"no shift: {shares[1]}"
        world = Gaussian(2, 2.0)
        yield Cell(name, group, world, shares, 500, 5000, methods=("CC", "PCC"), labelled_shares=shares)
    three = (0.1, 0.3, 0.6)
    yield Cell(
        "no shift: 3 classes", group, Gaussian(3, 2.5), three, 500, 5000, methods=("CC", "PCC"), labelled_shares=three
    )
    yield Cell(
        "no shift: NB",
        group,
        Gaussian(2, 2.0, 4, copies=4),
        (0.8, 0.2),
        500,
        5000,
        "NB",
        ("CC", "PCC"),
        labelled_shares=(0.8, 0.2),
    )
    kindle = (0.15, 0.85)
    yield Cell(
        "no shift: kindle",
        group,
        Texts("kindle_devices"),
        kindle,
        500,
        1000,
        "text LR",
        ("CC", "PCC"),
        kindle,
        simulations=FEW,
    )


def _regions() -> Iterator[Cell]:
    group = "Regions for all classes at once"
    rare = (0.02, 0.18, 0.8)
    yield Cell("region: 3 classes, 60 labelled, LR", group, Gaussian(3, 3.0), rare, 60, 500)
    yield Cell(
        "region: 3 classes, 60 labelled, scores", group, Scores(3, 2.0), rare, 60, 500, methods=WITH_PLAIN, reported=()
    )
    yield Cell("region: 3 classes, 300 labelled, LR", group, Gaussian(3, 3.0), rare, 300, 1000)
    yield Cell("region: 5 classes, 150 labelled, LR", group, Gaussian(5, 3.5), (0.05, 0.1, 0.15, 0.3, 0.4), 150, 500)
    rates = ((0.95, 0.05, 0.0), (0.05, 0.95, 0.0), (0.1, 0.1, 0.8))
    for shares in ((0.5, 0.5, 0.0), (0.48, 0.48, 0.04)):
        name = f"boundary: decisions, 30 items, {shares[2]}"
        yield Cell(name, group, Confusion(rates), shares, 300, 30, methods=("ACC",))
    never = Gaussian(3, 1.2)
    labelled = (0.6, 0.36, 0.04)
    yield Cell(
        "never decided: 3 classes",
        group,
        never,
        (0.5, 0.3, 0.2),
        300,
        500,
        labelled_shares=labelled,
        methods=SUMS,
        identified=False,
    )
    yield Cell("twins: 3 classes", group, Gaussian(3, 3.0, twins=2), (0.2, 0.4, 0.4), 300, 500, identified=False)


def _comparisons() -> Iterator[Cell]:
    group = "Differences"
    half = (0.9, 0.1), (0.5, 0.5)
    few = Cell(
        "difference: .1 to .5, 50 labelled",
        group,
        Gaussian(2, 2.0),
        half[0],
        50,
        500,
        kind="difference",
        second=half[1],
    )
    yield replace(few, methods=BINARY)
    yield replace(few, name="difference: .1 to .5, 50 labelled, 5 folds", validation=5)
    weak = Gaussian(2, 0.742)  # AUC .7
    yield replace(few, name="difference: .1 to .5, AUC .7", world=weak, labelled=300, identified=False)
    yield replace(
        few, name="difference: .3 to .4, 300 labelled", shares=(0.7, 0.3), second=(0.6, 0.4), labelled=300, target=1000
    )
    three = (0.2, 0.3, 0.5)
    yield replace(
        few,
        name="difference: 3 classes",
        world=Gaussian(3, 2.5),
        shares=three,
        second=(0.5, 0.3, 0.2),
        labelled=90,
        methods=ALL,
    )
    group = "Differences where nothing has changed"
    same = Cell(
        "no change: .3, 50 labelled", group, Gaussian(2, 2.0), (0.7, 0.3), 50, 500, kind="difference", second=(0.7, 0.3)
    )
    yield replace(same, methods=BINARY)
    both = (0.998, 0.002)
    yield replace(
        same,
        name="no change: both .002, LR",
        shares=both,
        second=both,
        labelled=400,
        target=2000,
        methods=BINARY_WITH_PLAIN,
    )
    yield replace(
        same, name="no change: both .002, scores", world=Scores(2, 3.0), shares=both, second=both, labelled=400, target=2000,
        methods=WITH_PLAIN, reported=(),
    )  # fmt: skip
    yield replace(same, name="no change: AUC .7", world=weak, labelled=300)
    yield replace(same, name="no change: nothing told apart", world=Gaussian(2, 0.0), labelled=100, methods=BINARY)
    yield replace(
        same,
        name="no change: twins",
        world=Gaussian(3, 3.0, twins=2),
        shares=three,
        second=three,
        labelled=300,
        identified=False,
    )
    same_decisions = ((0.7, 0.3, 0.0), (0.3, 0.7, 0.0), (0.5, 0.5, 0.0))
    yield replace(
        same, name="no change: class never decided for", world=Confusion(same_decisions), shares=three, second=three, labelled=300,
        methods=("ACC",), identified=False,
    )  # fmt: skip
    yield replace(
        same,
        name="no change: 3 classes, one absent",
        world=Gaussian(3, 3.0),
        shares=(0, 0.3, 0.7),
        second=(0, 0.3, 0.7),
        labelled=150,
    )
    yield replace(
        same,
        name="no change: forest, 5 folds",
        world=Gaussian(2, 2.0, 8),
        learner="forest",
        labelled=300,
        validation=5,
        simulations=FEW,
    )
    group = "Families of comparisons where nothing has changed"
    for kind in ("first", "previous"):
        months = Cell(
            f"12 months: against the {kind}", group, Gaussian(2, 2.0), (0.7, 0.3), 300, 300, kind="family", family_kind=kind,
            simulations=1000,
        )  # fmt: skip
        yield months
        yield replace(
            months,
            name=f"12 months: 3 classes, against the {kind}",
            world=Gaussian(3, 2.5),
            shares=(0.1, 0.3, 0.6),
            simulations=600,
        )
        yield replace(months, name=f"12 months: .01, against the {kind}", shares=(0.99, 0.01), simulations=600)


def _texts() -> Iterator[Cell]:
    group = "Real texts"
    hp, kindle = (0.1, 0.9), (0.15, 0.85)
    categories, trec = Texts("amazon_categories"), Texts("trec6")
    questions = (0.015, 0.21, 0.23, 0.22, 0.155, 0.17)
    for validation in (0.4, 5):
        how = "" if validation == 0.4 else f", {validation} folds"
        text = Cell(
            f"imdb: 800 labelled, .55{how}", group, Texts("imdb"), (0.45, 0.55), 800, 1000, "text LR", validation=validation, check=True,
            simulations=FEW,
        )  # fmt: skip
        yield text
        yield replace(
            text, name=f"kindle: 500 labelled, .6{how}", world=Texts("kindle_devices"), shares=(0.4, 0.6), labelled=500,
            labelled_shares=kindle,
        )  # fmt: skip
        yield replace(
            text, name=f"hp: 1,000 labelled, .99{how}", world=Texts("amazon_devices_hp"), shares=(0.01, 0.99), labelled=1000,
            labelled_shares=hp,
        )  # fmt: skip
        absent = (0.0, 0.1, 0.2, 0.3, 0.4)
        categories_cell = replace(
            text,
            name=f"categories: one absent{how}",
            world=categories,
            shares=absent,
            labelled=1000,
            labelled_shares=(0.2,) * 5,
        )
        yield categories_cell
        yield replace(
            text,
            name=f"trec6: 1,000 labelled{how}",
            world=trec,
            shares=questions,
            labelled=1000,
            target=500,
            labelled_shares=questions,
        )
        yield replace(text, name=f"imdb: NB, .1{how}", learner="text NB", shares=(0.9, 0.1))
    yield replace(categories_cell, name="categories: NB, one absent", learner="text NB", validation=0.4)
    yield replace(categories_cell, name="categories: none absent, 5 folds", shares=(0.1, 0.1, 0.2, 0.2, 0.4))


def _informative() -> Iterator[Cell]:
    group = "Intervals that say nothing"
    for separation, labelled, validation, auc in (
        (2.2, 100, 0.4, 0.9),
        (2.2, 40, 5, 0.9),
        (1.5, 200, 0.4, 0.8),
        (1.5, 80, 5, 0.8),
    ):
        items = round(labelled / 2 * (validation if validation < 1 else 1))
        how = "held-out part" if validation < 1 else f"{validation} folds"
        yield Cell(
            f"vacuous: {items} validation items a class, {how}", group, Gaussian(2, separation), (0.7, 0.3), labelled, 500,
            methods=BINARY, validation=validation, auc=auc,
        )  # fmt: skip
    yield Cell(
        "vacuous: 3 classes, 20 a class",
        group,
        Gaussian(3, 2.6),
        (0.2, 0.3, 0.5),
        150,
        500,
        validation=0.4,
        auc=0.9,
        simulations=1000,
    )
    yield Cell(
        "vacuous: imdb, 40 a class",
        group,
        Texts("imdb"),
        (0.45, 0.55),
        200,
        1000,
        "text LR",
        validation=0.4,
        auc=0.8,
        simulations=FEW,
    )


def _stable() -> Iterator[Cell]:
    group = "Stability over seeds and names"
    imdb = Cell(
        "seeds: imdb, 800 labelled, default validation", group, Texts("imdb"), (0.45, 0.55), 800, 1000, "text LR", validation=None,
        kind="stability", simulations=40,
    )  # fmt: skip
    yield imdb
    yield replace(imdb, name="seeds: imdb, 800 labelled, held-out part", validation=0.4, reported=ALL)
    yield Cell(
        "names: 3 classes, LR", group, Gaussian(3, 2.5), (0.2, 0.3, 0.5), 300, 500, kind="rename", simulations=50
    )
    yield Cell(
        "names: 2 classes, LR",
        group,
        Gaussian(2, 2.0),
        (0.9, 0.1),
        200,
        500,
        kind="rename",
        methods=BINARY,
        simulations=50,
    )


def _friendly() -> Iterator[Cell]:
    shares_of = {2: [(0.98, 0.02), (0.8, 0.2), (0.5, 0.5)], 3: [(0.02, 0.18, 0.8), (0.2, 0.3, 0.5)]}
    for estimand in ("population", "sample"):
        for k, settings in shares_of.items():
            for labelled, target in ((200, 500), (200, 2000), (1000, 500), (1000, 2000)):
                for shares in settings:
                    yield Cell(
                        f"scores, {estimand}: {labelled} labelled, {target} items, {', '.join(map(str, shares))}",
                        f"True posteriors under equal shares, {estimand}", Scores(k, 2.0), shares, labelled, target,
                        methods=BINARY_WITH_PLAIN if k == 2 else WITH_PLAIN, estimand=estimand, reported=(), simulations=1000,
                    )  # fmt: skip
    for shares in (*shares_of[2], *shares_of[3]):
        yield Cell(
            f"bootstrap: 200 labelled, 500 items, {', '.join(map(str, shares))}", "Bootstrap", Scores(len(shares), 2.0), shares, 200, 500,
            methods=(*SUMS, "SLD plain"), interval="bootstrap", reported=(*SUMS, "SLD plain"), simulations=FEW,
        )  # fmt: skip


def all_cells() -> list[Cell]:
    """Return all cells in the order of the page."""
    families = (_absent, _rare, _folds, _counting, _regions, _comparisons, _texts, _informative, _stable, _friendly)
    cells = [cell for family in families for cell in family()]
    assert len({cell.name for cell in cells}) == len(cells)
    return cells
