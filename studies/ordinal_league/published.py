"""The thirteen methods of the league by its own formulas, which are not always the library's: see `ours` for these.

Distances are plain means over all pairs, an item's distance of 0 from itself included; histograms lose what lies outside their
range. Shares are found by the library's solvers, which are exact.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from studies.ordinal_league._ranks_kernel import mean_distances
from studies.ordinal_league.recipe import Split

from headcount.quantifiers.kernel_methods.solvers import QuadraticMatch
from headcount.quantifiers.matching.distances import nearest_shares
from headcount.simplex import mixture_least_absolute, mixture_least_squares

EUCLIDEAN, ABSOLUTE = "euclidean", "absolute"


@dataclass(frozen=True)
class Task:
    """What a method sees: a split, posteriors of both sides, and the bags as rows of the test part."""

    part: Split
    train: Any
    test: Any
    bags: Any

    @cached_property
    def counts(self) -> Any:
        """How often each bag holds each test item."""
        n = len(self.part.y_test)
        return np.stack([np.bincount(rows, minlength=n) for rows in self.bags]).astype(np.float64)

    def bag_means(self, V: Any) -> Any:
        """Return the mean vector of each bag."""
        return self.counts @ V / self.counts.sum(axis=1, keepdims=True)

    def class_means(self, V: Any) -> Any:
        """Return the mean vector of each training class, a column each."""
        y = self.part.y_train
        return np.column_stack([V[y == j].mean(axis=0) for j in range(self.part.n_classes)])


def one_hot(P: Any) -> Any:
    """Return 1 for the class of the largest posterior, the first of equals, else 0."""
    return np.eye(P.shape[1])[P.argmax(axis=1)]


def of_means(task: Task, train: Any, test: Any, cumulated: bool = False) -> Any:
    """Return the shares whose mixture of class means is nearest to each bag's mean: by L2, or cumulated by L1."""
    M, q = task.class_means(train), task.bag_means(test)
    return mixture_least_absolute(M.cumsum(axis=0), q.cumsum(axis=1)) if cumulated else mixture_least_squares(M, q)


def of_energy(task: Task, train: Any, test: Any, kind: str) -> Any:
    """Return the shares with the least energy distance between the mixture of the classes' vectors and the bag's."""
    order = np.argsort(task.part.y_train, kind="stable")
    sizes = np.bincount(task.part.y_train, minlength=task.part.n_classes)
    points, ends = np.ascontiguousarray(train[order].T), np.concatenate([[0], np.cumsum(sizes)])
    M = task.class_means(distances(train, points, ends, kind))
    return QuadraticMatch(-1).solve(task.bag_means(distances(test, points, ends, kind)), M)


def distances(X: Any, points: Any, ends: Any, kind: str) -> Any:
    """Return the mean distance of each item from the points of each class."""
    from headcount.quantifiers.kernel_methods import points as library

    code = library.EUCLIDEAN if kind == EUCLIDEAN else library.MANHATTAN
    return library.means_to_classes(X, points, ends, code)


def of_ranks(task: Task) -> Any:
    """Return the shares with the least energy distance after joint ranks of training and bag, column by column."""
    y, k = task.part.y_train, task.part.n_classes
    order = np.argsort(y, kind="stable")
    train, n = task.train[order], len(y)
    ends = np.concatenate([[0], np.cumsum(np.bincount(y, minlength=k))])
    shares = np.empty((len(task.bags), k))
    for b, times in enumerate(task.counts):
        held = np.flatnonzero(times)
        values, weights = np.vstack([train, task.test[held]]), np.concatenate([np.ones(n), times[held]])
        ranks = np.column_stack([_mean_ranks(column, weights) for column in values.T]).astype(np.float32)
        ranks /= weights.sum()
        M, q = mean_distances(np.ascontiguousarray(ranks.T), ends, weights)
        shares[b] = QuadraticMatch(-1).solve(q[None, :], M)[0]
    return shares


def _mean_ranks(column: Any, weights: Any) -> Any:
    """Return ranks, of equals their mean, where an item stands for as many as its weight."""
    _, place = np.unique(column, return_inverse=True)
    mass = np.bincount(place, weights)
    return (np.cumsum(mass) - (mass - 1.0) / 2.0)[place]


def histograms(X: Any, low: Any, high: Any, bins: int) -> Any:
    """Return the cell of each item in the histogram of each column; -1 outside the range."""
    codes = np.full(X.shape, -1, dtype=np.int64)
    for c in range(X.shape[1]):
        edges = np.linspace(low[c], high[c], bins + 1)
        if low[c] == high[c]:  # as numpy does
            edges = np.linspace(low[c] - 0.5, high[c] + 0.5, bins + 1)
        cell = np.searchsorted(edges, X[:, c], side="right") - 1
        cell[X[:, c] == edges[-1]] = bins - 1
        codes[:, c] = np.where((cell >= 0) & (cell < bins), cell, -1)
    return codes


def indicators(codes: Any, bins: int) -> Any:
    """Return 1 for the cells that each item is in, the histograms of all columns on end."""
    vectors = np.zeros((len(codes), codes.shape[1] * bins))
    for c in range(codes.shape[1]):
        inside = codes[:, c] >= 0
        vectors[np.flatnonzero(inside), c * bins + codes[inside, c]] = 1.0
    return vectors


def of_hellinger(task: Task, train: Any, test: Any, low: Any, high: Any) -> Any:
    """Return the shares with the greatest sum of sqrt(bag x mixture) over the cells of 8 equal bins a column."""
    vectors = [indicators(histograms(X, low, high, 8), 8) for X in (train, test)]
    return nearest_shares("hellinger", task.bag_means(vectors[1]), task.class_means(vectors[0]))


def of_scores(task: Task, bins_a_class: int, cumulated: bool) -> Any:
    """Return the shares for the histogram of the items' mean class numbers: by L2, or cumulated by L1."""
    k = task.part.n_classes
    bins, numbers = bins_a_class * (k - 1), np.arange(1, k + 1)
    low, high = np.array([1.0]), np.array([float(k)])
    train, test = (
        indicators(histograms(np.clip(P @ numbers, 1, k)[:, None], low, high, bins), bins)
        for P in (task.train, task.test)
    )
    M, q = task.class_means(train), task.bag_means(test)
    if not cumulated:
        return mixture_least_squares(M, q)
    return mixture_least_absolute(M.cumsum(axis=0)[:-1], q.cumsum(axis=1)[:, :-1])


METHODS: dict[str, Any] = {
    "CC": lambda t: t.bag_means(one_hot(t.test)),
    "AC_L2": lambda t: of_means(t, one_hot(t.train), one_hot(t.test)),
    "AC_Ord": lambda t: of_means(t, one_hot(t.train), one_hot(t.test), cumulated=True),
    "PCC": lambda t: t.bag_means(t.test),
    "PAC_L2": lambda t: of_means(t, t.train, t.test),
    "EDX": lambda t: of_energy(t, t.part.X_train, t.part.X_test, EUCLIDEAN),
    "CvMy_Eu": of_ranks,
    "EDy_Eu": lambda t: of_energy(t, t.train, t.test, EUCLIDEAN),
    "EDy_EMD": lambda t: of_energy(t, t.train.cumsum(axis=1), t.test.cumsum(axis=1), ABSOLUTE),
    "HDX": lambda t: of_hellinger(
        t, t.part.X_train, t.part.X_test, t.part.X_train.min(axis=0), t.part.X_train.max(axis=0)
    ),
    "HDy": lambda t: of_hellinger(t, t.train, t.test, np.zeros(t.part.n_classes), np.ones(t.part.n_classes)),
    "PDF_L2": lambda t: of_scores(t, 4, cumulated=False),
    "PDF_EMD": lambda t: of_scores(t, 32, cumulated=True),
}
"""The methods by the names of the league."""
WITHOUT_CLASSIFIER = ("EDX", "HDX")
