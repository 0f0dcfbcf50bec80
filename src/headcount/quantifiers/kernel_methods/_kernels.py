"""Compiled: mean kernels or distances between items and the points of each class, kernels of pairs, and the Hellinger fit.

Points are in the inner loops, contiguous in memory, so that several are computed at a time. An item's numbers do not depend on the
items beside it.
"""

import numpy as np

from headcount._compile import kernel
from headcount._typing import FloatArray, IntArray
from headcount.quantifiers._kernels import _quadratic
from headcount.quantifiers.kernel_methods.points import EUCLIDEAN, GAUSSIAN, MANHATTAN
from headcount.quantifiers.matching._kernels import least_quadratic

_SUMS = {"reassoc", "contract", "nsz"}
"""Let the compiler reorder sums: that is what allows several points to be computed at a time."""

_LEAST_EXPONENT = -708.0
"""Smaller exponents count as this one: the least whose exponential is a normal number."""
_FAR = 1e300
_RIDGE = 1e-12
"""Part of itself that is added to each class's second derivative, so that classes that look the same share equally."""
SCALE = 2.0**40
"""Units of exact sums (`headcount.protocols.exact`)."""


@kernel(error_model="numpy", fastmath=_SUMS)
def exponentials(e: FloatArray) -> None:
    """Replace each number, at most 0, by its exponential, to a relative error below 1e-12.

    With m the nearest integer to e / log 2, the exponential is 2^m exp(r), where |r| is at most log(2) / 2 and the Taylor
    polynomial of degree 11 is off by less than 1e-14. The compiler computes eight at a time, unlike calls of ``np.exp``.
    """
    for i in range(e.size):
        x = max(e[i], _LEAST_EXPONENT)
        m = np.floor(x * 1.4426950408889634 + 0.5)
        r = x - m * 0.693145751953125 - m * 1.42860682030941723212e-6
        p = 1.0 / 3628800 + r * (1.0 / 39916800)
        p = 1.0 / 5040 + r * (1.0 / 40320 + r * (1.0 / 362880 + r * p))
        p = 1.0 / 24 + r * (1.0 / 120 + r * (1.0 / 720 + r * p))
        p = 1.0 + r * (1.0 + r * (0.5 + r * (1.0 / 6 + r * p)))
        e[i] = p * np.int64((np.int64(m) + 1023) << 52).view(np.float64)


@kernel(error_model="numpy", fastmath=_SUMS)
def _squares(x: FloatArray, Z: FloatArray, e: FloatArray) -> float:
    """Compute the squared distances of an item to the points, a column each; return the least of them."""
    for i in range(e.size):
        e[i] = (x[0] - Z[0, i]) ** 2
    for c in range(1, x.size):
        for i in range(e.size):
            e[i] += (x[c] - Z[c, i]) ** 2
    least = _FAR
    for i in range(e.size):
        least = min(least, e[i])
    return least


@kernel(error_model="numpy", fastmath=_SUMS)
def _absolutes(x: FloatArray, Z: FloatArray, e: FloatArray) -> None:
    """Compute the Manhattan distances of an item to the points."""
    for i in range(e.size):
        e[i] = abs(x[0] - Z[0, i])
    for c in range(1, x.size):
        for i in range(e.size):
            e[i] += abs(x[c] - Z[c, i])


@kernel(error_model="numpy", fastmath=_SUMS)
def _lengths(x: FloatArray, Z: FloatArray, e: FloatArray) -> None:
    """Compute the Euclidean distances of an item to the points."""
    for i in range(e.size):
        e[i] = (x[0] - Z[0, i]) ** 2
    for c in range(1, x.size - 1):
        for i in range(e.size):
            e[i] += (x[c] - Z[c, i]) ** 2
    last = x.size - 1
    for i in range(e.size):
        off = (x[last] - Z[last, i]) ** 2 if last > 0 else 0.0
        e[i] = np.sqrt(e[i] + off)


@kernel(error_model="numpy", fastmath=_SUMS)
def _total(e: FloatArray) -> float:
    total = 0.0
    for i in range(e.size):
        total += e[i]
    return total


@kernel(error_model="numpy")
def class_means(
    X: FloatArray,
    own: IntArray,
    Z: FloatArray,
    ends: IntArray,
    kind: int,
    scale: float,
    weights: FloatArray,
    totals: FloatArray,
    F: FloatArray,
) -> None:
    """Write to F[i, j] the mean, over the points of class j, of the kernel or distance between them and item i.

    Parameters
    ----------
    X : items, a row each
    own : for each item the point that is the item itself and is left out, or -1; empty: no item is a point
    Z : points, a column each, those of a class side by side
    ends : where the points of each class begin, and the number of points
    kind, scale : as for `headcount.quantifiers.kernel_methods.points.means_to_classes`
    weights : of the points; empty: all weigh 1
    totals : weight of each class's points
    """
    e = np.empty(Z.shape[1])
    for i in range(X.shape[0]):
        left_out = own[i] if own.size else -1
        if kind == MANHATTAN:
            _absolutes(X[i], Z, e)
        elif kind == EUCLIDEAN:
            _lengths(X[i], Z, e)
        else:
            nearest = _squares(X[i], Z, e)
            if left_out >= 0:
                e[left_out] = _FAR
                nearest = e.min()
            if kind == GAUSSIAN:
                nearest = 0.0
            for m in range(e.size):
                e[m] = (nearest - e[m]) * scale
            exponentials(e)
        if left_out >= 0:
            e[left_out] = 0.0
        for m in range(weights.size):
            e[m] *= weights[m]
        for j in range(F.shape[1]):
            first, last = ends[j], ends[j + 1]
            n = totals[j]
            if first <= left_out < last:
                n -= weights[left_out] if weights.size else 1.0
            F[i, j] = _total(e[first:last]) / n


@kernel(error_model="numpy", fastmath=_SUMS)
def _cosines_and_sines(x: FloatArray, frequencies: FloatArray, c: FloatArray, s: FloatArray) -> None:
    """Compute cosine and sine of x'w for each column w, to 1e-13 for angles up to a thousand, by Taylor polynomials.

    With m the nearest integer to 2 / pi times the angle, the rest r is at most pi / 4, and m says which is which.
    """
    for t in range(c.size):
        c[t] = x[0] * frequencies[0, t]
    for a in range(1, x.size):
        for t in range(c.size):
            c[t] += x[a] * frequencies[a, t]
    for t in range(c.size):
        m = np.floor(c[t] * 0.6366197723675814 + 0.5)
        r = c[t] - m * 1.570796251296997 - m * 7.549789948768648e-08
        z = r * r
        sine = -1.0 / 39916800 + z * (1.0 / 6227020800)
        sine = -1.0 / 5040 + z * (1.0 / 362880 + z * sine)
        sine = r * (1.0 + z * (-1.0 / 6 + z * (1.0 / 120 + z * sine)))
        cosine = -1.0 / 3628800 + z * (1.0 / 479001600 - z * (1.0 / 87178291200))
        cosine = -1.0 / 720 + z * (1.0 / 40320 + z * cosine)
        cosine = 1.0 + z * (-0.5 + z * (1.0 / 24 + z * cosine))
        quarter = np.int64(m) & 3
        turned = quarter & 1
        c[t] = (sine if turned else cosine) * (-1.0 if quarter == 1 or quarter == 2 else 1.0)
        s[t] = (cosine if turned else sine) * (-1.0 if quarter >= 2 else 1.0)


@kernel(error_model="numpy", fastmath=_SUMS)
def _product(a: FloatArray, b: FloatArray) -> float:
    total = 0.0
    for t in range(a.size):
        total += a[t] * b[t]
    return total


@kernel(error_model="numpy")
def fourier_products(X: FloatArray, frequencies: FloatArray, means: FloatArray, V: FloatArray) -> None:
    """Write to V[i, j] the product of the features of item i, cosines and sines, with the mean features of class j."""
    m = frequencies.shape[1]
    c, s = np.empty(m), np.empty(m)
    for i in range(X.shape[0]):
        _cosines_and_sines(X[i], frequencies, c, s)
        for j in range(means.shape[0]):
            V[i, j] = (_product(c, means[j, :m]) + _product(s, means[j, m:])) / np.sqrt(m)


@kernel(error_model="numpy")
def kernel_units(X: FloatArray, Z: FloatArray, scale: float, U: FloatArray) -> None:
    """Write to U[i, t] the Gaussian kernel of item i and point t, in the units of exact sums."""
    e = np.empty(Z.shape[1])
    for i in range(X.shape[0]):
        _squares(X[i], Z, e)
        for t in range(e.size):
            e[t] *= -scale
        exponentials(e)
        for t in range(e.size):
            U[i, t] = np.floor(e[t] * SCALE + 0.5)


@kernel(error_model="numpy", fastmath=_SUMS)
def _affinity(F: FloatArray, w: FloatArray, p: FloatArray, s: FloatArray, u: FloatArray, g: FloatArray) -> float:
    """Compute s = F' p, u = w / sqrt(s) and g = F u; return w . sqrt(s)."""
    k, n = F.shape
    for t in range(n):
        s[t] = p[0] * F[0, t]
    for j in range(1, k):
        for t in range(n):
            s[t] += p[j] * F[j, t]
    total = 0.0
    for t in range(n):
        u[t] = w[t] / np.sqrt(s[t])
        total += u[t] * s[t]
    for j in range(k):
        slope = 0.0
        for t in range(n):
            slope += F[j, t] * u[t]
        g[j] = slope
    return total


@kernel(error_model="numpy", fastmath=_SUMS)
def _bend(F: FloatArray, s: FloatArray, u: FloatArray, row: FloatArray, H: FloatArray) -> None:
    """Compute the second derivatives H_jl = sum_t u_t F_jt F_lt / (2 s_t)."""
    k, n = F.shape
    for j in range(k):
        for t in range(n):
            row[t] = 0.5 * F[j, t] * u[t] / s[t]
        for c in range(j + 1):
            total = 0.0
            for t in range(n):
                total += row[t] * F[c, t]
            H[j, c] = total
            H[c, j] = total


@kernel(error_model="numpy")
def nearest_by_hellinger(
    F: FloatArray, c: FloatArray, W: FloatArray, tol: float, gap: float, shares: FloatArray
) -> None:
    """Minimise c . p - 2 sum_t w_t sqrt(sum_j p_j F_jt) over the simplex for each row w of W, from the shares and in place.

    Newton steps, each a quadratic programme. The function is convex, so that the slope at the end of a step tells whether it went
    too far, and that the gap p.g - min_j g_j, with g the gradient, bounds how far the function is from its least value.
    """
    k, n = F.shape
    s, u, row = np.empty(n), np.empty(n), np.empty(n)
    g, target, new, trial, z, y = np.empty(k), np.empty(k), np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    H, A, L, free = np.empty((k, k)), np.empty((k, k)), np.empty((k, k)), np.empty(k, dtype=np.int64)
    for m in range(W.shape[0]):
        p = shares[m]
        _affinity(F, W[m], p, s, u, g)
        for _ in range(100):
            _bend(F, s, u, row, H)
            # Where densities are nearly 0, second derivatives of classes differ by ten powers of ten: each has a ridge of its own.
            for i in range(k):
                H[i, i] += _RIDGE * H[i, i] + 1e-300
                target[i] = g[i] - c[i]
                for j in range(k):
                    target[i] += H[i, j] * p[j]
                new[i] = p[i]
            least_quadratic(H, target, new, free, A, L, z, y)
            slope, change, mean, smallest = 0.0, 0.0, 0.0, np.inf
            for j in range(k):
                slope += (c[j] - g[j]) * (new[j] - p[j])
                change += abs(new[j] - p[j])
                mean += (c[j] - g[j]) * p[j]
                smallest = min(smallest, c[j] - g[j])
            if slope >= 0.0 or (change < tol and mean - smallest < gap):
                break
            step = 1.0
            for _ in range(40):
                for j in range(k):
                    trial[j] = p[j] + step * (new[j] - p[j])
                _affinity(F, W[m], trial, s, u, g)
                there = 0.0
                for j in range(k):
                    there += (c[j] - g[j]) * (new[j] - p[j])
                if there <= 0.5 * abs(slope):
                    break
                step *= max(0.1, slope / (slope - there))
            for j in range(k):
                p[j] = trial[j]


@kernel(error_model="numpy", fastmath=_SUMS)
def _slope(r: FloatArray, d: FloatArray, w: FloatArray, p: float) -> tuple[float, float]:
    """Return the first derivative of 2 sum_t w_t sqrt(r_t + p d_t), and minus the second."""
    first = 0.0
    second = 0.0
    for t in range(r.size):
        s = r[t] + p * d[t]
        a = w[t] * d[t] / np.sqrt(s)
        first += a
        second += 0.5 * a * d[t] / s
    return first, second


@kernel(error_model="numpy")
def nearest_of_two(
    r: FloatArray, d: FloatArray, linear: float, W: FloatArray, tol: float, gap: float, shares: FloatArray
) -> None:
    """Minimise linear p - 2 sum_t w_t sqrt(r_t + p d_t) over p in [0, 1] for each row w of W, by Newton steps in a bracket.

    The steps end when one is smaller than ``tol`` and the function can't fall by more than ``gap``: where a density is nearly 0 at
    an end, steps from there are small far from the minimum, too.
    """
    for m in range(W.shape[0]):
        low, high, p = 0.0, 1.0, 0.5
        tried_low, tried_high = False, False
        for _ in range(100):
            first, second = _slope(r, d, W[m], p)
            first -= linear
            if first > 0.0:
                low, tried_low = p, True
            else:
                high, tried_high = p, True
            if low == high or second <= 0.0:
                break
            new = p + first / second
            if new <= low:
                new = (low + high) / 2 if tried_low else low
            elif new >= high:
                new = (low + high) / 2 if tried_high else high
            change, reach = abs(new - p), abs(first) * (high - low)  # the function can't fall by more than that
            p = new
            if change < tol and reach < gap:
                break
        shares[m, 0], shares[m, 1] = 1.0 - p, p


@kernel(error_model="numpy")
def nonnegative_quadratics(H: FloatArray, Q: FloatArray, W: FloatArray) -> None:
    """Write to each row w of W the minimiser of w'Hw / 2 - q'w over w >= 0, for that row q of Q."""
    k = H.shape[0]
    free, L, z = np.empty(k, dtype=np.int64), np.empty((k, k)), np.empty(k)
    for m in range(Q.shape[0]):
        for j in range(k):
            W[m, j] = 1.0 / k
        _quadratic(H, Q[m], W[m], free, L, z)
