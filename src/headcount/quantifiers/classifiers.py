"""Fit the classifier of a quantifier: on all labelled items, or beside a validation part on which the method learns."""

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import clone

from headcount._typing import IntArray
from headcount._validation import plain, quoted
from headcount.exceptions import DataError
from headcount.learners import BlackBox, Fits, Outputs, score, with_posteriors
from headcount.quantifiers.base import DEFAULT_VALIDATION

__all__ = ["fit_classifier", "fit_validated", "new_classifier"]


def new_classifier(quantifier: Any, codes: IntArray) -> Any:
    """Return an unfitted classifier for items with these codes, with posteriors if the quantifier needs them."""
    classifier = quantifier.default_classifier() if quantifier.classifier is None else clone(quantifier.classifier)
    return (
        with_posteriors(classifier, codes, len(quantifier.classes_)) if "posteriors" in quantifier.needs else classifier
    )


def fit_classifier(quantifier: Any, fits: Fits, codes: IntArray) -> Any:
    """Return the classifier fitted on all labelled items; a frozen one, or a black box's outputs, are taken as they are."""
    if isinstance(fits.X, Outputs):
        return BlackBox(tuple(plain(label) for label in quantifier.classes_)).fit()
    return fits.fit(new_classifier(quantifier, codes))


def fit_validated(quantifier: Any, fits: Fits, codes: IntArray) -> None:
    """Fit the classifier on a part of the labelled items; keep its outputs on the others and their codes.

    Sets ``classifier_``, ``validation_outputs_`` and ``validation_codes_``. With folds the outputs are those of the fold
    classifiers, each on the items it was not trained on, and ``classifier_`` is fitted on all items.
    """
    parts = list(_validation_parts(quantifier, fits, codes))
    quantifier.validation_outputs_ = Outputs.concatenated([outputs for outputs, _ in parts])
    quantifier.validation_codes_ = np.concatenate([part_codes for _, part_codes in parts])
    held_out = isinstance(quantifier.validation, Real) and not isinstance(quantifier.validation, Integral)
    if isinstance(fits.X, Outputs) or not (held_out or quantifier._is_frozen()):
        quantifier.classifier_ = fit_classifier(quantifier, fits, codes)
    absent = np.bincount(quantifier.validation_codes_, minlength=len(quantifier.classes_)) == 0
    if absent.any():
        raise DataError(
            f"The validation part has no items of class {quoted(quantifier.classes_[absent])}: {type(quantifier).__name__} must "
            "see every class there. Label more items, or use another validation split."
        )


def _validation_parts(quantifier: Any, fits: Fits, codes: IntArray) -> Iterator[tuple[Outputs, IntArray]]:
    """Yield the outputs and the codes of each validation part."""
    if isinstance(fits.X, Outputs):
        yield fits.X, codes
        return
    for train, held_out in _splits(quantifier, fits, codes):
        lost = np.setdiff1d(codes, codes[train])
        if lost.size:
            raise DataError(
                f"validation={quantifier.validation!r} leaves no items of class {quoted(quantifier.classes_[lost])} to train on: "
                "use a stratified split, or label more items."
            )
        quantifier.classifier_ = fits.fit(new_classifier(quantifier, codes[train]), train)
        items = fits.part(held_out)[0]
        yield score(quantifier.classifier_, items, quantifier.needs, quantifier.classes_), codes[held_out]


def _splits(quantifier: Any, fits: Fits, codes: IntArray) -> list[tuple[Any, Any]]:
    """Return pairs of rows: to train on, to validate on."""
    if not quantifier._is_frozen():
        return fits.splits(quantifier.validation, codes, quantifier.random_state)
    if quantifier.validation != DEFAULT_VALIDATION:
        raise DataError(
            "With a frozen classifier all data given to fit is the validation part: "
            f"leave validation at its default (got {quantifier.validation!r})."
        )
    everything = np.arange(len(codes))
    return [(everything, everything)]
