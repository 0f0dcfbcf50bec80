"""`DesignSums`: what variances under a survey design need of each group of a stream, added up exactly and merged by addition.

Without clusters these are sums of squared weights times vectors and their products; with clusters, the total of each cluster.
Weights are split into a factor and a scale (`_design_kernels`), so that sums of weights of any size are whole numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount._validation import quoted
from headcount.designs import DesignMoments
from headcount.exceptions import DataError
from headcount.quantifiers import Statistics
from headcount.quantifiers.representations import sum_weighted
from headcount.stream.cluster_totals import ClusterTotals
from headcount.stream.design_columns import DesignColumns
from headcount.stream.drawn_rows import DrawnRows

__all__ = ["DesignSums", "GroupMoments", "scale_factor"]

_ITEMS_PER_CALL = 1 << 17
"""Items whose sums have room in 64 bits."""
_SQUARE_BITS = 35
"""Sums of squared factors, each below 2^10, are whole numbers of 2^-35."""


def scale_factor(scale: Any) -> Any:
    """Return what a factor of this scale is multiplied by to be a weight."""
    return np.exp2(9.0 * np.asarray(scale))


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
    hashes, contributions : arrays of shape (n_clusters,) and (n_clusters, 1 + d), or None
        The clusters, in the order of their hashes, with their totals.
    strata : array of int, shape (n_clusters,), or None
        Stratum of each cluster, a position among those of the moments.
    """

    moments: DesignMoments
    n: int
    covariance: FloatArray
    kish: float
    hashes: Any = None
    contributions: FloatArray | None = None
    strata: IntArray | None = None


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
        self.n_groups = 0
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
        places, place = self._places_of(rows, codes, drawn)
        factors = np.ones(n) if drawn.factors is None else drawn.factors
        vectors = C[: self.n_vectors]
        for start in range(0, n, _ITEMS_PER_CALL):
            part = slice(start, min(start + _ITEMS_PER_CALL, n))
            block, at, f = vectors[:, part], place[part], factors[part]
            self._items[places] += np.bincount(at, minlength=len(places))
            self._sums.add_at(places, sum_weighted(block, at, len(places), f, products=True))
            if self._clusters is None and drawn.factors is not None:
                added = sum_weighted(block, at, len(places), f * f, products=True, bits=_SQUARE_BITS)
                self._squares.add_at(places, added)
        if self._clusters is not None and drawn.clusters is not None:
            self._clusters.add(C, factors, places[place], drawn.clusters)

    def _places_of(self, rows: IntArray, codes: IntArray, drawn: DrawnRows) -> tuple[IntArray, IntArray]:
        """Return the numbers of the places of a batch, and the position of each item's among them."""
        n_strata, least, n_scales = len(drawn.strata), 0, 1
        cell = codes.astype(np.int64)
        if drawn.stratum is not None:
            cell = cell * n_strata + drawn.stratum
        if drawn.scales is not None:
            least = int(drawn.scales.min())
            n_scales = int(drawn.scales.max()) - least + 1
            if n_scales > 1:
                cell = cell * n_scales + (drawn.scales - least)
        present = np.bincount(cell, minlength=len(rows) * n_strata * n_scales) > 0
        cells = np.flatnonzero(present)
        group, stratum, scale = np.unravel_index(cells, (len(rows), n_strata, n_scales))
        numbers = [self.strata.setdefault(name, len(self.strata)) for name in drawn.strata]
        keys = zip(rows[group].tolist(), [numbers[s] for s in stratum.tolist()], (scale + least).tolist(), strict=True)
        return self._numbered(list(keys)), (np.cumsum(present) - 1)[cell]

    def _numbered(self, keys: list[tuple[int, int, int]]) -> IntArray:
        """Return the numbers of places, making room for those that are new."""
        numbers = np.array([self._places.setdefault(key, len(self._places)) for key in keys], dtype=np.int64)
        n = len(self._places)
        if n > len(self._items):
            self._items = np.pad(self._items, (0, n - len(self._items)))
            self._sums, self._squares = self._sums.grown(n), self._squares.grown(n)
            self.n_groups = max(self.n_groups, 1 + max(group for group, _, _ in keys))
        return numbers

    def merge(self, other: "DesignSums", rows: IntArray) -> None:
        """Add the sums of another stream, whose group g is group ``rows[g]`` here; several may become one."""
        strata = [self.strata.setdefault(name, len(self.strata)) for name in other.strata]
        numbers = self._numbered([(int(rows[g]), strata[s], scale) for g, s, scale in other._places])
        np.add.at(self._items, numbers, other._items)
        for place, number in enumerate(numbers.tolist()):
            one, here = np.array([place]), np.array([number])
            self._sums.add_at(here, other._sums[one])
            self._squares.add_at(here, other._squares[one])
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
        in_order = np.lexsort((scale, stratum))
        return lambda g: float(weights[in_order[group[in_order] == g]].sum())

    def check(self) -> None:
        """Raise if a cluster lies in two strata, if all items are of one cluster, or if the population is too small."""
        self.population()
        if self._clusters is None:
            return
        clusters = _Clusters(self._clusters, *self._arrays())
        hashes, strata = clusters.by_hash()
        same = hashes[1:] == hashes[:-1]
        if not (~same).any():
            raise DataError(
                f"All items are in one cluster (column {self.columns.cluster!r}): how much clusters differ can't be told from one. "
                "At least 2 are needed, and 30 or more for intervals that hold."
            )
        twice = np.flatnonzero(same & (strata[1:] != strata[:-1]))
        if twice.size:
            names = sorted(self.strata)
            both = [names[strata[twice[0]]], names[strata[twice[0] + 1]]]
            raise DataError(
                f"Column {self.columns.cluster!r}: a cluster lies in the strata {quoted(sorted(both))}, but a cluster must lie in "
                f"one (column {self.columns.stratum!r}). If clusters of different strata have the same names, put the stratum into "
                "the name."
            )

    def moments(self) -> Callable[[int], GroupMoments]:
        """Return a function for what the errors of the shares of a group need."""
        group, stratum, scale = self._arrays()
        factor = scale_factor(scale)
        n_strata, sizes = len(self.strata), self.population()
        drawn = np.array(list(self.stratum_items().values()), dtype=np.float64)
        parts = None if sizes is None else drawn / sizes
        first, second = _extended(self._sums, factor)
        clusters = None if self._clusters is None else _Clusters(self._clusters, group, stratum, scale)
        square_second = second
        if self._clusters is None and self.columns.weight is not None:
            _, square_second = _extended(self._squares, factor**2)

        in_order = np.lexsort((scale, stratum))  # sums of floats depend on their order

        def of_group(g: int) -> GroupMoments:
            at = in_order[group[in_order] == g]
            items = np.bincount(stratum[at], self._items[at], n_strata).astype(np.float64)
            total, products = first[at].sum(axis=0), second[at].sum(axis=0)
            mean, n = total[1:] / total[0], int(items.sum())
            covariance = products[1:, 1:] / total[0] - np.outer(mean, mean)
            if clusters is not None:
                hashes, strata, totals = clusters.of_group(g)
                moments = DesignMoments.of_totals(totals, strata, items, parts)
                return GroupMoments(moments, n, covariance, 1.0, hashes, totals, strata)
            of_strata = np.zeros((n_strata, *first.shape[1:])), np.zeros((n_strata, *second.shape[1:]))
            np.add.at(of_strata[0], stratum[at], first[at])
            np.add.at(of_strata[1], stratum[at], square_second[at])
            moments = DesignMoments(items, items, of_strata[0], of_strata[1], parts)
            kish = n * float(square_second[at, 0, 0].sum()) / float(total[0]) ** 2
            return GroupMoments(moments, n, covariance, kish)

        return of_group


class _Clusters:
    """Totals of the clusters of each group, in the order of strata and hashes, with the scales of weights added up."""

    def __init__(self, clusters: ClusterTotals, group: IntArray, stratum: IntArray, scale: IntArray) -> None:
        self._clusters, self._group, self._stratum, self._factor = clusters, group, stratum, scale_factor(scale)
        hashes, places = clusters.hashes, clusters.places
        if len(np.unique(scale)) > 1:
            self._by_hash = np.lexsort((scale[places], hashes))
        else:
            self._by_hash = np.argsort(hashes)
        # Sorted once more by group and stratum: numpy sorts 16 bits by radix.
        rank = np.empty(len(group), dtype=np.int64)
        rank[np.lexsort((stratum, group))] = np.arange(len(group))
        starts_anew = np.append(True, (np.diff(np.sort(group * (stratum.max(initial=0) + 1) + stratum)) > 0))
        rank = (np.cumsum(starts_anew) - 1)[rank]
        narrow = rank.astype(np.int16) if len(rank) < 2**15 else rank
        self._order = self._by_hash[np.argsort(narrow[places[self._by_hash]], kind="stable")]
        self._sorted_groups = group[places[self._order]]

    def by_hash(self) -> tuple[Any, IntArray]:
        """Return hash and stratum of all rows, in the order of hashes."""
        return self._clusters.hashes[self._by_hash], self._stratum[self._clusters.places[self._by_hash]]

    def of_group(self, g: int) -> tuple[Any, IntArray, FloatArray]:
        """Return hash, stratum and total of each cluster of a group."""
        rows = self._order[slice(*np.searchsorted(self._sorted_groups, [g, g + 1]))]
        hashes, places = self._clusters.hashes[rows], self._clusters.places[rows]
        strata = self._stratum[places]
        totals = self._clusters.values(rows) * self._factor[places][:, None]
        new = np.append(True, (hashes[1:] != hashes[:-1]) | (strata[1:] != strata[:-1]))
        if new.all():
            return hashes, strata, totals
        starts = np.flatnonzero(new)
        return hashes[starts], strata[starts], np.add.reduceat(totals, starts, axis=0)


def _extended(statistics: Statistics, factor: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return sums of (1, vector) and of its outer products with itself, of each place."""
    weights, sums = statistics.weights, statistics.sums
    first = np.column_stack([weights, sums])
    d = first.shape[1]
    second = np.empty((len(first), d, d))
    second[:, 0, :] = second[:, :, 0] = first
    second[:, 1:, 1:] = statistics.products()
    return first * factor[:, None], second * factor[:, None, None]
