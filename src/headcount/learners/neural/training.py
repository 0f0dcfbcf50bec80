"""Training and applying the convolutional network: balanced cross-entropy, Adam, early stopping by the F1 on held-out items."""

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from headcount._typing import AnyArray, IntArray
from headcount.learners.neural.cuda_graph import RecordedStep
from headcount.learners.neural.device import device_named, dtype_named
from headcount.learners.neural.documents import Block, Documents
from headcount.learners.neural.early_stopping import Trained, torch_seed, train_until_best
from headcount.learners.neural.network import Parameters, class_scores, draw_parameters, dropout_mask, embed_documents
from headcount.learners.neural.shapes import Shapes, window_widths

__all__ = ["Trainer", "embeddings_and_posteriors"]


class Trainer:
    """Training of one network: the network, the documents on the device, and the optimiser.

    Parameters
    ----------
    classifier : CNNClassifier
        Whose parameters are used.
    seed : SeedSequence
    shapes : dict of str to tuple
        Shapes of the network's parameters.
    ids, codes : arrays of int
        Documents of term ids, and their classes.
    parts : pair of arrays of int
        Rows to train on, and held-out rows.
    """

    def __init__(
        self,
        classifier: Any,
        seed: np.random.SeedSequence,
        shapes: Shapes,
        ids: IntArray,
        codes: IntArray,
        parts: tuple[IntArray, IntArray],
    ) -> None:
        self.classifier = classifier
        self.training, self.held_out = parts
        device = device_named(classifier.device)
        self.dtype = dtype_named(classifier.precision, device)
        self.batch_size, self.dropout = classifier.batch_size, float(classifier.dropout)
        order_seed, parameter_seed, dropout_seed = seed.spawn(3)
        self.order = np.random.default_rng(order_seed)
        self.dropout_generator = torch.Generator(device).manual_seed(torch_seed(dropout_seed))
        counts = np.bincount(codes[self.training])
        self.n_classes, self.minority = len(counts), int(counts.argmin())
        # Drawn on the CPU: the first parameters are the same on every device.
        drawn = draw_parameters(shapes, torch.Generator().manual_seed(torch_seed(parameter_seed)))
        self.parameters: Parameters = {name: value.to(device).requires_grad_() for name, value in drawn.items()}
        self.on_cuda = device.type == "cuda"
        self.optimiser = torch.optim.Adam(
            self.parameters.values(), lr=float(classifier.learning_rate), weight_decay=float(classifier.weight_decay),
            fused=self.on_cuda or device.type == "cpu", capturable=self.on_cuda,
        )  # fmt: skip
        self.total = torch.zeros((), device=device, dtype=torch.float32)
        self._recorded: RecordedStep | None = None
        self.documents = Documents(ids, max(window_widths(shapes)), device)
        self.codes = torch.from_numpy(codes.astype(np.int64)).to(device)
        class_weights = torch.from_numpy(len(self.training) / (self.n_classes * counts)).float().to(device)
        self.item_weights = class_weights[self.codes]

    def train(self) -> Trained:
        """Train on one part until the F1 on the other stops improving, then train the best network on the other part once."""
        return train_until_best(
            self.parameters,
            lambda: (self.epoch(self.training), self.f1(self.held_out)),
            self.classifier,
            figure="held-out F1",
            larger_is_better=True,
            advice="" if self.dtype == torch.float32 else " Or use precision='float32'.",
            last_pass=lambda: self.epoch(self.held_out),
        )

    def epoch(self, rows: IntArray) -> Tensor:
        """Train on these rows once, in random order; return the mean loss, on the device."""
        self.total.zero_()
        for batch in self.documents.batches(self.order.permutation(rows), self.batch_size):
            if not self.on_cuda or len(batch[0].rows) < self.batch_size:
                self.step(batch)
                continue
            if self._recorded is None:
                self._recorded = RecordedStep(self.step, batch[0], self.dropout_generator)
            self._recorded(batch[0].rows)
        return self.total / len(rows)

    def step(self, batch: list[Block]) -> None:
        """Make an optimiser step for a batch, and add its loss to the total."""
        self.optimiser.zero_grad(set_to_none=True)
        size = sum(len(block.rows) for block in batch)
        for block in batch:
            loss = self.loss(block)
            (loss / size).backward()
            self.total += loss.detach()
        self.optimiser.step()

    def loss(self, block: Block) -> Tensor:
        """Return the sum of the class-balanced cross-entropies of a block."""
        shape = len(block.rows), self.parameters["document.weight"].shape[1]
        mask = dropout_mask(shape, self.dropout, self.dropout_generator)
        losses = functional.cross_entropy(self.scores(block, mask), self.codes[block.rows], reduction="none")
        return (losses * self.item_weights[block.rows]).sum()

    def scores(self, block: Block, mask: Tensor | None = None) -> Tensor:
        """Return the logits of the classes for a block's documents."""
        embeddings = embed_documents(self.parameters, self.documents.ids(block), self.dtype, mask)
        return class_scores(self.parameters, embeddings)

    @torch.no_grad()
    def f1(self, rows: IntArray) -> Tensor:
        """Return the F1 of the rarer of two classes, or the mean F1 of more, on the device."""
        cells = []
        for batch in self.documents.batches(rows, self.batch_size):
            for block in batch:
                decisions = self.scores(block).argmax(dim=1)
                cells.append(self.codes[block.rows] * self.n_classes + decisions)
        confusion = torch.bincount(torch.cat(cells), minlength=self.n_classes**2).view(self.n_classes, -1).float()
        f1 = 2.0 * confusion.diagonal() / (confusion.sum(dim=0) + confusion.sum(dim=1)).clamp(min=1.0)
        return f1[self.minority] if self.n_classes == 2 else f1.mean()


@torch.no_grad()
def embeddings_and_posteriors(classifier: Any, ids: IntArray) -> tuple[AnyArray, AnyArray]:
    """Return the document embeddings of items, and the posteriors of the classes.

    Windows and sizes are those of the arrays, because the estimator's parameters may have been set since it was fitted.
    """
    arrays, device = classifier.parameters_, device_named(classifier.device)
    dtype = dtype_named(classifier.precision, device)
    parameters: Parameters = {name: torch.tensor(array, device=device) for name, array in arrays.items()}
    documents = Documents(ids, max(window_widths(parameters)), device)
    embeddings = torch.empty((len(ids), len(arrays["document.bias"])), device=device, dtype=torch.float32)
    for batch in documents.batches(np.arange(len(ids)), classifier.batch_size):
        for block in batch:
            embeddings[block.rows] = embed_documents(parameters, documents.ids(block), dtype)
    scores = class_scores(parameters, embeddings)
    # In double precision, except on MPS, which has none.
    posteriors = torch.softmax(scores if device.type == "mps" else scores.double(), dim=1)
    return embeddings.cpu().numpy(), posteriors.cpu().double().numpy()
