"""Compiled kernel of least squares over mixtures: Wolfe's algorithm (1976, "Finding the nearest point in a polytope").

The problem min_p ||M p - q||^2 with p on the simplex is to find the point nearest to the origin in the convex hull of the
columns of M - q 1'. The algorithm keeps a set of affinely independent columns (Wolfe's "corral") whose affine minimiser lies
inside their hull, adds the column of steepest descent, drops columns whose weight falls to zero, and ends after finitely many
steps. Its duality gap x.x - min_j x.c_j, for the current point x and the columns c_j, bounds the distance to the optimum.
"""

import numpy as np

from headcount._compile import kernel
from headcount._typing import FloatArray, IntArray


@kernel(error_model="numpy")
def cholesky(H: FloatArray, L: FloatArray, m: int, relative: float, absolute: float) -> int:
    """Write the Cholesky factor of H[:m, :m] to L; return m, or the first row that depends linearly on those before it.

    A row depends on them if the square of its pivot is at most ``relative`` times its diagonal entry, or at most ``absolute``.
    """
    for i in range(m):
        for j in range(i + 1):
            value = H[i, j]
            for q in range(j):
                value -= L[i, q] * L[j, q]
            if j < i:
                L[i, j] = value / L[j, j]
            elif value <= max(relative * H[i, i], absolute):
                return i
            else:
                L[i, i] = np.sqrt(value)
    return m


@kernel(error_model="numpy")
def solve_cholesky(L: FloatArray, x: FloatArray, m: int) -> None:
    """Solve L L' x = x in place, for the first m entries."""
    for i in range(m):
        for q in range(i):
            x[i] -= L[i, q] * x[q]
        x[i] /= L[i, i]
    for i in range(m - 1, -1, -1):
        for q in range(i + 1, m):
            x[i] -= L[q, i] * x[q]
        x[i] /= L[i, i]


@kernel()
def _affine_minimiser(
    gram: FloatArray, corral: IntArray, size: int, H: FloatArray, L: FloatArray, weights: FloatArray
) -> bool:
    """Minimise ||sum_i w_i c_i|| over the corral with sum w = 1: (11' + G) u = 1, w = u / sum(u). False if it is dependent."""
    scale = 1.0
    for i in range(size):
        scale = max(scale, gram[corral[i], corral[i]])
        for j in range(i + 1):
            H[i, j] = 1.0 + gram[corral[i], corral[j]]
    if cholesky(H, L, size, 0.0, 1e-13 * scale) < size:
        return False
    for i in range(size):
        weights[i] = 1.0
    solve_cholesky(L, weights, size)
    total = 0.0
    for i in range(size - 1, -1, -1):
        total += weights[i]
    for i in range(size):
        weights[i] /= total
    return True


@kernel()
def nearest_mixtures(M: FloatArray, Q: FloatArray, tol: float, P: FloatArray) -> None:
    """Write to each row of P the shares p on the simplex that minimise ||M p - q||^2 for that row q of Q."""
    d, k = M.shape
    gram, H, L = np.empty((k, k)), np.empty((k, k)), np.empty((k, k))
    corral = np.empty(k, dtype=np.int64)
    w = np.empty(k)
    target = np.empty(k)
    columns = np.empty((d, k))
    for s in range(Q.shape[0]):
        for r in range(d):
            for j in range(k):
                columns[r, j] = M[r, j] - Q[s, r]
        nearest = 0
        for i in range(k):
            for j in range(i + 1):
                value = 0.0
                for r in range(d):
                    value += columns[r, i] * columns[r, j]
                gram[i, j] = value
                gram[j, i] = value
            if gram[i, i] < gram[nearest, nearest]:
                nearest = i
        # Start from all columns, whose affine minimiser is the answer in most cases; if they are dependent, from the nearest.
        size = k
        for i in range(k):
            corral[i] = i
            w[i] = 1.0 / k
        if not _affine_minimiser(gram, corral, size, H, L, target):
            size = 1
            corral[0] = nearest
            w[0] = 1.0
            target[0] = 1.0
        for _ in range(20 * k + 20):
            # Move to the corral's affine minimiser, and drop the columns to which it would give a negative weight.
            while True:
                step = 1.0
                for i in range(size):
                    if target[i] <= 0.0 and w[i] - target[i] > 0.0:
                        step = min(step, w[i] / (w[i] - target[i]))
                kept = np.int64(0)  # not the literal 0, for which three kernels would be compiled once more
                for i in range(size):
                    moved = w[i] + step * (target[i] - w[i])
                    if target[i] > 0.0 or moved > 1e-15:
                        corral[kept] = corral[i]
                        w[kept] = moved
                        kept += 1
                dropped = kept < size
                size = kept
                if not dropped or not _affine_minimiser(gram, corral, size, H, L, target):
                    break
            # g_j = x.c_j for the current point x; the optimum is reached when none is smaller than x.x.
            norm = 0.0
            smallest = np.inf
            best, is_in = -1, False
            for j in range(k):
                g = 0.0
                for i in range(size):
                    g += w[i] * gram[corral[i], j]
                for i in range(size):
                    if corral[i] == j:
                        norm += w[i] * g
                if g < smallest:
                    smallest = g
                    best = j
            for i in range(size):
                is_in = is_in or corral[i] == best
            if is_in or norm - smallest <= tol:
                break
            corral[size] = best
            w[size] = 0.0
            if not _affine_minimiser(gram, corral, size + 1, H, L, target):
                break
            size += 1
        total = 0.0
        for i in range(size):
            total += w[i]
        for j in range(k):
            P[s, j] = 0.0
        for i in range(size):
            P[s, corral[i]] = w[i] / total


@kernel()
def nearest_mixtures_of_each(M: FloatArray, Q: FloatArray, tol: float, P: FloatArray) -> None:
    """Do the same with a matrix M[s] for each row of Q."""
    for s in range(Q.shape[0]):
        nearest_mixtures(M[s], Q[s : s + 1], tol, P[s : s + 1])
