"""Shared test fixtures: small data, a classifier whose items are their own posteriors, the folder of the real data."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

settings.register_profile("default", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("default")


class Scored(ClassifierMixin, BaseEstimator):
    """A classifier whose items are their own posteriors over ``names``."""

    def __init__(self, names=(0, 1)):
        self.names = names

    def fit(self, X, y=None):
        self.classes_ = np.asarray(self.names)
        return self

    def predict_proba(self, X):
        return np.asarray(X)

    def predict(self, X):
        return self.classes_[np.asarray(X).argmax(axis=1)]

    def transform(self, X):
        return np.asarray(X)


class Linear(LogisticRegression):
    """Logistic regression whose items are their own embeddings, for methods that need embeddings."""

    def transform(self, X):
        return X


def frozen(names):
    return FrozenEstimator(Scored(tuple(names)).fit(None))


def scored_items(n, n_classes, seed, separation=2.0, shares=None):
    """Draw labels (as codes) and posteriors of items from a Gaussian score model."""
    generator = np.random.default_rng(seed)
    codes = generator.choice(n_classes, size=n, p=shares)
    codes[:n_classes] = np.arange(n_classes)
    scores = separation * (separation * np.eye(n_classes)[codes] + generator.standard_normal((n, n_classes)))
    P = np.exp(scores - scores.max(axis=1, keepdims=True))
    return codes, P / P.sum(axis=1, keepdims=True)


def blobs(n, n_classes, seed):
    """Draw feature vectors and integer labels that a linear classifier separates well but not perfectly."""
    generator = np.random.default_rng(seed)
    y = generator.integers(0, n_classes, n)
    y[: 5 * n_classes] = np.tile(np.arange(n_classes), 5)
    centres = 3.0 * np.random.default_rng(7).standard_normal((n_classes, 4))
    return centres[y] + 2.0 * generator.standard_normal((n, 4)), y


@pytest.fixture
def data_dir():
    """Folder of the real data sets; tests that use it have the marker `data`."""
    folder = os.environ.get("HEADCOUNT_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("the real data sets are not available: set HEADCOUNT_DATA to their folder")
    return Path(folder)
