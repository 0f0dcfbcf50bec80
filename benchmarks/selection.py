"""Time of a whole model selection against QuaPy: choose C and class weight for AE, refit, test on 2,100 samples, for six methods.

Logistic regression on the IMDB reviews (in the folder named by HEADCOUNT_DATA); both sides have two jobs and the same features. Run
by `make bench`.
"""

import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

import headcount as hc
from benchmarks.setting import machine

warnings.filterwarnings("ignore", module="quapy")
import quapy  # noqa: E402
import quapy.method.aggregative as qa  # noqa: E402
from quapy.data import LabelledCollection  # noqa: E402
from quapy.model_selection import GridSearchQ  # noqa: E402
from quapy.protocol import APP  # noqa: E402

METHODS = ("CC", "PCC", "ACC", "PACC", "SLD", "HDy")
GRID = {"classifier__C": 10.0 ** np.arange(-4, 6), "classifier__class_weight": [None, "balanced"]}
EXPECTED_AE = {"CC": 0.068, "PCC": 0.080, "ACC": 0.017, "PACC": 0.024, "SLD": 0.017, "HDy": 0.015}
TARGET_RATIO = 12


def ours(X: Any, y: Any, X_test: Any, y_test: Any) -> tuple[float, dict[str, float], Any]:
    start = time.perf_counter()
    search = hc.QuantifierSearch(
        [getattr(hc, name)(LogisticRegression()) for name in METHODS],
        GRID,
        scoring="ae",
        refit_each=True,
        protocol=hc.ArtificialPrevalence(21, repeats=10, sample_size=500, random_state=0),
        n_jobs=2,
        random_state=0,
    ).fit(X, y)
    protocol = hc.ArtificialPrevalence(21, repeats=100, sample_size=500, random_state=1)
    tables = hc.evaluate(search.best_estimators_, X_test, y_test, protocol)
    wall = time.perf_counter() - start
    return wall, {table.name: float(table.ae.mean()) for table in tables}, search


def theirs(name: str, X: Any, y: Any, X_test: Any, y_test: Any) -> tuple[float, float]:
    start = time.perf_counter()
    train, held_out = LabelledCollection(X, y).split_stratified(0.6, random_state=0)
    options = {"val_split": 0.4} if name in ("ACC", "PACC", "HDy") else {}
    model = getattr(qa, {"SLD": "EMQ"}.get(name, name))(LogisticRegression(), **options)
    protocol = APP(held_out, sample_size=500, n_prevalences=21, repeats=10, random_state=0)
    search = GridSearchQ(model, GRID, protocol=protocol, error="mae", refit=True, n_jobs=2).fit(*train.Xy)
    test = APP(LabelledCollection(X_test, y_test), sample_size=500, n_prevalences=21, repeats=100, random_state=1)
    true, estimated = quapy.evaluation.prediction(search.best_model_, test)
    return time.perf_counter() - start, float(np.abs(true - estimated).mean())


def fits_equal_sklearn(search: Any, X: Any, y: Any) -> bool:
    """Return whether each chosen classifier equals, to the bit, scikit-learn's fit with the same settings on the same rows."""
    same = []
    for q in search.best_estimators_:
        rows = np.arange(len(y))
        if getattr(q, "uses_validation", False):
            rows, _ = train_test_split(rows, test_size=q.validation, stratify=y, random_state=q.random_state)
        with threadpool_limits(1, user_api="blas"):
            plain = LogisticRegression(C=q.classifier.C, class_weight=q.classifier.class_weight).fit(X[rows], y[rows])
        same.append(np.array_equal(plain.coef_, q.classifier_.coef_))
    return all(same)


def main() -> bool:
    folder = os.environ.get("HEADCOUNT_DATA", "")
    if not (Path(folder) / "imdb").is_dir():
        print("\nSKIPPED: this benchmark needs the IMDB reviews; set HEADCOUNT_DATA to the folder that holds imdb/.")
        return True
    print(f"\n## Select C and class weight for AE, refit, test on 2,100 samples: LR on IMDB\n\n{machine()}\n")
    train, test = (hc.read_corpus(Path(folder) / "imdb" / f"{part}.txt.gz") for part in ("train", "test"))
    features = hc.LogTfidf()
    X, X_test = features.fit_transform(train.items), features.transform(test.items)
    data = X, train.labels, X_test, test.labels
    ours_s, errors, search = ours(*data)
    print("| method | QuaPy, seconds | AE, ours | theirs | expected |\n|---|---|---|---|---|")
    theirs_s = 0.0
    for name in METHODS:
        seconds, error = theirs(name, *data)
        theirs_s += seconds
        print(f"| {name} | {seconds:.1f} | {errors[name]:.4f} | {error:.4f} | {EXPECTED_AE[name]} |", flush=True)
    same_fits = fits_equal_sklearn(search, X, train.labels)
    as_expected = all(abs(errors[name] - EXPECTED_AE[name]) <= 0.01 for name in METHODS)
    print(
        f"\nAll six: Headcount {ours_s:.1f} s, QuaPy {theirs_s:.1f} s: "
        f"{theirs_s / ours_s:.1f} times as fast (target: {TARGET_RATIO})."
    )
    print(
        f"Fits equal scikit-learn's to the bit: {'yes' if same_fits else 'NO'}. "
        f"All AE within 0.01 of the expected: {'yes' if as_expected else 'NO'}."
    )
    return theirs_s / ours_s >= TARGET_RATIO and same_fits and as_expected


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
