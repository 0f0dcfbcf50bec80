r"""`MoveSizes`: the moves of a mean that a process looks for, the weight of each, and a variance that bounds cumulants there.

A move by theta is looked for by the likelihood ratio of normal numbers with variance v, the exponential of t x - v t^2 / 2 with
t = theta / v. For numbers that are not normal its mean is at most 1 if

.. math:: \log E e^{t (x - \mu)} \le v t^2 / 2, \qquad t = \theta / v,

which is what v is chosen for, move by move, at the t that tells such a move best: a share near 0 makes scores skewed, so that a
move upwards is harder to tell from chance than one downwards, and a large one harder than a small one. If a classifier is perfect,
a move upwards from below one half is tested by the likelihood ratio of the binomial distribution.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from headcount._typing import FloatArray

__all__ = ["MoveSizes", "bounding_variance"]

_MULTIPLES = 2.0 ** np.arange(-1.5, 3.0, 0.5)
"""Moves that are looked for, in units of the scale. A move half way between two of them loses 3 % of its evidence."""
_SPREAD = 0.4
"""Standard deviation of the logarithms of moves, by which they are weighted."""
_PRECISION = 1.005
"""Factor within which variances are found."""
_STEPS = 40
"""Of the search for the best tilt, which is found within 1e-8 of the interval."""
_LEAST_VARIANCE = 1e-6


@dataclass(frozen=True, eq=False)
class MoveSizes:
    """Moves that are looked for in several streams of numbers.

    Attributes
    ----------
    moves : array of shape (n_streams, n_moves)
        Signed sizes, as t v of the t that is best for a move; a little less than that move where numbers are skewed.
    variance : array of shape (n_streams, n_moves)
        Bounds the cumulants of a number at each move.
    log_weights : array of shape (n_streams, n_moves)
        The weights of a stream add up to 1; a weight of 0 is that of a move that can't be.
    """

    moves: FloatArray
    variance: FloatArray
    log_weights: FloatArray

    @classmethod
    def of_normal(cls, variance: FloatArray, scale: float, one_sided: bool = False) -> "MoveSizes":
        """Return the moves for normal numbers with these variances, which may move anywhere.

        >>> sizes = MoveSizes.of_normal(np.array([0.25]), 0.05)
        >>> sizes.moves.shape, float(np.exp(sizes.log_weights).sum().round(9))
        ((1, 18), 1.0)
        """
        signed = [signed_sizes(scale, np.inf, 0.0 if one_sided else np.inf) for _ in variance]
        sizes = np.array([moves for moves, _ in signed])
        return cls(sizes, np.repeat(variance[:, None], sizes.shape[1], axis=1), np.array([log for _, log in signed]))

    @classmethod
    def stacked(cls, streams: "list[MoveSizes]") -> "MoveSizes":
        """Return the moves of several streams as those of one process."""
        width = max(one.moves.shape[1] for one in streams)

        def padded(values: FloatArray, filling: float) -> FloatArray:
            return np.pad(values, ((0, 0), (0, width - values.shape[1])), constant_values=filling)

        return cls(
            np.concatenate([padded(one.moves, 1.0) for one in streams]),
            np.concatenate([padded(one.variance, 1.0) for one in streams]),
            np.concatenate([padded(one.log_weights, -np.inf) for one in streams]),
        )

    @classmethod
    def of_values(
        cls, values: FloatArray, mixtures: FloatArray, centres: FloatArray, scale: float, up: float, down: float
    ) -> "MoveSizes":
        """Return the moves of one stream of numbers, which are drawn from the values with one of several sets of weights.

        Parameters
        ----------
        values : array of shape (n_values,)
        mixtures : array of shape (n_mixtures, n_values)
            Probability of each value.
        centres : array of shape (n_mixtures,)
            What a number is compared with: its mean in the mixture, or more where only moves upwards count.
        scale : float
        up, down : float
            How far the mean can move.
        """
        moves, log_weights = signed_sizes(scale, up, down)
        pairs = np.array([best_tilt(values, mixtures, centres, float(move)) for move in moves])
        return cls(pairs[None, :, 0], pairs[None, :, 1], log_weights[None, :])

    def state(self) -> dict[str, Any]:
        """Return the moves as plain values."""
        logs = [[None if np.isinf(value) else value for value in row] for row in self.log_weights.tolist()]
        return {"moves": self.moves.tolist(), "variance": self.variance.tolist(), "log_weights": logs}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "MoveSizes":
        """Return the moves that `state` was called on."""
        logs = [[-np.inf if value is None else value for value in row] for row in state["log_weights"]]
        return cls(
            np.array(state["moves"], dtype=np.float64), np.array(state["variance"], dtype=np.float64), np.array(logs)
        )


def signed_sizes(scale: float, up: float, down: float) -> tuple[FloatArray, FloatArray]:
    """Return moves upwards and downwards, as far as there is room, and the logarithms of their weights.

    >>> moves, log_weights = signed_sizes(0.05, up=0.98, down=0.02)                     # of a share of 2 %
    >>> bool(moves.min() > -0.02), float(np.exp(log_weights)[moves > 0].sum().round(2))
    (True, 0.99)
    """
    sizes, weights = [], []
    prior = np.exp(-0.5 * (np.log(_MULTIPLES) / _SPREAD) ** 2)
    for sign, room in ((1.0, up), (-1.0, down)):
        inside = scale * _MULTIPLES <= room
        if not inside.any() and room > 0.0:
            sizes.append(np.array([sign * room]))
            weights.append(prior[:1])
        sizes.append(sign * scale * _MULTIPLES[inside])
        weights.append(prior[inside])
    total = np.concatenate(weights)
    return np.concatenate(sizes), np.log(total / total.sum())


def best_tilt(values: FloatArray, mixtures: FloatArray, centres: FloatArray, move: float) -> tuple[float, float]:
    """Return t v and v: at t, t x less the largest cumulant function has the largest mean after a move; v bounds the latter."""
    least = _least_variance(values, mixtures, centres)
    sign, ends = np.sign(move), [0.0, 2.0 * abs(move) / least]

    def gain(t: float) -> float:
        return t * abs(move) - _largest_cumulant(values, mixtures, centres, sign * t)

    for _ in range(_STEPS):  # the gain is concave
        left, right = ends[0] + 0.382 * (ends[1] - ends[0]), ends[0] + 0.618 * (ends[1] - ends[0])
        ends = [ends[0], right] if gain(left) > gain(right) else [left, ends[1]]
    t = (ends[0] + ends[1]) / 2.0
    v = 2.0 * _largest_cumulant(values, mixtures, centres, sign * t) / t**2
    if v > least:
        return float(sign * t * v), float(v)
    return move, bounding_variance(values, mixtures, centres, move)


def bounding_variance(values: FloatArray, mixtures: FloatArray, centres: FloatArray, move: float) -> float:
    """Return the smallest v of at least the variance that bounds the cumulants at t = move / v, in each mixture."""
    least = _least_variance(values, mixtures, centres)

    def exceeds(v: float) -> bool:
        return _largest_cumulant(values, mixtures, centres, move / v) > move**2 / (2.0 * v)

    if not exceeds(least):
        return least
    low, high = least, 2.0 * least
    while exceeds(high):
        low, high = high, 2.0 * high
    while high > _PRECISION * low:
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if exceeds(middle) else (low, middle)
    return high


def _least_variance(values: FloatArray, mixtures: FloatArray, centres: FloatArray) -> float:
    """Return the largest variance of mixtures at their centre: of those below it only the bound counts."""
    means = mixtures @ values
    variances = (mixtures * np.square(values[None, :] - means[:, None])).sum(axis=1)
    return max(float(variances[means - centres >= -1e-12].max(initial=0.0)), _LEAST_VARIANCE)


def _largest_cumulant(values: FloatArray, mixtures: FloatArray, centres: FloatArray, t: float) -> float:
    """Return the largest log E exp(t (x - centre)) of the mixtures."""
    exponents = values * t
    top = float(exponents.max())
    logs = top + np.log(np.maximum(mixtures @ np.exp(exponents - top), 1e-300)) - centres * t
    return float(logs.max())
