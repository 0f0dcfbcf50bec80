"""KDEy-ML, KDEy-CS, KDEy-HD, EDy and MMDy against their formulas written out in numpy, with optima found by scipy."""

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from headcount import EDy, KDEyCS, KDEyHD, KDEyML, MMDy, Outputs, difference, estimate
from headcount.exceptions import DataError, IdentifiabilityWarning
from headcount.modelfile import Columns, Model, load_model, save_model
from headcount.protocols import Samples
from headcount.quantifiers.kernel_methods.kdey_hd import KernelsAtPoints, LeastHellinger
from headcount.quantifiers.kernel_methods.mmdy import features
from headcount.quantifiers.kernel_methods.points import means_to_classes, positions, sorted_points
from headcount.simplex import uniform
from tests.conftest import blobs, scored_items

METHODS = {"KDEyML": KDEyML, "KDEyCS": KDEyCS, "KDEyHD": KDEyHD, "EDy": EDy, "MMDy": MMDy}
every_method = pytest.mark.parametrize("name", METHODS)


def outputs(P):
    return Outputs.from_posteriors(P, range(P.shape[1]))


def fitted(method, k=3, n=90, separation=1.2, **options):
    codes, P = scored_items(n, k, seed=0, separation=separation)
    if method in (KDEyHD, MMDy):
        options = {"random_state": 0, **options}
    if method is KDEyHD:
        options = {"n_points": 600, **options}
    return method(**options).fit(outputs(P), codes), P, codes


def sample_of(k, seed, n=40):
    shares = np.random.default_rng(seed).dirichlet(np.ones(k))
    return scored_items(n, k, seed + 100, separation=1.2, shares=shares)[1]


def least(objective, k):
    """The least value of an objective over the simplex that scipy finds, from several starts."""
    starts = [np.full(k, 1 / k), *(0.8 * np.eye(k) + 0.2 / k)]
    found = [
        minimize(
            objective,
            start,
            method="SLSQP",
            bounds=[(0, 1)] * k,
            constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
            options={"ftol": 1e-14, "maxiter": 500},
        )
        for start in starts
    ]
    return min(one.fun for one in found if abs(one.x.sum() - 1) < 1e-9)


def mean_by_class(values, codes, own=False):
    """Means over the columns of each class; with ``own`` the diagonal is left out."""
    k = codes.max() + 1
    if not own:
        return np.column_stack([values[:, codes == j].mean(axis=1) for j in range(k)])
    means = np.empty((len(values), k))
    for i in range(len(values)):
        for j in range(k):
            others = [v for v in range(len(codes)) if codes[v] == j and v != i]
            means[i, j] = values[i, others].mean()
    return means


def profiles(V, codes):
    return np.column_stack([V[codes == j].mean(axis=0) for j in range(codes.max() + 1)])


# The compiled means.


@pytest.mark.kernels
@pytest.mark.parametrize("kind", [0, 1, 2, 3])
@pytest.mark.parametrize("h", [0.02, 0.3])
def test_means_to_classes_are_those_of_all_pairs(kind, h):
    codes, P = scored_items(23, 3, seed=0)
    X = scored_items(9, 3, seed=1)[1]
    points, ends = sorted_points(P, codes, 3)
    D = cdist(X, P)
    scale = 0.5 / h**2
    exponents = -scale * (D**2 - ((D**2).min(axis=1, keepdims=True) if kind == 0 else 0.0))
    expected = [np.exp(exponents), np.exp(exponents), cdist(X, P, "cityblock"), D][kind]
    np.testing.assert_allclose(
        means_to_classes(X, points, ends, kind, scale), mean_by_class(expected, codes), rtol=1e-11, atol=1e-290
    )


@pytest.mark.kernels
def test_an_item_is_left_out_of_its_own_means():
    codes, P = scored_items(23, 3, seed=0)
    points, ends = sorted_points(P, codes, 3)
    for kind, values in ((1, np.exp(-20 * cdist(P, P) ** 2)), (2, cdist(P, P, "cityblock")), (3, cdist(P, P))):
        means = means_to_classes(P, points, ends, kind, 20.0, positions(codes))
        np.testing.assert_allclose(means, mean_by_class(values, codes, own=True), rtol=1e-11)
    assert positions(np.array([0, 1, 1])).tolist() == [-1, 1, 2]


@pytest.mark.kernels
def test_exponentials_are_precise_over_their_whole_range():
    from headcount.quantifiers.kernel_methods._kernels import exponentials

    x = -np.concatenate([[0.0, 1e-300, 707.9], np.linspace(0, 700, 801), np.geomspace(1e-12, 1, 30)])
    e = x.copy()
    exponentials(e)
    np.testing.assert_allclose(e, np.exp(x), rtol=1e-12)
    far = np.array([-1e300, -1e5])
    exponentials(far)
    assert (far < 1e-300).all()


@pytest.mark.kernels
def test_fourier_products_are_those_of_the_features():
    q, P, codes = fitted(MMDy, n_features=40, bandwidth=0.05)  # angles up to some hundreds
    Z = features(P, q.frequencies_)
    means = np.stack([Z[codes == j].mean(axis=0) for j in range(3)])
    np.testing.assert_allclose((Z**2).sum(axis=1), 1.0)
    np.testing.assert_allclose(q.representation.vectors(outputs(P)), Z @ means.T, atol=1e-12)


# Each method against its formula.


@pytest.mark.kernels
@pytest.mark.parametrize("k", [2, 3, 5])
def test_kdey_ml_maximises_the_likelihood_of_kernel_densities(k):
    q, P, codes = fitted(KDEyML, k)
    X = sample_of(k, 1)
    F = mean_by_class(np.exp(-(cdist(X, P) ** 2) / 0.02), codes)
    shares = q.aggregate(outputs(X))[0]

    def loss(p):
        return -np.log(F @ p).mean()

    assert loss(shares) < least(loss, k) + 1e-6


@pytest.mark.kernels
@pytest.mark.parametrize("k", [2, 3, 5])
def test_kdey_cs_minimises_the_divergence(k):
    q, P, codes = fitted(KDEyCS, k)
    B = profiles(mean_by_class(np.exp(-(cdist(P, P) ** 2) / 0.04), codes, own=True), codes)
    np.testing.assert_allclose(q.M_, B, atol=1e-11)
    for seed in range(4):
        X = sample_of(k, seed)
        a = mean_by_class(np.exp(-(cdist(X, P) ** 2) / 0.04), codes).mean(axis=0)

        def divergence(p, a=a):
            return -np.log(p @ a) + 0.5 * np.log(p @ B @ p)

        assert divergence(q.aggregate(outputs(X))[0]) < least(divergence, k) + 1e-6


@pytest.mark.kernels
@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("distance", ["manhattan", "euclidean"])
def test_edy_minimises_the_energy_distance(k, distance):
    q, P, codes = fitted(EDy, k, distance=distance)
    metric = {"manhattan": "cityblock"}.get(distance, distance)
    K = profiles(mean_by_class(cdist(P, P, metric), codes, own=True), codes)
    np.testing.assert_allclose(q.M_, K, atol=1e-11)
    for seed in range(4):
        X = sample_of(k, seed)
        a = mean_by_class(cdist(X, P, metric), codes).mean(axis=0)

        def energy(p, a=a):
            return 2 * p @ a - p @ K @ p

        assert energy(q.aggregate(outputs(X))[0]) < least(energy, k) + 1e-6


@pytest.mark.kernels
@pytest.mark.parametrize("k", [2, 4])
def test_mmdy_minimises_the_discrepancy(k):
    q, P, codes = fitted(MMDy, k, n_features=30)
    Z = features(P, q.frequencies_)
    B = profiles(mean_by_class(Z @ Z.T, codes, own=True), codes)
    np.testing.assert_allclose(q.M_, B, atol=1e-11)
    X = sample_of(k, 2)
    a = mean_by_class(features(X, q.frequencies_) @ Z.T, codes).mean(axis=0)

    def discrepancy(p):
        return p @ B @ p - 2 * p @ a

    assert discrepancy(q.aggregate(outputs(X))[0]) < least(discrepancy, k) + 1e-6


def test_the_features_of_mmdy_estimate_the_gaussian_kernel():
    _, P = scored_items(30, 3, seed=0)
    W = np.random.default_rng(0).standard_normal((3, 20_000)) / 0.3
    Z = features(P, W)
    np.testing.assert_allclose(Z @ Z.T, np.exp(-(cdist(P, P) ** 2) / (2 * 0.3**2)), atol=0.03)


def hellinger(P, X, codes, points, h=0.1):
    """The Monte Carlo distance of the paper, by densities written out."""
    peak = (2 * np.pi * h**2) ** (-P.shape[1] / 2)
    F = 1e-10 + peak * mean_by_class(np.exp(-(cdist(points.T, P) ** 2) / (2 * h**2)), codes)
    q = 1e-10 + peak * np.exp(-(cdist(points.T, X) ** 2) / (2 * h**2)).mean(axis=1)
    r = F.mean(axis=1)
    return lambda p: (((np.sqrt(F @ p / q) - 1) ** 2) * q / r).mean()


@pytest.mark.kernels
@pytest.mark.parametrize("k", [2, 3, 5])
def test_kdey_hd_minimises_the_distance_at_its_points(k):
    q, P, codes = fitted(KDEyHD, k, n_points=200)
    for seed in range(3):
        X = sample_of(k, seed)
        distance = hellinger(P, X, codes, q.points_)
        assert distance(q.aggregate(outputs(X))[0]) < least(distance, k) + 1e-6


def sure(codes, k):
    """Posteriors near 0 and 1."""
    P = 0.002 * np.random.default_rng(0).random((len(codes), k))
    P[np.arange(len(codes)), codes] = 0.0
    P[np.arange(len(codes)), codes] = 1.0 - P.sum(axis=1)
    return P


@pytest.mark.kernels
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("absent", [0.985, 0.999])
def test_kdey_hd_leaves_a_corner_where_a_density_is_nearly_zero(k, absent):
    """The slope at a corner is steep there and bends at once, so that a small Newton step does not mean the minimum."""
    generator = np.random.default_rng(0)

    def sure(codes):
        P = 0.002 * generator.random((len(codes), k))
        P[np.arange(len(codes)), codes] = 0.0
        P[np.arange(len(codes)), codes] = 1.0 - P.sum(axis=1)
        return P

    codes = np.repeat(np.arange(k), 30)
    P, X = (
        sure(codes),
        sure(np.repeat(np.arange(k), [1000 - round(1000 * absent), *(0,) * (k - 2), round(1000 * absent)])),
    )
    q = KDEyHD(n_points=2000, random_state=0).fit(outputs(P), codes)
    shares, distance = q.aggregate(outputs(X))[0], hellinger(P, X, codes, q.points_)
    assert shares[-1] == pytest.approx(absent, abs=1e-4)
    assert distance(shares) < least(distance, k) + 1e-9


@pytest.mark.kernels
@pytest.mark.parametrize("counts", [[620, 5, 5, 5, 0, 5, 0, 160, 155, 45], [0, 50, 100, 50, 50, 450, 300, 0, 0, 0]])
def test_kdey_hd_recovers_shares_of_ten_sure_classes(counts):
    """Second derivatives go with the shares to the power of -3/2, and differ by far more where a class is absent."""
    codes, counts = np.repeat(np.arange(10), 20), np.array(counts)
    P, X = np.eye(10)[codes], np.eye(10)[np.repeat(np.arange(10), counts)]
    q = KDEyHD(n_points=2000, random_state=0).fit(outputs(P), codes)
    np.testing.assert_allclose(q.aggregate(outputs(X))[0], counts / counts.sum(), atol=1e-4)


@pytest.mark.kernels
@pytest.mark.parametrize("bandwidth", [0.05, 0.1, 1.0])
def test_polynomials_of_two_classes_give_the_answer_of_the_kernels_at_the_points(bandwidth):
    q, P, codes = fitted(KDEyHD, 2, bandwidth=bandwidth)
    assert q.representation.width(2) < 200
    direct = KernelsAtPoints(q.points_, 0.5 / bandwidth**2)
    M = profiles(direct.vectors(outputs(P)), codes)
    for seed in range(3):
        X = sample_of(2, seed)
        mean = direct.vectors(outputs(X)).mean(axis=0)[None, :]
        expected = LeastHellinger(q.points_, bandwidth, None).solve(mean, M)
        np.testing.assert_allclose(q.aggregate(outputs(X)), expected, atol=1e-6)
    assert fitted(KDEyHD, 2, bandwidth=0.002)[0].representation.width(2) == 600


def test_points_of_kdey_hd_are_drawn_from_the_density_of_each_class():
    q, P, codes = fitted(KDEyHD, 3, n_points=9000, n=30)
    for j, points in enumerate(np.split(q.points_.T, 3)):
        np.testing.assert_allclose(points.mean(axis=0), P[codes == j].mean(axis=0), atol=0.02)
        expected = P[codes == j].var(axis=0) + 0.01
        np.testing.assert_allclose(points.var(axis=0), expected, rtol=0.15)


# All of them.


@every_method
@pytest.mark.parametrize("k", [2, 4])
def test_large_samples_give_the_true_shares(name, k):
    q, _, _ = fitted(METHODS[name], k, n=2000)
    truth = np.arange(1, k + 1) / np.arange(1, k + 1).sum()
    _, X = scored_items(3000, k, seed=5, separation=1.2, shares=truth)
    assert np.abs(q.aggregate(outputs(X))[0] - truth).max() < 0.08


@every_method
@pytest.mark.parametrize("k", [2, 3])
def test_posteriors_of_exactly_zero_and_one_and_a_tiny_bandwidth_give_shares(name, k):
    codes = np.arange(20) % k
    P = np.eye(k)[codes]
    options = {} if name == "EDy" else {"bandwidth": 0.001}
    options |= {"n_points": 50} if name == "KDEyHD" else {}
    q = METHODS[name](**options).fit(outputs(P), codes)
    X = np.vstack([P, np.full((5, k), 1 / k), uniform(10, k, np.random.default_rng(0))])
    samples = Samples.from_lists([range(len(X)), [20], range(20, 35), range(20)])
    shares = q.aggregate(outputs(X), samples)
    assert np.isfinite(shares).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_allclose(shares[3], np.bincount(codes) / 20, atol=0.03 if name == "MMDy" else 1e-6)


@every_method
@pytest.mark.parametrize(
    ("parameter", "value"),
    [("bandwidth", 0.0), ("bandwidth", np.nan), ("bandwidth", 11), ("n_points", 0), ("n_features", 0)],
)
def test_parameters_out_of_range_raise_a_sentence(name, parameter, value):
    method = METHODS[name]
    if parameter not in method._get_param_names():
        return
    with pytest.raises(ValueError, match=f"The '{parameter}' parameter of {name} must be"):
        method(**{parameter: value}).fit(outputs(np.eye(2)[[0, 0, 1, 1]]), [0, 0, 1, 1])


@pytest.mark.parametrize("name", ["KDEyCS", "EDy", "MMDy"])
def test_a_class_of_one_validation_item_raises_a_sentence(name):
    codes, P = scored_items(20, 2, seed=0)
    codes[:] = 0
    codes[3] = 1
    with pytest.raises(DataError, match=f"{name} compares .* only one of class 1. Label more items"):
        METHODS[name]().fit(outputs(P), codes)


def test_the_only_item_of_a_class_keeps_its_kernel_in_kdey_ml():
    codes, P = np.array([0] * 9 + [1]), scored_items(10, 2, seed=0)[1]
    q = KDEyML().fit(outputs(P), codes)
    F = q.validation_densities()
    assert np.isfinite(F).all()
    assert F[9, 1] == 1.0


@pytest.mark.parametrize("name", ["EDy", "MMDy"])
def test_equal_classes_are_reported_and_get_equal_shares(name):
    P = np.tile([[0.4, 0.6], [0.6, 0.4]], (10, 1))
    codes = np.repeat([0, 1], 10)
    with pytest.warns(IdentifiabilityWarning, match=f"{name} returns one of several answers"):
        q = METHODS[name]().fit(outputs(P), codes)
    np.testing.assert_allclose(q.aggregate(outputs(P[:5])), [[0.5, 0.5]], atol=1e-6)


def test_kdey_cs_counts_own_kernels_where_few_items_would_give_impossible_means():
    P = np.array([[0.1, 0.9], [0.9, 0.1], [0.15, 0.85], [0.85, 0.15]])
    q = KDEyCS().fit(
        outputs(P), np.array([0, 0, 1, 1])
    )  # items of a class are farther apart than those of different classes
    assert (np.linalg.eigvalsh(q.M_) > 0).all()
    np.testing.assert_allclose(q.M_.diagonal(), 0.5, atol=0.01)
    assert np.isfinite(q.aggregate(outputs(P[:2]))).all()


@pytest.mark.parametrize("name", ["EDy", "MMDy"])
def test_items_count_themselves_where_few_would_give_distances_that_no_classes_have(name):
    """Of three classes the rare one's two items are farther from each other than from others: the programme would not be convex."""
    codes, P = scored_items(62, 3, seed=5)
    keep = np.sort(np.r_[np.flatnonzero(codes < 2), np.flatnonzero(codes == 2)[:2]])
    codes, P = codes[keep], P[keep]
    P[codes == 2] = [[0.9, 0.05, 0.05], [0.05, 0.05, 0.9]]
    with pytest.warns(IdentifiabilityWarning):
        q = METHODS[name](**({"random_state": 0, "n_features": 200} if name == "MMDy" else {})).fit(outputs(P), codes)
    if name == "EDy":
        K = -profiles(mean_by_class(cdist(P, P, "cityblock"), codes), codes)
    else:
        Z = features(P, q.frequencies_)
        K = profiles(mean_by_class(Z @ Z.T, codes), codes)
    D = np.linalg.svd(np.ones((1, 3)))[2][1:].T
    assert np.linalg.eigvalsh(D.T @ K @ D)[0] >= -1e-12
    for seed in range(5):
        X = sample_of(3, seed)
        near = -cdist(X, P, "cityblock") if name == "EDy" else features(X, q.frequencies_) @ Z.T
        r = mean_by_class(near, codes).mean(axis=0)
        distance = lambda p, r=r: p @ K @ p - 2 * r @ p  # noqa: E731
        assert distance(q.aggregate(outputs(X))[0]) < least(distance, 3) + 1e-6


@pytest.mark.parametrize("name", ["KDEyML", "KDEyCS", "EDy", "MMDy"])
@pytest.mark.parametrize("validation", [5, 0.4])
def test_intervals_hold_the_estimate_and_the_truth(name, validation):
    X, y = blobs(400, 3, seed=0)
    q = METHODS[name](validation=validation, random_state=0).fit(X, y)
    target, labels = blobs(2000, 3, seed=1)
    rows = np.concatenate([np.flatnonzero(labels == j)[:n] for j, n in enumerate((300, 150, 50))])
    answer = estimate(q, target[rows])
    assert (answer.low <= answer.shares).all()
    assert (answer.shares <= answer.high).all()
    assert answer.contains([0.6, 0.3, 0.1])
    assert (answer.high - answer.low).max() < 0.3


def test_two_estimates_by_kdey_cs_are_compared_at_shares_of_both():
    q, _, _ = fitted(KDEyCS, 3, n=400)
    a, b = (
        estimate(q, outputs(scored_items(400, 3, seed, separation=1.2, shares=shares)[1]))
        for seed, shares in ((1, [0.6, 0.3, 0.1]), (2, [0.2, 0.3, 0.5]))
    )
    change = difference(a, b)
    assert (change.low <= change.change).all()
    assert (change.change <= change.high).all()
    assert change.high[0] < 0 < change.low[2]
    assert difference(a, a).p_value.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("k", [2, 3])
def test_the_equation_of_kdey_cs_holds_at_an_answer_inside_the_simplex(k):
    q, _, _ = fitted(KDEyCS, k, n=400)
    X = scored_items(400, k, 3, separation=1.2)[1]
    p, mean = q.aggregate(outputs(X))[0], q.representation.vectors(outputs(X)).mean(axis=0)
    assert p.min() > 0.05
    A = q.solver.estimating_matrix_at(q.M_, p)
    assert A.shape == (k - 1, k)
    np.testing.assert_allclose(A @ mean, 0.0, atol=1e-9)
    np.testing.assert_allclose(A @ q.M_ @ p, 0.0, atol=1e-12)


@every_method
def test_a_model_file_gives_the_same_answers(name, tmp_path):
    X, y = blobs(150, 3, 0)
    options = {"n_points": 100} if name == "KDEyHD" else {}
    model = Model(METHODS[name](random_state=0, **options).fit(X, y), Columns("numbers", ("a", "b", "c", "d"), "y"))
    save_model(model, tmp_path / "m.headcount")
    again = load_model(tmp_path / "m.headcount").quantifier
    np.testing.assert_array_equal(again.predict(X), model.quantifier.predict(X))


def test_kdey_hd_says_why_it_has_no_interval():
    q, P, _ = fitted(KDEyHD)
    with pytest.raises(DataError, match=r"KDEyHD minimises a distance.*Use KDEyML"):
        estimate(q, outputs(P))


@pytest.mark.parametrize("name", ["KDEyCS", "EDy", "MMDy"])
def test_vectors_of_validation_items_have_the_mean_of_new_items(name):
    """Were an item to count itself, its class would look nearer to itself than new items are, by far with so few of them."""
    k, differences = 2, []
    for seed in range(60):
        codes, P = scored_items(16, k, seed, separation=0.8)
        new_codes, new = scored_items(400, k, seed + 1000, separation=0.8)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IdentifiabilityWarning)
            q = METHODS[name](**({"random_state": 0} if name == "MMDy" else {})).fit(outputs(P), codes)
        V, own = q.representation.vectors(outputs(new)), q.validation_vectors()
        differences.append([(V[new_codes == j].mean(axis=0) - own[codes == j].mean(axis=0))[j] for j in range(k)])
    mean, error = np.mean(differences, axis=0), np.std(differences, axis=0) / np.sqrt(len(differences))
    assert (np.abs(mean) < 3.5 * error).all()
