"""Training with early stopping: the loop over epochs that `CNNClassifier` and `QuaNet` share."""

import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from headcount._typing import AnyArray, FloatArray
from headcount.exceptions import TrainingError, TrainingWarning

__all__ = ["Trained", "torch_seed", "train_until_best"]


class Trained(NamedTuple):
    """Parameters as arrays, the epoch they are from, and the training loss and validation figure of each epoch."""

    parameters: dict[str, AnyArray]
    best_epoch: int
    losses: FloatArray
    figures: FloatArray


def train_until_best(
    parameters: Mapping[str, Tensor],
    epoch: Callable[[], tuple[Tensor, Tensor]],
    settings: Any,
    *,
    figure: str,
    larger_is_better: bool,
    advice: str = "",
    last_pass: Callable[[], Tensor] | None = None,
) -> Trained:
    """Train until the validation figure has not improved for ``patience`` epochs, and return the best network.

    Parameters
    ----------
    parameters : mapping of str to tensor
        The network's parameters, which ``epoch`` changes in place.
    epoch : callable
        Trains for one epoch; returns the training loss and the validation figure, on the device.
    settings : CNNClassifier or QuaNet
        Whose parameters of training are used.
    figure : str
        Name of the validation figure in messages.
    larger_is_better : bool
    advice : str
        What to change when training diverges, besides the learning rate.
    last_pass : callable, optional
        Trains the best network once more, on the held-out part; returns the loss.
    """

    def check_finite(values: Any, finding: str) -> None:
        if not np.isfinite(values).all():
            raise TrainingError(
                f"{finding}: the network has diverged. Lower learning_rate (it is {settings.learning_rate:g}).{advice}"
            )

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
            check_finite([loss, value], f"The loss is {loss} in epoch {len(losses)}, and the {figure} {value}")
            previous = figures[best_epoch - 1]
            if not best or (value > previous if larger_is_better else value < previous):
                best = {name: tensor.detach().clone() for name, tensor in parameters.items()}
                best_epoch = len(losses)
            if settings.verbose:
                sys.stderr.write(
                    f"epoch {len(losses)}: loss {loss:.6f}, {figure} {value:.6f} (best: epoch {best_epoch})\n"
                )
        _restore(parameters, best)
        if last_pass is not None:
            loss = float(last_pass())
            check_finite(loss, f"The loss is {loss} in the last pass, over the held-out part")
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
    for array in arrays.values():
        check_finite(array, "The network has parameters that are not finite")
    return Trained(arrays, best_epoch, np.array(losses), np.array(figures))


def torch_seed(sequence: np.random.SeedSequence) -> int:
    """Return a seed of 63 bits for a torch generator."""
    return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))


@torch.no_grad()
def _restore(parameters: Mapping[str, Tensor], values: Mapping[str, Tensor]) -> None:
    for name, value in values.items():
        parameters[name].copy_(value)
