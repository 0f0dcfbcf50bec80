"""Time of `aggregate` for methods over ordered classes: 2,100 samples of 500 items of 5 classes in one call.

    python -m benchmarks.ordinal

The pool has 25,000 items that are scored already, and there are 1,000 validation items. Targets: 100 ms for methods that
minimise a quadratic form, 1 s for those by the earth mover's distance. The least earth mover's distances are compared with a linear
programme's.
"""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import linprog

import headcount as hc
from benchmarks.setting import SEED, machine, make_pool, seconds
from headcount.simplex import mixture_least_absolute

SAMPLES, SIZE, CLASSES, VALIDATION = 2100, 500, 5, 1000
QUADRATIC: dict[str, Callable[[], Any]] = {
    "ACC": hc.ACC,
    "PACC": hc.PACC,
    "RUN, squares": lambda: hc.RUN(loss="squares", vectors="posteriors", strength=1e-3),
    "PDFOrd, l2": lambda: hc.PDFOrd(distance="l2", bins=4),
    "EDy, manhattan": hc.EDy,
    "EDy, euclidean": lambda: hc.EDy(distance="euclidean"),
    "EDy, emd": lambda: hc.EDy(distance="emd"),
    "CvMy": hc.CvMy,
    "EDyMAP": hc.EDyMAP,
}
EARTH_MOVERS: dict[str, Callable[[], Any]] = {
    "ACOrd": hc.ACOrd,
    "PDFOrd, emd": hc.PDFOrd,
    "DMy, emd": lambda: hc.DMy(distance="l1", cdf=True),
}


def times(methods: dict[str, Callable[[], Any]], most: float) -> bool:
    """Print a row for each method; return whether all are within the target."""
    pool = make_pool(CLASSES)
    train, y = pool.P_validation[:VALIDATION], pool.y_validation[:VALIDATION]
    samples, true = hc.UniformPrevalence(SAMPLES, sample_size=SIZE, random_state=SEED).draw(pool.y)
    passed = True
    for name, make in methods.items():
        classes = np.arange(CLASSES)
        q = make().fit(hc.Outputs.from_posteriors(train, classes), y)
        out = hc.Outputs.from_posteriors(pool.P, classes)
        error = hc.errors.nmd(
            true, q.aggregate(out, samples)
        ).mean()  # compiles the kernels, or loads them from the cache
        took = seconds(lambda q=q, out=out: q.aggregate(out, samples))
        passed &= took < most
        print(f"| {name} | {1e3 * took:.0f} | {1e3 * most:.0f} | {error:.4f} |", flush=True)
    return passed


def largest_gap(problems: int = 2000) -> float:
    """Return how far the sum of absolute differences is above a linear programme's, at most, over random problems."""
    generator = np.random.default_rng(SEED)
    worst = 0.0
    for _ in range(problems):
        k, d = int(generator.integers(2, 10)), int(generator.integers(1, 60))
        M = np.cumsum(generator.multinomial(20, np.full(d, 1.0 / d), size=k).T / 20, axis=0)
        q = np.cumsum(generator.multinomial(10, np.full(d, 1.0 / d)) / 10)
        A = np.block([[M, -np.eye(d)], [-M, -np.eye(d)]])
        cost, total = np.r_[np.zeros(k), np.ones(d)], np.r_[np.ones(k), np.zeros(d)][None]
        least = linprog(cost, A_ub=A, b_ub=np.r_[q, -q], A_eq=total, b_eq=[1.0], bounds=(0, None)).fun
        worst = max(worst, float(np.abs(M @ mixture_least_absolute(M, q[None])[0] - q).sum() - least))
    return worst


def main() -> int:
    """Print the tables."""
    print(f"# {SAMPLES:,} samples of {SIZE} items, {CLASSES} classes, seed {SEED}\n\n{machine()}\n")
    print("| method | ms | target | mean NMD |\n|---|---|---|---|")
    passed = times(QUADRATIC, 0.1)
    passed &= times(EARTH_MOVERS, 1.0)
    gap = largest_gap()
    passed &= gap < 1e-8
    print(f"\n2,000 random problems: at most {gap:.1e} above the optimum of scipy.optimize.linprog (target: 1e-8).")
    print("\nAll targets are met." if passed else "\nNOT ALL TARGETS ARE MET.")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
