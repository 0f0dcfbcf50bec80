"""Vectors of items whose mean in a sample is that of the mixture of classes: what intervals are made of.

At the true shares p the mean z of a sample's vectors is that of the mixture G p of class means, for any vectors that do not depend
on the items they are computed for:

- methods that solve a linear equation A (q - M p) = 0 give an item the vector A times its representation;
  where A depends on the shares it is taken at shares inside the simplex, for any of which the means are those of the mixture;
- methods over densities give it f(x) / (p~ . f(x)), the derivative of its log-likelihood at shares p~ inside the simplex. If the
  densities are right this is as good as the likelihood itself; if they are wrong, means are still those of the mixture;
- methods that compare cell frequencies, such as histograms, do the same with the cells' frequencies in each class as densities.
  Where they compare several histograms, or sums over cells, r(x), with means T_j in the classes, an item has the vector
  T' W r(x) in directions of the simplex: the derivative of the weighted sum of squares (r - T p)' W (r - T p). W is 1 / (T p~)
  for distances that agree with chi-square, for which cells of one partition give the ratio again, and 1 for sums of squares.

Where densities are learnt from validation items, the densities of a validation item are learnt from the others.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.designs import SurveyDesign
from headcount.learners import Outputs
from headcount.protocols import Samples
from headcount.quantifiers import Cells, DensitiesQuantifier, Quantifier, SampleItems, Statistics, SumsQuantifier
from headcount.simplex import sum_zero_basis

__all__ = ["ItemVectors", "item_vectors", "outer_products", "posterior_vectors"]

_FLOOR_ITEMS = 20.0
"""Shares p~ are at least this many items of the validation items of their class: smaller ones make the vectors too skewed."""
_MOST_CELLS = 4096
"""Cells up to which the vectors of all of them are computed first, and those of items are looked up."""
_BLOCK = 1 << 22
"""Numbers that a block of items' cells holds at most."""
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
        self.design: SurveyDesign | None = quantifier.validation_design_
        self.weights: FloatArray = np.ones(len(self.codes))
        """Weight of each labelled item, 1 on average in each class."""
        if self.design is not None and self.design.weights is not None:
            of_class = np.bincount(self.codes, self.design.weights) / np.maximum(np.bincount(self.codes), 1)
            self.weights = self.design.weights / of_class[self.codes]
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
        self.extremes_count = self.representation.is_binary
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
        sure = self.A if self.representation.is_binary else self.class_means
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


class _PosteriorVectors(_RatioVectors):
    """Posteriors divided by the shares under which they hold, as densities, of single items that are all known."""

    def __init__(self, quantifier: SumsQuantifier, outputs: Outputs, samples: Samples, shares: FloatArray) -> None:
        super().__init__(quantifier, shares)
        self.prior = np.bincount(self.codes, minlength=shares.shape[1]) / len(self.codes)
        self.F_labelled = quantifier.validation_outputs_.need("posteriors") / self.prior
        self._targets = [self.target(s, outputs.take(rows)) for s, rows in enumerate(samples)]
        factors = [samples.factors_of(s) for s in range(len(samples))]
        self._factors = [one / one.sum() for one in factors]

    def means(self) -> FloatArray:
        return np.stack([factors @ vectors for factors, vectors in zip(self._factors, self._targets, strict=True)])

    def observed(self) -> FloatArray | None:
        pairs = zip(self._factors, self._targets, strict=True)
        second = [vectors.T @ (factors[:, None] * vectors) for factors, vectors in pairs]
        return np.stack(second) - outer_products(self.means())

    def plugged_in(self, s: int) -> FloatArray | None:
        return None

    def target(self, s: int, outputs: Outputs) -> FloatArray:
        parts = (outputs,) if outputs.folds is None else outputs.folds
        vectors: FloatArray = np.mean([self._ratios(part.need("posteriors") / self.prior, s) for part in parts], axis=0)
        return vectors

    def _keep(self, s: int) -> None:
        raise NotImplementedError("These vectors are kept at their shares.")


class _EquationVectors(_RatioVectors):
    """The representation's vectors, times the matrix of an equation that is another one at other shares."""

    def __init__(self, quantifier: SumsQuantifier, statistics: Statistics, shares: FloatArray) -> None:
        super().__init__(quantifier, shares)
        self.representation, self.solver, self.M = quantifier.representation, quantifier.solver, quantifier.M_
        self._means = statistics.means()
        self._labelled = quantifier.validation_vectors()
        self._second: FloatArray | None = None
        if statistics.has_products:
            self._second = self.representation.second_moments(statistics) / statistics.weights[:, None, None]

    def _matrix(self, s: int) -> FloatArray:
        return self.solver.estimating_matrix_at(self.M, self.inside[s])

    def means(self) -> FloatArray:
        return np.stack([self._matrix(s) @ q for s, q in enumerate(self._means)])

    def observed(self) -> FloatArray | None:
        if self._second is None:
            return None
        second = [A @ one @ A.T for A, one in ((self._matrix(s), one) for s, one in enumerate(self._second))]
        return np.stack(second) - outer_products(self.means())

    def labelled(self, s: int) -> FloatArray:
        vectors: FloatArray = self._labelled @ self._matrix(s).T
        return vectors

    def plugged_in(self, s: int) -> FloatArray | None:
        return None

    def extremes(self, s: int) -> FloatArray:
        return np.ascontiguousarray((self._matrix(s) @ self.M).T)

    def target(self, s: int, outputs: Outputs) -> FloatArray:
        vectors: FloatArray = self.representation.vectors(outputs) @ self._matrix(s).T
        return vectors

    def _keep(self, s: int) -> None:
        self._means = self._means[s : s + 1]
        self._second = None if self._second is None else self._second[s : s + 1]


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
        counts = np.column_stack([self.weights[codes == j] @ one_hot[codes == j] for j in range(k)])
        sizes = np.bincount(codes, minlength=k).astype(np.float64)
        smoothing = _CELL_ITEMS * len(counts)
        self.table = (counts + _CELL_ITEMS) / (sizes + smoothing)
        # The frequencies that the other validation items give for the cell of each one.
        others = counts[one_hot.argmax(axis=1)]
        rows = np.arange(len(codes))
        others[rows, codes] -= self.weights
        sizes_without = np.tile(sizes, (len(codes), 1))
        sizes_without[rows, codes] -= self.weights
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
        each = self.representation.coarsened(np.eye(self.representation.width(self.table.shape[1])))
        return _of_cells(self.representation, each @ self._ratios(self.table, s), outputs)


class _ComparedVectors(_RatioVectors):
    """Vectors T' W r(x) of methods that compare several histograms, or sums over cells such as distribution functions."""

    shift_counts = 0.5  # as for cells

    def __init__(self, quantifier: SumsQuantifier, statistics: Statistics, shares: FloatArray) -> None:
        super().__init__(quantifier, shares)
        representation, solver = quantifier.representation, quantifier.solver
        self.representation, self.solver, self.is_shared = representation, solver, solver.squares
        self.extremes_count = not solver.squares
        self.frequencies = representation.coarsened(statistics.means())
        self.outputs, k = quantifier.validation_outputs_, shares.shape[1]
        counts = np.zeros((self.frequencies.shape[1], k))
        for rows, cells in self._cells_of(self.outputs):
            for j in range(k):
                of_class = self.codes[rows] == j
                counts[:, j] += self.weights[rows][of_class] @ cells[of_class]
        sizes = np.bincount(self.codes, minlength=k)
        self.partitions = max(1, round(counts.sum() / len(self.codes)))
        # Sums of squares are defined for empty cells too.
        added = 0.0 if solver.squares else _CELL_ITEMS
        self.sizes = sizes + added * len(counts) / self.partitions
        self.table = np.ascontiguousarray(solver.compared((counts + added).T / self.sizes[:, None]).T)
        self._by_cell: dict[bytes, FloatArray] = {}

    def _cells_of(self, outputs: Outputs) -> Iterator[tuple[slice, FloatArray]]:
        """Yield cells of blocks of items, so that many items need no more memory than a block."""
        step = max(1, _BLOCK // self.frequencies.shape[1])
        for start in range(0, outputs.n_items, step):
            rows = np.arange(start, min(start + step, outputs.n_items))
            cells = self.representation.coarsened(self.representation.vectors(outputs.take(rows)))
            yield slice(start, start + len(rows)), cells

    def _weights(self, T: FloatArray, s: int) -> FloatArray:
        """Return the diagonal of W."""
        return np.ones(T.shape[:-1]) if self.solver.squares else 1.0 / (T @ self.inside[s])

    def _vectors(self, compared: FloatArray, s: int) -> FloatArray:
        vectors: FloatArray = (compared * self._weights(self.table, s)) @ (self.table @ self.directions)
        return vectors

    def labelled(self, s: int) -> FloatArray:
        """Return the vectors of the labelled items by the table that the other labelled items give."""
        k = self.table.shape[1]
        derivatives = np.empty((len(self.codes), k))
        for rows, cells in self._cells_of(self.outputs):
            compared, codes = self.solver.compared(cells), self.codes[rows]
            for j in range(k):
                own = np.flatnonzero(codes == j)
                R, T, w = compared[own], self.table, self.weights[rows][own][:, None]
                left = self.sizes[j] - w
                # An only item of its class would leave nothing: it stays.
                without = np.where(left > 1e-9, (self.sizes[j] * T[:, j] - w * R) / np.maximum(left, 1e-9), T[:, j])
                W = 1.0
                if not self.solver.squares:
                    W = 1.0 / (T @ self.inside[s] + self.inside[s, j] * (without - T[:, j]))
                weighted = R * W
                values = weighted @ T
                values[:, j] = (weighted * without).sum(axis=1)
                derivatives[rows.start + own] = values
        return derivatives @ self.directions

    def plugged_in(self, s: int) -> FloatArray | None:
        return self.target(s, self.outputs)

    def target(self, s: int, outputs: Outputs) -> FloatArray:
        width = self.representation.width(self.table.shape[1])
        if isinstance(self.representation, Cells) and width <= _MOST_CELLS:
            key = self.inside[s].tobytes()
            if key not in self._by_cell:  # a stream asks for the same ones batch by batch
                each = self.representation.coarsened(np.eye(width))
                self._by_cell = {key: self._vectors(self.solver.compared(each), s)}
            return _of_cells(self.representation, self._by_cell[key], outputs)
        vectors = np.empty((outputs.n_items, self.directions.shape[1]))
        for rows, cells in self._cells_of(outputs):
            vectors[rows] = self._vectors(self.solver.compared(cells), s)
        return vectors

    def means(self) -> FloatArray:
        if self.is_shared:
            return self._vectors(self.solver.compared(self.frequencies), 0)
        return np.stack([self._vectors(self.solver.compared(q), s) for s, q in enumerate(self.frequencies)])

    def observed(self) -> FloatArray | None:
        if self.partitions > 1:  # counts do not tell in which cells an item is together
            return None
        each = self.solver.compared(np.eye(self.frequencies.shape[1]))
        V, second = self._vectors(each, 0), []
        for s, q in enumerate(self.frequencies):
            V = V if self.is_shared else self._vectors(each, s)
            second.append((V * q[:, None]).T @ V)
        return np.stack(second) - outer_products(self.means())

    def extremes(self, s: int) -> FloatArray:
        k = self.table.shape[1]
        if self.solver.squares:  # as for posteriors: histograms have no scale of their own
            return self._vectors(np.ascontiguousarray(self.table.T), s)
        if len(self.table) != self.frequencies.shape[1]:  # sums over cells: items of posterior 1
            classes = np.arange(k)
            return self.target(s, Outputs.from_posteriors(np.eye(k), classes))
        # An item whose class is certain: its own class's histogram says so, the others say that it is not one of theirs.
        extremes: FloatArray = super().extremes(s)
        if self.partitions > 1:
            others = 1.0 - np.eye(k)
            extremes = extremes + others @ (others / (1.0 - self.inside[s])[:, None]) @ self.directions
        return extremes

    def _keep(self, s: int) -> None:
        self.frequencies = self.frequencies[s : s + 1]


def _of_cells(cells: Any, table: FloatArray, outputs: Outputs) -> FloatArray:
    """Return the vectors of items whose cells have these, a row each: the sum over an item's cells, the mean over folds."""
    parts = (outputs,) if outputs.folds is None else outputs.folds
    vectors, used = np.zeros((outputs.n_items, table.shape[1])), np.asarray(table.any(axis=1))
    for part in parts:
        codes = cells.codes(part).reshape(part.n_items, -1)
        for column in codes.T:
            if used[column].any():  # of several partitions only the coarsest counts
                vectors += table[column]
    vectors /= len(parts)
    return vectors


def item_vectors(quantifier: Quantifier, statistics: Statistics | SampleItems, shares: FloatArray) -> ItemVectors:
    """Return the vectors that the inference of a quantifier's family is made of."""
    if isinstance(quantifier, DensitiesQuantifier) and isinstance(statistics, SampleItems):
        return _DensityVectors(quantifier, statistics, shares)
    if not isinstance(quantifier, SumsQuantifier) or not isinstance(statistics, Statistics):
        raise TypeError(f"No inference for {type(quantifier).__name__} and {type(statistics).__name__}.")
    if quantifier.solver.has_equation and quantifier.solver.depends_on_shares:
        return _EquationVectors(quantifier, statistics, shares)
    if quantifier.solver.has_equation:
        return _RepresentationVectors(quantifier, statistics)
    if quantifier.solver.nested_cells or quantifier.solver.squares:
        return _ComparedVectors(quantifier, statistics, shares)
    return _CellVectors(quantifier, statistics, shares)


def posterior_vectors(
    quantifier: Quantifier, outputs: Outputs, samples: Samples, shares: FloatArray
) -> ItemVectors | None:
    """Return vectors of the likelihood of the posteriors, for methods that solve an equation of their sums; None for others.

    Such a method needs the sums alone, with the same vectors at all shares. Where the items themselves are known, the derivative of
    the likelihood at the estimated shares says more, and its mean is that of the mixture as well.
    """
    if not isinstance(quantifier, SumsQuantifier) or not quantifier.solver.has_equation:
        return None
    kept = quantifier.validation_items()
    if quantifier.needs != {"posteriors"} or kept is None or kept[0].posteriors is None or outputs.posteriors is None:
        return None
    return _PosteriorVectors(quantifier, outputs, samples, shares)


def outer_products(vectors: FloatArray) -> FloatArray:
    """Return the outer product of each vector with itself."""
    outer: FloatArray = vectors[:, :, None] * vectors[:, None, :]
    return outer
