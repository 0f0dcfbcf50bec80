"""What all methods of the league share: the tables, the splits, the bags, and the score."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

SEED = 2032
BAGS = 300
REPETITIONS = 10


@dataclass(frozen=True)
class Split:
    """A repetition of one table: training and test part; labels as codes from 0, lowest class first."""

    X_train: Any
    y_train: Any
    X_test: Any
    y_test: Any
    n_classes: int
    seed: int


def read_table(path: Path) -> tuple[Any, Any]:
    """Return features and class codes of a table with columns x0.. and y, in file order, on which the splits depend."""
    import pandas as pd

    table = pd.read_parquet(path)
    if "y" not in table:
        raise ValueError(f"{path.name} has no column 'y': a table has features x0.. and an ordered label y.")
    features = table.filter(regex=r"^x\d+$").to_numpy(np.float64)
    if not features.shape[1]:
        raise ValueError(f"{path.name} has no features: a table has columns x0, x1 and so on.")
    if not np.isfinite(features).all():
        raise ValueError(f"{path.name}: a feature is not a finite number.")
    classes, codes = np.unique(table["y"].to_numpy(), return_inverse=True)
    if len(classes) < 3:
        raise ValueError(f"{path.name} has {len(classes)} classes: an order takes three.")
    if np.bincount(codes).min() < 2:
        raise ValueError(f"{path.name} has a class of one item, which cannot be in both parts: merge classes.")
    return features, codes


def split(X: Any, y: Any, repetition: int) -> Split:
    """Return training and test part of a repetition."""
    seed = SEED + repetition
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=y)
    return Split(X_train, y_train, X_test, y_test, int(y.max()) + 1, seed)


def draw_bags(y_test: Any, n_classes: int, seed: int, n_bags: int = BAGS) -> tuple[Any, Any]:
    """Return rows of the test part, a bag each row, and the true shares of each bag."""
    n, generator = len(y_test), np.random.RandomState(seed)
    of_class = [np.flatnonzero(y_test == j) for j in range(n_classes)]
    rows, true = np.empty((n_bags, n), dtype=np.int64), np.empty((n_bags, n_classes))
    for b in range(n_bags):
        cuts = np.sort(generator.randint(round(0.05 * n), round(0.95 * n), n_classes - 1))
        counts = np.diff(np.concatenate([[0], cuts, [n]]))
        rows[b] = np.concatenate([generator.choice(of_class[j], c) for j, c in enumerate(counts) if c])
        true[b] = counts / n
    return rows, true


def scores(true: Any, estimated: Any) -> Any:
    """Return 1 - EMD(p, q) / M(p) of each bag; M(p) is the EMD to all mass in the lowest or highest class, whichever is farther."""
    k = true.shape[1]
    distance = np.abs(np.cumsum(true - estimated, axis=1)).sum(axis=1)
    to_lowest = true @ np.arange(k)
    return 1.0 - distance / np.maximum(to_lowest, k - 1 - to_lowest)
