"""Accuracy of `headcount fit` against QuaPy's PACC and EMQ over logistic regression with five folds, on texts and tables.

Each set is drawn again several times: labelled items from its training part, groups of 200 items with other shares (uniform over
all shares) from its test part, the same for all. Texts have the same features on both sides, those that `headcount fit` makes. Run
by `make bench`; the sets are found through the variable HEADCOUNT_DATA.

    python -m benchmarks.desk [--draws 5] [--sets trec6,kindle_devices]
"""

import argparse
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.setting import SEED
from headcount.auto import AutoQuantifier
from headcount.auto.learners import features_for, kind_of
from headcount.data import read_corpus
from headcount.protocols import UniformPrevalence

GROUPS, ITEMS = 100, 200
TEXTS = {
    "imdb-1000": 1000,
    "imdb-2500": 2500,
    "imdb-5000": 5000,
    "kindle_devices": 0,
    "amazon_categories": 0,
    "trec6": 0,
}
TABLES = (
    "1043_ada_agnostic",
    "1049_pc4",
    "1466_cardiotocography",
    "1475_first-order-theorem-proving",
    "1489_phoneme",
    "1494_qsar-biodeg",
    "1498_sa-heart",
    "14_mfeat-fourier",
    "1507_twonorm",
    "1487_ozone-level-8hr",
)


def load(folder: Path, name: str) -> tuple[Any, Any, Any, Any]:
    """Return items and labels of the training and of the test part."""
    if name in TEXTS:
        files = folder / name.partition("-")[0]
        parts = [read_corpus(files / f"{part}.txt.gz") for part in ("train", "test")]
        return tuple(value for corpus in parts for value in (np.asarray(corpus.items), np.asarray(corpus.labels)))
    import pandas as pd

    frame = pd.read_parquet(folder / "league_binary" / f"{name}.parquet")
    X, y, train = frame.filter(regex="^x").to_numpy(np.float64), frame["y"].to_numpy(), frame["part"] == "train"
    return X[train], y[train], X[~train], y[~train]


def of_quapy(X: Any, y: Any, method: str) -> Any:
    import quapy as qp

    qp.environ["_R_SEED"] = SEED
    features = features_for("text", X, len(y)).fit(X) if kind_of(X) == "text" else None
    learner = LogisticRegression(max_iter=1000)
    quantifier = (
        qp.method.aggregative.PACC(learner, val_split=5)
        if method == "PACC"
        else qp.method.aggregative.EMQ(learner, val_split=5)
    )
    classes = np.unique(y)
    codes = np.searchsorted(classes, y)
    quantifier.fit(X if features is None else features.transform(X), codes)
    return quantifier.predict, (lambda Z: Z if features is None else features.transform(Z))


def main() -> bool:
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--sets", default=",".join([*TEXTS, *TABLES]))
    parser.add_argument("--ours", action="store_true", help="do not run QuaPy")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    folder = Path(os.environ["HEADCOUNT_DATA"])
    print(
        "| set | headcount fit | predicted | seconds | kept | PACC | EMQ | ratio to the better |\n|---|---|---|---|---|---|---|---|"
    )
    means: list[Any] = []
    worse: list[str] = []
    for name in asked.sets.split(","):
        X, y, Z, z = load(folder, name)
        errors = []
        for draw in range(asked.draws):
            rng = np.random.default_rng([SEED, draw])
            size = TEXTS.get(name, 0) or min(len(y), 2500)
            rows = rng.permutation(len(y))[: size if size < len(y) else int(0.9 * len(y))]
            groups, true = UniformPrevalence(GROUPS, sample_size=ITEMS, random_state=draw).draw(z, np.unique(y))
            began = time.monotonic()
            auto = AutoQuantifier(random_state=draw, progress=False).fit(X[rows], y[rows])
            seconds = time.monotonic() - began
            ours = np.abs(auto.best_estimator_.aggregate(auto.best_estimator_.outputs(Z), groups) - true).mean()
            kept = auto.best_estimator_
            found = auto.expected_error_
            others = []
            for method in () if asked.ours else ("PACC", "EMQ"):
                predict, transform = of_quapy(X[rows], y[rows], method)
                pool = transform(Z)  # once for all groups: the same numbers, row by row
                others.append(np.mean([np.abs(predict(pool[groups[i]]) - true[i]).mean() for i in range(len(true))]))
            errors.append([ours, found, seconds, *others])
            last = f"{type(kept).__name__} {type(kept.classifier.steps[-1][1]).__name__}"
        mean = np.mean(errors, axis=0)
        means.append(mean)
        worse += [name] * _is_worse(np.array(errors))
        cells = [f"{value:.4f}" for value in mean[[0, 1]]] + [
            f"{mean[2]:.1f}",
            last,
            *(f"{value:.4f}" for value in mean[3:]),
        ]
        print(
            f"| {name} | " + " | ".join(cells) + (f" | {mean[0] / mean[3:].min():.2f} |" if len(mean) > 3 else " |"),
            flush=True,
        )
    table = np.array(means)
    total, ratios = table.mean(axis=0), table[:, 1] / np.maximum(table[:, 0], 1e-9)
    print(
        f"\nMeans: {total.round(4).tolist()}. Sets on which it is worse than the better of the two: {worse or 'none'}."
    )
    print(
        f"Predicted / actual: {total[1] / total[0]:.2f} of means; within a factor of 1.5 in "
        f"{np.sum((ratios > 1 / 1.5) & (ratios < 1.5))} of {len(ratios)} sets."
    )
    return bool(len(total) < 4 or (total[0] <= 0.9 * total[3:].min() and not worse))


def _is_worse(errors: Any) -> bool:
    """Whether ours is worse by more than 10 % or .003, and two standard errors of the difference, than the better of the others."""
    if errors.shape[1] < 4:
        return False
    better = errors[:, 3:][:, errors[:, 3:].mean(axis=0).argmin()]
    difference = errors[:, 0] - better
    error = difference.std(ddof=1) / np.sqrt(len(difference)) if len(difference) > 1 else 0.0
    return bool(difference.mean() > max(0.1 * better.mean(), 0.003) + 2.0 * error)


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
