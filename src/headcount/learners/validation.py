"""Splitting labelled items into a part that trains the classifier and validation items, from which its error rates are learnt."""

from collections.abc import Iterator
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from headcount._typing import IntArray, RandomState
from headcount._validation import HasMethods, Interval, integers_from, seed_of
from headcount.exceptions import DataError

__all__ = ["VALIDATION_CONSTRAINTS", "Validation", "validation_parts"]

Validation: TypeAlias = Any
"""A fraction to hold out, a number of folds, or a scikit-learn splitter."""


VALIDATION_CONSTRAINTS = [Interval(Real, 0, 1, closed="neither"), *integers_from(2), HasMethods("split")]


def validation_parts(
    validation: Validation,
    codes: IntArray,
    random_state: RandomState,
    name: str = "validation",
    clusters: IntArray | None = None,
) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield pairs of row numbers: to train on, to validate on. Fractions and folds are stratified by class.

    Folds are as many as asked for or, where a class has fewer items, as many as the rarest class has, so that each fold has some.
    Items of one cluster stay together.

    >>> parts = list(validation_parts(0.4, np.repeat([0, 1], 5), 0))
    >>> [len(part) for part in parts[0]]
    [6, 4]
    """
    from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

    rarest = int(np.bincount(codes).min())
    rows = np.zeros((len(codes), 1))
    if hasattr(validation, "split"):
        yield from validation.split(rows, codes) if clusters is None else validation.split(rows, codes, clusters)
    elif clusters is not None:
        yield from _parts_of_clusters(validation, codes, clusters, random_state, name)
    elif isinstance(validation, int | np.integer):
        if rarest < 2:
            raise DataError(
                f"{name}={validation} folds need at least 2 labelled items of each class; the rarest has {rarest}. "
                "Label more items."
            )
        folds = StratifiedKFold(min(int(validation), rarest), shuffle=True, random_state=seed_of(random_state))
        yield from folds.split(rows, codes)
    else:
        if rarest < 2:
            raise DataError(
                f"{name}={validation} holds out a part with items of every class, so at least 2 labelled items of each "
                f"class are needed; the rarest has {rarest}. Label more items."
            )
        splitter = StratifiedShuffleSplit(1, test_size=float(validation), random_state=seed_of(random_state))
        try:
            train, held_out = next(splitter.split(rows, codes))
        except ValueError as error:
            raise DataError(f"{name}={validation} can't split {len(codes)} items: {error}") from error
        lost = np.setdiff1d(np.unique(codes), codes[held_out]).size + np.setdiff1d(np.unique(codes), codes[train]).size
        if lost:
            raise DataError(
                f"{name}={validation} leaves one part of the split without items of the rarest class, which has {rarest}. "
                "Label more items, hold out a larger fraction, or use folds."
            )
        yield train, held_out


def _parts_of_clusters(
    validation: Validation, codes: IntArray, clusters: IntArray, random_state: RandomState, name: str
) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield pairs of row numbers such that no cluster is in both; a fraction holds out one of several folds, or several."""
    from sklearn.model_selection import StratifiedGroupKFold

    pairs = np.unique(np.column_stack([codes, clusters]), axis=0)
    fewest = int(np.bincount(pairs[:, 0]).min())
    if fewest < 2:
        raise DataError(
            f"{name}={validation} must keep clusters together, and some class has items in {fewest} cluster only: items of each "
            "class must lie in at least 2 clusters. Label items of more clusters."
        )
    whole = isinstance(validation, int | np.integer)
    n_folds = min(int(validation) if whole else 10, fewest)
    splitter = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed_of(random_state))
    parts = list(splitter.split(np.zeros((len(codes), 1)), codes, clusters))
    if whole:
        yield from parts
        return
    n_held_out = min(max(round(float(validation) * n_folds), 1), n_folds - 1)
    held_out = np.sort(np.concatenate([part for _, part in parts[:n_held_out]]))
    yield np.setdiff1d(np.arange(len(codes)), held_out), held_out
