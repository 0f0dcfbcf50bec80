"""Streams for `benchmarks.watch`: cells of items, how likely they are in each class, and what a classifier says of them."""

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator

import headcount as hc
from headcount._distributions import normal_tail

__all__ = ["UNSEEN", "WORLDS", "World"]

CELLS, POOL = 24, 4_000
EDGES = np.concatenate([[-np.inf], np.linspace(-3.0, 3.0, CELLS - 1), [np.inf]])


class CellClassifier(ClassifierMixin, BaseEstimator):
    """A classifier whose items are one of the cells, with these posteriors."""

    def __init__(self, posteriors: Any = None) -> None:
        self.posteriors = posteriors

    def fit(self, X: Any, y: Any) -> "CellClassifier":
        self.classes_ = np.arange(np.asarray(self.posteriors).shape[1])
        return self

    def predict(self, X: Any) -> Any:
        return self.predict_proba(X).argmax(axis=1)

    def predict_proba(self, X: Any) -> Any:
        return np.asarray(self.posteriors)[np.asarray(X)[:, 0].astype(int)]


@dataclass(frozen=True)
class World:
    """A method over a classifier, and the shares of the stream.

    Without a learner, scores are normal with variance 1, their means so far apart; posteriors are those of equal shares, with
    logits that are wrong by a factor. With one, it is fitted once on 1,000 items with five features, and cells are other items.
    """

    method: str
    share: float
    apart: float
    labelled_share: float = 0.5
    factor: float = 1.0
    sizes: tuple[int, int] = (10, 200)
    n_labelled: int = 2_000
    learner: str = ""
    k: int = 2

    @property
    def title(self) -> str:
        of = f"{self.learner}, {self.k} classes, " if self.learner else ""
        factor = "" if self.factor == 1.0 else f", logits x {self.factor:g}"
        accuracy = f"accuracy {self.accuracy:.2f}"
        labelled = f"labelled {self.labelled_share:g}" + (
            "" if self.n_labelled == 2_000 else f" of {self.n_labelled:,}"
        )
        return f"{of}{self.method}, share {self.share:g}, {accuracy}{factor}, {labelled}"

    @property
    def accuracy(self) -> float:
        """Of the classifier at equal shares."""
        decided = self.posteriors.argmax(axis=1)
        return float(np.mean([self.profiles[j][decided == j].sum() for j in range(self.k)]))

    def shares(self, share: float) -> Any:
        """Return shares of all classes where the last one has this share, and the others the rest in equal parts."""
        return np.array([(1.0 - share) / (self.k - 1)] * (self.k - 1) + [share])

    @cached_property
    def profiles(self) -> Any:
        """Frequencies of the cells, a row a class."""
        if self.learner:
            return np.kron(np.eye(self.k), np.full(POOL, 1.0 / POOL))
        means = np.array([[-self.apart / 2], [self.apart / 2]])
        return np.diff(1.0 - normal_tail(EDGES - means), axis=1)

    @cached_property
    def posteriors(self) -> Any:
        """What the classifier says of the cells."""
        if self.learner:
            return _learnt(self.learner, self.k, self.apart)
        logits = self.factor * (np.log(self.profiles[1] + 1e-12) - np.log(self.profiles[0] + 1e-12))
        P1 = 1.0 / (1.0 + np.exp(-logits))
        return np.column_stack([1.0 - P1, P1])

    def quantifier(self) -> Any:
        classifier = FrozenEstimator(CellClassifier(self.posteriors).fit(None, None))
        if self.method == "SLD":
            return hc.SLD(classifier, calibration="bcts")
        return getattr(hc, self.method)(classifier)

    def labelled(self, generator: np.random.Generator) -> Any:
        """Fit the method on other labelled items."""
        y = generator.choice(self.k, self.n_labelled, p=self.shares(self.labelled_share))
        cells = np.empty(self.n_labelled, dtype=np.int64)
        for j in range(self.k):
            cells[y == j] = generator.choice(self.profiles.shape[1], (y == j).sum(), p=self.profiles[j])
        return self.quantifier().fit(cells[:, None], y)

    def cumulated(self, share: float) -> Any:
        """Return the cumulated frequencies of the cells in a stream with this share."""
        cumulated = np.cumsum(self.shares(share) @ self.profiles)
        cumulated[-1] = 1.0
        return cumulated


@cache
def _learnt(learner: str, k: int, apart: float) -> Any:
    """Return the posteriors of the pool by a learner that was fitted on other items; features depend on each other."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.naive_bayes import GaussianNB

    generator = np.random.default_rng(11)
    means = apart * generator.standard_normal((k, 5)) / np.sqrt(5.0)
    mixing = np.eye(5) + 0.6 * generator.standard_normal((5, 5))

    def items(y: Any) -> Any:
        noise = generator.standard_normal((len(y), 5)) @ mixing
        return means[y] + noise + 0.3 * noise[:, ::-1] ** 2 * (y == 0)[:, None]

    y = np.repeat(np.arange(k), 1_000 // k)
    model = {"forest": RandomForestClassifier(100, min_samples_leaf=3, random_state=0, n_jobs=1), "NB": GaussianNB()}[
        learner
    ]
    return model.fit(items(y), y).predict_proba(items(np.repeat(np.arange(k), POOL)))


WORLDS = (
    World("PACC", 0.3, 2.0),
    World("PACC", 0.3, 2.0, 0.3, 0.5, (10, 10)),
    World("PACC", 0.5, 1.5),
    World("PACC", 0.05, 2.5, 0.2),
    World("PACC", 0.02, 4.0, 0.1, 1.0, (10, 10)),
    World("ACC", 0.3, 2.0),
    World("ACC", 0.1, 3.0, 0.5, 1.0, (10, 50)),
    World("SLD", 0.3, 2.0, 0.5, 0.7),
    World("SLD", 0.1, 2.5, 0.3),
)
UNSEEN = (
    World("PACC", 0.005, 4.0, 0.1, 1.0, (1, 500)),
    World("PACC", 0.95, 2.5, 0.5, 2.0, (1, 500)),
    World("ACC", 0.02, 5.0, 0.1, 1.0, (1, 40)),
    World("PACC", 0.1, 3.0, 0.3, 1.0, (1, 500), 300),
    World("PACC", 0.2, 3.0, 0.5, 1.0, (1, 500), learner="forest"),
    World("PACC", 0.05, 3.0, 0.3, 1.0, (1, 500), learner="NB"),
    World("SLD", 0.5, 3.0, 0.5, 1.0, (1, 500), learner="NB"),
    World("ACC", 0.1, 4.0, 0.2, 1.0, (1, 500), learner="forest", k=3),
    World("PACC", 0.05, 5.0, 0.2, 1.0, (1, 200), learner="NB", k=4),
)
