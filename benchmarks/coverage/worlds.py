"""Where items come from: Gaussian classes and scorers of a known quality. Real items are in `real`."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
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
class UnequalGaussian(Gaussian):
    """Gaussian classes of which the last has ``spread`` times the standard deviation: no temperature calibrates a linear score."""

    spread: float = 2.0

    def draw(self, codes: Array, generator: np.random.Generator) -> Array:
        X = super().draw(codes, generator)
        centres = np.zeros_like(X)
        centres[:, : self.k] = self.separation / np.sqrt(2) * np.eye(self.k)[codes]
        return np.where((codes == self.k - 1)[:, None], centres + self.spread * (X - centres), X)


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
