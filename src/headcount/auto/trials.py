"""Trials: methods judged as if the labelled items, and new items like them, had been drawn again.

Outputs of a classifier for all labelled items, each by a classifier that was not trained on it, stand for the population. A trial
draws labelled items from it, on which a method learns its rates, and as many new items, of which samples with other shares are
drawn. So the error of a trial has all that the error of an answer has: the chance of the labelled items, of the new items and
of the sample.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from headcount._typing import AnyArray, FloatArray, IntArray
from headcount.errors import ae
from headcount.learners import Outputs
from headcount.protocols import Protocol, Samples, default_protocol
from headcount.quantifiers import Quantifier

__all__ = ["Trial", "draw_trials", "errors_in_trials"]

_TRIALS = 16
_SAMPLES = 25
"""Samples of a trial for three or more classes; for two there is one at each twentieth."""
_SAMPLE_SIZES = 50, 200


@dataclass(frozen=True, eq=False)
class Trial:
    """Labelled items drawn with replacement, and samples of new ones; both are rows of the labelled items."""

    labelled: IntArray
    samples: Samples
    true: FloatArray


def draw_trials(
    labels: AnyArray, codes: IntArray, classes: AnyArray, protocol: Protocol | None, seed: np.random.SeedSequence
) -> list[Trial]:
    """Return the trials, the same for all methods. Each draws of every class as many items as there are.

    Parameters
    ----------
    labels : array of shape (n_items,)
    codes : array of int, shape (n_items,)
        The labels as positions in ``classes``.
    classes : array of shape (n_classes,)
    protocol : protocol, optional
        That draws samples of the new items; by default artificial prevalences for two classes, uniform ones for more.
    seed : SeedSequence

    Examples
    --------
    >>> y = np.repeat([0, 1], 100)
    >>> trials = draw_trials(y, y, np.array([0, 1]), None, np.random.SeedSequence(0))
    >>> len(trials), np.bincount(y[trials[0].labelled]).tolist(), len(trials[0].samples)
    (16, [100, 100], 21)
    """
    order, sizes = np.argsort(codes, kind="stable"), np.bincount(codes, minlength=len(classes))
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    sample_size = int(np.clip(len(codes) // 2, *_SAMPLE_SIZES))
    trials = []
    for one in seed.spawn(_TRIALS):
        generator = np.random.default_rng(one)
        labelled, new = (
            order[starts + (generator.random(len(codes)) * np.repeat(sizes, sizes)).astype(np.int64)] for _ in range(2)
        )
        drawing = protocol or default_protocol(
            len(classes), repeats=1, sample_size=sample_size, random_state=generator, n_samples=_SAMPLES
        )
        drawn, true = drawing.draw(labels[new], classes)
        samples = Samples(new[drawn.indices], drawn.indptr, drawn.weights, counts=drawn.counts)
        trials.append(Trial(labelled, samples, true))
    return trials


def errors_in_trials(method: Quantifier, outputs: Outputs, labels: AnyArray, trials: Sequence[Trial]) -> FloatArray:
    """Return the mean absolute error of a method in each trial.

    Parameters
    ----------
    method : Quantifier
        Its classifier is not used: the outputs are those of one.
    outputs : Outputs
        Of all labelled items.
    labels : array of shape (n_items,)
    trials : sequence of Trial
    """
    means = []
    for trial in trials:
        known: dict[str, Any] = {"classifier": None}
        if not method.uses_validation and "prior" in method.get_params(deep=False):
            shares = [(labels == label).mean() for label in outputs.classes]
            known["prior"] = shares if isinstance(method.prior, str) and method.prior == "train" else method.prior
        learnt: Quantifier = clone(method).set_params(**known)
        learnt.fit(outputs.take(trial.labelled), labels[trial.labelled])
        means.append(float(np.mean(ae(trial.true, learnt.aggregate(outputs, trial.samples)))))
    return np.array(means)
