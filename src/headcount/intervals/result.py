"""`Estimate`: shares with their intervals, and the region that holds all shares of a sample at once."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from headcount._distributions import normal_quantile
from headcount._typing import AnyArray, FloatArray
from headcount._validation import as_shares, check_ordered
from headcount._writing import html_frame
from headcount.exceptions import DataError
from headcount.intervals.designs import DesignErrors, design_intervals, effective_evidence
from headcount.intervals.evidence import Evidence
from headcount.intervals.figures import Figure, at_least, at_most, mean_of
from headcount.intervals.inversion import class_intervals
from headcount.intervals.value_means import (
    CumulativeShares,
    MeanEstimate,
    QuantileEstimate,
    ShareEstimate,
    intervals_of_means,
    quantile_positions,
    why_no_means,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Estimate", "check_level", "check_quantile"]

_ROWS_SHOWN = 20


@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """Estimated shares with intervals, of one sample (vectors) or of many (matrices with one row a sample).

    Attributes
    ----------
    classes : array of shape (n_classes,)
    shares, low, high : arrays of shape (n_classes,) or (n_samples, n_classes)
    level : float
        How often, at least nominally, the interval of a class holds its true share.
    estimand : {"population", "sample"}
        Whose share is meant: of the population that the items were drawn from, or of these very items.
    method : str
        How the intervals were found.
    n_items : array of shape (n_samples,)
    names : tuple or None
        Names of the samples.
    replicates : array of shape (n_samples, n_replicates, n_classes) or None
        Of a bootstrap of a method without an analytic interval.
    draws : array of shape (n_samples, n_draws, n_classes) or None
        Of the posterior, for methods that draw from it; None if they are more than eight million numbers.
    design : DesignErrors or None
        Covariances and design effects of both sides, where a survey design was given.
    covariances : array of shape (n_samples, n_classes, n_classes) or None
        Of the errors of the shares, of estimates with labels of the target.
    ordered : bool
        Whether the order of the classes means something: it was given, or they are numbers or dates.
    """

    classes: AnyArray
    shares: FloatArray
    low: FloatArray
    high: FloatArray
    level: float
    estimand: str
    method: str
    n_items: AnyArray
    quantifier: str
    names: tuple[Any, ...] | None = None
    evidence: Evidence | None = field(default=None, repr=False)
    labelled_side: str = ""
    replicates: FloatArray | None = field(default=None, repr=False)
    draws: FloatArray | None = field(default=None, repr=False)
    design: DesignErrors | None = field(default=None, repr=False)
    covariances: FloatArray | None = field(default=None, repr=False)
    ordered: bool = False

    def contains(self, shares: Any) -> Any:
        """Say for each sample whether the joint region at this level holds these shares of all classes.

        The region is the box of the intervals of all classes that hold together at the level (Bonferroni's correction; two classes
        stand and fall together). An ellipsoid would be smaller, but with few labelled items it holds the truth less often.
        """
        if self.evidence is None:
            raise DataError("This estimate has no joint region: its intervals were found class by class.")
        given = np.atleast_2d(as_shares(shares, "shares"))
        estimated = np.atleast_2d(self.shares)
        if given.shape[1] != estimated.shape[1] or len(given) not in (1, len(estimated)):
            raise DataError(
                f"Shares of {estimated.shape[1]} classes for one or for each of {len(estimated)} samples are needed; got shape "
                f"{given.shape}."
            )
        k = len(self.classes)
        z = float(normal_quantile((1.0 - self.level) / 2.0 / (k if k > 2 else 1)))
        if self.design is None:
            low, high = class_intervals(self.evidence, z)
        else:
            low, high = design_intervals(self.evidence, self.design, z)
        low, high = np.minimum(low, estimated), np.maximum(high, estimated)
        inside: AnyArray = np.all((low <= given + 1e-9) & (given - 1e-9 <= high), axis=1)
        return inside if self.shares.ndim == 2 else bool(inside[0])

    def plot(self, labels: Any = None, *, names: Any = None, ax: Any = None) -> Any:
        """Draw the shares of each sample with their intervals (`headcount.plots.intervals`)."""
        from headcount.plots import intervals

        return intervals(self, labels, names=names, ax=ax)

    def covariance(self) -> FloatArray:
        """Return the covariance matrix of the errors of one sample's shares, those of the labelled side included.

        It is that of shares that solve the method's equations, free to leave [0, 1]; intervals do not go by it where a share is
        near 0 or 1.

        Examples
        --------
        >>> import headcount
        >>> y = np.arange(3000) % 3
        >>> X = y[:, None] + np.random.default_rng(0).standard_normal((3000, 1))
        >>> quantifier = headcount.PACC(random_state=0).fit(X[:1500], y[:1500])
        >>> covariance = headcount.estimate(quantifier, X[1500:]).covariance()
        >>> bool(np.allclose(covariance.sum(axis=1), 0.0)), bool((np.diag(covariance) > 0).all())
        (True, True)
        """
        if self.draws is not None and self.shares.ndim == 1:
            return np.asarray(np.cov(self.draws[0].T), dtype=np.float64)
        if self.covariances is not None and self.shares.ndim == 1:
            return np.asarray(self.covariances[0], dtype=np.float64)
        if self.evidence is None or self.shares.ndim != 1:
            raise DataError(
                "The covariance is that of one sample, of a method with an analytic interval or a posterior."
            )
        if self.design is not None:
            return np.asarray(self.design.covariance[0], dtype=np.float64)
        evidence, p = self.evidence, self.shares
        B, S, n = evidence.B[0], evidence.S[0], float(evidence.n[0])
        weights = p / n + p**2 / evidence.sizes  # of the sample's items, and of the labelled ones
        covariance: FloatArray = B @ np.einsum("l,lab->ab", weights, S) @ B.T
        if not evidence.within:
            covariance = covariance + (np.diag(p) - np.outer(p, p)) / n
        return covariance

    def mean(self, values: Any = None) -> "MeanEstimate":
        r"""Return the mean of a value of each class, such as its number of stars, with its interval.

        The mean :math:`\sum_j v_j p_j` is a linear function of the shares. Its interval holds the means that the test behind the
        intervals of shares does not reject: the errors of all shares are counted together, with their correlations.

        Parameters
        ----------
        values : sequence of float, optional
            The value of each class, in the order of ``classes``; by default the classes themselves, which must be numbers.

        Examples
        --------
        >>> import headcount
        >>> y = np.arange(3000) % 3
        >>> X = y[:, None] + np.random.default_rng(0).standard_normal((3000, 1))
        >>> quantifier = headcount.PACC(random_state=0).fit(X[:1500], y[:1500])
        >>> answer = headcount.estimate(quantifier, X[1500:]).mean()
        >>> bool(answer.low < 1.0 < answer.high), bool(answer.high - answer.low < 0.2)
        (True, True)
        """
        return MeanEstimate(*self.figure(mean_of(self.classes, values)), self.level)

    def at_least(self, label: Any) -> ShareEstimate:
        """Return the share of the items of a class or one above it, of ordered classes, with its interval.

        The interval counts the errors of all shares together, as that of `mean` does.

        Parameters
        ----------
        label : one of ``classes``, or its text

        Examples
        --------
        >>> import headcount
        >>> stars = np.arange(3000) % 5 + 1
        >>> X = stars[:, None] + np.random.default_rng(0).standard_normal((3000, 1))
        >>> quantifier = headcount.PACC(random_state=0).fit(X[:1500], stars[:1500])
        >>> answer = headcount.estimate(quantifier, X[1500:]).at_least(4)
        >>> bool(answer.low < 0.4 < answer.high)
        True
        """
        return ShareEstimate(*self.figure(at_least(self.classes, label, self.ordered)), self.level)

    def at_most(self, label: Any) -> ShareEstimate:
        """Return the share of the items of a class or one below it, of ordered classes, with its interval; see `at_least`.

        Parameters
        ----------
        label : one of ``classes``, or its text
        """
        return ShareEstimate(*self.figure(at_most(self.classes, label, self.ordered)), self.level)

    @property
    def cumulative(self) -> CumulativeShares:
        """Shares of each class or one below it, of ordered classes, with the interval of each."""
        check_ordered(self.classes, self.ordered, "A cumulative share")
        columns = [self.figure(at_most(self.classes, label)) for label in self.classes[:-1]]
        ones = np.where(np.isnan(self.shares[..., -1]), np.nan, 1.0)
        shares, low, high = (np.stack([*ends, ones], axis=-1) for ends in zip(*columns, strict=True))
        return CumulativeShares(self.classes, shares, low, high, self.level)

    def quantile(self, q: float = 0.5) -> QuantileEstimate:
        """Return a quantile of ordered classes, the lowest class with at least a share q at or below it, with its interval.

        Its interval are the classes that the intervals of cumulative shares do not rule out. It holds the true quantile at least as
        often as the level says; where all classes but one are ruled out, nearly always.

        Parameters
        ----------
        q : float, default=0.5
            The median.

        Examples
        --------
        >>> import headcount
        >>> stars = np.arange(3000) % 5 + 1
        >>> X = stars[:, None] + np.random.default_rng(0).standard_normal((3000, 1))
        >>> quantifier = headcount.PACC(random_state=0).fit(X[:1500], stars[:1500])
        >>> answer = headcount.estimate(quantifier, X[1500:]).quantile(0.5)
        >>> int(answer.value), int(answer.low), int(answer.high)
        (3, 3, 3)
        """
        check_quantile(q)
        if reason := self.why_no_means:
            raise DataError(f"There is no interval of a quantile. {reason}")
        cumulative = self.cumulative
        shares, low, high = (np.atleast_2d(ends) for ends in (cumulative.shares, cumulative.low, cumulative.high))
        labels = [self.classes[position] for position in quantile_positions(shares, low, high, q)]
        if np.isnan(shares).any():
            labels = [np.where(np.isnan(shares[:, 0]), None, label) for label in labels]
        value, lowest, highest = labels if self.shares.ndim == 2 else [label[0] for label in labels]
        return QuantileEstimate(value, lowest, highest, self.level)

    @property
    def why_no_means(self) -> str:
        """Why there are no intervals of means and cumulative shares though there are some of single shares; empty if there are."""
        return why_no_means(self)

    def figure(self, figure: Figure) -> tuple[Any, Any, Any]:
        """Return the value of a figure and the ends of its interval: numbers for one sample, vectors for many; NaN without one.

        Parameters
        ----------
        figure : Figure
            For ``classes`` in their order.
        """
        value, low, high = intervals_of_means(self, figure.values)
        if self.shares.ndim == 2:
            return value, low, high
        return float(value[0]), float(low[0]), float(high[0])

    def evidence_for(self, level: float, values: FloatArray | None = None, shared: float = 1.0) -> Evidence:
        """Return the evidence of one sample that comparisons at this level go by; under a design with effective sizes.

        With values, under a design, those sizes are of the mean of these values. ``shared``: factor of the variance that comes from
        the sample, where it has clusters in common with another one.
        """
        if self.evidence is None:
            raise DataError("This estimate has no evidence to compare by: it was made without an analytic interval.")
        if self.design is None:
            return self.evidence
        z = float(normal_quantile((1.0 - level) / 2.0))
        return effective_evidence(self.evidence, self.design, z, values, shared)

    def take(self, s: int) -> "Estimate":
        """Return the estimate of sample s alone, as a vector."""
        return replace(
            self,
            shares=self.shares[s],
            low=self.low[s],
            high=self.high[s],
            n_items=self.n_items[s : s + 1],
            names=None,
            evidence=None if self.evidence is None else self.evidence.take(s),
            replicates=None if self.replicates is None else self.replicates[s : s + 1],
            draws=None if self.draws is None else self.draws[s : s + 1],
            design=None if self.design is None else self.design.take(s),
            covariances=None if self.covariances is None else self.covariances[s : s + 1],
        )

    def to_frame(self) -> "pd.DataFrame":
        """Return a data frame with one row for each sample and class."""
        import pandas as pd

        k = len(self.classes)
        sizes = np.atleast_1d(self.n_items)
        names = range(len(sizes)) if self.names is None else self.names
        columns = {"sample": np.repeat(np.asarray(names), k), "class": np.tile(self.classes, len(sizes))}
        numbers = {"share": self.shares, "share_low": self.low, "share_high": self.high}
        columns |= {name: values.ravel() for name, values in numbers.items()}
        return pd.DataFrame(columns | {"n": np.repeat(sizes, k)})

    def _repr_html_(self) -> str:
        return html_frame(repr(self).partition("\n")[0], self.to_frame())

    def __repr__(self) -> str:
        whose = {"population": "in the population", "sample": "among these items"}[self.estimand]
        head = f"Shares {whose}, with {self.level:.4g} intervals ({self.quantifier}, {self.method})"
        rows = list(self.to_frame().itertuples(index=False))
        lines = []
        for name, label, share, low, high, n in rows[:_ROWS_SHOWN]:
            which = f"{name!s:<12} " if self.shares.ndim == 2 else ""
            lines.append(f"  {which}{label!s:<16} {share:7.2%}   {low:7.2%} to {high:7.2%}   ({n:,} items)")
        more = [f"  ... and {len(rows) - _ROWS_SHOWN} more rows"] if len(rows) > _ROWS_SHOWN else []
        return "\n".join([head, *lines, *more])


def check_quantile(q: Any) -> None:
    """Raise unless this is the order of a quantile."""
    if isinstance(q, bool) or not (isinstance(q, float | int | np.floating) and 0 < q < 1):
        raise DataError(f"A quantile (--quantile) must be between 0 and 1, such as 0.5 for the median; got {q!r}.")


def check_level(level: Any) -> None:
    """Raise unless this is a level of confidence."""
    if not (isinstance(level, float | int | np.floating) and 0 < level < 1):
        raise DataError(f"level must be between 0 and 1, such as 0.95; got {level!r}.")
