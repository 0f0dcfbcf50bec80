"""The ranking of the methods and learners that were tried, with the uncertainty of that order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from headcount._typing import FloatArray

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Tried", "optimism", "ranked"]


@dataclass(frozen=True, eq=False)
class Tried:
    """A method over a learner in one setting, with its mean error in each trial."""

    method: str
    learner: str
    settings: dict[str, Any]
    errors: FloatArray
    with_interval: bool
    seconds: float = 0.0

    @property
    def mean(self) -> float:
        """The mean error over all trials."""
        return float(self.errors.mean())


def ranked(tried: Sequence[Tried], kept: Tried, expected: float) -> "pd.DataFrame":
    """Return a row for each method over each learner in its best setting, the least mean error first.

    ``se`` is the standard deviation of the mean error over trials; ``behind`` the difference to the best mean and ``behind_se`` its
    standard deviation; ``p_best`` the part of the trials in which it had the least error; ``expected``, for the one that is kept,
    the error to be expected of it.

    Examples
    --------
    >>> a, b = Tried("A", "lr", {}, np.array([0.1, 0.2]), True), Tried("B", "lr", {}, np.array([0.3, 0.2]), True)
    >>> ranked([b, a], a, 0.16)[["method", "kept", "ae", "behind", "p_best"]].round(3).values.tolist()
    [['A', True, 0.15, 0.0, 0.75], ['B', False, 0.25, 0.1, 0.25]]
    """
    import pandas as pd

    settings: dict[tuple[str, str], list[Tried]] = {}
    for one in tried:
        settings.setdefault((one.method, one.learner), []).append(one)
    best = sorted((min(group, key=lambda one: one.mean) for group in settings.values()), key=lambda one: one.mean)
    errors = np.stack([one.errors for one in best])
    least = errors == errors.min(axis=0)
    chances = (least / least.sum(axis=0)).mean(axis=1)
    behind = errors - errors[0]
    several = errors.shape[1] > 1
    rows = [
        {
            "rank": i + 1,
            "kept": (one.method, one.learner) == (kept.method, kept.learner),
            "method": one.method,
            "learner": one.learner,
            "ae": one.mean,
            "expected": expected if (one.method, one.learner) == (kept.method, kept.learner) else np.nan,
            "se": float(errors[i].std(ddof=1)) if several else np.nan,
            "behind": float(behind[i].mean()),
            "behind_se": float(behind[i].std(ddof=1)) if several else np.nan,
            "p_best": float(chances[i]),
            "interval": one.with_interval,
            "settings": one.settings,
            "n_settings": len(settings[one.method, one.learner]),
            "seconds": round(sum(other.seconds for other in settings[one.method, one.learner]), 3),
        }
        for i, one in enumerate(best)
    ]
    return pd.DataFrame(rows)


def optimism(errors: FloatArray) -> float:
    """Return by how much the least mean error is too low because it is the least of several.

    In each trial the best candidate is chosen by its error there, and compared with its error in all trials (Efron 1983). A trial
    draws labelled and new items, and so varies twice as much as the labelled items do, by which the choice was made: the
    difference is divided by the root of 2.

    Parameters
    ----------
    errors : array of shape (n_candidates, n_trials)

    Examples
    --------
    >>> round(optimism(np.array([[0.1, 0.2], [0.2, 0.1]])), 3)
    0.035
    """
    chosen = errors.argmin(axis=0)
    apparent = errors[chosen, np.arange(errors.shape[1])]
    return float(max((errors.mean(axis=1)[chosen] - apparent).mean(), 0.0) / np.sqrt(2.0))
