"""The forests of the league: the grid search, and Frank and Hall's decomposition on the test and, out of fold, the training side.

Imports scikit-learn and the decomposition only, so that it runs where compiled kernels do not.
"""

import time
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold
from studies.ordinal_league.recipe import SEED, Split

from headcount.learners.ordinal import FrankHall

DEPTHS = (1, 5, 10, 15, 20, 25, 30)
LEAVES = (1, 2, 5, 10, 20)
LEAGUE, OTHER_SEED = "forest", "forest, other seed"
"""The league's forest, and the same setting with another seed, which tells how much forests move."""


def forest(depth: int, leaf: int, seed: int = SEED) -> RandomForestClassifier:
    """Return the league's forest."""
    return RandomForestClassifier(
        100, max_depth=depth, min_samples_leaf=leaf, class_weight="balanced", random_state=seed
    )


def decisions_of_cuts(X: Any, y: Any, new: Any, leaf: int) -> list[Any]:
    """Return the decisions of a deep forest that is cut at each of `DEPTHS`.

    A node splits by its own items alone, so that a tree cut at depth d is distributed as one grown to depth d. This saves most fits
    of the grid, but the settings that are compared then share their luck, so that others win: less often the smallest leaves.
    """
    fitted = forest(DEPTHS[-1], leaf).fit(X, y)
    items = np.ascontiguousarray(new, dtype=np.float32)
    total = np.zeros((len(DEPTHS), len(items), len(fitted.classes_)))
    rows = np.arange(len(items))
    for one in fitted.estimators_:
        tree = one.tree_
        shares = tree.value[:, 0, :] / tree.value[:, 0, :].sum(axis=1, keepdims=True)
        node = np.zeros(len(items), dtype=np.int64)
        for depth in range(1, DEPTHS[-1] + 1):
            inner = tree.children_left[node] >= 0
            left = items[rows, np.maximum(tree.feature[node], 0)] <= tree.threshold[node]
            node = np.where(inner, np.where(left, tree.children_left[node], tree.children_right[node]), node)
            if depth in DEPTHS:
                total[DEPTHS.index(depth)] += shares[node]
    return [fitted.classes_[one.argmax(axis=1)] for one in total]


def geometric_mean(y: Any, decided: Any, n_classes: int) -> float:
    """Return the geometric mean of the recalls of the classes."""
    hits = np.bincount(y[y == decided], minlength=n_classes)
    return float(np.prod(hits / np.bincount(y, minlength=n_classes)) ** (1.0 / n_classes))


def decisions(X: Any, y: Any, new: Any, leaf: int) -> list[Any]:
    """Return the decisions of the forest of each depth.

    Where no tree reached a depth, those of greater depths are the same forest, to the bit.
    """
    found: list[Any] = []
    deepest = DEPTHS[-1]
    for before, depth in zip((0, *DEPTHS), DEPTHS, strict=False):
        if deepest < before:
            found.append(found[-1])
            continue
        fitted = forest(depth, leaf).fit(X, y)
        deepest = max(tree.get_depth() for tree in fitted.estimators_)
        found.append(fitted.predict(new))
    return found


def chosen_setting(part: Split, cut: bool = False) -> tuple[int, int]:
    """Return depth and least leaf with the best geometric mean of recalls in three folds, the first of equals."""
    quality = np.zeros((len(DEPTHS), len(LEAVES)))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class")
        folds = list(StratifiedKFold(3, shuffle=True, random_state=part.seed).split(part.X_train, part.y_train))
    for train, held_out in folds:
        X, y, new = part.X_train[train], part.y_train[train], part.X_train[held_out]
        for j, leaf in enumerate(LEAVES):
            by_depth = decisions_of_cuts(X, y, new, leaf) if cut else decisions(X, y, new, leaf)
            for i, decided in enumerate(by_depth):
                quality[i, j] += geometric_mean(part.y_train[held_out], decided, part.n_classes) / len(folds)
    best = int(quality.round(12).argmax())
    return DEPTHS[best // len(LEAVES)], LEAVES[best % len(LEAVES)]


def decomposed(part: Split, classifier: Any) -> tuple[Any, Any]:
    """Return posteriors of the test items, by a decomposition of all training items, and out of fold of the training items."""
    classes = np.arange(part.n_classes)
    learner = FrankHall(classifier, classes=classes)
    test = learner.fit(part.X_train, part.y_train).predict_proba(part.X_test)
    n_folds = min(20, int(np.bincount(part.y_train).min()))
    train = np.empty((len(part.y_train), part.n_classes))
    for rest, held_out in StratifiedKFold(n_folds, shuffle=True, random_state=SEED).split(part.X_train, part.y_train):
        fitted = clone(learner).fit(part.X_train[rest], part.y_train[rest])
        train[held_out] = fitted.predict_proba(part.X_train[held_out])
    return train, test


def fitted_sides(
    part: Split, learner: str, setting: tuple[int, ...] | None = None, cut: bool = False
) -> dict[str, Any]:
    """Return the posteriors of both sides, the forest's setting, and the seconds it took.

    The league's forest finds its setting; the same with another seed is given it.
    """
    began = time.monotonic()
    depth, leaf = setting or chosen_setting(part, cut)
    train, test = decomposed(part, forest(depth, leaf, seed=SEED if learner == LEAGUE else SEED + 1))
    seconds = np.array(time.monotonic() - began)
    return {"train": train, "test": test, "setting": np.array([depth, leaf]), "seconds": seconds}
