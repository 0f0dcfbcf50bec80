"""`MoveProcess`: evidence, valid at all times at once, that the mean of a stream of numbers has moved, at whatever time that was.

Numbers x have the mean e until the change and e + theta after it. The error e of the labelled side is the same for the whole
stream: e ~ N(0, s^2). For a change after the first N_k numbers, the ratio of the two marginal likelihoods, with e integrated out
of both, is

    E_k(theta) = exp(a theta - b theta^2 / 2),
    a = (S_1 - c (n_1 / v) S) / v,   b = n_1 / v - c n_1^2 / v^2,   1 / c = 1 / s^2 + N / v,

with the variance v of a number (for each theta the one that bounds its cumulants there, see `MoveSizes`), the sum S of all N
numbers and the sum S_1 of the n_1 numbers after the change. What came before the change tells what e is, so that even a large s
costs little once the stream has been watched for a while. theta is mixed over moves of several sizes around the one that is to be
found fast, as far as there is room for them: a share of 2 % can't fall by 5 points, so that nothing is spent on that. The process
is sum_k w_k E_k with weights that add up to 1, those that have not begun counted as 1. It is a martingale that starts at 1 where
all is unchanged, so that it ever exceeds 1 / alpha with a probability of at most alpha (Ville 1939). That is a bound on the whole
series of looks, rather than on their average number before a false alarm; compare Shin, Ramdas and Rinaldo (2024), E-detectors.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.monitor.move_sizes import MoveSizes

__all__ = ["MoveProcess"]

FIRST_WEIGHT = 0.2
"""Weight of a change before the first item: that the share was another one from the beginning."""
_TAIL = 0.2
"""Of the other weight, the part (1 + units)^-0.2 is for changes after so many units.

The weight of a unit, 0.2 (1 + units)^-1.2, is largest at this power for changes after about exp(1 / 0.2) = 150 units.
"""
_DELAY_UNIT = 8.0
"""Weights of starts spread over units of this many v / tau^2 items: about what a fixed test needs for a move by tau."""
_THIN = 0.25
"""A start is given up if its neighbours are closer together than this part of what came after them."""


@dataclass(eq=False)
class MoveProcess:
    """Evidence that means have moved, for several streams whose batches have the same sizes.

    Parameters
    ----------
    variance : array of shape (n_streams,)
        Of one number, v.
    error_variance : array of shape (n_streams,)
        Of the error that all numbers of a stream share, s^2; it may be 0 or infinite.
    scale : float
        Size tau of a move that is to be found fast.
    one_sided : bool
        Whether only moves upwards count. The mean before the change may then be anything up to 0, and s^2 must be 0.
    sizes : MoveSizes, optional
        The moves that are looked for; by default those of normal numbers that may move anywhere.

    Notes
    -----
    Starts are as many as there are batches. Old ones are merged, as far as their neighbours tell apart changes no worse: a start is
    given up and its weight times its evidence is spent on the same amount of a neighbour, which leaves the process a martingale. So
    a look takes a time that grows with the logarithm of the number of batches.

    Examples
    --------
    >>> process = MoveProcess(np.array([0.25]), np.array([1e-4]), 0.05)
    >>> rng = np.random.default_rng(0)
    >>> for batch in range(40):
    ...     x = rng.choice([-0.5, 0.5], 100) + 0.05 * (batch >= 20)
    ...     process.update(100, np.array([x.sum()]))
    ...     if process.log_evidence[0] > np.log(20):
    ...         break
    >>> 20 < batch < 40, 15 <= process.since(0)[0] <= 25
    (True, True)
    """

    variance: FloatArray
    error_variance: FloatArray
    scale: float
    one_sided: bool = False
    sizes: MoveSizes | None = None
    n: float = 0.0
    batch: int = 0
    total: FloatArray = field(default_factory=lambda: np.empty(0))
    started: FloatArray = field(default_factory=lambda: np.empty(0))
    """Weight of all starts so far, by stream."""
    at_batch: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    at_n: FloatArray = field(default_factory=lambda: np.empty(0))
    at_total: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    log_weights: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    log_ratios: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    log_evidence: FloatArray = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        m = len(self.variance)
        self._sizes = self.sizes or MoveSizes.of_normal(self.variance, self.scale, self.one_sided)
        if not len(self.total):
            self.total, self.started, self.log_evidence = np.zeros(m), np.zeros(m), np.zeros(m)
            self.at_total = self.log_weights = self.log_ratios = np.empty((m, 0))

    def update(self, n: float, sums: FloatArray) -> None:
        """Add a batch of n numbers with these sums, one a stream."""
        self._start()
        self.n, self.total, self.batch = self.n + n, self.total + sums, self.batch + 1
        self.log_ratios = self._log_ratios()
        capital = self.log_weights + self.log_ratios
        top = np.maximum(capital.max(axis=1), 0.0)
        left = np.maximum(1.0 - self.started, 0.0)
        self.log_evidence = top + np.log(np.exp(capital - top[:, None]).sum(axis=1) + left * np.exp(-top))
        self._thin()

    def since(self, stream: int) -> tuple[int, float]:
        """Return the likeliest start of a stream's change, in batches, and the mean of all numbers after it."""
        start = int((self.log_weights[stream] + self.log_ratios[stream]).argmax())
        mean = (self.total[stream] - self.at_total[stream, start]) / (self.n - self.at_n[start])
        return int(self.at_batch[start]), float(mean)

    def resolution(self, log_threshold: float) -> FloatArray:
        """Return the move, from the beginning on, that would have been found by now in the mean; infinite before the first item."""
        if not self.n:
            return np.full(len(self.variance), np.inf)
        return self._found(self._information(np.array([self.n]))[:, 0, :], log_threshold)

    def limit(self, log_threshold: float) -> FloatArray:
        """Return the move that would be found after any number of items from the beginning on; 0 without a shared error."""
        with np.errstate(divide="ignore"):
            information = 1.0 / self.error_variance
        finite = np.broadcast_to(np.minimum(information, 1e12)[:, None], self._sizes.moves.shape)
        return np.where(np.isinf(information), 0.0, self._found(finite, log_threshold))

    def _found(self, b: FloatArray, log_threshold: float) -> FloatArray:
        """Return the move from the beginning on whose evidence, at its mean, is the threshold; to where there is more room."""
        moves, log_weights = self._sizes.moves, self._sizes.log_weights
        upwards = np.exp(log_weights).sum(axis=1, where=moves > 0.0) >= 0.5
        sign = np.where(upwards, 1.0, -1.0)[:, None]
        low, high = np.full(len(moves), -20.0), np.full(len(moves), 20.0)  # logarithms
        for _ in range(60):
            middle = (low + high) / 2.0
            a = b * sign * np.exp(middle)[:, None]
            evidence = np.log(FIRST_WEIGHT) + _log_sum(log_weights + moves * a - 0.5 * moves**2 * b)
            low, high = (
                np.where(evidence < log_threshold, middle, low),
                np.where(evidence < log_threshold, high, middle),
            )
        return np.asarray(np.exp(high), dtype=np.float64)

    def _start(self) -> None:
        """Add a start before the next batch, with the weight of the items since the last one."""
        units = self.n * self.scale**2 / (_DELAY_UNIT * self.variance)
        spent = FIRST_WEIGHT + (1.0 - FIRST_WEIGHT) * (1.0 - (1.0 + units) ** -_TAIL)
        weights = np.maximum(spent - self.started, 1e-300)
        self.started = spent
        self.at_batch = np.append(self.at_batch, self.batch)
        self.at_n = np.append(self.at_n, self.n)
        self.at_total = np.column_stack([self.at_total, self.total])
        self.log_weights = np.column_stack([self.log_weights, np.log(weights)])

    def _shared(self) -> FloatArray:
        """Return c, the variance of e given all numbers so far, had nothing changed: of each stream, for each move."""
        with np.errstate(divide="ignore"):
            return np.asarray(
                1.0 / (1.0 / self.error_variance[:, None] + self.n / self._sizes.variance), dtype=np.float64
            )

    def _information(self, after: FloatArray) -> FloatArray:
        """Return b for starts after which there were so many numbers, shape (n_streams, n_starts, n_moves)."""
        v, c = self._sizes.variance[:, None, :], self._shared()[:, None, :]
        n = after[None, :, None]
        return np.asarray(np.maximum(n / v - c * n**2 / v**2, 0.0), dtype=np.float64)

    def _log_ratios(self) -> FloatArray:
        v, c = self._sizes.variance[:, None, :], self._shared()[:, None, :]
        after = self.n - self.at_n
        since = (self.total[:, None] - self.at_total)[:, :, None]
        a = (since - c * after[None, :, None] / v * self.total[:, None, None]) / v
        moves = self._sizes.moves[:, None, :]
        return _log_sum(self._sizes.log_weights[:, None, :] + moves * a - 0.5 * moves**2 * self._information(after))

    def _thin(self) -> None:
        """Merge old starts into their nearer neighbour. The first and the last one stay."""
        kept = list(range(len(self.at_n)))
        i = 1
        while i < len(kept) - 1:
            before, this, after = (self.at_n[kept[j]] for j in (i - 1, i, i + 1))
            if after - before > _THIN * (self.n - after):
                i += 1
                continue
            near = kept[i - 1] if this - before <= after - this else kept[i + 1]
            moved = self.log_weights[:, kept[i]] + self.log_ratios[:, kept[i]] - self.log_ratios[:, near]
            self.log_weights[:, near] = np.logaddexp(self.log_weights[:, near], moved)
            del kept[i]
        if len(kept) < len(self.at_n):
            self.at_batch, self.at_n = self.at_batch[kept], self.at_n[kept]
            self.at_total, self.log_weights = self.at_total[:, kept], self.log_weights[:, kept]
            self.log_ratios = self.log_ratios[:, kept]

    def state(self) -> dict[str, Any]:
        """Return what later batches need, as plain values."""
        return {
            "variance": self.variance.tolist(),
            "error_variance": [None if np.isinf(value) else value for value in self.error_variance.tolist()],
            "scale": self.scale,
            "one_sided": self.one_sided,
            "sizes": None if self.sizes is None else self.sizes.state(),
            "n": self.n,
            "batch": self.batch,
            "total": self.total.tolist(),
            "started": self.started.tolist(),
            "at_batch": self.at_batch.tolist(),
            "at_n": self.at_n.tolist(),
            "at_total": self.at_total.tolist(),
            "log_weights": self.log_weights.tolist(),
            "log_ratios": self.log_ratios.tolist(),
            "log_evidence": self.log_evidence.tolist(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "MoveProcess":
        """Return the process that `state` was called on."""
        m, c = len(state["variance"]), len(state["at_n"])
        errors = [np.inf if value is None else value for value in state["error_variance"]]
        matrices = {
            name: np.array(state[name], dtype=np.float64).reshape(m, c)
            for name in ("at_total", "log_weights", "log_ratios")
        }
        vectors = {
            name: np.array(state[name], dtype=np.float64)
            for name in ("variance", "total", "started", "at_n", "log_evidence")
        }
        return cls(
            **vectors,
            **matrices,
            error_variance=np.array(errors, dtype=np.float64),
            scale=float(state["scale"]),
            one_sided=bool(state["one_sided"]),
            sizes=None if state["sizes"] is None else MoveSizes.from_state(state["sizes"]),
            n=float(state["n"]),
            batch=int(state["batch"]),
            at_batch=np.array(state["at_batch"], dtype=np.int64),
        )


def _log_sum(logs: FloatArray) -> FloatArray:
    """Return the logarithm of the sum of exponentials over the last axis."""
    top = logs.max(axis=-1, keepdims=True)
    return np.asarray(top[..., 0] + np.log(np.exp(logs - top).sum(axis=-1)), dtype=np.float64)
