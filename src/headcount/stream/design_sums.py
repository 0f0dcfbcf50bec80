"""`DesignSums`: what variances under a survey design need of each group of a stream, added up exactly and merged by addition.

Without clusters these are sums of squared weights times vectors and their products; with clusters, the total of each cluster.
Weights are split into a factor and a scale (`_design_kernels`), so that sums of weights of any size are whole numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from headcount._typing import AnyArray, FloatArray, IntArray
from headcount.designs import ClusterErrors, DesignMoments
from headcount.exceptions import DataError
from headcount.quantifiers import Statistics
from headcount.quantifiers.representations import sum_weighted
from headcount.stream.cluster_totals import ClusterTotals
from headcount.stream.design_columns import DesignColumns
from headcount.stream.drawn_rows import DrawnRows
from headcount.stream.placed_clusters import PlacedClusters, scale_factor

__all__ = ["DesignSums", "GroupMoments"]

_ITEMS_PER_CALL = 1 << 17
"""Items whose sums have room in 64 bits."""
_SQUARE_BITS = 35
"""Sums of squared factors, each below 2^10, are whole numbers of 2^-35."""


@dataclass(frozen=True, eq=False)
class GroupMoments:
    """What the errors of the shares of a group need of its items.

    Attributes
    ----------
    moments : DesignMoments
        Of all coordinates.
    n : int
        Number of items.
    covariance : array of shape (n_plain, n_plain)
        Weighted covariance of an item's coordinates, those without clusters' indicators.
    kish : float
        The design effect that weights have where they tell nothing of the vectors: n times the sum of squared weights, divided by
        the squared sum (Kish 1965); 1 with clusters, whose totals hold the weights.
    clusters : callable, or None
        Returns hash, stratum and total of each cluster.
    """

    moments: DesignMoments
    n: int
    covariance: FloatArray
    kish: float
    clusters: Callable[[], tuple[AnyArray, IntArray, FloatArray]] | None = None

    def cluster_errors(self, L: FloatArray) -> ClusterErrors:
        """Return what each cluster contributes to the error of the mean of L times the vectors."""
        if self.clusters is None:
            raise TypeError("These items are in no clusters.")
        hashes, strata, totals = self.clusters()
        present = int((self.moments.clusters > 0).sum())
        return ClusterErrors(hashes, self.moments.contributions(L, totals, strata), present)


class DesignSums:
    """Sums of the items of each group by stratum, scale of weights and, if there are clusters, cluster.

    Parameters
    ----------
    columns : DesignColumns
    n_vectors : int
        Coordinates whose products are added up.
    n_more : int
        Further coordinates, of which clusters have totals.
    """

    def __init__(self, columns: DesignColumns, n_vectors: int, n_more: int = 0) -> None:
        self.columns, self.n_vectors, self.n_more = columns, n_vectors, n_more
        self.strata: dict[str, int] = {}
        self._places: dict[tuple[int, int, int], int] = {}
        """Number of each group, stratum and scale."""
        self._items = np.zeros(0, dtype=np.int64)
        self._sums, self._squares = (Statistics.zeros(0, n_vectors, products=True) for _ in range(2))
        self._clusters = ClusterTotals(n_vectors + n_more) if columns.cluster is not None else None

    def __len__(self) -> int:
        return len(self._places)

    @property
    def n_clusters(self) -> int:
        """Rows of clusters, each once for every group, stratum and scale that it has items in."""
        return 0 if self._clusters is None else len(self._clusters)

    def add(self, C: FloatArray, rows: IntArray, codes: IntArray, drawn: DrawnRows) -> None:
        """Add the items of a batch.

        Parameters
        ----------
        C : array of shape (n_vectors + n_more, n_items)
        rows, codes : arrays of int
            The groups, and each item's position among them.
        drawn : DrawnRows
        """
        n = C.shape[1]
        if n == 0:
            return
        places, place, counts = self._places_of(rows, codes, drawn)
        self._items[places] += counts
        factors = np.ones(n) if drawn.factors is None else drawn.factors
        vectors = C[: self.n_vectors]
        for start in range(0, n, _ITEMS_PER_CALL):
            part = slice(start, min(start + _ITEMS_PER_CALL, n))
            block, at, f = vectors[:, part], place[part], factors[part]
            self._sums.add_at(places, sum_weighted(block, at, len(places), f, products=True))
            if self._clusters is None and drawn.factors is not None:
                added = sum_weighted(block, at, len(places), f * f, products=True, bits=_SQUARE_BITS)
                self._squares.add_at(places, added)
        if self._clusters is not None and drawn.clusters is not None:
            self._clusters.add(C, factors, places[place], drawn.clusters)

    def _places_of(self, rows: IntArray, codes: IntArray, drawn: DrawnRows) -> tuple[IntArray, IntArray, IntArray]:
        """Return the numbers of the places of a batch, the position of each item's among them, and their numbers of items."""
        n_strata, least, n_scales = len(drawn.strata), 0, 1
        cell = codes
        if drawn.stratum is not None:
            cell = cell.astype(np.int64) * n_strata + drawn.stratum
        if drawn.scales is not None:
            least, most = drawn.scale_range
            n_scales = most - least + 1
            if n_scales > 1:
                cell = cell.astype(np.int64) * n_scales + (drawn.scales - least)
        counts = np.bincount(cell, minlength=len(rows) * n_strata * n_scales)
        cells = np.flatnonzero(counts)
        group, stratum, scale = np.unravel_index(cells, (len(rows), n_strata, n_scales))
        numbers = [self.strata.setdefault(name, len(self.strata)) for name in drawn.strata]
        keys = zip(rows[group].tolist(), [numbers[s] for s in stratum.tolist()], (scale + least).tolist(), strict=True)
        if len(cells) < len(counts):
            cell = (np.cumsum(counts > 0) - 1)[cell]
        return self._numbered(list(keys)), cell, counts[cells]

    def _numbered(self, keys: list[tuple[int, int, int]]) -> IntArray:
        """Return the numbers of places, making room for those that are new."""
        numbers = np.array([self._places.setdefault(key, len(self._places)) for key in keys], dtype=np.int64)
        n = len(self._places)
        if n > len(self._items):
            self._items = np.pad(self._items, (0, n - len(self._items)))
            self._sums, self._squares = self._sums.grown(n), self._squares.grown(n)
        return numbers

    def merge(self, other: "DesignSums", rows: IntArray) -> None:
        """Add the sums of another stream, whose group g is group ``rows[g]`` here; several may become one."""
        strata = [self.strata.setdefault(name, len(self.strata)) for name in other.strata]
        numbers = self._numbered([(int(rows[g]), strata[s], scale) for g, s, scale in other._places])
        np.add.at(self._items, numbers, other._items)
        self._sums.add_repeatedly_at(numbers, other._sums)
        self._squares.add_repeatedly_at(numbers, other._squares)
        if self._clusters is not None and other._clusters is not None:
            self._clusters.merge(other._clusters, numbers)

    def sizes(self, n_groups: int) -> IntArray:
        """Return the number of items of each group."""
        groups = np.array([group for group, _, _ in self._places], dtype=np.int64)
        return np.bincount(groups, self._items, n_groups).astype(np.int64)

    def _arrays(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return group, stratum (by the order of names) and scale of each place."""
        keys = np.array(list(self._places), dtype=np.int64).reshape(-1, 3)
        order = np.argsort(np.argsort(np.array(list(self.strata), dtype=object)))
        return keys[:, 0], order[keys[:, 1]], keys[:, 2]

    def stratum_items(self) -> dict[str, int]:
        """Return the number of items of each stratum, by name in order."""
        _, stratum, _ = self._arrays()
        counts = np.bincount(stratum, self._items, len(self.strata)).astype(int).tolist()
        return dict(zip(sorted(self.strata), counts, strict=True))

    def population(self) -> FloatArray | None:
        """Return the number of items of the population in each stratum, in the order of names; None: it is not known."""
        return self.columns.population_of(self.stratum_items())

    def population_weights(self) -> Callable[[int], float] | None:
        """Return a function for how many items of the population a group stands for; None where nothing says so."""
        sizes = self.population()
        if self.columns.weight is None and sizes is None:
            return None
        group, stratum, scale = self._arrays()
        if self.columns.weight is not None:
            weights = self._sums.weights * scale_factor(scale)
        else:
            drawn = np.array(list(self.stratum_items().values()), dtype=np.float64)
            weights = self._items * (np.asarray(sizes) / drawn)[stratum]
        in_order = np.lexsort((scale, stratum, group))
        groups = group[in_order]
        return lambda g: float(weights[in_order[slice(*np.searchsorted(groups, [g, g + 1]))]].sum())

    def check(self) -> None:
        """Raise if all items are of one cluster, or if the population is too small."""
        self.population()
        if self._clusters is None:
            return
        clusters = PlacedClusters(self._clusters, *self._arrays(), len(self.strata))
        if clusters.is_one:
            raise DataError(
                f"All items are in one cluster (column {self.columns.cluster!r}): how much clusters differ can't be told from one. "
                "At least 2 are needed, and 30 or more for intervals that hold."
            )

    def cluster_in_several_strata(self) -> tuple[int, list[str]] | None:
        """Return the hash of a cluster that lies in several strata, and the names of two of these; None if there is none."""
        if self._clusters is None or self.columns.stratum is None:
            return None
        hashes, strata = PlacedClusters(self._clusters, *self._arrays(), len(self.strata)).by_hash()
        twice = np.flatnonzero((hashes[1:] == hashes[:-1]) & (strata[1:] != strata[:-1]))
        if not twice.size:
            return None
        names = sorted(self.strata)
        return int(hashes[twice[0]]), sorted([names[strata[twice[0]]], names[strata[twice[0] + 1]]])

    def moments(self) -> Callable[[int], GroupMoments]:
        """Return a function for what the errors of the shares of a group need."""
        group, stratum, scale = self._arrays()
        factor = scale_factor(scale)
        n_strata, sizes = len(self.strata), self.population()
        drawn = np.array(list(self.stratum_items().values()), dtype=np.float64)
        parts = None if sizes is None else drawn / sizes
        first, second = _extended(self._sums, factor)
        clusters = None if self._clusters is None else PlacedClusters(self._clusters, group, stratum, scale, n_strata)
        totals_of = None if clusters is None else clusters.moments()
        square_second = second
        if self._clusters is None and self.columns.weight is not None:
            _, square_second = _extended(self._squares, factor**2)

        in_order = np.lexsort((scale, stratum, group))  # sums of floats depend on their order
        groups = group[in_order]

        def of_group(g: int) -> GroupMoments:
            at = in_order[slice(*np.searchsorted(groups, [g, g + 1]))]
            items = np.bincount(stratum[at], self._items[at], n_strata).astype(np.float64)
            total, products = first[at].sum(axis=0), second[at].sum(axis=0)
            mean, n = total[1:] / total[0], int(items.sum())
            covariance = products[1:, 1:] / total[0] - np.outer(mean, mean)
            if clusters is not None and totals_of is not None:
                moments = DesignMoments(totals_of[0][g], items, totals_of[1][g], totals_of[2][g], parts)
                return GroupMoments(moments, n, covariance, 1.0, partial(clusters.of_group, g))
            of_strata = np.zeros((n_strata, *first.shape[1:])), np.zeros((n_strata, *second.shape[1:]))
            np.add.at(of_strata[0], stratum[at], first[at])
            np.add.at(of_strata[1], stratum[at], square_second[at])
            moments = DesignMoments(items, items, of_strata[0], of_strata[1], parts)
            kish = n * float(square_second[at, 0, 0].sum()) / float(total[0]) ** 2
            return GroupMoments(moments, n, covariance, kish)

        return of_group


def _extended(statistics: Statistics, factor: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return sums of (1, vector) and of its outer products with itself, of each place."""
    weights, sums = statistics.weights, statistics.sums
    first = np.column_stack([weights, sums])
    d = first.shape[1]
    second = np.empty((len(first), d, d))
    second[:, 0, :] = second[:, :, 0] = first
    second[:, 1:, 1:] = statistics.products()
    return first * factor[:, None], second * factor[:, None, None]
