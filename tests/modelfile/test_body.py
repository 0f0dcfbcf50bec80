"""Objects of a body are those that skops, which wrote it, would make; files that it would not write are refused."""

import io
import json
import zipfile

import numpy as np
import pytest
import skops.io
from scipy.sparse import csr_matrix, issparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from headcount import SLD, LogTfidf, NewtonLogisticRegression
from headcount.modelfile.allowed import nodes_of
from headcount.modelfile.body import make_object
from tests.conftest import blobs
from tests.modelfile.test_modelfile import texts


def read_both_ways(body):
    """Make the object of a skops file with `make_object`, and with skops itself."""
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        schema = json.loads(archive.read("schema.json"))
        types = sorted({f"{node['__module__']}.{node['__class__']}" for node in nodes_of(schema)})
        return make_object(schema, archive, types), skops.io.loads(body, trusted=types)


def assert_same(one, other):
    """Compare two objects with all they are made of."""
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert (one.dtype, one.shape, one.flags.f_contiguous) == (other.dtype, other.shape, other.flags.f_contiguous)
        assert one.flags.writeable
        if one.dtype.names:  # padding between the fields may be anything
            assert all(one[name].tobytes() == other[name].tobytes() for name in one.dtype.names)
        elif one.dtype == object:
            assert_same(one.tolist(), other.tolist())
        else:
            assert one.tobytes() == other.tobytes()
    elif issparse(one):
        assert_same([one.data, one.indices, one.indptr], [other.data, other.indices, other.indptr])
    elif isinstance(one, dict):
        assert list(one) == list(other)
        assert_same(list(one.values()), list(other.values()))
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert_same(a, b)
    elif type(one).__name__ == "Tree":
        assert_same(one.__reduce__()[1:], other.__reduce__()[1:])
    elif isinstance(one, np.random.RandomState):
        assert_same(one.get_state(), other.get_state())
    elif isinstance(one, type) or not hasattr(one, "__dict__"):
        assert one == other or (one != one and other != other)
    else:
        assert_same(one.__dict__, other.__dict__)


def test_plain_values_and_arrays():
    shared = np.arange(6).reshape(2, 3)
    held = {
        "values": [1, 2.5, "a", None, True, float("nan"), (1, (2,)), {3}],
        "keys": {1: "a", 2.5: "b", "c": np.float64(3)},
        "arrays": [shared, np.asfortranarray(shared), shared[:, :1], np.array(["a", "bc"]), np.zeros((0, 2))],
        "same header": [np.array([1, 2]), np.array([3, 4])],
        "objects": [np.array(["a", None], dtype=object), np.array([[1, "b"]], dtype=object)],
        "others": [np.dtype("float32"), np.int64(4), np.bool_(True), csr_matrix(shared), np.random.RandomState(3)],
    }
    made, by_skops = read_both_ways(skops.io.dumps(held))
    assert_same(made, by_skops)
    assert made["arrays"][0].tolist() == shared.tolist()


def test_one_object_in_two_places_stays_one():
    shared = np.arange(3)
    made, _ = read_both_ways(skops.io.dumps({"a": shared, "b": [shared]}))
    assert made["a"] is made["b"][0]


@pytest.mark.parametrize("of_texts", [True, False])
def test_fitted_quantifiers(of_texts):
    if of_texts:
        X, y = texts(200)
        quantifier = SLD(make_pipeline(LogTfidf(), NewtonLogisticRegression()), random_state=0)
    else:
        X, y = blobs(200, 3, 0)
        forest = RandomForestClassifier(5, max_features=np.float64(0.5), random_state=np.random.RandomState(1))
        quantifier = SLD(make_pipeline(SimpleImputer(), forest), random_state=0)
    made, by_skops = read_both_ways(skops.io.dumps(quantifier.fit(X, y)))
    assert_same(made, by_skops)


@pytest.mark.parametrize(
    ("node", "words"),
    [
        ({"__class__": "system", "__module__": "posix", "__loader__": "TypeNode"}, "not on the list"),
        ({"__class__": "LogTfidf", "__module__": "headcount", "__loader__": "ListNode", "content": []}, "not made by"),
        (
            {"__class__": "csr_matrix", "__module__": "scipy", "__loader__": "NdArrayNode", "type": "numpy"},
            "not an array",
        ),
        ({"__class__": "Forest", "__module__": "sklearn", "__loader__": "TreeNode", "content": {}}, "not a tree"),
        ({"__class__": "sum", "__module__": "numpy", "__loader__": "TypeNode"}, "is not a type"),
        ({"__loader__": "CachedNode", "__id__": 7}, "7 is named before it is described"),
    ],
)
def test_nodes_that_skops_does_not_write_are_refused(node, words):
    if node["__loader__"] == "TreeNode":
        empty = {"__class__": "dict", "__module__": "builtins", "__loader__": "JsonNode", "content": "[]"}
        node = node | {"content": empty, "__reduce__": {"args": empty}}
    with zipfile.ZipFile(io.BytesIO(), "w") as archive, pytest.raises((TypeError, ValueError), match=words):
        make_object(node, archive, {"numpy.sum", "headcount.LogTfidf"})
