"""Populations with clusters, weights, strata and a size, for `benchmarks.designs`: labelled and new items drawn anew each time.

Classes and features are alike within clusters: both come from normal latent variables with the intra-class correlation. Given the
class, features are distributed alike in both populations, so that only the shares differ.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import softmax
from scipy.stats import norm

from headcount import Outputs, SurveyDesign

SEPARATION = 1.5
"""Distance of two classes' means in standard deviations."""
NOISE_COLUMNS = 2
STRATUM_PARTS = np.array([0.4, 0.3, 0.2, 0.1])
"""Parts of the population that lie in each of four strata, from which equal numbers are drawn."""
STRATUM_SHARES = {"labelled": np.array([0.2, 0.4, 0.6, 0.8]), "new": np.array([0.05, 0.1, 0.3, 0.6])}


@dataclass(frozen=True)
class Side:
    """How the items of one side are drawn.

    Attributes
    ----------
    clusters, size : int
        Number of clusters, and of items in each.
    correlation : float
        Intra-class correlation of classes and of features.
    weights : {"", "chance", "informative"}
        Items are kept with chance 1 or 1/4: by a coin, or by whether their first feature is above 0.
    strata : bool
    fraction : float
        Part of the population that is drawn; 0 for an infinite population.
    """

    clusters: int = 60
    size: int = 1
    correlation: float = 0.0
    weights: str = ""
    strata: bool = False
    fraction: float = 0.0


@dataclass
class Drawn:
    """Items of one side.

    Attributes
    ----------
    X : array of shape (n_items, n_features)
    y : array of int
    design : SurveyDesign or None
    shares : array of shape (n_classes,)
        The true shares of the population.
    """

    X: Any
    y: Any
    design: SurveyDesign | None
    shares: Any = field(default=None)

    def outputs(self) -> Outputs:
        """Posteriors by Bayes' rule for equal shares, as if from a classifier that is ready."""
        k = len(self.shares)
        places = centres(k)
        distances = ((self.X[:, None, : places.shape[1]] - places) ** 2).sum(axis=2)
        return Outputs.from_posteriors(softmax(-0.5 * distances, axis=1), np.arange(k))


def centres(k: int) -> Any:
    """Return the mean of each class's features: as far from each other for all pairs."""
    if k == 2:
        return SEPARATION * np.array([[-0.5], [0.5]])
    simplex = np.linalg.svd(np.eye(k) - 1.0 / k)[0][:, : k - 1]
    return SEPARATION / np.sqrt(2.0) * simplex


def population(generator: Any, clusters: int, size: int, correlation: float, shares: Any, wide: bool) -> Any:
    """Return features, classes and clusters of a population."""
    code = np.repeat(np.arange(clusters), size)
    places = centres(len(shares))

    def alike(columns: int) -> Any:
        shared = generator.standard_normal((clusters, columns))[code]
        own = generator.standard_normal((len(code), columns))
        return np.sqrt(correlation) * shared + np.sqrt(1.0 - correlation) * own

    above = norm.ppf(np.cumsum(shares)[:-1])
    y = (alike(1) > above).sum(axis=1)
    X = places[y] + alike(places.shape[1])
    return (np.column_stack([X, alike(NOISE_COLUMNS)]) if wide else X), y, code


def draw(generator: Any, side: Side, shares: Any, role: str, wide: bool = False) -> Drawn:
    """Draw the items of a side: ``role`` is "labelled" or "new"."""
    shares = np.asarray(shares, dtype=float)
    if side.strata:
        return _from_strata(generator, side, role, wide)
    many = side.clusters if not side.fraction else round(side.clusters / side.fraction)
    X, y, code = population(generator, many, side.size, side.correlation, shares, wide)
    if side.fraction:
        truth = np.bincount(y, minlength=len(shares)) / len(y)
        rows = np.flatnonzero(np.isin(code, generator.choice(many, side.clusters, replace=False)))
        if side.size > 1:
            design = SurveyDesign(clusters=code[rows], population_clusters=many)
        else:
            design = SurveyDesign(weights=np.ones(len(rows)), population_size=many)
        return Drawn(X[rows], y[rows], design, truth)
    if side.weights:
        often = X[:, 0] > 0 if side.weights == "informative" else generator.random(len(X)) < 0.5
        kept = np.flatnonzero(generator.random(len(X)) < np.where(often, 1.0, 0.25))
        weights = np.where(often, 1.0, 4.0)[kept]
        clusters = code[kept] if side.size > 1 else None
        return Drawn(X[kept], y[kept], SurveyDesign(weights, clusters=clusters), shares)
    return Drawn(X, y, SurveyDesign(clusters=code) if side.size > 1 else None, shares)


def _from_strata(generator: Any, side: Side, role: str, wide: bool) -> Drawn:
    parts = []
    for share in STRATUM_SHARES[role]:
        each = side.clusters // len(STRATUM_PARTS)
        parts.append(population(generator, each, side.size, side.correlation, [1.0 - share, share], wide))
    X, y = (np.concatenate(column) for column in list(zip(*parts, strict=True))[:2])
    stratum = np.repeat(np.arange(len(parts)), [len(part[1]) for part in parts])
    clusters = np.concatenate([1000 * h + part[2] for h, part in enumerate(parts)])
    design = SurveyDesign(STRATUM_PARTS[stratum], stratum, clusters if side.size > 1 else None)
    share = float(STRATUM_PARTS @ STRATUM_SHARES[role])
    return Drawn(X, y, design, np.array([1.0 - share, share]))


def independent(generator: Any, n_items: int, shares: Any, wide: bool = False) -> Drawn:
    """Draw as many independent items of equal weight from a population with these shares."""
    X, y, _ = population(generator, n_items, 1, 0.0, np.asarray(shares), wide)
    return Drawn(X, y, None, np.asarray(shares))
