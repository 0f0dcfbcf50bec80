"""`SurveyDesign`: weights, strata and clusters of items, and the size of the population that they were drawn from."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from headcount._labels import label_text
from headcount._typing import AnyArray, FloatArray, IntArray
from headcount._validation import quoted
from headcount.exceptions import DataError

__all__ = ["SurveyDesign", "check_design", "population_of_strata"]


class SurveyDesign:
    """How items were drawn, as survey statisticians describe it (R's ``svydesign``: ids, strata, weights, fpc).

    Pass it to ``fit`` for labelled items and to `estimate` for new ones. Intervals then count what clusters, weights and strata do
    to the errors, by linearisation; shares and class profiles are weighted.

    Parameters
    ----------
    weights : array of shape (n_items,), optional
        Sampling or post-stratification weights, above 0. An item of weight 3 stands for three items of the population; all weights
        may be multiplied by a number. Without weights all items weigh the same.
    strata : array of shape (n_items,), optional
        The stratum that each item was drawn from.
    clusters : array of shape (n_items,), optional
        The primary sampling unit of each item, such as the author of a review: items of one cluster were drawn together and are
        alike. A cluster lies in one stratum.
    population_size : int, or mapping of stratum to int, optional
        Number of items in the population, or in each stratum of it. Errors are smaller by the part of the population that was drawn
        (finite population correction). Without it the population is infinite.
    population_clusters : int, or mapping of stratum to int, optional
        Number of clusters in the population, or in each stratum of it, drawn or not: the ``fpc`` of R's ``svydesign`` where there
        are clusters. Give it, rather than ``population_size``, if only some items of each drawn cluster are at hand; if whole
        clusters are, of about equal sizes, both say the same. With both, this one is corrected for.

    References
    ----------
    Lumley (2004). Analysis of complex survey samples. Journal of Statistical Software 9(8).
    Binder (1983). On the variances of asymptotically normal estimators from complex surveys. International Statistical Review 51.

    Examples
    --------
    >>> design = SurveyDesign(clusters=["ann", "ann", "bob", "cat"])
    >>> design
    SurveyDesign(4 items in 3 clusters)
    >>> SurveyDesign(weights=[1.0, 0.0])
    Traceback (most recent call last):
        ...
    headcount.exceptions.DataError: Item 1 has the weight 0: weights must be finite and above 0. Leave out items that count nothing.
    """

    def __init__(
        self,
        weights: Any = None,
        strata: Any = None,
        clusters: Any = None,
        population_size: Any = None,
        population_clusters: Any = None,
    ) -> None:
        self.weights: FloatArray | None = None if weights is None else _checked_weights(weights)
        self.strata, self.stratum_names = _codes(strata, "strata")
        self.clusters, self.cluster_names = _codes(clusters, "clusters")
        lengths = {
            name: len(given)
            for name, given in (("weights", self.weights), ("strata", self.strata), ("clusters", self.clusters))
            if given is not None
        }
        if not lengths:
            raise DataError("A survey design needs weights, strata or clusters: one of each for every item.")
        if len(set(lengths.values())) > 1:
            raise DataError(f"One value for each item is needed; there are {_listed(lengths)}.")
        self.n_items: int = next(iter(lengths.values()))
        self._check_nested()
        if population_clusters is not None and self.clusters is None:
            raise DataError(
                "population_clusters is the number of clusters in the population, but the design has no clusters: give clusters, "
                "or population_size."
            )
        codes = self.item_strata
        of_items = np.bincount(codes).astype(np.float64)
        of_clusters = np.bincount(codes[np.unique(self.item_clusters, return_index=True)[1]]).astype(np.float64)
        names = self.stratum_names if self.strata is not None else None
        self.population_size: FloatArray | None = population_of_strata(population_size, of_items, names, "items")
        in_clusters = population_of_strata(population_clusters, of_clusters, names, "clusters")
        # The part of each stratum's population that was drawn.
        self.fractions: FloatArray | None = None
        if in_clusters is not None:
            self.fractions = of_clusters / in_clusters
        elif self.population_size is not None:
            self.fractions = of_items / self.population_size

    def __repr__(self) -> str:
        parts = [f"{self.n_items:,} items"]
        if self.clusters is not None:
            parts.append(f"in {len(np.unique(self.clusters)):,} clusters")
        if self.strata is not None:
            parts.append(f"in {len(np.unique(self.strata)):,} strata")
        return f"SurveyDesign({' '.join(parts)}{', weighted' if self.weights is not None else ''})"

    def take(self, rows: IntArray) -> "SurveyDesign":
        """Return the design of some of the items, such as those of a group: as large a part of their population was drawn."""
        part = SurveyDesign._coded(
            None if self.weights is None else self.weights[rows],
            None if self.strata is None else self.strata[rows],
            None if self.clusters is None else self.clusters[rows],
            self.population_size,
            len(rows),
            self.fractions,
        )
        part.stratum_names, part.cluster_names = self.stratum_names, self.cluster_names
        return part

    def random_part(self, rows: IntArray) -> "SurveyDesign":
        """Return the design of items that were drawn at random out of these: a smaller part of the population."""
        part = self.take(rows)
        if part.fractions is not None:
            part.fractions = part.fractions * min(len(rows) / self.n_items, 1.0)
        return part

    def of_infinite_population(self) -> "SurveyDesign":
        """Return the same design without the size of the population."""
        endless = self.take(np.arange(self.n_items))
        endless.population_size = endless.fractions = None
        return endless

    @classmethod
    def _coded(
        cls,
        weights: FloatArray | None,
        strata: IntArray | None,
        clusters: IntArray | None,
        sizes: FloatArray | None,
        n_items: int,
        fractions: FloatArray | None = None,
    ) -> "SurveyDesign":
        """Return a design of numbered strata and clusters, whose names are not kept.

        ``sizes``: items in the population of each stratum; ``fractions``: the part of it that was drawn, by default these items.
        """
        coded = object.__new__(cls)
        coded.weights, coded.strata, coded.clusters, coded.population_size = weights, strata, clusters, sizes
        coded.stratum_names = coded.cluster_names = np.empty(0, dtype=object)
        coded.n_items = n_items
        if fractions is None and sizes is not None:
            fractions = np.minimum(np.bincount(coded.item_strata, minlength=len(sizes)) / sizes, 1.0)
        coded.fractions = fractions
        return coded

    def require(self, n_items: int, what: str) -> None:
        """Raise unless the design is of so many items."""
        if self.n_items != n_items:
            raise DataError(
                f"The design is of {self.n_items:,} items, but there are {n_items:,} {what}: one value for each."
            )

    @property
    def item_weights(self) -> FloatArray:
        """The weight of each item; ones, where there are none."""
        return np.ones(self.n_items) if self.weights is None else self.weights

    @property
    def item_clusters(self) -> IntArray:
        """The cluster of each item as a number; without clusters each item is one."""
        return np.arange(self.n_items) if self.clusters is None else self.clusters

    @property
    def cluster_keys(self) -> AnyArray:
        """The name of each numbered cluster as a text, by which clusters of several samples are told to be the same."""
        if not len(self.cluster_names):  # of a design whose names are not kept
            return np.arange(self.item_clusters.max(initial=-1) + 1).astype(str).astype(object)
        return np.array([label_text(name) for name in self.cluster_names.tolist()], dtype=object)

    @property
    def item_strata(self) -> IntArray:
        """The stratum of each item as a number; without strata all items are in one."""
        return np.zeros(self.n_items, dtype=np.int64) if self.strata is None else self.strata

    @property
    def n_clusters(self) -> int:
        """Number of clusters that have items."""
        return self.n_items if self.clusters is None else len(np.unique(self.clusters))

    def _check_nested(self) -> None:
        """Raise if a cluster lies in two strata, or if clusters do not tell how much they differ."""
        if self.clusters is not None and len(self.cluster_names) < 2:
            raise DataError(
                f"All items are in one cluster, {quoted(self.cluster_names)}: how much clusters differ can't be told from one. At "
                "least 2 are needed, and 30 or more for intervals that hold."
            )
        if self.clusters is not None and self.strata is not None:
            pairs = np.unique(np.column_stack([self.clusters, self.strata]), axis=0)
            twice = np.flatnonzero(np.bincount(pairs[:, 0]) > 1)
            if twice.size:
                raise DataError(
                    f"The cluster {quoted(self.cluster_names[twice[:1]])} lies in several strata: a cluster must lie in one. If "
                    "clusters of different strata have the same names, put the stratum into the name."
                )
        if self.strata is not None and len(self.stratum_names) > 1 and self.n_clusters == len(self.stratum_names):
            each = "item" if self.clusters is None else "cluster"
            raise DataError(
                f"Each of the {len(self.stratum_names):,} strata has one {each} only: errors within strata can't be told from "
                "that. Merge strata that are alike, or omit them."
            )


def check_design(design: Any, n_items: int, what: str) -> None:
    """Raise unless it is a design, of so many items."""
    if not isinstance(design, SurveyDesign):
        raise DataError(
            f"Expected a SurveyDesign, such as SurveyDesign(clusters=authors), got {type(design).__name__}."
        )
    design.require(n_items, what)


def population_of_strata(given: Any, drawn: FloatArray, names: AnyArray | None, what: str) -> FloatArray | None:
    """Return how many items or clusters there are in the population of each stratum, of which so many were drawn.

    ``names``: of the strata; None without strata.
    """
    if given is None:
        return None
    parameter = "population_size" if what == "items" else "population_clusters"
    if not isinstance(given, Mapping):
        total = _number(given, parameter, "")
        if not total >= drawn.sum():
            raise DataError(_too_small(parameter, "", total, drawn.sum(), what))
        # Without sizes of strata the same part is taken to be drawn from each.
        return np.asarray(total * drawn / drawn.sum(), dtype=np.float64)
    if names is None:
        raise DataError(f"{parameter} gives a size for each stratum, but there are no strata: give one number.")
    listed = names.tolist()
    lacking = [name for name in listed if name not in given]
    if lacking:
        raise DataError(f"{parameter} lacks the strata {quoted(lacking)}: give the size of each.")
    unknown = [name for name in given if name not in set(listed)]
    if unknown:
        raise DataError(
            f"{parameter} gives the size of {quoted(unknown)}, and no item is of such a stratum: the strata are {quoted(listed)}."
        )
    sizes = np.array([_number(given[name], parameter, f" of stratum {quoted([name])}") for name in listed])
    for name, size, count in zip(listed, sizes.tolist(), drawn.tolist(), strict=True):
        if not size >= count:
            raise DataError(_too_small(parameter, f" of stratum {quoted([name])}", size, count, what))
    return sizes


def _number(given: Any, parameter: str, where: str) -> float:
    """Return a size as a number that is finite and above 0."""
    try:
        size = float(given)
    except (TypeError, ValueError):
        size = float("nan")
    if not (np.isfinite(size) and size > 0.0):
        raise DataError(
            f"{parameter}{where} is {given!r}: give the number of all in the population, drawn or not, or omit it if the "
            "population is endless."
        )
    return size


def _too_small(parameter: str, where: str, size: float, count: float, what: str) -> str:
    return (
        f"The population{where} has {size:,.0f} {what}, fewer than the {int(count):,} that were drawn from it: {parameter} is the "
        f"number of all {what}, drawn or not."
    )


def _checked_weights(weights: Any) -> FloatArray:
    given: AnyArray = np.asarray(weights.to_numpy() if hasattr(weights, "to_numpy") else weights)
    if given.dtype.kind == "O" and given.ndim == 1:
        given = np.array([_weight(value, i) for i, value in enumerate(given.tolist())], dtype=np.float64)
    if given.dtype.kind not in "fiub" or given.ndim != 1:
        raise DataError(
            f"weights must be one number for each item; got values of type {given.dtype}, shape {given.shape}."
        )
    checked = given.astype(np.float64)
    bad = np.flatnonzero(~((checked > 0.0) & np.isfinite(checked)))
    if bad.size:
        value = checked[bad[0]]
        said = "no weight" if np.isnan(value) else f"the weight {value:g}"
        raise DataError(
            f"Item {bad[0]:,} has {said}: weights must be finite and above 0. Leave out items that count nothing."
        )
    return checked


def _weight(value: Any, i: int) -> float:
    """Return a weight of a column of objects; NaN where it is missing."""
    if value is None or type(value).__name__ == "NAType" or value != value:
        return float("nan")
    if isinstance(value, str) or not hasattr(value, "__float__"):
        raise DataError(f"Item {i:,} has the weight {value!r}: weights must be numbers above 0.")
    return float(value)


def _codes(values: Any, what: str) -> tuple[IntArray | None, AnyArray]:
    """Return values as numbers 0, 1, .. and what each number stands for."""
    if values is None:
        return None, np.empty(0, dtype=object)
    import pandas as pd

    codes, names = pd.factorize(
        np.asarray(values) if not hasattr(values, "to_numpy") else values.to_numpy(), sort=False
    )
    if np.ndim(codes) != 1:
        raise DataError(f"{what} must be one value for each item.")
    missing = np.flatnonzero(codes < 0)
    if missing.size:
        raise DataError(
            f"Item {missing[0]:,} has no {what.removesuffix('s') if what == 'clusters' else 'stratum'} "
            f"({missing.size:,} items have none): give one for each item."
        )
    return codes.astype(np.int64), np.asarray(names)


def _listed(lengths: dict[str, int]) -> str:
    return ", ".join(f"{n:,} {name}" for name, n in lengths.items())
