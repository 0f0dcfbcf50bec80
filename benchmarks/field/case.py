"""A method that both libraries have, how each is made, and how their answers and times are compared.

Both sides do the same work, from the same posteriors, and are measured twice:

- *From a protocol*: samples are drawn and their shares estimated. Ours is `headcount.evaluate`; theirs goes through the samples of
  QuaPy's own protocol (APP for two classes, UPP for more), as its `evaluation.prediction` does. This ratio is judged.
- *From given samples*: the shares of samples that were drawn before, so that no drawing is in either time.

Times are processor time, of all threads: other work on the machine, and a second core for one side, are not in the ratio.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import headcount as hc
from benchmarks.aggregation import SAMPLES, protocol, their_protocol
from benchmarks.setting import Pool, make_pool, seconds

VALIDATION_ITEMS = 1500
FEW, MANY, MOST_SECONDS = 21, 210, 0.5
"""Samples that QuaPy is measured on, with shares like those of all: many, unless the few take longer. Its time is in proportion."""
OUR_SECONDS, THEIR_SECONDS = 0.3, 1.0
"""For how long a measurement is repeated, at least; the median is taken. Ours is measured before and after theirs."""


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
    samples, true = drawing.draw(pool.y)
    chosen = np.linspace(0, len(samples) - 1, FEW).astype(int)
    counted = chosen

    def draw_and_estimate() -> Any:
        return hc.evaluate(quantifier, pool.P, pool.y, drawing)

    def estimate() -> Any:
        return quantifier.aggregate(quantifier.outputs(pool.P), samples)

    def draw_and_estimate_theirs() -> None:
        for sample, _ in their_protocol(pool, case.n_classes, len(counted))():
            predict(sample)

    def estimate_theirs() -> list[Any]:
        return [predict(pool.P[samples[i]]) for i in counted]

    draw_and_estimate()  # compiles the kernels, or loads them from the cache
    shares, answers = estimate()[chosen], np.array(estimate_theirs())
    if seconds(estimate_theirs, 0.0, time.process_time) < MOST_SECONDS:
        counted = np.linspace(0, len(samples) - 1, MANY).astype(int)
    drawn, given = (
        _measure(ours, theirs, len(counted))
        for ours, theirs in ((draw_and_estimate, draw_and_estimate_theirs), (estimate, estimate_theirs))
    )
    difference = float(np.abs(answers - shares).max())
    errors = [np.abs(one - true[chosen]).mean() for one in (shares, answers)]
    met = (case.bound is None or difference <= case.bound) and (case.target is None or drawn.ratio >= case.target)
    bound = "–" if case.bound is None else f"{case.bound:g}"
    row = (
        f"| {case.name} | {case.n_classes} | {drawn} | {case.target or '–'} | {given} "
        f"| {difference:.1e} | {bound} | {errors[0]:.4f} / {errors[1]:.4f} | {case.note} |"
    )
    return row, met


@dataclass(frozen=True)
class _Times:
    """Processor time for all samples in seconds, of ours and of theirs."""

    ours: float
    theirs: float

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours

    def __str__(self) -> str:
        return f"{1e3 * self.ours:.1f} | {1e3 * self.theirs:,.0f} | {self.ratio:,.0f}"


def _measure(ours: Callable[[], Any], theirs: Callable[[], Any], n_theirs: int) -> _Times:
    """Measure ours for all samples, and theirs for so many of them."""
    before = seconds(ours, OUR_SECONDS, time.process_time)
    of_some = seconds(theirs, THEIR_SECONDS, time.process_time)
    after = seconds(ours, OUR_SECONDS, time.process_time)
    return _Times((before + after) / 2, of_some / n_theirs * SAMPLES)
