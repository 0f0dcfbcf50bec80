"""What is kept between runs: posteriors and scores of each repetition, each in a file that is written whole or not at all."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from studies.ordinal_league import ours, published
from studies.ordinal_league.fits import LEAGUE, fitted_sides
from studies.ordinal_league.published import Task
from studies.ordinal_league.recipe import draw_bags, read_table, scores, split


def sides(folder: Path, part: Any, repetition: int, learner: str, cut: bool) -> dict[str, Any]:
    """Return the posteriors of both sides of a repetition, from the store or fitted now."""
    path = folder / f"{repetition}-{learner}.npz"
    if not path.exists():
        setting = None
        if learner != LEAGUE:
            setting = tuple(int(x) for x in sides(folder, part, repetition, LEAGUE, cut)["setting"])
        fitted = fitted_sides(part, learner, setting, cut)
        folder.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f"{path.stem}.{os.getpid()}.partial")
        with partial.open("wb") as file:
            np.savez_compressed(file, **fitted)
        partial.replace(path)
    with np.load(path) as kept:
        return dict(kept)


def repetition_scores(
    table: Path,
    store: Path,
    repetition: int,
    learner: str,
    n_bags: int,
    cut: bool = False,
    skipped: frozenset[str] = frozenset(),
) -> list[dict[str, Any]]:
    """Return the mean score of each method over the bags of a repetition; what the store has is not run again."""
    folder = store / table.stem
    path = folder / f"{repetition}-{learner}-{n_bags}.json"
    known: dict[str, float] = json.loads(path.read_text()) if path.exists() else {}
    wanted = [*published.METHODS, *ours.METHODS] if learner == LEAGUE else [*published.METHODS]
    missing = [name for name in wanted if name not in known and name not in skipped]
    if missing:
        part = split(*read_table(table), repetition)
        both = sides(folder, part, repetition, learner, cut)
        rows, true = draw_bags(part.y_test, part.n_classes, part.seed, n_bags)
        task = Task(part, both["train"], both["test"], rows)
        for name in missing:
            method = published.METHODS.get(name) or ours.METHODS[name]
            known[name] = float(scores(true, method(task)).mean())
        partial = path.with_name(f"{path.stem}.{os.getpid()}.partial")
        partial.write_text(json.dumps(known))
        partial.replace(path)
    return [
        {"set": table.stem, "repetition": repetition, "learner": learner, "method": name, "score": known[name]}
        for name in wanted
        if name in known
    ]
