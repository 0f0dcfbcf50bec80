"""Cutting planes against enumeration of all labellings, against known optima, and on hard problems."""

import csv
import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.datasets import load_svmlight_file

from headcount import SVMperf
from headcount.learners.svmperf import LOSSES, _kernels
from headcount.learners.svmperf.cuts import CuttingPlanes
from headcount.learners.svmperf.losses import worst_labelling
from tests.learners.svmperf.test_losses import loss_of


def solved(X, positive, loss, C, eps=1e-6, max_iter=5000):
    positive = np.asarray(positive, dtype=bool)
    worst = worst_labelling(loss, int(positive.sum()), int((~positive).sum()))
    return CuttingPlanes(X, positive, worst).solve(C, eps, max_iter)


def all_cuts(X, positive, loss):
    """The flips of every labelling with a loss, and these losses."""
    n, P = len(positive), int(positive.sum())
    flips, losses = [], []
    for called in itertools.product([False, True], repeat=n):
        called = np.array(called)
        delta = loss_of(loss, int((called & positive).sum()), int((called & ~positive).sum()), P, n - P)
        if delta > 0:
            flips.append(np.where(called == positive, 0.0, np.where(positive, 1.0, -1.0)) * 100 / n)
            losses.append(delta)
    return np.array(flips), np.array(losses)


def primal(solution, X, positive, loss, C):
    """The objective at a solution, by enumeration."""
    flips, losses = all_cuts(X, positive, loss)
    scores = X @ solution.coef + solution.intercept
    slack = max(0.0, float((losses - flips @ scores).max(initial=0.0)))
    return (solution.coef @ solution.coef + solution.intercept**2) / 2 + C * slack


def dual(X, positive, loss, C):
    """A lower bound of the optimum by a general solver over all labellings: any feasible dual weights give one."""
    flips, losses = all_cuts(X, positive, loss)
    features = np.column_stack([X, np.ones(len(X))])
    U = flips @ features
    norm = max(1.0, float(np.abs(U).max()))

    def negated(alpha):
        w = alpha @ U
        return (w @ w / 2 - losses @ alpha) / norm, (U @ w - losses) / norm

    start = np.full(len(losses), C / (2 * len(losses)))
    result = minimize(
        negated, start, jac=True, method="SLSQP", bounds=[(0, C)] * len(losses), tol=1e-12,
        constraints={"type": "ineq", "fun": lambda a: C - a.sum(), "jac": lambda a: -np.ones(len(a))},
        options={"maxiter": 500},
    )  # fmt: skip
    alpha = np.clip(result.x, 0, None)
    alpha *= min(1.0, C / max(alpha.sum(), 1e-300))
    return -negated(alpha)[0] * norm


TINY = [
    (np.array([[1.0, 0.0], [0.5, 1.0], [-1.0, 0.3], [0.2, -1.0], [0.1, 0.1]]), [1, 1, 0, 0, 1]),
    (np.array([[1.0], [1.0], [-1.0], [-1.0]]), [1, 0, 1, 0]),  # contradictory
    (np.array([[0.0], [0.0], [0.0]]), [1, 0, 0]),  # all rows zero
    (np.array([[2.0, 1.0], [2.0, 1.0], [1.0, 1.0]]), [1, 1, 0]),
    (np.array([[0.7, -0.2]]), [1]),
    (np.array([[0.7, -0.2], [0.1, 0.4]]), [1, 1]),  # one class
    (np.array([[0.7, -0.2], [0.1, 0.4]]), [0, 0]),
    (np.array([[0.7, -0.2], [0.1, 0.4]]), [0, 1]),
]


@pytest.mark.kernels
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [0.01, 1.0, 50.0])
@pytest.mark.parametrize("case", range(len(TINY)))
def test_tiny_problems_equal_enumeration_of_all_labellings(case, C, loss):
    X, y = TINY[case]
    positive = np.array(y, dtype=bool)
    solution = solved(X, positive, loss, C, eps=1e-7)
    assert solution.converged
    assert solution.objective == pytest.approx(primal(solution, X, positive, loss, C), rel=1e-7, abs=1e-7)
    assert solution.bound <= solution.objective + 1e-9
    assert solution.gap <= 1e-6 * C
    assert dual(X, positive, loss, C) == pytest.approx(solution.objective, rel=2e-4, abs=2e-4)


@pytest.mark.kernels
@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6), n=st.integers(1, 9), loss=st.sampled_from(LOSSES),
    C=st.sampled_from([0.01, 1.0, 100.0, 1e4]), decimals=st.sampled_from([0, 3]),
)  # fmt: skip
def test_random_tiny_problems_are_solved(seed, n, loss, C, decimals):
    """Rounded features make duplicates, ties and contradictions. The bound is the value of a feasible dual point."""
    generator = np.random.default_rng(seed)
    X = np.round(generator.standard_normal((n, 2)), decimals)
    positive = generator.random(n) < 0.6
    solution = solved(X, positive, loss, C, eps=1e-4)
    value = primal(solution, X, positive, loss, C)
    assert value == pytest.approx(solution.objective, rel=1e-7, abs=1e-6)
    assert solution.converged
    assert solution.gap <= C * 1e-4 * (1 + 1e-9) + 1e-9


@pytest.mark.data
@pytest.mark.parametrize("eps", [0.1, 1e-4])
def test_the_known_optima_are_reached(data_dir, eps):
    folder = data_dir.parent / "paper" / "svmperf"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there")
    for row in csv.DictReader((folder / "optimum.csv").read_text().splitlines()):
        X, y = load_svmlight_file(str(folder / f"{row['set']}.svm"))
        C = float(row["C"])
        solution = solved(X.tocsr(), y > 0, row["loss"], C, eps)
        assert solution.converged
        least, most = float(row["optimum_at_least"]), float(row["optimum_at_most"])
        digits = 1e-5  # of the file
        assert least - digits <= solution.objective <= most + C * eps + digits, row
        assert solution.bound <= most + digits, row


@pytest.mark.kernels
@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 12), rank=st.integers(1, 6), C=st.sampled_from([0.1, 1.0, 1e5]))
def test_the_quadratic_problem_is_solved_to_its_gap(seed, n, rank, C):
    generator = np.random.default_rng(seed)
    U = np.round(generator.standard_normal((n, rank)), 1)  # fewer dimensions than cuts, and duplicates
    U[0] = 0.0
    G, loss = U @ U.T, np.abs(np.round(generator.standard_normal(n), 1))
    loss[0] = 0.0
    alpha = np.zeros(n)
    alpha[0] = C
    gap = _kernels.minimise_on_simplex(G, loss, C, 1e-9, 1000, alpha)
    assert (alpha >= 0).all()
    assert alpha.sum() == pytest.approx(C)
    gradient = G @ alpha - loss
    assert gap == pytest.approx(alpha @ gradient - C * gradient.min(), rel=1e-6, abs=1e-9 * C)
    assert gap <= 1e-7 * C


def hard_cases():
    generator = np.random.default_rng(0)
    y = (generator.random(3000) < 0.98).astype(int)
    yield "two percent negatives", generator.standard_normal((3000, 20)) + y[:, None] / 2, y, 1e4
    X = generator.standard_normal((1000, 10))
    yield "not separable, dense", X, (X[:, 0] + generator.standard_normal(1000) > 0).astype(int), 1e5
    half = generator.standard_normal((100, 8))
    yield "contradictory duplicates", np.repeat(half, 2, axis=0), np.tile([0, 1], 100), 1e4
    X, y = np.vstack([np.repeat(half, 2, axis=0), half + 1]), np.concatenate([np.tile([0, 1], 100), half[:, 0] > 0])
    yield "some contradictory duplicates", X, y, 1e5
    rows = sp.random(300, 200, 0.05, random_state=0, format="csr")
    yield "contradictory documents", sp.vstack([rows, rows[:150]]).tocsr(), np.arange(450) % 2, 1e4
    yield "a constant feature", np.ones((50, 1)), np.arange(50) % 5 == 0, 1e4
    yield "all rows zero", np.zeros((50, 3)), np.arange(50) % 5 == 0, 1e4
    for n in (1, 2, 3):
        yield f"{n} items", generator.standard_normal((n, 2)), np.arange(n) % 2, 1e5


HARD = list(hard_cases())


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("case", HARD, ids=[case[0] for case in HARD])
def test_hard_cases_converge(case, loss):
    _, X, y, C = case
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a ConvergenceWarning
        svm = SVMperf(loss=loss, C=C).fit(X, y)
    assert svm.gap_ <= C * svm.eps
    assert svm.n_iter_ < 1000
    assert np.isfinite(svm.coef_).all()


def test_arrays_grow_for_many_cuts_and_unused_cuts_are_dropped(monkeypatch):
    monkeypatch.setattr("headcount.learners.svmperf.cuts._CAPACITY", 8)
    generator = np.random.default_rng(1)
    X = generator.standard_normal((400, 60))
    y = (X[:, :5].sum(axis=1) + 2 * generator.standard_normal(400)) > 0
    planes = CuttingPlanes(X, y, worst_labelling("f1", int(y.sum()), int((~y).sum())))
    solution = planes.solve(1.0, 1e-5, 5000)
    assert solution.converged
    assert planes.rounds > 200
    assert 8 < planes.count < 2 * planes.rounds - 100  # a plain round adds one cut, a stabilised one two
