"""The work of a search, in pieces that can be done anywhere: fit what a group of candidates rests on, and score each of them."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from headcount._recording import recorded_warnings
from headcount._threads import one_blas_thread
from headcount._typing import AnyArray, FloatArray, Items
from headcount._validation import encode, quoted
from headcount.errors import ErrorMeasure
from headcount.exceptions import DataError
from headcount.learners import Fits, Need, Outputs
from headcount.protocols import Samples
from headcount.quantifiers import Quantifier
from headcount.selection.candidates import Candidate

__all__ = ["Fold", "Outcome", "fit_through", "judge", "outputs_of"]


@dataclass(frozen=True)
class Fold:
    """A part to fit on, and a part to judge on with the samples drawn from it."""

    fits: Fits
    X: Items
    y: AnyArray
    samples: Samples
    true: FloatArray
    classes: AnyArray
    minority: Any
    again: tuple[Samples, FloatArray] | None = None
    """More samples with their shares, by whose errors no score is changed."""


@dataclass
class Outcome:
    """What became of one candidate on one fold."""

    index: int
    scores: dict[str, float] = field(default_factory=dict)
    fit_seconds: float = 0.0
    score_seconds: float = 0.0
    warnings: list[str] = field(default_factory=list)
    error: str = ""
    errors: dict[str, FloatArray] = field(default_factory=dict)
    """The error of each sample, by measure of shares."""
    again: dict[str, FloatArray] = field(default_factory=dict)
    """The like of the fold's further samples."""


def judge(candidates: Sequence[Candidate], fold: Fold, measures: Sequence[ErrorMeasure]) -> list[Outcome]:
    """Fit and score the candidates of one group; one that fails says why, and the others go on."""
    fits = fold.fits.scope()
    scored: dict[tuple[int, Need], tuple[Any, Outputs]] = {}
    outcomes = []
    for candidate in candidates:
        outcome = Outcome(candidate.index)
        with recorded_warnings() as caught, one_blas_thread():
            try:
                _judge(candidate.quantifier, fits, fold, measures, scored, outcome)
            except Exception as error:
                outcome.error = f"{type(error).__name__}: {error}"
        outcome.warnings = list(dict.fromkeys(f"{type(warning).__name__}: {warning}" for warning in caught))
        outcomes.append(outcome)
    return outcomes


def _judge(
    quantifier: Quantifier,
    fits: Fits,
    fold: Fold,
    measures: Sequence[ErrorMeasure],
    scored: dict[tuple[int, Need], tuple[Any, Outputs]],
    outcome: Outcome,
) -> None:
    start, fits.seconds = time.perf_counter(), 0.0
    fitted = fit_through(quantifier, fits)
    fitting = time.perf_counter() - start
    outcome.fit_seconds = fits.seconds or fitting
    start = time.perf_counter()
    needs = set(fitted.needs)
    if any(measure.of == "decisions" for measure in measures):
        needs.add("decisions")
    outputs = outputs_of(fitted, fold, needs, scored)
    estimated = None
    for measure in measures:
        if measure.of == "decisions":
            decided = fitted.classes_[outputs.need("decisions")]
            outcome.scores[measure.name] = float(measure(fold.y, decided, minority=fold.minority))
            continue
        if estimated is None:
            estimated = fitted.aggregate(outputs, fold.samples)[:, encode(fold.classes, fitted.classes_, "the labels")]
        errors = np.asarray(measure(fold.true, estimated, fold.samples.sizes), dtype=np.float64)
        outcome.errors[measure.name] = errors
        outcome.scores[measure.name] = float(np.mean(errors))
        if fold.again is not None:
            samples, true = fold.again
            shares = fitted.aggregate(outputs, samples)[:, encode(fold.classes, fitted.classes_, "the labels")]
            outcome.again[measure.name] = np.asarray(measure(true, shares, samples.sizes), dtype=np.float64)
    wrong = [name for name, value in outcome.scores.items() if not np.isfinite(value)]
    if wrong:
        raise DataError(f"The score {quoted(wrong)} is not a finite number.")
    outcome.score_seconds = time.perf_counter() - start


def fit_through(quantifier: Quantifier, fits: Fits) -> Quantifier:
    """Return a clone of the quantifier, fitted on the data of the fits and, where it rests on a classifier, through them."""
    new: Quantifier = clone(quantifier)
    return new.fit_through(fits)


def outputs_of(
    fitted: Quantifier, fold: Fold, needs: set[Need], scored: dict[tuple[int, Need], tuple[Any, Outputs]]
) -> Outputs:
    """Score the fold's items once for each classifier and need; `scored` keeps them with their classifier."""
    classifier = getattr(fitted, "classifier_", None)
    if classifier is None:
        return fitted.outputs(fold.X)
    found: dict[str, Any] = {}
    for need in sorted(needs):
        key = id(classifier), need
        if key not in scored:
            scored[key] = classifier, fitted.outputs(fold.X, {need})
        found[need] = getattr(scored[key][1], need)
    return Outputs(fitted.classes_, len(fold.y), **found)
