"""Leagues for tests: one that is computed from five tiny tables, and made-up standings with errors of one's choice."""

import textwrap

import numpy as np
import pandas as pd

from headcount.report.league import Entrant, LeagueContents, SetFacts, Standings
from headcount.report.league.contents import ranked_views
from headcount.report.league.standing import SHIFTS
from headcount.study import Results, read_plan, run_study

PLAN = """
name = "small-league"
title = "A <small> league"
league = true
data_sets = ["*"]
seed = 7

[protocol]
validation_repeats = 2
held_out = 0.4
inner = 2

[[protocol.parts]]
name = "grid, 40 items"
kind = "app"
sample_size = 40
n_samples = 21

[[protocol.parts]]
name = "grid, 80 items"
kind = "app"
sample_size = 80
n_samples = 21

[[protocol.parts]]
name = "as they are, 40 items"
kind = "natural"
sample_size = 40
n_samples = 10

[learners.lr]
class = "sklearn.linear_model.LogisticRegression"
grid = { C = [0.1, 1.0] }

[[methods]]
names = ["CC", "PACC"]
learners = ["lr"]
targets = ["none", "ae"]

[[methods]]
names = ["SLD", "HDy"]
learners = ["lr"]

[[methods]]
names = ["MLPE"]
"""
TABLES = {"a": (2, 0.5), "b": (2, 0.85), "c": (2, 0.3), "like-a": (2, 0.5), "three": (3, 0.4)}
"""Data sets with their number of classes and the share of the first class."""


def write_table(path, n_classes, share, seed):
    """Write a table whose first feature tells the classes apart with some errors."""
    rng = np.random.default_rng(seed)
    shares = np.full(n_classes, (1.0 - share) / (n_classes - 1))
    shares[0] = share
    y = rng.choice(n_classes, 500, p=shares)
    X = rng.normal(size=(500, 3)) + 1.3 * y[:, None] * [1.0, 0.5, 0.0]
    X = 1.0 / (1.0 + np.exp(-X))  # from 0 to 1, as sets of a league are
    frame = pd.DataFrame(X, columns=["x", "y1", "z"]).assign(y=y, part=np.repeat(["train", "test"], 250))
    frame.to_parquet(path)


class WithItems(Results):
    """Results whose store says that two sets are made of the same items: by a hash of these, or by the name of the other."""

    def __init__(self, *arguments, by="items"):
        super().__init__(*arguments)
        self.by = by

    def truth(self, data_set):
        name = data_set.rpartition("/")[2]
        said = (
            {"items": "hash of a"} if self.by == "items" else {"same_items_as": "other a" if name == "like-a" else ""}
        )
        hashed = {} if name in ("a", "like-a") else {"items": name}
        return {**super().truth(data_set), "items": "", "same_items_as": "", **(hashed or said)}


def computed_league(folder):
    """Run a league over five tables; return plan and store."""
    (folder / "tables").mkdir()
    for i, (name, (n_classes, share)) in enumerate(TABLES.items()):
        write_table(folder / "tables" / f"{name}.parquet", n_classes, share, i)
    (folder / "league.toml").write_text(textwrap.dedent(PLAN))
    plan = read_plan(folder / "league.toml").found_in([str(folder / "tables")])
    summary = run_study(plan, folder / "store", n_jobs=1)
    assert not summary.failures
    return plan, folder / "store"


def made_up(errors, *, names=None, units=None, kinds=None, learners=None):
    """Return standings with these errors by the first measure: a row each data set, a column each method."""
    errors = np.asarray(errors, dtype=float)
    n, k = errors.shape
    rng = np.random.default_rng(0)
    names = names or [f"M{j}" for j in range(k)]
    sets = [
        SetFacts(
            name=f"set {i}",
            kind=kinds[i] if kinds else "tables",
            classes=("0", "1"),
            n_train=(200, 800, 4000)[i % 3],
            n_test=100,
            rarest=(0.05, 0.2, 0.4)[i % 3],
            training=(0.95, 0.05),
            unit=f"set {units[i] if units else i}",
        )
        for i in range(n)
    ]
    plan = read_plan("league").on([facts.name for facts in sets])
    parts = ["", *(part.name for part in plan.protocol.parts)]
    scales = np.linspace(1.0, 1.4, len(parts))
    noise = 1.0 + 0.2 * rng.random((n, k, len(parts)))
    ae = np.round(errors[:, :, None] * np.where(np.arange(len(parts)) == 0, 1.0, noise * scales), 8)
    return Standings(
        plan=plan,
        sets=sets,
        entrants=[Entrant(name, learners[j] if learners else "lr", "none") for j, name in enumerate(names)],
        parts=parts,
        errors={"ae": ae, "rae": np.round(3.0 * ae, 8)},
        bias=ae - 0.01,
        by_shift=np.round(errors[:, :, None] * (1.0 + rng.random(len(SHIFTS))), 8),
        seconds=0.01 + rng.random((n, k)),
        runs=np.where(np.isfinite(errors), 1, 0),
        of=np.ones((n, k), dtype=int),
    )


def contents_of(standings):
    """Return what the page shows of made-up standings."""
    return LeagueContents(standings, ranked_views(standings), [], [("plan", "made up")], [])
