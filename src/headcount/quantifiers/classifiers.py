"""Fit the classifier of a quantifier: on all labelled items, or beside a validation part on which the method learns."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import clone

from headcount._typing import IntArray
from headcount._validation import plain, quoted
from headcount.exceptions import DataError
from headcount.learners import BlackBox, Fits, Outputs, with_posteriors
from headcount.quantifiers.base import DEFAULT_VALIDATION

__all__ = ["fit_classifier", "fit_validated", "new_classifier"]

_FORMER_DEFAULT = 0.4
"""Accepted with a frozen classifier as meaning nothing: it was the default of ``validation`` before cross-fitting."""


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
    """Fit the classifier beside validation items; keep these, their codes and folds, and its outputs for them.

    Sets ``classifier_``, ``validation_outputs_``, ``validation_codes_``, ``validation_folds_``, ``validation_items_``,
    ``validation_repeats_`` (how often the splitter validates the item that it validates most often) and, where there is a design,
    ``validation_design_``. With folds ``classifier_`` is the fold classifiers together (cross-fitting) and the outputs are theirs,
    each on the items it was not trained on; with ``refit=True`` it is another classifier, fitted on all items.
    """
    if isinstance(fits.X, Outputs):
        quantifier.classifier_ = fit_classifier(quantifier, fits, codes)
        rows, folds, outputs, items = np.arange(len(codes)), np.zeros(len(codes), dtype=np.int64), fits.X, None
    else:
        rows, folds, outputs = _fit_parts(quantifier, fits, codes)
        items = fits.part(None if _is_everything(rows, len(codes)) else rows)[0]
    quantifier.validation_outputs_, quantifier.validation_codes_ = outputs, codes[rows]
    quantifier.validation_folds_, quantifier.validation_items_ = folds, items
    quantifier.validation_repeats_ = int(np.bincount(rows).max())
    if fits.design is not None:
        quantifier.validation_design_ = fits.design.random_part(rows)
        _require_clusters(quantifier)
    elif "validation_design_" in vars(quantifier):  # of an earlier fit
        del quantifier.validation_design_
    absent = np.bincount(quantifier.validation_codes_, minlength=len(quantifier.classes_)) == 0
    if absent.any():
        raise DataError(
            f"The validation part has no items of class {quoted(quantifier.classes_[absent])}: {type(quantifier).__name__} must "
            "see every class there. Label more items, or use another validation split."
        )


def _require_clusters(quantifier: Any) -> None:
    """Raise if all validation items of a class lie in one cluster, which does not tell how much clusters differ."""
    clusters = quantifier.validation_design_.clusters
    if clusters is None:
        return
    for j, label in enumerate(quantifier.classes_):
        of_class = clusters[quantifier.validation_codes_ == j]
        if of_class.size and (of_class == of_class[0]).all():
            raise DataError(
                f"All {of_class.size:,} labelled items of class {quoted([label])} that {type(quantifier).__name__} learns from are "
                "in one cluster: how much clusters differ can't be told from one. Label items of this class in more clusters."
            )


def _fit_parts(quantifier: Any, fits: Fits, codes: IntArray) -> tuple[IntArray, IntArray, Outputs]:
    """Fit the classifier or the fold classifiers; return rows, folds and outputs of the validation items."""
    splits = _splits(quantifier, fits, codes)
    for train, _ in splits:
        lost = np.setdiff1d(codes, codes[train])
        if lost.size:
            raise DataError(
                f"validation={quantifier.validation!r} leaves no items of class {quoted(quantifier.classes_[lost])} to train on: "
                "use a stratified split, or label more items."
            )
    learners = [new_classifier(quantifier, codes[train]) for train, _ in splits]
    fitted = fits.fit_folds(learners, [train for train, _ in splits])
    parts = [
        fits.score(classifier, held_out, quantifier.needs, quantifier.classes_)
        for classifier, (_, held_out) in zip(fitted.classifiers_, splits, strict=True)
    ]
    if quantifier.refit:
        quantifier.classifier_ = fit_classifier(quantifier, fits, codes)
    else:
        quantifier.classifier_ = fitted if len(splits) > 1 else fitted.classifiers_[0]
    rows = np.concatenate([held_out for _, held_out in splits])
    folds = np.repeat(np.arange(len(splits)), [len(held_out) for _, held_out in splits])
    outputs = Outputs.concatenated(parts)
    order = np.argsort(rows, kind="stable")
    if not _is_everything(rows[order], len(codes)) or len(splits) == 1:
        return rows, folds, outputs
    # Folds that cover every item once are put into the order of the items, so that these need no copy.
    return rows[order], folds[order], outputs.take(order)


def _is_everything(rows: IntArray, n_items: int) -> bool:
    return len(rows) == n_items and bool((rows == np.arange(n_items)).all())


def _splits(quantifier: Any, fits: Fits, codes: IntArray) -> list[tuple[Any, Any]]:
    """Return pairs of rows: to train on, to validate on."""
    validation = quantifier.validation
    if quantifier._is_frozen():
        if validation not in (DEFAULT_VALIDATION, _FORMER_DEFAULT):
            raise DataError(
                "With a frozen classifier all data given to fit is the validation part: "
                f"leave validation at its default (got {validation!r})."
            )
        everything = np.arange(len(codes))
        return [(everything, everything)]
    if quantifier.refit and isinstance(validation, Real) and not isinstance(validation, Integral):
        raise DataError(
            f"refit=True is for folds: with validation={validation!r} the rates would be those of another classifier than the one "
            "that is refitted, from fewer items. Omit refit, or pass a number of folds."
        )
    return fits.splits(validation, codes, quantifier.random_state)
