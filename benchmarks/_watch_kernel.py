"""One stream of `headcount.monitor.MoveProcess` from its first to its last look, compiled: many streams of 10,000 looks in minutes.

`benchmarks.watch` compares it with the process itself before it uses it.
"""

import math

import numba
import numpy as np

from headcount.monitor.moves import _DELAY_UNIT, _TAIL, _THIN, FIRST_WEIGHT

_MOST_STARTS = 400
NEGLIGIBLE = -18.0
"""Logarithm of evidence that is left out of the sum: together less than 1e-4 of an e-value of 1."""


@numba.njit(cache=True)
def log_evidence_of_start(after, since, total, log_weights, linear, quadratic):
    """Return the logarithm of a start's evidence: see `MoveProcess._log_ratios`."""
    logs = np.empty(len(log_weights))
    for i in range(len(log_weights)):
        logs[i] = log_weights[i] + linear[0, i] * since - linear[1, i] * after * total
        logs[i] -= quadratic[0, i] * after - quadratic[1, i] * after * after
    top = logs.max()
    return top + math.log(np.exp(logs - top).sum())


@numba.njit(cache=True)
def evidence_of_start(after, since, total, log_weights, linear, quadratic, log_weight, least):
    """Return a start's weight times its evidence, without moves of less than so much."""
    result = 0.0
    for i in range(len(log_weights)):
        exponent = log_weight + log_weights[i] + linear[0, i] * since - linear[1, i] * after * total
        exponent -= quadratic[0, i] * after - quadratic[1, i] * after * after
        if exponent > least:
            result += math.exp(min(exponent, 700.0))
    return result


@numba.njit(cache=True)
def first_alarm(sizes, sums, v, s2, scale, moves, variances, log_weights, threshold, record, least):
    """Return the look of the first alarm, or -1; the logarithm of the evidence at each look in ``record`` if that is as long.

    Parts of the evidence with a logarithm of less than ``least`` are left out.
    """
    at_n, at_total = np.zeros(_MOST_STARTS), np.zeros(_MOST_STARTS)
    weight, linear, quadratic = np.zeros(_MOST_STARTS), np.zeros((2, len(moves))), np.zeros((2, len(moves)))
    kept, n, total, started, first = 0, 0.0, 0.0, 0.0, -1
    recorded = len(record) == len(sizes)
    for look in range(len(sizes)):
        units = n * scale**2 / (_DELAY_UNIT * v)
        spent = FIRST_WEIGHT + (1.0 - FIRST_WEIGHT) * (1.0 - (1.0 + units) ** -_TAIL)
        at_n[kept], at_total[kept] = n, total
        weight[kept] = math.log(max(spent - started, 1e-300))
        started, kept = spent, kept + 1
        n, total = n + sizes[look], total + sums[look]
        for i in range(len(moves)):
            w = variances[i]
            shared = 1.0 / (n / w + (1.0 / s2 if s2 > 0.0 else math.inf)) / (w * w)  # c / v^2
            linear[0, i], linear[1, i] = moves[i] / w, moves[i] * shared
            quadratic[0, i], quadratic[1, i] = 0.5 * moves[i] ** 2 / w, 0.5 * moves[i] ** 2 * shared
        evidence = max(1.0 - started, 0.0)
        for k in range(kept):
            evidence += evidence_of_start(
                n - at_n[k], total - at_total[k], total, log_weights, linear, quadratic, weight[k], least
            )
        if recorded:
            record[look] = math.log(evidence)
        if first < 0 and math.log(evidence) >= threshold:
            first = look
            if not recorded:
                return first
        i = 1
        while i < kept - 1:
            before, this, later = at_n[i - 1], at_n[i], at_n[i + 1]
            if later - before > _THIN * (n - later):
                i += 1
                continue
            near = i - 1 if this - before <= later - this else i + 1
            ratios = np.empty(2)
            for j, k in enumerate((i, near)):
                ratios[j] = log_evidence_of_start(
                    n - at_n[k], total - at_total[k], total, log_weights, linear, quadratic
                )
            moved = weight[i] + ratios[0] - ratios[1]
            top = max(weight[near], moved)
            weight[near] = top + math.log(math.exp(weight[near] - top) + math.exp(moved - top))
            for k in range(i, kept - 1):
                at_n[k], at_total[k] = at_n[k + 1], at_total[k + 1]
                weight[k] = weight[k + 1]
            kept -= 1
    return first


@numba.njit(cache=True)
def batch_sums(sizes, cumulated, values, seed):
    """Return sums of values of items drawn from cells, batch by batch; the values are a row each, as are the sums."""
    np.random.seed(seed)  # noqa: NPY002 (the compiled generator)
    sums = np.zeros((len(values), len(sizes)))
    steps = 4096  # a table of starting points for the search of the cell
    guide = np.searchsorted(cumulated, np.arange(steps) / steps, side="right")
    for look in range(len(sizes)):
        for _ in range(sizes[look]):
            u = np.random.random()  # noqa: NPY002
            cell = guide[int(u * steps)]
            while cumulated[cell] <= u:
                cell += 1
            for j in range(len(values)):
                sums[j, look] += values[j, cell]
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
