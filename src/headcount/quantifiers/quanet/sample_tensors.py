"""Tensors that QuaNet's network takes: the features of a pool's items in reading order, and samples as rows of them."""

import numpy as np
import torch

from headcount._typing import AnyArray, FloatArray, IntArray
from headcount.learners import Outputs
from headcount.protocols import Samples
from headcount.quantifiers.quanet.item_order import reading_order
from headcount.quantifiers.quanet.network import Network

__all__ = ["Scale", "pool_tensors", "predict_shares", "sample_rows"]

_ITEMS_A_CHUNK = 1 << 15
"""Items of the samples that the network reads together, which bounds memory."""

Scale = tuple[AnyArray, AnyArray]
"""Mean and standard deviation of each feature of the embeddings."""


def pool_tensors(outputs: Outputs, scale: Scale, device: torch.device) -> tuple[torch.Tensor, IntArray]:
    """Return the items' scaled embeddings and posteriors on the device, in reading order, and each item's rank in that order."""
    order = reading_order(outputs)
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    scaled = (outputs.need("embeddings")[order] - scale[0]) / scale[1]
    features = np.hstack([scaled, outputs.need("posteriors")[order]]).astype(np.float32)
    return torch.from_numpy(features).to(device), ranks


def sample_rows(samples: Samples, ranks: IntArray, device: torch.device) -> torch.Tensor:
    """Return samples of equal size as a matrix of ranks on the device, each row in reading order."""
    rows = np.sort(ranks[samples.indices].reshape(len(samples), -1), axis=1)
    return torch.from_numpy(rows).to(device)


@torch.no_grad()
def predict_shares(
    network: Network, features: torch.Tensor, ranks: IntArray, samples: Samples, estimates: FloatArray
) -> FloatArray:
    """Return the shares of samples of any sizes, computed in chunks of samples of similar size."""
    device, sizes = features.device, samples.sizes
    estimated = torch.from_numpy(estimates.astype(np.float32)).to(device)
    clipped = np.empty((len(samples), network.classes))
    by_size = np.argsort(-sizes, kind="stable")
    start = 0
    while start < len(samples):
        longest = int(sizes[by_size[start]])
        chunk = by_size[start : start + max(1, _ITEMS_A_CHUNK // longest)]
        start += len(chunk)
        lengths = sizes[chunk]
        filled = np.arange(longest) < lengths[:, None]
        starts = samples.indptr[chunk][:, None]
        entries = np.where(filled, starts + np.arange(longest), 0)
        rows = np.where(filled, ranks[samples.indices[entries]], len(ranks))
        rows = np.minimum(np.sort(rows, axis=1), len(ranks) - 1)  # rows behind the end of a short sample are never read
        x = features[torch.from_numpy(rows).to(device)]
        different_lengths = None if lengths.min() == longest else lengths.tolist()
        p = network(x, estimated[torch.from_numpy(chunk).to(device)], different_lengths).cpu().double().numpy()
        clipped[chunk] = np.clip(p, 0.0, 1.0)
    shares: FloatArray = clipped / clipped.sum(axis=1, keepdims=True)
    return shares
