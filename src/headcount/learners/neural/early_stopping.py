"""Training with early stopping: the loop over epochs that `CNNClassifier` and `QuaNet` share."""

import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from headcount._typing import AnyArray, FloatArray
from headcount.exceptions import TrainingError, TrainingWarning
from headcount.learners.neural.device import device_named

__all__ = ["Trained", "TrainingSettings", "torch_seed", "train_until_best"]


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """Settings of training that both networks have."""

    dropout: float
    learning_rate: float
    max_epochs: int
    patience: int
    device: torch.device
    seed: np.random.SeedSequence
    keep_when_interrupted: bool = False
    verbose: bool = False

    @classmethod
    def from_estimator(cls, estimator: Any, seed: np.random.SeedSequence, **others: Any) -> Self:
        """Take all numbers and flags from the estimator's parameters of the same name, and the ``others`` as given."""
        types: dict[str, Any] = {field.name: field.type for field in fields(cls)}
        numbers = {name: t(getattr(estimator, name)) for name, t in types.items() if t in (bool, int, float)}
        return cls(device=device_named(estimator.device), seed=seed, **numbers, **others)

    @property
    def advice(self) -> str:
        """What to change when training diverges."""
        return f"Lower learning_rate (it is {self.learning_rate:g})."


@dataclass(frozen=True)
class Trained:
    """Parameters as arrays, the epoch they are from, and the training loss and validation figure of each epoch."""

    parameters: dict[str, AnyArray]
    best_epoch: int
    losses: FloatArray
    figures: FloatArray


def train_until_best(
    parameters: Mapping[str, Tensor],
    epoch: Callable[[], tuple[Tensor, Tensor]],
    settings: TrainingSettings,
    *,
    figure: str,
    larger_is_better: bool,
    last_pass: Callable[[], Tensor] | None = None,
) -> Trained:
    """Train until the validation figure has not improved for ``patience`` epochs, and return the best network.

    Parameters
    ----------
    parameters : mapping of str to tensor
        The network's parameters, which ``epoch`` changes in place.
    epoch : callable
        Trains for one epoch; returns the training loss and the validation figure, on the device.
    settings : TrainingSettings
    figure : str
        Name of the validation figure in messages.
    larger_is_better : bool
    last_pass : callable, optional
        Trains the best network once more, on the held-out part; returns the loss.
    """
    losses: list[float] = []
    figures: list[float] = []
    best: dict[str, Tensor] = {}
    best_epoch = 0
    try:
        while len(losses) < settings.max_epochs and len(losses) - best_epoch < settings.patience:
            # One transfer for both numbers: each waits for the device.
            loss, value = torch.stack(epoch()).tolist()
            losses.append(loss)
            figures.append(value)
            if not np.isfinite([loss, value]).all():
                _raise_divergence(f"The loss is {loss} in epoch {len(losses)}, and the {figure} {value}", settings)
            previous = figures[best_epoch - 1]
            if not best or (value > previous if larger_is_better else value < previous):
                best = {name: tensor.detach().clone() for name, tensor in parameters.items()}
                best_epoch = len(losses)
            if settings.verbose:
                sys.stderr.write(
                    f"epoch {len(losses)}: loss {loss:.6f}, {figure} {value:.6f} (best: epoch {best_epoch})\n"
                )
        _restore(parameters, best)
        if last_pass is not None and not np.isfinite(loss := float(last_pass())):
            _raise_divergence(f"The loss is {loss} in the last pass, over the held-out part", settings)
    except KeyboardInterrupt:
        if not (settings.keep_when_interrupted and best):
            raise
        _restore(parameters, best)
        warnings.warn(
            f"Training was interrupted after {len(losses)} epochs: the network of epoch {best_epoch}, the best so far, is kept"
            + ("." if last_pass is None else ", without the last pass over the held-out part."),
            TrainingWarning,
            stacklevel=3,
        )
    arrays = {name: tensor.detach().cpu().numpy().copy() for name, tensor in parameters.items()}
    if not all(np.isfinite(array).all() for array in arrays.values()):
        _raise_divergence("The network has parameters that are not finite", settings)
    return Trained(arrays, best_epoch, np.array(losses), np.array(figures))


def torch_seed(sequence: np.random.SeedSequence) -> int:
    """Return a seed of 63 bits for a torch generator."""
    return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))


@torch.no_grad()
def _restore(parameters: Mapping[str, Tensor], values: Mapping[str, Tensor]) -> None:
    for name, value in values.items():
        parameters[name].copy_(value)


def _raise_divergence(finding: str, settings: TrainingSettings) -> None:
    raise TrainingError(f"{finding}: the network has diverged. {settings.advice}")
