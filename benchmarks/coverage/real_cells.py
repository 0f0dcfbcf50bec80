"""The cells over real texts and tables, with held-out parts and with folds."""

from collections.abc import Iterator
from dataclasses import replace

from benchmarks.coverage.cell import FEW, Cell
from benchmarks.coverage.real import Table, Texts


def texts() -> Iterator[Cell]:
    imdb = Cell("imdb: 800 labelled, .55", "Real texts", Texts("imdb"), (0.45, 0.55), 800, 1000, "text LR", check=True)
    imdb = replace(imdb, simulations=FEW)
    kindle = replace(
        imdb, name="kindle: 500 labelled, .6", world=Texts("kindle_devices"), shares=(0.4, 0.6), labelled=500
    )
    kindle = replace(kindle, labelled_shares=(0.15, 0.85))
    hp = replace(
        imdb, name="hp: 1,000 labelled, .99", world=Texts("amazon_devices_hp"), shares=(0.01, 0.99), labelled=1000
    )
    hp = replace(hp, labelled_shares=(0.1, 0.9))
    absent = (0.0, 0.1, 0.2, 0.3, 0.4)
    one_absent = replace(
        imdb, name="categories: one absent", world=Texts("amazon_categories"), shares=absent, labelled=1000
    )
    none_absent = replace(one_absent, name="categories: none absent", shares=(0.1, 0.1, 0.2, 0.2, 0.4))
    questions = (0.015, 0.21, 0.23, 0.22, 0.155, 0.17)
    trec = replace(
        imdb, name="trec6: 1,000 labelled", world=Texts("trec6"), shares=questions, labelled=1000, target=500
    )
    trec = replace(trec, labelled_shares=questions)
    shifted = replace(trec, name="trec6: shares reversed", shares=(0.05, 0.3, 0.05, 0.1, 0.2, 0.3))
    naive = replace(imdb, name="imdb: NB, .1", learner="text NB", shares=(0.9, 0.1))
    naive_absent = replace(one_absent, name="categories: NB, one absent", learner="text NB")
    for cell in (imdb, kindle, hp, one_absent, none_absent, trec, shifted, naive, naive_absent):
        yield cell
        yield replace(cell, name=f"{cell.name}, 5 folds", validation=5)


def tables() -> Iterator[Cell]:
    spam = Cell(
        "spambase: LR",
        "Real tables",
        Table("league_binary/44_spambase"),
        (0.9, 0.1),
        500,
        1000,
        "scaled LR",
        check=True,
    )
    spam = replace(spam, simulations=FEW)
    forest = replace(spam, name="spambase: forest", learner="forest")
    phoneme = replace(spam, name="phoneme: NB", world=Table("league_binary/1489_phoneme"), learner="NB")
    stars = replace(spam, name="pulsars: LR", world=Table("league_binary/HTRU"), shares=(0.99, 0.01))
    houses = replace(
        spam, name="houses, 6 classes: LR", world=Table("league_ordinal/californiahousing_gago"), labelled=900
    )
    # Neighbouring classes of these ordered ones are hardly told apart: intervals of nearly everything are right.
    houses = replace(houses, shares=(0.05, 0.1, 0.15, 0.3, 0.3, 0.1), identified=False)
    skill = replace(
        spam, name="skill, 7 classes: LR", world=Table("league_ordinal/SkillCraft1_rev_7clases"), labelled=1000
    )
    skill = replace(skill, labelled_shares=(0.05, 0.1, 0.165, 0.24, 0.24, 0.185, 0.02), target=500)
    skill = replace(skill, shares=(0.1, 0.2, 0.2, 0.2, 0.2, 0.1, 0.0), identified=False)
    for cell in (spam, forest, phoneme, stars, houses, skill):
        yield cell
        if cell.learner != "forest":  # forests with folds are slow, and other cells have them
            yield replace(cell, name=f"{cell.name}, 5 folds", validation=5)
