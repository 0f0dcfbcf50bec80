"""All that the page of a study shows, as plain data: gathered once from the store, then written as HTML, JSON or CSV."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headcount._version import __version__
from headcount.data import PAPER_SETS
from headcount.report import series
from headcount.report.claims import Claim, claims
from headcount.report.figures import Errors
from headcount.report.reproduction import Reproduction, reproduction
from headcount.report.table import Table
from headcount.report.tables import tables
from headcount.report.words import in_words
from headcount.study import Results

__all__ = ["Contents", "gather", "missing_of"]


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
    reproduction : Reproduction
        Measured beside published figures.
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
    reproduction: Reproduction

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
            "classes": self.classes,
            "measure_of_shifts": self.measure,
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
        missing=missing_of(results),
        provenance=_provenance(results),
        reproduction=reproduction(errors),
    )


def missing_of(results: Results) -> list[str]:
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
    plan, protocol = results.plan, results.plan.protocol
    said = [
        ("plan", f"{plan.name}, seed {plan.seed}"),
        (
            "protocol",
            f"{protocol.n_prevalences} prevalences; samples of {protocol.sample_size}; {protocol.validation_repeats} of each to "
            f"choose settings on {protocol.held_out:.0%} of the labelled part, {protocol.test_repeats} of each to test; methods "
            f"with parameters of their own hold out {protocol.inner:.0%} of their training part",
        ),
        ("runs", _runs(results)),
    ]
    shown = {learner.name: learner for _, learner in plan.rows() if learner is not None}
    said += [
        (f"learner {own.name}", f"{own.maker.rpartition('.')[2]} over {own.representation}{_settings(own)}")
        for own in shown.values()
    ]
    said += [(f"method {own.name}", f"its own{_settings(own)}") for own in plan.methods if own.grid or own.parameters]
    said += [(f"{own.name} optimised for", ", ".join(own.targets)) for own in plan.methods]
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


def _settings(part: Any) -> str:
    """Say what of a learner or a method is fixed, and what is chosen from."""
    fixed = "; ".join(f"{name} = {value}" for name, value in part.parameters.items())
    grid = "; ".join(f"{name} in {', '.join(map(str, values))}" for name, values in part.grid.items())
    return (f"; with {fixed}" if fixed else "") + (f"; chosen from {grid}" if grid else "")


def _runs(results: Results) -> str:
    """Say how many runs of each method the plan has, and of which the store has fewer on some data set."""
    planned = {method.name: method.runs for method in results.plan.methods}
    done: dict[str, dict[Any, int]] = {name: {} for name in planned}
    for cell in results.cells:
        own, place = done[cell.method], (cell.data_set, cell.learner, cell.target)
        own[place] = own.get(place, 0) + (cell.estimated is not None)
    said = []
    for name, runs in planned.items():
        counts = sorted({n for n in done[name].values() if n})
        there = "none" if not counts else f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        said.append(f"{name} {there} of {runs}")
    return ", ".join(said)
