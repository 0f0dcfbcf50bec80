"""Results of a search: the outcomes of all candidates, averaged over folds, as a data frame."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from headcount._validation import plain
from headcount.errors import ErrorMeasure
from headcount.selection.candidates import Candidate
from headcount.selection.ranks import average_ranks
from headcount.selection.tasks import Outcome

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["as_frame", "collect"]


def collect(parts: Sequence[Sequence[Outcome]], n_candidates: int) -> list[Outcome]:
    """Merge the outcomes of all groups and folds into one for each candidate, scores averaged over folds."""
    by_candidate: list[list[Outcome]] = [[] for _ in range(n_candidates)]
    for part in parts:
        for outcome in part:
            by_candidate[outcome.index].append(outcome)
    return [_merge_folds(outcomes) for outcomes in by_candidate]


def _merge_folds(folds: list[Outcome]) -> Outcome:
    failed = next((fold for fold in folds if fold.error), None)
    names = [] if failed else list(folds[0].scores)
    # Sorted, so that the bits of a mean do not depend on which fold ended first.
    scores = {name: float(np.mean(sorted(fold.scores[name] for fold in folds))) for name in names}
    return Outcome(
        folds[0].index,
        scores,
        sum(fold.fit_seconds for fold in folds),
        sum(fold.score_seconds for fold in folds),
        list(dict.fromkeys(text for fold in folds for text in fold.warnings)),
        failed.error if failed else "",
        list(dict.fromkeys(text for fold in folds for text in fold.not_converged)),
    )


def as_frame(
    candidates: Sequence[Candidate],
    outcomes: Sequence[Outcome],
    measures: Sequence[ErrorMeasure],
    deciding: ErrorMeasure,
) -> "pd.DataFrame":
    """Return one row for each candidate; one that failed has NaN for its scores and its rank."""
    import pandas as pd

    names = list(dict.fromkeys(name for candidate in candidates for name in candidate.params))
    rows: list[dict[str, Any]] = []
    for candidate, outcome in zip(candidates, outcomes, strict=True):
        row: dict[str, Any] = {"quantifier": candidate.method, "classifier": candidate.learner}
        row |= {f"param_{name}": plain(candidate.params.get(name)) for name in names}
        row |= {measure.name: outcome.scores.get(measure.name, np.nan) for measure in measures}
        row |= {"rank": np.nan, "fit_seconds": outcome.fit_seconds, "score_seconds": outcome.score_seconds}
        row |= {"converged": not outcome.not_converged and not outcome.error}
        row |= {"warnings": "; ".join(outcome.warnings), "error": outcome.error, "params": candidate.params}
        rows.append(row)
    frame = pd.DataFrame(rows)
    frame["rank"] = average_ranks(frame[deciding.name].to_numpy(), deciding.lower_is_better)
    return frame
