"""`borrow_strength`: shares of small groups, drawn towards those of all groups together, with intervals that hold on average."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from headcount._distributions import normal_quantile
from headcount._typing import AnyArray, FloatArray
from headcount._writing import html_frame
from headcount.exceptions import DataError
from headcount.intervals.between_groups import BetweenGroups, between_groups
from headcount.intervals.evidence import Evidence
from headcount.intervals.inversion import class_intervals
from headcount.intervals.result import Estimate
from headcount.intervals.robust_quantiles import robust_quantile
from headcount.simplex import mixture_least_squares, sum_zero_basis

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["LEAST_GROUPS", "BorrowedStrength", "borrow_strength"]

LEAST_GROUPS = 5
"""Groups from which something can be learnt about how groups differ."""
_MOST_MOVED = 1.0
"""Standard errors by which a share is moved at most, so that a group unlike all others is hurt little."""
_FAR = 2.5
"""Standard errors from the mean beyond which a group is drawn by less, as the inverse square of the distance."""
_BIAS_DOUBT = 0.25
"""Standard errors of the covariance between groups that are added to it in the bias that intervals count."""
_SMALL_PART = 0.15
"""Part of the way below which groups are drawn by much less than seems best.

It would gain little there, and groups whose share is 0, which plain shares often hit, would be moved away from it: with 22 groups
at 0 and two at 0.5 the error grew by 18 %.
"""
_LEAST = 1e-300
_ROWS_SHOWN = 20


@dataclass(frozen=True, eq=False, repr=False)
class BorrowedStrength:
    """Shares of groups, drawn towards those of all groups together.

    Attributes
    ----------
    classes : array of shape (n_classes,)
    shares, low, high : arrays of shape (n_groups, n_classes)
        The intervals hold the true shares at the level on average over groups, not in each group.
    level : float
    drawn : array of shape (n_groups,)
        How far each group was drawn towards the mean: 0 not at all, 1 all the way; with more than two classes, on average over
        directions.
    mean : array of shape (n_classes,)
        The shares that groups are drawn towards.
    between : array of shape (n_classes, n_classes)
        Covariance of the true shares between groups, non-negative definite.
    between_error : array of shape (n_classes, n_classes)
        Standard error of that covariance along each direction, as a matrix.
    plain : Estimate
        The estimate of each group by itself.
    """

    classes: AnyArray
    shares: FloatArray
    low: FloatArray
    high: FloatArray
    level: float
    drawn: FloatArray
    mean: FloatArray
    between: FloatArray
    between_error: FloatArray
    plain: Estimate = field(repr=False)

    def to_frame(self) -> "pd.DataFrame":
        """Return a data frame with one row for each group and class: the plain shares, then those drawn to the other groups."""
        frame = self.plain.to_frame()
        figures = {"drawn_share": self.shares, "drawn_low": self.low, "drawn_high": self.high}
        for name, values in figures.items():
            frame[name] = values.ravel()
        frame["drawn"] = np.repeat(self.drawn, len(self.classes))
        return frame

    def _repr_html_(self) -> str:
        return html_frame(repr(self).partition("\n")[0], self.to_frame())

    def __repr__(self) -> str:
        head = (
            f"Shares drawn towards the other groups, with {self.level:.4g} intervals that hold on average over groups "
            f"({self.plain.quantifier})"
        )
        rows = list(self.to_frame().itertuples(index=False))
        lines = [
            f"  {row[0]!s:<12} {row[1]!s:<16} {row.drawn_share:7.2%}   {row.drawn_low:7.2%} to {row.drawn_high:7.2%}   "
            f"(by itself {row.share:7.2%}, drawn {row.drawn:.0%} of the way; {row.n:,} items)"
            for row in rows[:_ROWS_SHOWN]
        ]
        more = [f"  ... and {len(rows) - _ROWS_SHOWN} more rows"] if len(rows) > _ROWS_SHOWN else []
        return "\n".join([head, *lines, *more])


def borrow_strength(estimate: Estimate) -> BorrowedStrength:
    r"""Draw the shares of small groups towards those of all groups together, as far as groups are alike.

    A group's free shares :math:`c_g` have an error with covariance :math:`T_g`, from which items are in the group, and an error of
    the labelled items that all groups have in common and that no drawing removes. True shares vary between groups with mean
    :math:`\mu` and covariance A. The new shares are

    .. math:: \mu + W_g (c_g - \mu), \quad W_g = A^+ (A^+ + T_g)^{-1},

    back on the simplex, where :math:`A^+` is the estimate of A plus four of its standard errors: how groups differ is known from
    few of them. Three limits keep groups that are unlike the others from harm. Groups that would be drawn by less than a few tenths
    of the way are drawn by less still. Groups farther than 2.5 standard errors from the mean are drawn by less, as the inverse
    square of the distance. No share is moved by more than its own standard error (limited translation, Efron and Morris 1972).

    The intervals hold the true shares at the level on average over groups, whatever the distribution of their true shares: they
    count the bias that drawing gives, of which only the mean square over groups is taken as known, and the common error of the
    labelled items. They do not hold in each group: where a group is unlike all others, its own interval in the plain estimate does.
    How often they held, setting by setting, and the errors beside the plain ones: `python -m benchmarks.small_groups`.

    Parameters
    ----------
    estimate : Estimate
        Of at least 5 groups, by a method with an analytic interval, of the shares in the population.

    Returns
    -------
    BorrowedStrength

    References
    ----------
    Fay and Herriot (1979). Estimates of income for small places: an application of James-Stein procedures to census data. Journal
    of the American Statistical Association 74.
    Efron and Morris (1972). Limiting the risk of Bayes and empirical Bayes estimators, part II: the empirical Bayes case. Journal
    of the American Statistical Association 67.
    Armstrong, Kolesár and Plagborg-Møller (2022). Robust empirical Bayes confidence intervals. Econometrica 90.

    Examples
    --------
    >>> import headcount
    >>> from headcount.intervals import borrow_strength
    >>> generator = np.random.default_rng(0)
    >>> def draw(n):
    ...     y = (generator.random(n) < 0.3).astype(int)
    ...     return generator.normal(2.0 * y)[:, None], y
    >>> quantifier = headcount.PACC(random_state=0).fit(*draw(5000))
    >>> shops = headcount.Samples.from_groups(np.repeat(np.arange(24), 50))      # all shops are alike
    >>> plain = headcount.estimate(quantifier, draw(1200)[0], shops)
    >>> drawn = borrow_strength(plain)
    >>> error, plain_error = (float(np.square(answer.shares[:, 1] - 0.3).mean()) for answer in (drawn, plain))
    >>> error < 0.5 * plain_error, bool((drawn.high - drawn.low).mean() < 0.8 * (plain.high - plain.low).mean())
    (True, True)
    """
    evidence = _checked(estimate)
    k = evidence.shares.shape[1]
    # The method's own shares, and what lies outside the simplex: cut off there, shares near 0 would have a mean that is too large.
    free = evidence.shares + evidence.centre - _on_simplex(evidence.centre)
    spreads = _class_spreads(evidence)
    groups, rest, moved = _drawn(free, spreads, evidence.n)
    shares = _nearest_shares(evidence, moved - free) if k > 2 else _on_simplex(moved)
    own = _target_errors(spreads, shares, evidence.n)
    errors = _errors(own, groups, rest)
    labelled = _labelled_errors(spreads, shares, evidence.sizes)
    bias = rest @ _full(groups.covariance + _BIAS_DOUBT * groups.error) @ np.swapaxes(rest, 1, 2)
    z = float(normal_quantile((1.0 - estimate.level) / 2.0))
    total = np.maximum(_diagonals(errors + labelled) + _estimation_errors(groups, rest), _LEAST)
    wider = (robust_quantile(np.sqrt(_diagonals(bias) / total), estimate.level) / z) ** 2
    # The test of shares takes the place of a normal interval: with as many items as give this error, and the labelled ones as ever.
    n = evidence.n[:, None] * _diagonals(own) / np.maximum(wider * total - _diagonals(labelled), _LEAST)
    z_moved = evidence.z + (evidence.G @ (moved - free)[:, :, None])[:, :, 0]
    there = replace(evidence, shares=shares, z=np.ascontiguousarray(z_moved))
    low, high = np.empty_like(shares), np.empty_like(shares)
    for j in range(1 if k == 2 else 0, k):
        ends = class_intervals(replace(there, n=np.ascontiguousarray(np.maximum(n[:, j], 1.0))), z)
        low[:, j], high[:, j] = ends[0][:, j], ends[1][:, j]
    if k == 2:  # the shares of two classes stand and fall together
        low[:, 0], high[:, 0] = 1.0 - high[:, 1], 1.0 - low[:, 1]
    return BorrowedStrength(
        estimate.classes,
        shares,
        np.minimum(np.clip(low, 0.0, 1.0), shares),
        np.maximum(np.clip(high, 0.0, 1.0), shares),
        estimate.level,
        np.asarray(np.trace(rest, axis1=1, axis2=2) / (k - 1), dtype=np.float64),
        _nearest_mean(evidence, 1.0 / k + sum_zero_basis(k) @ groups.mean),
        _full(groups.covariance),
        _full(groups.error),
        estimate,
    )


def _nearest_shares(evidence: Evidence, moves: FloatArray) -> FloatArray:
    """Return the shares whose mixture is nearest to the mean vectors of the groups after these moves of their free shares.

    Shares of classes that are hardly told apart may be far outside the simplex: the nearest point of it by their own distance,
    which takes all shares for equally certain, is then far from what the items say.
    """
    z = evidence.z + (evidence.G @ moves[:, :, None])[:, :, 0]
    if len(evidence.G) == 1:
        return mixture_least_squares(evidence.G[0], z)
    return np.concatenate([mixture_least_squares(G, one[None]) for G, one in zip(evidence.G, z, strict=True)])


def _nearest_mean(evidence: Evidence, mean: FloatArray) -> FloatArray:
    """Return the shares whose mixture is nearest to that of free shares."""
    shares: FloatArray = mixture_least_squares(evidence.G[0], (evidence.G[0] @ mean)[None])[0]
    return shares


def _checked(estimate: Any) -> Evidence:
    """Return the evidence of an estimate, or raise if there is nothing to borrow."""
    if not isinstance(estimate, Estimate) or estimate.shares.ndim != 2 or len(estimate.shares) < LEAST_GROUPS:
        n = len(estimate.shares) if isinstance(estimate, Estimate) and estimate.shares.ndim == 2 else 1
        raise DataError(
            f"Strength is borrowed from at least {LEAST_GROUPS} groups, of an estimate of several samples; there "
            f"{'is one' if n == 1 else f'are {n}'}. Fewer do not tell how groups differ."
        )
    if estimate.evidence is None:
        raise DataError(
            f"Borrowing strength needs a method with an analytic interval, such as PACC or ACC; the intervals of this estimate are "
            f"of another kind ({estimate.quantifier}, {estimate.method})."
        )
    if estimate.estimand != "population":
        raise DataError(
            "Strength is borrowed for the shares of the source that items came from: pass estimand='population' (omit --sample)."
        )
    if estimate.design is not None:
        raise DataError(
            "Strength can't be borrowed under a survey design: how it would change the intervals is not measured."
        )
    evidence = estimate.evidence
    if (evidence.rank < evidence.shares.shape[1] - 1).any():
        raise DataError(
            "The classifier does not tell some classes apart: their shares can't be drawn towards other groups'."
        )
    return evidence


def _drawn(free: FloatArray, spreads: FloatArray, n: FloatArray) -> tuple[BetweenGroups, FloatArray, FloatArray]:
    """Return how groups vary, what part of the way each is drawn, as a matrix, and the drawn shares, free to leave the simplex."""
    k = free.shape[1]
    basis = sum_zero_basis(k)
    values = (free - 1.0 / k) @ basis

    def errors_at(shares: FloatArray) -> FloatArray:
        errors: FloatArray = basis.T @ _target_errors(spreads, _on_simplex(shares), n) @ basis
        return errors + 1e-10 * np.eye(k - 1)

    groups = between_groups(values, lambda mean: errors_at((1.0 / k + basis @ mean)[None]))
    errors, moved = groups.errors, free
    for _ in range(2):  # first with the errors at the mean, then with those at the shares drawn there
        rest = errors @ np.linalg.inv(groups.upper + errors)
        squared = rest @ rest
        rest = rest @ squared @ np.linalg.inv(squared + _SMALL_PART**2 * np.eye(k - 1))
        pull = (rest @ (groups.mean - values)[:, :, None])[:, :, 0] @ basis.T
        most = _MOST_MOVED * np.sqrt(_diagonals(basis @ errors @ basis.T))
        part = np.minimum(1.0, (most / np.maximum(np.abs(pull), _LEAST)).min(axis=1))
        off = values - groups.mean
        far = np.einsum("ga,gab,gb->g", off, np.linalg.inv(errors), off) / (k - 1)
        part = part * np.minimum(1.0, _FAR**2 / np.maximum(far, _LEAST))
        moved = free + part[:, None] * pull
        errors = errors_at(moved)
    return groups, basis @ (rest * part[:, None, None]) @ basis.T, moved


def _errors(own: FloatArray, groups: BetweenGroups, rest: FloatArray) -> FloatArray:
    """Return the covariance of what items of the group and, through the mean, of the other groups contribute to its error."""
    weights = groups.weights[:, None, None]
    kept = np.eye(own.shape[1]) - (1.0 - weights) * rest
    squares = weights**2 * groups.errors
    others = _full(squares.sum(axis=0) - squares)
    errors: FloatArray = kept @ own @ np.swapaxes(kept, 1, 2) + rest @ others @ np.swapaxes(rest, 1, 2)
    return errors


def _estimation_errors(groups: BetweenGroups, rest: FloatArray) -> FloatArray:
    r"""Return by how much the mean squared error of each share grows because how far it is drawn follows the data.

    Let w be the weight of the group itself, t the variance of its error and a that between groups. The observed variance M, of mean
    t + a, has variance :math:`2 (t + a)^2 / \nu`, and the slope :math:`dw/dM` is :math:`(1 + d) (1 - w)^2 / t`, where d is how much
    the upper end of a grows with M. To second order the mean squared error grows by :math:`(dw/dM)^2 var(M) (t + a)` and by
    :math:`2 (dw/dM) var(M) (w t - (1 - w) a) / (t + a)`. Where the estimate of a is 0, w is at its bound and does not follow M.
    """
    k = rest.shape[1]
    t, between = np.maximum(_diagonals(_full(groups.errors)), _LEAST), np.diag(_full(groups.covariance))
    drawn = _diagonals(rest) * (k / (k - 1.0))
    ratio = 1.0 + between / t
    slope = (1.0 + groups.doubt) * drawn**2
    first = 2.0 * slope * ratio * np.maximum(1.0 - drawn - drawn * (ratio - 1.0), 0.0)
    second = slope**2 * ratio**3
    known = between / np.maximum(between + np.sqrt(2.0 / groups.degrees) * (between + t), _LEAST)
    growth: FloatArray = (
        (k / groups.degrees) * known * (first + second) * t
    )  # k / 2 times: covariances are estimated too
    return growth


def _class_spreads(evidence: Evidence) -> FloatArray:
    """Return the covariance of what an item of each class contributes to free shares: (one or n_groups, n_classes, k, k)."""
    B = evidence.B[:, None]
    spreads: FloatArray = B @ evidence.S @ np.swapaxes(B, 2, 3)
    return spreads


def _target_errors(spreads: FloatArray, shares: FloatArray, n: FloatArray) -> FloatArray:
    """Return the covariance of each group's error that comes from which items are in the group; see `family.target_root`."""
    shares = np.broadcast_to(shares, (len(n), shares.shape[1]))
    of_items = np.einsum("gl,glab->gab", shares, np.broadcast_to(spreads, (len(n), *spreads.shape[1:])))
    composition = shares[:, :, None] * (np.eye(shares.shape[1]) - shares[:, None, :])
    errors: FloatArray = (of_items + composition) / n[:, None, None]
    return errors


def _labelled_errors(spreads: FloatArray, shares: FloatArray, sizes: FloatArray) -> FloatArray:
    """Return the covariance of each group's error that comes from which items are labelled."""
    spreads = np.broadcast_to(spreads, (len(shares), *spreads.shape[1:]))
    errors: FloatArray = np.einsum("gl,glab->gab", shares**2 / sizes, spreads)
    return errors


def _on_simplex(values: FloatArray) -> FloatArray:
    """Return the nearest shares."""
    return mixture_least_squares(np.eye(values.shape[1]), values)


def _full(reduced: FloatArray) -> FloatArray:
    """Return a covariance of shares from that in the directions of the simplex."""
    basis = sum_zero_basis(reduced.shape[-1] + 1)
    full: FloatArray = basis @ reduced @ basis.T
    return full


def _diagonals(matrices: FloatArray) -> FloatArray:
    return np.diagonal(matrices, axis1=1, axis2=2)
