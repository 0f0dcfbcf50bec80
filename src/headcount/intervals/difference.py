"""The difference between two estimates, with its interval and p-value."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headcount._distributions import normal_quantile
from headcount._typing import AnyArray, FloatArray
from headcount.exceptions import DataError
from headcount.intervals.bootstrap import percentile_interval
from headcount.intervals.figures import Figure, change_text, check_figures
from headcount.intervals.pair import Pair
from headcount.intervals.result import Estimate, check_level
from headcount.intervals.shared_clusters import SharedClusters

__all__ = ["Difference", "compare_means", "difference"]


@dataclass(frozen=True, eq=False, repr=False)
class Difference:
    """By how much shares differ between two samples, class by class; or, in their place, figures such as means.

    Attributes
    ----------
    classes : array of shape (n_classes,)
        The classes, or the titles of the figures.
    change, low, high, p_value : arrays of shape (n_classes,)
        The second estimate's shares minus the first's, its interval, and the two-sided p-value of no difference.
    level : float
    figures : tuple of Figure
        What is compared in place of the shares of classes; empty for these.
    """

    classes: AnyArray
    change: FloatArray
    low: FloatArray
    high: FloatArray
    p_value: FloatArray
    level: float
    figures: tuple[Figure, ...] = ()

    def __repr__(self) -> str:
        lines = [f"Change{' of shares' * (not self.figures)}, with {self.level:.4g} intervals"]
        kinds = [figure.is_share for figure in self.figures] or [True] * len(self.classes)
        for label, *figures, p, kind in zip(
            self.classes, self.change, self.low, self.high, self.p_value, kinds, strict=True
        ):
            change, low, high = (change_text(value, kind) for value in figures)
            lines.append(f"  {label!s:<16} {change:>7}   {low:>7} to {high:>7}   p = {p:.3g}")
        return "\n".join(lines)


def difference(
    a: Estimate, b: Estimate, level: float | None = None, *, figures: Figure | Sequence[Figure] | None = None
) -> Difference:
    """Compare two estimates of one sample each: ``b`` minus ``a``.

    Where both were made with the same fitted quantifier, they share the errors of its labelled side, which cancel in part; this is
    taken into account. The samples must have no items in common; clusters of a survey design, such as authors who write in both
    months, may have items in both, which is counted by their names. A difference is tested by the same statistic as the intervals
    of the estimates: the distance of both samples from mixtures whose shares differ by it. Where a classifier does not tell classes
    apart, any difference is possible, and the p-value is 1. Estimates by a bootstrap without an analytic interval are compared
    replicate by replicate: give both the same ``random_state``.

    Parameters
    ----------
    a, b : Estimate
        Of one sample each, of the same classes and estimand.
    level : float, optional
        By default that of ``a``.
    figures : Figure or sequence of Figure, optional
        What to compare in place of the shares of classes: means of class values (`mean_of`) and cumulative shares (`at_least`,
        `at_most`), made for the classes of the estimates.

    Examples
    --------
    >>> import headcount, numpy as np
    >>> from headcount.intervals import at_least, mean_of
    >>> generator = np.random.default_rng(0)
    >>> def draw(shares, n):
    ...     stars = generator.choice(5, n, p=shares) + 1
    ...     return (stars + 0.8 * generator.standard_normal(n))[:, None], stars
    >>> quantifier = headcount.PACC(random_state=0).fit(*draw([0.2] * 5, 1500))
    >>> before, after = (headcount.estimate(quantifier, draw(p, 2000)[0]) for p in ([0.2] * 5, [0.1, 0.1, 0.2, 0.3, 0.3]))
    >>> change = difference(before, after, figures=[mean_of(quantifier.classes_), at_least(quantifier.classes_, 4)])
    >>> change.classes.tolist(), bool(change.low[0] < 0.6 < change.high[0]), bool(change.low[1] < 0.2 < change.high[1])
    (['mean', 'at least 4'], True, True)
    """
    if a.shares.ndim != 1 or b.shares.ndim != 1:
        raise DataError("difference compares two estimates of one sample each; estimate the samples one by one.")
    if len(a.classes) != len(b.classes) or not np.all(a.classes == b.classes) or a.estimand != b.estimand:
        raise DataError("The two estimates must be of the same classes and of the same estimand.")
    level = a.level if level is None else level
    check_level(level)
    asked = check_figures(figures, len(a.classes))
    same_labelled = a.labelled_side == b.labelled_side
    change = b.shares - a.shares
    if asked:
        change = np.array([change @ figure.values for figure in asked])
    if a.evidence is not None and b.evidence is not None and asked:
        compared = [compare_means(a, b, same_labelled, figure.values, level) for figure in asked]
        low, high, p_value = np.array(compared).T
    elif a.evidence is not None and b.evidence is not None:
        shared = float(SharedClusters([a.design, b.design]).of_difference(0, 1, np.eye(len(change))).max())
        pair = Pair(a.evidence_for(level, shared=shared), b.evidence_for(level, shared=shared), same_labelled)
        low, high = pair.intervals(float(normal_quantile((1.0 - level) / 2.0)))
        p_value = pair.p_values()
    elif a.replicates is not None and b.replicates is not None and a.replicates.shape == b.replicates.shape:
        gaps = b.replicates - a.replicates
        if asked:
            gaps = np.stack([gaps @ figure.values for figure in asked], axis=-1)
        low, high, p_value = _by_replicates(gaps, level)
    else:
        raise DataError(
            "One of the estimates has no statistic to compare by: use method='delta' or 'auto' of a method with an analytic "
            "interval, such as ACC or PACC, or for both a bootstrap with the same number of replicates."
        )
    p_value = np.where(change == 0.0, 1.0, p_value)  # both at the same end of [0, 1]: no difference is seen
    titles = np.array([figure.title for figure in asked]) if asked else a.classes
    return Difference(titles, change, np.minimum(low, change), np.maximum(high, change), p_value, level, asked)


def compare_means(
    a: Estimate,
    b: Estimate,
    same_labelled: bool,
    values: FloatArray,
    level: float,
    z: float | None = None,
    shared: float | None = None,
) -> tuple[float, float, float]:
    """Return the ends of the interval of the difference between two means of class values, and its p-value.

    ``z`` is the normal quantile of the interval, by default that of the level; ``shared`` what clusters in common do to the
    variance, if it is known.
    """
    if shared is None:
        shared = float(SharedClusters([a.design, b.design]).of_difference(0, 1, values[None])[0])
    first, second = (one.evidence_for(level, values, shared) for one in (a, b))
    pair = Pair(first, second, same_labelled, pool_spread=True)
    z = float(normal_quantile((1.0 - level) / 2.0)) if z is None else z
    return *pair.mean_interval(values, z), pair.mean_p_value(values)


def _by_replicates(replicates: FloatArray, level: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return percentiles of differences; two estimates with one seed share the replicates of their labelled side."""
    low, high = percentile_interval(replicates, np.full((1, replicates.shape[2]), (1 - level) / 2))
    beyond = np.minimum((replicates[0] <= 0).sum(axis=0), (replicates[0] >= 0).sum(axis=0))
    return low[0], high[0], np.minimum(2.0 * (beyond + 1) / (replicates.shape[1] + 1), 1.0)
