r"""`LateLabels`: what labels of some items of a batch, drawn at random, say of its shares, and whether they contradict the scores.

With the label indicator 1[c = j] and the score y_j of each labelled item, the residual r_j = 1[c = j] - y_j corrects the mean
score of all items of the batch, whatever the classifier and whatever has changed (the difference estimator of Särndal, Swensson
and Wretman 1992):

.. math:: \hat p_j = \bar y_j + \bar r_j.

Where only shares have changed, residuals have mean 0 up to the labelled side's error, which an e-process tests.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headcount._distributions import normal_quantile
from headcount._typing import AnyArray, FloatArray
from headcount.monitor.move_sizes import MoveSizes
from headcount.monitor.moves import MoveProcess
from headcount.monitor.share_scores import ShareScores
from headcount.monitor.share_watches import mean_log_evidence, watched_classes

__all__ = ["LabelledShares", "LateLabels"]


@dataclass(frozen=True, eq=False)
class LabelledShares:
    """Shares of the batches that have labels, by these labels and by scores alone.

    Attributes
    ----------
    n_labels, n_items : int
        Labels, and items of the batches that they are of.
    shares, low, high : arrays of shape (n_classes,)
        By labels, with the interval of a random sample, at the monitor's level.
    corrected : array of shape (n_classes,)
        By scores alone.
    """

    classes: AnyArray
    n_labels: int
    n_items: int
    shares: FloatArray
    low: FloatArray
    high: FloatArray
    corrected: FloatArray


@dataclass(eq=False)
class LateLabels:
    """Sums over labels that came later, and the evidence that they contradict the scores.

    Parameters
    ----------
    scores : ShareScores
    scale : float
    """

    scores: ShareScores
    scale: float
    n: float = 0.0
    residuals: FloatArray = field(default_factory=lambda: np.empty(0))
    squares: FloatArray = field(default_factory=lambda: np.empty(0))
    n_items: float = 0.0
    weighted_scores: FloatArray = field(default_factory=lambda: np.empty(0))
    seen: dict[str, list[str]] = field(default_factory=dict)
    process: MoveProcess | None = None

    def __post_init__(self) -> None:
        k, positions = self.scores.n_classes, watched_classes(self.scores.n_classes)
        if not len(self.residuals):
            self.residuals, self.squares, self.weighted_scores = np.zeros(k), np.zeros(k), np.zeros(k)
        if self.process is None:
            errors = self.scores.class_errors[:, positions].max(axis=0)
            sizes = MoveSizes.stacked([self.scores.residual_moves(j, self.scale) for j in positions])
            self.process = MoveProcess(sizes.variance.min(axis=1), errors, self.scale, sizes=sizes)

    def add(self, batch: str, content: str, n: float, mean: FloatArray, residuals: FloatArray) -> bool:
        """Add labels of a batch of n items with this mean score; return False if these labels were added before."""
        seen = self.seen.setdefault(batch, [])
        if content in seen:
            return False
        if not seen:
            self.n_items, self.weighted_scores = self.n_items + n, self.weighted_scores + n * mean
        seen.append(content)
        self.n += len(residuals)
        self.residuals = self.residuals + residuals.sum(axis=0)
        self.squares = self.squares + (residuals**2).sum(axis=0)
        if self.process is not None:
            positions = watched_classes(self.scores.n_classes)
            self.process.update(float(len(residuals)), residuals.sum(axis=0)[positions])
        return True

    @property
    def log_evidence(self) -> float:
        """Logarithm of the e-value that residuals have mean 0."""
        return 0.0 if self.process is None or not self.n else mean_log_evidence(self.process.log_evidence)

    def shares(self, classes: AnyArray, level: float) -> LabelledShares:
        """Return the shares by all labels so far."""
        corrected = self.weighted_scores / self.n_items
        mean = self.residuals / self.n
        variance = np.maximum(self.squares / self.n - mean**2, 0.0) * self.n / max(self.n - 1.0, 1.0)
        shares = corrected + mean
        # With few labels all of one class the residuals hardly vary: half a label of each class is added.
        error = np.sqrt(variance / self.n + 0.25 / (self.n + 1.0) ** 2)
        z = float(normal_quantile((1.0 - level) / 2.0))
        low, high = (np.clip(shares + sign * z * error, 0.0, 1.0) for sign in (-1.0, 1.0))
        clipped = np.clip(shares, 0.0, 1.0)
        return LabelledShares(
            classes, int(self.n), int(self.n_items), clipped / clipped.sum(), low, high, np.clip(corrected, 0.0, 1.0)
        )

    def state(self) -> dict[str, Any]:
        """Return what later labels need, as plain values."""
        return {
            "n": self.n,
            "residuals": self.residuals.tolist(),
            "squares": self.squares.tolist(),
            "n_items": self.n_items,
            "weighted_scores": self.weighted_scores.tolist(),
            "seen": self.seen,
            "process": None if self.process is None else self.process.state(),
        }

    @classmethod
    def from_state(cls, scores: ShareScores, scale: float, state: dict[str, Any]) -> "LateLabels":
        """Return the labels that `state` was called on."""
        arrays = {name: np.array(state[name], dtype=np.float64) for name in ("residuals", "squares", "weighted_scores")}
        return cls(
            scores,
            scale,
            n=float(state["n"]),
            n_items=float(state["n_items"]),
            seen={key: list(value) for key, value in state["seen"].items()},
            process=MoveProcess.from_state(state["process"]),
            **arrays,
        )
