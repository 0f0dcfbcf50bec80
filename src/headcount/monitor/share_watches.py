"""Whether shares have moved from a reference (`MovedWatch`), and whether they are in a band (`BandWatch`)."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headcount._distributions import normal_quantile
from headcount._typing import FloatArray
from headcount.monitor.move_sizes import MoveSizes
from headcount.monitor.moves import MoveProcess
from headcount.monitor.sequence import labelled_radius
from headcount.monitor.share_scores import ShareScores

__all__ = ["BandWatch", "Move", "MovedWatch", "mean_log_evidence", "watched_classes"]


@dataclass(frozen=True)
class Move:
    """What a process found: of which class, how many batches after its beginning, and the mean score since."""

    position: int
    batches_before: int
    share: float


def watched_classes(n_classes: int) -> list[int]:
    """Return the classes that processes are about: of two classes the second stands for both.

    >>> watched_classes(2), watched_classes(3)
    ([1], [0, 1, 2])
    """
    return [1] if n_classes == 2 else list(range(n_classes))


def mean_log_evidence(logs: FloatArray) -> float:
    """Return the logarithm of the mean of e-values, which is an e-value again."""
    top = float(logs.max())
    return top + float(np.log(np.exp(logs - top).mean()))


@dataclass(eq=False)
class MovedWatch:
    """Whether shares have moved from a reference: given shares, or the mean of the first items of the stream.

    In a stream that stays at given shares p the mean score is p + e, and e is a normal error with a known variance
    (`ShareScores.error_variance`). Relative to the first items of the same stream there is no such error, but that of their mean.

    Parameters
    ----------
    scores : ShareScores
    scale : float
    centre : array of shape (n_classes,), or None
        The reference; None until there are as many first items as are asked for.
    first : float
        How many items at the beginning are the reference; 0 if shares are given.
    """

    scores: ShareScores
    scale: float
    centre: FloatArray | None
    first: float = 0.0
    first_n: float = 0.0
    first_total: FloatArray = field(default_factory=lambda: np.empty(0))
    first_batches: int = 0
    process: MoveProcess | None = None

    def __post_init__(self) -> None:
        if not len(self.first_total):
            self.first_total = np.zeros(self.scores.n_classes)
        if self.centre is not None and self.process is None:
            self.process = self._begin(self.centre)

    @property
    def positions(self) -> list[int]:
        """Classes that are watched."""
        return watched_classes(self.scores.n_classes)

    def _begin(self, centre: FloatArray) -> MoveProcess:
        shares = np.clip(centre, 0.0, 1.0)
        shares = shares / shares.sum()
        variance = np.maximum(self.scores.plain_variance(shares), 1e-6)
        errors = variance / self.first_n if self.first else self.scores.error_variance(shares)
        sizes = MoveSizes.stacked([self.scores.moves_from(j, shares, self.scale) for j in self.positions])
        return MoveProcess(variance[self.positions], errors[self.positions], self.scale, sizes=sizes)

    def restart(self) -> None:
        """Begin anew with the same reference."""
        if self.centre is not None:
            self.process = self._begin(self.centre)

    def update(self, n: float, mean: FloatArray) -> bool:
        """Add a batch; return False while it belongs to the reference."""
        if self.centre is None or self.process is None:
            self.first_n, self.first_total = self.first_n + n, self.first_total + n * mean
            self.first_batches += 1
            if self.first_n >= self.first:
                self.centre = self.first_total / self.first_n
                self.restart()
            return False
        self.process.update(n, n * (mean - self.centre)[self.positions])
        return True

    @property
    def log_evidence(self) -> float:
        """Logarithm of the e-value that no share has moved."""
        return 0.0 if self.process is None else mean_log_evidence(self.process.log_evidence)

    def resolution(self, log_threshold: float) -> float:
        """Return the largest, over classes, of the moves that would have been found by now."""
        if self.process is None:
            return float("inf")
        return float(self.process.resolution(log_threshold + np.log(len(self.positions))).max())

    def limit(self, log_threshold: float) -> float:
        """Return the resolution after any number of items: what the labelled side's error leaves."""
        if self.process is None:
            return 0.0
        return float(self.process.limit(log_threshold + np.log(len(self.positions))).max())

    def move(self) -> Move:
        """Return the move that has most of the evidence."""
        process, centre = self.process, self.centre
        if process is None or centre is None:
            raise RuntimeError("There is no reference yet.")
        stream = int(process.log_evidence.argmax())
        j = self.positions[stream]
        start, after = process.since(stream)
        return Move(j, start, float(centre[j] + after))

    def state(self) -> dict[str, Any]:
        """Return what later batches need, as plain values."""
        return {
            "centre": None if self.centre is None else self.centre.tolist(),
            "first": self.first,
            "first_n": self.first_n,
            "first_total": self.first_total.tolist(),
            "first_batches": self.first_batches,
            "process": None if self.process is None else self.process.state(),
        }

    @classmethod
    def from_state(cls, scores: ShareScores, scale: float, state: dict[str, Any]) -> "MovedWatch":
        """Return the watch that `state` was called on."""
        return cls(
            scores,
            scale,
            None if state["centre"] is None else np.array(state["centre"], dtype=np.float64),
            float(state["first"]),
            float(state["first_n"]),
            np.array(state["first_total"], dtype=np.float64),
            int(state["first_batches"]),
            None if state["process"] is None else MoveProcess.from_state(state["process"]),
        )


@dataclass(eq=False)
class BandWatch:
    """Whether the share of each class with a band is inside it, wherever it is in there and however it changes.

    The shares before a change may be any in the band, so that they do not tell what the labelled side's error is. The band is
    widened by the largest error that is to be expected, for which half of alpha is spent; the other half is for the processes.

    Parameters
    ----------
    scores : ShareScores
    scale : float
    bands : dict of int to pair of float
        By the position of the class.
    alpha : float
    """

    scores: ShareScores
    scale: float
    bands: dict[int, tuple[float, float]]
    alpha: float
    sides: list[tuple[int, float, float]] = field(default_factory=list)
    """Class, sign and end of the band, widened."""
    processes: list[MoveProcess] = field(default_factory=list)

    def __post_init__(self) -> None:
        ends = [
            (j, sign, end)
            for j, (low, high) in sorted(self.bands.items())
            for sign, end in ((-1.0, low), (1.0, high))
            if 0.0 < end < 1.0 or (end == 0.0 and sign > 0) or (end == 1.0 and sign < 0)
        ]
        k, part = self.scores.n_classes, self.alpha / 2.0 / max(1, len(ends))
        # Of two classes the mean score at the end of the band is one number; of more it depends on the shares of the others.
        radius = float(normal_quantile(part)) if k == 2 else labelled_radius(k, part)
        self.sides = []
        for j, sign, end in ends:
            at, _, errors = self.scores.tables(j, self.scale)
            self.sides.append((j, sign, end + sign * radius * float(np.sqrt(np.interp(end, at, errors)))))
        if not self.processes:
            self.restart()

    def restart(self) -> None:
        """Begin anew with the same bands."""
        self.processes = []
        for j, sign, _ in self.sides:
            sizes = self.scores.moves_beyond(j, self.bands[j], sign, self.scale)
            least = sizes.variance.min(axis=1)
            self.processes.append(MoveProcess(least, np.zeros(1), self.scale, one_sided=True, sizes=sizes))

    def update(self, n: float, mean: FloatArray) -> None:
        """Add a batch."""
        for (j, sign, end), process in zip(self.sides, self.processes, strict=True):
            process.update(n, np.array([n * sign * (mean[j] - end)]))

    @property
    def log_evidence(self) -> float:
        """Logarithm of the e-value that all shares are in their bands."""
        return mean_log_evidence(np.array([one.log_evidence[0] for one in self.processes])) if self.processes else 0.0

    def resolution(self, log_threshold: float) -> float:
        """Return by how much, at most, a share would have to be outside its band for this to have been found by now."""
        if not self.processes:
            return 0.0
        threshold = log_threshold + np.log(len(self.processes))
        found = [float(process.resolution(threshold)[0]) for process in self.processes]
        ends = [
            abs(end - self.bands[j][0 if sign < 0 else 1]) + more
            for (j, sign, end), more in zip(self.sides, found, strict=True)
        ]
        return max(ends)

    def move(self) -> Move:
        """Return the departure that has most of the evidence."""
        side = int(np.argmax([one.log_evidence[0] for one in self.processes]))
        j, sign, end = self.sides[side]
        start, after = self.processes[side].since(0)
        return Move(j, start, end + sign * after)

    def state(self) -> list[dict[str, Any]]:
        """Return what later batches need, as plain values."""
        return [process.state() for process in self.processes]

    def restore(self, state: list[dict[str, Any]]) -> None:
        """Continue from what `state` returned, for the same bands."""
        if len(state) != len(self.sides):
            raise ValueError("another number of processes")
        self.processes = [MoveProcess.from_state(one) for one in state]
