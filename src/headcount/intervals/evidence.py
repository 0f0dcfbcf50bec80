"""`Evidence`: means and spreads of item vectors in samples and in classes, which are all that intervals are made of."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.intervals.item_vectors import ItemVectors, item_vectors, outer_products
from headcount.quantifiers import Quantifier, SampleItems, Statistics
from headcount.simplex import sum_zero_basis

__all__ = ["Evidence", "evidence_at", "evidence_of_vectors", "gather_evidence"]

_ADDED_RATE, _LEAST_ITEMS = 0.12, 1.0
"""Items that stand for what few items of a class do not show: that the next one may look like another class's.

Vectors of cells, 0 or 1, get so many times the root of the class's size added, spread over the extreme vectors; where they are very
few, quantiles for few degrees of freedom count the same thing. Other vectors vary by at least what the second number of items would
add."""

_POOLED_RATE, _POOLED_ITEMS = 2.0, 16.0
"""Items with the spread of an average class that each class gets for intervals of means.

They are so many times the root of its size, but no more than the second number. Without them intervals hold in 90 % of cases where
nearly all new items are of one end (benchmarks/ordered_intervals.py)."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What samples and labelled items say about shares: see the formulas in `headcount.intervals._profile_kernels`.

    Arrays with a leading axis "one or n_samples" hold one entry for all samples where these have the same item vectors.

    Attributes
    ----------
    shares : array of shape (n_samples, n_classes)
        The estimates.
    z : array of shape (n_samples, n_coordinates)
        Mean vector of each sample.
    n : array of shape (n_samples,)
        Effective number of items of each sample.
    G : array of shape (one or n_samples, n_coordinates, n_classes)
        Mean vector of each class.
    S : array of shape (one or n_samples, n_classes, n_coordinates, n_coordinates)
        Covariance of an item's vector in each class.
    sizes : array of shape (n_classes,)
        Number of labelled items of each class, each counted once; with folds of unequal sizes, slightly fewer.
    B : array of shape (one or n_samples, n_classes, n_coordinates)
        Shares that solve z = G p, free to leave the simplex, change by B times a change of z.
    spread, third : arrays of shape (one or n_samples, n_classes, n_classes)
        Entry (l, j): variance and third central moment of row j of B times an item's vector, in class l.
    rank : array of int, shape (one or n_samples,)
        Number of directions in which class means differ; n_classes - 1 if all shares are determined.
    within : bool
        Whether the shares of the sample itself are meant, not those of its population.
    """

    vectors: ItemVectors
    index: IntArray
    shares: FloatArray
    z: FloatArray
    n: FloatArray
    G: FloatArray
    S: FloatArray
    sizes: FloatArray
    B: FloatArray
    spread: FloatArray
    third: FloatArray
    rank: IntArray
    within: bool

    def take(self, s: int) -> "Evidence":
        """Return the evidence of sample s alone."""
        one = slice(s, s + 1)
        alike = slice(0, 1) if len(self.G) == 1 else one
        by_sample = {name: getattr(self, name)[one] for name in ("index", "shares", "z", "n")}
        by_vectors = {name: getattr(self, name)[alike] for name in ("G", "S", "B", "spread", "third", "rank")}
        return replace(self, **by_sample, **by_vectors)

    def inside(self) -> FloatArray:
        """Return the shares inside the simplex at which the first sample's ratio vectors are taken."""
        inside: FloatArray = self.vectors.inside[int(self.index[0])]
        return inside

    def at(self, inside: FloatArray) -> "Evidence":
        """Return the evidence of one sample with its ratio vectors taken at other shares inside the simplex."""
        moved = _evidence(self.vectors.at(int(self.index[0]), inside), self.shares, self.n, self.within)
        return replace(moved, sizes=self.sizes)  # under a design they are effective ones

    def with_pooled_spread(self) -> "Evidence":
        """Return the same with the covariance of each class as if a few more of its items had the spread of an average class.

        Intervals of means go by it. Where new items are nearly all of one end of ordered classes, the coordinates of far classes
        are next to 0 for nearly all items of that end, and what the few others add is not in a class's own covariance.
        """
        numbers = np.maximum(self.sizes - 1.0, 0.0)[None, :, None, None]
        added = np.minimum(_POOLED_RATE * np.sqrt(self.sizes), _POOLED_ITEMS)[None, :, None, None]
        S = (self.S * numbers + added * self.S.mean(axis=1, keepdims=True)) / (numbers + added)
        return replace(self, S=S, spread=np.einsum("mja,mlab,mjb->mlj", self.B, S, self.B))

    def along(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return variance and third moment of an item's vector in each class, in the direction of the mean of these values.

        Both have the shape (one or n_samples, n_classes).
        """
        projections = values @ self.B
        spread = np.einsum("ma,mlab,mb->ml", projections, self.S, projections)
        rows = self.index[:1] if len(self.G) == 1 else self.index
        third = [_third_moments(self.vectors, int(s), b[None])[:, 0] for s, b in zip(rows, projections, strict=True)]
        return spread, np.stack(third)

    @cached_property
    def centre(self) -> FloatArray:
        """Shares that solve z = G p, free to leave the simplex."""
        k = self.shares.shape[1]
        start = np.full(k, 1.0 / k)
        off = self.z - (self.G @ start)
        solved: FloatArray = start + (self.B @ off[:, :, None])[:, :, 0]
        return solved


def gather_evidence(
    quantifier: Quantifier, statistics: Statistics | SampleItems, effective: FloatArray, within: bool
) -> Evidence:
    """Return the evidence of samples for a quantifier that has an interval."""
    shares = quantifier.solve(statistics)
    return evidence_of_vectors(item_vectors(quantifier, statistics, shares), shares, effective, within)


def evidence_of_vectors(vectors: ItemVectors, shares: FloatArray, effective: FloatArray, within: bool) -> Evidence:
    """Return the evidence of samples for item vectors."""
    evidence = _evidence(vectors, shares, effective, within)
    return evidence if within else replace(evidence, n=effective / _excess_spread(evidence))


def evidence_at(quantifier: Quantifier, statistics: Statistics | SampleItems, inside: FloatArray) -> Evidence:
    """Return the evidence of one sample with its ratio vectors taken at these shares, shape (1, n_classes), and not at its own."""
    return _evidence(item_vectors(quantifier, statistics, inside), inside, np.ones(1), False)


def _evidence(vectors: ItemVectors, shares: FloatArray, n: FloatArray, within: bool) -> Evidence:
    k = shares.shape[1]
    sizes = _mean_sizes(vectors.codes, vectors.folds, k) / vectors.repeats
    z = np.ascontiguousarray(vectors.means())
    by_sample = [_class_moments(vectors, s, k) for s in range(1 if vectors.is_shared else len(shares))]
    G, S, B, spread, third, rank = (np.stack(parts) for parts in zip(*by_sample, strict=True))
    return Evidence(vectors, np.arange(len(shares)), shares, z, n, G, S, sizes, B, spread, third, rank, within)


def _excess_spread(evidence: Evidence) -> FloatArray:
    """Return how many times the items of each sample vary more than those of the mixture should; at least 1.

    The classes' spread is known from few labelled items. Where it is too small by chance, all comparisons of samples, in which the
    labelled side's own error cancels, would be too sure at once.
    """
    observed, shares = evidence.vectors.observed(), evidence.shares
    G, S, B = evidence.G, evidence.S, evidence.B
    if observed is None:
        return np.ones(len(shares))
    implied = np.einsum("sl,slab->sab", shares, np.broadcast_to(S, (len(shares), *S.shape[1:])))
    implied = (
        implied + (G * shares[:, None, :]) @ np.swapaxes(G, 1, 2) - outer_products((G @ shares[:, :, None])[:, :, 0])
    )
    totals = [np.trace(B @ C @ np.swapaxes(B, 1, 2), axis1=1, axis2=2) for C in (observed, implied)]
    return np.asarray(np.maximum(totals[0] / np.maximum(totals[1], 1e-300), 1.0), dtype=np.float64)


def _mean_sizes(codes: IntArray, folds: IntArray, k: int) -> FloatArray:
    """Return how many items the mean of fold means of each class is worth."""
    n_folds = int(folds.max()) + 1
    counts = np.bincount(codes * n_folds + folds, minlength=k * n_folds).reshape(k, n_folds)
    present = counts > 0
    inverse = np.where(present, 1.0 / np.maximum(counts, 1), 0.0).sum(axis=1)
    sizes: FloatArray = present.sum(axis=1) ** 2 / inverse
    return sizes


def _class_moments(
    vectors: ItemVectors, s: int, k: int
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, int]:
    """Return G, S, B, spread, third and rank for sample s."""
    U, codes, folds = vectors.labelled(s), vectors.codes, vectors.folds
    extremes = vectors.extremes(s)
    d, plugged_in = U.shape[1], vectors.plugged_in(s)
    G, S = np.empty((d, k)), np.empty((k, d, d))
    centred = np.empty_like(U)
    weights = None if vectors.design is None else vectors.design.weights
    for j in range(k):
        rows = np.flatnonzero(codes == j)
        V = U[rows]
        parts, w = folds[rows], None if weights is None else weights[rows]
        G[:, j] = np.mean(
            [np.average(V[parts == f], axis=0, weights=None if w is None else w[parts == f]) for f in np.unique(parts)],
            axis=0,
        )
        mean = np.average(V, axis=0, weights=w)
        centred[rows] = V - mean
        root = centred[rows] if w is None else centred[rows] * np.sqrt(w * (len(w) / w.sum()))[:, None]
        S[j] = _covariance(root, extremes - mean, vectors.extremes_count)
        if plugged_in is not None:
            # Learning without an item moves its vector away from its own class. That is noise, and must not tell apart classes
            # that look the same: the mean shift counts as an error of the class mean.
            shift = vectors.shift_counts * (mean - np.average(plugged_in[rows], axis=0, weights=w))
            S[j] += len(rows) * np.outer(shift, shift)
    directions = sum_zero_basis(k)
    differences = G @ directions
    left, values, right = np.linalg.svd(differences, full_matrices=False)
    kept = values > max(1e-10 * values[0], 1e-12) if values.size else np.zeros(0, dtype=bool)
    B = directions @ (right[kept].T / values[kept]) @ left[:, kept].T
    spread = np.stack([np.einsum("ja,ab,jb->j", B, S[j], B) for j in range(k)])
    third = _third_moments(vectors, s, B)
    return G, S, B, spread, third, int(kept.sum())


def _third_moments(vectors: ItemVectors, s: int, projection: FloatArray) -> FloatArray:
    """Return third central moments of an item's projected vector in each class, for sample s: shape (n_classes, n_directions)."""
    U, extremes, codes = vectors.labelled(s) @ projection.T, vectors.extremes(s) @ projection.T, vectors.codes
    third = np.empty((codes.max() + 1, len(projection)))
    for j in range(len(third)):
        V = U[codes == j]
        mean, total, n = V.mean(axis=0), 0.0, float(len(V))
        if vectors.extremes_count:
            added = _ADDED_RATE * np.sqrt(n)
            total, n = added * _cubes(extremes - mean).mean(axis=0), n + added
        third[j] = (_cubes(V - mean).sum(axis=0) + total) / n
    return third


def _cubes(values: FloatArray) -> FloatArray:
    """Return third powers; by products, as numpy computes them by logarithms."""
    cubes: FloatArray = values * values * values
    return cubes


def _covariance(centred: FloatArray, off: FloatArray, add_extremes: bool) -> FloatArray:
    """Return the covariance of a class's vectors, centred; ``off``: extreme vectors less the class mean."""
    n = len(centred)
    products = centred.T @ centred
    added = _ADDED_RATE * np.sqrt(n) if add_extremes else _LEAST_ITEMS
    extreme = added * off.T @ off / len(off)
    total = n + added
    if add_extremes:
        widened: FloatArray = (products + extreme) / max(total - 1.0, 1.0)
        return widened
    covariance: FloatArray = products / max(n - 1, 1)
    return covariance if np.trace(covariance) > np.trace(extreme) / total else extreme / total
