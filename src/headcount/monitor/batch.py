"""`Batch`: what a monitor keeps of a batch of items: how many, their statistics, their counts in score cells, and a digest."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np

from headcount._typing import FloatArray, IntArray, Items
from headcount.checks import LabelledCells
from headcount.exceptions import DataError
from headcount.learners import Need, Outputs
from headcount.monitor.share_scores import ShareScores
from headcount.protocols import as_samples
from headcount.quantifiers import Posteriors, Quantifier, SampleItems, Statistics

__all__ = ["Batch", "label_digests"]

_DIGITS = 9
"""Decimals of posteriors and mean scores in digests: other machines compute the last bits otherwise."""


@dataclass(frozen=True, eq=False)
class Batch:
    """A batch of items.

    Attributes
    ----------
    n : int
    statistics : Statistics or SampleItems of one sample
    counts, sums : arrays
        Items in each score cell, and sums of posteriors; empty where nothing is checked.
    content : str
        Digest of what the batch holds.
    """

    n: int
    statistics: Statistics | SampleItems
    counts: FloatArray
    sums: FloatArray
    content: str

    @classmethod
    def of_items(cls, quantifier: Quantifier, X: Items, cells: LabelledCells | None) -> "Batch":
        """Score items and add them up."""
        checked: set[Need] = set() if cells is None or cells.decided else {"posteriors"}
        needs = quantifier.needs | checked
        outputs = quantifier.outputs(X, needs)
        if outputs.n_items == 0:
            raise DataError("The batch holds no items.")
        everything = as_samples(None, outputs.n_items)
        counts = sums = np.empty(0)
        if cells is not None:
            counts = cells.representation.reduce(outputs, everything).sums[0]
            sums = np.zeros(cells.k) if cells.decided else Posteriors().reduce(outputs, everything).sums[0]
        return cls(outputs.n_items, quantifier.reduce(outputs, everything), counts, sums, _digest(outputs))

    @classmethod
    def of_sums(
        cls, scores: ShareScores, n: int, statistics: Any, counts: FloatArray | None, sums: FloatArray | None
    ) -> "Batch":
        """Return the batch whose sums were added up before; items in another order are the same batch."""
        if n == 0:
            raise DataError("The batch holds no items.")
        cells = np.empty(0) if counts is None else counts
        digest = sha256(str(n).encode())
        digest.update(_rounded(scores.mean(statistics)))
        digest.update(np.rint(cells).astype(np.int64).tobytes())
        return cls(n, statistics, cells, np.empty(0) if sums is None else sums, digest.hexdigest()[:32])


def label_digests(scores: FloatArray, codes: IntArray) -> list[str]:
    """Return a digest of each item's scores and its label, eight digits and a number."""
    return [f"{sha256(_rounded(row)).hexdigest()[:8]}{code}" for row, code in zip(scores, codes.tolist(), strict=True)]


def _digest(outputs: Outputs) -> str:
    digest = sha256(str(outputs.n_items).encode())
    for part in outputs.folds or (outputs,):
        for values in (part.posteriors, part.decisions if part.posteriors is None else None, part.features):
            if values is not None:
                dense = values.toarray() if hasattr(values, "toarray") else values
                digest.update(_rounded(dense))
    return digest.hexdigest()[:32]


def _rounded(values: Any) -> bytes:
    rounded = np.round(np.asarray(values, dtype=np.float64), _DIGITS) + 0.0  # no negative zeros
    return rounded.tobytes()
