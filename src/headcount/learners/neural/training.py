"""Training the convolutional network: balanced cross-entropy, Adam, and a stop when the held-out F1 gets no better."""

import sys
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from headcount._typing import AnyArray, FloatArray, IntArray
from headcount.exceptions import TrainingError, TrainingWarning
from headcount.learners.neural.documents import Block, Documents
from headcount.learners.neural.network import Parameters, dropped, embedded, initial, scored
from headcount.learners.neural.recording import Recorded

__all__ = ["Settings", "Trained", "read", "train"]


@dataclass(frozen=True)
class Settings:
    """What training depends on, besides the data."""

    sizes: dict[str, int]
    windows: tuple[int, ...]
    dropout: float
    weight_decay: float
    learning_rate: float
    batch_size: int
    max_epochs: int
    patience: int
    device: torch.device
    dtype: torch.dtype
    seed: np.random.SeedSequence
    keep_when_interrupted: bool = False
    verbose: bool = False


@dataclass(frozen=True)
class Trained:
    """Parameters as arrays, the number of epochs, and the loss and held-out F1 after each."""

    parameters: dict[str, AnyArray]
    n_epochs: int
    best_epoch: int
    losses: FloatArray
    scores: FloatArray


class _Trainer:
    def __init__(self, ids: IntArray, codes: IntArray, fitting: IntArray, n_ids: int, how: Settings) -> None:
        self.how = how
        draws, own, drops = how.seed.spawn(3)
        self.order = np.random.default_rng(draws)
        weights = torch.Generator().manual_seed(int(own.generate_state(1, np.uint64)[0] >> 1))
        self.drops = torch.Generator(how.device).manual_seed(int(drops.generate_state(1, np.uint64)[0] >> 1))
        counts = np.bincount(codes[fitting])
        self.n_classes, self.minority = len(counts), int(counts.argmin())
        drawn = initial(n_ids, self.n_classes, how.sizes, how.windows, weights)
        self.parameters: Parameters = {name: value.to(how.device).requires_grad_() for name, value in drawn.items()}
        self.on_cuda = how.device.type == "cuda"
        self.optimiser = torch.optim.Adam(
            self.parameters.values(), lr=how.learning_rate, weight_decay=how.weight_decay,
            fused=self.on_cuda or how.device.type == "cpu", capturable=self.on_cuda,
        )  # fmt: skip
        self.total = torch.zeros((), device=how.device, dtype=torch.float32)
        self._recorded: Recorded | None = None
        self.documents = Documents(ids, max(how.windows), how.device)
        self.codes = torch.from_numpy(codes.astype(np.int64)).to(how.device)
        balanced = torch.from_numpy(len(fitting) / (self.n_classes * counts)).float().to(how.device)
        self.item_weights = balanced[self.codes]

    def epoch(self, rows: IntArray) -> torch.Tensor:
        """Pass over these rows once, in random order; return the mean loss, on the device."""
        self.total.zero_()
        for batch in self.documents.batches(self.order.permutation(rows), self.how.batch_size):
            if not self.on_cuda or len(batch[0].rows) < self.how.batch_size:
                self.step(batch)
                continue
            if self._recorded is None:
                self._recorded = Recorded(self.step, batch[0], self.drops)
            self._recorded(batch[0].rows)
        return self.total / len(rows)

    def step(self, batch: list[Block]) -> None:
        """Learn from a batch, and add up its loss."""
        self.optimiser.zero_grad(set_to_none=True)
        size = sum(len(block.rows) for block in batch)
        for block in batch:
            loss = self.loss(block)
            (loss / size).backward()
            self.total += loss.detach()
        self.optimiser.step()

    def loss(self, block: Block) -> torch.Tensor:
        """Return the sum of the balanced cross-entropies of a block."""
        how = self.how
        keep = dropped((len(block.rows), len(how.windows) * how.sizes["channels"]), how.dropout, self.drops)
        documents = embedded(self.parameters, self.documents.ids(block), how.windows, how.dtype, keep)
        losses = functional.cross_entropy(scored(self.parameters, documents), self.codes[block.rows], reduction="none")
        return (losses * self.item_weights[block.rows]).sum()

    @torch.no_grad()
    def f1(self, rows: IntArray) -> torch.Tensor:
        """Return the F1 of the rarer of two classes, or the mean F1 of more, on the device."""
        pairs = []
        for batch in self.documents.batches(rows, self.how.batch_size):
            for block in batch:
                documents = embedded(self.parameters, self.documents.ids(block), self.how.windows, self.how.dtype)
                decided = scored(self.parameters, documents).argmax(dim=1)
                pairs.append(self.codes[block.rows] * self.n_classes + decided)
        table = torch.bincount(torch.cat(pairs), minlength=self.n_classes**2).view(self.n_classes, -1).float()
        right = table.diagonal()
        f1 = 2.0 * right / (table.sum(dim=0) + table.sum(dim=1)).clamp(min=1.0)
        return f1[self.minority] if self.n_classes == 2 else f1.mean()


def train(ids: IntArray, codes: IntArray, parts: tuple[IntArray, IntArray], n_ids: int, how: Settings) -> Trained:
    """Train on one part until the F1 on the other gets no better, take the best, and pass over the other part once."""
    fitting, held_out = parts
    trainer = _Trainer(ids, codes, fitting, n_ids, how)
    losses: list[float] = []
    scores: list[float] = []
    best: dict[str, torch.Tensor] = {}
    best_epoch = 0
    try:
        while len(losses) < how.max_epochs and len(losses) - best_epoch < how.patience:
            loss, score = torch.stack([trainer.epoch(fitting), trainer.f1(held_out)]).tolist()
            _check(loss, len(losses) + 1, how)
            losses.append(loss)
            scores.append(score)
            if not best or score > scores[best_epoch - 1]:
                best = {name: value.detach().clone() for name, value in trainer.parameters.items()}
                best_epoch = len(losses)
            if how.verbose:
                sys.stderr.write(
                    f"epoch {len(losses)}: loss {loss:.4f}, held-out F1 {score:.4f} (best in {best_epoch})\n"
                )
        _set(trainer.parameters, best)
        _check(float(trainer.epoch(held_out)), len(losses) + 1, how)
    except KeyboardInterrupt:
        if not (how.keep_when_interrupted and best):
            raise
        _set(trainer.parameters, best)
        warnings.warn(
            f"Training was interrupted after {len(losses)} epochs: the network of epoch {best_epoch}, the best so far, is kept, "
            "without the pass over the held-out part.",
            TrainingWarning,
            stacklevel=2,
        )
    arrays = {name: value.detach().cpu().numpy().copy() for name, value in trainer.parameters.items()}
    if not all(np.isfinite(value).all() for value in arrays.values()):
        _check(np.nan, len(losses), how)
    return Trained(arrays, len(losses), best_epoch, np.array(losses), np.array(scores))


@torch.no_grad()
def _set(parameters: Parameters, values: dict[str, torch.Tensor]) -> None:
    for name, value in values.items():
        parameters[name].copy_(value)


def _check(loss: float, epoch: int, how: Settings) -> None:
    if not np.isfinite(loss):
        raise TrainingError(
            f"The loss is {loss} in epoch {epoch}: the network has diverged. Lower learning_rate (it is {how.learning_rate:g})"
            + (", or use precision='float32'." if how.dtype != torch.float32 else ".")
        )


@torch.no_grad()
def read(ids: IntArray, parameters: dict[str, AnyArray], how: Settings) -> tuple[AnyArray, AnyArray]:
    """Return the document embeddings of items, and the posteriors of the classes."""
    there: dict[str, Any] = {name: torch.tensor(value, device=how.device) for name, value in parameters.items()}
    documents = Documents(ids, max(how.windows), how.device)
    found = torch.empty((len(ids), how.sizes["document"]), device=how.device, dtype=torch.float32)
    for batch in documents.batches(np.arange(len(ids)), how.batch_size):
        for block in batch:
            found[block.rows] = embedded(there, documents.ids(block), how.windows, how.dtype)
    posteriors = torch.softmax(
        scored(there, found).double() if how.device.type != "mps" else scored(there, found), dim=1
    )
    return found.cpu().numpy(), posteriors.cpu().double().numpy()
