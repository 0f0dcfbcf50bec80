"""Inverting the distance between samples and mixtures: intervals of classes and of means over classes.

A class's interval holds the shares v that are not rejected by the distance at p_j = v, minimised over the other shares, less the
least distance of all. The variance is that at the tested shares, as in Wilson's interval for a proportion (1927) and Fieller's for
a ratio (1954); quantiles are Student's by the degrees of freedom of Welch and Satterthwaite, moved for skewness (Hall 1992).
Directions in which the class means do not differ leave the distance unchanged: nothing is ruled out there.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from headcount._distributions import normal_tail, student_quantile
from headcount._interpreted import run
from headcount._threads import in_chunks
from headcount._typing import FloatArray
from headcount.intervals.evidence import Evidence

__all__ = ["class_intervals", "mean_intervals", "student_table"]

_SAMPLES_PER_CHUNK = 4
_TABLE_SIZE = 513


@lru_cache(maxsize=64)
def student_table(tail: float) -> FloatArray:
    """Return Student's quantiles at a tail probability, for 1 / degrees of freedom at equal steps from 0 to 1."""
    inverse = np.linspace(0.0, 1.0, _TABLE_SIZE)
    degrees = np.concatenate([[1e12], 1.0 / inverse[1:]])
    return np.asarray(student_quantile(tail, degrees), dtype=np.float64)


def class_intervals(evidence: Evidence, z: float) -> tuple[FloatArray, FloatArray]:
    """Return the ends of each class's interval, where z is the normal quantile of the level."""
    from headcount.intervals._profile_kernels import class_bounds

    low, high = _inverted(class_bounds, evidence, evidence.spread, evidence.third, z, evidence.shares.shape)
    nothing = np.broadcast_to(evidence.rank == 0, len(low))[:, None]
    return np.where(nothing, 0.0, low), np.where(nothing, 1.0, high)


def mean_intervals(evidence: Evidence, values: FloatArray, z: float) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the interval of each sample's mean of class values, where z is the normal quantile of the level.

    A mean m is not rejected by the distance minimised over all shares whose mean is m.
    """
    from headcount.intervals._value_kernels import mean_bounds

    evidence = evidence.with_pooled_spread()
    least, width = values.min(), np.ptp(values)
    scaled = (values - least) / width
    low, high = _inverted(mean_bounds, evidence, *evidence.along(scaled), z, evidence.shares.shape[:1], scaled)
    nothing = np.broadcast_to(evidence.rank == 0, len(low))
    return least + width * np.where(nothing, 0.0, low), least + width * np.where(nothing, 1.0, high)


def inversion_steps(d: int, k: int) -> float:
    """Return about how many steps it takes to find both ends of an interval, with vectors of d coordinates and k shares."""
    return 60.0 * (d + k + 1) ** 3


def _inverted(
    kernel: Callable[..., None],
    evidence: Evidence,
    spread: FloatArray,
    third: FloatArray,
    z: float,
    shape: tuple[int, ...],
    *values: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return the ends that a kernel finds for each sample; ``spread`` and ``third`` are those of the tested directions.

    ``values`` are the classes' values, for a kernel of their mean.
    """
    low, high = np.empty(shape), np.empty(shape)
    table = student_table(float(normal_tail(z)))
    one = len(evidence.G) == 1
    d, k = evidence.G.shape[1:]
    steps = inversion_steps(d, k) * (low[0].size if len(low) else 0)

    def invert(a: int, b: int) -> None:
        part = slice(0, 1) if one else slice(a, b)
        run(
            kernel,
            steps * (b - a),
            *values,
            evidence.z[a:b],
            evidence.G[part],
            evidence.S[part],
            spread[part],
            third[part],
            evidence.sizes,
            evidence.n[a:b],
            evidence.within,
            z,
            table,
            evidence.shares[a:b],
            low[a:b],
            high[a:b],
        )

    # A chunk of one sample with its own vectors would look like a chunk whose samples share them, which is the same thing.
    in_chunks(invert, len(evidence.shares), _SAMPLES_PER_CHUNK)
    return low, high
