"""A method that both libraries have, how each is made, and how their answers and times are compared."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import headcount as hc
from benchmarks.aggregation import protocol
from benchmarks.setting import Pool, make_pool, seconds

VALIDATION_ITEMS = 1500
THEIR_SAMPLES = 21
"""Samples that QuaPy estimates, spread evenly over all: its time is the same for each."""


@dataclass(frozen=True)
class Case:
    """A method with its counterpart.

    Attributes
    ----------
    name : str
        As our table shows it.
    n_classes : int
    ours : callable
        From the pool to a fitted quantifier of ours.
    theirs : callable
        From the pool to a function that estimates the shares of one sample, given its posteriors.
    bound : float, optional
        The largest difference of any share that is accepted; None: not judged, with the reason in ``note``.
    target : float, optional
        How many times faster ours must be.
    note : str
        Why the answers differ, or what differs.
    """

    name: str
    n_classes: int
    ours: Callable[[Pool], Any]
    theirs: Callable[[Pool], Callable[[Any], Any]]
    bound: float | None
    target: float | None = None
    note: str = ""


def run(case: Case) -> tuple[str, bool]:
    """Compare both sides; return a row of the table, and whether bound and target are met."""
    pool = make_pool(case.n_classes, n_validation=VALIDATION_ITEMS)
    quantifier, predict, drawing = case.ours(pool), case.theirs(pool), protocol(case.n_classes)
    hc.evaluate(quantifier, pool.P, pool.y, drawing)  # compiles the kernels, or loads them from the cache
    ours_s = seconds(lambda: hc.evaluate(quantifier, pool.P, pool.y, drawing), at_least=0.5)
    samples, true = drawing.draw(pool.y)
    shares = quantifier.aggregate(quantifier.outputs(pool.P), samples)
    chosen = np.linspace(0, len(samples) - 1, THEIR_SAMPLES).astype(int)
    answers: list[Any] = []

    def estimate_theirs() -> None:
        answers[:] = [predict(pool.P[samples[i]]) for i in chosen]

    theirs_s = seconds(estimate_theirs, at_least=1e-9) / len(chosen) * len(samples)
    difference = float(np.abs(np.array(answers) - shares[chosen]).max())
    errors = [np.abs(one - true[chosen]).mean() for one in (shares[chosen], np.array(answers))]
    ratio = theirs_s / ours_s
    met = (case.bound is None or difference <= case.bound) and (case.target is None or ratio >= case.target)
    bound = "–" if case.bound is None else f"{case.bound:g}"
    row = (
        f"| {case.name} | {case.n_classes} | {1e3 * ours_s:.1f} | {theirs_s * 1e3 / len(samples):.1f} | {ratio:,.0f} "
        f"| {case.target or '–'} | {difference:.1e} | {bound} | {errors[0]:.4f} / {errors[1]:.4f} | {case.note} |"
    )
    return row, met
