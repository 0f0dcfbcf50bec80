"""Laws that every quantifier obeys. An exemption states its reason."""

from functools import reduce
from importlib.util import find_spec
from operator import add

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

from headcount import ACC, PACC, ArtificialPrevalence, Outputs, QuantifierSearch, Samples
from headcount.exceptions import DataError
from headcount.learners import validation_parts
from headcount.quantifiers import DensitiesQuantifier, Statistics, SumsQuantifier, list_methods
from headcount.stream import Recipe, estimate_groups
from tests.conftest import Linear, blobs, frozen, scored_items

NEURAL = {"QuaNet": "needs the package torch, of the extra 'neural'"}


def skip_without_torch(quantifier):
    """Return the marks that skip a method that needs torch if torch is not installed."""
    reason = NEURAL.get(quantifier.__name__)
    return [pytest.mark.skipif(reason is not None and find_spec("torch") is None, reason=str(reason))]


METHODS = [*dict.fromkeys(method.quantifier for method in list_methods()), QuantifierSearch]
OVER_A_CLASSIFIER = [q for q in METHODS if "classifier" in q._get_param_names()]
RECOGNISES_SHARES = [q for q in METHODS if q.__name__ not in ("BayesianCC", "EDyMAP", "MLPE", "QuaNet")]
"""EDyMAP draws shares towards even ones.
BayesianCC never takes few items for a proof; MLPE ignores the items; QuaNet's regression from samples to shares is not exact."""
STREAMED = [q for q in METHODS if issubclass(q, SumsQuantifier | DensitiesQuantifier)]
"""Methods of the two families; a stream refuses the others."""
SCORED = [q for q in STREAMED if "features" not in q().needs]
"""Methods over a classifier's outputs, which may be streamed as columns of posteriors; the others read the items' own features."""
CROSS_FITTED = [q for q in STREAMED if "validation" in q._get_param_names()]
"""Methods that learn in folds by default; of SLD, with a calibration."""
ORDERED = [q for q in METHODS if q is not QuantifierSearch and q().needs_order]
"""Methods that depend on the order of the classes: they refuse labels that are texts without ``classes``."""
EQUIVARIANT = [
    q
    for q in METHODS
    if q.__name__ not in ("QuaNet", "KDEyHD", "MMDy", "BayesianCC", "Ensemble", "T50") and q not in ORDERED
]
"""QuaNet reads items sorted by their posteriors, first class first: renaming the classes trains another network. The points of
KDEyHD, the frequencies of MMDy and the draws of BayesianCC and Ensemble are drawn class by class, so that classes in
another order have others. T50 looks for the threshold above which half of the second class's items are."""

REVERSED = {"PDFOrd": 0.05}
"""A score on the edge of two bins belongs to the upper one, whatever the order."""
TWO_CLASSES_ONLY = {method.name for method in list_methods() if method.classes == "two"}
COUNTS_ITEMS = {"SELSE"}
"""Methods for which unequal sampling weights are worth fewer items than their sum: a repeated item is a count, not a weight."""
GRID_TOLERANCE = {
    "HDx": 0.0051,
    "HDy": 0.0051,
    "OneVsRest": 0.011,
}  # half a step of its grid of candidate shares; HDy's of each class
CALIBRATED_WITHOUT_ITSELF = {"SELSE": 2e-6}
"""A validation item is calibrated without itself and others with it, which differs a little for sure posteriors too."""
SINGLE_PRECISION = {"QuaNet": 1e-5}  # a network in 32 bits, whose sums depend on the number of samples in a batch
SMALL = {"lstm_size": 4, "lstm_layers": 1, "layers": (8,), "sample_size": 20, "samples_per_epoch": 20, "max_epochs": 2}
"""Settings of QuaNet with which training is fast; the laws hold for any settings."""
FEW_DRAWN = {"n_points": 200, "n_features": 50, "n_draws": 100, "n_members": 3}
"""Settings with which KDEyHD, MMDy, BayesianCC and Ensemble are fast."""


def limit_classes(quantifier, n_classes):
    return 2 if quantifier.__name__ in TWO_CLASSES_ONLY else n_classes


def with_classes(quantifiers):
    pairs = [
        pytest.param(q, k, marks=skip_without_torch(q))
        for q in quantifiers
        for k in (2, 3, 5)
        if limit_classes(q, k) == k
    ]
    return pytest.mark.parametrize(("quantifier", "n_classes"), pairs)


every_method = pytest.mark.parametrize("quantifier", [pytest.param(q, marks=skip_without_torch(q)) for q in METHODS])
every_number_of_classes = with_classes(METHODS)
over_a_classifier = pytest.mark.parametrize(
    "quantifier", [pytest.param(q, marks=skip_without_torch(q)) for q in OVER_A_CLASSIFIER]
)


def make(quantifier, classifier=None):
    """Make a quantifier with fixed seeds, over the classifier if it takes one."""
    if quantifier is QuantifierSearch:
        small = ArtificialPrevalence(3, repeats=2, sample_size=20, random_state=0)
        inner = PACC(classifier or Linear())
        return QuantifierSearch(inner, {"validation": [0.4]}, protocol=small, random_state=0)
    accepted = quantifier._get_param_names()
    parameters = {"random_state": 0, "classifier": classifier or Linear(), "device": "cpu", **SMALL, **FEW_DRAWN}
    if "quantifier" in accepted:  # that members are made of
        one = clone(quantifier.default_quantifier()).set_params(classifier=parameters["classifier"])
        parameters["quantifier"] = [one, ACC(parameters["classifier"])] if "grid" in accepted else one
    if isinstance(classifier, FrozenEstimator):
        parameters["prior"] = "uniform"
    return quantifier(**{name: value for name, value in parameters.items() if name in accepted})


def with_order(q, names):
    """Tell a method that needs it that the classes are in this order."""
    return q.set_params(classes=list(names)) if q.needs_order else q


def fitted_on_scores(quantifier, names, n=400, seed=0):
    codes, P = scored_items(n, len(names), seed)
    return with_order(make(quantifier, frozen(names)), names).fit(P, np.asarray(names)[codes])


def draw_samples(n_items, seed=0):
    generator = np.random.default_rng(seed)
    return Samples.from_lists([generator.integers(0, n_items, size) for size in (1, 2, 40, 200, 7)])


@every_method
def test_constructor_stores_its_arguments_as_they_are(quantifier):
    parameters = {name: object() for name in quantifier._get_param_names()}
    q = quantifier(**parameters)
    assert all(getattr(q, name) is value for name, value in parameters.items())


@every_method
def test_parameters_round_trip_through_clone(quantifier):
    q = make(quantifier)
    assert repr(clone(q)) == repr(q)
    parameters = q.get_params(deep=False)
    assert clone(q).set_params(**parameters).get_params(deep=False) == parameters


@every_method
def test_fit_returns_self_and_changes_no_input(quantifier):
    X, y = blobs(120, limit_classes(quantifier, 3), seed=1)
    before = X.copy(), y.copy()
    classifier = Linear()
    q = make(quantifier, classifier)
    assert q.fit(X, y) is q
    assert np.array_equal(X, before[0])
    assert np.array_equal(y, before[1])
    assert not hasattr(classifier, "coef_")


@every_number_of_classes
def test_fitting_twice_equals_fitting_once(quantifier, n_classes):
    X, y = blobs(150, n_classes, seed=2)
    q = make(quantifier).fit(X, y)
    once = q.predict(X)
    assert np.array_equal(q.fit(X, y).predict(X), once)


@every_method
def test_predict_before_fit_raises(quantifier):
    with pytest.raises(NotFittedError):
        make(quantifier).predict([[0.0]])
    with pytest.raises(NotFittedError):
        make(quantifier).aggregate(Outputs.from_posteriors([[0.5, 0.5]], [0, 1]))


@every_number_of_classes
def test_shares_are_finite_non_negative_and_sum_to_one(quantifier, n_classes):
    X, y = blobs(200, n_classes, seed=3)
    q = make(quantifier).fit(X, y)
    shares = q.aggregate(q.outputs(X), draw_samples(len(X)))
    assert shares.shape == (5, n_classes)
    assert np.isfinite(shares).all()
    assert (shares >= 0).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-12)
    assert q.predict(X).shape == (n_classes,)


@every_method
@pytest.mark.parametrize(
    "names",
    [["neg", "pos"], [False, True], [-1, 1], [1, 2], [np.int8(3), np.int8(7)], [0.0, 1.0], [2**62, 2**63 - 1]],
    ids=["strings", "booleans", "minus-plus-one", "one-two", "int8", "whole-floats", "huge"],
)
def test_labels_of_any_type_work_like_integers(quantifier, names):
    X, y = blobs(150, 2, seed=4)
    names = np.asarray(names)
    expected = make(quantifier).fit(X, y).predict(X)
    q = make(quantifier).fit(X, names[y])
    assert np.array_equal(q.classes_, names)
    np.testing.assert_allclose(q.predict(X), expected, atol=1e-12)
    np.testing.assert_allclose(make(quantifier).fit(X, names[y].tolist()).predict(X), expected, atol=1e-12)


@over_a_classifier
def test_a_classifier_may_have_unsorted_classes(quantifier):
    k = limit_classes(quantifier, 3)
    codes, P = scored_items(300, k, seed=5)
    names = np.array(["b", "c", "a"] if k == 3 else ["b", "a"])
    plain = make(quantifier, frozen(range(k))).fit(P, codes)
    unsorted = with_order(make(quantifier, frozen(names)), names).fit(P, names[codes])
    assert unsorted.classes_.tolist() == names.tolist()
    np.testing.assert_allclose(unsorted.predict(P[:80]), plain.predict(P[:80]), atol=1e-12)


@pytest.mark.parametrize("quantifier", ORDERED)
def test_text_labels_need_an_order(quantifier):
    X, y = blobs(120, 3, seed=1)
    names = np.array(["low", "mid", "top"])
    with pytest.raises(DataError, match="only in alphabetical order: pass the classes from lowest to highest"):
        make(quantifier).fit(X, names[y])
    expected = make(quantifier).fit(X, y).predict(X)
    given = make(quantifier).set_params(classes=names.tolist()).fit(X, names[y])
    np.testing.assert_allclose(given.predict(X), expected, atol=1e-9)


@pytest.mark.parametrize("quantifier", ORDERED)
@pytest.mark.parametrize("n_classes", [3, 5])
def test_reversing_the_order_reverses_the_shares(quantifier, n_classes):
    codes, P = scored_items(300, n_classes, seed=5)
    plain = make(quantifier, frozen(range(n_classes))).fit(P, codes)
    turned = make(quantifier, frozen(range(n_classes))).fit(P[:, ::-1], n_classes - 1 - codes)
    tolerance = REVERSED.get(quantifier.__name__, 1e-6)
    np.testing.assert_allclose(turned.predict(P[:100, ::-1])[::-1], plain.predict(P[:100]), atol=tolerance)


@with_classes(EQUIVARIANT)
def test_renaming_classes_permutes_the_shares(quantifier, n_classes):
    codes, P = scored_items(300, n_classes, seed=5)
    names = np.array([f"class{i}" for i in range(n_classes)])
    new_codes = np.random.default_rng(0).permutation(n_classes)
    plain = make(quantifier, frozen(names)).fit(P, names[codes])
    renamed = make(quantifier, frozen(names)).fit(P[:, np.argsort(new_codes)], names[new_codes[codes]])
    target = P[:100]
    tolerance = 2 * GRID_TOLERANCE.get(quantifier.__name__, 5e-10)
    np.testing.assert_allclose(
        renamed.predict(target[:, np.argsort(new_codes)])[new_codes], plain.predict(target), atol=tolerance
    )


@every_number_of_classes
def test_shuffling_a_sample_changes_nothing(quantifier, n_classes):
    q = fitted_on_scores(quantifier, range(n_classes))
    _, P = scored_items(100, n_classes, seed=6)
    shuffled = np.random.default_rng(0).permutation(100)
    tolerance = SINGLE_PRECISION.get(quantifier.__name__, 1e-9)
    np.testing.assert_allclose(q.predict(P[shuffled]), q.predict(P), atol=tolerance)


@every_number_of_classes
def test_many_samples_at_once_equal_one_by_one(quantifier, n_classes):
    q = fitted_on_scores(quantifier, range(n_classes))
    _, P = scored_items(300, n_classes, seed=7)
    samples = draw_samples(300)
    one_by_one = [q.predict(P[rows]) for rows in samples]
    tolerance = SINGLE_PRECISION.get(quantifier.__name__, 1e-12)
    np.testing.assert_allclose(q.aggregate(q.outputs(P), samples), one_by_one, atol=tolerance)


@every_number_of_classes
def test_statistics_of_two_halves_add_up_to_those_of_all_items(quantifier, n_classes):
    q = fitted_on_scores(quantifier, range(n_classes))
    _, P = scored_items(1000, n_classes, seed=8)
    groups = np.random.default_rng(0).integers(0, 4, 1000)
    groups[:4] = groups[500:504] = np.arange(4)
    complete = q.reduce(q.outputs(P), Samples.from_groups(groups))
    halves = [
        q.reduce(q.outputs(P[half]), Samples.from_groups(groups[half])) for half in (slice(500), slice(500, None))
    ]
    merged = halves[0] + halves[1]
    np.testing.assert_allclose(merged.weights, complete.weights, rtol=1e-12)
    if isinstance(complete, Statistics):
        np.testing.assert_allclose(merged.sums, complete.sums, rtol=1e-12)
    np.testing.assert_allclose(q.solve(merged), q.solve(complete), atol=1e-12)


@every_number_of_classes
def test_integer_weights_mean_repeated_items(quantifier, n_classes):
    q = fitted_on_scores(quantifier, range(n_classes))
    out = q.outputs(scored_items(50, n_classes, seed=9)[1])
    repeats = np.random.default_rng(0).integers(0, 4, 50)
    repeats[0] = 1
    factors = {"counts" if quantifier.__name__ in COUNTS_ITEMS else "weights": repeats.astype(float)}
    weighted = Samples(np.arange(50), [0, 50], **factors)
    repeated = Samples.from_lists([np.repeat(np.arange(50), repeats)])
    np.testing.assert_allclose(q.aggregate(out, weighted), q.aggregate(out, repeated), atol=1e-12)


@with_classes(RECOGNISES_SHARES)
def test_a_perfect_classifier_gives_the_exact_shares(quantifier, n_classes):
    P = np.eye(n_classes)[np.repeat(np.arange(n_classes), 20)]
    q = make(quantifier, frozen(range(n_classes))).fit(P, P.argmax(axis=1))
    target = P[np.random.default_rng(0).integers(0, len(P), 37)]
    tolerance = (GRID_TOLERANCE | CALIBRATED_WITHOUT_ITSELF).get(quantifier.__name__, 1e-9)
    np.testing.assert_allclose(q.predict(target), target.mean(axis=0), atol=tolerance)


@every_method
def test_samples_of_one_item_and_of_one_class_work(quantifier):
    k = limit_classes(quantifier, 3)
    q = fitted_on_scores(quantifier, ["a", "b", "c"][:k])
    codes, P = scored_items(200, k, seed=10)
    for sample in (P[:1], P[codes == k - 1]):
        assert np.isfinite(q.predict(sample)).all()


@every_method
def test_an_empty_sample_raises_a_sentence(quantifier):
    q = fitted_on_scores(quantifier, [0, 1])
    out = q.outputs(scored_items(20, 2, seed=0)[1])
    with pytest.raises(DataError, match="Sample 1 has no items"):
        q.aggregate(out, Samples([0, 1, 2], [0, 2, 2, 3]))
    with pytest.raises(DataError, match="Sample 0 has no items"):
        q.aggregate(out, Samples([0, 1], [0, 2], weights=[0.0, 0.0]))
    with pytest.raises(DataError, match="empty"):
        q.predict(np.empty((0, 2)))


@over_a_classifier
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_or_infinite_input_raises_a_sentence(quantifier, bad):
    X, y = blobs(100, 2, seed=0)
    X_bad = X.copy()
    X_bad[3, 1] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        make(quantifier).fit(X_bad, y)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        make(quantifier).fit(X, y).predict(X_bad)


@every_method
def test_items_of_another_width_raise_a_sentence(quantifier):
    X, y = blobs(100, 2, seed=0)
    with pytest.raises(ValueError, match=r"3 features, but \w+ is expecting 4"):
        make(quantifier).fit(X, y).predict(X[:, :3])


@every_method
def test_labels_of_one_class_raise_a_sentence(quantifier):
    with pytest.raises(DataError, match="only one class, 'a'"):
        make(quantifier).fit(np.eye(3), ["a", "a", "a"])


@every_method
def test_data_frames_with_other_column_order_raise_a_sentence(quantifier):
    import pandas as pd

    X, y = blobs(100, 2, seed=0)
    table = pd.DataFrame(X, columns=list("abcd"))
    q = make(quantifier).fit(table, pd.Series(y))
    assert np.isfinite(q.predict(table)).all()
    with pytest.raises(ValueError, match="same order"):
        q.predict(table[list("bacd")])


@over_a_classifier
def test_a_frozen_classifier_is_not_refitted(quantifier):
    X, y = blobs(200, 2, seed=0)
    classifier = Linear().fit(X, y)
    before = classifier.coef_.copy()
    q = make(quantifier, FrozenEstimator(classifier)).fit(X[:50] + 1, y[:50])
    assert q.classifier_.estimator is classifier
    assert np.array_equal(classifier.coef_, before)


@over_a_classifier
def test_the_classifier_equals_a_plain_fit(quantifier):
    from sklearn.model_selection import train_test_split

    X, y = blobs(200, 2, seed=0)
    q = make(quantifier).fit(X, y)
    if quantifier.__name__ == "QuaNet":  # 40 % for the classifier
        seed = int(np.random.SeedSequence(0).spawn(1)[0].generate_state(1)[0])
        X, _, y, _ = train_test_split(X, y, test_size=0.6, stratify=y, random_state=seed)
    if q.uses_validation:
        for classifier, (train, _) in zip(
            q.classifier_.classifiers_, validation_parts(5, np.unique(y, return_inverse=True)[1], 0), strict=True
        ):
            assert np.array_equal(classifier.coef_, Linear().fit(X[train], y[train]).coef_)
        q = q.set_params(validation=0.4).fit(X, y)
        X, _, y, _ = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
    assert np.array_equal(q.classifier_.coef_, Linear().fit(X, y).coef_)


@every_number_of_classes
def test_the_number_of_threads_changes_no_bit(quantifier, n_classes, monkeypatch):
    q = fitted_on_scores(quantifier, range(n_classes))
    out = q.outputs(scored_items(2000, n_classes, seed=0)[1])
    samples = Samples.from_matrix(np.random.default_rng(0).integers(0, 2000, (400, 500)))
    shares = []
    for threads in (1, 2, 7):
        monkeypatch.setattr("headcount._threads.thread_count", lambda threads=threads: threads)
        shares.append(q.aggregate(out, samples))
    assert np.array_equal(shares[0], shares[1])
    assert np.array_equal(shares[0], shares[2])


def tally_in_batches(q, P, groups, size):
    """Tally batches of this size separately and merge the tallies, the last one first."""
    tallies = []
    for start in range(0, len(P), size):
        tally = Recipe(q).start()
        tally.add_columns(
            np.ascontiguousarray(P[start : start + size].T), groups[start : start + size], ["a", "b", "c"]
        )
        tallies.append(tally)
    return reduce(add, reversed(tallies))


@with_classes(SCORED)
def test_a_stream_gives_the_bits_of_one_pass(quantifier, n_classes):
    q = fitted_on_scores(quantifier, range(n_classes))
    _, P = scored_items(1500, n_classes, seed=4)
    groups = np.random.default_rng(0).integers(0, 3, len(P)).astype(np.int32)
    groups[:3] = [0, 1, 2]
    one_batch, large_batches, small_batches = (
        estimate_groups(tally_in_batches(q, P, groups, size)) for size in (len(P), 170, 7)
    )
    for batches in (large_batches, small_batches):
        assert np.array_equal(batches.shares, one_batch.shares)
        assert np.array_equal(batches.low, one_batch.low, equal_nan=True)
        assert np.array_equal(batches.high, one_batch.high, equal_nan=True)
    by_outputs = Recipe(q).start()
    by_outputs.add(Outputs.from_posteriors(P, range(n_classes)), groups, ["a", "b", "c"])
    assert np.array_equal(estimate_groups(by_outputs).shares, one_batch.shares)
    aggregated = q.aggregate(Outputs.from_posteriors(P, range(n_classes)), Samples.from_groups(groups))
    exact = one_batch.precision == 0.0  # otherwise items are kept in cells, with a bound on the error
    assert np.array_equal(one_batch.shares, aggregated) if exact else np.abs(one_batch.shares - aggregated).max() < 1e-3


# With cross-fitting the outputs of an item are several: the laws over samples hold for them too.


def fitted_in_folds(quantifier, n_classes, n_items):
    """Fit a quantifier in its default folds; return it with the outputs of other items."""
    X, y = blobs(250, n_classes, seed=0)
    options = {"calibration": "bcts"} if "calibration" in quantifier._get_param_names() else {}
    q = make(quantifier).set_params(**options).fit(X, y)
    assert q.n_folds == 5
    return q, q.outputs(blobs(n_items, n_classes, seed=1)[0])


@with_classes(CROSS_FITTED)
def test_shuffled_single_and_repeated_samples_of_cross_fitted_outputs(quantifier, n_classes):
    q, out = fitted_in_folds(quantifier, n_classes, 300)
    shuffled = np.random.default_rng(0).permutation(300)
    whole = q.aggregate(out)
    np.testing.assert_allclose(q.aggregate(out.take(shuffled)), whole, atol=1e-9)
    samples = draw_samples(300)
    one_by_one = [q.aggregate(out.take(rows))[0] for rows in samples]
    np.testing.assert_allclose(q.aggregate(out, samples), one_by_one, atol=1e-9)
    repeats = np.random.default_rng(0).integers(0, 4, 300)
    repeated = q.aggregate(out, Samples.from_lists([np.repeat(np.arange(300), repeats)]))
    for name in ("counts",) if quantifier.__name__ in COUNTS_ITEMS else ("counts", "weights"):
        factors = {name: repeats.astype(float)}
        np.testing.assert_allclose(q.aggregate(out, Samples(np.arange(300), [0, 300], **factors)), repeated, atol=1e-9)


@with_classes(CROSS_FITTED)
def test_statistics_of_cross_fitted_halves_add_up(quantifier, n_classes):
    q, out = fitted_in_folds(quantifier, n_classes, 400)
    groups = np.random.default_rng(0).integers(0, 4, 400)
    groups[:4] = groups[200:204] = np.arange(4)
    complete = q.reduce(out, Samples.from_groups(groups))
    parts = [np.arange(200), np.arange(200, 400)]
    halves = [q.reduce(out.take(rows), Samples.from_groups(groups[rows])) for rows in parts]
    merged = halves[0] + halves[1]
    if isinstance(complete, Statistics):
        assert np.array_equal(merged.sums, complete.sums)
        assert np.array_equal(merged.weights, complete.weights)
    np.testing.assert_allclose(q.solve(merged), q.solve(complete), atol=1e-9)
    joined = q.reduce(Outputs.concatenated([out.take(rows) for rows in parts]), Samples.from_groups(groups))
    assert np.array_equal(q.solve(joined), q.solve(complete))


@with_classes(CROSS_FITTED)
def test_a_stream_of_cross_fitted_outputs_gives_the_bits_of_one_pass(quantifier, n_classes):
    q, out = fitted_in_folds(quantifier, n_classes, 900)
    groups = np.random.default_rng(0).integers(0, 3, 900).astype(np.int32)
    groups[:3] = [0, 1, 2]

    def streamed(size):
        tallies = []
        for start in range(0, 900, size):
            rows = np.arange(start, min(start + size, 900))
            tallies.append(Recipe(q).start())
            tallies[-1].add(out.take(rows), groups[rows], ["a", "b", "c"])
        return estimate_groups(reduce(add, reversed(tallies)))

    one_batch = streamed(900)
    assert np.array_equal(one_batch.n_items, np.bincount(groups))
    for size in (170, 7):
        batches = streamed(size)
        assert np.array_equal(batches.shares, one_batch.shares)
        assert np.array_equal(batches.low, one_batch.low, equal_nan=True)
        assert np.array_equal(batches.high, one_batch.high, equal_nan=True)
    aggregated = q.aggregate(out, Samples.from_groups(groups))
    exact = one_batch.precision == 0.0
    assert np.array_equal(one_batch.shares, aggregated) if exact else np.abs(one_batch.shares - aggregated).max() < 1e-3


@every_method
def test_a_method_that_can_not_stream_is_refused_with_a_sentence(quantifier):
    q = fitted_on_scores(quantifier, [0, 1])
    if q.can_stream:
        Recipe(q)
    else:
        with pytest.raises(DataError, match=r"can't be added up batch by batch.*such as PACC or SLD"):
            Recipe(q)


@every_method
def test_nothing_is_drawn_from_the_global_generator_and_nothing_is_printed(quantifier, capfd):
    X, y = blobs(100, 2, seed=0)
    q = make(quantifier)
    if "random_state" in q.get_params():
        q.set_params(random_state=None)
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    q.fit(X, y).predict(X)
    assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    assert capfd.readouterr() == ("", "")


@over_a_classifier
def test_outputs_with_classes_in_another_order_give_the_same_shares(quantifier):
    k = limit_classes(quantifier, 3)
    q = fitted_on_scores(quantifier, ["a", "b", "c"][:k])
    _, P = scored_items(60, k, seed=1)
    last_first = np.roll(np.arange(k), 1)
    reordered = Outputs.from_posteriors(P[:, last_first], classes=np.array(["a", "b", "c"])[last_first], embeddings=P)
    np.testing.assert_allclose(q.aggregate(reordered)[0], q.predict(P), atol=1e-12)


@every_method
def test_outputs_of_other_classes_raise_a_sentence(quantifier):
    q = fitted_on_scores(quantifier, ["a", "b"])
    with pytest.raises(DataError, match="not among the classes"):
        q.aggregate(Outputs.from_posteriors([[0.5, 0.5]], ["a", "z"]))
    with pytest.raises(DataError, match="from_posteriors"):
        q.aggregate(np.array([[0.5, 0.5]]))


@over_a_classifier
def test_fits_from_raw_text_and_sparse_input(quantifier):
    from scipy.sparse import coo_array, csc_matrix
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.pipeline import make_pipeline

    texts = ["good film", "bad film", "good plot", "bad plot"] * 10
    y = ["pos", "neg"] * 20
    q = make(quantifier, make_pipeline(CountVectorizer(), Linear())).fit(texts, y)
    np.testing.assert_allclose(q.predict(texts[:2]).sum(), 1)
    learnt = quantifier.__name__ not in NEURAL  # a network learns little in two small epochs
    assert not learnt or q.predict(["good film", "good plot"])[1] > 0.5
    X, y = blobs(100, 2, seed=0)
    expected = make(quantifier).fit(X, y).predict(X)
    for sparse_format in (csc_matrix, coo_array):
        np.testing.assert_allclose(
            make(quantifier).fit(sparse_format(X), y).predict(sparse_format(X)), expected, atol=1e-6
        )


@pytest.mark.parametrize("quantifier", [q for q in METHODS if q.__name__ in TWO_CLASSES_ONLY])
def test_a_method_for_two_classes_refuses_three(quantifier):
    X, y = blobs(60, 3, seed=0)
    with pytest.raises(DataError, match="is defined for two classes; the labels hold 3"):
        make(quantifier).fit(X, y)
