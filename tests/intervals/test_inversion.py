"""The inversion behind intervals and differences: the quadratic programme, grids of shares, families of comparisons."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm

from headcount import ACC, PACC, SLD, HDy, Samples, difference, differences, estimate
from headcount.exceptions import DataError
from headcount.intervals import _profile_kernels
from headcount.intervals._profile_kernels import minimise_quadratic
from headcount.intervals.evidence import gather_evidence
from headcount.simplex import mixture_least_squares
from tests.conftest import frozen, scored_items

pytestmark = pytest.mark.kernels


def fitted(quantifier, k=2, n=300, seed=0, separation=1.5, **options):
    codes, P = scored_items(n, k, seed, separation)
    return quantifier(frozen(range(k)), **options).fit(P, codes)


def target(n=300, k=2, seed=1, shares=None, separation=1.5):
    return scored_items(n, k, seed, separation, shares)[1]


@pytest.mark.parametrize("seed", range(6))
def test_the_quadratic_programme_finds_the_minimum(seed):
    generator = np.random.default_rng(seed)
    m = 5
    R = generator.standard_normal((m - seed % 3, m))  # of full rank or not
    H, g = R.T @ R, generator.standard_normal(m)
    E = np.ones((1, m)) if seed % 2 else np.array([[1.0, 1, 1, 0, 0], [1, 0, 0, 1, 1]])
    e = np.ones(len(E))
    x = np.full(m, 1.0 / m) if seed % 2 else np.array([0.2, 0.4, 0.4, 0.4, 0.4])
    expected = minimize(
        lambda v: v @ H @ v / 2 - g @ v,
        x.copy(),
        jac=lambda v: H @ v - g,
        bounds=[(0, None)] * m,
        constraints={"type": "eq", "fun": lambda v: E @ v - e},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    minimise_quadratic(H, g, E, e, x)
    assert (x >= 0).all()
    np.testing.assert_allclose(E @ x, e, atol=1e-9)
    assert x @ H @ x / 2 - g @ x <= expected.fun + 1e-7


def distance(evidence, shares):
    """The generalised distance of a sample from the mixture with these shares, from the formula."""
    G, S, n = evidence.G[0], evidence.S[0], evidence.n[0]
    C = sum((p / n + p**2 / m) * s for p, m, s in zip(shares, evidence.sizes, S, strict=True))
    C = C + (G * shares @ G.T - np.outer(G @ shares, G @ shares)) / n
    off = evidence.z[0] - G @ shares
    return off @ np.linalg.solve(C, off)


@pytest.mark.parametrize("shares", [[0.2, 0.3, 0.5], [0.0, 0.4, 0.6]])
def test_ends_of_three_classes_are_where_the_profile_of_a_grid_reaches_the_quantile(shares):
    """At the ends the root of the least distance of a grid, less that of all shares, is Student's quantile moved by skewness."""
    q = fitted(PACC, 3, n=900)
    X = target(600, 3, shares=shares)
    result = estimate(q, X, level=0.9)
    grid = np.linspace(0, 1, 401)
    simplex = np.array(
        [(a, b, 1 - a - b) for a in np.linspace(0, 1, 101) for b in np.linspace(0, 1, 101) if a + b <= 1]
    )
    least = min(distance(result.evidence, p) for p in simplex)
    for j, v in [(1, result.low[1]), (1, result.high[1]), (2, result.low[2])]:
        others = [i for i in range(3) if i != j]
        on = np.zeros((len(grid), 3))
        on[:, j], on[:, others[0]], on[:, others[1]] = v, (1 - v) * grid, (1 - v) * (1 - grid)
        root = np.sqrt(max(min(distance(result.evidence, p) for p in on) - least, 0.0))
        assert root == pytest.approx(
            norm.isf(0.05), rel=0.12
        )  # the moves for few items and skewness are smaller than that


def test_a_difference_of_two_classes_is_inverted_as_a_grid_says():
    q = fitted(PACC, n=400)
    a, b = (estimate(q, target(400, seed=s, shares=shares)) for s, shares in ((1, [0.7, 0.3]), (2, [0.5, 0.5])))
    found = difference(a, b)
    e, f = a.evidence, b.evidence
    inside = []
    for delta in np.linspace(-0.5, 0.9, 141):
        firsts = np.linspace(max(0.0, -delta), min(1.0, 1.0 - delta), 201)
        roots = []
        for p in firsts:
            p_a, p_b = np.array([1 - p, p]), np.array([1 - p - delta, p + delta])
            off = np.array([e.z[0, 0] - e.G[0, 0] @ p_a, f.z[0, 0] - f.G[0, 0] @ p_b])
            C = np.zeros((2, 2))
            for row, (one, share) in enumerate(((e, p_a), (f, p_b))):
                G, S, n = one.G[0, 0], one.S[0, :, 0, 0], one.n[0]
                C[row, row] = ((share / n + share**2 / one.sizes) * S).sum() + (share @ G**2 - (share @ G) ** 2) / n
            C[0, 1] = C[1, 0] = (p_a * p_b * e.S[0, :, 0, 0] / e.sizes).sum()
            roots.append(off @ np.linalg.solve(C, off))
        if np.sqrt(min(roots)) <= norm.isf(0.025) * 1.01:  # Student's quantile for hundreds of degrees of freedom
            inside.append(delta)
    assert found.low[1] == pytest.approx(min(inside), abs=0.03)
    assert found.high[1] == pytest.approx(max(inside), abs=0.03)
    assert (found.p_value[1] < 0.05) == (found.low[1] > 0 or found.high[1] < 0)


@pytest.mark.parametrize(("quantifier", "options"), [(ACC, {}), (PACC, {}), (HDy, {}), (SLD, {"calibration": "bcts"})])
def test_the_p_value_is_the_level_at_which_zero_is_an_end(quantifier, options):
    q = fitted(quantifier, n=200, **options)
    a, b = (estimate(q, target(250, seed=s, shares=shares)) for s, shares in ((1, [0.7, 0.3]), (2, [0.5, 0.5])))
    p = difference(a, b).p_value[1]
    assert 1e-9 < p < 0.999
    for level, zero_inside in ((1 - p / 1.02, True), (1 - p * 1.02, False)):
        found = difference(a, b, level=level)
        assert bool(found.low[1] <= 0 <= found.high[1]) is zero_inside


@pytest.mark.parametrize("against", ["first", "previous", "all"])
def test_families_are_wider_than_single_comparisons_and_narrower_than_bonferroni(against):
    q = fitted(PACC, 3, n=300)
    months = estimate(q, target(800, 3), Samples.from_groups(np.repeat(["a", "b", "c", "d"], 200)))
    family = differences(months, against)
    assert family.change.shape == ({"first": 3, "previous": 3, "all": 6}[against], 3)
    for row, (first, second) in enumerate(zip(family.first, family.second, strict=True)):
        pair = [months.take(months.names.index(name)) for name in (first, second)]
        alone = difference(*pair)
        bonferroni = difference(*pair, level=1 - 0.05 / family.change.size)
        np.testing.assert_allclose(family.change[row], alone.change)
        width = family.high[row] - family.low[row]
        assert (width > alone.high - alone.low).all()
        assert (width < bonferroni.high - bonferroni.low).all()
        assert (family.p_value[row] >= alone.p_value).all()
        np.testing.assert_allclose(family.p_single[row], alone.p_value)
    np.testing.assert_array_equal(family.p_value, differences(months, against).p_value)
    assert len(family.to_frame()) == family.change.size
    assert "hold together" in repr(family)
    assert "hold together" in family._repr_html_()


def test_families_that_can_not_be_compared_raise_a_sentence():
    q = fitted(PACC)
    months = estimate(q, target(400), Samples.from_matrix(np.arange(400).reshape(4, 100)))
    with pytest.raises(DataError, match="against must be 'first', 'previous' or 'all'; got 'last'"):
        differences(months, "last")
    with pytest.raises(DataError, match="at least two samples"):
        differences(months.take(0))
    with pytest.raises(DataError, match="by one fitted quantifier"):
        differences([months.take(0), estimate(fitted(PACC, seed=3), target(100))])
    with pytest.raises(DataError, match="same estimand"):
        differences([months.take(0), estimate(q, target(100), estimand="sample")])
    many = estimate(q, target(400), Samples.from_matrix(np.arange(400).reshape(200, 2)))
    with pytest.raises(DataError, match="comparisons are too many"):
        differences(many, "all")


def test_shares_that_fit_equally_well_are_those_of_least_squares():
    """A class that is never decided for: the two others explain it in equal parts, so that it may be anything."""
    M = np.array([[0.8, 0.2, 0.5], [0.2, 0.8, 0.5], [0.0, 0.0, 0.0]])
    shares = mixture_least_squares(M, np.array([[0.5, 0.5, 0.0], [0.56, 0.44, 0.0]]))
    np.testing.assert_allclose(shares[0], 1 / 3, atol=1e-6)
    np.testing.assert_allclose(shares @ M.T, [[0.5, 0.5, 0.0], [0.56, 0.44, 0.0]], atol=1e-8)
    others = shares[1] + np.array([0.05, 0.05, -0.1])  # fits as well
    assert (shares[1] ** 2).sum() < (others**2).sum()


def test_the_boundary_has_no_interval_of_zero_width():
    """30 decisions for two of three classes: the third may have up to about a tenth of the items."""
    codes = np.repeat([0, 1, 2], 100)
    decided = np.concatenate([np.repeat(range(3), counts) for counts in ((95, 5, 0), (5, 95, 0), (10, 10, 80))])
    q = ACC(frozen(range(3))).fit(np.eye(3)[decided], codes)
    result = estimate(q, np.eye(3)[np.repeat([0, 1], 15)])
    assert result.low[2] == 0.0
    assert 0.05 < result.high[2] < 0.3


def test_items_that_vary_more_than_the_classes_explain_count_less():
    q = fitted(PACC, n=400)
    P = np.repeat([[0.98, 0.02], [0.02, 0.98]], 100, axis=0)  # surer than any labelled item
    outputs = q.outputs(P)
    statistics = q.reduce(outputs, products=True)
    evidence = gather_evidence(q, statistics, np.array([200.0]), within=False)
    assert evidence.n[0] < 190
    assert gather_evidence(q, q.reduce(outputs), np.array([200.0]), within=False).n[0] == 200


def test_a_quantile_of_no_number_is_none():
    """Forged posteriors of a model file may leave a spread that is not a number."""
    assert np.isnan(_profile_kernels.quantile(np.nan, np.array([2.0, 3.0])))
    assert _profile_kernels.quantile(0.5, np.array([2.0, 3.0])) == 2.5
