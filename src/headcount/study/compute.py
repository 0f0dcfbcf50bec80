"""Compute a task: fit its members and judge them on validation samples, or test them on test samples.

What a task computes depends on this module, on `data` and on the classes of its members (`Task.code`), and on nothing else here.
"""

from collections.abc import Sequence
from typing import Any

from headcount.errors import ErrorMeasure
from headcount.selection.tasks import Fold, Outcome, Scored, estimate_shares, fit_timed, judge, outputs_of, record
from headcount.study.store import to_plain

__all__ = ["judged", "not_converged", "tested", "unconverged_fits"]

_NOT_CONVERGED = "ConvergenceWarning: "
"""How the record of scikit-learn's warning starts, which learners give for a fit that did not reach its stated gap."""


def judged(members: Sequence[Any], fold: Fold, measures: Sequence[ErrorMeasure]) -> list[dict[str, Any]]:
    """Judge members of a task on the held-out part by these measures; return what is stored of each."""
    return [{"scores": outcome.scores, **_recorded_fields(outcome)} for outcome in judge(members, fold, measures)]


def tested(members: Sequence[Any], fold: Fold) -> list[dict[str, Any]]:
    """Fit members of a task on all labelled items and estimate the shares of the test samples; return what is stored of each."""
    fits = fold.fits.scope()
    scored: Scored = {}
    stored = []
    for member in members:
        outcome, estimated = Outcome(member.index), None
        with record(outcome):
            fitted = fit_timed(member.quantifier, fits, outcome)
            outputs = outputs_of(fitted, fold, set(fitted.needs), scored)
            estimated = to_plain(estimate_shares(fitted, outputs, fold.samples, fold.classes))
        stored.append({"estimated": estimated, **_recorded_fields(outcome)})
    return stored


def _recorded_fields(outcome: Outcome) -> dict[str, Any]:
    return {"fit_seconds": outcome.fit_seconds, "warnings": outcome.warnings, "error": outcome.error}


def not_converged(entry: dict[str, Any]) -> list[str]:
    """Return the first line of what the warnings of a member's fits say of convergence; empty if all fits converged.

    >>> not_converged({"warnings": ["ConvergenceWarning: SVMperf at C=10: gap 0.1.", "UserWarning: x"]})
    ['SVMperf at C=10: gap 0.1.']
    """
    texts = [text.removeprefix(_NOT_CONVERGED) for text in entry["warnings"] if text.startswith(_NOT_CONVERGED)]
    return [text.strip().partition("\n")[0].rstrip(":") for text in texts]


def unconverged_fits(members: Sequence[Any], entries: Sequence[dict[str, Any]]) -> list[str]:
    """Return learner and setting of each fit of a task that did not converge, with what the learner said."""
    texts = (
        f"{member.learner or member.method} {member.setting_text}: {text}"
        for member, entry in zip(members, entries, strict=True)
        for text in not_converged(entry)
    )
    return list(dict.fromkeys(texts))
