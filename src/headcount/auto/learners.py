"""Learners to try on each kind of data, their settings, and the features that items are turned into first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from headcount._typing import Items
from headcount._validation import quoted
from headcount.exceptions import UnknownNameError

__all__ = ["LEARNERS", "Kind", "Learner", "features_for", "kind_of", "learner_named"]

Kind: TypeAlias = Literal["text", "numbers", "embeddings", "table", "mixed"]
"""What items are: a table has numbers, categories and dates; mixed columns have texts too, or more columns than trees are for."""

_IN_WORDS: dict[Kind, str] = {
    "text": "text",
    "numbers": "numbers",
    "embeddings": "embeddings",
    "table": "columns of several kinds",
    "mixed": "columns with texts among them",
}
_MANY_COLUMNS = 256
"""From this many columns on, dense items are treated as embeddings, on which trees are slow and of little use."""
_MOST_FOR_TREES = 50_000


@dataclass(frozen=True)
class Learner:
    """A learner, the settings to try (the likeliest first) and the data that it suits.

    Attributes
    ----------
    name, title : str
    grids : dict of kind to dict of str to sequence of values
        The settings to try on each kind of items that it suits.
    most_items : int
        It is too slow for more.
    members : tuple of str
        Learners that vote, each in its likeliest setting; the others have none.
    suggested : bool
        Whether it is tried where none is named.
    """

    name: str
    title: str
    grids: dict[Kind, dict[str, Sequence[Any]]]
    most_items: int = 2**62
    members: tuple[str, ...] = ()
    suggested: bool = True

    def settings(self, kind: Kind, seed: int) -> list[tuple[dict[str, Any], Any]]:
        """Return each setting for items of this kind, and the learner with it."""
        grid = self.grids.get(kind, next(iter(self.grids.values())))
        base = self._make(kind, seed)
        return [(setting, clone(base).set_params(**setting)) for setting in ParameterGrid(grid)]

    def _make(self, kind: Kind, seed: int) -> Any:
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.naive_bayes import MultinomialNB

        from headcount.learners import BoostedTrees, NewtonLinearSVC, NewtonLogisticRegression, Vote

        return {
            "lr": NewtonLogisticRegression,
            "svm": NewtonLinearSVC,
            "nb": MultinomialNB,
            "forest": lambda: RandomForestClassifier(100, random_state=seed),
            "boosting": lambda: BoostedTrees(random_state=seed),
            "vote": lambda: Vote([learner_named(name).settings(kind, seed)[0][1] for name in self.members]),
        }[self.name]()

    def unsuited(self, kind: Kind, n_items: int) -> str:
        """Return why the learner does not suit the data; empty if it does."""
        if kind not in self.grids:
            return f"not for {_IN_WORDS[kind]}"
        return f"slow on more than {self.most_items:,} items" if n_items > self.most_items else ""


_VOTERS = ("lr", "forest", "boosting")

LEARNERS = (
    Learner(
        "lr",
        "logistic regression",
        {
            "text": {
                "C": [10.0, 1.0, 100.0]
            },  # features of length 1 call for less of a penalty than those on a common scale
            "numbers": {"C": [1.0, 0.1, 10.0]},
            "embeddings": {"C": [0.1, 0.01, 1.0]},
            "table": {"C": [1.0, 0.1, 10.0]},
            "mixed": {"C": [1.0, 0.1, 10.0]},
        },
    ),
    Learner("nb", "naive Bayes", {"text": {"alpha": [0.1, 1.0]}}),
    Learner(
        "forest",
        "random forest",
        {"numbers": {"min_samples_leaf": [5, 1]}, "table": {"min_samples_leaf": [5, 1]}},
        _MOST_FOR_TREES,
    ),
    Learner("boosting", "gradient boosting", {"numbers": {}, "table": {}}, _MOST_FOR_TREES),
    Learner(
        "vote",
        "logistic regression, forest and boosting together",
        {"numbers": {}, "table": {}},
        _MOST_FOR_TREES,
        _VOTERS,
    ),
    Learner(
        "svm",
        "linear support vector machine",
        {kind: {"C": [0.1, 1.0], "class_weight": [None, "balanced"]} for kind in get_args(Kind)},
        suggested=False,
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
