"""The cells with differences and families of them, and the stability of an estimate over seeds and names of classes."""

from collections.abc import Iterator
from dataclasses import replace

from benchmarks.coverage.cell import ALL, BINARY, BINARY_WITH_PLAIN, FEW, WITH_PLAIN, Cell
from benchmarks.coverage.real import Texts
from benchmarks.coverage.worlds import Confusion, Gaussian, Scores

WEAK = Gaussian(2, 0.742)  # AUC .7


def differences() -> Iterator[Cell]:
    few = Cell(
        "difference: .1 to .5, 50 labelled", "Differences", Gaussian(2, 2.0), (0.9, 0.1), 50, 500, kind="difference"
    )
    few = replace(few, second=(0.5, 0.5))
    yield replace(few, methods=BINARY)
    yield replace(few, name="difference: .1 to .5, 50 labelled, 5 folds", validation=5)
    yield replace(few, name="difference: .1 to .5, AUC .7", world=WEAK, labelled=300)
    yield replace(few, name="difference: .1 to .5, AUC .7, 50 labelled", world=WEAK)
    slight = replace(few, name="difference: .3 to .4, 300 labelled", shares=(0.7, 0.3), second=(0.6, 0.4))
    yield replace(slight, labelled=300, target=1000)
    three = replace(
        few, name="difference: 3 classes", world=Gaussian(3, 2.5), shares=(0.2, 0.3, 0.5), second=(0.5, 0.3, 0.2)
    )
    yield replace(three, labelled=90)
    naive = replace(few, name="difference: NB", world=Gaussian(2, 2.0, 4, copies=4), learner="NB", labelled=300)
    yield replace(naive, target=2000)


def unchanged() -> Iterator[Cell]:
    group = "Differences where nothing has changed"
    same = Cell("no change: .3, 50 labelled", group, Gaussian(2, 2.0), (0.7, 0.3), 50, 500, kind="difference")
    yield replace(same, methods=BINARY)
    both = replace(same, name="no change: both .002, LR", shares=(0.998, 0.002), labelled=400, target=2000)
    yield replace(both, methods=BINARY_WITH_PLAIN)
    yield replace(both, name="no change: both .002, scores", world=Scores(2, 3.0), methods=WITH_PLAIN, reported=())
    yield replace(same, name="no change: AUC .7", world=WEAK, labelled=300)
    yield replace(same, name="no change: nothing told apart", world=Gaussian(2, 0.0), labelled=100, methods=BINARY)
    three = replace(
        same, name="no change: 3 classes, one absent", world=Gaussian(3, 3.0), shares=(0.0, 0.3, 0.7), labelled=150
    )
    yield three
    yield replace(three, name="no change: twins", world=Gaussian(3, 3.0, twins=2), shares=(0.2, 0.3, 0.5), labelled=300)
    rates = ((0.7, 0.3, 0.0), (0.3, 0.7, 0.0), (0.5, 0.5, 0.0))
    never = replace(three, name="no change: class never decided for", world=Confusion(rates), shares=(0.2, 0.3, 0.5))
    yield replace(never, methods=("ACC",))
    forest = replace(same, name="no change: forest, 5 folds", world=Gaussian(2, 2.0, 8), learner="forest", labelled=300)
    yield replace(forest, validation=5, simulations=FEW)
    text = replace(
        same, name="no change: kindle, 5 folds", world=Texts("kindle_devices"), learner="text LR", labelled=300
    )
    yield replace(text, shares=(0.3, 0.7), labelled_shares=(0.15, 0.85), validation=5, simulations=FEW)


def families() -> Iterator[Cell]:
    for kind in ("first", "previous"):
        group = "Families of comparisons where nothing has changed"
        months = Cell(f"12 months: against the {kind}", group, Gaussian(2, 2.0), (0.7, 0.3), 300, 300, family_kind=kind)
        months = replace(months, kind="family")
        yield months
        yield replace(months, name=f"12 months: .01, against the {kind}", shares=(0.99, 0.01))
        yield replace(months, name=f"12 months: 50 labelled, against the {kind}", labelled=50)
        three = replace(
            months, name=f"12 months: 3 classes, against the {kind}", world=Gaussian(3, 2.5), shares=(0.1, 0.3, 0.6)
        )
        yield three


def stable() -> Iterator[Cell]:
    group = "Stability over seeds and names"
    imdb = Cell(
        "seeds: imdb, 800 labelled, default validation", group, Texts("imdb"), (0.45, 0.55), 800, 1000, "text LR"
    )
    imdb = replace(imdb, validation=None, kind="stability", simulations=40)
    yield imdb
    yield replace(imdb, name="seeds: imdb, 800 labelled, held-out part", validation=0.4, reported=ALL)
    three = Cell(
        "names: 3 classes, LR", group, Gaussian(3, 2.5), (0.2, 0.3, 0.5), 300, 500, kind="rename", simulations=50
    )
    yield three
    yield replace(three, name="names: 2 classes, LR", world=Gaussian(2, 2.0), shares=(0.9, 0.1), methods=BINARY)
    yield replace(
        three, name="names: 2 classes, NB", world=Gaussian(2, 2.0), shares=(0.9, 0.1), methods=BINARY, learner="NB"
    )
