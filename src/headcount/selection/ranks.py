"""Ranks of methods by a score, with one rule for ties."""

from collections.abc import Sequence

import numpy as np

from headcount._typing import FloatArray

__all__ = ["average_ranks"]


def average_ranks(scores: Sequence[float | None] | FloatArray, lower_is_better: bool = True) -> FloatArray:
    """Rank scores from 1 for the best; equal scores share the mean of their ranks. NaN where there is no score.

    References
    ----------
    Demšar (2006). Statistical comparisons of classifiers over multiple data sets. JMLR 7.

    Examples
    --------
    >>> average_ranks([0.3, 0.1, None, 0.1]).tolist()
    [3.0, 1.5, nan, 1.5]
    """
    from scipy.stats import rankdata

    values = np.array([np.nan if score is None else score for score in scores], dtype=np.float64)
    return np.asarray(rankdata(values if lower_is_better else -values, nan_policy="omit"))
