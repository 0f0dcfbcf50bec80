"""The work of a search, in pieces that can run anywhere: fit the candidates of a group and score each on drawn samples."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce
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

__all__ = ["Fold", "Outcome", "Scored", "estimate_shares", "fit_through", "fit_timed", "judge", "outputs_of", "record"]

Scored = dict[tuple[int, Need], tuple[Any, Outputs]]
"""Outputs of a fold's items by id of the classifier and need. The classifier is kept with them, so that its id stays taken."""


@dataclass(frozen=True)
class Fold:
    """A part of the items to fit on, and a part to judge on with the samples drawn from it."""

    fits: Fits
    X: Items
    y: AnyArray
    samples: Samples
    true: FloatArray
    classes: AnyArray
    minority: Any


@dataclass
class Outcome:
    """The scores of one candidate on one fold, or the error that it ended with."""

    index: int
    scores: dict[str, float] = field(default_factory=dict)
    fit_seconds: float = 0.0
    score_seconds: float = 0.0
    warnings: list[str] = field(default_factory=list)
    error: str = ""
    not_converged: list[str] = field(default_factory=list)
    """The convergence warnings of its classifiers' fits."""
    errors: dict[str, FloatArray] = field(default_factory=dict)
    """The error of each sample, by measure of shares."""


def judge(candidates: Sequence[Candidate], fold: Fold, measures: Sequence[ErrorMeasure]) -> list[Outcome]:
    """Fit and score the candidates of one group, in order; the error of one that fails is recorded, and the others go on."""
    fits = fold.fits.scope()
    scored: Scored = {}
    outcomes = []
    for candidate in candidates:
        outcome = Outcome(candidate.index)
        with record(outcome):
            _judge(candidate.quantifier, fits, fold, measures, scored, outcome)
        outcomes.append(outcome)
    return outcomes


@contextmanager
def record(outcome: Outcome) -> Iterator[None]:
    """Record the warnings of a block, and the error that it ends with, in an outcome; BLAS has one thread."""
    with recorded_warnings() as caught, one_blas_thread():
        try:
            yield
        except Exception as error:
            outcome.error = f"{type(error).__name__}: {error}"
    outcome.warnings = list(dict.fromkeys(f"{type(warning).__name__}: {warning}" for warning in caught))


def _judge(
    quantifier: Quantifier,
    fits: Fits,
    fold: Fold,
    measures: Sequence[ErrorMeasure],
    scored: Scored,
    outcome: Outcome,
) -> None:
    fitted = fit_timed(quantifier, fits, outcome)
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
            estimated = estimate_shares(fitted, outputs, fold.samples, fold.classes)
        errors = np.asarray(measure(fold.true, estimated, fold.samples.sizes), dtype=np.float64)
        outcome.errors[measure.name] = errors
        outcome.scores[measure.name] = float(np.mean(errors))
    invalid = [name for name, value in outcome.scores.items() if not np.isfinite(value)]
    if invalid:
        raise DataError(f"The score {quoted(invalid)} is not a finite number.")
    outcome.score_seconds = time.perf_counter() - start


def fit_through(quantifier: Quantifier, fits: Fits) -> Quantifier:
    """Return a clone of the quantifier, fitted on the data of the fits and, if it has a classifier, through them."""
    new: Quantifier = clone(quantifier)
    return new.fit_through(fits)


def fit_timed(quantifier: Quantifier, fits: Fits, outcome: Outcome) -> Quantifier:
    """Fit a clone of the quantifier; record the seconds and convergence warnings of its fits, even if made before for another."""
    start, fits.seconds, fits.not_converged = time.perf_counter(), 0.0, []
    fitted = fit_through(quantifier, fits)
    outcome.not_converged = list(dict.fromkeys(fits.not_converged))
    outcome.fit_seconds = fits.seconds or time.perf_counter() - start
    return fitted


def estimate_shares(fitted: Quantifier, outputs: Outputs, samples: Samples, classes: AnyArray) -> FloatArray:
    """Estimate the shares of each sample, columns in the order of ``classes``."""
    shares: FloatArray = fitted.aggregate(outputs, samples)[:, encode(classes, fitted.classes_, "the labels")]
    return shares


def outputs_of(fitted: Quantifier, fold: Fold, needs: set[Need], scored: Scored) -> Outputs:
    """Return the outputs of the fold's items; each classifier scores them once for each need, and `scored` keeps them."""
    classifier = getattr(fitted, "classifier_", None)
    if classifier is None:
        return fitted.outputs(fold.X)
    parts = []
    for need in sorted(needs):
        key = id(classifier), need
        if key not in scored:
            scored[key] = classifier, fitted.outputs(fold.X, {need})
        parts.append(scored[key][1])
    return reduce(Outputs.joined, parts) if parts else Outputs(fitted.classes_, len(fold.y))
