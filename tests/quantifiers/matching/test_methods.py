"""DyS, DMy and SORD against plain versions with numpy's histograms and sorted scores, one sample at a time."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.utils._param_validation import InvalidParameterError

from headcount import SORD, DMy, DyS, Outputs, Samples
from headcount.exceptions import DataError, IdentifiabilityWarning
from headcount.modelfile import Columns, Model, load_model, save_model
from headcount.quantifiers import Histograms
from headcount.quantifiers.matching.class_histograms import ClassHistograms
from tests.conftest import blobs, frozen, scored_items
from tests.quantifiers.matching.test_distances import plain_distance


def histogram(values, bins):
    return np.histogram(values, bins=bins, range=(0, 1))[0] / len(values)


def dys_on_a_grid(P, codes, sample, bins, name, n=2001):
    estimates = []
    for b in bins:
        h0, h1, q = (histogram(values, b) for values in (P[codes == 0, 1], P[codes == 1, 1], sample))
        grid = np.linspace(0, 1, n)
        distances = [plain_distance(name, q, a * h1 + (1 - a) * h0) for a in grid]
        estimates.append(grid[int(np.argmin(distances))])
    return np.median(estimates)


@pytest.mark.kernels
@pytest.mark.parametrize("name", ["topsoe", "hellinger", "probsymm", "l2", "l1"])
def test_dys_equals_a_fine_grid(name):
    codes, P = scored_items(400, 2, seed=0, separation=1.0)
    q = DyS(frozen([0, 1]), bins=8, distance=name).fit(P, codes)
    for seed in (1, 2):
        _, sample = scored_items(60, 2, seed, separation=1.0, shares=[0.3 * seed, 1 - 0.3 * seed])
        assert q.predict(sample)[1] == pytest.approx(dys_on_a_grid(P, codes, sample[:, 1], (8,), name), abs=6e-4)


def test_dys_takes_the_median_over_the_published_numbers_of_bins():
    codes, P = scored_items(300, 2, seed=0, separation=1.0)
    _, sample = scored_items(50, 2, 1, separation=1.0)
    bins = (2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 30)
    answer = DyS(frozen([0, 1])).fit(P, codes).predict(sample)[1]
    assert answer == pytest.approx(dys_on_a_grid(P, codes, sample[:, 1], bins, "topsoe", 501), abs=2.1e-3)
    each = [DyS(frozen([0, 1]), bins=b).fit(P, codes).predict(sample)[1] for b in bins]
    assert answer == pytest.approx(np.median(each), abs=1e-9)
    assert np.ptp(each) > 0.01


def plain_functions(P, bins, cdf):
    """Histograms of each class's posterior, or distribution functions with their last value, which is 1 in all."""
    functions = [histogram(P[:, j], bins) for j in range(P.shape[1])]
    return np.concatenate([np.cumsum(one) if cdf else one for one in functions])


@pytest.mark.kernels
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize(("name", "cdf"), [("hellinger", False), ("topsoe", True), ("l2", True), ("l2", False)])
def test_dmy_finds_the_least_sum_over_the_histograms_of_all_classes(k, name, cdf):
    codes, P = scored_items(300, k, seed=0, separation=1.0)
    quantifier = DMy(frozen(range(k)), bins=5, distance=name, cdf=cdf).fit(P, codes)
    M = np.column_stack([plain_functions(P[codes == j], 5, cdf) for j in range(k)])
    _, sample = scored_items(40, k, 1, separation=1.0, shares=[0.1] + [0.9 / (k - 1)] * (k - 1))
    q = plain_functions(sample, 5, cdf)
    best = np.inf
    for start in np.random.default_rng(0).dirichlet(np.ones(k), 3):
        found = minimize(
            lambda p: plain_distance(name, q, M @ np.maximum(p, 0)),
            start,
            method="SLSQP",
            bounds=[(0, 1)] * k,
            constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
            options={"ftol": 1e-13},
        )
        best = min(best, plain_distance(name, q, M @ (np.maximum(found.x, 0) / np.maximum(found.x, 0).sum())))
    assert plain_distance(name, q, M @ quantifier.predict(sample)) <= best + 1e-9


def area(P, codes, sample, share):
    """Area between the distribution functions of weighted training scores and of the sample, by sorted scores."""
    positive, negative = P[codes == 1, 1], P[codes == 0, 1]
    scores = np.concatenate([positive, negative, sample])
    weights = np.concatenate(
        [
            np.full(len(positive), share / len(positive)),
            np.full(len(negative), (1 - share) / len(negative)),
            np.full(len(sample), -1 / len(sample)),
        ]
    )
    order = np.argsort(scores)
    return (np.abs(np.cumsum(weights[order])[:-1]) * np.diff(scores[order])).sum()


@pytest.mark.kernels
@pytest.mark.parametrize("steps", [20, 1000])
def test_sord_has_the_least_area_up_to_its_resolution(steps):
    codes, P = scored_items(300, 2, seed=0, separation=1.0)
    q = SORD(frozen([0, 1]), steps=steps).fit(P, codes)
    grid = np.linspace(0, 1, 401)
    for seed in (1, 2, 3):
        _, sample = scored_items(50, 2, seed, separation=1.0, shares=[0.25 * seed, 1 - 0.25 * seed])
        answer = q.predict(sample)[1]
        exact = [area(P, codes, sample[:, 1], share) for share in grid]
        assert area(P, codes, sample[:, 1], answer) <= min(exact) + 2 / steps
        # Of rounded scores it is the least area itself, and no area is off by more than 1 / steps.
        rounded_P, rounded = np.round(P * steps) / steps, np.round(sample[:, 1] * steps) / steps
        on_steps = [area(rounded_P, codes, rounded, share) for share in grid]
        assert area(rounded_P, codes, rounded, answer) <= min(on_steps) + 1e-12
        assert np.abs(np.subtract(exact, on_steps)).max() <= 1 / steps


def test_sord_of_few_steps_is_coarser():
    codes, P = scored_items(300, 2, seed=0, separation=1.0)
    _, sample = scored_items(50, 2, 1, separation=1.0)
    fine, finer, coarse = (SORD(frozen([0, 1]), steps=n).fit(P, codes).predict(sample)[1] for n in (1000, 4000, 4))
    assert fine == pytest.approx(finer, abs=2e-3)
    assert abs(coarse - finer) > 2e-3


@pytest.mark.parametrize("quantifier", [DyS, DMy, SORD])
def test_classes_with_the_same_scores_warn_and_share_equally(quantifier):
    P = np.full((40, 2), 0.5)
    with pytest.warns(IdentifiabilityWarning, match="does not tell the classes"):
        q = quantifier(frozen([0, 1])).fit(P, np.arange(40) % 2)
    np.testing.assert_allclose(q.predict(P[:7]), [0.5, 0.5], atol=1e-9)


@pytest.mark.parametrize("quantifier", [DyS, DMy, SORD])
def test_one_item_of_a_class_and_posteriors_of_0_and_1_work(quantifier):
    k = 2 if quantifier.max_classes == 2 else 3
    P = np.eye(k)[np.repeat(np.arange(k), [20, 1, 20][:k])]
    codes = P.argmax(axis=1)
    q = quantifier(frozen(range(k))).fit(P, codes)
    shares = q.aggregate(q.outputs(P), Samples.from_lists([np.arange(len(P)), [0], [20], [0, 20]]))
    expected = [np.bincount(codes, minlength=k) / len(P), np.eye(k)[0], np.eye(k)[1], np.eye(k)[:2].mean(axis=0)]
    np.testing.assert_allclose(shares, expected, atol=1e-9)


def test_a_sample_in_cells_that_no_class_reaches_has_an_answer():
    codes, P = scored_items(200, 3, seed=0, separation=3.0)
    middle = np.full((5, 3), 1 / 3)
    for name in ("hellinger", "topsoe", "probsymm", "l2"):
        shares = DMy(frozen(range(3)), bins=30, distance=name).fit(P, codes).predict(middle)
        assert np.isfinite(shares).all()
        assert shares.sum() == pytest.approx(1)


def test_wrong_parameters_are_refused_with_a_sentence():
    codes, P = scored_items(50, 2, seed=0)
    with pytest.raises(DataError, match=r"bins must be one or more whole numbers of at least 2; got \(1, 8\)"):
        DyS(frozen([0, 1]), bins=(1, 8)).fit(P, codes)
    for wrong in (
        DyS(frozen([0, 1]), bins=1),
        DyS(frozen([0, 1]), distance="L2"),
        DMy(frozen([0, 1]), distance="L1"),
        DMy(frozen([0, 1]), bins=(8, 16)),
        SORD(frozen([0, 1]), steps=1),
    ):
        with pytest.raises(InvalidParameterError, match="parameter of"):
            wrong.fit(P, codes)


def test_the_posteriors_of_two_classes_have_one_histogram_and_two_distribution_functions():
    codes, P = scored_items(300, 2, seed=0, separation=1.0)
    q = DMy(frozen([0, 1]), bins=5, distance="topsoe", cdf=True).fit(P, codes)
    assert q.M_.shape == (5, 2)
    compared = q.solver.compared(q.representation.vectors(Outputs.from_posteriors([[0.7, 0.3]], [0, 1])))
    np.testing.assert_array_equal(compared, [[0, 1, 1, 1, 1, 0, 0, 0]])


def test_histograms_of_classes_have_the_bins_of_one_histogram_edges_included():
    values = np.concatenate([np.arange(101) / 100, [1e-12, 1 - 1e-12]])
    three = Outputs.from_posteriors(np.column_stack([values, (1 - values) / 2, (1 - values) / 2]), [0, 1, 2])
    for b in (3, 10, 50):
        expected = Histograms((b,)).codes(Outputs.from_posteriors(values, [0, 1]))
        np.testing.assert_array_equal(ClassHistograms(b).codes(Outputs.from_posteriors(values, [0, 1])), expected)
        np.testing.assert_array_equal(ClassHistograms(b).codes(three)[:, :1], expected)


@pytest.mark.parametrize("quantifier", [DyS(bins=(4, 8)), DMy(bins=4, distance="l2", cdf=True), SORD(steps=50)])
def test_a_model_file_gives_the_same_answers(quantifier, tmp_path):
    X, y = blobs(150, 2 if quantifier.max_classes == 2 else 3, 2)
    model = Model(quantifier.set_params(random_state=0).fit(X, y), Columns("numbers", ("a", "b", "c", "d"), "y"))
    save_model(model, tmp_path / "m.headcount")
    loaded = load_model(tmp_path / "m.headcount").quantifier
    np.testing.assert_array_equal(loaded.predict(X), model.quantifier.predict(X))
    assert loaded.get_params()["validation"] == 5
