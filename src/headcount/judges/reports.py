"""`JudgeReport`: of one judge its shares and their bias, its confusion matrix, and its agreement with the human labels."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.model_assisted import AssistedShares
from headcount.model_assisted.score_intervals import design_effects, score_intervals

__all__ = ["Interval", "JudgeReport", "accuracy_interval", "judge_report", "kappa_interval"]

Interval = tuple[float, float, float]
"""A value and the ends of its interval."""


@dataclass(frozen=True, eq=False)
class JudgeReport:
    """What one judge answered, and what that is worth.

    Attributes
    ----------
    name : str
    n_answered : int
        Items for which it named a class.
    n_abstained : int
        Items with an empty answer, or one that is no class.
    others : dict of str to int
        Answers that are no class, and how often they were given; empty ones under ``""``.
    shares : array of shape (n_classes,)
        Among the items that it named a class for.
    bias, bias_low, bias_high : arrays of shape (n_classes,)
        Its share less the estimated one, of the items at hand.
    confusion : array of int of shape (n_classes, n_classes + 1)
        Of the items with a human label: rows are the human's classes, columns the judge's; the last is for no class.
    accuracy : (value, low, high)
        Share of items on which it agrees with the human; an abstention counts as a miss.
    kappa : (value, low, high)
        Cohen's kappa: agreement beyond chance, by the marginal shares of both; not naming a class is an answer of its own.
    effective_labels : float
        How many human labels drawn at random would be as precise as those there are with this judge alone.
    """

    name: str
    n_answered: int
    n_abstained: int
    others: dict[str, int]
    shares: FloatArray
    bias: FloatArray
    bias_low: FloatArray
    bias_high: FloatArray
    confusion: IntArray
    accuracy: Interval
    kappa: Interval
    effective_labels: float


def judge_report(
    name: str, codes: IntArray, human: IntArray, others: dict[str, int], whole: AssistedShares, single: AssistedShares
) -> JudgeReport:
    """Describe a judge.

    Parameters
    ----------
    name : str
    codes, human : arrays of int of shape (n_items,)
        The classes that the judge and the human named; the number of classes, and -1, where there is none.
    others : dict of str to int
    whole : AssistedShares
        From all judges, of these very items.
    single : AssistedShares
        From this judge alone.
    """
    k = len(whole.shares)
    counts = np.bincount(codes, minlength=k + 1)
    shares = counts[:k] / max(counts[:k].sum(), 1)
    labelled = human >= 0
    confusion = np.zeros((k, k + 1), dtype=np.int64)
    np.add.at(confusion, (human[labelled], codes[labelled]), 1)
    unsampled = 1.0 - labelled.mean()
    return JudgeReport(
        name=name,
        n_answered=int(counts[:k].sum()),
        n_abstained=int(counts[k]),
        others=others,
        shares=shares,
        bias=shares - whole.shares,
        bias_low=shares - whole.high,
        bias_high=shares - whole.low,
        confusion=confusion,
        accuracy=accuracy_interval(confusion, unsampled, whole.level),
        kappa=kappa_interval(confusion, unsampled, whole.level),
        effective_labels=single.effective_labels,
    )


def accuracy_interval(confusion: Any, unsampled: float, level: float) -> Interval:
    """Return the share of agreement and its score interval (Wilson, 1927), for a finite number of items.

    >>> [round(value, 3) for value in accuracy_interval([[40, 5, 0], [5, 50, 0]], 1.0, 0.95)]
    [0.9, 0.825, 0.945]
    """
    table = np.asarray(confusion, dtype=np.float64)
    n = table.sum()
    agreed = float(np.trace(table) / n)
    low, high = score_intervals(np.array([agreed]), np.array([unsampled]), n, max(n - 1.0, 1.0), level)
    return agreed, float(low[0]), float(high[0])


def kappa_interval(confusion: Any, unsampled: float, level: float) -> Interval:
    r"""Return Cohen's kappa with an interval.

    The variance is that of Fleiss, Cohen and Everitt (1969). As it is 0 where all items agree, the interval is a score interval of
    the share of agreement whose design effect gives that variance, on the scale of kappa.

    >>> [round(value, 2) for value in kappa_interval([[40, 5, 0], [5, 50, 0]], 1.0, 0.95)]
    [0.8, 0.65, 0.89]
    """
    counts = np.asarray(confusion, dtype=np.float64)
    n, k = float(counts.sum()), counts.shape[0]
    p = np.vstack([counts, np.zeros((counts.shape[1] - k, counts.shape[1]))]) / n  # humans never abstain
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    agreed, chance = float(np.trace(p)), float(rows @ columns)
    if chance >= 1.0 - 1e-12:  # both always say the same one class
        return 0.0, -1.0, 1.0
    kappa = (agreed - chance) / (1.0 - chance)
    marginal = rows[None, :] + columns[:, None]  # p.j of the row's class plus pi. of the column's
    on = np.diag(p) @ (1.0 - (rows + columns) * (1.0 - kappa)) ** 2
    off = (1.0 - kappa) ** 2 * float((p * marginal**2).sum() - np.diag(p) @ (rows + columns) ** 2)
    variance = (float(on) + off - (kappa - chance * (1.0 - kappa)) ** 2) / (1.0 - chance) ** 2 / n
    scaled = max(variance, 0.0) * (1.0 - chance) ** 2 * unsampled
    effect = design_effects(np.array([agreed]), np.array([scaled]), unsampled, n, 0.0)
    low, high = score_intervals(np.array([agreed]), effect, n, max(n - 1.0, 1.0), level)
    ends = (np.array([low[0], high[0]]) - chance) / (1.0 - chance)
    return kappa, float(max(ends[0], -1.0)), float(min(ends[1], 1.0))
