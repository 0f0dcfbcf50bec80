"""Learners to try on each kind of data, their settings, and the features that items are turned into first."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from headcount._typing import Items
from headcount._validation import quoted
from headcount.exceptions import UnknownNameError

__all__ = ["LEARNERS", "Kind", "Learner", "features_for", "kind_of", "learner_named"]

Kind: TypeAlias = Literal["text", "numbers", "embeddings", "table", "mixed"]
"""What items are: a table has numbers, categories and dates; mixed columns have texts too, or more columns than trees are for."""

_MANY_COLUMNS = 64
"""From this many columns on, dense items are treated as embeddings, on which trees are slow and of little use."""
_MOST_FOR_TREES = 50_000
_BALANCE: tuple[Any, ...] = (None, "balanced")


@dataclass(frozen=True)
class Learner:
    """A learner, the settings to try (the likeliest first) and the data that it suits."""

    name: str
    title: str
    kinds: tuple[Kind, ...]
    grid: dict[str, Sequence[Any]]
    most_items: int = 2**62

    def make(self, seed: int) -> Any:
        """Return the learner with its defaults."""
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.naive_bayes import MultinomialNB

        from headcount.learners import NewtonLinearSVC, NewtonLogisticRegression

        return {
            "lr": NewtonLogisticRegression,
            "svm": NewtonLinearSVC,
            "nb": MultinomialNB,
            "forest": lambda: RandomForestClassifier(100, random_state=seed),
        }[self.name]()

    def settings(self, seed: int) -> list[Any]:
        """Return the learner with each of the settings."""
        base = self.make(seed)
        return [clone(base).set_params(**setting) for setting in ParameterGrid(self.grid)]

    def first_setting(self) -> "Learner":
        """Return the learner with its likeliest setting alone."""
        return replace(self, grid={name: values[:1] for name, values in self.grid.items()})

    def unsuited(self, kind: Kind, n_items: int) -> str:
        """Return why the learner does not suit the data; empty if it does."""
        if kind not in self.kinds:
            return f"not for {kind}"
        return f"slow on more than {self.most_items:,} items" if n_items > self.most_items else ""


LEARNERS = (
    Learner(
        "lr",
        "logistic regression",
        ("text", "numbers", "embeddings", "table", "mixed"),
        {"C": [1.0, 10.0, 0.1, 100.0, 0.01], "class_weight": _BALANCE},
    ),
    Learner("nb", "naive Bayes", ("text",), {"alpha": [1.0, 0.1, 0.01]}),
    Learner("forest", "random forest", ("numbers", "table"), {"min_samples_leaf": [1, 5]}, _MOST_FOR_TREES),
    Learner(
        "svm",
        "linear support vector machine",
        ("text", "numbers", "embeddings", "table", "mixed"),
        {"C": [1.0, 0.1, 10.0], "class_weight": _BALANCE},
    ),
)


def learner_named(name: str) -> Learner:
    """Return the learner of this name."""
    for learner in LEARNERS:
        if name.lower() == learner.name:
            return learner
    known = [learner.name for learner in LEARNERS]
    raise UnknownNameError(f"There is no learner {name!r} to choose. There are: {quoted(known, 20)}.")


def kind_of(X: Items) -> Kind:
    """Return what the items are: texts, embeddings (many dense columns), other numbers, or columns of several kinds."""
    from scipy.sparse import issparse

    from headcount.features.column_names import column_kinds, is_mixed

    if issparse(X):
        return "embeddings"  # trees are as slow there
    if is_mixed(X):
        kinds = list(column_kinds(X).values())
        return "mixed" if {"text", "embedding"} & {*kinds} or len(kinds) >= _MANY_COLUMNS else "table"
    if len(getattr(X, "shape", [0])) == 1 and not (isinstance(X, list) and X and not isinstance(X[0], str)):
        return "text"
    width = X.shape[1] if hasattr(X, "shape") else len(X[0])
    return "embeddings" if width >= _MANY_COLUMNS else "numbers"


def features_for(kind: Kind, X: Items, n_items: int) -> Any:
    """Return an unfitted transformer from items to what the learners take."""
    from scipy.sparse import issparse
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    from headcount.features import TableColumns, TermWeights
    from headcount.features.column_names import column_kinds, is_records

    terms = TermWeights(min_count=2 if n_items >= 100 else 1)
    if kind == "text":
        return terms
    if kind in ("table", "mixed"):
        return TableColumns(None if is_records(X) else column_kinds(X), text=terms)
    if issparse(X):
        return StandardScaler(with_mean=False)
    values = np.asarray(X, dtype=np.float64)
    if np.isnan(values).any():
        return Pipeline(
            [("fill", SimpleImputer(strategy="median", keep_empty_features=True)), ("scale", StandardScaler())]
        )
    return StandardScaler()
