"""`Estimate`: shares with their intervals, and the region that holds all shares of a sample at once."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from headcount._distributions import normal_quantile
from headcount._typing import AnyArray, FloatArray
from headcount._validation import as_shares, quoted
from headcount._writing import html_frame
from headcount.exceptions import DataError
from headcount.intervals.designs import DesignErrors, design_intervals, effective_evidence
from headcount.intervals.evidence import Evidence
from headcount.intervals.inversion import class_intervals, mean_intervals
from headcount.intervals.posterior import shortest_intervals

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Estimate", "MeanEstimate", "check_level", "class_values"]

_ROWS_SHOWN = 20


class MeanEstimate(NamedTuple):
    """A mean of class values with its interval: numbers for one sample, vectors for many; NaN where there is no interval."""

    mean: Any
    low: Any
    high: Any
    level: float


def class_values(classes: Any) -> FloatArray:
    """Return classes that are numbers, or texts of numbers, as numbers.

    >>> class_values(["1", "2", "3"]).tolist()
    [1.0, 2.0, 3.0]
    """
    try:
        values = np.array([float(label) for label in classes])
    except (TypeError, ValueError) as error:
        raise DataError(
            f"The classes {quoted(list(classes), 5)} are not numbers: give the value of each class, such as "
            f"{classes[0]}=0,{classes[1]}=1."
        ) from error
    if not np.isfinite(values).all():
        raise DataError(f"The classes {quoted(list(classes), 5)} are not finite numbers: give the value of each class.")
    return values


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
        given = class_values(self.classes) if values is None else np.asarray(values, dtype=np.float64)
        if given.shape != (len(self.classes),) or not np.isfinite(given).all():
            raise DataError(f"A finite value of each of the {len(self.classes)} classes is needed; got {values!r}.")
        shares = np.atleast_2d(self.shares)
        mean = shares @ given
        if np.ptp(given) == 0.0:
            low, high = mean, mean
        elif len(given) == 2:
            ends = np.stack([np.atleast_2d(self.low)[:, 1], np.atleast_2d(self.high)[:, 1]])
            low, high = np.sort(given[0] + (given[1] - given[0]) * ends, axis=0)
        elif self.draws is not None:
            low, high = (ends[:, 0] for ends in shortest_intervals((self.draws @ given)[:, :, None], self.level, None))
        elif self.covariances is not None:
            reach = float(normal_quantile((1.0 - self.level) / 2.0)) * np.sqrt(
                np.maximum(np.einsum("a,sab,b->s", given, self.covariances, given), 0.0)
            )
            low, high = np.maximum(mean - reach, given.min()), np.minimum(mean + reach, given.max())
        elif self.evidence is None:
            low = high = np.full(len(mean), np.nan)
        else:
            z = float(normal_quantile((1.0 - self.level) / 2.0))
            if self.design is None:
                low, high = mean_intervals(self.evidence, given, z)
            else:
                low, high = design_intervals(self.evidence, self.design, z, given)
        low, high = np.minimum(low, mean), np.maximum(high, mean)
        if self.shares.ndim == 2:
            return MeanEstimate(mean, low, high, self.level)
        return MeanEstimate(float(mean[0]), float(low[0]), float(high[0]), self.level)

    def evidence_for(self, level: float) -> Evidence:
        """Return the evidence of one sample that comparisons at this level go by; under a design with effective sizes."""
        if self.evidence is None:
            raise DataError("This estimate has no evidence to compare by: it was made without an analytic interval.")
        if self.design is None:
            return self.evidence
        return effective_evidence(self.evidence, self.design, float(normal_quantile((1.0 - level) / 2.0)))

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


def check_level(level: Any) -> None:
    """Raise unless this is a level of confidence."""
    if not (isinstance(level, float | int | np.floating) and 0 < level < 1):
        raise DataError(f"level must be between 0 and 1, such as 0.95; got {level!r}.")
