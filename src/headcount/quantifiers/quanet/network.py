"""QuaNet's network: an LSTM that reads the items of a sample, and layers that turn its state and simpler estimates into shares."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

from headcount._typing import AnyArray

__all__ = ["Network"]

_STRETCH = 1.2
"""Factor by which shares are stretched about equal ones, so that the network can reach 0 and 1."""


class Network(nn.Module):
    """From items in reading order and the estimates of simpler methods to shares, for many samples at once.

    Parameters
    ----------
    features, classes : int
        Number of features of an item, and of classes; there are five estimates of each class.
    lstm_size, lstm_layers, layers
        As in `QuaNet`.
    device : torch.device
    """

    def __init__(
        self, features: int, classes: int, lstm_size: int, lstm_layers: int, layers: Sequence[int], device: torch.device
    ) -> None:
        super().__init__()
        self.classes = classes
        # Made on the "meta" device, so that nothing is drawn from torch's global generator.
        meta: Any = {"device": "meta", "dtype": torch.float32}
        self.lstm = nn.LSTM(features, lstm_size, lstm_layers, batch_first=True, bidirectional=True, **meta)
        widths = [2 * lstm_size + 5 * classes, *layers, classes]
        self.layers = nn.ModuleList(nn.Linear(a, b, **meta) for a, b in pairwise(widths))
        self.to_empty(device=device)

    @classmethod
    def from_arrays(cls, sizes: dict[str, Any], device: torch.device, parameters: dict[str, AnyArray]) -> "Network":
        """Return the network with these parameters."""
        network = cls(**sizes, device=device)
        network.load_state_dict({name: torch.tensor(value) for name, value in parameters.items()})
        return network

    @torch.no_grad()
    def draw_parameters(self, generator: torch.Generator) -> None:
        """Draw uniformly within plus or minus 1 / sqrt(a layer's inputs), for the LSTM 1 / sqrt(its size): torch's own defaults."""
        inputs = {name: layer.in_features for name, layer in self.named_modules() if isinstance(layer, nn.Linear)}
        for name, parameter in self.named_parameters():
            root = inputs.get(name.rpartition(".")[0], self.lstm.hidden_size) ** 0.5
            parameter.copy_((2.0 * torch.rand(parameter.shape, generator=generator, dtype=torch.float32) - 1.0) / root)

    def forward(
        self,
        x: torch.Tensor,
        estimates: torch.Tensor,
        lengths: Sequence[int] | None = None,
        dropout: float = 0.0,
        generator: torch.Generator | None = None,
    ) -> torch.Tensor:
        """Return shares, which may lie a little outside [0, 1]; ``lengths`` are the sizes of the samples, where they differ."""
        items: Any = x
        if lengths is not None:
            items = pack_padded_sequence(x, torch.tensor(lengths), batch_first=True, enforce_sorted=False)
        _, (state, _) = self.lstm(items)
        h = torch.cat([state[-2], state[-1], estimates], dim=1)
        *inner, last = self.layers
        for layer in inner:
            h = torch.relu(layer(h))
            if dropout > 0.0:
                h = h * torch.empty_like(h).bernoulli_(1.0 - dropout, generator=generator) / (1.0 - dropout)
        equal = 1.0 / self.classes
        return equal + _STRETCH * (torch.softmax(last(h), dim=1) - equal)
