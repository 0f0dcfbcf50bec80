"""Small tables that scikit-learn brings, in training and test parts: data sets that are at hand anywhere."""

from collections.abc import Callable
from typing import Any

import numpy as np

from headcount.data.corpus import Corpus

__all__ = ["BUNDLED", "draw_bundled"]

_SEED = 20261118
_TEST_SHARE = 0.4


def _whole(name: str) -> Callable[[], tuple[Any, Any]]:
    def load() -> tuple[Any, Any]:
        from sklearn import datasets

        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        return X, y

    return load


def _against_rest(name: str, wanted: Callable[[Any], Any]) -> Callable[[], tuple[Any, Any]]:
    def load() -> tuple[Any, Any]:
        X, y = _whole(name)()
        return X, wanted(y).astype(np.int64)

    return load


BUNDLED: dict[str, Callable[[], tuple[Any, Any]]] = {
    "breast-cancer": _whole("breast_cancer"),
    "iris": _whole("iris"),
    "wine": _whole("wine"),
    "digits-mod-3": _against_rest("digits", lambda y: y % 3),
    "digits-even": _against_rest("digits", lambda y: y % 2 == 0),
    "digits-8": _against_rest("digits", lambda y: y == 8),
    "wine-0": _against_rest("wine", lambda y: y == 0),
    "diabetes-high": _against_rest("diabetes", lambda y: y > np.quantile(y, 0.75)),
}
"""Loader of each table, by name; of some, one class or several stand against the rest."""


def draw_bundled(name: str) -> tuple[Corpus, Corpus]:
    """Return the training and the test part of a table, split by class with a fixed seed, scaled by the training part's range.

    >>> train, test = draw_bundled("wine-0")
    >>> test
    Corpus(72 items of 13 features, classes 0 0.667, 1 0.333)
    """
    from sklearn.model_selection import train_test_split

    X, y = BUNDLED[name]()
    rows_train, rows_test = train_test_split(np.arange(len(y)), test_size=_TEST_SHARE, stratify=y, random_state=_SEED)
    low, high = X[rows_train].min(axis=0), X[rows_train].max(axis=0)
    scaled = (X - low) / np.where(high > low, high - low, 1.0)
    train, test = (Corpus(scaled[rows], y[rows], f"scikit-learn: {name}") for rows in (rows_train, rows_test))
    return train, test
