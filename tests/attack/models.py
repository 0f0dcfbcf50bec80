"""Forged model files: real ones, changed in their arrays, their description and their zip, with checksums that fit."""

import io
import random
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from headcount import ACC, CC, ELM, MLPE, PACC, PCC, SLD, HDy, NewtonLogisticRegression, SVMperf, TermWeights
from headcount.desk import fit_table, scored_model
from headcount.learners import BoostedTrees, FrankHall, Vote
from headcount.modelfile import Columns, Model, save_model
from tests.attack.forge import Members, changed_bytes, changed_members, members_of, mutated_content, resealed
from tests.attack.trial import Trial
from tests.conftest import blobs, scored_items
from tests.features.test_table_columns import tickets
from tests.laws.test_quantifiers import METHODS, limit_classes, make
from tests.modelfile.test_modelfile import texts

__all__ = ["forged_model", "plain_models"]

FIXTURES = Path(__file__).parents[1] / "modelfile"
Base = tuple[str, bytes, bytes]
"""Name of a model, its file, and a table of new items."""


def _numbers(quantifier: Any, k: int = 2) -> Callable[[Path], tuple[Model, pd.DataFrame]]:
    def make(_: Path) -> tuple[Model, pd.DataFrame]:
        X, y = blobs(120, k, 1)
        names = ("a", "b", "c", "d")
        source = {"name": "made.csv", "fingerprint": "0" * 64, "rows": len(y)}
        new = pd.DataFrame(blobs(40, k, 2)[0], columns=list(names))
        return Model(quantifier.fit(X, y), Columns("numbers", names, "y"), source=source, seed=0), new

    return make


def _texts(quantifier: Any) -> Callable[[Path], tuple[Model, pd.DataFrame]]:
    def make(_: Path) -> tuple[Model, pd.DataFrame]:
        X, y = texts(160)
        model = Model(quantifier.fit(X, np.where(y == 1, "good", "bad")), Columns("text", ("t",), "y"))
        return model, pd.DataFrame({"t": texts(40, 7)[0]})

    return make


def _mixed(folder: Path) -> tuple[Model, pd.DataFrame]:
    frame, team = tickets(160)
    frame.assign(team=team).to_csv(folder / "tickets.csv", index=False)
    return fit_table(folder / "tickets.csv", label="team", method="PACC", learner="lr"), tickets(40, 1)[0]


def _scored(folder: Path) -> tuple[Model, pd.DataFrame]:
    codes, P = scored_items(120, 2, 0)
    pd.DataFrame({"score_0": P[:, 0], "score_1": P[:, 1], "y": codes}).to_csv(folder / "labelled.csv", index=False)
    P = scored_items(40, 2, 1)[1]
    return scored_model(folder / "labelled.csv", label="y"), pd.DataFrame({"score_0": P[:, 0], "score_1": P[:, 1]})


def _fixture(_: Path) -> tuple[bytes, pd.DataFrame]:
    return (FIXTURES / "version-1.headcount").read_bytes(), pd.DataFrame(
        {"review": texts(40, 7)[0], "text": texts(40, 7)[0]}
    )


def _lr() -> Any:
    return NewtonLogisticRegression()


_MAKERS: dict[str, Callable[[Path], tuple[Any, pd.DataFrame]]] = {
    "text, folds": _texts(PACC(make_pipeline(TermWeights(), _lr()), validation=3, random_state=0)),
    "forest": _numbers(PACC(RandomForestClassifier(4, max_depth=4, random_state=0), random_state=0), 3),
    "boosting": _numbers(SLD(BoostedTrees(n_rounds=3), calibration="bcts", random_state=0)),
    "naive Bayes": _texts(ACC(make_pipeline(TermWeights(), MultinomialNB()), validation=3, random_state=0)),
    "mixed columns": _mixed,
    "scores": _scored,
    "vote": _numbers(PACC(Vote([_lr(), GaussianNB()]), random_state=0)),
    "cuts": _numbers(PACC(FrankHall(GaussianNB()), random_state=0), 3),
    "pipeline": _numbers(HDy(make_pipeline(StandardScaler(), LogisticRegression()), random_state=0)),
    "extra trees": _numbers(CC(ExtraTreesClassifier(3, max_depth=3, random_state=0)), 3),
    "margins": _numbers(ACC(LinearSVC(random_state=0), random_state=0), 3),
    "calibrated margins": _numbers(PACC(LinearSVC(random_state=0), random_state=0)),
    "ranking": _numbers(ELM(SVMperf(loss="kld"))),
    "counting": _numbers(PCC(GaussianNB())),
    "baseline": _numbers(MLPE()),
    "first version": _fixture,
}  # fmt: skip
_MADE_ABOVE = {"PACC", "SLD", "ACC", "HDy", "CC", "ELM", "PCC", "MLPE"}


def _method(kind: type[Any]) -> Callable[[Path], tuple[Model, pd.DataFrame]]:
    return _numbers(make(kind, _lr()), limit_classes(kind, 3))


_MAKERS |= {
    kind.__name__: _method(kind)
    for kind in METHODS
    if kind.__name__ not in _MADE_ABOVE | {"QuaNet", "QuantifierSearch"}
}
"""All other methods of the catalogue; QuaNet takes torch, and a search is saved as what it has chosen."""


@cache
def _base(name: str) -> Base:
    with tempfile.TemporaryDirectory() as folder:
        model, new = _MAKERS[name](Path(folder))
        if not isinstance(model, bytes):
            save_model(model, Path(folder) / "m.headcount")
            model = Path(folder, "m.headcount").read_bytes()
    table = io.StringIO()
    new.assign(g=["x", "y"] * (len(new) // 2)).to_csv(table, index=False)
    return name, model, table.getvalue().encode()


def plain_models(n: int) -> list[str]:
    """Return the names of the first kinds of models."""
    return list(_MAKERS)[:n]


def forged_model(number: int, seed: int, kinds: int) -> Trial:
    """Return the trial of a number: one of the first kinds of models, forged, and commands that read it."""
    generator = random.Random(f"model {seed} {number}")
    name, model, table = _base(generator.choice(plain_models(kinds)))
    forged, what = (model, "nothing") if number < kinds else _forged(model, generator)
    if number < kinds:
        name, forged, table = _base(plain_models(kinds)[number])
    rows = table.splitlines(keepends=True)
    files = {"m.headcount": forged, "new.csv": table, "ten.csv": b"".join(rows[:11])}
    few = ["--min-items", "1"]
    commands = [
        ["inspect", "m.headcount", *generator.choice(([], ["--json"]))],
        ["estimate", "m.headcount", "ten.csv", *few, *generator.choice(([], ["--json"], ["--by", "g"], ["--sample"]))],
        ["check", "m.headcount", "new.csv", *few],
    ]
    outputs: frozenset[str] = frozenset()
    if generator.random() < 0.2:
        commands.append(
            ["estimate", "m.headcount", "new.csv", "--by", "g", "-o", "out.csv", "--html", "out.html", *few]
        )
        outputs = frozenset({"out.csv", "out.html"})
    elif generator.random() < 0.2:
        commands.append(["compare", "m.headcount", "new.csv", "--by", "g", "--against", "all", *few])
    return Trial(files, commands, outputs, f"{name}: {what}")


def _forged(model: bytes, generator: random.Random) -> tuple[bytes, str]:
    """Change a model file; nearly always its checksums are made to fit again."""
    chance = generator.random()
    if chance < 0.04:
        return changed_bytes(model, generator), "bytes, not sealed again"
    members = members_of(model)
    if chance < 0.1:
        return changed_members(members, 0, generator)
    done = []
    for _ in range(generator.choice((1, 1, 2))):
        members, what = _with_changed_member(members, generator)
        done.append(what)
    try:
        members = resealed(members)
    except (ValueError, RecursionError):
        done.append("not sealed again")
    return changed_members(members, 0, generator)[0] if chance > 0.99 else _stored(members), "; ".join(done)


def _with_changed_member(members: Members, generator: random.Random) -> tuple[Members, str]:
    manifest = [i for i, (name, _) in enumerate(members) if name == "manifest.json"]
    i = manifest[0] if generator.random() < 0.15 else generator.randrange(len(members))
    if i == manifest[0] and len(members) == 2 and generator.random() < 0.6:
        i = 1 - i
    name, content = members[i]
    new, what = mutated_content(content, generator, members)
    return [*members[:i], (name, new), *members[i + 1 :]], f"{name}: {what}"


def _stored(members: Members) -> bytes:
    from tests.attack.forge import _zipped

    return _zipped(members, 0)
