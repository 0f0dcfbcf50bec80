"""Where items come from: Gaussian classes, scorers of a known quality, and real texts."""

import gzip
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator

from benchmarks.setting import ScoredAlready

Array = Any


class World(Protocol):
    """A source of items of known classes. `start` is called once a simulation: what is drawn until the next one is disjoint."""

    @property
    def k(self) -> int: ...

    def start(self, generator: np.random.Generator) -> None: ...

    def draw(self, codes: Array, generator: np.random.Generator) -> Array: ...

    def scorer(self) -> FrozenEstimator | None:
        """Return the classifier that comes with the items, or None where one is to be learnt."""


@dataclass(frozen=True)
class Gaussian:
    """Unit Gaussians, one a class, whose centres are ``separation`` apart, among ``noise`` features that tell nothing.

    ``copies`` repeats each telling feature with a little noise, so that naive Bayes counts the same evidence several times. The
    first ``twins`` classes have one centre: nothing tells them apart.
    """

    k: int = 2
    separation: float = 2.0
    noise: int = 0
    copies: int = 1
    twins: int = 1

    def start(self, generator: np.random.Generator) -> None:
        pass

    def draw(self, codes: Array, generator: np.random.Generator) -> Array:
        place = np.maximum(codes - (self.twins - 1), 0)
        telling = self.separation / np.sqrt(2) * np.eye(self.k)[place] + generator.standard_normal((len(codes), self.k))
        if self.copies > 1:
            telling = np.repeat(telling, self.copies, axis=1)
            telling += 0.3 * generator.standard_normal(telling.shape)
        return np.hstack([telling, generator.standard_normal((len(codes), self.noise))])

    def scorer(self) -> None:
        return None


@dataclass(frozen=True)
class Scores:
    """True posteriors under equal shares of Gaussian classes, raised to the power ``sureness`` and, beyond 1, biased."""

    k: int = 2
    separation: float = 2.0
    sureness: float = 1.0

    def start(self, generator: np.random.Generator) -> None:
        pass

    def draw(self, codes: Array, generator: np.random.Generator) -> Array:
        centres = self.separation * np.eye(self.k) / np.sqrt(2)
        scores = (centres[codes] + generator.standard_normal((len(codes), self.k))) @ centres.T
        P = np.exp(self.sureness * (scores - scores.max(axis=1, keepdims=True)))
        if self.sureness != 1.0:
            P *= np.arange(1, self.k + 1)
        return P / P.sum(axis=1, keepdims=True)

    def scorer(self) -> FrozenEstimator:
        return FrozenEstimator(ScoredAlready().fit(None, np.arange(self.k)))


@dataclass(frozen=True)
class Confusion:
    """Decisions alone: row i of ``rates`` are the shares of decisions among items of class i."""

    rates: tuple[tuple[float, ...], ...]

    @property
    def k(self) -> int:
        return len(self.rates)

    def start(self, generator: np.random.Generator) -> None:
        pass

    def draw(self, codes: Array, generator: np.random.Generator) -> Array:
        bounds = np.cumsum(self.rates, axis=1)[codes]
        decisions = (generator.random(len(codes))[:, None] > bounds).sum(axis=1)
        return np.eye(self.k)[np.minimum(decisions, self.k - 1)]

    def scorer(self) -> FrozenEstimator:
        return FrozenEstimator(ScoredAlready().fit(None, np.arange(self.k)))


class SeenTerms(TransformerMixin, BaseEstimator):
    """Keep the terms of at least two of the texts it is fitted on: what a vectoriser of these texts alone would know."""

    def fit(self, X: Array, y: Array = None) -> "SeenTerms":
        self.columns_ = np.flatnonzero(X.getnnz(axis=0) >= 2)
        return self

    def transform(self, X: Array) -> Array:
        return X[:, self.columns_]


@lru_cache
def _counted(name: str, most: int) -> tuple[Array, list[Array]]:
    """Return the counts of words of all texts of a set and the rows of each class, at most ``most`` a class."""
    folder = Path(os.environ.get("HEADCOUNT_DATA", "shared/data")) / name
    texts: list[str] = []
    labels: list[str] = []
    for part in ("train", "test"):
        with gzip.open(folder / f"{part}.txt.gz", "rt", encoding="utf-8") as file:
            for line in file:
                label, _, text = line.rstrip("\n").partition("\t")
                labels.append(label)
                texts.append(text)
    codes, _ = pd.factorize(np.array(labels), sort=True)
    order = np.random.default_rng(0).permutation(len(texts))
    kept = np.sort(np.concatenate([order[codes[order] == c][:most] for c in range(codes.max() + 1)]))
    # The vocabulary of all texts only numbers the columns: which terms a classifier knows is SeenTerms' to learn.
    X = CountVectorizer(min_df=2, dtype=np.float64).fit_transform(texts[i] for i in kept)
    codes = codes[kept]
    return X.tocsr(), [np.flatnonzero(codes == c) for c in range(codes.max() + 1)]


class Texts:
    """Reviews or questions of a set in HEADCOUNT_DATA.

    Labelled and target items of one simulation are drawn without replacement from the same texts of a class, so they share none.
    The difference of two such means has the same variance as if both came from an infinite population, and only the shares differ.
    Two fixed parts would differ in more than the shares.
    """

    def __init__(self, name: str, most: int = 8_000) -> None:
        self.name, self.most = name, most

    @property
    def k(self) -> int:
        return len(_counted(self.name, self.most)[1])

    def start(self, generator: np.random.Generator) -> None:
        self._left = [list(generator.permutation(rows)) for rows in _counted(self.name, self.most)[1]]

    def draw(self, codes: Array, generator: np.random.Generator) -> Array:
        rows = np.array([self._left[c].pop() for c in codes], dtype=np.int64)
        return _counted(self.name, self.most)[0][rows]

    def scorer(self) -> None:
        return None

    def __repr__(self) -> str:
        return f"Texts({self.name!r}, {self.most})"


def has_data(world: Any) -> bool:
    """Whether the files of a world are at hand."""
    if not isinstance(world, Texts):
        return True
    return (Path(os.environ.get("HEADCOUNT_DATA", "shared/data")) / world.name / "train.txt.gz").is_file()
