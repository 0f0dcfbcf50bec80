"""RUN and its solvers: global optima, what the penalty does, and what is refused."""

import numpy as np
import pytest

from headcount import ACC, PACC, RUN, DirichletPrevalence, Outputs, QuantifierSearch, Samples, estimate
from headcount.exceptions import DataError
from headcount.quantifiers import RegularisedLeastSquares, RegularisedLikelihood
from headcount.quantifiers.scores.regularised import penalty_matrix
from headcount.quantifiers.scores.run import ConfidenceCells
from headcount.simplex import grid, mixture_least_squares
from tests.conftest import Linear, blobs, frozen, scored_items

PENALTIES = ["norm", "differences", "curvature"]


def penalty_of(p, kind):
    k = len(p)
    if kind == "norm":
        return sum(x**2 for x in p)
    if kind == "differences":
        return sum((p[j + 1] - p[j]) ** 2 for j in range(k - 1))
    return sum((p[j - 1] - 2 * p[j] + p[j + 1]) ** 2 for j in range(1, k - 1))


def problems(k, d, n_samples, seed=0):
    generator = np.random.default_rng(seed)
    M = generator.dirichlet(np.full(d, 0.4), k).T
    q = np.array([generator.multinomial(50, M @ generator.dirichlet(np.full(k, 0.5))) for _ in range(n_samples)]) / 50
    return M, q


@pytest.mark.parametrize("kind", PENALTIES)
def test_the_penalty_matrix_is_that_of_the_formula(kind):
    for k in (3, 4, 7):
        p = np.random.default_rng(k).dirichlet(np.ones(k))
        assert ((penalty_matrix(k, kind) @ p) ** 2).sum() == pytest.approx(penalty_of(p, kind))


@pytest.mark.parametrize("kind", PENALTIES)
@pytest.mark.parametrize("strength", [0.0, 0.03, 2.0])
def test_both_losses_reach_the_least_of_a_fine_grid_of_shares(kind, strength):
    M, q = problems(3, 7, 6)
    points = grid(3, 50) / 50
    penalties = strength * np.array([penalty_of(p, kind) for p in points])
    squares, likelihood = RegularisedLeastSquares(strength, kind), RegularisedLikelihood(strength, kind)
    for row, a, b in zip(q, squares.solve(q, M), likelihood.solve(q, M), strict=True):

        def by_squares(p, row=row):
            return ((M @ p - row) ** 2).sum() + strength * penalty_of(p, kind)

        def by_likelihood(p, row=row):
            return (
                -sum(x * np.log(m) for x, m in zip(row, M @ p, strict=True) if x > 0)
                + strength * penalty_of(p, kind) / 2
            )

        assert by_squares(a) <= (((points @ M.T - row) ** 2).sum(axis=1) + penalties).min() + 1e-12
        assert by_likelihood(b) <= min(by_likelihood(p) for p in points if (M @ p)[row > 0].min() > 0) + 1e-12


@pytest.mark.parametrize("k", [2, 5, 12])
def test_the_likelihood_is_maximised_within_1e_9(k):
    """The duality gap g.p - min_j g_j of a convex objective with gradient g bounds the distance to its optimum."""
    for strength, kind in ((0.0, "norm"), (0.5, "norm"), (0.2, "differences")):
        M, q = problems(k, 3 * k, 60, seed=k)
        p = RegularisedLikelihood(strength, kind).solve(q, M)
        T = penalty_matrix(k, kind)
        gradient = -np.divide(q, p @ M.T, out=np.zeros_like(q), where=q > 0) @ M + strength * p @ T.T @ T
        assert ((gradient * p).sum(axis=1) - gradient.min(axis=1)).max() < 1e-9
        assert (p >= 0).all()


def test_the_likelihood_without_penalty_is_that_of_expectation_maximisation():
    M, q = problems(4, 9, 20)
    p = np.full((20, 4), 0.25)
    for _ in range(20_000):
        p *= np.divide(q, p @ M.T, out=np.zeros_like(q), where=q > 0) @ M
    np.testing.assert_allclose(RegularisedLikelihood(0.0).solve(q, M), p, atol=1e-5)


def test_cells_without_validation_items_and_empty_cells_say_nothing():
    M = np.array([[0.7, 0.1], [0.3, 0.9], [0.0, 0.0]])
    solver = RegularisedLikelihood(0.0)
    known = solver.solve(np.array([[0.4, 0.6]]), M[:2])
    np.testing.assert_allclose(solver.solve(np.array([[0.2, 0.3, 0.5]]), M), known, atol=1e-8)
    assert known[0, 0] == pytest.approx(0.5)
    np.testing.assert_allclose(solver.solve(np.array([[1.0, 0.0, 0.0]]), M), [[1.0, 0.0]], atol=1e-9)


def test_a_stack_of_problems_equals_one_by_one():
    generator = np.random.default_rng(0)
    M, Q = generator.random((30, 6, 4)), generator.random((30, 6))
    M[3, :, 1] = M[3, :, 2]
    one_by_one = [mixture_least_squares(m, q[None])[0] for m, q in zip(M, Q, strict=True)]
    np.testing.assert_allclose(mixture_least_squares(M, Q), one_by_one, atol=1e-12)
    with pytest.raises(DataError, match="a stack one matrix for each row of Q"):
        mixture_least_squares(M[:3], Q)


@pytest.mark.kernels
def test_stacks_of_problems_compiled_and_not():
    M = np.array([[[0.8, 0.1], [0.2, 0.9]], [[0.6, 0.3], [0.4, 0.7]]])
    Q = np.array([[0.45, 0.55], [0.9, 0.1]])
    np.testing.assert_allclose(mixture_least_squares(M, Q), [[0.5, 0.5], [1.0, 0.0]], atol=1e-12)


def test_strong_penalties_give_equal_or_linear_shares():
    M, q = problems(5, 10, 6)
    for solver in (RegularisedLeastSquares, RegularisedLikelihood):
        np.testing.assert_allclose(solver(1e5, "norm").solve(q, M), 0.2, atol=1e-3)
        np.testing.assert_allclose(solver(1e5, "differences").solve(q, M), 0.2, atol=1e-3)
        assert np.abs(np.diff(solver(1e5, "curvature").solve(q, M), n=2)).max() < 1e-3


def test_run_without_cells_and_penalty_is_acc_or_pacc():
    codes, P = scored_items(300, 4, 0, separation=1.2)
    pool = Outputs.from_posteriors(scored_items(200, 4, 1, separation=1.2)[1], range(4))
    samples = Samples.from_matrix(np.random.default_rng(0).integers(0, 200, (9, 60)))
    for vectors, other in (("decisions", ACC), ("posteriors", PACC)):
        q = RUN(frozen(range(4)), vectors=vectors, loss="squares").fit(P, codes)
        expected = other(frozen(range(4))).fit(P, codes).aggregate(pool, samples)
        np.testing.assert_allclose(q.aggregate(pool, samples), expected, atol=1e-12)


def test_cells_are_those_of_decision_and_confidence():
    P = np.array([[0.55, 0.45], [0.8, 0.2], [0.3, 0.7], [0.0, 1.0], [0.25, 0.75]])
    assert ConfidenceCells(2).codes(Outputs.from_posteriors(P, [0, 1])).tolist() == [0, 1, 2, 3, 3]
    assert ConfidenceCells(1).codes(Outputs.from_posteriors(P, [0, 1])).tolist() == [0, 0, 1, 1, 1]


def test_smooth_shares_of_ordered_classes_are_found_better_with_curvature():
    def draw(n, shares, seed):
        generator = np.random.default_rng(seed)
        y = generator.choice(6, n, p=shares)
        return y[:, None] + 1.3 * generator.standard_normal((n, 1)), y

    smooth = np.array([0.05, 0.1, 0.2, 0.3, 0.25, 0.1])
    errors = {0.0: [], 0.1: []}
    for seed in range(6):
        X, y = draw(240, np.full(6, 1 / 6), seed)
        new, _ = draw(300, smooth, 100 + seed)
        for strength, found in errors.items():
            found.append(np.abs(RUN(strength=strength, random_state=0).fit(X, y).predict(new) - smooth).mean())
    assert np.mean(errors[0.1]) < 0.75 * np.mean(errors[0.0])


def test_the_strength_is_found_by_a_search():
    X, y = blobs(300, 3, 0)
    protocol = DirichletPrevalence(1.0, n_samples=20, sample_size=50, random_state=0)
    search = QuantifierSearch(
        RUN(Linear(), random_state=0), {"strength": [0.0, 0.1]}, protocol=protocol, random_state=0
    )
    assert search.fit(X, y).best_params_["strength"] in (0.0, 0.1)


def test_a_penalised_estimate_has_the_interval_without_penalty():
    X, y = blobs(400, 3, 0)
    for loss, vectors in (("likelihood", "cells"), ("squares", "posteriors")):
        free, penalised = (
            estimate(
                RUN(Linear(), strength=s, loss=loss, vectors=vectors, random_state=0).fit(X[:200], y[:200]), X[200:]
            )
            for s in (0.0, 0.5)
        )
        assert (penalised.low <= penalised.shares).all()
        assert (penalised.high >= penalised.shares).all()
        if loss == "squares":
            np.testing.assert_allclose(penalised.low, np.minimum(free.low, penalised.shares), atol=0.02)


@pytest.mark.parametrize(
    ("quantifier", "words"),
    [
        (RUN(strength=1.0), "needs at least three classes, and there are 2"),
        (RUN(vectors="posteriors"), "have no likelihood: pass loss='squares'"),
        (RUN(strength=-1.0), "'strength' parameter of RUN"),
        (RUN(penalty="smooth"), "'penalty' parameter of RUN"),
        (RUN(n_bins=0), "'n_bins' parameter of RUN"),
    ],
)
def test_invalid_settings_are_refused(quantifier, words):
    with pytest.raises(ValueError, match=words):
        quantifier.fit(*blobs(60, 2, 0))
