"""Training QuaNet: samples at random shares, several a step, and early stopping by the loss on fixed validation samples."""

from typing import Any, NamedTuple

import numpy as np
import torch

from headcount._typing import FloatArray, IntArray
from headcount.learners import Outputs
from headcount.learners.neural.device import device_named
from headcount.learners.neural.early_stopping import Trained, torch_seed, train_until_best
from headcount.protocols import Samples, UniformPrevalence, default_protocol
from headcount.quantifiers.quanet.network import Network
from headcount.quantifiers.quanet.sample_tensors import pool_tensors, sample_rows

__all__ = ["Part", "Trainer"]

_SAMPLES_A_CHUNK = 64
"""Validation samples that are computed together, which bounds memory."""


class Part(NamedTuple):
    """Labelled items and the classifier's outputs for them."""

    outputs: Outputs
    codes: IntArray


class Trainer:
    """Training of one network: the network, the items on the device, and the validation samples.

    Parameters
    ----------
    quantifier : QuaNet
        With its parameters, its simpler estimates, the scale of the embeddings and the sizes of the network.
    seed : SeedSequence
    training, validation : Part
    """

    def __init__(self, quantifier: Any, seed: np.random.SeedSequence, training: Part, validation: Part) -> None:
        self.quantifier, self.training = quantifier, training
        self.device = device = device_named(quantifier.device)
        n_classes, scale = len(quantifier.classes_), quantifier.scale_
        sample_seed, parameter_seed, dropout_seed, validation_seed = seed.spawn(4)
        self.sample_generator = np.random.default_rng(sample_seed)
        self.dropout_generator = torch.Generator(device).manual_seed(torch_seed(dropout_seed))
        self.network = Network(**quantifier.sizes_, device=device)
        self.network.draw_parameters(torch.Generator().manual_seed(torch_seed(parameter_seed)))
        fused = device.type in ("cpu", "cuda")
        self.optimiser = torch.optim.Adam(self.network.parameters(), lr=float(quantifier.learning_rate), fused=fused)
        self.features, self.ranks = pool_tensors(training.outputs, scale, device)
        draw_seed, size = int(validation_seed.generate_state(1)[0]), quantifier.sample_size
        n_samples = quantifier.validation_samples
        protocol = default_protocol(
            n_classes, n_prevalences=n_samples, repeats=1, sample_size=size, random_state=draw_seed
        )
        samples, true = protocol.draw(validation.codes, np.arange(n_classes))
        self.validation_features, ranks = pool_tensors(validation.outputs, scale, device)
        self.validation = sample_rows(samples, ranks, device), *self._estimated_and_true(validation, samples, true)

    def train(self) -> Trained:
        """Train until the validation loss has not improved for ``patience`` epochs, and return the best network."""
        return train_until_best(
            self.network.state_dict(),
            lambda: (self.epoch(), self.validation_loss()),
            self.quantifier,
            figure="validation loss",
            larger_is_better=False,
        )

    def _estimated_and_true(self, part: Part, samples: Samples, true: FloatArray) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the estimates of the simpler methods and the true shares, on the device."""
        arrays = (self.quantifier.estimates_(part.outputs, samples), true)
        estimated, shares = (torch.from_numpy(a.astype(np.float32)).to(self.device) for a in arrays)
        return estimated, shares

    def epoch(self) -> torch.Tensor:
        """Train on newly drawn samples; return the mean loss, on the device."""
        settings = self.quantifier
        protocol = UniformPrevalence(
            settings.samples_per_epoch, sample_size=settings.sample_size, random_state=self.sample_generator
        )
        samples, true = protocol.draw(self.training.codes, np.arange(self.network.classes))
        rows = sample_rows(samples, self.ranks, self.device)
        estimated, shares = self._estimated_and_true(self.training, samples, true)
        mean_loss = torch.zeros((), device=self.device)
        for start in range(0, len(rows), settings.samples_per_step):
            step = slice(start, start + settings.samples_per_step)
            self.optimiser.zero_grad(set_to_none=True)
            predicted = self.network(
                self.features[rows[step]],
                estimated[step],
                dropout=float(settings.dropout),
                generator=self.dropout_generator,
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
