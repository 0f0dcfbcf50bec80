r"""`LateLabels`: what labels of some items of a batch, drawn at random, say of its shares, and whether they contradict the scores.

With the label indicator 1[c = j] and the score y_j of each labelled item, the residual r_j = 1[c = j] - y_j corrects the mean
score of all items of its batch, whatever the classifier and whatever has changed; batches are strata (the difference estimator of
Särndal, Swensson and Wretman 1992):

.. math:: \hat p_j = \sum_b \frac{n_b}{n} (\bar y_{bj} + \bar r_{bj}).

Where only shares have changed, the scores of items of each class have the mean 1 for this class and 0 for others, up to the
labelled side's error, which an e-process tests for each class.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np

from headcount._distributions import normal_quantile
from headcount._typing import AnyArray, FloatArray, IntArray
from headcount._validation import plain
from headcount.exceptions import DataError
from headcount.monitor.move_sizes import MoveSizes
from headcount.monitor.moves import MoveProcess
from headcount.monitor.share_scores import ShareScores
from headcount.monitor.share_watches import mean_log_evidence, watched_classes

__all__ = ["LabelledShares", "LateLabels"]

_SUMS = "residuals", "squares", "totals", "corrections"


@dataclass(frozen=True, eq=False)
class LabelledShares:
    """Shares of the batches that have labels, by these labels and by scores alone.

    Attributes
    ----------
    n_labels, n_items : int
        Labels, and items of the batches that they are of.
    shares, low, high : arrays of shape (n_classes,)
        By labels, with the interval of a random sample of each batch, at the monitor's level.
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

    def record(self) -> dict[str, Any]:
        """Return the shares as plain values."""
        names = [str(plain(label)) for label in self.classes]
        figures = {"shares": self.shares, "low": self.low, "high": self.high, "by_scores": self.corrected}
        return {"n_labels": self.n_labels, "n_items": self.n_items} | {
            figure: dict(zip(names, values.tolist(), strict=True)) for figure, values in figures.items()
        }


@dataclass(eq=False)
class LateLabels:
    """Sums over labels that came later, and the evidence that they contradict the scores.

    Parameters
    ----------
    scores : ShareScores
    scale : float
    n : float
        Labels so far.
    squares : array of shape (n_classes,)
        Sum of squared residuals.
    n_items : float
        Items of the batches that have labels.
    totals : array of shape (n_classes,)
        Their number times their mean score, added up.
    corrections : array of shape (n_classes,)
        Their number times the mean residual of their labels, added up.
    unequal : float
        Their squared number over that of their labels, added up.
    batches : dict of str to list
        By batch its items, its labels, the sums of their residuals, and what items are named by; `forget` drops old ones.
    seen : dict of str to dict of str to str
        By batch and item a digest of score and label.
    """

    scores: ShareScores
    scale: float
    n: float = 0.0
    residuals: FloatArray = field(default_factory=lambda: np.empty(0))
    squares: FloatArray = field(default_factory=lambda: np.empty(0))
    n_items: float = 0.0
    totals: FloatArray = field(default_factory=lambda: np.empty(0))
    corrections: FloatArray = field(default_factory=lambda: np.empty(0))
    unequal: float = 0.0
    batches: dict[str, list[Any]] = field(default_factory=dict)
    seen: dict[str, dict[str, str]] = field(default_factory=dict)
    processes: list[MoveProcess] = field(default_factory=list)
    """Of the scores of items of each class."""

    def __post_init__(self) -> None:
        k, positions = self.scores.n_classes, watched_classes(self.scores.n_classes)
        for name in _SUMS:
            if not len(getattr(self, name)):
                setattr(self, name, np.zeros(k))
        if not self.processes:
            for code in range(k):
                sizes = MoveSizes.stacked([self.scores.moves_in_class(j, code, self.scale) for j in positions])
                errors = self.scores.class_errors[code, positions]
                self.processes.append(MoveProcess(sizes.variance.min(axis=1), errors, self.scale, sizes=sizes))

    def new(self, batch: str, items: Sequence[str], contents: Sequence[str], key: str) -> IntArray:
        """Return the positions of items whose label is not counted yet; raise if one was counted with other content.

        Items have to be named by the same key as earlier ones of the batch.
        """
        before_key = self.batches[batch][3] if batch in self.batches else key
        if before_key != key:
            raise DataError(
                f"Labelled items of the batch {batch!r} were identified by {before_key} before, and are by {key} now, so that a "
                "label might be counted twice: identify them as before."
            )
        seen, new = self.seen.get(batch, {}), []
        for position, (item, content) in enumerate(zip(items, contents, strict=True)):
            before = seen.get(_short(item))
            if before is None:
                new.append(position)
            elif before != content:
                what = "label" if before[:8] == content[:8] else "scores"
                raise DataError(
                    f"Item {item!r} of the batch {batch!r} was counted before with another {what}"
                    f"{'' if what == 'label' else ': rows must come in the same order, or have a column that identifies them'}. A "
                    "label is counted once: restore what it was, or begin with a new state."
                )
        return np.array(new, dtype=np.int64)

    def add(
        self,
        batch: str,
        items: Sequence[str],
        contents: Sequence[str],
        n: float,
        mean: FloatArray,
        scores: FloatArray,
        codes: IntArray,
        key: str,
    ) -> None:
        """Count labels of items with these scores of a batch, which has n items with this mean score."""
        residuals = np.eye(len(mean))[codes] - scores
        self.seen.setdefault(batch, {}).update(
            {_short(item): content for item, content in zip(items, contents, strict=True)}
        )
        if batch not in self.batches:
            self.n_items, self.totals = self.n_items + n, self.totals + n * mean
            self.batches[batch] = [n, 0, [0.0] * len(mean), key]
        m, sums = self.batches[batch][1:3]
        more, after = m + len(residuals), np.array(sums) + residuals.sum(axis=0)
        if m:
            self.corrections, self.unequal = self.corrections - n * np.array(sums) / m, self.unequal - n**2 / m
        self.corrections, self.unequal = self.corrections + n * after / more, self.unequal + n**2 / more
        self.batches[batch] = [n, more, after.tolist(), key]
        self.n += len(residuals)
        self.residuals = self.residuals + residuals.sum(axis=0)
        self.squares = self.squares + (residuals**2).sum(axis=0)
        positions = watched_classes(self.scores.n_classes)
        for code, process in enumerate(self.processes):
            if (codes == code).any():
                process.update(float((codes == code).sum()), -residuals[codes == code].sum(axis=0)[positions])

    def forget(self, known: Collection[str]) -> None:
        """Drop what is only needed for further labels of a batch, but of these batches."""
        for by_batch in (self.batches, self.seen):
            for name in [name for name in by_batch if name not in known]:
                del by_batch[name]

    @property
    def log_evidence(self) -> float:
        """Logarithm of the e-value that items of each class still have the scores of the labelled ones."""
        return mean_log_evidence(np.concatenate([process.log_evidence for process in self.processes]))

    def shares(self, classes: AnyArray, level: float) -> LabelledShares:
        """Return the shares by all labels so far."""
        corrected = self.totals / self.n_items
        variance = (
            np.maximum(self.squares / self.n - (self.residuals / self.n) ** 2, 0.0) * self.n / max(self.n - 1.0, 1.0)
        )
        shares = corrected + self.corrections / self.n_items
        # Labels of equal chances in all batches are worth as many; of few of one class residuals hardly vary, so that half a label
        # of each class is added.
        worth = self.n_items**2 / self.unequal
        error = np.sqrt(variance / worth + 0.25 / (worth + 1.0) ** 2)
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
            **{name: getattr(self, name).tolist() for name in _SUMS},
            "n_items": self.n_items,
            "unequal": self.unequal,
            "batches": self.batches,
            "seen": self.seen,
            "processes": [process.state() for process in self.processes],
        }

    @classmethod
    def from_state(cls, scores: ShareScores, scale: float, state: dict[str, Any]) -> "LateLabels":
        """Return the labels that `state` was called on."""
        return cls(
            scores,
            scale,
            n=float(state["n"]),
            n_items=float(state["n_items"]),
            unequal=float(state["unequal"]),
            batches={name: list(batch) for name, batch in state["batches"].items()},
            seen={name: dict(items) for name, items in state["seen"].items()},
            processes=[MoveProcess.from_state(process) for process in state["processes"]],
            **{name: np.array(state[name], dtype=np.float64) for name in _SUMS},
        )


def _short(item: str) -> str:
    """Return a digest of an item's name, which keeps the state small and names out of it."""
    return sha256(item.encode("utf-8", "surrogatepass")).hexdigest()[:16]
