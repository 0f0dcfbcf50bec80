"""`Tally`: what is added up over the items of each group, batch by batch, until shares, intervals and checks follow from it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount._validation import plain
from headcount.checks import LabelledCells
from headcount.exceptions import DataError
from headcount.learners import Need, Outputs
from headcount.quantifiers import PACC, PCC, SLD, HDy, Quantifier
from headcount.quantifiers.histograms import EDGE
from headcount.stream.sketch import Sketch

__all__ = ["Recipe", "Tally", "WrongRowError", "first_wrong"]

_MOST_GROUPS, _MOST_NUMBERS = 10_000, 1 << 23
"""That a tally holds, and the numbers in it: 64 MiB."""


class WrongRowError(DataError):
    """A row whose scores are no posteriors; whoever knows where it comes from says so."""

    def __init__(self, row: int, values: list[float]) -> None:
        super().__init__(row, values)
        self.row, self.values = row, values


class Recipe:
    """What must be added up for a quantifier, and for the check of its answers.

    Parameters
    ----------
    quantifier : fitted quantifier
    labelled : pair of posteriors and codes, optional
        Of labelled items that the classifier was not trained on: with it, items are counted in cells for the check.
    decided : bool, default=False
        Whether these posteriors are but decisions.
    """

    def __init__(
        self, quantifier: Quantifier, labelled: tuple[FloatArray, IntArray] | None = None, decided: bool = False
    ) -> None:
        self.quantifier = quantifier
        self.k = len(quantifier.classes_)
        self.cells, self.unchecked = (
            (None, _NO_SCORES) if labelled is None else _cells_of(*labelled, decided, quantifier)
        )
        self.products = isinstance(quantifier, PCC | PACC)
        self.histograms = quantifier.representation if isinstance(quantifier, HDy) else None
        self.likelihood = isinstance(quantifier, SLD)
        checked: Need = "decisions" if self.cells is not None and self.cells.decided else "posteriors"
        self.needs: frozenset[Need] = quantifier.needs | ({checked} if self.cells is not None else set())

    def start(self) -> "Tally":
        """Return a tally of nothing."""
        return Tally(self)


_NO_SCORES = "No labelled items were kept aside from training, which leaves none to check by: ACC and PACC keep some."


def _cells_of(
    P: FloatArray, codes: IntArray, decided: bool, quantifier: Quantifier
) -> tuple[LabelledCells | None, str]:
    """Return the cells that items are counted in for the check, or why there can be none."""
    cells = LabelledCells(P, codes, decided)
    if cells.n_cells > cells.k or cells.decided:
        return cells, ""
    counts = np.bincount(codes, minlength=cells.k)
    rarest = int(counts.argmin())
    return None, (
        f"Class {plain(quantifier.classes_[rarest])} has only {int(counts[rarest])} labelled items that the classifier was not "
        "trained on: too few to check by. Label more of it."
    )


@dataclass
class Tally:
    """Sums over the items of each group; ``a + b`` merges two, whose groups may differ.

    Attributes
    ----------
    names : list
        The groups, in the order in which they first came.
    n : array of shape (n_groups,)
    held : dict of arrays with one row a group
        decisions, sums, products, cells and bins.
    sketch : Sketch or None
    """

    recipe: Recipe
    names: list[Any] = field(default_factory=list)
    n: FloatArray = field(default_factory=lambda: np.zeros(0))
    held: dict[str, FloatArray] = field(default_factory=dict)
    sketch: Sketch | None = None

    def __post_init__(self) -> None:
        self._row = {name: i for i, name in enumerate(self.names)}
        k, recipe = self.recipe.k, self.recipe
        shapes: dict[str, tuple[int, ...]] = {"decisions": (k,), "sums": (k,)}
        shapes["products"] = (k, k) if recipe.products else (0, 0)
        shapes["cells"] = (0,) if recipe.cells is None else (recipe.cells.n_cells,)
        shapes["bins"] = (0,) if recipe.histograms is None else (sum(recipe.histograms.counted),)
        self._shapes = shapes
        for name, shape in shapes.items():
            self.held.setdefault(name, np.zeros((len(self.names), *shape)))
        if recipe.likelihood and self.sketch is None:
            self.sketch = Sketch(k)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def n_items(self) -> int:
        """The number of items of all groups."""
        return int(self.n.sum())

    def add(self, outputs: Outputs, groups: IntArray | None = None, values: Sequence[Any] = ("all",)) -> None:
        """Add the items of a batch; ``groups`` are positions in ``values``, the groups' names."""
        posteriors = None if outputs.posteriors is None else np.ascontiguousarray(outputs.posteriors.T)
        self.add_columns(posteriors, outputs.decisions, groups, values, n_items=outputs.n_items)

    def add_columns(
        self,
        C: FloatArray | None,
        decisions: IntArray | None = None,
        groups: IntArray | None = None,
        values: Sequence[Any] = ("all",),
        counts: FloatArray | None = None,
        n_items: int = 0,
    ) -> None:
        """Add the items of a batch, of which a row of ``C`` holds the posteriors of one class; it may be changed.

        Without decisions, items are decided for the class of the largest posterior. Where only decisions are given, each may stand
        for a number of items: ``counts``.
        """
        from headcount.stream import _kernels

        rows = self._rows([plain(value) for value in values])
        n = len(decisions) if C is None and decisions is not None else n_items if C is None else C.shape[1]
        own = np.zeros(n, dtype=np.int32) if groups is None else groups
        some = len(values)
        found = {name: np.zeros((some, *shape)) for name, shape in self._shapes.items()}
        if C is not None:
            recipe = self.recipe
            cuts = np.empty(0) if recipe.cells is None else recipe.cells.edges[0]
            counted = np.zeros((some, recipe.k * (len(cuts) + 1)))
            wrong = int(_kernels.add_up(C, own, cuts, found["sums"], found["products"], counted))
            if wrong >= 0:
                raise WrongRowError(wrong, [float(value) for value in C[:, wrong]])
            found["decisions"] = counted.reshape(some, recipe.k, -1).sum(axis=2)
            if recipe.cells is not None:
                found["cells"] = counted
            if recipe.histograms is not None:
                bins = np.array(recipe.histograms.counted)
                starts = np.array([recipe.histograms.starts[b] for b in bins.tolist()])
                _kernels.count_bins(C[1], own, bins, starts, EDGE, found["bins"])
        if decisions is not None:
            pairs = own.astype(np.int64) * self.recipe.k + decisions
            found["decisions"] = (
                np.bincount(pairs, counts, some * self.recipe.k).reshape(some, self.recipe.k).astype(float)
            )
            if C is None and self.recipe.cells is not None:  # a decision is a posterior of 1
                surest = len(self.recipe.cells.edges[0])
                found["sums"] = found["decisions"]
                found["cells"][:, surest :: surest + 1] = found["decisions"]
        unseen = C is None and decisions is None  # as by MLPE, which never looks
        np.add.at(self.n, rows, np.bincount(own, minlength=some) if unseen else found["decisions"].sum(axis=1))
        self._take(found, rows)
        if self.sketch is not None and C is not None:
            self.sketch.add(C, rows[own].astype(np.int32))

    @property
    def precision(self) -> float:
        """The most by which the mean log-likelihood of any shares differs from that of the single items; 0 where none is needed."""
        quantifier: Any = self.recipe.quantifier
        return 0.0 if self.sketch is None else self.sketch.bound(quantifier.calibration_)

    def _take(self, found: dict[str, FloatArray], rows: IntArray) -> None:
        for name, array in found.items():
            if array.size:
                np.add.at(self.held[name], rows, array)

    def _rows(self, values: list[Any]) -> IntArray:
        """Return the rows of groups, making room for those that are new."""
        new = [value for value in dict.fromkeys(values) if value not in self._row]
        if len(self.names) + len(new) > _MOST_GROUPS:
            raise DataError(
                f"There are more than {_MOST_GROUPS:,} groups: name a column with fewer values, or group dates, as in --by "
                "date:month."
            )
        each = sum(int(np.prod(shape)) for shape in self._shapes.values())
        if (len(self.names) + len(new)) * each > _MOST_NUMBERS:
            raise DataError(
                f"There are more than {_MOST_NUMBERS // each:,} groups, too many for {self.recipe.k} classes: name a column with "
                "fewer values, group dates, as in --by date:month, or use ACC."
            )
        for value in new:
            self._row[value] = len(self.names)
            self.names.append(value)
        more = len(self.names) - len(self.n)
        if more:
            self.n = np.concatenate([self.n, np.zeros(more)])
            for name, shape in self._shapes.items():
                self.held[name] = np.concatenate([self.held[name], np.zeros((more, *shape))])
        return np.array([self._row[value] for value in values], dtype=np.int64)

    def merge(self, other: "Tally") -> "Tally":
        """Add another tally of the same recipe to this one."""
        rows = self._rows(other.names)
        np.add.at(self.n, rows, other.n)
        self._take(other.held, rows)
        if self.sketch is not None and other.sketch is not None:
            self.sketch.merged(other.sketch, rows)
        return self

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(self.recipe).merge(self).merge(other)

    def in_order(self) -> list[int]:
        """Return the rows of the groups in the order of their names; a missing name comes last."""
        known = [name for name in self.names if name is not None]
        numbers = all(_number(name) is not None for name in known)
        return sorted(range(len(self.names)), key=lambda row: _sort_key(self.names[row], numbers))


def first_wrong(C: FloatArray) -> int:
    """Return the first column that is no vector of posteriors, or -1; what lies below 0 by rounding becomes 0."""
    from headcount.stream import _kernels

    k, n = C.shape
    rest = np.zeros((1, k)), np.zeros((1, 0, 0)), np.zeros((1, k))
    return int(_kernels.add_up(C, np.zeros(n, dtype=np.int32), np.empty(0), *rest))


def _sort_key(name: Any, numbers: bool) -> tuple[int, Any, str]:
    if name is None:
        return 1, 0, ""
    return (0, _number(name), str(name)) if numbers else (0, 0, str(name))


def _number(name: Any) -> float | None:
    try:
        value = float(name)
    except (TypeError, ValueError):
        return None
    return value if value == value else None
