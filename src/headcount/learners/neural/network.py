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
        drawn[f"{name}.bias"] = torch.zeros(rows, dtype=torch.float32)
    return drawn


def _uniform(rows: int, columns: int, generator: torch.Generator) -> torch.Tensor:
    bound: float = (6.0 / (rows + columns)) ** 0.5
    return (2.0 * torch.rand((rows, columns), generator=generator, dtype=torch.float32) - 1.0) * bound


class _PooledWindows(torch.autograd.Function):
    """All windows over embedded documents, and the largest answer of each channel.

    Of all positions in a document, one for each channel answers for the result, so the way back need visit these only.
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
        positions = len(side_by_side) // n
        grad = torch.where(pooled > 0, grads[0], 0.0)
        spans = [w * width for w in ctx.windows]
        dense = (
            pooled.is_cuda and side_by_side.dtype == torch.bfloat16
        )  # measured: the faster way for these products only
        back_to = _back_densely if dense else _back_sparsely
        of_weights, back = back_to(side_by_side, places, grad, weights, spans)
        layers: list[torch.Tensor] = []
        for of_weight, of_bias in zip(of_weights, grad.split([len(w) for w in weights], dim=1), strict=True):
            layers += [of_weight.float(), of_bias.sum(dim=0)]
        back = back.view(n, positions, -1, width)
        of_x = back.new_zeros((n, padded, width))
        for k in range(back.shape[2]):
            of_x[:, k : k + positions] += back[:, :, k]
        return of_x, None, *layers


def _back_sparsely(
    side_by_side: torch.Tensor,
    places: torch.Tensor,
    grad: torch.Tensor,
    weights: Sequence[torch.Tensor],
    spans: Sequence[int],
) -> tuple[list[torch.Tensor], torch.Tensor]:
    """Return the gradients of the weights and of the rows side by side: sums over the positions that answered."""
    n, device = len(grad), grad.device
    positions = len(side_by_side) // n
    short = grad.T.contiguous().to(side_by_side.dtype)  # channels x documents
    rows = (places + positions * torch.arange(n, device=device)[:, None]).T.contiguous()
    of_weights = functional.embedding_bag(rows, side_by_side, mode="sum", per_sample_weights=short)
    full = side_by_side.new_zeros((len(short), side_by_side.shape[1]))
    parts = of_weights.split([len(weight) for weight in weights])
    for weight, place, span in zip(weights, full.split([len(weight) for weight in weights]), spans, strict=True):
        place[:, :span] = weight
    flat = rows.reshape(-1)
    order = torch.argsort(flat, stable=True)
    starts = torch.searchsorted(flat[order], torch.arange(n * positions, device=device))
    channels = torch.div(order, n, rounding_mode="floor")
    back = functional.embedding_bag(channels, full, starts, mode="sum", per_sample_weights=short.reshape(-1)[order])
    return [part[:, :span] for part, span in zip(parts, spans, strict=True)], back


def _back_densely(
    side_by_side: torch.Tensor,
    places: torch.Tensor,
    grad: torch.Tensor,
    weights: Sequence[torch.Tensor],
    spans: Sequence[int],
) -> tuple[list[torch.Tensor], torch.Tensor]:
    """Return the same by products over all positions: more arithmetic, of the kind that a GPU is best at."""
    n, channels = grad.shape
    spread = side_by_side.new_zeros((n, len(side_by_side) // n, channels))
    spread.scatter_(1, places[:, None], grad.to(spread.dtype)[:, None])
    columns = spread.view(-1, channels).split([len(weight) for weight in weights], dim=1)
    back = torch.zeros_like(side_by_side)
    for column, weight, span in zip(columns, weights, spans, strict=True):
        back[:, :span].addmm_(column, weight.to(column.dtype))
    return [torch.mm(column.T, side_by_side[:, :span]) for column, span in zip(columns, spans, strict=True)], back


_ALIGNED = 8
"""A GPU multiplies rows of a multiple of so many numbers by faster kernels."""


def _aligned(x: torch.Tensor) -> torch.Tensor:
    """Return x with its last axis filled up with zeros, where that makes products faster."""
    return functional.pad(x, (0, -x.shape[-1] % _ALIGNED)) if x.is_cuda else x


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
    layers: list[torch.Tensor] = []
    for w in windows:
        weight = parameters[f"window{w}.weight"]
        layers += [_aligned(weight.view(len(weight), w, -1)).flatten(1), parameters[f"window{w}.bias"]]
    pooled: torch.Tensor = _PooledWindows.apply(_aligned(x), tuple(windows), *layers)
    if keep is not None:
        pooled = pooled * keep
    return functional.linear(pooled, parameters["document.weight"], parameters["document.bias"])


def dropped(shape: tuple[int, int], dropout: float, generator: torch.Generator) -> torch.Tensor | None:
    """Draw what dropout leaves: 0, or one over the share that is kept."""
    if dropout == 0.0:
        return None
    keep = torch.empty(shape, device=generator.device, dtype=torch.float32)
    return keep.bernoulli_(1.0 - dropout, generator=generator).div_(1.0 - dropout)


def scored(parameters: Parameters, documents: torch.Tensor) -> torch.Tensor:
    """Return the log odds of the classes for document embeddings."""
    return functional.linear(documents, parameters["output.weight"], parameters["output.bias"])
