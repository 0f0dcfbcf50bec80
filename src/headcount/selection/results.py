"""What a search found: the outcomes of all candidates, over all folds, as a data frame."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from headcount._validation import plain
from headcount.errors import ErrorMeasure
from headcount.selection.candidates import Candidate
from headcount.selection.tasks import Outcome

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["as_frame", "collect"]


def collect(parts: Sequence[Sequence[Outcome]], n_candidates: int) -> list[Outcome]:
    """Bring the outcomes of all groups and folds together: one a candidate, scores averaged over folds."""
    found: list[list[Outcome]] = [[] for _ in range(n_candidates)]
    for part in parts:
        for outcome in part:
            found[outcome.index].append(outcome)
    return [_merged(outcomes) for outcomes in found]


def _merged(folds: list[Outcome]) -> Outcome:
    failed = next((fold for fold in folds if fold.error), None)
    scores = {} if failed else {name: _mean([fold.scores[name] for fold in folds]) for name in folds[0].scores}
    return Outcome(
        folds[0].index,
        scores,
        sum(fold.fit_seconds for fold in folds),
        sum(fold.score_seconds for fold in folds),
        list(dict.fromkeys(text for fold in folds for text in fold.warnings)),
        failed.error if failed else "",
    )


def _mean(values: list[float]) -> float:
    return float(np.mean(sorted(values)))  # in an order that does not depend on which fold was done first


def as_frame(
    candidates: Sequence[Candidate],
    outcomes: Sequence[Outcome],
    measures: Sequence[ErrorMeasure],
    deciding: ErrorMeasure,
) -> "pd.DataFrame":
    """Return a row a candidate; a failed one has no scores and no rank."""
    import pandas as pd

    keys = list(dict.fromkeys(key for candidate in candidates for key in candidate.params))
    rows: list[dict[str, Any]] = []
    for candidate, outcome in zip(candidates, outcomes, strict=True):
        classifier = getattr(candidate.quantifier, "classifier", None)
        row: dict[str, Any] = {"quantifier": type(candidate.quantifier).__name__}
        row["classifier"] = "" if classifier is None else type(classifier).__name__
        row |= {f"param_{key}": plain(candidate.params.get(key)) for key in keys}
        row |= {measure.name: outcome.scores.get(measure.name, np.nan) for measure in measures}
        row |= {"rank": np.nan, "fit_seconds": outcome.fit_seconds, "score_seconds": outcome.score_seconds}
        row |= {"warnings": "; ".join(outcome.warnings), "error": outcome.error, "params": candidate.params}
        rows.append(row)
    frame = pd.DataFrame(rows)
    scores = frame[deciding.name] if deciding.lower_is_better else -frame[deciding.name]
    frame["rank"] = scores.rank(method="first")
    return frame
