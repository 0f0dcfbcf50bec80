"""Resampling both sides: the items of the sample, and the labelled items of each class that the method learnt from.

Replicates are samples like any other: drawn by the protocols' kernel, added up by `reduce`, solved all at once.
"""

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.intervals.likelihood import LikelihoodModel, free_shares
from headcount.intervals.linear import LinearModel
from headcount.learners import Outputs
from headcount.protocols import Samples
from headcount.protocols.base import draw_items
from headcount.simplex import apportion

__all__ = ["likelihood_replicates", "linear_replicates"]


def _again(
    rows: IntArray, n_replicates: int, seed: np.random.SeedSequence, weights: FloatArray | None = None
) -> Samples:
    """Draw replicates of a sample with replacement, each of its size; an entry takes its weight along."""
    counts = np.full((n_replicates, 1), len(rows))
    if weights is None:
        pool = Samples._trusted(np.array(rows), np.array([0, len(rows)]), int(rows.max()) + 1)
        return draw_items(counts, pool, seed, replace=True)
    picked = draw_items(counts, Samples.whole(len(rows)), seed, replace=True)
    return Samples._trusted(rows[picked.indices], picked.indptr, int(rows.max()) + 1, weights[picked.indices])


def linear_replicates(
    model: LinearModel, outputs: Outputs, samples: Samples, n_replicates: int, pile: bool, seed: np.random.SeedSequence
) -> FloatArray:
    """Return replicates of the shares, not confined to the simplex: shape (n_samples, n_replicates, n_classes)."""
    labelled_seed, target_seed = seed.spawn(2)
    vectors = model.representation.vectors(outputs)
    own = model.representation.vectors(model.quantifier.validation_outputs_)
    codes = model.quantifier.validation_codes_
    k = len(model.sizes)
    seeds = labelled_seed.spawn(k)
    M = np.empty((n_replicates, own.shape[1], k))
    for j in range(k):
        M[:, :, j] = _again(np.flatnonzero(codes == j), n_replicates, seeds[j]).sum(own) / model.sizes[j]
    inverse = model.inverse_of(M)
    known = model.parts(outputs, samples, pile)
    sizes = np.maximum(np.round(samples.effective_sizes()), 1).astype(np.int64)
    replicates = np.empty((len(samples), n_replicates, k))
    for s, (rows, own_seed) in enumerate(zip(samples, target_seed.spawn(len(samples)), strict=True)):
        if pile:
            # Piles of the estimated composition, made of labelled items: what varies is which items of each class there are.
            counts = np.repeat(apportion(known.shares[s][None, :], int(sizes[s])), n_replicates, axis=0)
            q = draw_items(counts, Samples._grouped(codes, k), own_seed, replace=True).sum(own) / sizes[s]
            replicates[s] = model.solve(q, M, inverse) + known.centre[s] - counts[0] / sizes[s]
        else:
            weights = None if samples.weights is None else samples.weights_of(s)
            again = _again(rows, n_replicates, own_seed, weights)
            replicates[s] = model.solve(again.sum(vectors) / again.total_weights()[:, None], M, inverse)
    return replicates


def likelihood_replicates(
    model: LikelihoodModel, n_replicates: int, pile: bool, seed: np.random.SeedSequence
) -> FloatArray:
    """Return replicates of SLD's shares, one Newton step beyond where the simplex ends: shape as above.

    Where SLD calibrates, labelled items are drawn anew too: the calibration follows by one Newton step, the shares to first order.
    """
    samples, centre = model.samples, model.centre
    labelled_seed, target_seed = seed.spawn(2)
    scale = np.ones_like(centre)
    if pile:
        diagonals = [np.diagonal(model.target(which), axis1=1, axis2=2) for which in (True, False)]
        scale = np.sqrt(np.clip(diagonals[0] / diagonals[1], 0.0, 1.0))
    replicates = np.empty((len(samples), n_replicates, centre.shape[1]))
    for s, own_seed in enumerate(target_seed.spawn(len(samples))):
        weights = None if samples.weights is None else samples.weights_of(s)
        again = _again(samples[s], n_replicates, own_seed, weights)
        replicates[s] = centre[s] + scale[s] * (free_shares(model.P, model.prior, again) - centre[s])
    if model.calibration is not None:
        codes = model.quantifier.validation_codes_
        changes = np.zeros((n_replicates, centre.shape[1]))
        for j, own_seed in enumerate(labelled_seed.spawn(centre.shape[1])):
            again = _again(np.flatnonzero(codes == j), n_replicates, own_seed)
            changes += again.sum(model.calibration.influence)
        replicates += np.einsum("scp,rp->src", model.calibration.derivatives, changes)
    return replicates
