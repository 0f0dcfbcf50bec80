"""All that the page of a study shows, as plain data: gathered once from the store, then written as HTML, JSON or CSV."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headcount import __version__
from headcount.data import PAPER_SETS
from headcount.report import series
from headcount.report.claims import Claim, claims
from headcount.report.figures import Errors
from headcount.report.table import Table
from headcount.report.tables import tables
from headcount.report.words import in_words
from headcount.study import Results

__all__ = ["Contents", "gather"]


@dataclass(frozen=True)
class Contents:
    """What a study found, ready to be shown.

    Attributes
    ----------
    title : str
    words : list of str
        Sentences on what won, and how surely.
    tables : list of Table
    claims : list of Claim
    diagonals, shifts, biases, ranks, times : list
        What the plots show.
    classes : dict
        Of each data set.
    data_sets, learners, methods : list of str
        What can be filtered by.
    measure : str
        Of the plots.
    missing : list of str
        What the store lacks.
    provenance : list of (what, value)
    """

    title: str
    words: list[str]
    tables: list[Table]
    claims: list[Claim]
    diagonals: list[series.Curve]
    shifts: list[series.Curve]
    biases: list[series.Bias]
    ranks: list[series.Ranks]
    times: list[series.Spent]
    classes: dict[str, list[str]]
    data_sets: list[str]
    learners: list[str]
    methods: list[str]
    measure: str
    missing: list[str]
    provenance: list[tuple[str, str]]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain lists and dicts."""
        whole = {
            "title": self.title,
            "words": self.words,
            "claims": [claim.to_dict() for claim in self.claims],
            "tables": [
                {"title": table.title, "caption": table.caption, "cells": table.to_records()} for table in self.tables
            ],
            **{
                name: series.as_records(getattr(self, name))
                for name in ("diagonals", "shifts", "biases", "ranks", "times")
            },
            "missing": self.missing,
            "provenance": [{"what": what, "value": value} for what, value in self.provenance],
        }
        plain: dict[str, Any] = _finite(whole)
        return plain


def _finite(value: Any) -> Any:
    """Return plain data with None for what is not a finite number: JSON has no word for it."""
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def gather(results: Results) -> Contents:
    """Return what a store has of a plan. Nothing is fitted."""
    errors, plan = Errors(results), results.plan
    ranks = series.rank_chart(errors)
    truths = {name: results.truth(name) for name in plan.data_sets}
    return Contents(
        title=plan.title,
        words=in_words(errors, ranks),
        tables=tables(results, errors),
        claims=claims(results, errors),
        diagonals=series.diagonals(errors),
        shifts=series.shifts(errors, results),
        biases=series.biases(errors, results),
        ranks=ranks,
        times=series.times(results),
        classes={name: list(truth["classes"]) for name, truth in truths.items() if truth is not None},
        data_sets=list(plan.data_sets),
        learners=list(dict.fromkeys(learner.name for _, learner in plan.rows() if learner is not None)),
        methods=list(dict.fromkeys(method.name for method in plan.methods)),
        measure=plan.measures[0],
        missing=_missing(results),
        provenance=_provenance(results),
    )


def _missing(results: Results) -> list[str]:
    """Say what there are no figures of, whole data sets and learners in one sentence each, and what was wrong in the store."""
    groups: dict[tuple[str, str], list[Any]] = {}
    for cell in results.cells:
        groups.setdefault((cell.data_set, cell.learner), []).append(cell)
    said = []
    for (data_set, learner), cells in groups.items():
        lacking = [cell for cell in cells if cell.missing]
        name = f"{data_set}, {learner or 'methods without a learner of the plan'}"
        if len(lacking) == len(cells):
            said.append(f"{name}: nothing ({_reasons(lacking)}).")
        elif lacking:
            uses = dict.fromkeys(f"{cell.method} for {cell.target}" for cell in lacking)
            named = ", ".join(list(uses)[:6]) + (f" and {len(uses) - 6} more" if len(uses) > 6 else "")
            said.append(
                f"{name}: {len(lacking)} of {len(cells)} runs are missing ({named}; {_reasons(lacking)}); "
                "means are over the others."
            )
    return said + results.notices


def _reasons(cells: Sequence[Any]) -> str:
    return "; ".join(list(dict.fromkeys(cell.missing for cell in cells))[:3])


def _provenance(results: Results) -> list[tuple[str, str]]:
    """Say what the figures rest on: plan, seed, protocol, grids, data, versions."""
    plan, own = results.plan, results.plan.protocol
    said = [
        ("plan", f"{plan.name}, seed {plan.seed}"),
        (
            "protocol",
            f"{own.n_prevalences} prevalences; samples of {own.sample_size}; {own.validation_repeats} of each to choose settings "
            f"on {own.held_out:.0%} of the labelled part, {own.test_repeats} of each to test; methods with parameters of their "
            f"own hold out {own.inner:.0%} of their training part",
        ),
        ("runs", _runs(results)),
    ]
    for learner in plan.learners:
        grid = "; ".join(f"{name} in {', '.join(map(str, values))}" for name, values in learner.grid.items())
        said.append((f"learner {learner.name}", f"{learner.maker.rpartition('.')[2]}: {grid or 'at its defaults'}"))
    for name in plan.data_sets:
        truth = results.truth(name)
        if truth is None:
            said.append((name, "no results"))
            continue
        shares = ", ".join(f"{c} {p:.3f}" for c, p in zip(truth["classes"], truth["training"], strict=True))
        own_set = " the paper's own;" if name in PAPER_SETS else ""
        fingerprint = (results.fingerprint(name) or "")[:12]
        said.append(
            (
                name,
                f"{truth['n_train']:,} labelled documents ({shares}), {truth['n_test']:,} to test on;{own_set} "
                f"fingerprint {fingerprint}",
            )
        )
    for versions, n in results.versions:
        said.append(
            (f"computed with, {n:,} results", ", ".join(f"{name} {number}" for name, number in versions.items()))
        )
    said.append(("page made by", f"headcount {__version__}, from the store {Path(results.store.folder).name}"))
    return said


def _runs(results: Results) -> str:
    counts: dict[int, list[str]] = {}
    for method in results.plan.methods:
        counts.setdefault(method.runs, []).append(method.name)
    return "; ".join(f"{n} of {', '.join(names)}" for n, names in sorted(counts.items(), reverse=True))
