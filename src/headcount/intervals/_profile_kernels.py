"""Compiled: the distance between a sample and a mixture, minimised over all shares but the tested one, and its inversion.

A sample's mean vector z and the class means G (columns) satisfy E[z - G p] = 0 at the true shares p, with covariance

    C(p) = sum_l (p_l / n + p_l^2 / n_l) S_l + (G diag(p) G' - G p p' G') / n,

where S_l is the covariance of an item of class l; the last term, the composition of the sample, is omitted if the shares of the
sample itself are asked for. The distance is (z - G p)' C(p)^-1 (z - G p).
"""

import numpy as np

from headcount._compile import kernel
from headcount._typing import FloatArray

ROUNDS = 3
"""Rounds in which the covariance follows the shares that minimise the distance."""
_RIDGE = 1e-9
"""Added to covariances, relative to their largest diagonal entry, so that they can be inverted."""
MAX_STEPS, TOL = 40, 1e-7
_MAX_SHIFT = 0.6
"""Largest correction for skewness, in units of the normal quantile: beyond it the expansion says nothing."""


@kernel(error_model="numpy")
def covariance(
    p: FloatArray, G: FloatArray, S: FloatArray, sizes: FloatArray, n: float, within: bool, C: FloatArray
) -> None:
    """Write C(p)."""
    d, k = G.shape
    for a in range(d):
        for b in range(d):
            C[a, b] = 0.0
    for j in range(k):
        factor = p[j] / n + p[j] * p[j] / sizes[j]
        if factor != 0.0:
            for a in range(d):
                for b in range(a + 1):
                    C[a, b] += factor * S[j, a, b]
    if not within:
        mean = np.zeros(d)
        for a in range(d):
            for j in range(k):
                mean[a] += G[a, j] * p[j]
        for a in range(d):
            for b in range(a + 1):
                product = -mean[a] * mean[b]
                for j in range(k):
                    product += p[j] * G[a, j] * G[b, j]
                C[a, b] += product / n
    for a in range(d):
        for b in range(a):
            C[b, a] = C[a, b]


@kernel(error_model="numpy")
def whiten(C: FloatArray, X: FloatArray) -> None:
    """Replace X by L^-1 X, where L L' is C with a small ridge."""
    d, m = X.shape
    largest = 1e-300
    for a in range(d):
        largest = max(largest, C[a, a])
        for c in range(m):
            largest = max(largest, 1e-12 * X[a, c] * X[a, c])
    L = np.zeros((d, d))
    for a in range(d):
        for b in range(a + 1):
            value = C[a, b]
            if a == b:
                value += _RIDGE * largest
            for c in range(b):
                value -= L[a, c] * L[b, c]
            if a == b:
                L[a, a] = np.sqrt(max(value, _RIDGE * largest))
            else:
                L[a, b] = value / L[b, b]
    for c in range(m):
        for a in range(d):
            value = X[a, c]
            for b in range(a):
                value -= L[a, b] * X[b, c]
            X[a, c] = value / L[a, a]


@kernel(error_model="numpy")
def solve_system(K: FloatArray, x: FloatArray) -> None:
    """Solve K x = x in place by Gaussian elimination with row pivots; K is overwritten.

    Not by LAPACK, which numba takes seconds to compile calls of, and whose last bits depend on the library.
    """
    m = x.size
    for c in range(m):
        pivot = c
        for a in range(c + 1, m):
            if abs(K[a, c]) > abs(K[pivot, c]):
                pivot = a
        if pivot != c:
            for b in range(c, m):
                held = K[c, b]
                K[c, b] = K[pivot, b]
                K[pivot, b] = held
            held = x[c]
            x[c] = x[pivot]
            x[pivot] = held
        for a in range(c + 1, m):
            factor = K[a, c] / K[c, c]
            if factor != 0.0:
                for b in range(c + 1, m):
                    K[a, b] -= factor * K[c, b]
                x[a] -= factor * x[c]
    for c in range(m - 1, -1, -1):
        value = x[c]
        for b in range(c + 1, m):
            value -= K[c, b] * x[b]
        x[c] = value / K[c, c]


@kernel(error_model="numpy")
def minimise_quadratic(H: FloatArray, g: FloatArray, E: FloatArray, e: FloatArray, x: FloatArray) -> None:
    """Minimise x' H x / 2 - g' x over x >= 0 with E x = e, by an active-set method; x holds a feasible start, then the answer."""
    m, r = H.shape[0], E.shape[0]
    scale = 1e-300
    for i in range(m):
        scale = max(scale, H[i, i])
    free = np.empty(m, dtype=np.bool_)
    for i in range(m):
        free[i] = x[i] > 0.0
    index = np.empty(m, dtype=np.int64)
    for _ in range(10 * m + 20):
        f = np.int64(0)
        for i in range(m):
            if free[i]:
                index[f] = i
                f += 1
        K, solution = np.zeros((f + r, f + r)), np.empty(f + r)
        for a in range(f):
            for b in range(f):
                K[a, b] = H[index[a], index[b]] / scale
            K[a, a] += 1e-11
            for c in range(r):
                K[a, f + c] = E[c, index[a]]
                K[f + c, a] = E[c, index[a]]
            solution[a] = g[index[a]] / scale
        for c in range(r):
            K[f + c, f + c] = -1e-13
            solution[f + c] = e[c]
        solve_system(K, solution)
        step, blocking = 1.0, -1
        for a in range(f):
            here = x[index[a]]
            if solution[a] < 0.0 and here / (here - solution[a]) < step:
                step, blocking = here / (here - solution[a]), index[a]
        for a in range(f):
            x[index[a]] = max(x[index[a]] + step * (solution[a] - x[index[a]]), 0.0)
        if blocking >= 0:
            x[blocking] = 0.0
            free[blocking] = False
            continue
        lowest, entering = -1e-10, -1
        for i in range(m):
            if not free[i]:
                slope = -g[i] / scale
                for j in range(m):
                    slope += H[i, j] * x[j] / scale
                for c in range(r):
                    slope += E[c, i] * solution[f + c]
                if slope < lowest:
                    lowest, entering = slope, i
        if entering < 0:
            return
        free[entering] = True


@kernel(error_model="numpy")
def nearest_mixture(X: FloatArray, y: FloatArray, E: FloatArray, e: FloatArray, x: FloatArray) -> float:
    """Write to x the x >= 0 with E x = e for which X x is nearest to y; return the squared distance."""
    d, m = X.shape
    H, g = np.zeros((m, m)), np.zeros(m)
    for a in range(d):  # row by row, in the order of memory
        for i in range(m):
            g[i] += X[a, i] * y[a]
            for j in range(m):
                H[i, j] += X[a, i] * X[a, j]
    minimise_quadratic(H, g, E, e, x)
    distance = 0.0
    for a in range(y.size):
        off = y[a]
        for i in range(x.size):
            off -= X[a, i] * x[i]
        distance += off * off
    return distance


@kernel(error_model="numpy")
def move_share(p: FloatArray, j: int, v: float) -> None:
    """Replace shares by those with v for class j and the others in proportion."""
    k = p.size
    rest = 0.0
    for i in range(k):
        if i != j:
            rest += p[i]
    for i in range(k):
        p[i] = p[i] * (1.0 - v) / rest if rest > 0.0 else (1.0 - v) / (k - 1)
    p[j] = v


@kernel(error_model="numpy")
def write_beside(G: FloatArray, z: FloatArray, X: FloatArray) -> None:
    """Write the columns of G and z to X; by loops, since numba takes seconds to compile the assignment of arrays to slices."""
    d, k = G.shape
    for a in range(d):
        for j in range(k):
            X[a, j] = G[a, j]
        X[a, k] = z[a]


@kernel(error_model="numpy")
def nearest_of_all(X: FloatArray, p: FloatArray) -> float:
    """Write to p the shares for which the mixture of all columns of X but the last is nearest to the last; return its distance."""
    d, k = X.shape[0], X.shape[1] - 1
    columns, y = np.empty((d, k)), np.empty(d)
    for a in range(d):
        for j in range(k):
            columns[a, j] = X[a, j]
        y[a] = X[a, k]
    return nearest_mixture(columns, y, np.ones((1, k)), np.ones(1), p)  # type: ignore[no-any-return]


@kernel(error_model="numpy")
def nearest_shares(
    z: FloatArray, G: FloatArray, S: FloatArray, sizes: FloatArray, n: float, within: bool, p: FloatArray
) -> None:
    """Replace shares p by those of the nearest mixture; the covariance follows the shares."""
    d, k = G.shape
    C, X = np.empty((d, d)), np.empty((d, k + 1))
    for _ in range(ROUNDS):
        covariance(p, G, S, sizes, n, within, C)
        write_beside(G, z, X)
        whiten(C, X)
        nearest_of_all(X, p)


@kernel(error_model="numpy")
def _signed_root(
    j: int,
    v: float,
    z: FloatArray,
    G: FloatArray,
    S: FloatArray,
    sizes: FloatArray,
    n: float,
    within: bool,
    p: FloatArray,
) -> float:
    """Return the signed root of the distance at p_j = v beyond the least one; p holds a start, then the nearest shares.

    The other shares, and those of the least distance, are confined to the simplex: what is known to be impossible does not count
    against v. Both distances are measured by the covariance at the nearest shares with p_j = v.
    """
    d, k = G.shape
    move_share(p, j, v)
    C, X = np.empty((d, d)), np.empty((d, k + 1))
    E, e = np.ones((1, k - 1)), np.ones(1)
    e[0] = 1.0 - v
    others, place = np.empty((d, k - 1)), np.empty(k - 1)
    at = 0.0
    y = np.empty(d)
    for _ in range(ROUNDS if k > 2 else 1):
        covariance(p, G, S, sizes, n, within, C)
        write_beside(G, z, X)
        whiten(C, X)
        c = 0
        for i in range(k):
            if i != j:
                for a in range(d):
                    others[a, c] = X[a, i]
                place[c] = p[i]
                c += 1
        for a in range(d):
            y[a] = X[a, k] - v * X[a, j]
        at = nearest_mixture(others, y, E, e, place)
        c = 0
        for i in range(k):
            if i != j:
                p[i] = place[c]
                c += 1
    best = p.copy()
    least = nearest_of_all(X, best)
    return np.copysign(np.sqrt(max(at - least, 0.0)), best[j] - v)  # type: ignore[no-any-return]


@kernel(error_model="numpy")
def quantile(inverse_degrees: float, table: FloatArray) -> float:
    """Return Student's quantile; the table holds it at equal steps of 1 / degrees of freedom from 0 to 1."""
    if inverse_degrees != inverse_degrees:  # no spread can be told from values that are not numbers
        return inverse_degrees
    place = min(inverse_degrees, 1.0) * (table.size - 1)
    below = min(int(place), table.size - 2)
    return table[below] + (place - below) * (table[below + 1] - table[below])  # type: ignore[no-any-return]


@kernel(error_model="numpy")
def skewness_shift(z: float, third: float, along: float) -> float:
    """Return how far skewness moves both quantiles of a studentised statistic (Hall 1992, expansion of Cornish and Fisher).

    ``third`` is the third cumulant of the standardised numerator, ``along`` its covariance with the estimated variance.
    """
    shift = third * (z * z - 1.0) / 6.0 - along * z * z / 2.0
    return min(max(shift, -_MAX_SHIFT * z), _MAX_SHIFT * z)


@kernel(error_model="numpy")
def root_shape(
    values: FloatArray,
    v: float,
    p: FloatArray,
    spread: FloatArray,
    third: FloatArray,
    sizes: FloatArray,
    n: float,
    within: bool,
) -> tuple[float, float, float]:
    """Return 1 / degrees of freedom of the signed root at shares p, its third cumulant, and its covariance with the variance.

    In the tested direction, whose value is v, items of class l have the mean values[l], the variance spread[l] and the third
    central moment third[l].
    """
    variance, noise, mixed, labelled, along = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(p.size):
        part = (p[i] / n + p[i] * p[i] / sizes[i]) * spread[i]
        off = 0.0 if within else values[i] - v
        variance += part + p[i] * off * off / n
        noise += part * part / max(sizes[i] - 1.0, 1.0)
        mixed += p[i] * (third[i] + 3.0 * off * spread[i] + off * off * off)
        labelled += p[i] * p[i] * p[i] * third[i] / (sizes[i] * sizes[i])
        along -= p[i] * p[i] * third[i] / sizes[i] * (1.0 / n + p[i] / sizes[i])
    if variance <= 0.0:
        return 0.0, 0.0, 0.0
    scale = variance * np.sqrt(variance)
    return noise / (variance * variance), (mixed / (n * n) - labelled) / scale, along / scale


@kernel(error_model="numpy")
def beyond_quantile(
    side: float, root: float, shape: tuple[float, float, float], normal: float, table: FloatArray
) -> float:
    """Return by how much a signed root of this shape is beyond its quantile on one side: positive if its value is rejected."""
    inverse_degrees, skewness, along = shape
    reach, shift = quantile(inverse_degrees, table), skewness_shift(normal, skewness, along)
    return -root - reach + shift if side > 0.0 else root - reach - shift  # type: ignore[no-any-return]


@kernel(error_model="numpy")
def _excess(
    side: float,
    j: int,
    v: float,
    z: FloatArray,
    G: FloatArray,
    S: FloatArray,
    spread: FloatArray,
    third: FloatArray,
    sizes: FloatArray,
    n: float,
    within: bool,
    normal: float,
    table: FloatArray,
    p: FloatArray,
) -> float:
    """Return by how much the signed root at v is beyond its quantile on one side: positive if v is rejected."""
    root = _signed_root(j, v, z, G, S, sizes, n, within, p)
    values = np.zeros(p.size)
    values[j] = 1.0
    return beyond_quantile(side, root, root_shape(values, v, p, spread, third, sizes, n, within), normal, table)  # type: ignore[no-any-return]


@kernel(error_model="numpy")
def bracket(inside: float, below: float, bound: float) -> FloatArray:
    """Return a bracket of an interval's end: a value inside and its excess, the bound and its excess, the side moved last."""
    b = np.empty(5)
    b[0], b[1], b[2], b[3], b[4] = inside, below, bound, np.inf, 0.0
    return b


@kernel(error_model="numpy")
def next_end(b: FloatArray) -> float:
    """Return the value to test next: the bound first, then regula falsi, since the root is nearly proportional to the distance."""
    if b[3] == np.inf:
        return b[2]  # type: ignore[no-any-return]
    end = b[0] - b[1] * (b[2] - b[0]) / (b[3] - b[1])
    inside = min(b[0], b[2]) < end < max(b[0], b[2])
    return end if inside else (b[0] + b[2]) / 2.0  # type: ignore[no-any-return]


@kernel(error_model="numpy")
def is_found(b: FloatArray, end: float, excess: float) -> bool:
    """Narrow the bracket by the excess at a tested value (Illinois rule); whether this value is the interval's end."""
    if b[3] == np.inf:  # the bound itself
        b[3] = excess
        return excess <= 0.0 or abs(b[0] - end) <= TOL
    if excess <= 0.0:
        b[3] *= 0.5 if b[4] < 0.0 else 1.0
        b[0], b[1], b[4] = end, excess, -1.0
    else:
        b[1] *= 0.5 if b[4] > 0.0 else 1.0
        b[2], b[3], b[4] = end, excess, 1.0
    return abs(b[2] - b[0]) < TOL or abs(excess) < 1e-6


@kernel(error_model="numpy")
def class_bounds(
    z: FloatArray,
    G: FloatArray,
    S: FloatArray,
    spread: FloatArray,
    third: FloatArray,
    sizes: FloatArray,
    n: FloatArray,
    within: bool,
    normal: float,
    table: FloatArray,
    start: FloatArray,
    low: FloatArray,
    high: FloatArray,
) -> None:
    """Write the ends of each class's interval for each sample; G, S, spread, third have one entry for all samples or one each."""
    k = G.shape[2]
    for s in range(z.shape[0]):
        m = s if G.shape[0] > 1 else 0
        nearest = start[s].copy()
        nearest_shares(z[s], G[m], S[m], sizes, n[s], within, nearest)
        for j in range(k):
            if k == 2 and j == 0:
                continue
            for side in (-1.0, 1.0):
                search = bracket(nearest[j], -normal, 0.0 if side < 0.0 else 1.0)
                end = nearest[j]
                for _ in range(MAX_STEPS):
                    end = next_end(search)
                    p = nearest.copy()
                    excess = _excess(
                        side,
                        j,
                        end,
                        z[s],
                        G[m],
                        S[m],
                        spread[m, :, j],
                        third[m, :, j],
                        sizes,
                        n[s],
                        within,
                        normal,
                        table,
                        p,
                    )
                    if is_found(search, end, excess):
                        break
                if side < 0.0:
                    low[s, j] = end
                else:
                    high[s, j] = end
        if k == 2:
            low[s, 0], high[s, 0] = 1.0 - high[s, 1], 1.0 - low[s, 1]
