"""A look at a model file: the same as reading it whole, without an object made; what would be refused is refused."""

import json

import pytest
from sklearn.linear_model import LogisticRegression

from headcount import PACC
from headcount.exceptions import DataError, FileFormatError, HeadcountWarning
from headcount.modelfile import load_model, manifest, read_summary
from headcount.modelfile.allowed import nodes_of
from tests.conftest import blobs
from tests.modelfile.forging import change_body, repack, save_version_2
from tests.modelfile.test_modelfile import VERSION_1, VERSION_2, fit_model, model_path  # noqa: F401 (a fixture)


@pytest.mark.filterwarnings("ignore:.*another version than the one here:headcount.exceptions.HeadcountWarning")
def test_a_summary_says_what_the_model_says(model_path):  # noqa: F811
    for path in (model_path, VERSION_1, VERSION_2):
        summary, model = read_summary(path), load_model(path)
        for name in ("columns", "method", "learner", "source", "seed", "ranking", "skipped", "written", "versions"):
            assert getattr(summary, name) == getattr(model, name)
        described = manifest.described(model, model.written)
        versions = {name: described.pop(name) for name in ("headcount", "libraries", "version")}
        assert {name: value for name, value in summary.description.items() if name not in versions} == described


def test_a_summary_makes_no_object(model_path, monkeypatch):  # noqa: F811
    def load(path):
        raise AssertionError(f"{path} was read whole")

    monkeypatch.setattr("headcount.modelfile.files.load_model", load)
    assert read_summary(model_path).method == "PACC"


def test_damaged_files_are_refused(model_path, tmp_path):  # noqa: F811
    with pytest.raises(DataError, match="There is no file"):
        read_summary(tmp_path / "nothing.headcount")
    content = model_path.read_bytes()
    for cut in (10, len(content) // 2, len(content) - 30):
        model_path.write_bytes(content[:cut])
        with pytest.raises(FileFormatError):
            read_summary(model_path)
    middle = bytearray(content)
    middle[len(content) // 2] ^= 1
    model_path.write_bytes(bytes(middle))
    with pytest.raises(FileFormatError):
        read_summary(model_path)


@pytest.mark.parametrize("field", ["method", "classes"])
def test_a_manifest_of_another_model_is_refused(model_path, field):  # noqa: F811
    def change(fields, _):
        fields[field] = {"method": "ACC", "classes": [0, 1]}[field]

    repack(model_path, change)
    with pytest.raises(FileFormatError, match="manifest and quantifier do not agree"):
        read_summary(model_path)


@pytest.mark.parametrize(
    ("name", "node"),
    [
        ("posix.system", {"__class__": "system", "__module__": "posix", "__loader__": "TypeNode"}),
        ("'FunctionNode'", {"__class__": "getcwd", "__module__": "os", "__loader__": "FunctionNode"}),
    ],
)
def test_types_that_are_not_allowed_are_refused(model_path, name, node):  # noqa: F811
    save_version_2(fit_model(PACC(random_state=0), *blobs(100, 2, 0)), model_path)

    def plant(content):
        schema = json.loads(content["schema.json"])
        schema["content"]["quantifier"]["content"]["content"]["extra"] = node
        content["schema.json"] = json.dumps(schema).encode()

    repack(model_path, change_body(plant))
    with pytest.raises(FileFormatError, match=name):
        read_summary(model_path)


def test_another_version_of_scikit_learn_warns(model_path):  # noqa: F811
    def older(content):
        schema = json.loads(content["schema.json"])
        for node in nodes_of(schema):
            if isinstance(node.get("content"), dict) and "_sklearn_version" in node["content"]:
                node["content"]["_sklearn_version"]["content"] = '"1.5.0"'
        content["schema.json"] = json.dumps(schema).encode()

    save_version_2(fit_model(PACC(LogisticRegression(), random_state=0), *blobs(100, 2, 0)), model_path)
    repack(model_path, change_body(older))
    with pytest.warns(HeadcountWarning, match="another version"):
        assert read_summary(model_path).method == "PACC"
