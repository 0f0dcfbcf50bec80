"""`Design`: how items are drawn in one round, or in a further one, and what that makes of the variance of the shares."""

from dataclasses import dataclass

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.planning.allocation import inclusion_probabilities

__all__ = ["Design", "FirstRound"]


@dataclass(frozen=True, eq=False)
class FirstRound:
    """Items that are labelled already, drawn at random.

    Attributes
    ----------
    rows : array of int of shape (n1,)
        Their positions, ascending.
    probabilities : array of shape (n1,)
        Their inclusion probabilities.
    """

    rows: IntArray
    probabilities: FloatArray


@dataclass(frozen=True, eq=False)
class Design:
    r"""Draws of n further items out of those that are not labelled.

    Each round gives an estimate without bias: the first one, :math:`T_1`, with weights :math:`1 / \pi_{1i}`; the second one,
    :math:`T_2`, counts the labelled items as they are and the others with weights :math:`1 / \pi_{2i}`, whatever the first round's
    labels made of these probabilities. Given the first round, the error of :math:`T_2` has mean 0, so that the two errors are
    uncorrelated, and :math:`w T_1 + (1 - w) T_2` has the variance :math:`w^2 V_1 + (1 - w)^2 V_2`. As one sample, an item counts

    .. math:: d_i = \frac{w}{\pi_{1i}} + (1 - w) \text{ (first round)}, \quad d_i = \frac{1 - w}{\pi_{2i}} \text{ (second)},
              \quad 1 - w = \frac{N n_2}{(n_1 + n_2) (N - n_1)}

    With this w two simple random samples are one: all weights are N / (n1 + n2). ``probabilities`` are one over these weights.

    Attributes
    ----------
    n_items : int
    first : FirstRound or None
    """

    n_items: int
    first: FirstRound | None = None

    @property
    def n_first(self) -> int:
        """Number of items that are labelled already."""
        return 0 if self.first is None else len(self.first.rows)

    @property
    def rest(self) -> IntArray:
        """Positions of the items that are not labelled."""
        left = np.ones(self.n_items, dtype=bool)
        if self.first is not None:
            left[self.first.rows] = False
        return np.asarray(np.flatnonzero(left), dtype=np.int64)

    def second_part(self, n: int) -> float:
        """Return 1 - w, what the round of n further items counts."""
        if self.first is None:
            return 1.0
        return self.n_items * n / ((self.n_first + n) * max(self.n_items - self.n_first, 1))

    def chances(self, sizes: FloatArray, n: int) -> FloatArray:
        """Return the probabilities with which the items that are not labelled are drawn: no weight becomes less than 1."""
        return inclusion_probabilities(sizes[self.rest], n, min(self.second_part(n), 1.0) if n else 1.0)

    def probabilities(self, chances: FloatArray, n: int) -> FloatArray:
        """Return one over the weights of all items, of those that are not labelled if they are drawn."""
        part = self.second_part(n)
        result = np.empty(self.n_items)
        result[self.rest] = np.minimum(chances / part, 1.0) if n else chances
        if self.first is not None:
            result[self.first.rows] = 1.0 / ((1.0 - part) / self.first.probabilities + part)
        return result

    def sampling_variances(self, variances: FloatArray, chances: FloatArray, n: int) -> tuple[FloatArray, float]:
        r"""Return the variance of each share by Hajek's formula, and the design effect of the labels alone.

        .. math:: V_k = \frac{1}{N^2} \sum_i \frac{1 - \pi_i}{\pi_i} v_{ik}

        for one round; the first of two is a sum over its items, each divided by its probability once more.

        Parameters
        ----------
        variances : array of shape (N, K)
            Expected squares of residuals.
        chances : array
            Of the items that are not labelled.
        n : int
            Number of items that are drawn.
        """
        part = self.second_part(n)
        factors = np.zeros(self.n_items)
        if n:
            factors[self.rest] = part**2 * (1.0 - chances) / np.maximum(chances, 1e-300)
        if self.first is not None:
            pi = self.first.probabilities
            factors[self.first.rows] = (1.0 - part) ** 2 * (1.0 - pi) / pi**2
        factors /= float(self.n_items) ** 2
        return np.asarray(factors @ variances, dtype=np.float64), float((self.n_first + n) * factors.sum())
