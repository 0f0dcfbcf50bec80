"""`posterior_sql`: SQL for the posteriors of logistic regression over columns, scaled and filled in as its pipeline does.

The posterior of class c is 1 / (1 + sum over the other classes d of exp(z_d - z_c)), with linear scores z. It agrees with the
classifier's own within 1e-9: an exponential need not have the same last bits everywhere.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from headcount._typing import AnyArray
from headcount.exceptions import DataError
from headcount.learners import NewtonLogisticRegression
from headcount.learners.fold_classifiers import FoldClassifiers

__all__ = ["posterior_sql"]

_MOST = 700.0
"""Largest exponent: databases raise an error where exp overflows, and 1 / exp(700) is as good as 0."""


def posterior_sql(classifier: Any, columns: Sequence[str], classes: AnyArray) -> tuple[str, ...]:
    """Return SQL for the posterior of each class.

    Parameters
    ----------
    classifier : fitted classifier
        Logistic regression, alone or after a scaler and an imputer; of fold classifiers the mean of their posteriors is meant.
    columns : sequence of str
        SQL for each feature.
    classes : array of shape (n_classes,)
        The order of the posteriors.

    Examples
    --------
    >>> fitted = NewtonLogisticRegression().fit(np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1])
    >>> posterior_sql(fitted, ["x"], np.array([0, 1]))[0][:27]
    '1.0 / (1.0 + EXP(CASE WHEN '
    """
    if not isinstance(classifier, FoldClassifiers):
        return _of_one(classifier, columns, classes)
    folds = [_of_one(one, columns, classes) for one in classifier.classifiers_]
    return tuple(
        f"({' + '.join(f'({e})' for e in parts)}) / {float(len(folds))!r}" for parts in zip(*folds, strict=True)
    )


def _of_one(classifier: Any, columns: Sequence[str], classes: AnyArray) -> tuple[str, ...]:
    features = [f"CAST({column} AS DOUBLE)" for column in columns]
    *steps, last = _steps(classifier)
    for step in steps:
        features = _transformed(step, features)
    if not isinstance(last, NewtonLogisticRegression | LogisticRegression) or last.coef_.shape[1] != len(features):
        raise _not_linear(last)
    W, b = np.atleast_2d(last.coef_), np.atleast_1d(last.intercept_)
    if len(last.classes_) == 2:
        W, b = np.vstack([np.zeros_like(W), W]), np.append(0.0, b)
    order = [last.classes_.tolist().index(label) for label in np.asarray(classes).tolist()]
    W, b = W[order], b[order]
    posteriors = []
    for c in range(len(W)):
        scores = [_linear(W[d] - W[c], b[d] - b[c], features) for d in range(len(W)) if d != c]
        terms = [f"EXP(CASE WHEN {z} > {_MOST!r} THEN {_MOST!r} ELSE {z} END)" for z in scores]
        posteriors.append(f"1.0 / (1.0 + {' + '.join(terms)})")
    return tuple(posteriors)


def _steps(classifier: Any) -> list[Any]:
    """Return the steps of a pipeline, and those of pipelines in it."""
    if isinstance(classifier, FrozenEstimator):
        return _steps(classifier.estimator)
    if isinstance(classifier, Pipeline):
        return [inner for _, step in classifier.steps for inner in _steps(step)]
    return [classifier]


def _transformed(step: Any, features: list[str]) -> list[str]:
    if isinstance(step, SimpleImputer) and not step.add_indicator and len(step.statistics_) == len(features):
        return [f"COALESCE({x}, {float(m)!r})" for x, m in zip(features, step.statistics_, strict=True)]
    if isinstance(step, StandardScaler):
        means = np.zeros(len(features)) if step.mean_ is None else step.mean_
        scales = np.ones(len(features)) if step.scale_ is None else step.scale_
        return [f"(({x} - {_number(m)}) / {_number(s)})" for x, m, s in zip(features, means, scales, strict=True)]
    raise _not_linear(step)


def _linear(weights: AnyArray, constant: float, features: list[str]) -> str:
    terms = [f"{_number(w)} * {x}" for w, x in zip(weights, features, strict=True)]
    return " + ".join([_number(constant), *terms])


def _number(value: Any) -> str:
    text = repr(float(value))
    return f"({text})" if text.startswith("-") else text


def _not_linear(step: Any) -> DataError:
    return DataError(
        f"{type(step).__name__} can't be written in SQL: a database can score with logistic regression over columns of numbers. "
        "Score the items elsewhere and use --scored, or estimate from files."
    )
