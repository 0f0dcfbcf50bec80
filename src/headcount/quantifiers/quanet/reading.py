"""A pool as QuaNet reads it: its items in order, on the device, and samples as rows of them."""

import numpy as np
import torch

from headcount._typing import AnyArray, FloatArray, IntArray
from headcount.learners import Outputs
from headcount.protocols import Samples
from headcount.quantifiers.quanet.gathered import in_order
from headcount.quantifiers.quanet.network import Network

__all__ = ["Scale", "ordered", "shares_of", "tensors"]

_ITEMS_A_CHUNK = 1 << 15
Scale = tuple[AnyArray, AnyArray]


def tensors(outputs: Outputs, scale: Scale, device: torch.device) -> tuple[torch.Tensor, IntArray]:
    """Return the items' scaled embeddings and posteriors on the device, in order, and each item's place in the order."""
    order = in_order(outputs)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    scaled = (outputs.need("embeddings")[order] - scale[0]) / scale[1]
    features = np.hstack([scaled, outputs.need("posteriors")[order]]).astype(np.float32)
    return torch.from_numpy(features).to(device), place


def ordered(samples: Samples, place: IntArray, device: torch.device) -> torch.Tensor:
    """Return samples of one size as a matrix of places on the device, each row in order."""
    rows = np.sort(place[samples.indices].reshape(len(samples), -1), axis=1)
    return torch.from_numpy(rows).to(device)


@torch.no_grad()
def shares_of(
    network: Network, features: torch.Tensor, place: IntArray, samples: Samples, estimates: FloatArray
) -> FloatArray:
    """Return the shares of samples of any sizes, in chunks of samples of similar size."""
    device, sizes = features.device, samples.sizes
    given = torch.from_numpy(estimates.astype(np.float32)).to(device)
    found = np.empty((len(samples), network.classes))
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
        rows = np.where(filled, place[samples.indices[entries]], len(place))
        rows = np.minimum(np.sort(rows, axis=1), len(place) - 1)  # what fills short samples is never read
        x = features[torch.from_numpy(rows).to(device)]
        same = None if lengths.min() == longest else lengths.tolist()
        p = network(x, given[torch.from_numpy(chunk).to(device)], same).cpu().double().numpy()
        found[chunk] = np.clip(p, 0.0, 1.0)
    shares: FloatArray = found / found.sum(axis=1, keepdims=True)
    return shares
