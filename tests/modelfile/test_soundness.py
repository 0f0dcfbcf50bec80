"""Forged trees and sparse matrices are refused when a file is read: compiled code would read where they point."""

import io
import json
import pickle
import zipfile

import numpy as np
import pytest
import skops.io
from scipy.sparse import csr_matrix, save_npz
from sklearn.ensemble import RandomForestClassifier

from headcount.exceptions import DataError
from headcount.learners import BoostedTrees
from headcount.modelfile.allowed import nodes_of
from headcount.modelfile.body import make_object
from headcount.modelfile.soundness import check_npz, check_sparse, check_tree
from tests.conftest import blobs

X, Y = blobs(200, 3, 0)


def state_of_tree():
    tree = RandomForestClassifier(1, random_state=0).fit(X, Y).estimators_[0].tree_
    _, arguments, state = tree.__reduce__()
    return arguments, state


@pytest.mark.parametrize(
    ("field", "value"), [("left_child", 10**6), ("right_child", -7), ("left_child", 0), ("feature", 4), ("feature", -3)]
)
def test_nodes_that_lead_nowhere_or_back_are_refused(field, value):
    arguments, state = state_of_tree()
    check_tree(arguments, state)
    state["nodes"][field][0] = value
    with pytest.raises(ValueError, match="a node of a tree leads nowhere"):
        check_tree(arguments, state)


def test_trees_with_other_sizes_than_they_say_are_refused():
    arguments, state = state_of_tree()
    for forged in (
        state | {"node_count": 10**9},
        state | {"values": state["values"][:, :, :2]},
        state | {"nodes": state["nodes"][:3]},
    ):
        with pytest.raises(ValueError, match="not as many as it says"):
            check_tree(arguments, forged)


def read(estimator):
    body = skops.io.dumps(estimator)
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        schema = json.loads(archive.read("schema.json"))
        types = sorted({f"{node['__module__']}.{node['__class__']}" for node in nodes_of(schema)})
        return make_object(schema, archive, types)


def test_forests_whose_trees_do_not_fit_together_are_refused():
    forest = RandomForestClassifier(3, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(read(forest).predict_proba(X), forest.predict_proba(X))
    forest.n_features_in_ = 2
    with pytest.raises(ValueError, match="do not fit together"):
        read(forest)
    forest.n_features_in_ = 4
    forest.estimators_[1].n_features_in_ = 1
    with pytest.raises(ValueError, match="other features than its items have"):
        read(forest)
    forest.estimators_ = forest.estimators_[:1] * 1000
    with pytest.raises(ValueError, match="names a tree twice"):
        read(forest)


def test_sparse_matrices_beyond_their_shape_are_refused():
    matrix = csr_matrix(np.eye(3))
    check_sparse(matrix)
    matrix.indices[0] = 10**8
    with pytest.raises(ValueError, match=r"ind(ices|ex values)"):  # in the words of a later and of an earlier scipy
        check_sparse(matrix)
    with pytest.raises(TypeError, match="not csr"):
        check_sparse(csr_matrix(np.eye(3)).tocsc())


def test_a_sparse_matrix_that_unpacks_to_gigabytes_is_refused():
    packed = io.BytesIO()
    save_npz(packed, csr_matrix(np.zeros((2, 2))))
    check_npz(packed.getvalue())
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.npy", b"\0" * (8 * 2**20))
    forged = bytearray(bomb.getvalue())
    place = forged.rfind(b"PK\x01\x02") + 24  # the unpacked size in the directory of the zip
    forged[place : place + 4] = (3 * 2**30).to_bytes(4, "little")
    with pytest.raises(ValueError, match="would unpack to"):
        check_npz(bytes(forged))


@pytest.mark.parametrize(("name", "value"), [("left_", 0), ("right_", 10**6), ("feature_", 99), ("roots_", -1)])
def test_forged_boosted_trees_are_refused(name, value):
    trees = BoostedTrees(n_rounds=2).fit(X, Y)
    assert (pickle.loads(pickle.dumps(trees)).predict(X) == trees.predict(X)).all()
    getattr(trees, name).flat[0] = value
    with pytest.raises(DataError, match="leads nowhere"):
        pickle.loads(pickle.dumps(trees))
    trees.value_ = trees.value_[:-1]
    with pytest.raises(DataError, match="do not fit together"):
        read(trees)
