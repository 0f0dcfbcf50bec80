"""SELSE: its functions have the least variance, and its shares solve the equations of the formula."""

import numpy as np
import pytest

from headcount import PACC, SELSE, SLD, Samples, estimate
from headcount.exceptions import DataError
from headcount.quantifiers.scores.least_variance import LabelledDensities
from headcount.quantifiers.statistics import SampleItems
from tests.conftest import Linear, blobs, frozen, scored_items


def variance(h, f, p, n, sizes):
    """Asymptotic covariance of the solution of E_sample[h] = sum_l p_l E_l[h], for functions h of cells with frequencies f."""
    k = f.shape[1]
    means = h.T @ f

    def covariance(weights):
        mean = h.T @ weights
        return (h * weights[:, None]).T @ h - np.outer(mean, mean)

    noise = covariance(f @ p) / n + sum(p[j] ** 2 / sizes[j] * covariance(f[:, j]) for j in range(k))
    slopes = means[:, 1:] - means[:, :1]
    inverse = np.linalg.pinv(slopes)
    return inverse @ noise @ inverse.T


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize(("n", "size"), [(50, 500), (500, 50)])
def test_no_other_functions_have_less_variance(k, n, size):
    generator = np.random.default_rng(k)
    f = generator.dirichlet(np.full(12, 0.7), k).T
    p, sizes = generator.dirichlet(np.full(k, 2.0)), generator.integers(size, 2 * size, k)
    weights = p / n + p**2 / sizes
    best = variance((f / (f @ weights)[:, None])[:, 1:], f, p, n, sizes)
    others = [
        (f / (f @ p)[:, None])[:, 1:],  # the derivative of the likelihood
        f[:, 1:] / f.sum(axis=1, keepdims=True),
        *generator.standard_normal((50, 12, k - 1)),
        *((f / (f @ weights)[:, None])[:, 1:] + 0.1 * generator.standard_normal((50, 12, k - 1))),
    ]
    for h in others:
        assert np.linalg.eigvalsh(variance(h, f, p, n, sizes) - best).min() > -1e-12
    assert np.trace(variance(others[1], f, p, n, sizes)) > 1.001 * np.trace(best)


def by_loops(F_sample, F_labelled, codes, folds, pilot):
    """Return the shares that solve the equations, free to leave the simplex."""
    k, n = F_sample.shape[1], len(F_sample)
    sizes = np.bincount(codes)
    p = np.maximum(pilot, 1 / np.minimum(sizes, n))
    p /= p.sum()
    w = p / n + p**2 / sizes
    z = np.mean([x / (w @ x) for x in F_sample], axis=0)
    G = np.empty((k, k))
    for j in range(k):
        of_folds = [
            np.mean(
                [F_labelled[i] / (w @ F_labelled[i]) for i in np.flatnonzero((codes == j) & (folds == fold))], axis=0
            )
            for fold in np.unique(folds[codes == j])
        ]
        G[:, j] = np.mean(of_folds, axis=0)
    return np.linalg.lstsq(np.vstack([G, np.full(k, 1e6)]), np.append(z, 1e6), rcond=None)[0]


@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_shares_solve_the_equations(k):
    codes, P = scored_items(400, k, 0, separation=1.4)
    q = SELSE(frozen(range(k))).fit(P, codes)
    pool = scored_items(300, k, 1, separation=1.4)[1]
    samples = Samples.from_lists(list(np.random.default_rng(0).integers(0, 300, (8, 150))))
    statistics = q.reduce(q.outputs(pool), samples)
    pilot = SLD(frozen(range(k)), calibration="bcts").fit(P, codes).aggregate(q.outputs(pool), samples)
    folds = np.zeros(400, dtype=int)
    inside = 0
    for rows, p, start in zip(samples, q.solve(statistics), pilot, strict=True):
        free = by_loops(statistics.vectors[rows], q.validation_densities(), codes, folds, start)
        if free.min() > 0:
            np.testing.assert_allclose(p, free, atol=1e-7)
            inside += 1
        elif k == 2:
            np.testing.assert_allclose(p, np.clip(free, 0, 1), atol=1e-7)
    assert inside


@pytest.mark.kernels
def test_class_means_are_means_of_fold_means():
    generator = np.random.default_rng(0)
    F, codes = generator.random((30, 3)) + 0.1, np.tile([0, 1, 2], 10)
    folds = generator.integers(0, 4, 30)
    sample = generator.random((25, 3)) + 0.1
    pilot = np.array([[0.4, 0.35, 0.25]])
    labelled = LabelledDensities(F, codes, folds, repeats=1)
    weighted = Samples(np.arange(25), [0, 25], weights=np.full(25, 3.0))  # equal weights count as none
    for samples in (Samples.whole(25), weighted):
        p = labelled.shares(SampleItems(sample, samples), pilot)[0]
        free = by_loops(sample, F, codes, folds, pilot[0])
        if free.min() > 0:
            np.testing.assert_allclose(p, free, atol=1e-7)
        assert p.sum() == pytest.approx(1)


def test_items_that_count_nothing_change_nothing():
    codes, P = scored_items(200, 3, 0)
    q = SELSE(frozen(range(3))).fit(P, codes)
    out = q.outputs(scored_items(60, 3, 1)[1])
    counts = np.repeat([1.0, 0.0], 30)
    np.testing.assert_allclose(
        q.aggregate(out, Samples(np.arange(60), [0, 60], counts=counts)),
        q.aggregate(out.take(np.arange(30))),
        atol=1e-10,
    )


def test_it_varies_less_than_pacc_and_stays_right_where_posteriors_are_wrong():
    generator = np.random.default_rng(0)
    true = np.array([0.3, 0.7])
    errors = {PACC: [], SELSE: []}
    for seed in range(40):
        codes, P = scored_items(300, 2, seed, separation=1.0, shares=[0.6, 0.4])
        wrong = np.where(P > 0.5, P**0.3, P**3)
        wrong /= wrong.sum(axis=1, keepdims=True)
        new_codes, new = scored_items(500, 2, 1000 + seed, separation=1.0, shares=true)
        new = np.where(new > 0.5, new**0.3, new**3)
        new /= new.sum(axis=1, keepdims=True)
        for method, found in errors.items():
            q = method(frozen([0, 1])).fit(wrong, codes)
            found.append(q.predict(new[generator.permutation(500)])[1] - (new_codes == 1).mean())
    assert np.std(errors[SELSE]) < np.std(errors[PACC])
    assert abs(np.mean(errors[SELSE])) < 3 * np.std(errors[SELSE]) / np.sqrt(40)


def test_posteriors_of_0_and_1_and_tiny_samples_give_shares():
    codes, P = scored_items(120, 3, 0)
    hard = np.eye(3)[P.argmax(axis=1)]
    q = SELSE(frozen(range(3))).fit(hard, codes)
    for rows in (hard[:1], hard[codes == 1], hard):
        p = q.predict(rows)
        assert np.isfinite(p).all()
        assert p.sum() == pytest.approx(1)


def test_it_has_an_interval_with_folds_and_none_when_refitted():
    X, y = blobs(400, 3, 0)
    q = SELSE(Linear(), random_state=0).fit(X[:200], y[:200])
    answer = estimate(q, X[200:])
    assert (answer.low <= answer.shares).all()
    assert (answer.shares <= answer.high).all()
    with pytest.raises(DataError, match="with refit=True"):
        estimate(SELSE(Linear(), refit=True, random_state=0).fit(X[:200], y[:200]), X[200:])
    with pytest.raises(DataError, match="methods that maximise a likelihood"):
        estimate(q, X[200:], assume="calibrated")
