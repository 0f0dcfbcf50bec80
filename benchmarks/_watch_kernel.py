"""One stream of `headcount.monitor.MoveProcess` from its first to its last look, compiled: many streams of 10,000 looks in minutes.

`benchmarks.watch` compares it with the process itself before it uses it.
"""

import math

import numba
import numpy as np

from headcount.monitor.moves import _DELAY_UNIT, _RELATIVE_SPREAD, _TAIL, _THIN, FIRST_WEIGHT

_MOST_STARTS = 400


@numba.njit(cache=True)
def log_normal_cdf(x):
    if x < -30.0:
        return -0.5 * x * x - math.log(-x) - 0.5 * math.log(2.0 * math.pi)
    return math.log(0.5 * math.erfc(-x / math.sqrt(2.0)))


@numba.njit(cache=True)
def log_ratio(after, since, total, v, c, scale, one_sided):
    """Return the logarithm of a start's evidence: see `MoveProcess._log_ratios`."""
    b = max(after / v - c * after * after / (v * v), 0.0)
    a = (since - c * after / v * total) / v
    m, w2 = scale, (_RELATIVE_SPREAD * scale) ** 2
    spread = b + 1.0 / w2
    least = -0.5 * m * m / w2 - 0.5 * math.log1p(b * w2)
    up = least + 0.5 * (a + m / w2) ** 2 / spread
    if one_sided:
        return up + log_normal_cdf((a + m / w2) / math.sqrt(spread)) - log_normal_cdf(m / math.sqrt(w2))
    down = least + 0.5 * (a - m / w2) ** 2 / spread
    top = max(up, down)
    return top + math.log(math.exp(up - top) + math.exp(down - top)) - math.log(2.0)


@numba.njit(cache=True)
def bound(kept, at_n, at_total, weight, n, total, v, c, scale, started):
    """Return the logarithm of a bound of the evidence that costs less: at most looks it is below the threshold."""
    m, w2 = scale, (_RELATIVE_SPREAD * scale) ** 2
    least, result = math.exp(-0.5 * m * m / w2), max(1.0 - started, 0.0)
    for k in range(kept):
        after = n - at_n[k]
        b = max(after / v - c * after * after / (v * v), 0.0)
        a = abs(total - at_total[k] - c * after / v * total) / v
        exponent = weight[k] + 0.5 * (a + m / w2) ** 2 / (b + 1.0 / w2)
        # Of positive moves alone: divided by the probability of these.
        result += 1.03 * least * math.exp(min(exponent, 700.0)) / math.sqrt(1.0 + b * w2)
    return math.log(result)


@numba.njit(cache=True)
def first_alarm(sizes, sums, v, s2, scale, one_sided, threshold, record):
    """Return the look of the first alarm, or -1; the logarithm of the evidence at each look in ``record`` if that is as long."""
    at_n, at_total = np.zeros(_MOST_STARTS), np.zeros(_MOST_STARTS)
    weight = np.zeros(_MOST_STARTS)
    kept, n, total, started, first = 0, 0.0, 0.0, 0.0, -1
    for look in range(len(sizes)):
        units = n * scale**2 / (_DELAY_UNIT * v)
        spent = FIRST_WEIGHT + (1.0 - FIRST_WEIGHT) * (1.0 - (1.0 + units) ** -_TAIL)
        at_n[kept], at_total[kept] = n, total
        weight[kept] = math.log(max(spent - started, 1e-300))
        started, kept = spent, kept + 1
        n, total = n + sizes[look], total + sums[look]
        inverse = n / v + (1.0 / s2 if s2 > 0.0 else math.inf)
        c = 1.0 / inverse
        if (
            len(record) == len(sizes)
            or bound(kept, at_n, at_total, weight, n, total, v, c, scale, started) >= threshold
        ):
            evidence = max(1.0 - started, 0.0)
            for k in range(kept):
                ratio = log_ratio(n - at_n[k], total - at_total[k], total, v, c, scale, one_sided)
                evidence += math.exp(min(weight[k] + ratio, 700.0))
            if len(record) == len(sizes):
                record[look] = math.log(evidence)
            if first < 0 and math.log(evidence) >= threshold:
                first = look
                if len(record) != len(sizes):
                    return first
        i = 1
        while i < kept - 1:
            before, this, later = at_n[i - 1], at_n[i], at_n[i + 1]
            if later - before > _THIN * (n - later):
                i += 1
                continue
            near = i - 1 if this - before <= later - this else i + 1
            moved = weight[i]
            moved += log_ratio(n - at_n[i], total - at_total[i], total, v, c, scale, one_sided)
            moved -= log_ratio(n - at_n[near], total - at_total[near], total, v, c, scale, one_sided)
            top = max(weight[near], moved)
            weight[near] = top + math.log(math.exp(weight[near] - top) + math.exp(moved - top))
            for k in range(i, kept - 1):
                at_n[k], at_total[k] = at_n[k + 1], at_total[k + 1]
                weight[k] = weight[k + 1]
            kept -= 1
    return first


@numba.njit(cache=True)
def batch_sums(sizes, cumulated, values, seed):
    """Return sums of the values of items drawn from cells, batch by batch."""
    np.random.seed(seed)  # noqa: NPY002 (the compiled generator)
    sums = np.zeros(len(sizes))
    steps = 4096  # a table of starting points for the search of the cell
    guide = np.searchsorted(cumulated, np.arange(steps) / steps, side="right")
    for look in range(len(sizes)):
        for _ in range(sizes[look]):
            u = np.random.random()  # noqa: NPY002
            cell = guide[int(u * steps)]
            while cumulated[cell] <= u:
                cell += 1
            sums[look] += values[cell]
    return sums


@numba.njit(cache=True)
def misses(sizes, sums, variance, eta, alpha, widened, fixed_error):
    """Return whether the sequence, and fixed 95 % intervals, miss the truth at any look."""
    n, total, sequence, fixed = 0.0, 0.0, False, False
    for look in range(len(sizes)):
        n, total = n + sizes[look], total + sums[look]
        mean = abs(total / n)
        radius = math.sqrt(variance / n * (1.0 + eta / n) * (math.log1p(n / eta) + 2.0 * math.log(2.0 / alpha)))
        sequence = sequence or mean > radius + widened
        fixed = fixed or mean > 1.959964 * math.sqrt(variance / n + fixed_error)
    return sequence, fixed
