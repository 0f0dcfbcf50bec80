"""`GroupShares`: the shares of each group with intervals and verdicts, out of a tally."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from headcount._typing import AnyArray, FloatArray, IntArray
from headcount._validation import plain
from headcount.checks import Report, check_counted
from headcount.exceptions import DataError
from headcount.intervals import Difference, Estimate, Moments, difference, estimate, why_no_interval
from headcount.learners import Outputs
from headcount.protocols import Samples
from headcount.quantifiers import ACC, CC, MLPE, PCC, Statistics
from headcount.stream.groups import MISSING
from headcount.stream.tally import Tally

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MISSING", "NOT_CHECKED", "TOO_FEW", "GroupShares", "compared", "shares_of"]

TOO_FEW, NOT_CHECKED = "too few items", "not checked"


@dataclass(frozen=True, eq=False, repr=False)
class GroupShares:
    """Shares of groups, one row a group; NaN where a group is too small, or where there is no interval.

    Attributes
    ----------
    classes : array of shape (n_classes,)
    names : list
    n_items : array of int, shape (n_groups,)
    shares, low, high : arrays of shape (n_groups, n_classes)
    verdicts : list of str
        "trust", "caution", "do not trust", "too few items" or "not checked", a group each.
    advice : list of lists of str
    level : float
    estimand : {"population", "pile"}
    method : str
    note : str
        Why there are no intervals, if there are none.
    precision : float
        The most by which the mean log-likelihood that SLD maximises differs from that of the single items; 0 for others.
    """

    classes: AnyArray
    names: list[Any]
    n_items: IntArray
    shares: FloatArray
    low: FloatArray
    high: FloatArray
    verdicts: list[str]
    advice: list[list[str]]
    level: float
    estimand: str
    method: str
    note: str = ""
    precision: float = 0.0
    estimate: Estimate | None = None
    reports: tuple[Report | None, ...] = ()

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"GroupShares({len(self):,} groups, {len(self.classes)} classes, {int(self.n_items.sum()):,} items)"

    def records(self) -> list[dict[str, Any]]:
        """Return a plain record for each group and class; a number that is not known is None."""
        return [
            {
                "group": shown(self.names[g]),
                "class": plain(self.classes[j]),
                "share": or_none(self.shares[g, j]),
                "low": or_none(self.low[g, j]),
                "high": or_none(self.high[g, j]),
                "n": int(self.n_items[g]),
                "verdict": self.verdicts[g],
            }
            for g in range(len(self))
            for j in range(len(self.classes))
        ]

    def to_frame(self) -> "pd.DataFrame":
        """Return a data frame with one row for each group and class."""
        import pandas as pd

        return pd.DataFrame(self.records())


def shown(name: Any) -> str:
    """Return the name of a group for people to read."""
    return MISSING if name is None else str(name)


def or_none(value: float) -> float | None:
    """Return a number as Python's own, or None for what is not known."""
    return None if np.isnan(value) else float(value)


def shares_of(
    tally: Tally,
    *,
    level: float = 0.95,
    estimand: Literal["population", "pile"] = "population",
    assume: Literal["no-shift"] | None = None,
    min_items: int = 30,
) -> GroupShares:
    """Estimate the shares of each group of a tally, with intervals where the method has them, and check them.

    Parameters
    ----------
    tally : Tally
    level, estimand, assume
        As in `headcount.estimate`.
    min_items : int, default=30
        A group of fewer items is reported as too small, without shares.
    """
    if tally.n_items == 0:
        raise DataError("There are no items to estimate the shares of.")
    recipe, order = tally.recipe, tally.in_order()
    quantifier, k = recipe.quantifier, recipe.k
    names, n = [tally.names[row] for row in order], tally.n[order]
    large = np.flatnonzero(n >= min_items)
    rows = np.array(order)[large]
    shape = len(order), k
    shares, low, high = (np.full(shape, np.nan) for _ in range(3))
    note = "" if assume and isinstance(quantifier, CC | PCC) else why_no_interval(quantifier)
    found = None
    if len(large):
        own = tuple(names[g] for g in large)
        if note:
            shares[large] = quantifier.solve(_statistics(tally, rows))
        else:
            found = _estimated(tally, rows, own, level, estimand, assume)
            shares[large], low[large], high[large] = found.shares, found.low, found.high
    verdicts, advice, reports = _checked(tally, large, rows, shares, len(order), min_items, n)
    return GroupShares(
        quantifier.classes_,
        names,
        n.astype(np.int64),
        shares,
        low,
        high,
        verdicts,
        advice,
        level,
        estimand,
        type(quantifier).__name__,
        note,
        tally.precision,
        found,
        reports,
    )


class _Counted(Samples):
    """Samples whose weights count items that are alike: as many items as the weights add up to."""

    __slots__ = ()

    def effective_sizes(self) -> FloatArray:
        """Return the number of items of each sample."""
        return self.total_weights()


def _estimated(
    tally: Tally, rows: IntArray, names: tuple[Any, ...], level: float, estimand: Any, assume: Any
) -> Estimate:
    quantifier = tally.recipe.quantifier
    n = tally.n[rows]
    if tally.sketch is None:
        sums, products = _moments(tally, rows)
        moments = Moments(sums, products, n, names)
        return estimate(quantifier, moments, level=level, estimand=estimand, assume=assume)
    outputs, samples = _likely(tally, rows)
    found = estimate(quantifier, outputs, samples, level=level, estimand=estimand)
    return replace(found, names=names, n_items=n.astype(np.int64))


def _moments(tally: Tally, rows: IntArray) -> tuple[FloatArray, FloatArray]:
    if isinstance(tally.recipe.quantifier, CC | ACC):
        counts = tally.held["decisions"][rows]
        return counts, counts[:, :, None] * np.eye(tally.recipe.k)
    lower = tally.held["products"][rows]
    upper = np.swapaxes(np.tril(lower, -1), 1, 2)
    return tally.held["sums"][rows], lower + upper


def _likely(tally: Tally, rows: IntArray) -> tuple[Outputs, Samples]:
    """Return the cells of a sketch as items with weights, a sample each group."""
    if tally.sketch is None:
        raise DataError("This tally holds no posteriors.")
    groups, weights, means = tally.sketch.cells()
    starts, ends = np.searchsorted(groups, rows), np.searchsorted(groups, rows, side="right")
    indices = np.concatenate([np.arange(a, b) for a, b in zip(starts, ends, strict=True)])
    indptr = np.concatenate([[0], np.cumsum(ends - starts)])
    quantifier: Any = tally.recipe.quantifier
    outputs = Outputs(quantifier.classes_, len(means), posteriors=means)
    return outputs, _Counted(indices, indptr, weights[indices])


def _statistics(tally: Tally, rows: IntArray) -> Any:
    recipe, n = tally.recipe, tally.n[rows]
    if recipe.histograms is not None:
        return Statistics(tally.held["bins"][rows], n)
    if isinstance(recipe.quantifier, CC | ACC):
        return Statistics(tally.held["decisions"][rows], n)
    width = 0 if not recipe.quantifier.needs else recipe.k
    return Statistics(tally.held["sums"][rows][:, :width], n)


def _checked(
    tally: Tally, large: IntArray, rows: IntArray, shares: FloatArray, n_groups: int, min_items: int, n: FloatArray
) -> tuple[list[str], list[list[str]], tuple[Report | None, ...]]:
    verdicts, advice = (
        [NOT_CHECKED] * n_groups,
        [[tally.recipe.unchecked] for _ in range(n_groups)],
    )
    reports: list[Report | None] = [None] * n_groups
    if tally.recipe.cells is not None and len(large):
        counts, sums = tally.held["cells"][rows], tally.held["sums"][rows]
        quantifier = tally.recipe.quantifier
        adjusts = not isinstance(quantifier, CC | PCC | MLPE)
        found = check_counted(tally.recipe.cells, counts, sums, shares[large], quantifier.classes_, adjusts=adjusts)
        for g, report in zip(large.tolist(), found, strict=True):
            verdicts[g], advice[g], reports[g] = report.verdict, report.advice, report
    for g in np.setdiff1d(np.arange(n_groups), large).tolist():
        verdicts[g] = TOO_FEW
        advice[g] = [
            f"{int(n[g])} items are too few to say anything: at least {min_items} are asked for (--min-items)."
        ]
    return verdicts, advice, tuple(reports)


def compared(groups: GroupShares, first: Any, second: Any) -> Difference:
    """Return by how much the shares of one group differ from those of another, with the interval of the difference."""
    if groups.estimate is None and not groups.note:
        raise DataError("All groups have too few items to be compared.")
    if groups.estimate is None:
        raise DataError(f"Two groups can't be compared without intervals. {groups.note}".rstrip())
    return difference(_one(groups, first), _one(groups, second))


def _one(groups: GroupShares, name: Any) -> Estimate:
    known = {shown(one): one for one in groups.names}
    if str(name) not in known:
        raise DataError(f"There is no group {str(name)!r}; there are {', '.join(list(known)[:12])}.")
    own = groups.estimate
    if own is None or own.names is None or known[str(name)] not in own.names:
        raise DataError(f"Group {str(name)!r} has too few items to be compared.")
    s = own.names.index(known[str(name)])
    parts = own.parts
    if parts is None:
        raise DataError("Without shift there is no covariance to compare by: use ACC, PACC or SLD.")
    cut = replace(
        parts,
        centre=parts.centre[s : s + 1],
        shares=parts.shares[s : s + 1],
        target=parts.target[s : s + 1],
        target_degrees=parts.target_degrees[s : s + 1],
        identified=np.broadcast_to(parts.identified, len(own.shares))[s : s + 1],
        shared=None if parts.shared is None else parts.shared[s : s + 1],
    )
    return replace(
        own,
        shares=own.shares[s],
        low=own.low[s],
        high=own.high[s],
        n_items=own.n_items[s : s + 1],
        names=None,
        parts=cut,
    )
