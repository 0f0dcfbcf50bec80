"""Model files: what is written is what is read, and whatever else is refused with a sentence."""

import hashlib
import io
import json
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
import skops.io
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from headcount import ACC, CC, ELM, MLPE, PACC, PCC, SLD, HDy, LogTfidf, SVMperf
from headcount.exceptions import DataError, FileFormatError, HeadcountWarning
from headcount.modelfile import Columns, Model, load_model, manifest, save_model
from tests.conftest import blobs

FIXTURE = Path(__file__).parent / "version-1.headcount"
WORDS = np.array(
    ["good", "bad", "fine", "poor", "great", "awful", "__class__", "__loader__", "func", "type", "content"]
)


def texts(n, seed=0):
    generator = np.random.default_rng(seed)
    y = generator.integers(0, 2, n)
    odd = generator.integers(0, 2, (n, 8))
    return [
        " ".join(WORDS[np.where(row > 0, 2 * (row % 3) + label, 6 + row % 5)])
        for row, label in zip(odd, y, strict=True)
    ], y


def model_of(quantifier, X, y, kind="numbers", names=("a", "b", "c", "d")):
    source = {"name": "made.csv", "fingerprint": "0" * 64, "rows": len(y)}
    return Model(quantifier.fit(X, y), Columns(kind, names, "y"), source=source, seed=0)


@pytest.fixture
def written(tmp_path):
    path = tmp_path / "m.headcount"
    save_model(model_of(PACC(random_state=0), *blobs(200, 3, 0)), path)
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
        ELM(SVMperf(loss="kld")),
    ],
    ids=repr,
)
def test_what_is_read_answers_as_what_was_written(tmp_path, quantifier):
    X, y = blobs(300, 2, 1)
    model = model_of(quantifier, X, y)
    save_model(model, tmp_path / "m.headcount")
    again = load_model(tmp_path / "m.headcount")
    np.testing.assert_array_equal(again.quantifier.predict(X), model.quantifier.predict(X))
    assert again.columns == model.columns
    assert (again.method, again.learner, again.parameters) == (model.method, model.learner, model.parameters)
    assert (again.source, again.seed) == (model.source, 0)
    assert again.versions["headcount"]
    assert again.written.startswith("20")
    assert repr(again).startswith(f"Model({type(quantifier).__name__}")
    kept = again.held_out()
    assert (kept is None) == isinstance(quantifier, MLPE | CC | PCC | ELM)


def test_a_vocabulary_may_hold_any_words(tmp_path):
    X, y = texts(200)
    model = model_of(PACC(make_pipeline(LogTfidf(1), LogisticRegression()), random_state=0), X, y, "text", ("t",))
    assert "__class__" in model.quantifier.classifier_[0].vocabulary_
    save_model(model, tmp_path / "m.headcount")
    np.testing.assert_array_equal(
        load_model(tmp_path / "m.headcount").quantifier.predict(X), model.quantifier.predict(X)
    )


def test_reference_scores_are_kept(tmp_path):
    X, y = blobs(200, 2, 0)
    pacc = PACC(random_state=0).fit(X, y)
    acc = ACC(random_state=0).fit(X, y)
    model = Model(acc, Columns("numbers", ("a",)), pacc.validation_outputs_, pacc.validation_codes_)
    save_model(model, tmp_path / "m.headcount")
    P, codes = load_model(tmp_path / "m.headcount").held_out()
    np.testing.assert_array_equal(P, pacc.validation_outputs_.posteriors)
    np.testing.assert_array_equal(codes, pacc.validation_codes_)


def test_a_file_written_by_the_first_version_is_readable():
    model = load_model(FIXTURE)
    assert (model.method, model.learner, model.columns.kind) == ("PACC", "LogisticRegression", "text")
    expected = json.loads(FIXTURE.with_suffix(".json").read_text())
    np.testing.assert_allclose(model.quantifier.predict(expected["texts"]), expected["shares"], atol=1e-9)


def test_it_is_there_complete_or_not_at_all(written, monkeypatch):
    before = written.read_bytes()
    monkeypatch.setattr(zipfile.ZipFile, "writestr", lambda *a: (_ for _ in ()).throw(OSError("the disk is full")))
    with pytest.raises(OSError, match="full"):
        save_model(load_model(written), written)
    assert written.read_bytes() == before
    assert [p.name for p in written.parent.iterdir()] == ["m.headcount"]


def test_a_folder_that_is_not_there_is_told(tmp_path, written):
    with pytest.raises(DataError, match="can't be written: No such file"):
        save_model(load_model(written), tmp_path / "none" / "m.headcount")


def test_a_learner_that_could_not_be_read_again_is_not_written(tmp_path):
    model = model_of(PACC(KNeighborsClassifier(), random_state=0), *blobs(200, 2, 0))
    with pytest.raises(DataError, match="can't be kept in a file: it holds 'sklearn"):
        save_model(model, tmp_path / "m.headcount")
    assert list(tmp_path.iterdir()) == []


def refused(path, words):
    with pytest.raises(FileFormatError, match=words) as caught:
        load_model(path)
    assert str(path) in str(caught.value)


def repacked(path, change=None, seal=True, extra=(), compression=zipfile.ZIP_STORED):
    """Write a model file again with a changed manifest or body, its checksums made to fit."""
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    described = json.loads(content["manifest.json"])
    if change is not None:
        content["model.skops"] = change(described, content["model.skops"]) or content["model.skops"]
    described.pop("seal", None)
    if seal:
        content["manifest.json"] = manifest.sealed(described, {"model.skops": content["model.skops"]})
    else:
        described["seal"] = "0" * 64
        content["manifest.json"] = json.dumps(described).encode()
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in [*content.items(), *extra]:
            archive.writestr(name, data)


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(DataError, match="There is no file"):
        load_model(tmp_path / "m.headcount")
    with pytest.raises(DataError, match="is a folder"):
        load_model(tmp_path)


def test_not_a_zip_truncated_or_cut(written):
    whole = written.read_bytes()
    for part in (b"", b"not a zip", pickle.dumps({"a": 1}), whole[: len(whole) // 2], whole[:-5], whole[100:]):
        written.write_bytes(part)
        refused(written, "not a model file")


def test_any_changed_byte_is_found(written):
    whole = written.read_bytes()
    for place in np.random.default_rng(0).integers(0, len(whole), 60):
        changed = bytearray(whole)
        changed[place] ^= 0xFF
        written.write_bytes(bytes(changed))
        try:
            load_model(written)
        except FileFormatError:
            continue
        assert place > len(whole) - 400 or place < 60  # dates and flags of zip entries, which mean nothing here


def test_an_unknown_version(written):
    repacked(written, lambda described, body: described.update(version=2, headcount="9.1"))
    refused(written, "model file of version 2; .* written by Headcount '9.1'")


def test_a_changed_manifest(written):
    repacked(written, lambda described, body: described.update(method="SLD"), seal=False)
    refused(written, "was changed after it was written: its manifest")


def test_a_changed_body(written):
    with zipfile.ZipFile(written) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    content["model.skops"] += b"more"
    with zipfile.ZipFile(written, "w") as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    refused(written, "was changed after it was written: model.skops")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"classes": [0, 1]}, "manifest and quantifier do not agree"),
        ({"method": "SLD"}, "do not agree"),
        ({"columns": {"kind": "text"}}, "names no columns"),
        ({"source": None}, "lacks some of"),
        ({"format": "other"}, "not a model file of Headcount"),
    ],
)
def test_a_manifest_that_does_not_fit(written, change, words):
    repacked(written, lambda described, body: described.update(change))
    refused(written, words)


def test_a_manifest_that_is_not_json(written):
    with zipfile.ZipFile(written) as archive:
        body = archive.read("model.skops")
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr("manifest.json", "{")
        archive.writestr("model.skops", body)
    refused(written, "manifest is not JSON")


class Planted:
    def __reduce__(self):
        return Path.touch, (Path("planted"),)


def test_a_planted_pickle_beside_the_model(written, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    repacked(written, extra=[("x.pkl", pickle.dumps(Planted()))])
    refused(written, "besides a model it holds .*x.pkl")
    assert not Path("planted").exists()


def inside(change):
    def changed(described, body):
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            content = {name: archive.read(name) for name in archive.namelist()}
        change(content)
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in content.items():
                archive.writestr(name, data)
        return out.getvalue()

    return changed


def test_a_planted_pickle_in_an_array_is_not_run(written, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def plant(content):
        name = next(name for name in content if name.endswith(".npy"))
        file = io.BytesIO()
        np.save(file, np.array([Planted()], dtype=object), allow_pickle=True)
        content[name] = file.getvalue()

    repacked(written, inside(plant))
    refused(written, "can't be made .*allow_pickle=False")
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
def test_a_type_that_is_not_allowed(written, node, words):
    def plant(content):
        schema = json.loads(content["schema.json"])
        schema["content"]["quantifier"]["content"]["content"]["extra"] = node
        content["schema.json"] = json.dumps(schema).encode()

    repacked(written, inside(plant))
    refused(written, words)


def test_bombs(written):
    with zipfile.ZipFile(written) as archive:
        body, described = archive.read("model.skops"), archive.read("manifest.json")
    repacked(written, inside(lambda content: content.update({"zeros.npy": b"\0" * (300 * 2**20)})))
    refused(written, "unpack to more than 256 MiB")
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", described)
        archive.writestr("model.skops", body)
    refused(written, "packed or larger")


def test_members_that_are_missing_or_there_twice(written):
    with zipfile.ZipFile(written) as archive:
        body = archive.read("model.skops")
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr("model.skops", body)
    refused(written, "lacks manifest.json")
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr("model.skops", body)
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("model.skops", body)
    refused(written, "a member twice")


def test_a_body_that_is_no_zip_or_no_model(written, tmp_path):
    repacked(written, lambda described, body: b"nothing")
    refused(written, "can't be unpacked")
    save_model(load_model(FIXTURE), written)
    repacked(written, lambda described, body: skops.io.dumps({"quantifier": [1]}))
    refused(written, "no fitted quantifier")
    repacked(written, lambda described, body: skops.io.dumps([1]))
    refused(written, "no fitted quantifier")


def test_another_version_of_scikit_learn_is_told(written):
    def older(content):
        content["schema.json"] = (
            content["schema.json"]
            .replace(json.dumps(__import__("sklearn").__version__).encode(), b'"1.5.0"')
            .replace(json.dumps(json.dumps(__import__("sklearn").__version__)).encode(), json.dumps('"1.5.0"').encode())
        )

    repacked(written, inside(older))
    with pytest.warns(HeadcountWarning, match="another version"):
        load_model(written)


def test_parameters_are_plain():
    model = model_of(HDy(bins=np.array([10, 20]), random_state=np.int64(3)), *blobs(100, 2, 0))
    assert model.parameters["random_state"] == 3
    assert "array" in model.parameters["bins"]
    assert hashlib.sha256(json.dumps(model.parameters).encode())
