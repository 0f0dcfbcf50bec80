import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from headcount import (
    ACC,
    CC,
    MLPE,
    PACC,
    PCC,
    ArtificialPrevalence,
    Evaluation,
    NaturalPrevalence,
    Outputs,
    Samples,
    evaluate,
)
from headcount.errors import ae, get_error, kld, nmd, rae
from headcount.exceptions import DataError, UnknownNameError
from tests.conftest import blobs

PROTOCOL = ArtificialPrevalence(5, repeats=4, sample_size=30, random_state=0)


@pytest.fixture
def data():
    X, y = blobs(400, 2, seed=0)
    return X[:200], np.array(["neg", "pos"])[y[:200]], X[200:], np.array(["neg", "pos"])[y[200:]]


def test_all_samples_at_once_equal_predicting_one_by_one(data):
    X, y, X_test, y_test = data
    q = PACC(random_state=0).fit(X, y)
    table = evaluate(q, X_test, y_test, PROTOCOL)
    samples, true = PROTOCOL.draw(y_test)
    np.testing.assert_array_equal(table.true, true)
    np.testing.assert_allclose(table.estimated, [q.predict(X_test[rows]) for rows in samples], atol=1e-12)
    np.testing.assert_allclose(table.ae, ae(true, table.estimated))
    np.testing.assert_allclose(table.rae, rae(true, table.estimated, 30))
    np.testing.assert_allclose(table.error("kld"), kld(true, table.estimated, 30))
    assert len(table) == 20
    assert repr(table).startswith("Evaluation of PACC on 20 samples, classes 'neg', 'pos': mean AE 0.")


def test_data_frame_of_shares_and_errors(data):
    X, y, X_test, y_test = data
    frame = evaluate(CC().fit(X, y), X_test, y_test, PROTOCOL).to_frame(errors=("ae", "nkld"))
    assert frame.columns.tolist() == ["size", "true_neg", "true_pos", "estimated_neg", "estimated_pos", "ae", "nkld"]
    assert (frame["size"] == 30).all()


class Counting(LogisticRegression):
    """Logistic regression that counts how often it scores."""

    calls = 0

    def predict_proba(self, X):
        type(self).calls += 1
        return super().predict_proba(X)


def test_quantifiers_over_one_classifier_score_the_pool_once(data):
    X, y, X_test, y_test = data
    classifier = FrozenEstimator(Counting().fit(X, y))
    quantifiers = [q(classifier).fit(X, y) for q in (CC, PCC, ACC, PACC)] + [MLPE().fit(X, y)]
    Counting.calls = 0
    tables = evaluate(quantifiers, X_test, y_test, PROTOCOL)
    assert Counting.calls == 1
    assert [table.name for table in tables] == ["CC", "PCC", "ACC", "PACC", "MLPE"]
    for q, table in zip(quantifiers, tables, strict=True):
        np.testing.assert_array_equal(table.estimated, evaluate(q, X_test, y_test, PROTOCOL).estimated)


def test_the_pool_may_be_given_as_outputs(data):
    X, y, X_test, y_test = data
    q = PCC().fit(X, y)
    out = Outputs.from_posteriors(q.classifier_.predict_proba(X_test), ["neg", "pos"])
    np.testing.assert_array_equal(
        evaluate(q, out, y_test, PROTOCOL).estimated, evaluate(q, X_test, y_test, PROTOCOL).estimated
    )


def test_a_class_missing_from_the_pool_keeps_its_column():
    X, y = blobs(300, 3, seed=0)
    q = CC().fit(X, y)
    pool = y != 1
    table = evaluate(q, X[pool], y[pool], NaturalPrevalence(5, sample_size=40, random_state=0))
    assert table.true.shape == (5, 3)
    assert (table.true[:, 1] == 0).all()
    with pytest.raises(DataError, match="asks for items of class 1"):
        evaluate(q, X[pool], y[pool], PROTOCOL)


def test_a_dict_of_quantifiers_gives_a_dict_of_evaluations(data):
    X, y, X_test, y_test = data
    quantifiers = {"counting": CC().fit(X, y), 0.4: PACC(random_state=0).fit(X, y)}
    results = evaluate(quantifiers, X_test, y_test, PROTOCOL)
    assert list(results) == ["counting", 0.4]
    assert [result.name for result in results.values()] == ["counting", "0.4"]
    for name, quantifier in quantifiers.items():
        expected = evaluate(quantifier, X_test, y_test, PROTOCOL)
        np.testing.assert_array_equal(results[name].estimated, expected.estimated)


def test_a_list_of_pairs_names_the_quantifiers(data):
    X, y, X_test, y_test = data
    pairs = [("weak", PACC(LogisticRegression(C=1e-6)).fit(X, y)), ("strong", PACC().fit(X, y))]
    for given in (pairs, tuple(pairs)):
        assert [result.name for result in evaluate(given, X_test, y_test, PROTOCOL)] == ["weak", "strong"]


def test_quantifiers_of_the_same_class_in_a_list_are_numbered(data):
    X, y, X_test, y_test = data
    quantifiers = [q.fit(X, y) for q in (PACC(), CC(), PACC(validation=3), PACC(validation=5))]
    results = evaluate(quantifiers, X_test, y_test, PROTOCOL)
    assert [result.name for result in results] == ["PACC", "CC", "PACC (2)", "PACC (3)"]


def test_ready_made_samples_are_evaluated_against_shares_counted_from_the_labels(data):
    X, y, X_test, y_test = data
    q = PACC(random_state=0).fit(X, y)
    samples, true = PROTOCOL.draw(y_test)
    expected = evaluate(q, X_test, y_test, PROTOCOL)
    for given in (samples, samples.indices.reshape(-1, 30), samples.indices.reshape(-1, 30).tolist()):
        result = evaluate(q, X_test, y_test, given)
        np.testing.assert_allclose(result.true, true, atol=1e-15)
        np.testing.assert_array_equal(result.estimated, expected.estimated)
        np.testing.assert_array_equal(result.sizes, expected.sizes)


def test_ready_made_samples_may_differ_in_size_and_have_weights(data):
    X, y, X_test, y_test = data
    first, second = np.flatnonzero(y_test == "neg")[0], np.flatnonzero(y_test == "pos")[0]
    samples = Samples([first, second, second], [0, 2, 3], weights=[1.0, 3.0, 1.0])
    result = evaluate(CC().fit(X, y), X_test, y_test, samples)
    np.testing.assert_allclose(result.true, [[0.25, 0.75], [0.0, 1.0]])
    assert result.sizes.tolist() == [2, 1]


def test_errors_by_name_or_measure(data):
    X, y, X_test, y_test = data
    result = evaluate(CC().fit(X, y), X_test, y_test, PROTOCOL)
    np.testing.assert_array_equal(result.error(get_error("nkld")), result.error("nkld"))
    assert result.to_frame(errors=["se"]).columns[-1] == "se"


def test_html_shows_samples_classes_mean_errors_and_bias():
    true = np.array([[0.5, 0.5], [0.25, 0.75]])
    estimated = np.array([[0.75, 0.25], [0.25, 0.75]])
    result = Evaluation("A & B", np.array(["<neg>", "pos"]), true, estimated, np.array([4, 4]))
    page = result._repr_html_()
    assert "A &amp; B" in page
    assert "&lt;neg&gt;, pos" in page
    assert "<th>mean AE</th><td>0.1250 (standard error 0.1250)</td>" in page
    assert "<th>bias of &lt;neg&gt;</th><td>+0.1250</td>" in page
    assert "<th>bias of pos</th><td>-0.1250</td>" in page
    one = Evaluation("CC", result.classes, true[:1], estimated[:1], np.array([4]))
    assert "<th>mean AE</th><td>0.2500</td>" in one._repr_html_()


class OrderedCC(CC):
    """Classify and count with a parameter for the order of the classes."""

    def __init__(self, classifier=None, classes=None):
        super().__init__(classifier)
        self.classes = classes


def test_measures_of_ordered_classes_need_the_order_of_text_classes():
    X, codes = blobs(300, 3, seed=0)
    y = np.array(["good", "poor", "very good"])[codes]
    alphabetical = evaluate(OrderedCC().fit(X, y), X, y, PROTOCOL)
    assert not alphabetical.ordered
    with pytest.raises(DataError, match=r"NMD depends on the order .*classes=\[\.\.\.\]"):
        alphabetical.error("nmd")
    with pytest.raises(DataError, match="NMD depends on the order"):
        alphabetical.to_frame(errors=["nmd"])
    given = evaluate(OrderedCC(classes=["good", "poor", "very good"]).fit(X, y), X, y, PROTOCOL)
    assert given.ordered
    np.testing.assert_allclose(given.error("nmd"), nmd(given.true, given.estimated))
    numbers = evaluate(CC().fit(X, codes), X, codes, PROTOCOL)
    assert numbers.ordered
    np.testing.assert_allclose(numbers.error("nmd"), given.error("nmd"))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda q, X, y: evaluate(q, X, np.append(y[:-1], "new"), PROTOCOL),
            DataError,
            "holds 'new', not among the classes",
        ),
        (lambda q, X, y: evaluate(q, X[:-1], y, PROTOCOL), DataError, "199 items and y 200 labels"),
        (lambda q, X, y: evaluate(LogisticRegression(), X, y, PROTOCOL), DataError, "Expected a fitted quantifier"),
        (lambda q, X, y: evaluate(q, X, y, "app"), DataError, "Expected a protocol"),
        (lambda q, X, y: evaluate(q, X, y, None), DataError, "Expected a protocol"),
        (lambda q, X, y: evaluate(q, X, y, ArtificialPrevalence), DataError, "Expected a protocol"),
        (lambda q, X, y: evaluate(q, X, y, [[0, 500]]), DataError, "row number 500, but the pool has 200 items"),
        (lambda q, X, y: evaluate(q, X, y, Samples([0], [0, 1, 1])), DataError, "[Ss]ample 1 .*empty"),
        (lambda q, X, y: evaluate({}, X, y, PROTOCOL), DataError, "Expected a fitted quantifier"),
        (lambda q, X, y: evaluate({"a": "cc"}, X, y, PROTOCOL), DataError, "Expected a fitted quantifier"),
        (lambda q, X, y: evaluate(("a", q), X, y, PROTOCOL), DataError, "Expected a fitted quantifier"),
        (lambda q, X, y: evaluate([("a", q), ("a", q)], X, y, PROTOCOL), DataError, "'a' names two quantifiers"),
        (lambda q, X, y: evaluate([], X, y, PROTOCOL), DataError, "Expected a fitted quantifier"),
        (lambda q, X, y: evaluate([q, "cc"], X, y, PROTOCOL), DataError, "Expected a fitted quantifier"),
        (lambda q, X, y: evaluate([q, CC().fit(X, y == "pos")], X, y, PROTOCOL), DataError, "different classes"),
        (lambda q, X, y: evaluate(q, X, y, PROTOCOL).error("f1"), DataError, "error of decisions"),
        (lambda q, X, y: evaluate(q, X, y, PROTOCOL).error("aee"), UnknownNameError, "Did you mean 'ae'"),
        (lambda q, X, y: evaluate(CC(), X, y, PROTOCOL), ValueError, "not fitted"),
    ],
)
def test_invalid_input_is_refused(data, call, error, words):
    X, y, X_test, y_test = data
    with pytest.raises(error, match=words):
        call(CC().fit(X, y), X_test, y_test)
