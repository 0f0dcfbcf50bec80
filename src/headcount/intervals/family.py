"""`differences`: many comparisons at once, with intervals and p-values that hold together and know what the samples share."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from headcount._distributions import normal_quantile
from headcount._typing import AnyArray, FloatArray, IntArray
from headcount._writing import html_frame
from headcount.exceptions import DataError
from headcount.intervals.difference import compare_means
from headcount.intervals.evidence import Evidence
from headcount.intervals.figures import Figure, change_text, check_figures
from headcount.intervals.pair import Pair
from headcount.intervals.result import Estimate, check_level
from headcount.intervals.shared_clusters import SharedClusters

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Differences",
    "differences",
    "independent_parts",
    "labelled_influence",
    "single_estimates",
    "target_root",
    "weighted_influence",
]

_MOST_COMPARISONS = 5000
_DRAWS, _SEED = 20_000, 20261116
"""Simulated families of errors, and their seed: the same comparisons give the same p-values."""
_ROWS_SHOWN = 20


@dataclass(frozen=True, eq=False, repr=False)
class Differences:
    """Changes of shares between several pairs of samples, class by class; or, in their place, of figures such as means.

    Attributes
    ----------
    classes : array of shape (n_classes,)
        The classes, or the titles of the figures.
    first, second : list
        Names of the samples that are compared; changes are those of the second against the first.
    change, low, high : arrays of shape (n_pairs, n_classes)
        The intervals hold all true changes at once with the stated level.
    p_value : array of shape (n_pairs, n_classes)
        P-values of no change, corrected for the number of comparisons and for what they have in common: the chance that the largest
        of all comparisons is as extreme as this one if nothing has changed.
    p_single : array of shape (n_pairs, n_classes)
        P-values of each comparison alone.
    level : float
    figures : tuple of Figure
        What is compared in place of the shares of classes; empty for these.
    """

    classes: AnyArray
    first: list[Any]
    second: list[Any]
    change: FloatArray
    low: FloatArray
    high: FloatArray
    p_value: FloatArray
    p_single: FloatArray
    level: float
    figures: tuple[Figure, ...] = ()

    def to_frame(self) -> "pd.DataFrame":
        """Return a data frame with one row for each pair and class."""
        import pandas as pd

        k = len(self.classes)
        columns: dict[str, Any] = {
            "first": [name for name in self.first for _ in range(k)],
            "second": [name for name in self.second for _ in range(k)],
            "figure" if self.figures else "class": np.tile(self.classes, len(self.first)),
        }
        figures = {"change": self.change, "change_low": self.low, "change_high": self.high}
        figures |= {"p_value": self.p_value, "p_single": self.p_single}
        return pd.DataFrame(columns | {name: values.ravel() for name, values in figures.items()})

    def _repr_html_(self) -> str:
        return html_frame(repr(self).partition("\n")[0], self.to_frame())

    def __repr__(self) -> str:
        lines = [
            f"Changes{' of shares' * (not self.figures)}, {self.change.size:,} comparisons with intervals that hold together at "
            f"{self.level:.4g}"
        ]
        rows = list(self.to_frame().itertuples(index=False))
        kinds = [figure.is_share for figure in self.figures] or [True] * len(self.classes)
        for i, (first, second, label, *values, p, _) in enumerate(rows[:_ROWS_SHOWN]):
            change, low, high = (change_text(value, kinds[i % len(kinds)]) for value in values)
            lines.append(f"  {first!s} to {second!s}  {label!s:<16} {change:>7}   {low:>7} to {high:>7}   p = {p:.3g}")
        more = [f"  ... and {len(rows) - _ROWS_SHOWN} more rows"] if len(rows) > _ROWS_SHOWN else []
        return "\n".join([*lines, *more])


def differences(
    estimates: Estimate | Sequence[Estimate],
    against: Literal["first", "previous", "all"] = "first",
    level: float | None = None,
    *,
    figures: Figure | Sequence[Figure] | None = None,
) -> Differences:
    """Compare several samples of one quantifier, all classes, with intervals and p-values that hold for all comparisons at once.

    Errors of the labelled side are common to all samples, and those of a sample to all comparisons that it is part of. Both are
    taken into account: critical values are quantiles of the largest of all standardised errors, simulated with their correlations.
    Bonferroni's correction, which knows nothing of them, would be wider.

    Parameters
    ----------
    estimates : Estimate of several samples, or sequence of estimates of one sample each
        Made with the same fitted quantifier; the samples have no items in common.
    against : {"first", "previous", "all"}, default="first"
        Compare each sample with the first, with the one before it, or each pair.
    level : float, optional
        By default that of the estimates.
    figures : Figure or sequence of Figure, optional
        What to compare in place of the shares of classes, as in `difference`; intervals hold for all figures and pairs at once.

    Returns
    -------
    Differences

    References
    ----------
    Hothorn, Bretz and Westfall (2008). Simultaneous inference in general parametric models. Biometrical Journal 50.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> from headcount import PACC, estimate
    >>> X, y = make_classification(4000, flip_y=0.1, random_state=0)
    >>> q = PACC(random_state=0).fit(X[:1000], y[:1000])
    >>> months = estimate(q, X[1000:], np.arange(3000).reshape(6, 500))          # nothing changes from month to month
    >>> bool((differences(months, against="previous").p_value > 0.05).all())
    True
    """
    singles = single_estimates(estimates)
    level = singles[0].level if level is None else level
    check_level(level)
    names = estimates.names if isinstance(estimates, Estimate) else None
    names = tuple(range(len(singles))) if names is None else names
    evidences = [one.evidence for one in singles]
    if any(evidence is None for evidence in evidences) or len({one.labelled_side for one in singles}) > 1:
        raise DataError(
            "Families of comparisons need estimates by one fitted quantifier with an analytic interval (method='auto')."
        )
    pairs = _pairs(len(singles), against)
    asked = check_figures(figures, len(singles[0].classes))
    V = np.array([figure.values for figure in asked]) if asked else np.eye(len(singles[0].classes))
    if len(pairs) * len(V) > _MOST_COMPARISONS:
        raise DataError(
            f"{len(pairs) * len(V):,} comparisons are too many ({_MOST_COMPARISONS:,} at most): compare with the first or the "
            "previous sample, or fewer samples."
        )
    known = [one.evidence_for(level) for one in singles]
    # The labelled side's own clusters are added up below: only the samples' numbers of items are effective ones here.
    counted = [
        replace(e, sizes=one.evidence.sizes) for e, one in zip(known, singles, strict=True) if one.evidence is not None
    ]
    largest = _largest_errors(counted, pairs, V)
    critical = float(np.quantile(largest, level))
    change = np.stack([V @ (singles[b].shares - singles[a].shares) for a, b in pairs])
    low, high, p_single = np.empty_like(change), np.empty_like(change), np.empty_like(change)
    clusters = SharedClusters([one.design for one in singles])
    for row, (a, b) in enumerate(pairs):
        shared = clusters.of_difference(a, b, V)
        if asked:
            compared = [
                compare_means(singles[a], singles[b], True, values, level, critical, factor)
                for values, factor in zip(V, shared.tolist(), strict=True)
            ]
            low[row], high[row], p_value = np.array(compared).T
        else:
            factor = float(shared.max())
            both = [known[s] if factor == 1.0 else singles[s].evidence_for(level, shared=factor) for s in (a, b)]
            pair = Pair(both[0], both[1], same_labelled=True)
            low[row], high[row] = pair.intervals(critical)
            p_value = pair.p_values()
        p_single[row] = np.where(change[row] == 0.0, 1.0, p_value)
    beyond = len(largest) - np.searchsorted(np.sort(largest), normal_quantile(p_single / 2.0), side="left")
    p_value = np.maximum((beyond + 1.0) / (len(largest) + 1.0), p_single)
    # Beyond what can be simulated, Bonferroni's bound is finer.
    p_value = np.minimum(np.minimum(p_value, p_single * p_single.size), 1.0)
    return Differences(
        np.array([figure.title for figure in asked]) if asked else singles[0].classes,
        [names[a] for a, _ in pairs],
        [names[b] for _, b in pairs],
        change,
        np.minimum(low, change),
        np.maximum(high, change),
        p_value,
        p_single,
        level,
        asked,
    )


def single_estimates(estimates: Estimate | Sequence[Estimate]) -> list[Estimate]:
    """Return the estimates of at least two samples one by one, all of the same classes and of the same estimand."""
    if isinstance(estimates, Estimate):
        singles = (
            [estimates.take(s) for s in range(len(estimates.shares))] if estimates.shares.ndim == 2 else [estimates]
        )
    else:
        singles = list(estimates)
    if len(singles) < 2 or any(one.shares.ndim != 1 for one in singles):
        raise DataError("Expected an estimate of at least two samples, or a sequence of estimates of one sample each.")
    first = singles[0]
    if any(len(one.classes) != len(first.classes) or one.estimand != first.estimand for one in singles):
        raise DataError("The estimates must be of the same classes and of the same estimand.")
    return singles


def _pairs(n: int, against: str) -> list[tuple[int, int]]:
    if against == "first":
        return [(0, s) for s in range(1, n)]
    if against == "previous":
        return [(s - 1, s) for s in range(1, n)]
    if against == "all":
        return list(combinations(range(n), 2))
    raise DataError(f"against must be 'first', 'previous' or 'all'; got {against!r}.")


def _largest_errors(evidences: Sequence[Evidence], pairs: Sequence[tuple[int, int]], V: FloatArray) -> FloatArray:
    """Return draws of the largest absolute standardised error of all comparisons, under no change, by the normal distribution.

    The rows of V are the values of the classes in each figure that is compared; the identity for the shares themselves.
    """
    generator = np.random.default_rng(_SEED)
    k = len(V)
    mean = np.mean([evidence.shares[0] for evidence in evidences], axis=0)
    roots = [V @ target_root(evidence, mean) for evidence in evidences]
    labelled = [labelled_influence(evidence) for evidence in evidences]
    codes = evidences[0].vectors.codes
    first, second = (np.array(side) for side in zip(*pairs, strict=True))
    # What remains of the labelled side's error in a comparison: it cancels as far as the shares are equal.
    gaps = [
        independent_parts(
            weighted_influence(labelled[b], codes, evidences[b].shares[0])
            - weighted_influence(labelled[a], codes, evidences[a].shares[0]),
            evidences[a],
        )
        @ V.T
        for a, b in pairs
    ]
    variance = np.stack(
        [np.square(roots[a]).sum(axis=1) + np.square(roots[b]).sum(axis=1) for a, b in pairs]
    ) + np.stack([np.square(gap).sum(axis=0) for gap in gaps])
    scale = 1.0 / np.sqrt(np.maximum(variance, 1e-300))
    largest = np.empty(_DRAWS)
    chunk = max(1, int(2e6) // (len(pairs) * k))
    influence = _with_fewest_rows(np.concatenate(gaps, axis=1))
    for start in range(0, _DRAWS, chunk):
        stop = min(start + chunk, _DRAWS)
        errors = np.stack([generator.standard_normal((stop - start, root.shape[1])) @ root.T for root in roots], axis=1)
        shared = generator.standard_normal((stop - start, len(influence))) @ influence
        total = errors[:, second]
        total -= errors[:, first]
        total += shared.reshape(total.shape)
        total *= scale
        largest[start:stop] = np.maximum(total.max(axis=(1, 2)), -total.min(axis=(1, 2)))
    return largest


def target_root(evidence: Evidence, shares: FloatArray) -> FloatArray:
    """Return R such that R R' is the covariance of a sample's free shares that comes from which items are in the sample."""
    B, n = evidence.B[0], float(evidence.n[0])
    covariance = B @ np.einsum("l,lab->ab", shares, evidence.S[0]) @ B.T / n
    if not evidence.within:
        covariance = covariance + (np.diag(shares) - np.outer(shares, shares)) / n
    return symmetric_root(covariance)


def symmetric_root(covariance: FloatArray) -> FloatArray:
    """Return the symmetric square root of a covariance.

    Of all roots it alone is unique and continuous: a factor from eigenvectors or from a QR decomposition has signs that depend on
    the processor, so that the same seed would draw other errors.

    >>> symmetric_root(np.array([[2.5, 1.5], [1.5, 2.5]])).round(6).tolist()
    [[1.5, 0.5], [0.5, 1.5]]
    """
    values, axes = np.linalg.eigh(covariance)
    root: FloatArray = (axes * np.sqrt(np.maximum(values, 0.0))) @ axes.T
    return root


def _with_fewest_rows(influence: FloatArray) -> FloatArray:
    """Return a matrix F for which F'F is the same, with no more rows than columns, so that fewer errors are drawn."""
    n_rows, n_columns = influence.shape
    return influence if n_rows <= n_columns else symmetric_root(influence.T @ influence)


def labelled_influence(evidence: Evidence) -> FloatArray:
    """Return what each labelled item would add to the error of the shares if its class had a share of 1, a row each item."""
    U: FloatArray = evidence.vectors.labelled(int(evidence.index[0])) @ evidence.B[0].T
    codes, design, influence = evidence.vectors.codes, evidence.vectors.design, np.empty_like(U)
    for j, size in enumerate(evidence.sizes.tolist()):
        rows = codes == j
        weights = np.ones(int(rows.sum())) if design is None else design.item_weights[rows]
        weights = weights / weights.mean()
        influence[rows] = weights[:, None] * (U[rows] - np.average(U[rows], axis=0, weights=weights)) / size
    return influence


def independent_parts(influence: FloatArray, evidence: Evidence) -> FloatArray:
    """Return errors of labelled items that are independent of each other: where items lie in clusters, their totals."""
    design = evidence.vectors.design
    if design is None or design.clusters is None:
        return influence
    clusters, code = np.unique(design.clusters, return_inverse=True)
    totals = np.zeros((len(clusters), influence.shape[1]))
    np.add.at(totals, code, influence)
    parts: FloatArray = totals * np.sqrt(len(clusters) / max(len(clusters) - 1, 1))
    return parts


def weighted_influence(influence: FloatArray, codes: IntArray, shares: FloatArray) -> FloatArray:
    """Return what each labelled item adds to the error of the shares of a sample, a row each item."""
    weighted: FloatArray = influence * shares[codes][:, None]
    return weighted
