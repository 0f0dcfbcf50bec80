"""The convolutional network over term ids, as functions of its parameters: a dict of tensors by name.

The terms of a document are embedded, windows of 3, 5 and 7 of them slide over it, each channel keeps its largest answer, and an
affine layer makes the document embedding of them. Behind its last term a document is all padding, whose embedding is 0; the first
window of nothing but padding counts too, so that how far documents are padded changes nothing.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn import functional

__all__ = ["Parameters", "dropped", "embedded", "initial", "scored"]

Parameters = dict[str, torch.Tensor]


def initial(
    n_ids: int, n_classes: int, sizes: dict[str, int], windows: Sequence[int], generator: torch.Generator
) -> Parameters:
    """Draw the parameters uniformly within the bounds of Glorot and Bengio (2010); what is added starts at 0."""
    embedding, channels, document = sizes["embedding"], sizes["channels"], sizes["document"]
    layers = {f"window{w}": (channels, w * embedding) for w in windows}
    layers |= {"document": (document, len(windows) * channels), "output": (n_classes, document)}
    drawn = {"embedding": _uniform(n_ids, embedding, generator)}
    drawn["embedding"][0] = 0.0
    for name, (rows, columns) in layers.items():
        drawn[f"{name}.weight"] = _uniform(rows, columns, generator)
        drawn[f"{name}.bias"] = torch.zeros(rows)
    return drawn


def _uniform(rows: int, columns: int, generator: torch.Generator) -> torch.Tensor:
    bound: float = (6.0 / (rows + columns)) ** 0.5
    return (2.0 * torch.rand((rows, columns), generator=generator) - 1.0) * bound


class _PooledWindows(torch.autograd.Function):
    """All windows over embedded documents, and the largest answer of each channel.

    Of all positions in a document, one for each channel answers for the result, so the way back visits these only: sums over them
    instead of products over all positions.
    """

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, windows: Sequence[int], *layers: torch.Tensor) -> torch.Tensor:
        n, padded, width = x.shape
        widest = max(windows)
        positions = padded - widest + 1
        side_by_side = x.as_strided((n, positions, widest * width), (padded * width, width, 1)).reshape(
            n * positions, -1
        )
        answers, places = [], []
        for w, weight, bias in zip(windows, layers[::2], layers[1::2], strict=True):
            found = torch.mm(side_by_side[:, : w * width], weight.to(x.dtype).T).view(n, positions, -1).max(dim=1)
            answers.append(found.values.float() + bias)
            places.append(found.indices)
        pooled = torch.relu(torch.cat(answers, dim=1))
        ctx.save_for_backward(side_by_side, torch.cat(places, dim=1), pooled, *layers[::2])
        ctx.windows, ctx.shape = windows, (n, padded, width)
        return pooled

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        side_by_side, places, pooled, *weights = ctx.saved_tensors
        n, padded, width = ctx.shape
        positions, device = len(side_by_side) // n, pooled.device
        grad = torch.where(pooled > 0, grads[0], 0.0).T.contiguous()  # channels x documents
        short = grad.to(side_by_side.dtype)
        rows = (places + positions * torch.arange(n, device=device)[:, None]).T.contiguous()
        of_weights = functional.embedding_bag(rows, side_by_side, mode="sum", per_sample_weights=short).float()
        layers: list[torch.Tensor] = []
        full = side_by_side.new_zeros((len(grad), side_by_side.shape[1]))
        start = 0
        for w, weight in zip(ctx.windows, weights, strict=True):
            stop = start + len(weight)
            full[start:stop, : w * width] = weight
            layers += [of_weights[start:stop, : w * width], grad[start:stop].sum(dim=1)]
            start = stop
        flat = rows.reshape(-1)
        order = torch.argsort(flat, stable=True)
        starts = torch.searchsorted(flat[order], torch.arange(n * positions, device=device))
        channels = torch.div(order, n, rounding_mode="floor")
        back = functional.embedding_bag(channels, full, starts, mode="sum", per_sample_weights=short.reshape(-1)[order])
        back = back.view(n, positions, -1, width)
        of_x = back.new_zeros((n, padded, width))
        for k in range(back.shape[2]):
            of_x[:, k : k + positions] += back[:, :, k]
        return of_x, None, *layers


def embedded(
    parameters: Parameters,
    ids: torch.Tensor,
    windows: Sequence[int],
    dtype: torch.dtype,
    keep: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return the document embeddings of padded ids, whose last ``max(windows)`` columns are padding.

    ``keep`` multiplies the answers of the channels: what dropout leaves of them.
    """
    x = functional.embedding(ids, parameters["embedding"], padding_idx=0).to(dtype)
    layers = [parameters[f"window{w}.{part}"] for w in windows for part in ("weight", "bias")]
    pooled: torch.Tensor = _PooledWindows.apply(x, tuple(windows), *layers)  # type: ignore[no-untyped-call]
    if keep is not None:
        pooled = pooled * keep
    return functional.linear(pooled, parameters["document.weight"], parameters["document.bias"])


def dropped(shape: tuple[int, int], dropout: float, generator: torch.Generator) -> torch.Tensor | None:
    """Draw what dropout leaves: 0, or one over the share that is kept."""
    if dropout == 0.0:
        return None
    keep = torch.empty(shape, device=generator.device)
    return keep.bernoulli_(1.0 - dropout, generator=generator).div_(1.0 - dropout)


def scored(parameters: Parameters, documents: torch.Tensor) -> torch.Tensor:
    """Return the log odds of the classes for document embeddings."""
    return functional.linear(documents, parameters["output.weight"], parameters["output.bias"])
