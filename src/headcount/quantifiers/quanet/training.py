"""Training QuaNet: samples at random shares, several a step, until the loss on fixed validation samples gets no better."""

import sys
import warnings
from dataclasses import dataclass

import numpy as np
import torch

from headcount._typing import AnyArray, FloatArray, IntArray
from headcount.exceptions import TrainingError, TrainingWarning
from headcount.learners import Outputs
from headcount.protocols import ArtificialPrevalence, Samples, UniformPrevalence
from headcount.quantifiers.quanet.estimates import Estimates
from headcount.quantifiers.quanet.network import Network, Sizes
from headcount.quantifiers.quanet.reading import Scale, ordered, tensors

__all__ = ["Part", "Settings", "Trained", "train"]

_SAMPLES_A_CHUNK = 64


@dataclass(frozen=True)
class Part:
    """Labelled items and what the classifier says of them."""

    outputs: Outputs
    codes: IntArray


@dataclass(frozen=True)
class Settings:
    """What training depends on, besides the data."""

    sizes: Sizes
    dropout: float
    learning_rate: float
    sample_size: int
    samples_per_epoch: int
    samples_per_step: int
    validation_samples: int
    max_epochs: int
    patience: int
    device: torch.device
    seed: np.random.SeedSequence
    keep_when_interrupted: bool = False
    verbose: bool = False


@dataclass(frozen=True)
class Trained:
    """Parameters as arrays, the epoch they are of, and the loss in training and on validation samples in each epoch."""

    parameters: dict[str, AnyArray]
    best_epoch: int
    losses: FloatArray
    validation_losses: FloatArray


class _Trainer:
    def __init__(self, fitting: Part, judging: Part, estimates: Estimates, scale: Scale, how: Settings) -> None:
        self.how, self.fitting, self.estimates = how, fitting, estimates
        draws, own, drops, judged = how.seed.spawn(4)
        self.draws = np.random.default_rng(draws)
        self.drops = torch.Generator(how.device).manual_seed(_number(drops))
        self.network = Network(how.sizes, how.device)
        self.network.draw(torch.Generator().manual_seed(_number(own)))
        self.optimiser = torch.optim.Adam(
            self.network.parameters(),
            lr=how.learning_rate,
            fused=how.device.type in ("cpu", "cuda"),
        )
        self.features, self.place = tensors(fitting.outputs, scale, how.device)
        protocol = (
            ArtificialPrevalence(
                how.validation_samples, repeats=1, sample_size=how.sample_size, random_state=_seed(judged)
            )
            if how.sizes.classes == 2
            else UniformPrevalence(how.validation_samples, sample_size=how.sample_size, random_state=_seed(judged))
        )
        samples, true = protocol.draw(judging.codes, np.arange(how.sizes.classes))
        self.judging_features, place = tensors(judging.outputs, scale, how.device)
        self.judging = ordered(samples, place, how.device), *self._known(judging, samples, true)

    def _known(self, part: Part, samples: Samples, true: FloatArray) -> tuple[torch.Tensor, torch.Tensor]:
        both = (self.estimates(part.outputs, samples), true)
        estimated, shares = (torch.from_numpy(values.astype(np.float32)).to(self.how.device) for values in both)
        return estimated, shares

    def epoch(self) -> torch.Tensor:
        """Learn from newly drawn samples; return the mean loss, on the device."""
        how = self.how
        protocol = UniformPrevalence(how.samples_per_epoch, sample_size=how.sample_size, random_state=self.draws)
        samples, true = protocol.draw(self.fitting.codes, np.arange(how.sizes.classes))
        rows = ordered(samples, self.place, how.device)
        estimated, shares = self._known(self.fitting, samples, true)
        total = torch.zeros((), device=how.device)
        for start in range(0, len(rows), how.samples_per_step):
            some = slice(start, start + how.samples_per_step)
            self.optimiser.zero_grad(set_to_none=True)
            answered = self.network(
                self.features[rows[some]], estimated[some], dropout=how.dropout, generator=self.drops
            )
            loss = torch.mean((answered - shares[some]) ** 2)
            loss.backward()
            self.optimiser.step()
            total += loss.detach() * (len(answered) / len(rows))
        return total

    @torch.no_grad()
    def validation_loss(self) -> torch.Tensor:
        """Return the mean loss on the validation samples, on the device."""
        rows, estimated, shares = self.judging
        chunks = [slice(a, a + _SAMPLES_A_CHUNK) for a in range(0, len(rows), _SAMPLES_A_CHUNK)]
        answered = [self.network(self.judging_features[rows[some]], estimated[some]) for some in chunks]
        return torch.mean((torch.cat(answered) - shares) ** 2)


def train(fitting: Part, judging: Part, estimates: Estimates, scale: Scale, how: Settings) -> Trained:
    """Train until the validation loss has not got better for ``patience`` epochs, and take the best network."""
    trainer = _Trainer(fitting, judging, estimates, scale, how)
    losses: list[float] = []
    judged: list[float] = []
    best: dict[str, torch.Tensor] = {}
    best_epoch = 0
    try:
        while len(losses) < how.max_epochs and len(losses) - best_epoch < how.patience:
            loss, against = torch.stack([trainer.epoch(), trainer.validation_loss()]).tolist()
            if not np.isfinite([loss, against]).all():
                raise TrainingError(
                    f"The loss is {loss} in epoch {len(losses) + 1}, and {against} on validation samples: the network has "
                    f"diverged. Lower learning_rate (it is {how.learning_rate:g})."
                )
            losses.append(loss)
            judged.append(against)
            if not best or against < judged[best_epoch - 1]:
                best = {name: value.detach().clone() for name, value in trainer.network.state_dict().items()}
                best_epoch = len(losses)
            if how.verbose:
                sys.stderr.write(
                    f"epoch {len(losses)}: loss {loss:.6f}, validation {against:.6f} (best in {best_epoch})\n"
                )
    except KeyboardInterrupt:
        if not (how.keep_when_interrupted and best):
            raise
        warnings.warn(
            f"Training was interrupted after {len(losses)} epochs: the network of epoch {best_epoch}, the best so far, is kept.",
            TrainingWarning,
            stacklevel=2,
        )
    arrays = {name: value.cpu().numpy().copy() for name, value in best.items()}
    if not all(np.isfinite(value).all() for value in arrays.values()):
        raise TrainingError(f"The network has diverged. Lower learning_rate (it is {how.learning_rate:g}).")
    return Trained(arrays, best_epoch, np.array(losses), np.array(judged))


def _number(sequence: np.random.SeedSequence) -> int:
    return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))


def _seed(sequence: np.random.SeedSequence) -> int:
    return int(sequence.generate_state(1)[0])
