"""`Pair`: the evidence of two samples about the difference of their shares, with the labelled side that they have in common."""

from functools import cached_property

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, stdtrit

from headcount._interpreted import run
from headcount._typing import FloatArray
from headcount.intervals.evidence import Evidence
from headcount.intervals.inversion import inversion_steps, student_table

__all__ = ["Pair"]

_LARGEST_Z = 37.0
"""Normal quantile whose tail probability is the least that is told from 0."""


class Pair:
    """Two samples, and the covariance of their errors.

    Parameters
    ----------
    first, second : Evidence
        Of one sample each.
    same_labelled : bool
        Whether both were estimated with the same labelled items.
    pool_spread : bool, default=False
        Whether classes have the spread that intervals of means go by (`Evidence.with_pooled_spread`).
    """

    def __init__(self, first: Evidence, second: Evidence, same_labelled: bool, pool_spread: bool = False) -> None:
        self.k = first.shares.shape[1]
        self.same_labelled = same_labelled
        if same_labelled and not first.vectors.is_shared:
            # With the same vectors for both samples, errors of the labelled side cancel as far as the shares are equal.
            inside = (first.inside() + second.inside()) / 2.0
            first, second = first.at(inside), second.at(inside)
        if pool_spread:
            first, second = first.with_pooled_spread(), second.with_pooled_spread()
        self.both = (first, second)

    @cached_property
    def shared(self) -> FloatArray:
        """Covariance of the vectors that an item of each class has for the two samples: shape (n_classes, d, d)."""
        first = self.both[0]
        d = first.z.shape[1]
        return np.asarray(first.S[0], dtype=np.float64) if self.same_labelled else np.zeros((self.k, d, d))

    @cached_property
    def _arrays(self) -> tuple[FloatArray, ...]:
        first, second = self.both
        common = np.einsum("ja,lab,jb->lj", first.B[0], self.shared, second.B[0])
        stacked = [
            np.stack([getattr(e, name)[0] for e in self.both])
            for name in ("z", "G", "S", "spread", "third", "n", "shares")
        ]
        z, G, S, spread, third, n, shares = stacked
        sizes = np.stack([first.sizes, second.sizes])
        return z, G, S, self.shared, spread, third, common, sizes, n, shares

    def _steps(self) -> float:
        """Return about how many steps the kernels take: a class's difference is inverted over the shares of both samples."""
        d, k = self.both[0].z.shape[1], self.k
        return float(k * inversion_steps(2 * d, 2 * k))

    @property
    def identified(self) -> bool:
        """Whether the classes are told apart at all in both samples."""
        return all(e.rank[0] > 0 for e in self.both)

    def intervals(self, z: float) -> tuple[FloatArray, FloatArray]:
        """Return the ends of the interval of each class's difference, where z is the normal quantile of the level."""
        from headcount.intervals import _difference_kernels

        low, high = np.full(self.k, -1.0), np.full(self.k, 1.0)
        if self.identified:
            *arrays, shares = self._arrays
            table = student_table(float(ndtr(-z)))
            run(
                _difference_kernels.difference_bounds,
                self._steps(),
                *arrays,
                self.both[0].within,
                z,
                table,
                shares,
                low,
                high,
            )
        return low, high

    def mean_interval(self, values: FloatArray, z: float) -> tuple[float, float]:
        """Return the ends of the interval of the difference between the means of class values."""
        from headcount.intervals import _value_difference_kernels

        width = float(np.ptp(values))
        ends = np.array([-1.0, 1.0])
        if self.identified:
            run(
                _value_difference_kernels.mean_difference_bounds,
                self._steps() / self.k,
                *self._arrays_along((values - values.min()) / width),
                self.both[0].within,
                z,
                student_table(float(ndtr(-z))),
                self._arrays[-1],
                ends,
            )
        return float(width * ends[0]), float(width * ends[1])

    def mean_p_value(self, values: FloatArray) -> float:
        """Return the two-sided p-value of no difference between the means of class values."""
        from headcount.intervals import _value_difference_kernels

        if not self.identified:
            return 1.0
        found = np.empty(4)
        run(
            _value_difference_kernels.no_difference_of_means,
            self._steps() / self.k,
            *self._arrays_along((values - values.min()) / np.ptp(values)),
            self.both[0].within,
            self._arrays[-1],
            found,
        )
        return _p_value(*found.tolist())

    def _arrays_along(self, values: FloatArray) -> tuple[FloatArray, ...]:
        """Return what the kernels of a mean take: the values, and spreads in the direction of their mean."""
        z, G, S, shared, _, _, _, sizes, n, _ = self._arrays
        spread, third = (np.stack(parts)[:, 0] for parts in zip(*(e.along(values) for e in self.both), strict=True))
        first, second = (values @ e.B[0] for e in self.both)
        common = np.einsum("a,lab,b->l", first, self.shared, second)
        return values, z, G, S, shared, spread, third, common, sizes, n

    def p_values(self) -> FloatArray:
        """Return the two-sided p-value of no difference for each class: the level at which 0 is an end of the interval."""
        from headcount.intervals import _difference_kernels

        if not self.identified:
            return np.ones(self.k)
        *arrays, shares = self._arrays
        roots, shapes = np.empty(self.k), np.empty((self.k, 3))
        run(_difference_kernels.no_difference, self._steps(), *arrays, self.both[0].within, shares, roots, shapes)
        return np.array([_p_value(root, *shape) for root, shape in zip(roots.tolist(), shapes.tolist(), strict=True)])


def _p_value(root: float, inverse_degrees: float, third: float, along: float) -> float:
    """Return twice the tail probability at which the root equals its quantile on the same side."""
    from headcount.intervals import _profile_kernels

    degrees = 1.0 / min(max(inverse_degrees, 1e-12), 1.0)

    def excess(z: float) -> float:
        shift = run(_profile_kernels.skewness_shift, 10.0, z, third, along)
        return float(-stdtrit(degrees, float(ndtr(-z))) + np.copysign(shift, shift * root) - abs(root))

    if excess(0.0) >= 0.0:
        return 1.0
    upper = 2.0
    # Step by step: Student's quantiles at tiny tail probabilities overflow where there are few degrees of freedom.
    while (height := excess(upper)) <= 0.0 and upper < _LARGEST_Z:
        upper += 2.0
    if height <= 0.0:
        return float(2.0 * ndtr(-_LARGEST_Z))
    return float(2.0 * ndtr(-brentq(excess, upper - 2.0, upper, xtol=1e-9)))
