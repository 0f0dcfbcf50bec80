"""`Standings`: the errors of a league by data set, entrant (a method over a learner, optimised for a target) and part."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.errors import get_error
from headcount.report.league.sets import SetFacts, facts_of
from headcount.report.scores import label_of
from headcount.study import Cell, Results
from headcount.study.plan import DEFAULT, Plan

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ALL_PARTS", "DECIMALS", "SHIFTS", "Entrant", "Standings", "shift_names", "standings"]

ALL_PARTS = ""
"""Stands for the test samples of all parts together."""
DECIMALS = 8
"""Digits that mean errors are rounded to: further ones are noise of the arithmetic, which must not break ties."""
SHIFTS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
"""Least shift of each bin of the test samples: the mean distance of their shares from those of the training part."""


def shift_names() -> list[str]:
    """Return the names of the bins of shift."""
    return [*(f"{low:g} to {high:g}" for low, high in pairwise(SHIFTS)), f"{SHIFTS[-1]:g} and more"]


class Entrant(NamedTuple):
    """What is ranked: a method over a learner (empty for none), its settings chosen for a target."""

    method: str
    learner: str
    target: str

    @property
    def name(self) -> str:
        """The name among entrants of several learners and targets."""
        chosen = [] if self.target == DEFAULT else [f"chosen for {label_of(self.target)}"]
        return ", ".join([f"{self.method} {self.learner}".strip(), *chosen])


@dataclass(frozen=True, eq=False)
class Standings:
    """The errors of all entrants on all data sets.

    Attributes
    ----------
    plan : Plan
    sets : list of SetFacts
    entrants : list of Entrant
    parts : list of str
        Parts of the test samples, `ALL_PARTS` first.
    errors : dict of measure to array of shape (n_sets, n_entrants, n_parts)
        Mean errors over test samples and runs; NaN where there are none.
    bias : array of shape (n_sets, n_entrants, n_parts)
        Mean of estimated minus true share of the rarest class of the training part.
    by_shift : array of shape (n_sets, n_entrants, n_bins)
        Mean error by the first measure, of the samples in each bin of `SHIFTS`.
    seconds : array of shape (n_sets, n_entrants)
        Mean time of a fit.
    runs, of : arrays of shape (n_sets, n_entrants)
        Runs that the store has, and runs of the plan; no runs where the method does not suit the set.
    """

    plan: Plan
    sets: list[SetFacts]
    entrants: list[Entrant]
    parts: list[str]
    errors: dict[str, FloatArray]
    bias: FloatArray
    by_shift: FloatArray
    seconds: FloatArray
    runs: IntArray
    of: IntArray

    def to_frame(self) -> "pd.DataFrame":
        """Return a row for each data set, entrant and part."""
        import pandas as pd

        return pd.DataFrame(
            {
                "set": facts.name,
                "counts as": facts.unit,
                **entrant._asdict(),
                "part": part or "all",
                **{measure: _number(errors[i, j, k]) for measure, errors in self.errors.items()},
                "bias": _number(self.bias[i, j, k]),
                "runs": int(self.runs[i, j]),
                "of": int(self.of[i, j]),
                "seconds": _number(self.seconds[i, j]),
            }
            for i, facts in enumerate(self.sets)
            for j, entrant in enumerate(self.entrants)
            if self.of[i, j]
            for k, part in enumerate(self.parts)
        )


def standings(results: Results) -> Standings:
    """Return the standings of a league, from its store alone."""
    plan, sets = results.plan, facts_of(results)
    set_index = {facts.name: i for i, facts in enumerate(sets)}
    uses: dict[tuple[int, Entrant], list[Cell]] = {}
    for cell in results.cells:
        if cell.data_set in set_index:
            entrant = Entrant(cell.method, cell.learner, cell.target)
            uses.setdefault((set_index[cell.data_set], entrant), []).append(cell)
    planned = [
        Entrant(row.method.name, row.learner_name, target) for row in plan.rows() for target in row.method.targets
    ]
    entered = {entrant for _, entrant in uses}
    entrants = [entrant for entrant in planned if entrant in entered]
    slices = [results.parts(facts.name) for facts in sets]
    names = list(dict.fromkeys(name for parts in slices for name in parts if name))
    parts = [ALL_PARTS, *names] if len(names) > 1 else [ALL_PARTS]
    shape = len(sets), len(entrants)
    errors = {measure: np.full((*shape, len(parts)), np.nan) for measure in plan.measures}
    bias = np.full((*shape, len(parts)), np.nan)
    by_shift, seconds = np.full((*shape, len(SHIFTS)), np.nan), np.full(shape, np.nan)
    runs, of = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    for (i, entrant), cells in uses.items():
        j = entrants.index(entrant)
        done = [cell for cell in cells if cell.estimated is not None]
        runs[i, j], of[i, j] = len(done), len(cells)
        if not done:
            continue
        seconds[i, j] = np.mean([cell.seconds for cell in done])
        by_sample = {m: np.mean([cell.errors(m) for cell in done], axis=0) for m in plan.measures}
        rarest = int(np.argmin(sets[i].training))
        signed = np.mean([cell.estimated[:, rarest] - cell.true[:, rarest] for cell in done], axis=0)  # type: ignore[index]
        for k, part in enumerate(parts):
            rows = slice(None) if part == ALL_PARTS else slices[i].get(part)
            if rows is None:
                continue
            for measure, values in by_sample.items():
                errors[measure][i, j, k] = _mean(values[rows])
            bias[i, j, k] = _mean(signed[rows])
        by_shift[i, j] = _means_by_shift(done[0].true, sets[i].training, by_sample[plan.measures[0]])
    return Standings(plan, sets, entrants, parts, errors, bias, by_shift, seconds, runs, of)


def _means_by_shift(true: Any, training: Sequence[float], values: FloatArray) -> FloatArray:
    """Return the mean of the values of the samples in each bin of shift; NaN for a bin without samples."""
    shift = get_error("ae")(true, np.broadcast_to(training, true.shape), 0)
    bins = np.searchsorted(SHIFTS, np.round(shift, 9), side="right") - 1
    n = np.bincount(bins, minlength=len(SHIFTS))
    sums = np.bincount(bins, weights=values, minlength=len(SHIFTS))
    means: FloatArray = np.divide(sums, n, out=np.full(len(SHIFTS), np.nan), where=n > 0)
    return means


def _mean(values: FloatArray) -> float:
    return round(float(np.mean(values)), DECIMALS) if len(values) else np.nan


def _number(value: Any) -> float | None:
    return None if np.isnan(value) else float(value)
