"""Networks in model files: the same answers to the bit; layers of other shapes are refused."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from headcount import ACC, QuaNet, TermIds
from headcount.learners import CNNClassifier
from headcount.modelfile import Columns, Model, load_model, save_model
from tests.conftest import blobs
from tests.modelfile.forging import forge, learnt
from tests.modelfile.test_modelfile import assert_refused, texts

pytest.importorskip("torch")


class Linear(LogisticRegression):
    """Logistic regression with embeddings: the items themselves."""

    def transform(self, X):
        return np.asarray(X)


def test_convolutional_networks(tmp_path):
    items, y = texts(60)
    sizes = {
        "embedding_size": 4,
        "channels": 4,
        "document_size": 3,
        "max_epochs": 1,
        "device": "cpu",
        "random_state": 0,
    }
    model = Model(
        ACC(make_pipeline(TermIds(8, min_count=1), CNNClassifier(**sizes)), validation=2, random_state=0).fit(items, y),
        Columns("text", ("t",), "y"),
    )
    path = tmp_path / "m.headcount"
    save_model(model, path)
    np.testing.assert_array_equal(load_model(path).quantifier.predict(items), model.quantifier.predict(items))

    def change(nodes, arrays):
        layers = dict(learnt(nodes, "cnn")[0]["parameters_"]["dict"])
        arrays[layers["output.weight"]["array"]] = np.zeros((10, 3), np.float32)

    forge(path, change)
    assert_refused(path, "output.weight is not an array of floats of shape")


def test_quanet(tmp_path):
    X, y = blobs(200, 2, 0)
    sizes = {
        "lstm_size": 4,
        "lstm_layers": 2,
        "layers": (8, 4),
        "sample_size": 20,
        "samples_per_epoch": 4,
        "max_epochs": 1,
    }
    model = Model(
        QuaNet(Linear(), **sizes, device="cpu", random_state=0).fit(X, y), Columns("numbers", tuple("abcd"), "y")
    )
    path = tmp_path / "m.headcount"
    save_model(model, path, trust=True)  # no classifier of scikit-learn has embeddings
    np.testing.assert_array_equal(load_model(path, trust=True).quantifier.predict(X), model.quantifier.predict(X))

    def change(nodes, arrays):
        layers = dict(learnt(nodes, "QuaNet")[0]["parameters_"]["dict"])
        arrays[layers["lstm.weight_hh_l0"]["array"]] = np.zeros((16, 3), np.float32)

    forge(path, change)
    with pytest.raises(ValueError, match=r"lstm\.weight_hh_l0 is not an array"):
        load_model(path, trust=True)
