"""Gap to the optimum, time and test error of linear learners by C: scikit-learn's defaults, a smaller tolerance, Newton's method.

Usage: python -m benchmarks.linear [data set ...] with the data sets' folder in HEADCOUNT_DATA. Fitted on the training part of the
paper's split (60 % of the labelled documents, seed 2021) without class weights; the gap is (P - P*) / P*, P* from Newton's method
with tol=1e-10. Seconds are CPU time.
"""

import os
import sys
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from headcount import NewtonLinearSVC, NewtonLogisticRegression, __version__
from headcount.data import load_set
from headcount.learners.linear.solutions import shared_solutions
from headcount.study.data import StudyData
from headcount.study.plan_file import read_plan

CS = 10.0 ** np.arange(-4, 6)


def objective(fitted: Any, X: Any, signs: Any, C: float) -> float:
    """Return the objective of a logistic regression, or of an SVM with squared hinge loss and a regularised intercept."""
    w, b = fitted.coef_[0], fitted.intercept_[0]
    margins = signs * (X @ w + b)
    if isinstance(fitted, LogisticRegression | NewtonLogisticRegression):
        return float(0.5 * w @ w - C * np.log(np.maximum(expit(margins), 1e-300)).sum())
    return float(0.5 * (w @ w + b * b) + C * (np.maximum(0.0, 1.0 - margins) ** 2).sum())


def main(names: list[str]) -> None:
    """Print a table for each data set."""
    warnings.simplefilter("ignore")
    print(f"headcount {__version__}, scikit-learn {sklearn.__version__}, numpy {np.__version__}")
    for name in names:
        source = name if name == "imdb" else Path(os.environ["HEADCOUNT_DATA"]) / name
        data = StudyData(read_plan("paper"), name, *load_set(str(source), os.environ["HEADCOUNT_DATA"]))
        fold = data.fold("select", "tfidf")
        X, y = fold.fits.X, fold.fits.y
        X_test, y_test = data.items("tfidf")[1], np.asarray(data.test.labels)
        signs = np.where(y == data.classes[1], 1.0, -1.0)
        print(f"\n{name}: {X.shape[0]:,} documents, {X.shape[1]:,} terms\n")
        print("| learner | C | gap | s | test error | steps |\n|---|---|---|---|---|---|")
        learners = {
            "LR, lbfgs, tol=1e-4": LogisticRegression,
            "LR, lbfgs, tol=1e-4/n": partial(LogisticRegression, tol=1e-4 / len(y), max_iter=10_000),
            "LR, Newton, tol=1e-4": NewtonLogisticRegression,
            "SVM, liblinear, tol=1e-4": partial(LinearSVC, random_state=0),
            "SVM, Newton, tol=1e-4": NewtonLinearSVC,
        }
        best = {}
        with shared_solutions({}):
            for C in CS:
                best["LR", C] = objective(NewtonLogisticRegression(C=C, tol=1e-10).fit(X, y), X, signs, C)
                best["SVM", C] = objective(NewtonLinearSVC(C=C, tol=1e-10).fit(X, y), X, signs, C)
        for label, make in learners.items():
            total = 0.0
            with shared_solutions({}):
                for C in CS:
                    start = time.process_time()
                    fitted = make(C=C).fit(X, y)
                    seconds = time.process_time() - start
                    total += seconds
                    gap = objective(fitted, X, signs, C) / best[label.partition(",")[0], C] - 1.0
                    error = 1.0 - fitted.score(X_test, y_test)
                    steps = int(np.max(fitted.n_iter_))
                    print(
                        f"| {label} | {C:g} | {max(gap, 0.0):.1e} | {seconds:.2f} | {error:.4f} | {steps} |", flush=True
                    )
            print(f"| {label} | all | | {total:.1f} | | |")


if __name__ == "__main__":
    main(sys.argv[1:] or ["imdb", "kindle_devices", "amazon_devices_hp"])
