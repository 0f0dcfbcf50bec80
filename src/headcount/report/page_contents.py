"""`Contents`: everything that the page of a study shows, gathered once from the store, then written as HTML, JSON or CSV."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from headcount.data import PAPER_SETS
from headcount.report import series
from headcount.report.claims import Claim, claims
from headcount.report.differences import Differences, differences
from headcount.report.provenance import describe_parameters, describe_runs, describe_software
from headcount.report.reproduction import Reproduction, reproduction
from headcount.report.scores import Errors
from headcount.report.sentences import in_words
from headcount.report.settings import settings_table
from headcount.report.table import Table
from headcount.report.tables import tables
from headcount.study import Cell, Results
from headcount.study.plan import Plan

__all__ = ["Contents", "gather", "missing_of", "without_nan"]


@dataclass(frozen=True)
class Contents:
    """The results of a study, ready to be shown.

    Attributes
    ----------
    plan : Plan
    words : list of str
        Sentences on the best method and its lead.
    tables : list of Table
    claims : list of Claim
    settings : Table
        The settings that were chosen.
    mean_errors, prevalences, differences, diagonals, shifts, biases, ranks, times : list
        Data of the plots.
    classes : dict
        Names of the classes of each data set.
    missing : list of str
        Sentences on what the store lacks.
    provenance : list of (what, value)
        What the figures were computed from, and with.
    reproduction : Reproduction
        Measured figures compared with published ones.
    not_converged : list of (run, method, learner, data set, text)
        Fits that did not converge.
    """

    plan: Plan
    words: list[str]
    tables: list[Table]
    claims: list[Claim]
    settings: Table
    mean_errors: list[series.MeanError]
    prevalences: list[series.Curve]
    differences: list[Differences]
    diagonals: list[series.Curve]
    shifts: list[series.Curve]
    biases: list[series.Bias]
    ranks: list[series.Ranks]
    times: list[series.Spent]
    classes: dict[str, list[str]]
    missing: list[str]
    provenance: list[tuple[str, str]]
    reproduction: Reproduction
    not_converged: Sequence[tuple[int, str, str, str, str]]

    @property
    def agreement(self) -> list[Table]:
        """The number of figures that agree with the published ones, and these figures; empty if none can be compared."""
        compared = self.reproduction.comparisons
        return [self.reproduction.agreement(), self.reproduction.figures()] if compared else []

    def all_tables(self) -> list[Table]:
        """Return all tables: the paper's six, the chosen settings, and those of the agreement with the paper."""
        return [*self.tables, self.settings, *self.agreement]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain lists and dicts."""
        contents = {
            "title": self.plan.title,
            "words": self.words,
            "claims": [claim.to_dict() for claim in self.claims],
            "tables": [
                {"title": table.title, "caption": table.caption, "cells": table.to_records()}
                for table in self.all_tables()
            ],
            "reproduction": self.reproduction.in_words(),
            **{name: [_plotted(entry) for entry in getattr(self, name)] for name in _PLOTTED},
            "classes": self.classes,
            "measure_of_shifts": self.plan.measures[0],
            "not_converged": [dict(zip(_FIT, fit, strict=True)) for fit in self.not_converged],
            "missing": self.missing,
            "provenance": [{"what": what, "value": value} for what, value in self.provenance],
        }
        finite: dict[str, Any] = without_nan(contents)
        return finite


_ENDS = {"low": "percentile_10", "high": "percentile_90"}
"""Names in files of the ends of a band around means, which are the tenth and the ninetieth percentile."""
_PLOTTED = ("mean_errors", "prevalences", "differences", "diagonals", "shifts", "biases", "ranks", "times")
_FIT = ("run", "method", "learner", "data_set", "text")


def _plotted(entry: Any) -> dict[str, Any]:
    return {_ENDS.get(name, name): value for name, value in asdict(entry).items()}


def without_nan(value: Any) -> Any:
    """Replace NaN and infinite numbers by None: JSON has neither."""
    if isinstance(value, dict):
        return {key: without_nan(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def gather(results: Results) -> Contents:
    """Gather everything that the store has of a plan; nothing is fitted."""
    errors, plan = Errors(results), results.plan
    ranks = series.rank_chart(errors)
    truths = {name: results.truth(name) for name in plan.data_sets}
    return Contents(
        plan=plan,
        words=in_words(errors, ranks),
        tables=tables(results, errors),
        claims=claims(results, errors),
        settings=settings_table(errors),
        mean_errors=series.mean_errors(errors),
        prevalences=series.prevalences(errors),
        differences=list(filter(None, (differences(errors, measure) for measure in plan.measures))),
        diagonals=series.diagonals(errors),
        shifts=series.shifts(errors),
        biases=series.biases(errors),
        ranks=ranks,
        times=series.times(results),
        classes={name: list(truth["classes"]) for name, truth in truths.items() if truth is not None},
        missing=missing_of(results),
        provenance=_provenance(results),
        reproduction=reproduction(errors),
        not_converged=results.not_converged(),
    )


def missing_of(results: Results) -> list[str]:
    """Return sentences on figures that are missing, one for each data set and learner, and on files that can't be used."""
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in results.cells:
        groups.setdefault((cell.data_set, cell.learner), []).append(cell)
    sentences = []
    for (data_set, learner), cells in groups.items():
        missing = [cell for cell in cells if cell.missing]
        name = f"{data_set}, {learner or 'methods without a learner of the plan'}"
        if len(missing) == len(cells):
            sentences.append(f"{name}: there are no results ({_reasons(missing)}).")
        elif missing:
            uses = dict.fromkeys(f"{cell.method} for {cell.target}" for cell in missing)
            named = ", ".join(list(uses)[:6]) + (f" and {len(uses) - 6} more" if len(uses) > 6 else "")
            sentences.append(
                f"{name}: {len(missing)} of {len(cells)} runs are missing ({named}; {_reasons(missing)}); "
                "means are over the others."
            )
    return sentences + results.notices


def _reasons(cells: Sequence[Cell]) -> str:
    first_lines = (cell.missing.strip().partition("\n")[0].rstrip(".:") for cell in cells)
    return "; ".join(list(dict.fromkeys(first_lines))[:3])


def _provenance(results: Results) -> list[tuple[str, str]]:
    """Return what the figures depend on: plan, seed, protocol, grids, data, versions."""
    plan, protocol = results.plan, results.plan.protocol
    entries = [
        ("plan", f"{plan.name}, seed {plan.seed}"),
        (
            "protocol",
            f"{protocol.n_prevalences} prevalences; samples of {protocol.sample_size}; {protocol.validation_repeats} of each to "
            f"choose settings on {protocol.held_out:.0%} of the labelled part, {protocol.test_repeats} of each to test; methods "
            f"with a validation part hold out {protocol.inner:.0%} of their training part",
        ),
        ("runs", describe_runs(results)),
    ]
    learners = {row.learner_name: row.learner for row in plan.rows() if row.learner is not None}
    entries += [
        (
            f"learner {name}",
            f"{learner.maker.rpartition('.')[2]} over {learner.representation}{describe_parameters(learner)}",
        )
        for name, learner in learners.items()
    ]
    entries += [
        (f"method {m.name}", f"its own{describe_parameters(m)}") for m in plan.methods if m.grid or m.parameters
    ]
    entries += [(f"{m.name} optimised for", ", ".join(m.targets)) for m in plan.methods]
    entries += [(name, _data_set(results, name)) for name in plan.data_sets]
    return [*entries, *describe_software(results)]


def _data_set(results: Results, name: str) -> str:
    """Describe a data set: sizes, training shares, fingerprint."""
    truth = results.truth(name)
    if truth is None:
        return "no results"
    shares = ", ".join(f"{c} {p:.3f}" for c, p in zip(truth["classes"], truth["training"], strict=True))
    of_paper = " the paper's own;" if name in PAPER_SETS else ""
    fingerprint = (results.fingerprint(name) or "")[:12]
    return (
        f"{truth['n_train']:,} labelled documents ({shares}), {truth['n_test']:,} to test on;{of_paper} "
        f"fingerprint {fingerprint}"
    )
