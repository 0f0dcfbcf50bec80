"""Vectors of items whose mean in a sample is that of the mixture of classes: what intervals are made of.

At the true shares p the mean z of a sample's vectors is that of the mixture G p of class means, for any vectors that do not depend
on the items they are computed for:

- methods that solve a linear equation A (q - M p) = 0 give an item the vector A times its representation;
- methods over densities give it f(x) / (p~ . f(x)), the derivative of its log-likelihood at shares p~ inside the simplex. If the
  densities are right this is as good as the likelihood itself; if they are wrong, means are still those of the mixture;
- methods that compare cell frequencies, such as histograms, do the same with the cells' frequencies in each class as densities.

Where densities are learnt from validation items, the densities of a validation item are learnt from the others.
"""

from abc import ABC, abstractmethod
from copy import copy
from typing import Any

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.learners import Outputs
from headcount.quantifiers import DensitiesQuantifier, Quantifier, SampleItems, Statistics, SumsQuantifier
from headcount.simplex import sum_zero_basis

__all__ = ["ItemVectors", "item_vectors", "outer_products"]

_FLOOR_ITEMS = 20.0
"""Shares p~ are at least this many items of the validation items of their class: smaller ones make the vectors too skewed."""
_CELL_ITEMS = 0.5
"""Items that are added to each cell of each class when cell frequencies serve as densities."""


class ItemVectors(ABC):
    """Vectors of labelled items and of a sample's items, for each sample of an estimate.

    Parameters
    ----------
    quantifier : fitted quantifier with validation items
    """

    is_shared: bool = False
    """Whether all samples have the same vectors; else they are ratios at shares ``inside`` the simplex."""
    extremes_count: bool = False
    """Whether extreme vectors are added to each class, rather than taken only where a class has next to no spread."""
    shift_counts: float = 1.0
    """Share of what learning without an item shifts the class means that counts as their error."""

    def __init__(self, quantifier: Any) -> None:
        self.codes: IntArray = quantifier.validation_codes_
        # Models of earlier versions know no folds.
        self.folds: IntArray = getattr(quantifier, "validation_folds_", np.zeros_like(self.codes))
        self.repeats: int = getattr(quantifier, "validation_repeats_", 1)
        self.inside: FloatArray = np.empty((0, 0))

    @abstractmethod
    def means(self) -> FloatArray:
        """Return the mean vector of each sample, shape (n_samples, n_coordinates)."""

    @abstractmethod
    def observed(self) -> FloatArray | None:
        """Return the covariance of an item of each sample, shape (n_samples, n_coordinates, n_coordinates), if it is known."""

    @abstractmethod
    def labelled(self, s: int) -> FloatArray:
        """Return the vectors of the labelled items for sample s, shape (n_labelled, n_coordinates)."""

    def plugged_in(self, s: int) -> FloatArray | None:
        """Return the vectors of the labelled items by what was learnt from all of them, each itself included; None if the same."""
        return None

    @abstractmethod
    def extremes(self, s: int) -> FloatArray:
        """Return vectors that an item of another class could have, a row each class: as sure as the vectors' scale allows."""

    @abstractmethod
    def target(self, s: int, outputs: Outputs) -> FloatArray:
        """Return the vectors of items for sample s, shape (n_items, n_coordinates)."""

    def at(self, s: int, inside: FloatArray) -> "ItemVectors":
        """Return the vectors of sample s alone, at other shares inside the simplex."""
        raise NotImplementedError("All samples have the same vectors.")


class _RepresentationVectors(ItemVectors):
    """The representation's vectors, projected on the directions in which class means differ."""

    is_shared = True

    def __init__(self, quantifier: SumsQuantifier, statistics: Statistics) -> None:
        super().__init__(quantifier)
        self.representation = quantifier.representation
        self.extremes_count = not self.representation.has_vectors
        self.A = quantifier.solver.estimating_matrix(quantifier.M_)
        self.class_means = self.A @ quantifier.M_
        self._means = statistics.means() @ self.A.T
        self.shift_counts = quantifier.left_out_shift
        self._labelled = quantifier.projected_validation(self.A)
        leaves_out = not quantifier._is_inherited(SumsQuantifier, "projected_validation")
        self._plugged_in = self.representation.projected(quantifier.validation_outputs_, self.A) if leaves_out else None
        self._second: FloatArray | None = None
        if not self.representation.adds_products:
            if quantifier.n_folds == 1 and self.representation.is_partition:
                self._second = np.einsum("sc,ac,bc->sab", statistics.means(), self.A, self.A, optimize=True)
        elif statistics.has_products or not self.representation.has_vectors:
            second = self.representation.second_moments(statistics) / statistics.weights[:, None, None]
            self._second = self.A @ second @ self.A.T

    def means(self) -> FloatArray:
        return self._means

    def observed(self) -> FloatArray | None:
        return None if self._second is None else self._second - outer_products(self._means)

    def labelled(self, s: int) -> FloatArray:
        return self._labelled

    def plugged_in(self, s: int) -> FloatArray | None:
        return self._plugged_in

    def extremes(self, s: int) -> FloatArray:
        # Posteriors have no scale of their own: regularised ones between .45 and .55 may be as sure as others between 0 and 1.
        sure = self.class_means if self.representation.has_vectors else self.A
        return np.ascontiguousarray(sure.T)

    def target(self, s: int, outputs: Outputs) -> FloatArray:
        return self.representation.projected(outputs, self.A)


class _RatioVectors(ItemVectors):
    """Densities divided by that of the mixture at shares inside the simplex, in directions of the simplex."""

    F_labelled: FloatArray
    F_plugged_in: FloatArray

    def __init__(self, quantifier: Quantifier, shares: FloatArray) -> None:
        super().__init__(quantifier)
        k = shares.shape[1]
        floor = np.minimum(_FLOOR_ITEMS / np.bincount(self.codes, minlength=k), 1.0 / k)
        inside = np.maximum(shares, floor)
        self.inside = inside / inside.sum(axis=1, keepdims=True)
        self.directions = sum_zero_basis(k)

    def at(self, s: int, inside: FloatArray) -> "_RatioVectors":
        """Return the vectors of sample s alone, at other shares inside the simplex."""
        moved = copy(self)
        moved.inside = inside[None, :]
        moved._keep(s)
        return moved

    @abstractmethod
    def _keep(self, s: int) -> None:
        """Keep the items of sample s alone."""

    def labelled(self, s: int) -> FloatArray:
        return self._ratios(self.F_labelled, s)

    def plugged_in(self, s: int) -> FloatArray | None:
        return self._ratios(self.F_plugged_in, s)

    def _ratios(self, F: FloatArray, s: int) -> FloatArray:
        ratios: FloatArray = F / (F @ self.inside[s])[:, None] @ self.directions
        return ratios

    def extremes(self, s: int) -> FloatArray:
        extremes: FloatArray = self.directions / self.inside[s][:, None]
        return extremes


class _DensityVectors(_RatioVectors):
    def __init__(self, quantifier: DensitiesQuantifier, statistics: SampleItems, shares: FloatArray) -> None:
        super().__init__(quantifier, shares)
        self.quantifier, self.statistics = quantifier, statistics
        self.F_labelled = quantifier.validation_densities()
        self.F_plugged_in = quantifier.densities(quantifier.validation_outputs_)

    def means(self) -> FloatArray:
        from headcount.intervals.likelihood import moments

        first, second = moments(self.statistics.vectors, self.statistics.samples, self.inside)
        means: FloatArray = first @ self.directions
        self._observed = self.directions.T @ second @ self.directions - outer_products(means)
        return means

    def observed(self) -> FloatArray | None:
        return self._observed

    def _keep(self, s: int) -> None:
        self.statistics = SampleItems(self.statistics.vectors, self.statistics.samples[s : s + 1])

    def target(self, s: int, outputs: Outputs) -> FloatArray:
        parts = (outputs,) if outputs.folds is None else outputs.folds
        vectors: FloatArray = np.mean([self._ratios(self.quantifier.densities(part), s) for part in parts], axis=0)
        return vectors


class _CellVectors(_RatioVectors):
    extremes_count = True
    # Frequencies are linear in the items: learnt from an item, they put its vector as much too near to its own class as they put it
    # too far away when learnt without it. The mean of the class lies in the middle.
    shift_counts = 0.5

    def __init__(self, quantifier: SumsQuantifier, statistics: Statistics, shares: FloatArray) -> None:
        super().__init__(quantifier, shares)
        self.representation = quantifier.representation
        self.frequencies = self.representation.coarsened(statistics.means())
        codes, k = self.codes, shares.shape[1]
        one_hot = self.representation.coarsened(self.representation.vectors(quantifier.validation_outputs_))
        counts = np.column_stack([one_hot[codes == j].sum(axis=0) for j in range(k)])
        sizes = np.bincount(codes, minlength=k).astype(np.float64)
        smoothing = _CELL_ITEMS * len(counts)
        self.table = (counts + _CELL_ITEMS) / (sizes + smoothing)
        # The frequencies that the other validation items give for the cell of each one.
        others = counts[one_hot.argmax(axis=1)]
        rows = np.arange(len(codes))
        others[rows, codes] -= 1.0
        sizes_without = np.tile(sizes, (len(codes), 1))
        sizes_without[rows, codes] -= 1.0
        self.F_labelled = (others + _CELL_ITEMS) / (sizes_without + smoothing)
        self.F_plugged_in = self.table[one_hot.argmax(axis=1)]

    def means(self) -> FloatArray:
        return np.stack([q @ self._ratios(self.table, s) for s, q in enumerate(self.frequencies)])

    def observed(self) -> FloatArray | None:
        ratios = [self._ratios(self.table, s) for s in range(len(self.frequencies))]
        second = np.stack([(V * q[:, None]).T @ V for V, q in zip(ratios, self.frequencies, strict=True)])
        return second - outer_products(self.means())

    def _keep(self, s: int) -> None:
        self.frequencies = self.frequencies[s : s + 1]

    def target(self, s: int, outputs: Outputs) -> FloatArray:
        vectors: FloatArray = self.representation.coarsened(self.representation.vectors(outputs)) @ self._ratios(
            self.table, s
        )
        return vectors


def item_vectors(quantifier: Quantifier, statistics: Statistics | SampleItems, shares: FloatArray) -> ItemVectors:
    """Return the vectors that the inference of a quantifier's family is made of."""
    if isinstance(quantifier, DensitiesQuantifier) and isinstance(statistics, SampleItems):
        return _DensityVectors(quantifier, statistics, shares)
    if not isinstance(quantifier, SumsQuantifier) or not isinstance(statistics, Statistics):
        raise TypeError(f"No inference for {type(quantifier).__name__} and {type(statistics).__name__}.")
    if quantifier.solver.has_equation:
        return _RepresentationVectors(quantifier, statistics)
    return _CellVectors(quantifier, statistics, shares)


def outer_products(vectors: FloatArray) -> FloatArray:
    """Return the outer product of each vector with itself."""
    outer: FloatArray = vectors[:, :, None] * vectors[:, None, :]
    return outer
