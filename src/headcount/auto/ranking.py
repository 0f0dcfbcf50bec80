"""How the methods and learners that were tried rank, and how sure that order is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from headcount._typing import FloatArray

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Tried", "ranked"]

_REPLICATES = 2000


@dataclass(frozen=True)
class Tried:
    """A method over a learner in its best setting, with its error on each of the samples that all were judged by."""

    method: str
    learner: str
    settings: dict[str, Any]
    errors: FloatArray
    with_interval: bool
    seconds: float
    n_settings: int


def ranked(tried: Sequence[Tried], seed: np.random.SeedSequence) -> "pd.DataFrame":
    """Return a row for each, the least mean error first.

    ``se`` is the standard error of the mean; ``behind`` how far the mean is from the best's and ``behind_se`` the standard error of
    that, by the differences on the same samples; ``p_best`` how often it has the least mean if the samples are drawn again. All of
    it is over samples from one held-out part: another part would add to it.

    >>> a = Tried("A", "lr", {}, np.array([0.1, 0.2, 0.3]), True, 1.0, 1)
    >>> b = Tried("B", "lr", {}, np.array([0.2, 0.3, 0.4]), True, 1.0, 1)
    >>> ranked([b, a], np.random.SeedSequence(0))[["method", "ae", "behind", "p_best"]].round(3).values.tolist()
    [['A', 0.2, 0.0, 1.0], ['B', 0.3, 0.1, 0.0]]
    """
    import pandas as pd

    errors = np.stack([one.errors for one in tried])
    n = errors.shape[1]
    means = errors.mean(axis=1)
    order = np.argsort(means, kind="stable")
    apart = errors - errors[order[0]]
    again = np.random.default_rng(seed).multinomial(n, np.full(n, 1.0 / n), size=_REPLICATES)
    first = np.argmin(again @ errors.T, axis=1)
    chances = np.bincount(first, minlength=len(tried)) / _REPLICATES
    rows = [
        {
            "rank": place,
            "method": tried[i].method,
            "learner": tried[i].learner,
            "ae": float(means[i]),
            "se": _error_of_mean(errors[i]),
            "behind": float(apart[i].mean()),
            "behind_se": _error_of_mean(apart[i]),
            "p_best": float(chances[i]),
            "interval": tried[i].with_interval,
            "settings": tried[i].settings,
            "n_settings": tried[i].n_settings,
            "seconds": round(tried[i].seconds, 3),
        }
        for place, i in enumerate(order, start=1)
    ]
    return pd.DataFrame(rows)


def _error_of_mean(values: FloatArray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
