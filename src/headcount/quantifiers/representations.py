"""Representations of an item: cells (one code an item) and vectors, and the two that most methods use.

A representation maps an item to a vector; the statistic of a sample is the sum of these vectors. It may offer a kernel
that adds up a batch of posteriors stored by class (`reduce_columns`), the fast path of streaming; without one, a
stream calls `reduce` like everybody else.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import reduce, wraps
from operator import add
from typing import Any

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.exceptions import DataError
from headcount.learners import Need, Outputs
from headcount.protocols import Samples
from headcount.protocols.exact import ExactSums, to_units
from headcount.quantifiers.folds import divided
from headcount.quantifiers.statistics import Statistics

__all__ = ["Cells", "Decisions", "Posteriors", "Representation", "Vectors", "sum_weighted"]


def _averaged_over_folds(vectors: Callable[[Any, Outputs], FloatArray]) -> Callable[[Any, Outputs], FloatArray]:
    """Return `Representation.vectors`, written for the outputs of one classifier, for those of folds too: the mean over folds."""

    @wraps(vectors)
    def averaged(self: Any, outputs: Outputs) -> FloatArray:
        if outputs.folds is None:
            return vectors(self, outputs)
        mean: FloatArray = reduce(add, (vectors(self, fold) for fold in outputs.folds)) / len(outputs.folds)
        return mean

    return averaged


class Representation(ABC):
    """Maps items to vectors and adds them up over samples.

    A subclass is written for the outputs of one classifier. With cross-fitting an item's vector is the mean of those that the fold
    classifiers' outputs give.
    """

    needs: Need | None = None
    """What must be known of each item; None: nothing."""
    has_vectors: bool = True
    """Whether vectors are any numbers; else they are cells, 0 or 1."""
    is_binary: bool = False
    """Whether the coordinates are 0 or 1: few items of a class may then all be alike, though the next one need not be."""
    sums_to_one: bool = False
    """Whether the coordinates of each vector are shares: not negative, with sum 1."""
    is_partition: bool = False
    """Whether each item is in exactly one cell, so that counts give the second moments; asked where products are not added up."""
    adds_products: bool = True
    """Whether products of two coordinates are added up where intervals ask for them; with very many coordinates they are not."""
    numbers_per_part: int = 1 << 17
    """Sums of many samples that are worked on at a time: so many stay in the cache."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "sql" not in vars(cls) and not {"vectors", "codes"}.isdisjoint(vars(cls)):
            setattr(cls, "sql", Representation.sql)  # noqa: B010 (what is computed in another way is not told by the inherited SQL)
        if "columns" not in vars(cls) and "vectors" in vars(cls):
            setattr(cls, "columns", Representation.columns)  # noqa: B010 (nor by inherited columns)
        if "vectors" in vars(cls):
            setattr(cls, "vectors", _averaged_over_folds(cls.vectors))  # noqa: B010 (mypy knows no method that is wrapped)

    @abstractmethod
    def width(self, n_classes: int) -> int:
        """Return the number of coordinates."""

    @abstractmethod
    def vectors(self, outputs: Outputs) -> FloatArray:
        """Return the vector of each item, shape (n_items, n_coordinates)."""

    @abstractmethod
    def reduce(self, outputs: Outputs, samples: Samples, products: bool = False) -> Statistics:
        """Add up the vectors of each sample's items and, if asked for, the products of their coordinates."""

    # Where vectors are made of validation items, as distances to them, the vector of such an item is made of the others.

    def validation_vectors(self, outputs: Outputs, codes: IntArray) -> FloatArray:
        """Return the vector of each validation item; ``codes`` are their classes."""
        return self.vectors(outputs)

    def reduce_validation(self, outputs: Outputs, codes: IntArray, samples: Samples) -> Statistics:
        """Add up the vectors of samples of the validation items."""
        return self.reduce(outputs, samples)

    def reducer(self, outputs: Outputs) -> Callable[[Samples, bool], Statistics]:
        """Return `reduce` for these items: what does not depend on the samples is computed once."""
        return lambda samples, products: self.reduce(outputs, samples, products)

    def reduce_columns(
        self, C: FloatArray, groups: IntArray, n_groups: int, products: bool = False
    ) -> Statistics | None:
        """Add up a batch of posteriors, a row each class, over groups of items; None: there is no kernel for it."""
        return None

    def reduce_weighted_columns(
        self, C: FloatArray, groups: IntArray, n_groups: int, factors: FloatArray, products: bool = False
    ) -> Statistics | None:
        """Like `reduce_columns`, where each item counts as often as its factor says: above 0 and below 32."""
        return None

    def columns(self, C: FloatArray) -> FloatArray | None:
        """Return the vectors of a batch of posteriors, a row each coordinate; None: they are not made without `Outputs`."""
        return None

    def sql(self, n_classes: int) -> tuple[str, ...] | None:
        """Return SQL for what `reduce_columns` adds up, to the bit; None: a database can't compute it.

        Of cells there is an expression for the code in each partition, of vectors one for each coordinate. Their names are ``p0``,
        ``p1``, .. (the posteriors, not negative), ``largest`` and ``decision`` (the first class with the largest); they are made of
        ``+ - *``, comparisons, CASE and FLOOR, of values that are not negative. A number with a decimal point is a double, else an
        integer.
        """
        return None

    def second_moments(self, statistics: Statistics) -> FloatArray:
        """Return the sums of outer products of the vectors of each sample."""
        return statistics.products()

    def projected(self, outputs: Outputs, A: FloatArray) -> FloatArray:
        """Return A times the vector of each item, for intervals; with many coordinates the vectors need not be made."""
        projected: FloatArray = self.vectors(outputs) @ A.T
        return projected

    def coarsened(self, vectors: FloatArray) -> FloatArray:
        """Return the cells of one partition out of vectors or their sums, for intervals: the coarsest, if there are several."""
        return vectors


class Vectors(Representation):
    """An item is a vector of bounded numbers; a subclass writes `vectors` and `width`."""

    def reduce(self, outputs: Outputs, samples: Samples, products: bool = False) -> Statistics:
        """Add up the vectors of each sample's items and, if asked for, the products of their coordinates."""
        V = self.vectors(outputs)
        triangle = samples.sum_exact(to_units(lower_products(V))) if products and self.adds_products else None
        return Statistics(samples.sum_exact(to_units(V)), exact_sizes(samples), triangle)


class Cells(Representation):
    """An item falls into one cell of a partition, or one of each of several; a subclass writes `codes` and `width`.

    With one partition the counts give the second moments too: products of different cells are 0. With folds they do not.
    """

    has_vectors = False
    is_binary = True

    @abstractmethod
    def codes(self, outputs: Outputs) -> IntArray:
        """Return the cell of each item, or a row of several."""

    def vectors(self, outputs: Outputs) -> FloatArray:
        """Return 1 for the cells that each item falls into, else 0."""
        codes = self.codes(outputs).reshape(outputs.n_items, -1)
        vectors = np.zeros((outputs.n_items, self.width(len(outputs.classes))))
        np.put_along_axis(vectors, codes.astype(np.int64), 1.0, axis=1)
        return vectors

    def reduce(self, outputs: Outputs, samples: Samples, products: bool = False) -> Statistics:
        """Count the items in each cell; with folds, each fold's cell counts 1 / K, and products are added up if asked for."""
        return self._reduced(outputs, self._codes_of_folds(outputs), samples, products)

    def reducer(self, outputs: Outputs) -> Callable[[Samples, bool], Statistics]:
        """Return `reduce` for these items, whose cells are computed once."""
        if type(self).reduce is not Cells.reduce:
            return super().reducer(outputs)
        codes = self._codes_of_folds(outputs)
        return lambda samples, products: self._reduced(outputs, codes, samples, products)

    def _codes_of_folds(self, outputs: Outputs) -> list[IntArray]:
        return [self.codes(fold) for fold in outputs.folds or (outputs,)]

    def _reduced(self, outputs: Outputs, codes: list[IntArray], samples: Samples, products: bool) -> Statistics:
        width, folds = self.width(len(outputs.classes)), outputs.folds
        if folds is None:
            return Statistics(samples.count_exact(codes[0], width), exact_sizes(samples))
        if samples.factors is None:
            counts = reduce(add, (samples.count_exact(one, width) for one in codes)).divided(len(folds))
        else:
            part = divided(samples, len(folds))
            counts = reduce(add, (part.count_exact(one, width) for one in codes))
        triangle = None
        if (
            products and self.adds_products and codes[0].ndim == 1
        ):  # an item may be in several cells in part: counts do not give the products
            triangle = samples.sum_exact(to_units(lower_products(self.vectors(outputs))))
        return Statistics(counts, exact_sizes(samples), triangle)

    def second_moments(self, statistics: Statistics) -> FloatArray:
        """Return the sums of outer products of the vectors of each sample."""
        if statistics.has_products:
            return statistics.products()
        sums = statistics.sums
        if np.abs(sums.sum(axis=1) - statistics.weights).max(initial=0.0) > 1e-6:
            raise DataError(
                f"{type(self).__name__} puts an item into several cells, so that counts do not give second moments: there is no "
                "interval."
            )
        moments: FloatArray = sums[:, :, None] * np.eye(sums.shape[1])
        return moments


class Decisions(Cells):
    """An item is the unit vector of the class decided for."""

    needs: Need = "decisions"
    sums_to_one = True

    def width(self, n_classes: int) -> int:
        """Return the number of coordinates: one for each class."""
        return n_classes

    def codes(self, outputs: Outputs) -> IntArray:
        """Return the decided class of each item."""
        return outputs.need(self.needs)

    def reduce_columns(self, C: FloatArray, groups: IntArray, n_groups: int, products: bool = False) -> Statistics:
        """Count the items of each group by the class of their largest posterior."""
        return count_cells(C, np.empty(0), groups, n_groups)

    def reduce_weighted_columns(
        self, C: FloatArray, groups: IntArray, n_groups: int, factors: FloatArray, products: bool = False
    ) -> Statistics:
        """Add up the factors of the items of each group by the class of their largest posterior."""
        return count_cells(C, np.empty(0), groups, n_groups, factors)

    def sql(self, n_classes: int) -> tuple[str, ...]:
        """Return SQL for the decision."""
        return ("decision",)


class Posteriors(Vectors):
    """An item is the vector of its posteriors."""

    needs: Need = "posteriors"
    sums_to_one = True

    def width(self, n_classes: int) -> int:
        """Return the number of coordinates: one for each class."""
        return n_classes

    def vectors(self, outputs: Outputs) -> FloatArray:
        """Return the vector of each item."""
        return outputs.need(self.needs)

    def reduce_columns(self, C: FloatArray, groups: IntArray, n_groups: int, products: bool = False) -> Statistics:
        """Add up the posteriors of each group and, if asked for, their products."""
        from headcount.quantifiers import _columns

        k = len(C)
        sums = np.zeros((k, n_groups), dtype=np.int64)
        triangle = np.zeros((k * (k + 1) // 2 if products else 0, n_groups), dtype=np.int64)
        sizes = np.zeros(n_groups, dtype=np.int64)
        _columns.sum_posteriors(C, groups, sums, triangle, sizes)
        second = ExactSums.from_units(triangle.T) if products else None
        return Statistics(ExactSums.from_units(sums.T), ExactSums.from_counts(sizes), second)

    def reduce_weighted_columns(
        self, C: FloatArray, groups: IntArray, n_groups: int, factors: FloatArray, products: bool = False
    ) -> Statistics:
        """Add up the posteriors of each group times their factors and, if asked for, their products."""
        return sum_weighted(C, groups, n_groups, factors, products)

    def columns(self, C: FloatArray) -> FloatArray:
        """Return the posteriors themselves."""
        return C

    def sql(self, n_classes: int) -> tuple[str, ...]:
        """Return SQL for the posteriors."""
        return tuple(f"p{j}" for j in range(n_classes))


def lower_products(V: FloatArray) -> FloatArray:
    """Return the products of two coordinates of each vector: the lower triangle, row by row."""
    rows, columns = np.tril_indices(V.shape[1])
    products: FloatArray = V[:, rows] * V[:, columns]
    return products


def exact_sizes(samples: Samples) -> ExactSums:
    """Return the total weight of each sample as an exact sum."""
    if samples.factors is None:
        return ExactSums.from_counts(samples.sizes)
    return samples.count_exact(np.zeros(samples.bound, dtype=np.int32), 1)[:, 0]


def count_cells(
    C: FloatArray, cuts: FloatArray, groups: IntArray, n_groups: int, factors: FloatArray | None = None
) -> Statistics:
    """Count items by the class of their largest posterior and by how many of the cuts that posterior reaches."""
    from headcount.quantifiers import _columns

    counts = np.zeros((n_groups, len(C) * (len(cuts) + 1)), dtype=np.int64)
    _columns.count_cells(C, groups, cuts, factor_units(factors), counts)
    return counted(counts, counts.sum(axis=1), factors is not None)


def factor_units(factors: FloatArray | None) -> IntArray:
    """Return factors in units of 2^-40; an empty array where every item counts 1."""
    return np.empty(0, dtype=np.int64) if factors is None else to_units(factors, 32.0).astype(np.int64)


def counted(counts: IntArray, sizes: IntArray, in_units: bool) -> Statistics:
    """Return statistics of counts of items, or of sums of factors in units of 2^-40."""
    exact = ExactSums.from_units if in_units else ExactSums.from_counts
    return Statistics(exact(counts), exact(sizes))


def sum_weighted(
    C: FloatArray, rows: IntArray, n_rows: int, factors: FloatArray, products: bool, bits: int = 40
) -> Statistics:
    """Add up columns of coordinates (one row each) times factors, by row of the result, to whole numbers of 2^-bits.

    Coordinates times factors must be less than 2^(45 - bits), and at most 2^17 items are added up in a call.
    """
    from headcount.quantifiers import _columns

    d = len(C)
    sums = np.zeros((d, n_rows), dtype=np.int64)
    triangle = np.zeros((d * (d + 1) // 2 if products else 0, n_rows), dtype=np.int64)
    totals = np.zeros(n_rows, dtype=np.int64)
    _columns.sum_weighted(C, rows, factors, 2.0**bits, sums, triangle, totals)
    second = ExactSums.from_units(triangle.T, bits) if products else None
    return Statistics(ExactSums.from_units(sums.T, bits), ExactSums.from_units(totals, bits), second)
