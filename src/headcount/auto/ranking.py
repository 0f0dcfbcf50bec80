"""The ranking of the methods and learners that were tried, with the uncertainty of that order."""

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
    """A method over a learner in its best setting, with its errors on the samples that all were judged on.

    Attributes
    ----------
    errors : array of shape (n_samples,)
    pools : array of shape (n_pools, n_samples_of_a_pool)
        Errors on samples of bootstrap pools of held-out items.
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

    ``se`` is the standard error of the mean; ``behind`` the difference to the best mean and ``behind_se`` its standard error;
    ``p_best`` the probability of having the least mean. All of them include the chance of the samples and that of the held-out
    items that they are drawn from, estimated from how the means differ between pools. The classifiers are given: the variance
    that other training items would add is not included.

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

    The means of pools vary with the pool and with the items in its samples. The latter part is estimated by the interaction of
    samples and pools, and subtracted. Samples vary about the mean of those with the same shares, if there are several of each; if
    not, the shares count as drawn too.
    """
    errors, pools = np.stack([one.errors for one in tried]), np.stack([one.pools for one in tried])
    k, n = errors.shape
    if n < 2:
        return np.zeros((k, k))
    _, strata, sizes = np.unique(true.round(9), axis=0, return_inverse=True, return_counts=True)
    strata = strata.ravel() if sizes.min() > 1 else np.zeros(n, dtype=np.int64)
    sizes = np.bincount(strata)
    residuals = errors - np.stack([np.bincount(strata, row) / sizes for row in errors])[:, strata]
    of_samples = residuals @ residuals.T / (n - len(sizes)) / n
    means = pools.mean(axis=2)
    interaction = pools - means[:, :, None] - pools.mean(axis=1, keepdims=True) + pools.mean(axis=(1, 2), keepdims=True)
    n_pools, n_drawn = pools.shape[1:]
    flat = interaction.reshape(k, -1)
    of_items = flat @ flat.T / max((n_pools - 1) * (n_drawn - 1), 1) / n_drawn
    values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(means)) - of_items + of_samples)
    covariance: FloatArray = (vectors * np.maximum(values, 1e-9 * np.trace(of_samples) / k)) @ vectors.T
    return covariance
