"""`Tally`: what is added up over the items of each group, batch by batch: the quantifier's reduction, and the check's.

A tally is `reduce` over groups, merged by ``+``. Its sums are exact (`headcount.protocols.exact`), so that one pass, merged parts
and a cluster give the same bits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headcount._typing import FloatArray, IntArray, Items
from headcount._validation import plain
from headcount.checks import LabelledCells, LabelledItems
from headcount.exceptions import DataError
from headcount.learners import Need, Outputs
from headcount.protocols import Samples
from headcount.quantifiers import (
    Decisions,
    DensitiesQuantifier,
    Posteriors,
    Quantifier,
    Representation,
    SampleItems,
    Statistics,
    SumsQuantifier,
)
from headcount.stream.design_columns import DesignColumns
from headcount.stream.design_coordinates import DesignCoordinates
from headcount.stream.design_sums import DesignSums
from headcount.stream.drawn_rows import DrawnRows
from headcount.stream.item_sample import ItemSample
from headcount.stream.placed_clusters import scale_factor
from headcount.stream.sketch import Sketch

__all__ = ["InvalidScoresError", "Recipe", "Tally", "first_invalid_row"]

_MOST_GROUPS, _MOST_NUMBERS = 10_000, 1 << 23
"""Groups that a tally may hold, and numbers in it: 64 MiB."""
_MOST_WEIGHT = 2.0**42
"""Sum of the weights of a group, in units of 2^-12, beyond which the means of a sketch's cells overflow."""
_ITEMS_PER_BLOCK = 1 << 18
"""Items that are added up in one call: enough to make calls cheap, few enough for 64-bit sums."""
_NO_LABELLED = (
    "No labelled items were kept aside from training, which leaves none to check with: methods with a validation part "
    "keep some."
)


class InvalidScoresError(DataError):
    """A row whose scores are not posteriors; the reader of the file says where it is."""

    def __init__(self, row: int, values: list[float]) -> None:
        super().__init__(row, values)
        self.row, self.values = row, values


class Recipe:
    """What must be added up for a quantifier, and for the check of its answers.

    Parameters
    ----------
    quantifier : fitted quantifier of one of the two families
    labelled : pair of posteriors and codes, optional
        Of labelled items that the classifier was not trained on: with it, items are counted in cells for the check.
    decided : bool, default=False
        Whether these posteriors are decisions only, 0 or 1.
    items : LabelledItems, optional
        Features of labelled items: with them, some items of each group are kept for the check of the items themselves.
    design : DesignColumns, optional
        Columns that say how items were drawn: sums are weighted, and what variances under the design need is added up too.
    """

    def __init__(
        self,
        quantifier: Quantifier,
        labelled: tuple[FloatArray, IntArray] | None = None,
        decided: bool = False,
        items: LabelledItems | None = None,
        design: DesignColumns | None = None,
    ) -> None:
        if not quantifier.can_stream:
            raise DataError(
                f"{type(quantifier).__name__} can't be added up batch by batch: its estimate is not made of sums or densities of "
                "items alone. Use a method that is, such as PACC or SLD, or load all items and call quantifier.predict."
            )
        self.quantifier = quantifier
        self.k = len(quantifier.classes_)
        self.n_folds = quantifier.n_folds
        """Outputs that are added up for each item: those of each fold classifier."""
        self.cells = None if labelled is None else _cells_of(*labelled, decided, quantifier)
        self.unchecked = _NO_LABELLED if labelled is None else ""
        self.items = items
        self.reductions: dict[str, tuple[Representation, bool]] = {}
        """Representations that are added up, and whether products of their coordinates are added up too."""
        self.check_sums = "scores"
        """The reduction that holds the sums of scores for the check."""
        if isinstance(quantifier, SumsQuantifier):
            # Intervals of an equation need second moments; those of cell frequencies need the counts alone.
            products = quantifier.has_interval and quantifier.solver.has_equation
            self.reductions["method"] = quantifier.representation, products
        if self.cells is not None:
            scores: Representation = Decisions() if self.cells.decided else Posteriors()
            self.reductions["cells"] = self.cells.representation, False
            if "method" in self.reductions and type(self.reductions["method"][0]) is type(scores):
                self.check_sums = "method"
            else:
                self.reductions["scores"] = scores, False
        self.design = design if design is not None and design.given else None
        self.coordinates: DesignCoordinates | None = None
        """Numbers of an item whose variance under the design is added up."""
        if self.design is not None:
            self.coordinates = DesignCoordinates.of(quantifier, self.cells, self.design.cluster is not None)
        checked: set[Need] = {rep.needs for rep, _ in self.reductions.values() if rep.needs is not None}
        self.needs: frozenset[Need] = quantifier.needs | checked

    @property
    def weighted(self) -> bool:
        """Whether items have weights."""
        return self.design is not None and self.design.weight is not None

    @property
    def sketched(self) -> bool:
        """Whether items are kept in a sketch, for a likelihood."""
        return isinstance(self.quantifier, DensitiesQuantifier)

    def zeros(self, n_groups: int) -> dict[str, Statistics]:
        """Return the statistics of groups without items."""
        return {
            name: Statistics.zeros(n_groups, rep.width(self.k), self._adds_products(rep, products))
            for name, (rep, products) in self.reductions.items()
        }

    def _adds_products(self, representation: Representation, products: bool) -> bool:
        """Whether products are added up: counts of cells give the second moments too, except those of folds."""
        return products and representation.adds_products and (self.n_folds > 1 or not _counts_suffice(representation))

    def numbers_per_group(self) -> int:
        """Return how many numbers a group takes."""
        widths = [(rep.width(self.k), products and rep.adds_products) for rep, products in self.reductions.values()]
        return sum(d + (d * (d + 1) // 2 if products else 0) for d, products in widths) or 1

    def start(self) -> "Tally":
        """Return a tally without items."""
        return Tally(self)


def _counts_suffice(representation: Representation) -> bool:
    """Whether the counts give the second moments, so that no products are added up."""
    return type(representation).second_moments is not Representation.second_moments


def _cells_of(P: FloatArray, codes: IntArray, decided: bool, quantifier: Quantifier) -> LabelledCells:
    """Return the cells that items are counted in for the check."""
    folds, design = getattr(quantifier, "validation_folds_", None), quantifier.validation_design_
    same = folds is not None and len(folds) == len(codes)
    return LabelledCells(P, codes, decided, folds if same else None, design if same else None)


@dataclass
class Tally:
    """Sums over the items of each group; ``a + b`` merges two, whose groups may differ.

    Attributes
    ----------
    names : list
        The groups, in the order in which they first came.
    sums : dict of Statistics with one row a group
        By reduction: the method's, and the check's.
    sketch : Sketch or None
    kept : ItemSample or None
        Some items of each group.
    scaled : dict of dict of Statistics
        With weights: what ``sums`` is without, by the scale of the weights, which are factors times 2^9 to the power of the scale.
    design : DesignSums or None
        What variances need under a survey design.
    """

    recipe: Recipe
    names: list[Any] = field(default_factory=list)
    sums: dict[str, Statistics] = field(default_factory=dict)
    sketch: Sketch | None = None
    kept: ItemSample | None = None
    scaled: dict[int, dict[str, Statistics]] = field(default_factory=dict)
    design: DesignSums | None = None

    def __post_init__(self) -> None:
        self._row = {name: i for i, name in enumerate(self.names)}
        if not self.sums:
            self.sums = self.recipe.zeros(len(self.names))
        if self.recipe.sketched and self.sketch is None:
            self.sketch = Sketch(self.recipe.k)
        if self.recipe.items is not None and self.kept is None:
            self.kept = ItemSample()
        if self.recipe.coordinates is not None and self.design is None and self.recipe.design is not None:
            coordinates = self.recipe.coordinates
            self.design = DesignSums(self.recipe.design, coordinates.n_vectors, len(coordinates.cuts))

    def __len__(self) -> int:
        return len(self.names)

    @property
    def n(self) -> FloatArray:
        """Number of items of each group."""
        if self.design is not None:
            return self.design.sizes(len(self.names)).astype(np.float64)
        if self.sketch is not None:
            return self.sketch.sizes(len(self.names)) / self.recipe.n_folds
        return next(iter(self.sums.values())).weights

    @property
    def n_items(self) -> int:
        """The number of items of all groups."""
        return int(self.n.sum())

    def add(
        self,
        outputs: Outputs,
        groups: IntArray | None = None,
        values: Sequence[Any] = ("all",),
        counts: FloatArray | None = None,
        drawn: DrawnRows | None = None,
    ) -> None:
        """Add the items of a batch.

        Parameters
        ----------
        outputs : Outputs
        groups : array of int, shape (n_items,), optional
            Each item's position in ``values``; by default all are in the first group.
        values : sequence
            Names of the groups.
        counts : array of shape (n_items,), optional
            How many items each one stands for.
        drawn : DrawnRows, optional
            How the items were drawn; needed if the recipe has a design.
        """
        if outputs.folds is not None and len(outputs.folds) != self.recipe.n_folds:
            raise DataError(
                f"These outputs are of {len(outputs.folds)} fold classifiers, and the quantifier has {self.recipe.n_folds}: score "
                "the items with quantifier.outputs(X)."
            )
        rows, codes = self._place(values, groups, outputs.n_items)
        if drawn is not None:
            self._add_design(lambda c: c.of_outputs(outputs), rows, codes, drawn)
        codes_of_scales, scales = _by_scale(codes, drawn)
        samples = Samples._grouped(codes_of_scales, len(rows) * len(scales))
        counts = counts if drawn is None else drawn.factors
        if counts is not None:
            samples = Samples(samples.indices, samples.indptr, counts=counts[samples.indices])
        for name, (representation, products) in self.recipe.reductions.items():
            self._add_sums(name, rows, representation.reduce(outputs, samples, products), scales)
        if self.sketch is not None:
            pools = outputs.folds or (outputs,) * self.recipe.n_folds
            for pool in pools:
                self._add_to_sketch(np.ascontiguousarray(pool.need("posteriors").T), rows[codes], drawn)

    def _add_design(
        self, coordinates: Callable[[DesignCoordinates], FloatArray], rows: IntArray, codes: IntArray, drawn: DrawnRows
    ) -> None:
        """Add the coordinates of items to what variances need."""
        if self.design is not None and self.recipe.coordinates is not None:
            self.design.add(coordinates(self.recipe.coordinates), rows, codes, drawn)

    def _add_sums(self, name: str, rows: IntArray, added: Statistics, scales: Sequence[int]) -> None:
        """Add statistics of groups, of which those of each scale of weights alternate."""
        added = self._completed(name, added)
        if not self.recipe.weighted:
            self.sums[name].add_at(rows, added)
            return
        for i, scale in enumerate(scales):
            self._of_scale(scale)[name].add_at(rows, added[np.arange(i, len(added), len(scales))])

    def _of_scale(self, scale: int) -> dict[str, Statistics]:
        if scale not in self.scaled:
            self.scaled[scale] = self.recipe.zeros(len(self.names))
        return self.scaled[scale]

    def added(self, name: str, rows: IntArray) -> Statistics:
        """Return a reduction of some groups; weights are divided by their mean in each group, so that their sum is its size."""
        if not self.recipe.weighted:
            return self.sums[name][rows]
        parts = [(float(scale_factor(scale)), self.scaled[scale][name][rows]) for scale in sorted(self.scaled)]
        sizes = self.n[rows]
        total = np.asarray(sum(factor * part.weights for factor, part in parts))
        mean = np.where(total > 0.0, sizes / np.where(total > 0.0, total, 1.0), 0.0)
        sums = np.asarray(sum(factor * part.sums for factor, part in parts))
        statistics = Statistics(sums * mean[:, None], sizes)
        if not parts[0][1].has_products:
            return statistics
        products = np.asarray(sum(factor * part.products() for factor, part in parts))
        return statistics.with_products(products * mean[:, None, None])

    def keep(
        self,
        items: Items,
        outputs: Outputs,
        groups: IntArray | None,
        values: Sequence[Any],
        drawn: DrawnRows | None = None,
    ) -> None:
        """Keep some of the items of a batch that was added, if the recipe asks for it."""
        if self.kept is not None:
            rows, codes = self._place(values, groups, outputs.n_items)
            clusters, weights = (None, None) if drawn is None else (drawn.clusters, drawn.weights)
            self.kept.add(items, Posteriors().vectors(outputs), rows[codes], clusters, weights)

    def _completed(self, name: str, added: Statistics) -> Statistics:
        """Return statistics with the products that this tally adds up, where those of items without folds follow from counts."""
        if not self.sums[name].has_products or added.has_products:
            return added
        return added.with_products(self.recipe.reductions[name][0].second_moments(added))

    def add_columns(
        self,
        C: FloatArray,
        groups: IntArray | None = None,
        values: Sequence[Any] = ("all",),
        drawn: DrawnRows | None = None,
    ) -> None:
        """Add the items of a batch of posteriors, a row each class; values below 0 by rounding are set to 0 in place.

        This is `add` for posteriors whose largest decides, without copying them item by item: a representation that offers a kernel
        for it is added up by that. Such posteriors are of one classifier, also where the quantifier has several fold classifiers.
        """
        from headcount.quantifiers import _columns

        rows, codes = self._place(values, groups, C.shape[1])
        invalid = int(_columns.first_invalid(C))
        if invalid >= 0:
            raise InvalidScoresError(invalid, [float(value) for value in C[:, invalid]])
        if drawn is not None:
            self._add_design(lambda c: self._coordinates_of(C, c), rows, codes, drawn)
        codes_of_scales, scales = _by_scale(codes, drawn)
        n_groups = len(rows) * len(scales)
        factors = None if drawn is None else drawn.factors
        step = _ITEMS_PER_BLOCK if factors is None else _ITEMS_PER_BLOCK // 2
        for name, (representation, products) in self.recipe.reductions.items():
            for start in range(0, C.shape[1], step):
                part = slice(start, start + step)
                block, at = C[:, part], codes_of_scales[part]
                added = (
                    representation.reduce_columns(block, at, n_groups, products)
                    if factors is None
                    else representation.reduce_weighted_columns(block, at, n_groups, factors[part], products)
                )
                if added is None:
                    samples = Samples._grouped(at, n_groups)
                    if factors is not None:
                        samples = Samples(samples.indices, samples.indptr, counts=factors[part][samples.indices])
                    added = representation.reduce(self._outputs_of(block), samples, products)
                self._add_sums(name, rows, added, scales)
        if self.sketch is not None:
            for _ in range(self.recipe.n_folds):
                self._add_to_sketch(C, rows[codes], drawn)

    def _coordinates_of(self, C: FloatArray, coordinates: DesignCoordinates) -> FloatArray:
        """Return the coordinates of a batch of posteriors, a row each class, through outputs only where that is needed."""
        found = coordinates.of_columns(C)
        return coordinates.of_outputs(self._outputs_of(C)) if found is None else found

    def _outputs_of(self, C: FloatArray) -> Outputs:
        """Return posteriors stored by class as outputs whose largest posterior decides."""
        P = np.ascontiguousarray(C.T)
        return Outputs(self.recipe.quantifier.classes_, len(P), P.argmax(axis=1), P)

    def _add_to_sketch(self, C: FloatArray, rows: IntArray, drawn: DrawnRows | None) -> None:
        quantifier: Any = self.recipe.quantifier
        if self.sketch is not None:
            multiples = None if drawn is None else drawn.multiples
            self.sketch.add(quantifier.sketched_columns(C), rows.astype(np.int32), multiples)

    def statistics(self, rows: IntArray) -> Statistics | SampleItems:
        """Return what the quantifier solves for the shares of these groups."""
        if self.sketch is None:
            return self.added("method", rows)
        groups, counts, means = self.sketch.cells()
        starts, ends = np.searchsorted(groups, rows), np.searchsorted(groups, rows, side="right")
        indices = np.concatenate([np.arange(a, b) for a, b in zip(starts, ends, strict=True)])
        indptr = np.concatenate([[0], np.cumsum(ends - starts)])
        quantifier: Any = self.recipe.quantifier
        items = counts[indices] / self.recipe.n_folds
        if self.recipe.weighted:  # the sum of the weights of a group is made its number of items
            if np.add.reduceat(counts[indices], indptr[:-1]).max() >= _MOST_WEIGHT:
                raise DataError(
                    "The weights of a group sum to more than fixed-point sums have room for. Divide all weights by one number: "
                    "shares do not change."
                )
            items *= np.repeat(self.n[rows] / np.add.reduceat(items, indptr[:-1]), np.diff(indptr))
        statistics: SampleItems = quantifier.from_sketch(means, Samples(indices, indptr, counts=items))
        return statistics

    @property
    def precision(self) -> float:
        """Bound of the error of the mean log-likelihood of any shares; 0 where there is no sketch."""
        quantifier: Any = self.recipe.quantifier
        return 0.0 if self.sketch is None else float(quantifier.sketch_error(self.sketch.log_width))

    def _place(self, values: Sequence[Any], groups: IntArray | None, n_items: int) -> tuple[IntArray, IntArray]:
        """Return the distinct rows of the groups of a batch, and each item's position among them."""
        rows = self._rows([plain(value) for value in values])
        codes = np.zeros(n_items, dtype=np.int32) if groups is None else groups
        if len(set(rows.tolist())) < len(rows):  # a name given twice
            rows, position = np.unique(rows, return_inverse=True)
            codes = position.astype(np.int32)[codes]
        return rows, codes

    def _rows(self, values: list[Any]) -> IntArray:
        """Return the rows of groups, making room for those that are new."""
        new = [value for value in dict.fromkeys(values) if value not in self._row]
        n_groups = len(self.names) + len(new)
        if n_groups > _MOST_GROUPS:
            raise DataError(
                f"There are more than {_MOST_GROUPS:,} groups: name a column with fewer values, or group dates, as in --by "
                "date:month."
            )
        per_group = self.recipe.numbers_per_group()
        if n_groups * per_group > _MOST_NUMBERS:
            raise DataError(
                f"There are more than {_MOST_NUMBERS // per_group:,} groups, too many for {self.recipe.k} classes: name a column "
                "with fewer values, group dates, as in --by date:month, or use ACC."
            )
        for value in new:
            self._row[value] = len(self.names)
            self.names.append(value)
        if new:
            for sums in (self.sums, *self.scaled.values()):
                sums |= {name: statistics.grown(n_groups) for name, statistics in sums.items()}
        return np.array([self._row[value] for value in values], dtype=np.int64)

    def merge(self, other: "Tally") -> "Tally":
        """Add another tally of the same recipe to this one."""
        rows = self._rows(other.names)
        for name, statistics in self.sums.items():
            statistics.add_at(rows, other.sums[name])
        for scale, sums in other.scaled.items():
            for name, statistics in self._of_scale(scale).items():
                statistics.add_at(rows, sums[name])
        if self.design is not None and other.design is not None:
            self.design.merge(other.design, rows)
        if self.sketch is not None and other.sketch is not None:
            self.sketch.merge(other.sketch, rows)
        if self.kept is not None and other.kept is not None:
            self.kept.merge(other.kept, rows)
        return self

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(self.recipe).merge(self).merge(other)

    def in_order(self) -> list[int]:
        """Return the rows of the groups in the order of their names; a missing name comes last."""
        parts = [name if isinstance(name, tuple) else (name,) for name in self.names]
        numeric = [
            all(_number(name) is not None for name in column if name is not None) for column in zip(*parts, strict=True)
        ]
        keys = [[_sort_key(name, n) for name, n in zip(part, numeric, strict=True)] for part in parts]
        return sorted(range(len(keys)), key=keys.__getitem__)

    def pooled(self, name: str) -> "Tally":
        """Return the tally of all items in one group: what adding them up without groups gives."""
        total = Tally(self.recipe)
        place = total._rows([name])
        nowhere_else = np.full(len(self), place[0])
        for key, statistics in self.sums.items():
            total.sums[key].add_repeatedly_at(nowhere_else, statistics)
        for scale, sums in self.scaled.items():
            for key, statistics in sums.items():
                total._of_scale(scale)[key].add_repeatedly_at(nowhere_else, statistics)
        if total.design is not None and self.design is not None:
            total.design.merge(self.design, nowhere_else)
        if total.sketch is not None and self.sketch is not None:
            total.sketch.merge(self.sketch, nowhere_else)
        if total.kept is not None and self.kept is not None:
            total.kept.merge(self.kept, nowhere_else)
        return total


def _by_scale(codes: IntArray, drawn: DrawnRows | None) -> tuple[IntArray, list[int]]:
    """Return each item's position among groups times scales of weights, and the scales."""
    if drawn is None or drawn.scales is None or not len(codes):
        return codes, [0]
    least, most = drawn.scale_range
    if least == most:
        return codes, [least]
    n = most - least + 1
    return (codes * n + (drawn.scales - least)).astype(np.int32), list(range(least, most + 1))


def first_invalid_row(C: FloatArray) -> int:
    """Return the first column that is not a vector of posteriors, or -1; values below 0 by rounding become 0."""
    from headcount.quantifiers import _columns

    return int(_columns.first_invalid(C))


def _sort_key(name: Any, numeric: bool) -> tuple[int, Any, str]:
    if name is None:
        return 1, 0, ""
    return (0, _number(name), str(name)) if numeric else (0, 0, str(name))


def _number(name: Any) -> float | None:
    try:
        value = float(name)
    except (TypeError, ValueError):
        return None
    return value if value == value else None
