"""Model files: a loaded model equals the saved one; damaged, changed or unsafe files are refused with a sentence."""

import hashlib
import json
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from headcount import (
    ACC,
    CC,
    ELM,
    MLPE,
    PACC,
    PCC,
    SLD,
    BayesianCC,
    Ensemble,
    HDy,
    LogTfidf,
    NewtonLogisticRegression,
    OneVsRest,
    SVMperf,
    TableColumns,
)
from headcount.exceptions import DataError, FileFormatError
from headcount.modelfile import Columns, Model, load_model, save_model
from headcount.tables import ColumnRole
from headcount.tables.records import record_type
from tests.conftest import blobs
from tests.modelfile.forging import members_of, repack

VERSION_1, VERSION_2 = (Path(__file__).parent / f"version-{number}.headcount" for number in (1, 2))
WORDS = np.array(
    ["good", "bad", "fine", "poor", "great", "awful", "__class__", "__loader__", "func", "type", "content"]
)


def texts(n, seed=0):
    """Draw texts of two classes; some words are also key words of the file format."""
    generator = np.random.default_rng(seed)
    y = generator.integers(0, 2, n)
    choices = generator.integers(0, 2, (n, 8))
    return [
        " ".join(WORDS[np.where(row > 0, 2 * (row % 3) + label, 6 + row % 5)])
        for row, label in zip(choices, y, strict=True)
    ], y


def fit_model(quantifier, X, y, kind="numbers", names=("a", "b", "c", "d")):
    source = {"name": "made.csv", "fingerprint": "0" * 64, "rows": len(y)}
    return Model(quantifier.fit(X, y), Columns(kind, names, "y"), source=source, seed=0)


@pytest.fixture
def model_path(tmp_path):
    path = tmp_path / "m.headcount"
    save_model(fit_model(PACC(random_state=0), *blobs(200, 3, 0)), path)
    return path


@pytest.mark.parametrize(
    "quantifier",
    [
        MLPE(),
        CC(),
        PCC(GaussianNB()),
        ACC(LinearSVC(random_state=0), random_state=0),
        PACC(LinearSVC(random_state=0), random_state=0),
        PACC(RandomForestClassifier(5, random_state=0), random_state=0),
        SLD(make_pipeline(StandardScaler(), LogisticRegression(C=3.0)), calibration="bcts", random_state=0),
        HDy(random_state=0),
        BayesianCC(random_state=0),
        Ensemble(PACC(LogisticRegression()), n_members=2, selection="ds", random_state=0),
        OneVsRest(HDy(GaussianNB()), random_state=0),
        ELM(SVMperf(loss="kld")),
    ],
    ids=repr,
)
def test_a_loaded_model_predicts_as_the_saved_one(tmp_path, quantifier):
    X, y = blobs(300, 2, 1)
    model = fit_model(quantifier, X, y)
    save_model(model, tmp_path / "m.headcount")
    loaded = load_model(tmp_path / "m.headcount")
    np.testing.assert_array_equal(loaded.quantifier.predict(X), model.quantifier.predict(X))
    assert loaded.columns == model.columns
    assert (loaded.method, loaded.learner, loaded.parameters) == (model.method, model.learner, model.parameters)
    assert (loaded.source, loaded.seed) == (model.source, 0)
    assert loaded.versions["headcount"]
    assert loaded.written.startswith("20")
    assert repr(loaded).startswith(f"Model({type(quantifier).__name__}")
    scores = loaded.held_out()
    assert (scores is None) == isinstance(quantifier, MLPE | CC | PCC | ELM | Ensemble | OneVsRest)


def test_a_vocabulary_may_contain_any_words(tmp_path):
    X, y = texts(200)
    model = fit_model(PACC(make_pipeline(LogTfidf(1), LogisticRegression()), random_state=0), X, y, "text", ("t",))
    assert "__class__" in model.quantifier.classifier_.classifiers_[0][0].vocabulary_
    save_model(model, tmp_path / "m.headcount")
    np.testing.assert_array_equal(
        load_model(tmp_path / "m.headcount").quantifier.predict(X), model.quantifier.predict(X)
    )


@pytest.mark.parametrize(
    "quantifier",
    [
        ACC,
        PACC,
        HDy,
        lambda **more: SLD(calibration="bcts", **more),
        lambda **more: SLD(calibration="vs", smoothing=[0.5, 1.0], **more),
    ],
)
def test_fold_classifiers_are_saved_without_the_validation_items(tmp_path, quantifier):
    X, y = texts(200)
    q = quantifier(classifier=make_pipeline(LogTfidf(1), LogisticRegression()), validation=3, random_state=0)
    model = fit_model(q, X, y, "text", ("t",))
    assert model.learner == "LogisticRegression"
    save_model(model, tmp_path / "m.headcount")
    loaded = load_model(tmp_path / "m.headcount").quantifier
    assert loaded.n_folds == 3
    np.testing.assert_array_equal(loaded.predict(X), q.predict(X))
    np.testing.assert_array_equal(loaded.validation_folds_, q.validation_folds_)
    assert loaded.validation_items_ is None
    assert q.validation_items_ is not None
    assert pickle.loads(pickle.dumps(q)).validation_items_ == q.validation_items_


def test_models_from_before_cross_fitting_are_read_as_refitted():
    X, y = blobs(200, 2, 0)
    for validation, refit in ((0.4, False), (3, True)):
        q = PACC(validation=validation, refit=refit, random_state=0).fit(X, y)
        state = q.__getstate__()
        for name in ("refit", "validation_folds_", "validation_items_"):
            del state[name]
        old = PACC.__new__(PACC)
        old.__setstate__(state)
        assert (old.refit, old.has_interval, old.n_folds) == (refit, not refit, 1)
        np.testing.assert_array_equal(old.validation_folds_, np.zeros(len(old.validation_codes_)))
        np.testing.assert_array_equal(old.predict(X), q.predict(X))


def test_held_out_scores_are_saved(tmp_path):
    X, y = blobs(200, 2, 0)
    pacc = PACC(random_state=0).fit(X, y)
    acc = ACC(random_state=0).fit(X, y)
    model = Model(acc, Columns("numbers", tuple("abcd")), pacc.validation_outputs_, pacc.validation_codes_)
    save_model(model, tmp_path / "m.headcount")
    P, codes = load_model(tmp_path / "m.headcount").held_out()
    np.testing.assert_array_equal(P, pacc.validation_outputs_.posteriors)
    np.testing.assert_array_equal(codes, pacc.validation_codes_)


def test_columns_of_one_kind_are_written_without_roles(model_path):
    with zipfile.ZipFile(model_path) as archive:
        fields = json.loads(archive.read("manifest.json"))
    assert fields["version"] == 3
    assert fields["columns"] == {"kind": "numbers", "names": ["a", "b", "c", "d"], "label": "y"}


def test_mixed_columns_are_written_with_what_they_are(tmp_path):
    roles = {"price": ColumnRole("number", complete=False), "region": ColumnRole("category", n_values=2)}
    records = np.empty(40, record_type(roles))
    records["price"], records["region"] = np.arange(40.0), np.array(["n", "s"] * 20, dtype=object)[:, None]
    classifier = make_pipeline(TableColumns(), NewtonLogisticRegression())
    columns = Columns("mixed", tuple(roles), "y", tuple(roles.values()), ("Column 'id' is left out: an id.",))
    model = Model(PACC(classifier, random_state=0).fit(records, [0] * 20 + [1] * 20), columns)
    save_model(model, tmp_path / "m.headcount")
    with zipfile.ZipFile(tmp_path / "m.headcount") as archive:
        assert json.loads(archive.read("manifest.json"))["version"] == 3
    loaded = load_model(tmp_path / "m.headcount")
    assert loaded.columns == columns
    np.testing.assert_array_equal(loaded.quantifier.predict(records), model.quantifier.predict(records))
    assert loaded.labelled_items().features.names == ("price",)


def test_a_failed_save_keeps_the_old_file(model_path, monkeypatch):
    before = model_path.read_bytes()
    monkeypatch.setattr(zipfile.ZipFile, "writestr", lambda *a: (_ for _ in ()).throw(OSError("the disk is full")))
    with pytest.raises(OSError, match="full"):
        save_model(load_model(model_path), model_path)
    assert model_path.read_bytes() == before
    assert [p.name for p in model_path.parent.iterdir()] == ["m.headcount"]


def test_saving_to_a_missing_folder_raises_a_sentence(tmp_path, model_path):
    with pytest.raises(DataError, match="can't be written: No such file"):
        save_model(load_model(model_path), tmp_path / "none" / "m.headcount")


def test_a_model_that_could_not_be_loaded_is_not_saved(tmp_path):
    model = fit_model(PACC(KNeighborsClassifier(), random_state=0), *blobs(200, 2, 0))
    with pytest.raises(DataError, match="can't be kept in a file: it holds 'sklearn"):
        save_model(model, tmp_path / "m.headcount")
    assert list(tmp_path.iterdir()) == []


def assert_refused(path, words):
    with pytest.raises(FileFormatError, match=words) as caught:
        load_model(path)
    assert str(path) in str(caught.value)


def test_missing_files_and_folders_raise_a_sentence(tmp_path):
    with pytest.raises(DataError, match="There is no file"):
        load_model(tmp_path / "m.headcount")
    with pytest.raises(DataError, match="is a folder"):
        load_model(tmp_path)


def test_truncated_files_and_other_formats_are_refused(model_path):
    original = model_path.read_bytes()
    for content in (b"", b"not a zip", pickle.dumps({"a": 1})):
        model_path.write_bytes(content)
        assert_refused(model_path, "is not a model file")
    for content in (original[: len(original) // 2], original[:-5], original[100:]):
        model_path.write_bytes(content)
        assert_refused(model_path, "is a model file that ends in the middle or is damaged")


def test_any_changed_byte_is_detected_or_means_nothing(model_path):
    original, X = model_path.read_bytes(), blobs(20, 3, 1)[0]
    expected, detected = load_model(model_path).quantifier.predict(X), 0
    for position in np.random.default_rng(0).integers(0, len(original), 60):
        changed = bytearray(original)
        changed[position] ^= 0xFF
        model_path.write_bytes(bytes(changed))
        try:
            loaded = load_model(model_path)
        except FileFormatError:
            detected += 1
            continue
        np.testing.assert_array_equal(loaded.quantifier.predict(X), expected)  # a date of a zip entry
    assert detected > 30


def test_an_unknown_version_is_refused(model_path):
    repack(model_path, lambda fields, members: fields.update(version=4, headcount="9.1"))
    assert_refused(model_path, "model file of version 4; .* written by Headcount '9.1'")


def test_a_changed_manifest_is_refused(model_path):
    repack(model_path, lambda fields, members: fields.update(method="SLD"), seal=False)
    assert_refused(model_path, "was changed after it was written: its manifest")


def test_a_changed_member_is_refused(model_path):
    content = members_of(model_path)
    content["model.json"] += b" "
    with zipfile.ZipFile(model_path, "w") as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    assert_refused(model_path, "was changed after it was written: model.json")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"classes": [0, 1]}, "manifest and quantifier do not agree"),
        ({"method": "SLD"}, "do not agree"),
        ({"columns": {"kind": "text"}}, "names no columns"),
        ({"columns": {"kind": "mixed", "names": ["a"], "label": "y"}}, "does not say what its columns are"),
        ({"columns": {"kind": "text", "names": ["a"], "label": "y", "roles": 1}}, "does not say what its columns are"),
        (
            {"columns": {"kind": "text", "names": ["a"], "label": "y", "notes": [1]}},
            "does not say what its columns are",
        ),
        (
            {"columns": {"kind": "mixed", "names": ["a"], "label": "y", "roles": [{"kind": "number", "size": "9"}]}},
            "does not say what its columns are",
        ),
        ({"source": None}, "lacks some of"),
        ({"source": {"fingerprint": 0.5}}, "lacks some of"),
        ({"source": {"name": ["a"]}}, "lacks some of"),
        ({"libraries": {"numpy": 2}}, "lacks some of"),
        ({"headcount": 2}, "lacks some of"),
        ({"seed": "x"}, "lacks some of"),
        ({"format": "other"}, "not a model file of Headcount"),
    ],
)
def test_an_inconsistent_manifest_is_refused(model_path, change, words):
    repack(model_path, lambda fields, members: fields.update(change))
    assert_refused(model_path, words)


def test_a_manifest_that_is_not_json_is_refused(model_path):
    content = members_of(model_path)
    with zipfile.ZipFile(model_path, "w") as archive:
        for name, data in (content | {"manifest.json": b"{"}).items():
            archive.writestr(name, data)
    assert_refused(model_path, "manifest is not JSON")


class Planted:
    def __reduce__(self):
        return Path.touch, (Path("planted"),)


def test_a_pickle_beside_the_model_is_refused_and_not_run(model_path, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    repack(model_path, extra=[("x.pkl", pickle.dumps(Planted()))])
    assert_refused(model_path, "besides a model it holds .*x.pkl")
    assert not Path("planted").exists()


def test_parameters_are_json_values():
    model = fit_model(HDy(bins=np.array([10, 20]), random_state=np.int64(3)), *blobs(100, 2, 0))
    assert model.parameters["random_state"] == 3
    assert "array" in model.parameters["bins"]
    assert hashlib.sha256(json.dumps(model.parameters).encode())
