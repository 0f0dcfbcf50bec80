"""The convolutional network over term ids, as functions of its parameters: a dict of tensors by name.

Terms are embedded, windows of 3, 5 and 7 terms slide over the document, each channel keeps its largest response, and an affine
layer turns these into the document embedding. Behind its last term a document is padding, whose embedding is 0. The first window
that holds only padding counts too, so that the result does not depend on how far a document is padded.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from headcount.learners.neural.shapes import Shapes, window_widths

__all__ = ["Parameters", "class_scores", "draw_parameters", "dropout_mask", "embed_documents"]

Parameters = dict[str, Tensor]


def draw_parameters(shapes: Shapes, generator: torch.Generator) -> Parameters:
    """Draw weights uniformly within the bounds of Glorot and Bengio (2010); biases start at 0."""
    parameters: Parameters = {}
    for name, shape in shapes.items():
        if name.endswith("bias"):
            parameters[name] = torch.zeros(shape, dtype=torch.float32)
        else:
            bound = (6.0 / sum(shape)) ** 0.5
            parameters[name] = (2.0 * torch.rand(shape, generator=generator, dtype=torch.float32) - 1.0) * bound
    parameters["embedding"][0] = 0.0  # of padding
    return parameters


class _MaxOverWindows(torch.autograd.Function):
    """Convolution with windows of several widths, rectified, and the maximum of each channel over the document.

    Written by hand because torch's own convolution goes back through every position, although only one position for each channel
    (the one with the largest response) has a gradient.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, windows: Sequence[int], *layers: Tensor) -> Tensor:
        n, padded, width = x.shape
        widest = max(windows)
        positions = padded - widest + 1
        unfolded = x.as_strided((n, positions, widest * width), (padded * width, width, 1)).reshape(n * positions, -1)
        maxima, argmaxima = [], []
        for w, weight, bias in zip(windows, layers[::2], layers[1::2], strict=True):
            largest = torch.mm(unfolded[:, : w * width], weight.to(x.dtype).T).view(n, positions, -1).max(dim=1)
            maxima.append(largest.values.float() + bias)
            argmaxima.append(largest.indices)
        pooled = torch.relu(torch.cat(maxima, dim=1))
        ctx.save_for_backward(unfolded, torch.cat(argmaxima, dim=1), pooled, *layers[::2])
        ctx.windows, ctx.shape = windows, (n, padded, width)
        return pooled

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        unfolded, argmaxima, pooled, *weights = ctx.saved_tensors
        n, padded, width = ctx.shape
        positions = len(unfolded) // n
        grad = torch.where(pooled > 0, grads[0], 0.0)
        spans = [w * width for w in ctx.windows]
        # Measured: dense products are faster for bfloat16 on CUDA only.
        dense = pooled.is_cuda and unfolded.dtype == torch.bfloat16
        gradients = _dense_gradients if dense else _sparse_gradients
        weight_grads, unfolded_grad = gradients(unfolded, argmaxima, grad, weights, spans)
        layer_grads: list[Tensor] = []
        for weight_grad, bias_grad in zip(weight_grads, grad.split([len(w) for w in weights], dim=1), strict=True):
            layer_grads += [weight_grad.float(), bias_grad.sum(dim=0)]
        unfolded_grad = unfolded_grad.view(n, positions, -1, width)
        x_grad = unfolded_grad.new_zeros((n, padded, width))
        for k in range(unfolded_grad.shape[2]):
            x_grad[:, k : k + positions] += unfolded_grad[:, :, k]
        return x_grad, None, *layer_grads


def _sparse_gradients(
    unfolded: Tensor, argmaxima: Tensor, grad: Tensor, weights: Sequence[Tensor], spans: Sequence[int]
) -> tuple[list[Tensor], Tensor]:
    """Return the gradients of the weights and of the unfolded rows: sums over the positions of the maxima only."""
    n, device = len(grad), grad.device
    positions = len(unfolded) // n
    channel_grads = grad.T.contiguous().to(unfolded.dtype)  # channels x documents
    rows = (argmaxima + positions * torch.arange(n, device=device)[:, None]).T.contiguous()
    all_weight_grads = functional.embedding_bag(rows, unfolded, mode="sum", per_sample_weights=channel_grads)
    channels = [len(weight) for weight in weights]
    wide_weights = unfolded.new_zeros((len(channel_grads), unfolded.shape[1]))
    for weight, wide_weight, span in zip(weights, wide_weights.split(channels), spans, strict=True):
        wide_weight[:, :span] = weight
    flat = rows.reshape(-1)
    order = torch.argsort(flat, stable=True)
    starts = torch.searchsorted(flat[order], torch.arange(n * positions, device=device))
    of_channel = torch.div(order, n, rounding_mode="floor")
    ordered_grads = channel_grads.reshape(-1)[order]
    unfolded_grad = functional.embedding_bag(
        of_channel, wide_weights, starts, mode="sum", per_sample_weights=ordered_grads
    )
    return [part[:, :span] for part, span in zip(all_weight_grads.split(channels), spans, strict=True)], unfolded_grad


def _dense_gradients(
    unfolded: Tensor, argmaxima: Tensor, grad: Tensor, weights: Sequence[Tensor], spans: Sequence[int]
) -> tuple[list[Tensor], Tensor]:
    """Return the same gradients by products over all positions: more arithmetic, which a GPU does faster."""
    n, n_channels = grad.shape
    scattered = unfolded.new_zeros((n, len(unfolded) // n, n_channels))
    scattered.scatter_(1, argmaxima[:, None], grad.to(scattered.dtype)[:, None])
    columns = scattered.view(-1, n_channels).split([len(weight) for weight in weights], dim=1)
    unfolded_grad = torch.zeros_like(unfolded)
    for column, weight, span in zip(columns, weights, spans, strict=True):
        unfolded_grad[:, :span].addmm_(column, weight.to(column.dtype))
    return [torch.mm(column.T, unfolded[:, :span]) for column, span in zip(columns, spans, strict=True)], unfolded_grad


_ALIGNED = 8
"""A GPU has faster kernels for products of rows whose length is a multiple of this."""


def _aligned(x: Tensor) -> Tensor:
    """Pad the last axis of x with zeros, where that makes products faster."""
    return functional.pad(x, (0, -x.shape[-1] % _ALIGNED)) if x.is_cuda else x


def embed_documents(parameters: Parameters, ids: Tensor, dtype: torch.dtype, mask: Tensor | None = None) -> Tensor:
    """Return the document embeddings of padded ids, whose last columns, as many as the widest window has terms, are padding.

    The dropout ``mask`` multiplies the outputs of the channels.
    """
    x = functional.embedding(ids, parameters["embedding"], padding_idx=0).to(dtype)
    windows = window_widths(parameters)
    layers: list[Tensor] = []
    for w in windows:
        weight = parameters[f"window{w}.weight"]
        layers += [_aligned(weight.view(len(weight), w, -1)).flatten(1), parameters[f"window{w}.bias"]]
    pooled: Tensor = _MaxOverWindows.apply(_aligned(x), windows, *layers)
    if mask is not None:
        pooled = pooled * mask
    return functional.linear(pooled, parameters["document.weight"], parameters["document.bias"])


def dropout_mask(shape: tuple[int, int], dropout: float, generator: torch.Generator) -> Tensor | None:
    """Draw a dropout mask: 0, or one over the share that is kept. None without dropout.

    Not torch's own dropout, which draws from the global generator.
    """
    if dropout == 0.0:
        return None
    mask = torch.empty(shape, device=generator.device, dtype=torch.float32)
    return mask.bernoulli_(1.0 - dropout, generator=generator).div_(1.0 - dropout)


def class_scores(parameters: Parameters, embeddings: Tensor) -> Tensor:
    """Return the logits of the classes for document embeddings."""
    return functional.linear(embeddings, parameters["output.weight"], parameters["output.bias"])
