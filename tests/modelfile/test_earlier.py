"""Files of versions 1 and 2, which skops wrote, are still read; what is forged or damaged in them is refused."""

import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import skops.io
from scipy.sparse import csr_matrix
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from headcount import PACC, SLD, LogTfidf
from headcount.exceptions import HeadcountWarning
from headcount.modelfile import load_model, save_model
from tests.conftest import blobs
from tests.modelfile.forging import change_body, repack, save_version_2
from tests.modelfile.test_modelfile import VERSION_1, VERSION_2, Planted, assert_refused, fit_model, texts

BODY = "model.skops"


@pytest.fixture
def model_path(tmp_path):
    path = tmp_path / "m.headcount"
    save_version_2(fit_model(PACC(random_state=0), *blobs(100, 3, 0)), path)
    return path


@pytest.mark.filterwarnings("ignore:.*another version than the one here:headcount.exceptions.HeadcountWarning")
def test_a_file_of_the_second_version_can_be_loaded_and_saved_anew(tmp_path):
    expected = json.loads(VERSION_2.with_suffix(".json").read_text())
    model = load_model(VERSION_2)
    assert (model.method, model.learner, model.columns.kind) == ("PACC", "RandomForestClassifier", "numbers")
    np.testing.assert_allclose(model.quantifier.predict(expected["items"]), expected["shares"], atol=1e-9)
    save_model(model, tmp_path / "new.headcount")
    again = load_model(tmp_path / "new.headcount")
    assert (again.learner, again.parameters) == (model.learner, model.parameters)
    np.testing.assert_array_equal(
        again.quantifier.predict(expected["items"]), model.quantifier.predict(expected["items"])
    )


@pytest.mark.filterwarnings("ignore:.*another version than the one here:headcount.exceptions.HeadcountWarning")
def test_a_file_of_the_first_version_can_be_loaded():
    model = load_model(VERSION_1)
    assert (model.method, model.learner, model.columns.kind) == ("PACC", "LogisticRegression", "text")
    expected = json.loads(VERSION_1.with_suffix(".json").read_text())
    np.testing.assert_allclose(model.quantifier.predict(expected["texts"]), expected["shares"], atol=1e-9)


def test_a_pickle_in_an_array_is_refused_and_not_run(model_path, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def plant(content):
        name = next(name for name in content if name.endswith(".npy"))
        file = io.BytesIO()
        np.save(file, np.array([Planted()], dtype=object), allow_pickle=True)
        content[name] = file.getvalue()

    repack(model_path, change_body(plant))
    assert_refused(model_path, "can't be made .*allow_pickle=False")
    assert not Path("planted").exists()


@pytest.mark.parametrize(
    ("node", "words"),
    [
        ({"__class__": "system", "__module__": "posix", "__loader__": "TypeNode"}, "it holds 'posix.system'"),
        ({"__class__": "getcwd", "__module__": "os", "__loader__": "FunctionNode"}, "made by 'FunctionNode'"),
        ({"__class__": "eval", "__module__": "builtins", "__loader__": "ObjectNode"}, "it holds 'builtins.eval'"),
        ({"__class__": "Popen", "__module__": "subprocess"}, "made by None"),
    ],
)
def test_a_type_that_is_not_allowed_is_refused(model_path, node, words):
    def plant(content):
        schema = json.loads(content["schema.json"])
        schema["content"]["quantifier"]["content"]["content"]["extra"] = node
        content["schema.json"] = json.dumps(schema).encode()

    repack(model_path, change_body(plant))
    assert_refused(model_path, words)


def test_zip_bombs_are_refused(model_path):
    with zipfile.ZipFile(model_path) as archive:
        body, manifest_bytes = archive.read("model.skops"), archive.read("manifest.json")
    repack(model_path, change_body(lambda content: content.update({"zeros.npy": b"\0" * (300 * 2**20)})))
    assert_refused(model_path, "unpack to more than 256 MiB")
    with zipfile.ZipFile(model_path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", manifest_bytes)
        archive.writestr("model.skops", body)
    assert_refused(model_path, "packed or larger")


def test_missing_and_duplicate_members_are_refused(model_path):
    with zipfile.ZipFile(model_path) as archive:
        body = archive.read("model.skops")
    with zipfile.ZipFile(model_path, "w") as archive:
        archive.writestr("model.skops", body)
    assert_refused(model_path, "lacks manifest.json")
    with zipfile.ZipFile(model_path, "w") as archive:
        archive.writestr("model.skops", body)
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("model.skops", body)
    assert_refused(model_path, "a member twice")


def test_a_body_that_is_not_a_zip_or_not_a_model_is_refused(model_path):
    repack(model_path, lambda fields, members: members.update({BODY: b"nothing"}))
    assert_refused(model_path, "can't be unpacked")
    model_path.write_bytes(VERSION_1.read_bytes())
    repack(model_path, lambda fields, members: members.update({BODY: skops.io.dumps({"quantifier": [1]})}))
    assert_refused(model_path, "no fitted quantifier")
    repack(model_path, lambda fields, members: members.update({BODY: skops.io.dumps([1])}))
    assert_refused(model_path, "no fitted quantifier")


def test_another_version_of_scikit_learn_warns(model_path):
    def older(content):
        content["schema.json"] = (
            content["schema.json"]
            .replace(json.dumps(__import__("sklearn").__version__).encode(), b'"1.5.0"')
            .replace(json.dumps(json.dumps(__import__("sklearn").__version__)).encode(), json.dumps('"1.5.0"').encode())
        )

    save_version_2(fit_model(PACC(LogisticRegression(), random_state=0), *blobs(100, 2, 0)), model_path)
    repack(model_path, change_body(older))
    with pytest.warns(HeadcountWarning, match="another version"):
        load_model(model_path)


def spoil(quantifier, name, value):
    setattr(quantifier, name, value)
    return quantifier


def fitted(method):
    return method.fit(*blobs(100, 3, 0))


@pytest.mark.parametrize(
    ("quantifier", "words"),
    [
        (lambda: spoil(fitted(PACC(random_state=0)), "validation_codes_", np.full(100, 7)), "validation_codes_"),
        (lambda: spoil(fitted(PACC(random_state=0)), "validation_codes_", np.zeros(3, dtype=int)), "lacks a class"),
        (lambda: spoil(fitted(PACC(random_state=0)), "M_", np.ones((3, 2))), "M_ is not an array"),
        (lambda: spoil(fitted(PACC(random_state=0)), "M_", np.ones((2, 3))), "M_ has other rows"),
        (lambda: spoil(fitted(SLD()), "prior_", np.ones(2) / 2), "prior_ is not an array"),
    ],
)
def test_quantifiers_that_no_fit_gives_are_refused(tmp_path, quantifier, words):
    save_version_2(fit_model(Refitted(quantifier()), *blobs(100, 3, 0)), tmp_path / "m.headcount")
    assert_refused(tmp_path / "m.headcount", words)


def test_outputs_that_no_constructor_would_make_are_refused(tmp_path):
    quantifier = fitted(PACC(random_state=0))
    outputs = quantifier.validation_outputs_
    object.__setattr__(outputs, "posteriors", outputs.posteriors[:, 0].copy())
    save_version_2(fit_model(Refitted(quantifier), *blobs(100, 3, 0)), tmp_path / "m.headcount")
    assert_refused(tmp_path / "m.headcount", "its model can't be made|posteriors")


def test_held_out_items_that_lack_a_class_are_refused(tmp_path):
    model = fit_model(SLD(random_state=0), *blobs(100, 3, 0))
    reference = model.quantifier.outputs(blobs(30, 3, 1)[0])
    save_version_2(
        replace(model, reference=reference, reference_codes=np.zeros(30, dtype=np.int64)), tmp_path / "m.headcount"
    )
    assert_refused(tmp_path / "m.headcount", "what it holds of labelled items lacks a class")


class Refitted:
    """A quantifier that `fit` gives as it is."""

    def __init__(self, quantifier):
        self.quantifier = quantifier

    def fit(self, X, y):
        return self.quantifier


def test_vocabularies_without_weights_and_coefficients_beyond_their_shape_are_refused(tmp_path):
    X, y = texts(100)
    model = fit_model(SLD(make_pipeline(LogTfidf(1), LogisticRegression())), X, y, "text", ("t",))
    terms, classifier = model.quantifier.classifier_.named_steps.values()
    weights, terms.idf_ = terms.idf_, terms.idf_[:-1]
    save_version_2(model, tmp_path / "m.headcount")
    assert_refused(tmp_path / "m.headcount", "idf_ is not an array of floats of shape")
    terms.idf_, classifier.coef_ = weights, csr_matrix(classifier.coef_)
    save_version_2(model, tmp_path / "m.headcount")
    assert_refused(tmp_path / "m.headcount", "coef_ is not an array")


def test_trees_that_lead_back_or_are_named_often_are_refused(tmp_path):
    model = fit_model(PACC(RandomForestClassifier(3, random_state=0), random_state=0), *blobs(100, 3, 0))
    forest = model.quantifier.classifier_.classifiers[0]
    trees, forest.estimators_ = forest.estimators_, forest.estimators_[:1] * 1_000
    save_version_2(model, tmp_path / "m.headcount")
    assert_refused(tmp_path / "m.headcount", "names a tree twice")
    forest.estimators_ = trees
    save_version_2(model, tmp_path / "m.headcount")

    def lead_back(content):
        for name, data in content.items():
            if name.endswith(".npy"):
                array = np.load(io.BytesIO(data))
                if array.dtype.names:
                    array["left_child"][0] = 0
                    file = io.BytesIO()
                    np.save(file, array)
                    content[name] = file.getvalue()

    repack(tmp_path / "m.headcount", change_body(lead_back))
    assert_refused(tmp_path / "m.headcount", "leads nowhere, back")
