"""What all methods over features share: outputs that hold features, streams, models, bad input."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from headcount import (
    ArtificialPrevalence,
    DMx,
    EDx,
    HDx,
    Outputs,
    QuantifierSearch,
    ReadMe,
    Samples,
    difference,
    estimate,
    evaluate,
)
from headcount.exceptions import DataError
from headcount.modelfile import Columns, Model, load_model, save_model
from headcount.stream import Recipe, estimate_groups
from tests.conftest import blobs

METHODS = [HDx((5, 10)), DMx(), EDx(), EDx("euclidean"), ReadMe(4, subset_size=2, random_state=0)]
every_method = pytest.mark.parametrize("method", METHODS, ids=repr)


@every_method
def test_a_stream_gives_the_bits_of_one_pass(method):
    q = method.fit(*blobs(200, 2, 0))
    out = q.outputs(blobs(300, 2, 1)[0])
    groups = np.random.default_rng(0).integers(0, 2, 300).astype(np.int32)

    def streamed(size):
        tally = Recipe(q).start()
        for start in range(0, 300, size):
            rows = np.arange(start, min(start + size, 300))
            tally.add(out.take(rows), groups[rows], ["a", "b"])
        return estimate_groups(tally)

    one, many = streamed(300), streamed(70)
    for name in ("shares", "low", "high"):
        assert np.array_equal(getattr(one, name), getattr(many, name))
    assert np.array_equal(one.shares, q.aggregate(out, Samples.from_groups(groups)))
    assert (one.low < one.high).all()


@every_method
def test_a_model_file_gives_the_same_shares(method, tmp_path):
    q = method.fit(*blobs(60, 2, 0))
    save_model(Model(q, Columns("numbers", tuple("abcd"), "y")), tmp_path / "m.headcount")
    read = load_model(tmp_path / "m.headcount").quantifier
    X, _ = blobs(40, 2, 1)
    assert np.array_equal(read.predict(X), q.predict(X))
    assert np.array_equal(estimate(read, X).low, estimate(q, X).low)


@every_method
def test_sparse_and_dense_features_are_the_same(method):
    X, y = blobs(80, 2, 0)
    X = np.where(np.abs(X) < 1.5, 0.0, X)
    dense, sparse = method.fit(X, y).predict(X[:30]), method.fit(csr_matrix(X), y).predict(csr_matrix(X[:30]))
    np.testing.assert_allclose(sparse, dense, atol=1e-12)


@every_method
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_or_infinite_features_raise_a_sentence(method, bad):
    X, y = blobs(60, 2, 0)
    X_bad = X.copy()
    X_bad[3, 1] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        method.fit(X_bad, y)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        method.fit(X, y).predict(X_bad)


@every_method
def test_a_class_with_one_item_works(method):
    X, y = blobs(60, 2, 0)
    rows = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:1]]
    q = method.fit(X[rows], y[rows])
    answer = estimate(q, X)
    assert np.isfinite(answer.shares).all()
    assert (answer.low <= answer.high).all()


@every_method
@pytest.mark.filterwarnings("ignore::headcount.exceptions.IdentifiabilityWarning")
def test_items_of_the_same_distribution_in_both_classes_leave_the_shares_open(method):
    generator, widths = np.random.default_rng(0), []
    for _ in range(12):
        q = method.fit(generator.standard_normal((60, 3)), np.arange(60) % 2)
        answer = estimate(q, generator.standard_normal((200, 3)))
        widths.append(answer.high[1] - answer.low[1])
    assert np.median(widths) == 1
    assert np.mean(widths) > 0.9


@every_method
def test_many_samples_in_parts_equal_all_at_once(method, monkeypatch):
    monkeypatch.setattr("headcount.quantifiers.representations.Representation.numbers_per_part", 1)
    X, y = blobs(100, 2, 0)
    q = method.fit(X, y)
    samples = Samples.from_matrix(np.random.default_rng(0).integers(0, 100, (150, 20)))
    out = q.outputs(X)
    np.testing.assert_allclose(q.aggregate(out, samples), q.solve(q.reduce(out, samples)), atol=1e-12)


def test_texts_through_a_transformer():
    texts = ["good film", "bad film", "good plot", "bad plot", "good", "bad film plot"] * 10
    y = ["pos", "neg", "pos", "neg", "pos", "neg"] * 10
    transformer = make_pipeline(TfidfVectorizer(), TruncatedSVD(2, random_state=0))
    q = DMx(transformer=transformer).fit(texts, y)
    assert q.predict(["good film", "good plot", "good"])[1] > 0.8
    assert not hasattr(transformer[0], "vocabulary_")
    scaled = EDx(transformer=StandardScaler())
    X, labels = blobs(80, 3, 0)
    stretched = X * [1, 100, 1, 0.01]
    np.testing.assert_allclose(
        scaled.fit(stretched, labels).predict(stretched), scaled.fit(X, labels).predict(X), atol=1e-9
    )


def test_evaluation_search_and_difference():
    X, y = blobs(300, 2, 0)
    protocol = ArtificialPrevalence(3, repeats=3, sample_size=40, random_state=0)
    results = evaluate({"bins": DMx().fit(X, y), "energy": EDx().fit(X, y)}, *blobs(400, 2, 1), protocol)
    assert all(result.ae.mean() < 0.15 for result in results.values())
    search = QuantifierSearch(DMx(), {"bins": [2, 8]}, protocol=protocol, random_state=0).fit(X, y)
    assert search.best_params_["bins"] in (2, 8)
    q = DMx().fit(X, y)
    first, second = estimate(q, X[y == 0][:50]), estimate(q, X[y == 1][:50])
    change = difference(first, second)
    assert change.low[1] > 0.5


def test_estimates_of_other_labelled_items_are_told_apart():
    X, y = blobs(100, 2, 0)
    one, other = DMx().fit(X, y), DMx().fit(X + np.random.default_rng(0).normal(0, 0.1, X.shape), y)
    assert estimate(one, X).labelled_side != estimate(other, X).labelled_side


def test_outputs_hold_features():
    X, y = blobs(20, 2, 0)
    out = DMx().fit(X, y).outputs(X)
    assert out.take(np.array([3, 1])).need("features").tolist() == X[[3, 1]].tolist()
    joined = Outputs.concatenated([out, out])
    assert joined.n_items == 40
    assert joined.aligned_to(np.array([1, 0])).need("features").shape == (40, 4)
    sparse = Outputs(np.array([0, 1]), 20, features=csr_matrix(X))
    assert Outputs.concatenated([sparse, sparse]).need("features").shape == (40, 4)
    assert "features" in repr(out)
    with pytest.raises(DataError, match="finite numbers in a matrix, one row an item; NaN"):
        Outputs(np.array([0, 1]), 1, features=[[np.nan]])
    with pytest.raises(DataError, match="Features must be numbers"):
        Outputs(np.array([0, 1]), 1, features=[["a"]])
    with pytest.raises(DataError, match="There are 20 features for 3 items"):
        Outputs(np.array([0, 1]), 3, features=X)


def test_outputs_of_a_classifier_are_refused_with_a_sentence():
    X, y = blobs(20, 2, 0)
    posteriors = Outputs.from_posteriors(np.full((20, 2), 0.5), [0, 1])
    with pytest.raises(DataError, match="hold no features of the items, which the method needs, as it works without"):
        DMx().fit(X, y).aggregate(posteriors)
    with pytest.raises(DataError, match="hold no features of the items"):
        DMx().fit(posteriors, y)
    q = DMx().fit(Outputs(np.array([0, 1]), 20, features=X), y)
    np.testing.assert_allclose(q.predict(X), DMx().fit(X, y).predict(X))
