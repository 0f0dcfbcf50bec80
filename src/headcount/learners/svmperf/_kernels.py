"""Compiled functions: the search for the worst labelling, products with a cut's flips, and the quadratic problem over the cuts."""

import numpy as np

from headcount._compile import kernel
from headcount._typing import AnyArray, FloatArray, IntArray
from headcount.learners.svmperf.losses import F1, Q
from headcount.simplex._kernels import cholesky, solve_cholesky


@kernel(error_model="numpy")
def worst_by_count(
    positive: FloatArray, negative: FloatArray, scale: float, loss: FloatArray
) -> tuple[float, int, int]:
    """Return the largest loss plus gain in score, and the numbers of positives and negatives that are labelled positive there.

    Scores are in descending order. The loss depends on the number k that are labelled positive, so the best labelling for each k
    is the top k by score; of equal scores negatives come first. Labellings without a loss are excluded.
    """
    n_positive, n_negative = positive.size, negative.size
    gain = 0.0
    for i in range(n_positive):
        gain -= positive[i]
    best, best_a, best_b = -np.inf, -1, -1
    a = b = 0
    for k in range(n_positive + n_negative + 1):
        if loss[k] > 0.0:
            value = loss[k] + scale * gain
            if value > best or (value == best and a == best_a):
                best, best_a, best_b = value, a, b
        if b < n_negative and (a >= n_positive or negative[b] >= positive[a]):
            gain += negative[b]
            b += 1
        elif a < n_positive:
            gain += positive[a]
            a += 1
    return best, best_a, best_b


@kernel(error_model="numpy")
def worst_by_item(positive: FloatArray, negative: FloatArray, scale: float) -> tuple[float, int, int]:
    """Return the same as `worst_by_count` for the error rate: whether to flip an item is decided for each item separately."""
    a, b = positive.size, 0
    value = 0.0
    while a > 0 and positive[a - 1] <= 1.0:
        a -= 1
        value += scale * (1.0 - positive[a])
    while b < negative.size and negative[b] >= -1.0:
        value += scale * (1.0 + negative[b])
        b += 1
    if a == positive.size and b == 0:
        return -np.inf, -1, -1
    return value, a, b


@kernel(error_model="numpy")
def pair_loss(which: int, side: int, a: int, b: int, P: int, N: int) -> float:
    """Return the loss (Q on one of its two sides, or F1) when a positives and b negatives are labelled positive."""
    if which == F1:
        return 100.0 * (1.0 - 2.0 * a / (P + a + b)) if P + a + b > 0 else 0.0
    recall = a / P if P > 0 else 1.0
    excess = (a + b - P) / max(P, N)
    closeness = 1.0 + excess if side == 0 else 1.0 - excess  # one minus the normalised absolute error
    if recall + closeness <= 0.0:
        return 100.0
    return 100.0 * (1.0 - 2.0 * recall * closeness / (recall + closeness))


@kernel(error_model="numpy")
def _best_in_row(
    which: int, side: int, a: int, first: int, last: int, P: int, N: int, scale: float, gains: FloatArray
) -> tuple[float, int]:
    """Return the best value and number b of negatives between two bounds, for a given number of positives; of ties the largest."""
    best, best_b = -np.inf, first
    for b in range(first, last + 1):
        value = pair_loss(which, side, a, b, P, N) + scale * gains[b]
        if value >= best:
            best, best_b = value, b
    return best, best_b


@kernel(error_model="numpy")
def worst_by_pair(which: int, positive: FloatArray, negative: FloatArray, scale: float) -> tuple[float, int, int]:
    """Return the same as `worst_by_count` for losses of both numbers, by divide and conquer over the number of positives.

    Q is the larger of two losses, one for too few and one for too many items labelled positive ("sides"). For each of them, and
    for F1, the best number of negatives is monotone in the number of positives: it falls for Q's first side and rises otherwise.
    """
    P, N = positive.size, negative.size
    positive_sums, gains = np.zeros(P + 1), np.zeros(N + 1)
    positive_sums[1:], gains[1:] = np.cumsum(positive), np.cumsum(negative)
    total = positive_sums[P]
    best, best_a, best_b = -np.inf, -1, -1
    stack = np.empty((4 * 64, 4), dtype=np.int64)
    for side in range(2 if which == Q else 1):
        falls = which == Q and side == 0
        stack[0] = 0, P - 1, 0, N
        depth = 1 if P > 0 else 0
        while depth:
            depth -= 1
            first, last, least, most = stack[depth]
            a = (first + last) // 2
            value, b = _best_in_row(which, side, a, least, most, P, N, scale, gains)
            value += scale * (positive_sums[a] - total)
            if value > best or (value == best and (a < best_a or (a == best_a and b > best_b))):
                best, best_a, best_b = value, a, b
            if first < a:
                stack[depth] = first, a - 1, b if falls else least, most if falls else b
                depth += 1
            if a < last:
                stack[depth] = a + 1, last, least if falls else b, b if falls else most
                depth += 1
        if N > 0:  # all positives labelled positive, with at least one negative: without any it is the true labelling
            value, b = _best_in_row(which, side, P, 1, N, P, N, scale, gains)
            if value > best or (value == best and best_a == P and b > best_b):
                best, best_a, best_b = value, P, b
    return best, best_a, best_b


@kernel()
def add_weighted_rows(
    indptr: IntArray, indices: IntArray, data: FloatArray, weights: FloatArray, total: FloatArray
) -> None:
    """Add the rows of a sparse matrix, each times its weight, to total; rows of weight 0 are not read."""
    for i in range(weights.size):
        w = weights[i]
        if w != 0.0:
            for j in range(indptr[i], indptr[i + 1]):
                total[indices[j]] += w * data[j]


@kernel(fastmath=True)
def weighted_sum(rows: AnyArray, weights: FloatArray, total: FloatArray) -> None:
    """Write the sum of rows, each times its weight, to total; rows of weight 0 are not read."""
    total[:] = 0.0
    for i in range(weights.size):
        w = weights[i]
        if w != 0.0:
            for j in range(total.size):
                total[j] += w * rows[i, j]


@kernel(error_model="numpy")
def _gradient_entry(G: AnyArray, loss: FloatArray, alpha: FloatArray, used: IntArray, m: int, j: int) -> float:
    """Return entry j of G alpha - loss, where only the first m entries of ``used`` have a weight."""
    g = -loss[j]
    for q in range(m):
        g += G[j, used[q]] * alpha[used[q]]
    return g  # type: ignore[no-any-return]


@kernel(error_model="numpy")
def minimise_on_simplex(
    G: AnyArray, loss: FloatArray, C: float, tol: float, max_steps: int, alpha: FloatArray
) -> float:
    """Minimise alpha' G alpha / 2 - loss' alpha over alpha >= 0 that sum to C, from the given alpha, in place; return the gap.

    A primal active-set method. The cuts in use are affinely independent, so that their reduced matrix has a Cholesky factor. A cut
    that would make it singular enters along the direction in which the quadratic term does not change, and another one leaves.
    """
    n = loss.size
    used = np.empty(n + 1, dtype=np.int64)
    in_use = alpha > 0.0
    m = in_use.sum()
    used[:m] = np.flatnonzero(in_use)
    H, L = np.empty((n + 1, n + 1)), np.empty((n + 1, n + 1))
    gradient, step = np.empty(n), np.empty(n + 1)
    gap, entered = np.inf, -1
    for _ in range(max_steps):
        for j in range(n):
            gradient[j] = _gradient_entry(G, loss, alpha, used, m, j)
        settled = m <= 1
        while m > 1:
            r = 0  # the reference cut: the one with the largest weight, moved to the front
            for q in range(1, m):
                if alpha[used[q]] > alpha[used[r]]:
                    r = q
            head = used[r]
            used[1 : r + 1] = used[:r].copy()
            used[0] = head
            for i in range(1, m):
                a = used[i]
                step[i] = gradient[head] - gradient[a]
                for j in range(1, i + 1):
                    b = used[j]
                    H[i - 1, j - 1] = G[a, b] - G[a, head] - G[b, head] + G[head, head]
            rank = cholesky(H, L, m - 1, 1e-13, 0.0)
            free = rank < m - 1
            if free:  # along this direction only the linear term changes
                step[1 : rank + 1] = -H[rank, :rank]
                solve_cholesky(L, step[1:], rank)
                step[rank + 1] = 1.0
                step[rank + 2 : m] = 0.0
                slope = 0.0
                for i in range(1, rank + 2):
                    slope += step[i] * (gradient[head] - gradient[used[i]])
                if slope < 0.0:
                    step[1 : rank + 2] *= -1.0
            else:
                solve_cholesky(L, step[1:], m - 1)
            step[0] = 0.0
            for i in range(1, m):
                step[0] -= step[i]
            length, blocking = np.inf if free else 1.0, -1
            for q in range(m):
                if step[q] < 0.0 and alpha[used[q]] <= -step[q] * length:
                    length, blocking = alpha[used[q]] / -step[q], q
            if blocking < 0 and free:
                break
            for q in range(m):
                alpha[used[q]] = max(alpha[used[q]] + length * step[q], 0.0)
            if blocking < 0:
                settled = True
                break
            alpha[used[blocking]] = 0.0
            in_use[used[blocking]] = False
            used[blocking : m - 1] = used[blocking + 1 : m].copy()
            m -= 1
            for i in range(m):  # the next step needs these entries only
                gradient[used[i]] = _gradient_entry(G, loss, alpha, used, m, used[i])
            if m == 1:
                settled = True
        total = 0.0
        for q in range(m):
            total += alpha[used[q]]
        alpha *= C / total
        least, entering, mean = np.inf, -1, 0.0
        for j in range(n):
            g = _gradient_entry(G, loss, alpha, used, m, j)
            mean += alpha[j] * g
            if g < least:
                least, entering = g, j
        gap = mean - C * least
        # The last three conditions hold only where rounding errors prevent further progress.
        if gap <= tol * C or in_use[entering] or entering == entered or not settled:
            return gap
        entered = entering
        used[m] = entering
        in_use[entering] = True
        m += 1
    return gap
