"""What only a GPU does: a recorded step learns what unrecorded ones learn. Skipped where there is none."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install 'headcount[neural]'")
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")

from headcount import CNNClassifier  # noqa: E402
from headcount.learners.neural import recording  # noqa: E402


def documents(n=1000, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    ids = rng.integers(2, 500, (n, 40))
    ids[:, :4] = np.where(y[:, None] == 1, rng.integers(2, 40, (n, 4)), rng.integers(40, 80, (n, 4)))
    return ids, y


def fitted(**parameters):
    ids, y = documents()
    settings = {"embedding_size": 12, "channels": 16, "max_epochs": 4, "device": "cuda", "precision": "float32"}
    return CNNClassifier(**(settings | parameters), random_state=0).fit(ids, y)


def test_a_recorded_step_learns_what_an_unrecorded_one_learns(monkeypatch):
    replayed = fitted()
    monkeypatch.setattr(recording, "_BEFORE", 10**9)
    plain = fitted()
    np.testing.assert_allclose(replayed.losses_, plain.losses_, rtol=1e-3)
    np.testing.assert_allclose(replayed.predict_proba(documents()[0]), plain.predict_proba(documents()[0]), atol=1e-2)


def test_a_gpu_learns_what_a_cpu_learns():
    for settings in ({}, {"device": "cpu"}, {"precision": "bfloat16"}):
        assert fitted(max_epochs=20, **settings).scores_.max() > 0.9
