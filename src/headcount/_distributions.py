"""Tail probabilities and quantiles of the normal, Student's, F and hypergeometric distributions.

They are those of ``scipy.stats``, whose import takes longer than all that a command does with a thousand items.
"""

from typing import Any

import numpy as np
from scipy.special import fdtrc, ndtr, ndtri, stdtr, stdtrit

__all__ = ["f_tail", "hypergeometric_tail", "normal_quantile", "normal_tail", "student_quantile", "student_tail"]


def normal_tail(x: Any) -> Any:
    """Return the probability of a value above x."""
    return ndtr(-np.asarray(x, dtype=np.float64))


def normal_quantile(tail: Any) -> Any:
    """Return the value that is exceeded with this probability."""
    return 0.0 - ndtri(tail)


def student_tail(x: Any, degrees: Any) -> Any:
    """Return the probability of a value above x, by degrees of freedom."""
    return stdtr(degrees, -np.asarray(x, dtype=np.float64))


def student_quantile(tail: Any, degrees: Any) -> Any:
    """Return the value that is exceeded with this probability, by degrees of freedom."""
    return 0.0 - stdtrit(degrees, tail)


def f_tail(x: float, above: float, below: float) -> float:
    """Return the probability of a value above x; ``above`` and ``below`` are the degrees of freedom of the ratio's two parts."""
    return float(fdtrc(above, below, x)) if x > 0.0 else 1.0


def hypergeometric_tail(count: Any, population: Any, successes: Any, draws: Any) -> Any:
    """Return the probability of more than ``count`` successes among draws without replacement."""
    try:
        from scipy.special._ufuncs import _hypergeom_sf  # what scipy.stats calls
    except ImportError:
        from scipy.stats import hypergeom

        return hypergeom.sf(count, population, successes, draws)
    least, most = np.maximum(draws - (population - successes), 0), np.minimum(successes, draws)
    inside = np.clip(count, least, np.maximum(most - 1, least))
    tail = np.clip(_hypergeom_sf(inside, successes, draws, population), 0.0, 1.0)
    return np.where(count < least, 1.0, np.where(count >= most, 0.0, tail))
