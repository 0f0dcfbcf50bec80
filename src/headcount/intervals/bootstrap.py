"""Resampling both sides: the items of the sample, and the validation items of each class that the method learnt from.

Replicates are samples like any other: drawn by the protocols' kernel, added up by `reduce`, solved all at once.
"""

from copy import copy
from typing import Any

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.designs import SurveyDesign
from headcount.exceptions import DataError
from headcount.intervals.evidence import Evidence
from headcount.learners import Outputs
from headcount.protocols import Samples
from headcount.protocols.base import draw_items
from headcount.protocols.exact import to_units
from headcount.quantifiers import DensitiesQuantifier, Quantifier, SumsQuantifier
from headcount.simplex import apportion, sum_zero_basis

__all__ = [
    "design_replicates",
    "percentile_interval",
    "relearnt_replicates",
    "resample",
    "resample_classes",
    "statistic_replicates",
]


def resample(rows: IntArray, n_replicates: int, seed: np.random.SeedSequence, samples: Any = None) -> Samples:
    """Draw replicates of a sample with replacement, each of its size; an entry takes its weight and count along.

    Parameters
    ----------
    rows : array of int
        Items of the sample.
    n_replicates : int
    seed : SeedSequence
    samples : Samples of one sample, optional
        Whose weights and counts the entries have.
    """
    sizes = np.full((n_replicates, 1), len(rows))
    if samples is None or samples.factors is None:
        pool = Samples._trusted(np.array(rows), np.array([0, len(rows)]), int(rows.max()) + 1)
        return draw_items(sizes, pool, seed, replace=True)
    drawn = draw_items(sizes, Samples.whole(len(rows)), seed, replace=True)
    weights, counts = (None if f is None else f[drawn.indices] for f in (samples.weights, samples.counts))
    return Samples._trusted(rows[drawn.indices], drawn.indptr, int(rows.max()) + 1, weights, None, counts)


def resample_classes(codes: IntArray, n_classes: int, n_replicates: int, seed: np.random.SeedSequence) -> list[Samples]:
    """Draw replicates of the labelled items of each class, with replacement and of the same size."""
    seeds = seed.spawn(n_classes)
    return [resample(np.flatnonzero(codes == j), n_replicates, seeds[j]) for j in range(n_classes)]


def statistic_replicates(
    evidence: Evidence, outputs: Outputs, samples: Samples, n_replicates: int, seed: np.random.SeedSequence
) -> FloatArray:
    """Return replicates of the shares that solve z = G p, free to leave the simplex: shape (n_samples, n_replicates, n_classes).

    Labelled items are drawn again within classes, and the items of each sample within it. For the shares of the sample itself, its
    items are drawn from labelled ones, with the estimated shares: what varies is which items of each class there are.
    """
    labelled_seed, target_seed = seed.spawn(2)
    vectors = evidence.vectors
    codes, k = vectors.codes, evidence.shares.shape[1]
    by_class = resample_classes(codes, k, n_replicates, labelled_seed)
    sizes = np.maximum(np.round(samples.effective_sizes()), 1).astype(np.int64)
    replicates = np.empty((len(samples), n_replicates, k))
    profiles: FloatArray | None = None
    for s, one_seed in enumerate(target_seed.spawn(len(samples))):
        U = vectors.labelled(s)
        scale = float(np.abs(U).max(initial=1e-300))
        labelled = to_units(U / scale)
        if profiles is None or not vectors.is_shared:
            means = [drawn.sum_exact(labelled).values() / drawn.total_weights()[:, None] for drawn in by_class]
            profiles = scale * np.stack(means, axis=2)
        if evidence.within:
            counts = np.repeat(apportion(evidence.shares[s][None, :], int(sizes[s])), n_replicates, axis=0)
            drawn = draw_items(counts, Samples._grouped(codes, k), one_seed, replace=True)
            z = scale * drawn.sum_exact(labelled).values() / sizes[s]
            replicates[s] = _free_shares(z, profiles) + evidence.centre[s] - counts[0] / sizes[s]
        else:
            drawn = resample(samples[s], n_replicates, one_seed, samples[s : s + 1])
            target = vectors.target(s, outputs)
            size = float(np.abs(target).max(initial=1e-300))
            z = size * drawn.sum_exact(to_units(target / size)).values() / drawn.total_weights()[:, None]
            replicates[s] = _free_shares(z, profiles)
    return replicates


def design_replicates(
    evidence: Evidence,
    outputs: Outputs,
    samples: Samples,
    design: SurveyDesign | None,
    n_replicates: int,
    seed: np.random.SeedSequence,
) -> FloatArray:
    """Return replicates of the free shares under survey designs: clusters are drawn again within strata, with all their items.

    Of the m clusters of a stratum m - 1 are drawn with replacement, and their weights multiplied by m / (m - 1) (Rao and Wu 1988):
    the variance of a mean is then that of the linearised estimate. The labelled side is drawn first, for all samples alike.
    """
    labelled_seed, target_seed = seed.spawn(2)
    vectors, k = evidence.vectors, evidence.shares.shape[1]
    codes = vectors.codes
    of_labelled = SurveyDesign(weights=np.ones(len(codes))) if vectors.design is None else vectors.design
    drawn = _drawn_clusters(of_labelled, n_replicates, labelled_seed)
    replicates = np.empty((len(samples), n_replicates, k))
    for s, one_seed in enumerate(target_seed.spawn(len(samples))):
        U, rows = vectors.labelled(s), samples[s]
        profiles = np.empty((n_replicates, U.shape[1], k))
        for j in range(k):
            profiles[:, :, j] = _replicated_means(U, of_labelled.item_weights * (codes == j), *drawn)
        part = SurveyDesign(weights=np.ones(len(rows))) if design is None else design.take(rows)
        target = vectors.target(s, outputs)[rows]
        z = _replicated_means(target, samples.factors_of(s), *_drawn_clusters(part, n_replicates, one_seed))
        replicates[s] = _free_shares(z, profiles)
    return replicates


def _drawn_clusters(
    design: SurveyDesign, n_replicates: int, seed: np.random.SeedSequence
) -> tuple[IntArray, FloatArray]:
    """Return the cluster of each item, and what each cluster counts in each replicate, shape (n_replicates, n_clusters)."""
    clusters, first, code = np.unique(design.item_clusters, return_index=True, return_inverse=True)
    strata = design.item_strata[first]
    generator = np.random.default_rng(seed)
    counts = np.ones((n_replicates, len(clusters)))
    for stratum in np.unique(strata):
        members = np.flatnonzero(strata == stratum)
        m = len(members)
        if m > 1:  # a cluster alone in its stratum stays
            drawn = generator.multinomial(m - 1, np.full(m, 1.0 / m), size=n_replicates)
            # Rescaled by what is left of a finite population (Rao, Wu and Yue 1992).
            left = 1.0 if design.fractions is None else np.sqrt(1.0 - design.fractions[stratum])
            counts[:, members] = 1.0 + left * (drawn * (m / (m - 1.0)) - 1.0)
    return code, counts


def _replicated_means(U: FloatArray, weights: FloatArray, code: IntArray, counts: FloatArray) -> FloatArray:
    """Return the weighted mean vector in each replicate; that of all items where a replicate has none of them."""
    sums = np.stack([np.bincount(code, column * weights, counts.shape[1]) for column in U.T], axis=1)
    totals = np.bincount(code, weights, counts.shape[1])
    replicated = counts @ totals
    means = (counts @ sums) / np.where(replicated > 0.0, replicated, 1.0)[:, None]
    return np.where(replicated[:, None] > 0.0, means, sums.sum(axis=0) / totals.sum())


def _free_shares(z: FloatArray, G: FloatArray) -> FloatArray:
    """Return the shares that solve z = G p for each replicate."""
    k = G.shape[2]
    start, directions = np.full(k, 1.0 / k), sum_zero_basis(k)
    differences = G @ directions
    if differences.shape[1:] == (1, 1):
        inverse = np.where(differences == 0.0, 0.0, 1.0 / np.where(differences == 0.0, 1.0, differences))
    else:
        inverse = np.linalg.pinv(differences)
    moved = inverse @ (z - G @ start)[:, :, None]
    solved: FloatArray = start + (directions @ moved)[:, :, 0]
    return solved


def relearnt_replicates(
    quantifier: Quantifier, outputs: Outputs, samples: Samples, n_replicates: int, seed: np.random.SeedSequence
) -> FloatArray:
    """Return replicates of any method's estimates: it learns again from resampled validation items, for each replicate.

    The classifier stays as it is. The labelled side is drawn from the first spawned seed alone, so that two estimates with one seed
    share it.

    Returns
    -------
    array of shape (n_samples, n_replicates, n_classes)
    """
    items = quantifier.validation_items()
    if items is None or not isinstance(quantifier, SumsQuantifier | DensitiesQuantifier):
        raise DataError(
            f"{type(quantifier).__name__} keeps no validation items that could be drawn again: it can't be bootstrapped."
        )
    labelled_seed, target_seed = seed.spawn(2)
    k = len(quantifier.classes_)
    by_class = resample_classes(items[1], k, n_replicates, labelled_seed)
    by_sample = [
        resample(samples[s], n_replicates, one_seed, samples[s : s + 1])
        for s, one_seed in enumerate(target_seed.spawn(len(samples)))
    ]
    relearnt = copy(quantifier)
    replicates = np.empty((len(samples), n_replicates, k))
    for r in range(n_replicates):
        rows = np.concatenate([drawn[r] for drawn in by_class])
        validation = items[0].take(rows), items[1][rows]
        if isinstance(relearnt, SumsQuantifier):
            relearnt._learn_profiles(*validation)
        else:
            relearnt._learn_densities(*validation)
        for s, drawn in enumerate(by_sample):
            replicates[s, r] = relearnt.aggregate(outputs, drawn[r : r + 1])[0]
    return replicates


def percentile_interval(replicates: FloatArray, tails: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the quantiles of each sample's and class's replicates at its tail probability and at one minus it."""
    ordered = np.sort(replicates, axis=1)
    return _quantiles(ordered, tails), _quantiles(ordered, 1.0 - tails)


def _quantiles(ordered: FloatArray, levels: FloatArray) -> FloatArray:
    """Return the values that another replicate would be below with these probabilities, between order statistics."""
    position = np.clip(levels * (ordered.shape[1] + 1) - 1.0, 0.0, ordered.shape[1] - 1.0)
    below = np.floor(position).astype(np.int64)
    above = np.minimum(below + 1, ordered.shape[1] - 1)
    first, second = (np.take_along_axis(ordered, index[:, None, :], axis=1)[:, 0, :] for index in (below, above))
    between: FloatArray = first + (position - below) * (second - first)
    return between
