"""Training QuaNet: samples at random shares, several a step, and early stopping by the loss on fixed validation samples."""

from dataclasses import dataclass

import numpy as np
import torch

from headcount._typing import FloatArray, IntArray
from headcount.learners import Outputs
from headcount.learners.neural.early_stopping import Trained, TrainingSettings, torch_seed, train_until_best
from headcount.protocols import Samples, UniformPrevalence, default_protocol
from headcount.quantifiers.quanet.estimates import Estimates
from headcount.quantifiers.quanet.network import Network, Sizes
from headcount.quantifiers.quanet.sample_tensors import Scale, pool_tensors, sample_rows

__all__ = ["Part", "Settings", "train"]

_SAMPLES_A_CHUNK = 64
"""Validation samples that are computed together, which bounds memory."""


@dataclass(frozen=True)
class Part:
    """Labelled items and the classifier's outputs for them."""

    outputs: Outputs
    codes: IntArray


@dataclass(frozen=True, kw_only=True)
class Settings(TrainingSettings):
    """Settings of training, besides the data."""

    sizes: Sizes
    sample_size: int
    samples_per_epoch: int
    samples_per_step: int
    validation_samples: int


class _Trainer:
    def __init__(
        self, training: Part, validation: Part, estimates: Estimates, scale: Scale, settings: Settings
    ) -> None:
        self.settings, self.training, self.estimates = settings, training, estimates
        device, n_classes = settings.device, settings.sizes.classes
        sample_seed, parameter_seed, dropout_seed, validation_seed = settings.seed.spawn(4)
        self.sample_generator = np.random.default_rng(sample_seed)
        self.dropout_generator = torch.Generator(device).manual_seed(torch_seed(dropout_seed))
        self.network = Network(settings.sizes, device)
        self.network.draw_parameters(torch.Generator().manual_seed(torch_seed(parameter_seed)))
        fused = device.type in ("cpu", "cuda")
        self.optimiser = torch.optim.Adam(self.network.parameters(), lr=settings.learning_rate, fused=fused)
        self.features, self.ranks = pool_tensors(training.outputs, scale, device)
        seed = int(validation_seed.generate_state(1)[0])
        n_samples, size = settings.validation_samples, settings.sample_size
        protocol = default_protocol(n_classes, n_prevalences=n_samples, repeats=1, sample_size=size, random_state=seed)
        samples, true = protocol.draw(validation.codes, np.arange(n_classes))
        self.validation_features, ranks = pool_tensors(validation.outputs, scale, device)
        self.validation = (
            sample_rows(samples, ranks, device),
            *self._estimated_and_true(validation, samples, true),
        )

    def _estimated_and_true(self, part: Part, samples: Samples, true: FloatArray) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the estimates of the simpler methods and the true shares, on the device."""
        arrays = (self.estimates(part.outputs, samples), true)
        estimated, shares = (torch.from_numpy(a.astype(np.float32)).to(self.settings.device) for a in arrays)
        return estimated, shares

    def epoch(self) -> torch.Tensor:
        """Train on newly drawn samples; return the mean loss, on the device."""
        settings = self.settings
        protocol = UniformPrevalence(
            settings.samples_per_epoch, sample_size=settings.sample_size, random_state=self.sample_generator
        )
        samples, true = protocol.draw(self.training.codes, np.arange(settings.sizes.classes))
        rows = sample_rows(samples, self.ranks, settings.device)
        estimated, shares = self._estimated_and_true(self.training, samples, true)
        mean_loss = torch.zeros((), device=settings.device)
        for start in range(0, len(rows), settings.samples_per_step):
            step = slice(start, start + settings.samples_per_step)
            self.optimiser.zero_grad(set_to_none=True)
            predicted = self.network(
                self.features[rows[step]], estimated[step], dropout=settings.dropout, generator=self.dropout_generator
            )
            loss = torch.mean((predicted - shares[step]) ** 2)
            loss.backward()
            self.optimiser.step()
            mean_loss += loss.detach() * (len(predicted) / len(rows))
        return mean_loss

    @torch.no_grad()
    def validation_loss(self) -> torch.Tensor:
        """Return the mean loss on the validation samples, on the device."""
        rows, estimated, shares = self.validation
        chunks = [slice(a, a + _SAMPLES_A_CHUNK) for a in range(0, len(rows), _SAMPLES_A_CHUNK)]
        predicted = [self.network(self.validation_features[rows[chunk]], estimated[chunk]) for chunk in chunks]
        return torch.mean((torch.cat(predicted) - shares) ** 2)


def train(training: Part, validation: Part, estimates: Estimates, scale: Scale, settings: Settings) -> Trained:
    """Train until the validation loss has not improved for ``patience`` epochs, and return the best network."""
    trainer = _Trainer(training, validation, estimates, scale, settings)
    return train_until_best(
        trainer.network.state_dict(),
        lambda: (trainer.epoch(), trainer.validation_loss()),
        settings,
        figure="validation loss",
        larger_is_better=False,
    )
