r"""`ConfidenceSequence`: intervals of the mean shares of a stream that hold after any number of batches, all at once.

A share t is in the interval while the mean score is within two radii of it,

.. math:: |\bar y_n - t| \le
   \sqrt{\frac{v(t)}{n}\Bigl(1 + \frac{\eta}{n}\Bigr)\Bigl(\log\frac{n + \eta}{\eta} + 2 \log\frac{2}{\alpha}\Bigr)}
   + \chi_{k, 1 - \alpha / 2} \sqrt{s^2(t)}.

The first is Robbins's normal mixture boundary (1970) with eta = v / tau^2; the second, that of the labelled side, is a region for
the errors of all class means together: it is left once or never, however long the stream is and however its shares change. Each
has half of alpha.
"""

from dataclasses import dataclass

import numpy as np

from headcount._typing import FloatArray
from headcount.monitor.share_scores import ShareScores

__all__ = ["ConfidenceSequence", "labelled_radius"]

_STEPS = 2000
"""Shares from 0 to 1 that are tested; intervals are wider by a step than what is not rejected."""


def labelled_radius(n_classes: int, alpha: float) -> float:
    """Return by how many standard errors the labelled side is off at most, whatever the shares are (Scheffé 1953)."""
    from scipy.special import chdtri

    return float(np.sqrt(chdtri(n_classes, alpha)))


@dataclass(frozen=True, eq=False)
class ConfidenceSequence:
    """Intervals of mean shares at a level.

    Parameters
    ----------
    scores : ShareScores
    level : float
    scale : float
        Size of a move for which the sequence is about as narrow as can be.
    """

    scores: ShareScores
    level: float
    scale: float

    def interval(self, mean: FloatArray, n: float) -> tuple[FloatArray, FloatArray]:
        """Return the ends of each class's interval, from the mean scores of n items."""
        k = self.scores.n_classes
        if n <= 0:
            return np.zeros(k), np.ones(k)
        alpha = 1.0 - self.level
        radius, grid = labelled_radius(k, alpha / 2.0), np.linspace(0.0, 1.0, _STEPS + 1)
        low, high = np.empty(k), np.empty(k)
        for j in range(k):
            at, variances, errors = self.scores.tables(j, self.scale)
            v, s2 = np.interp(grid, at, variances), np.interp(grid, at, errors)
            eta = v / self.scale**2
            target = np.sqrt(v / n * (1.0 + eta / n) * (np.log1p(n / eta) + 2.0 * np.log(2.0 / alpha)))
            inside = np.abs(mean[j] - grid) <= target + radius * np.sqrt(s2)
            held = grid[inside] if inside.any() else np.clip(mean[j : j + 1], 0.0, 1.0)
            low[j], high[j] = held[0] - 1.0 / _STEPS, held[-1] + 1.0 / _STEPS
        return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
