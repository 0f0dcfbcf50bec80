"""Plots of results, as functions that draw on matplotlib axes and return them: `diagonal`, `error_by_shift`, `intervals`, ...

They take result objects (`Evaluation`, `Estimate`, `Outputs`, `RankComparison`), change no global setting of matplotlib, and import
it when they are called. Without ``ax`` they draw on a new figure of their own, which pyplot does not keep: show it in a notebook by
``ax.figure``, save it by ``ax.figure.savefig("plot.svg")``.

Examples
--------
>>> import numpy as np
>>> from headcount import CC, ArtificialPrevalence, evaluate, plots
>>> X, y = np.arange(100.0)[:, None], np.repeat([0, 1], 50)
>>> result = evaluate(CC().fit(X, y), X, y, ArtificialPrevalence(5, repeats=2, sample_size=20, random_state=0))
>>> ax = plots.diagonal(result)
>>> ax.get_xlabel(), ax.get_ylabel()
('true share of 1', 'estimated share of 1')
"""

from headcount.plots.evaluations import bias_by_prevalence, diagonal, error_by_shift
from headcount.plots.intervals import intervals
from headcount.plots.judges import judged
from headcount.plots.ranks import critical_difference
from headcount.plots.reliability import reliability
from headcount.plots.ternary import ternary

__all__ = [
    "bias_by_prevalence",
    "critical_difference",
    "diagonal",
    "error_by_shift",
    "intervals",
    "judged",
    "reliability",
    "ternary",
]
