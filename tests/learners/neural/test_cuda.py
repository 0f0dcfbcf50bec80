"""Tests that need a GPU: recorded training steps learn the same as others. Skipped without a CUDA device."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install 'headcount[neural]'")
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")

from headcount import CNNClassifier  # noqa: E402
from headcount.learners.neural import cuda_graph  # noqa: E402
from tests.learners.neural.test_classifier import SMALL, phrases  # noqa: E402


def fitted(**parameters):
    settings = SMALL | {"max_epochs": 40, "device": "cuda", "precision": "float32"}
    return CNNClassifier(**settings | parameters).fit(*phrases())


def test_recorded_steps_learn_the_same_as_others(monkeypatch):
    replayed = fitted(max_epochs=8, batch_size=40)
    monkeypatch.setattr(cuda_graph, "_WARM_UP_STEPS", 10**9)
    plain = fitted(max_epochs=8, batch_size=40)
    np.testing.assert_allclose(replayed.losses_, plain.losses_, rtol=1e-3)
    np.testing.assert_allclose(replayed.predict_proba(phrases()[0]), plain.predict_proba(phrases()[0]), atol=1e-2)


def test_every_device_and_precision_learns():
    for settings in ({}, {"device": "cpu"}, {"precision": "bfloat16"}):
        assert fitted(**settings).scores_.max() > 0.9
