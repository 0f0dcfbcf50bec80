"""The network against torch's own layers: the same outputs, and the same gradients."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the package torch, of the extra 'neural'")

from torch.nn import functional  # noqa: E402

from headcount.learners.neural.documents import Documents  # noqa: E402
from headcount.learners.neural.network import (  # noqa: E402
    class_scores,
    draw_parameters,
    dropout_mask,
    embed_documents,
)
from headcount.learners.neural.shapes import parameter_shapes  # noqa: E402

WINDOWS = (3, 5, 7)
SIZES = {"embedding": 6, "channels": 4, "document": 5}


def parameters(dtype=torch.float64, seed=0):
    drawn = draw_parameters(parameter_shapes(20, 3, SIZES, WINDOWS), torch.Generator().manual_seed(seed))
    for name in drawn:
        if name.endswith("bias"):
            drawn[name] = torch.linspace(-0.1, 0.1, len(drawn[name]))
    return {name: (8 * value).to(dtype).requires_grad_() for name, value in drawn.items()}


def by_convolution(p, ids):
    """The same network from torch's convolution and pooling, over documents with much padding."""
    x = functional.embedding(functional.pad(ids, (0, 20)), p["embedding"], padding_idx=0).transpose(1, 2)
    pooled = []
    for w in WINDOWS:
        weight = p[f"window{w}.weight"].view(SIZES["channels"], w, SIZES["embedding"]).transpose(1, 2)
        pooled.append(functional.relu(functional.conv1d(x, weight, p[f"window{w}.bias"])).amax(dim=2))
    return functional.linear(torch.cat(pooled, dim=1), p["document.weight"], p["document.bias"])


def random_ids(n=9, length=11, seed=0):
    generator = np.random.default_rng(seed)
    ids = generator.integers(1, 20, (n, length))
    ids[np.arange(length) >= generator.integers(0, length + 1, n)[:, None]] = 0
    ids[0] = 0
    return ids.astype(np.int32)


def test_outputs_and_gradients_equal_those_of_torchs_convolution():
    ids = torch.from_numpy(with_padding(random_ids()))
    outcomes = []
    for network in (lambda p: embed_documents(p, ids, torch.float64), lambda p: by_convolution(p, ids)):
        p = parameters()
        scores = class_scores(p, network(p))
        (scores * torch.linspace(-1, 2, scores.numel()).view_as(scores)).sum().backward()
        outcomes.append((scores.detach(), {name: value.grad for name, value in p.items()}))
    torch.testing.assert_close(outcomes[0][0], outcomes[1][0], rtol=1e-5, atol=1e-5)
    for name, grad in outcomes[0][1].items():
        torch.testing.assert_close(
            grad, outcomes[1][1][name], rtol=1e-5, atol=1e-5, msg=lambda m, name=name: f"{name}: {m}"
        )
    assert outcomes[0][1]["embedding"][0].abs().sum() == 0


def with_padding(ids):
    return np.hstack([ids, np.zeros((len(ids), max(WINDOWS)), dtype=ids.dtype)])


def test_outputs_do_not_depend_on_the_amount_of_padding():
    ids = random_ids()
    p = parameters(torch.float32)
    narrow, wide = (torch.from_numpy(with_padding(np.pad(ids, ((0, 0), (0, more))))) for more in (0, 30))
    torch.testing.assert_close(embed_documents(p, narrow, torch.float32), embed_documents(p, wide, torch.float32))


def test_batches_hold_every_row_once_and_blocks_are_as_wide_as_their_longest_document():
    ids = random_ids(130, 40)
    documents = Documents(ids, 7, torch.device("cpu"))
    rows = np.random.default_rng(1).permutation(130)[:117]
    batches = list(documents.batches(rows, 50))
    assert [sum(len(block.rows) for block in batch) for batch in batches] == [50, 50, 17]
    assert {int(row) for row in torch.cat([block.rows for block in batches[0]])} == set(rows[:50].tolist())
    for block in batches[1]:
        block_ids = ids[block.rows.numpy()]
        assert block.longest == (block_ids != 0).sum(axis=1).max()
        cut = documents.ids(block).numpy()
        assert cut.shape == (len(block.rows), block.longest + 7)
        assert np.array_equal(cut[:, : block.longest], block_ids[:, : block.longest])
        assert not cut[:, block.longest :].any()


def test_dropout_keeps_the_mean_and_draws_from_its_own_generator():
    assert dropout_mask((2, 3), 0.0, torch.Generator()) is None
    before = torch.get_rng_state()
    keep = dropout_mask((300, 200), 0.25, torch.Generator().manual_seed(0))
    assert keep.unique().tolist() == pytest.approx([0, 4 / 3])
    assert float(keep.mean()) == pytest.approx(1, abs=0.01)
    assert torch.equal(torch.get_rng_state(), before)


def test_dense_and_sparse_gradients_are_equal():
    from headcount.learners.neural.network import _dense_gradients, _sparse_gradients

    generator = torch.Generator().manual_seed(0)
    n, positions, width, channels, windows = 3, 7, 4, 5, (2, 3)
    unfolded = torch.randn(n * positions, max(windows) * width, generator=generator)
    argmaxima = torch.randint(positions, (n, 2 * channels), generator=generator)
    grad = torch.randn(n, 2 * channels, generator=generator)
    spans = [w * width for w in windows]
    weights = [torch.randn(channels, span, generator=generator) for span in spans]
    dense, sparse = (
        gradients(unfolded, argmaxima, grad, weights, spans) for gradients in (_dense_gradients, _sparse_gradients)
    )
    torch.testing.assert_close(dense[1], sparse[1])
    for one, other in zip(dense[0], sparse[0], strict=True):
        torch.testing.assert_close(one, other)
