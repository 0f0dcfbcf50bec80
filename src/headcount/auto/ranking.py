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
    """A method over a learner in its best setting, with its errors on the samples that all were judged by.

    Attributes
    ----------
    errors : array of shape (n_samples,)
    pools : array of shape (n_pools, n_samples_of_a_pool)
        On samples of other pools of held-out items.
    """

    method: str
    learner: str
    settings: dict[str, Any]
    errors: FloatArray
    with_interval: bool
    seconds: float
    n_settings: int
    pools: FloatArray


def ranked(tried: Sequence[Tried], true: FloatArray, seed: np.random.SeedSequence) -> "pd.DataFrame":
    """Return a row for each, the least mean error first.

    ``se`` is the standard error of the mean; ``behind`` how far the mean is from the best's and ``behind_se`` the standard error of
    that; ``p_best`` how often it has the least mean. All of it counts the chance of the samples and that of the held-out items that
    they are drawn from, by how the means differ from pool to pool. The classifiers are given: what other items to train on would
    add is not in it.

    Parameters
    ----------
    tried : sequence of Tried
    true : array of shape (n_samples, n_classes)
        The samples' shares.
    seed : SeedSequence

    Examples
    --------
    >>> errors, true = np.array([0.1, 0.2, 0.3, 0.2]), np.full((4, 2), 0.5)
    >>> a = Tried("A", "lr", {}, errors, True, 1.0, 1, np.array([[0.2, 0.1], [0.2, 0.2]]))
    >>> b = Tried("B", "lr", {}, errors + 0.5, True, 1.0, 1, np.array([[0.7, 0.6], [0.7, 0.8]]))
    >>> ranked([b, a], true, np.random.SeedSequence(0))[["method", "ae", "behind", "p_best"]].round(3).values.tolist()
    [['A', 0.2, 0.0, 1.0], ['B', 0.7, 0.5, 0.0]]
    """
    import pandas as pd

    means = np.array([one.errors.mean() for one in tried])
    covariance = _covariance_of_means(tried, true)
    order = np.argsort(means, kind="stable")
    best = int(order[0])
    drawn = np.random.default_rng(seed).multivariate_normal(means, covariance, _REPLICATES, method="eigh")
    chances = np.bincount(np.argmin(drawn, axis=1), minlength=len(tried)) / _REPLICATES
    rows = [
        {
            "rank": place,
            "method": tried[i].method,
            "learner": tried[i].learner,
            "ae": float(means[i]),
            "se": float(np.sqrt(covariance[i, i])) if len(true) > 1 else np.nan,
            "behind": float(means[i] - means[best]),
            "behind_se": np.nan
            if len(true) < 2
            else float(np.sqrt(max(covariance[i, i] + covariance[best, best] - 2 * covariance[i, best], 0.0))),
            "p_best": float(chances[i]) if len(true) > 1 else np.nan,
            "interval": tried[i].with_interval,
            "settings": tried[i].settings,
            "n_settings": tried[i].n_settings,
            "seconds": round(tried[i].seconds, 3),
        }
        for place, i in enumerate(order, start=1)
    ]
    return pd.DataFrame(rows)


def _covariance_of_means(tried: Sequence[Tried], true: FloatArray) -> FloatArray:
    """Return the covariance of mean errors, over other samples of other held-out items.

    The means of pools vary by the pools, and by the items in their samples, which is taken off: what a sample differs by from its
    pool and from the same sample of other pools. All samples vary about the mean of those with the same shares, if there are
    several of each; if not, shares are drawn too.
    """
    errors, pools = np.stack([one.errors for one in tried]), np.stack([one.pools for one in tried])
    k, n = errors.shape
    if n < 2:
        return np.zeros((k, k))
    _, strata, sizes = np.unique(true.round(9), axis=0, return_inverse=True, return_counts=True)
    strata = strata.ravel() if sizes.min() > 1 else np.zeros(n, dtype=np.int64)
    sizes = np.bincount(strata)
    rest = errors - np.stack([np.bincount(strata, own) / sizes for own in errors])[:, strata]
    of_samples = rest @ rest.T / (n - len(sizes)) / n
    means = pools.mean(axis=2)
    left = pools - means[:, :, None] - pools.mean(axis=1, keepdims=True) + pools.mean(axis=(1, 2), keepdims=True)
    many, some = pools.shape[1:]
    own = left.reshape(k, -1)
    of_items = own @ own.T / max((many - 1) * (some - 1), 1) / some
    values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(means)) - of_items + of_samples)
    found: FloatArray = (vectors * np.maximum(values, 1e-9 * np.trace(of_samples) / k)) @ vectors.T
    return found
