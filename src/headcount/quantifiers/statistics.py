"""`Statistics`: what is added up over the items of each sample, merged by addition.

Sums over parts of a sample add up to the sum over the whole, to the bit, which makes batches, groups, bootstrap replicates
and clusters one and the same thing.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.exceptions import DataError
from headcount.learners import Outputs
from headcount.protocols import Samples
from headcount.protocols.exact import ExactSums

__all__ = ["SampleItems", "Statistics", "require_items"]


class Statistics:
    """Sums of the representation's vectors over each sample, and each sample's total weight.

    ``a + b`` merges the statistics of two parts of the same samples.

    Parameters
    ----------
    sums : array or ExactSums, shape (n_samples, n_coordinates)
    weights : array or ExactSums, shape (n_samples,)
        The number of items, or the sum of their weights.
    products : ExactSums, optional
        Sums of products of two coordinates, the lower triangle row by row: what covariances need.

    Examples
    --------
    >>> half = Statistics(np.array([[1.0, 3.0]]), np.array([4.0]))
    >>> (half + half).means().tolist()
    [[0.25, 0.75]]
    """

    __slots__ = ("_products", "_sums", "_weights")

    def __init__(self, sums: Any, weights: Any, products: ExactSums | None = None) -> None:
        self._sums, self._weights = (
            x if isinstance(x, ExactSums) else ExactSums.from_floats(np.asarray(x, dtype=np.float64))
            for x in (sums, weights)
        )
        self._products = products

    @classmethod
    def zeros(cls, n_samples: int, n_coordinates: int, products: bool = False) -> "Statistics":
        """Return the statistics of samples without items."""
        triangle = ExactSums.zeros((n_samples, n_coordinates * (n_coordinates + 1) // 2)) if products else None
        return cls(ExactSums.zeros((n_samples, n_coordinates)), ExactSums.zeros((n_samples,)), triangle)

    def _parts(self) -> "list[ExactSums]":
        return [self._sums, self._weights, *([] if self._products is None else [self._products])]

    def __add__(self, other: "Statistics") -> "Statistics":
        if self._sums.shape != other._sums.shape:
            raise DataError(
                f"Statistics of shapes {self._sums.shape} and {other._sums.shape} can't be merged: they must be of the same "
                "samples and made by the same quantifier."
            )
        return Statistics(*(a + b for a, b in zip(self._parts(), other._parts(), strict=True)))

    def with_products(self, moments: FloatArray) -> "Statistics":
        """Return the statistics with these sums of outer products, shape (n_samples, n_coordinates, n_coordinates)."""
        rows, columns = np.tril_indices(moments.shape[1])
        return Statistics(self._sums, self._weights, ExactSums.from_floats(moments[:, rows, columns]))

    def __getitem__(self, rows: IntArray) -> "Statistics":
        return Statistics(*(part[rows] for part in self._parts()))

    def grown(self, n_samples: int) -> "Statistics":
        """Return the statistics with samples without items appended, ``n_samples`` in all."""
        return Statistics(*(part.grown(n_samples) for part in self._parts()))

    def add_at(self, rows: IntArray, other: "Statistics") -> None:
        """Merge sample i of ``other`` into sample ``rows[i]``, in place; the rows must be distinct."""
        for part, added in zip(self._parts(), other._parts(), strict=True):
            part.add_at(rows, added)

    def add_repeatedly_at(self, rows: IntArray, other: "Statistics") -> None:
        """Merge sample i of ``other`` into sample ``rows[i]``, in place; several may be merged into one."""
        for part, added in zip(self._parts(), other._parts(), strict=True):
            part.add_repeatedly_at(rows, added)

    def __len__(self) -> int:
        return len(self._weights)

    def __repr__(self) -> str:
        return f"Statistics({len(self):,} samples, {self._sums.shape[1]} sums each)"

    @property
    def sums(self) -> FloatArray:
        """Sums of the vectors, shape (n_samples, n_coordinates)."""
        return self._sums.values()

    @property
    def weights(self) -> FloatArray:
        """Number of items, or total weight, of each sample."""
        return self._weights.values()

    @property
    def has_products(self) -> bool:
        """Whether products of coordinates were added up too."""
        return self._products is not None

    def counts(self) -> tuple[IntArray, IntArray] | None:
        """Return sums and weights, times 2^20, if all are whole numbers: counts of single items."""
        pair = self._sums.whole(), self._weights.whole()
        return None if pair[0] is None or pair[1] is None else (pair[0], pair[1])

    def means(self) -> FloatArray:
        """Divide the sums by the weights: the mean vector of each sample."""
        weights = self.weights
        require_items(weights)
        if self._sums.low is None and self._weights.low is None:  # counts: one step, with the same bits
            means: FloatArray = self._sums.high.astype(np.float64)  # numpy divides integers one by one
            means /= self._weights.high.astype(np.float64)[:, None]
            return means
        return self.sums / weights[:, None]

    def products(self) -> FloatArray:
        """Return the sums of outer products, shape (n_samples, n_coordinates, n_coordinates)."""
        if self._products is None:
            raise DataError(
                "These statistics hold no products of coordinates: make them with reduce(..., products=True)."
            )
        d = self._sums.shape[1]
        full = np.empty((len(self), d, d))
        rows, columns = np.tril_indices(d)
        full[:, rows, columns] = full[:, columns, rows] = self._products.values()
        return full


@dataclass(frozen=True, eq=False, repr=False)
class SampleItems:
    """The items of each sample, for methods that no sum suffices: nothing is copied until two of them are merged by ``+``.

    Attributes
    ----------
    vectors : array of shape (n_items, n_classes)
        The densities of each item of the pool under each class.
    samples : Samples
    outputs : Outputs or None
        That the vectors were computed from, for methods that need them.
    """

    vectors: FloatArray
    samples: Samples
    outputs: Outputs | None = None

    @property
    def weights(self) -> FloatArray:
        """Total weight of each sample."""
        return self.samples.total_weights()

    def __len__(self) -> int:
        return len(self.samples)

    def __repr__(self) -> str:
        return f"SampleItems({self.samples})"

    def __add__(self, other: "SampleItems") -> "SampleItems":
        if len(self) != len(other) or self.vectors.shape[1] != other.vectors.shape[1]:
            raise DataError(f"{self} and {other} can't be merged: they must be of the same samples and classes.")
        merged = Samples.merged(self.samples, other.samples, offset=len(self.vectors))
        outputs = None
        if self.outputs is not None and other.outputs is not None:
            outputs = Outputs.concatenated([self.outputs, other.outputs])
        return SampleItems(np.concatenate([self.vectors, other.vectors]), merged, outputs)


def require_items(weights: FloatArray | IntArray) -> None:
    """Raise if a sample has no items, or only items of weight 0."""
    empty = np.flatnonzero(~(weights > 0.0))
    if empty.size:
        raise DataError(
            f"Sample {empty[0]} has no items ({empty.size:,} of {len(weights):,} samples are empty): an empty sample has no "
            "shares. Leave it out."
        )
