"""What a model file keeps of each type: the same predictions to the bit, and estimators that can be cloned and fitted again."""

import json
import pickle
import warnings
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from headcount import ACC, PACC, PCC, SLD, LogTfidf, NewtonLinearSVC, NewtonLogisticRegression, SVMperf
from headcount.exceptions import DataError, FileFormatError
from headcount.features import TermWeights
from headcount.learners import BoostedTrees, ContinuationRatio, FoldClassifiers, FrankHall, Outputs, Vote
from headcount.learners.folds_besides import FoldsBesides
from headcount.modelfile import Columns, Model, load_model, read_summary, save_model
from headcount.modelfile.arrays import array_bytes, array_from
from headcount.modelfile.checks import UnsoundError
from headcount.modelfile.codecs import codec_for, codec_named
from headcount.modelfile.codecs.quantifiers import check_quantifier
from headcount.modelfile.nodes import LongTexts, Packer, Unpacker
from headcount.quantifiers import Histograms, SumsQuantifier
from headcount.quantifiers.solvers import LeastSquares
from tests.conftest import blobs
from tests.modelfile.test_modelfile import texts

VERSION_3 = Path(__file__).parent / "version-3.headcount"
X, Y = blobs(150, 2, 0)
Y3 = np.array(["low", "mid", "high"])[np.argsort(np.argsort(X[:, 0])) * 3 // len(X)]
SPARSE = np.where(X > 0.5, X, np.nan)


def again(value):
    """Return a value that was packed and unpacked."""
    packer = Packer(codec_for)
    packer.value([value])
    nodes = [*packer.nodes, {"type": "held", "value": packer.value(value)}]

    class Last:
        def make(self, fields):
            return fields["value"]

    def named(tag):
        return Last() if tag == "held" else codec_named(tag)

    arrays = [array_from(bytearray(content)) for content in packer.arrays]
    return Unpacker(nodes, arrays.__getitem__, 10_000, named).last()


def assert_same_answers(one, other, items):
    for method in ("predict_proba", "decision_function", "predict", "transform"):
        if hasattr(one, method):
            first, second = getattr(one, method)(items), getattr(other, method)(items)
            if hasattr(first, "toarray"):
                first, second = first.toarray(), second.toarray()
            assert (first.dtype, first.shape) == (second.dtype, second.shape)
            assert first.tobytes() == second.tobytes()
        elif method != "decision_function":
            assert not hasattr(other, method)


ESTIMATORS = [
    NewtonLogisticRegression(C=0.5),
    NewtonLinearSVC(),
    LogisticRegression(C=3.0),
    LinearSVC(random_state=0),
    LinearSVC(random_state=0, fit_intercept=False),
    GaussianNB(),
    DecisionTreeClassifier(random_state=0),
    ExtraTreeClassifier(random_state=0),
    RandomForestClassifier(7, min_samples_leaf=2, random_state=0),
    ExtraTreesClassifier(5, random_state=0, class_weight="balanced"),
    BoostedTrees(n_rounds=3, random_state=0),
    Vote([NewtonLogisticRegression(), RandomForestClassifier(3, random_state=0), BoostedTrees(n_rounds=2)]),
    FrankHall(RandomForestClassifier(3, random_state=0)),
    ContinuationRatio(make_pipeline(StandardScaler(), LogisticRegression())),
    CalibratedClassifierCV(LinearSVC(random_state=0), cv=3),
    CalibratedClassifierCV(GaussianNB(), cv=2, ensemble=False),
    make_pipeline(StandardScaler(), TruncatedSVD(2, random_state=0), LogisticRegression()),
    make_pipeline(StandardScaler(with_mean=False), RandomForestClassifier(2, random_state=0)),
]


@pytest.mark.parametrize("labels", [Y, Y3], ids=["two", "three"])
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_classifiers_answer_to_the_bit(estimator, labels):
    estimator = clone(estimator)
    if "classes" in estimator.get_params() and labels is Y3:
        estimator.set_params(classes=["low", "mid", "high"])
    fitted = clone(estimator).fit(X, labels)
    made = again(fitted)
    assert_same_answers(fitted, made, X)
    assert again(made).predict(X).tolist() == fitted.predict(X).tolist()
    assert made.classes_.tolist() == fitted.classes_.tolist()
    assert not hasattr(again(clone(estimator)), "classes_")
    assert repr(again(clone(estimator))) == repr(estimator)


def test_what_is_read_can_be_cloned_and_fitted_again():
    for estimator in (
        RandomForestClassifier(3, random_state=0),
        CalibratedClassifierCV(LinearSVC(random_state=0), cv=2),
    ):
        made = again(clone(estimator).fit(X, Y))
        refitted = clone(made).fit(X[:80], Y3[:80])
        assert_same_answers(clone(estimator).fit(X[:80], Y3[:80]), refitted, X)
        assert pickle.loads(pickle.dumps(made)).predict(X).tolist() == made.predict(X).tolist()
    assert made.get_params()["original__cv"] == 2


def test_trees_with_missing_values_and_sparse_items():
    forest = RandomForestClassifier(5, random_state=0).fit(SPARSE, Y)
    assert_same_answers(forest, again(forest), SPARSE)
    from scipy.sparse import csr_matrix

    zeros = csr_matrix(np.nan_to_num(SPARSE))
    forest = ExtraTreesClassifier(5, random_state=0).fit(zeros, Y)
    assert_same_answers(forest, again(forest), zeros)
    with pytest.raises(ValueError, match="2 features"):
        again(forest).predict(X[:, :2])


def test_calibration_by_temperature():
    try:
        calibrated = CalibratedClassifierCV(LinearSVC(random_state=0), cv=2, method="temperature").fit(X, Y3)
    except ValueError:
        pytest.skip("this version of scikit-learn has no temperature scaling")
    assert_same_answers(calibrated, again(calibrated), X)
    for estimator, labels in ((LinearSVC(random_state=0), Y), (GaussianNB(), Y), (GaussianNB(), Y3)):
        calibrated = CalibratedClassifierCV(estimator, cv=2, method="temperature").fit(X, labels)
        assert_same_answers(calibrated, again(calibrated), X)


def test_features_of_texts_numbers_and_gaps():
    items, y = texts(80)
    for transformer in (LogTfidf(1, stop_words=["good"]), TermWeights(1), TermWeights(1, unit="letters")):
        fitted = make_pipeline(transformer, MultinomialNB(alpha=0.1)).fit(items, y)
        assert_same_answers(fitted, again(fitted), items)
        assert again(fitted)[0].vocabulary_ == fitted[0].vocabulary_
    imputed = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
    assert_same_answers(imputed.fit(SPARSE), again(imputed), SPARSE)
    svm = SVMperf(loss="kld").fit(X, Y)
    assert_same_answers(svm, again(svm), X)


def test_plain_values():
    values = {
        "plain": [None, True, 3, 2.5, "é\ud800", float("inf"), (1, (2,)), {"a"}, {1: "x", "y": [np.int64(3)]}],
        "arrays": [np.arange(6).reshape(2, 3), np.asfortranarray(np.eye(2)), np.array(["a", "bc"]), np.zeros((0, 2))],
        "objects": np.array(["a", None, 2], dtype=object),
        "texts": LongTexts(["a", "b,c", ""]),
    }
    made = again(values)
    assert made["plain"] == values["plain"]
    for one, other in zip(values["arrays"], made["arrays"], strict=True):
        assert (one.dtype, one.shape, one.tolist()) == (other.dtype, other.shape, other.tolist())
        assert one.flags.f_contiguous == other.flags.f_contiguous
        assert other.flags.writeable
    assert made["objects"].tolist() == ["a", None, 2]
    assert made["texts"] == values["texts"]
    with pytest.raises(ValueError, match="can't be kept"):
        array_bytes(np.zeros(1, dtype=[("a", "f8")]))


def test_generators_splitters_and_outputs():
    for state in (np.random.RandomState(3), np.random.default_rng(3)):
        state.normal(size=3)
        made = again(state)
        assert made.normal(size=5).tolist() == state.normal(size=5).tolist()
    assert again(FoldsBesides(0.4, 3)) == FoldsBesides(0.4, 3)
    splitter = again(StratifiedKFold(3, shuffle=True, random_state=1))
    assert (splitter.n_splits, splitter.shuffle, splitter.random_state) == (3, True, 1)
    outputs = Outputs.from_folds([Outputs.from_posteriors(P, ["a", "b"]) for P in ([[0.9, 0.1]], [[0.5, 0.5]])])
    made = again(outputs)
    assert made.folds[1].posteriors.tolist() == [[0.5, 0.5]]
    assert (made.decisions.tolist(), made.classes.tolist()) == ([0], ["a", "b"])


def test_what_is_the_same_object_twice_stays_one():
    frozen = FrozenEstimator(RandomForestClassifier(3, random_state=0).fit(X, Y))
    quantifier = again(PACC(frozen).fit(X, Y))
    assert quantifier.classifier is quantifier.classifier_
    assert isinstance(again(FoldClassifiers([GaussianNB().fit(X, Y)])).classifiers, list)


class WithParts(SumsQuantifier):
    """A method that keeps its representation and solver, and lists of arrays and quantifiers."""

    adjusts_for_shift = True

    @property
    def representation(self):
        return self.histograms_

    @property
    def solver(self):
        return getattr(self, "solver_", LeastSquares())

    def _learn(self, fits, codes):
        self.histograms_, self.solver_ = Histograms((4,)), LeastSquares()
        super()._learn(fits, codes)
        self.points_ = [np.arange(3.0), np.eye(2)]
        self.members_ = [PCC(GaussianNB()).fit(fits.X, fits.y)]


def test_methods_need_no_codec_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setattr(WithParts, "__module__", "headcount.quantifiers.parts")
    from headcount.modelfile.codecs import quantifiers

    quantifiers._own_classes.cache_clear()
    try:
        model = Model(
            WithParts(GaussianNB(), validation=2, random_state=0).fit(X, Y), Columns("numbers", tuple("abcd"), "y")
        )
        save_model(model, tmp_path / "m.headcount")
        made = load_model(tmp_path / "m.headcount").quantifier
    finally:
        quantifiers._own_classes.cache_clear()
    np.testing.assert_array_equal(made.predict(X), model.quantifier.predict(X))
    assert isinstance(made.histograms_, Histograms)
    assert made.points_[1].tolist() == np.eye(2).tolist()
    np.testing.assert_array_equal(made.members_[0].predict(X), model.quantifier.members_[0].predict(X))


def test_other_types_are_kept_only_where_the_file_is_trusted(tmp_path):
    path = tmp_path / "m.headcount"
    model = Model(
        PACC(KNeighborsClassifier(), validation=2, random_state=0).fit(X, Y), Columns("numbers", tuple("abcd"), "y")
    )
    with pytest.raises(DataError, match=r"it holds 'sklearn\.neighbors\..*KNeighborsClassifier'.*trust=True"):
        save_model(model, path)
    save_model(model, path, trust=True)
    with pytest.raises(
        FileFormatError, match=r"KNeighborsClassifier'.*runs code.*if you made the file yourself, add --trust"
    ):
        load_model(path)
    loaded = load_model(path, trust=True)
    np.testing.assert_array_equal(loaded.quantifier.predict(X), model.quantifier.predict(X))
    assert read_summary(path).description["trusted"] == ["sklearn.neighbors._classification.KNeighborsClassifier"]


def test_settings_that_no_file_keeps_are_refused_with_the_reason(tmp_path):
    calibrated = CalibratedClassifierCV(GaussianNB(), method="isotonic", cv=2)
    model = Model(ACC(calibrated, validation=2, random_state=0).fit(X, Y), Columns("numbers", tuple("abcd"), "y"))
    with pytest.raises(DataError, match="method='isotonic' can't be kept"):
        save_model(model, tmp_path / "m.headcount")
    assert list(tmp_path.iterdir()) == []
    save_model(model, tmp_path / "m.headcount", trust=True)
    np.testing.assert_array_equal(
        load_model(tmp_path / "m.headcount", trust=True).quantifier.predict(X), model.quantifier.predict(X)
    )


def test_a_method_of_posteriors_of_others():
    P = np.array([[0.9, 0.1], [0.2, 0.8]] * 10)
    outputs = Outputs.from_posteriors(P, ["no", "yes"])
    fitted = SLD(calibration="bcts").fit(outputs, ["no", "yes"] * 10)
    made = again(fitted)
    assert made.aggregate(outputs).tolist() == fitted.aggregate(outputs).tolist()


def test_a_file_written_under_the_lowest_version_of_scikit_learn_gives_the_same_shares():
    expected = json.loads(VERSION_3.with_suffix(".json").read_text())
    assert expected["scikit-learn"].startswith("1.6")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = load_model(VERSION_3)
    assert (model.method, model.learner, model.versions["scikit-learn"]) == ("PACC", "Vote", expected["scikit-learn"])
    np.testing.assert_allclose(model.quantifier.predict(expected["items"]), expected["shares"], atol=1e-12)
    assert clone(model.quantifier).fit(X, Y).predict(X).shape == (2,)


class Declared(WithParts):
    """A method that declares the shape of an array."""

    learnt_shapes: ClassVar = {"table_": ("rows", "classes"), "weights_": ("rows",)}

    def _learn(self, fits, codes):
        super()._learn(fits, codes)
        self.table_, self.weights_ = np.ones((5, len(self.classes_))), np.ones(5)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("table_", np.ones((5, 3)), "table_ has 3 classes, not 2"),
        ("weights_", np.ones(4), "weights_ has 4 rows, not 5"),
        ("weights_", np.full(5, np.nan), "weights_ holds values that are not finite"),
        ("table_", np.ones(10), "table_ has no such axes"),
    ],
)
def test_arrays_that_a_method_declares_are_checked(name, value, words):
    fitted = Declared(GaussianNB(), validation=2, random_state=0).fit(X, Y)
    check_quantifier(fitted)
    setattr(fitted, name, value)
    with pytest.raises(UnsoundError, match=words):
        check_quantifier(fitted)
