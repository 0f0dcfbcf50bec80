"""A test whether the labelled items look like a random draw: whether judges answer about them as they do about the others."""

import numpy as np

from headcount._typing import AnyArray, IntArray
from headcount.judges.answers import JudgeAnswers

__all__ = ["random_draw_test"]


def random_draw_test(answers: JudgeAnswers, labelled: AnyArray, groups: IntArray) -> tuple[str, float]:
    """Return the judge whose answers differ most between labelled and other items of the same group, and the p-value.

    A chi-squared test for each judge, summed over groups; the p-value is corrected for the number of judges (Bonferroni).

    Parameters
    ----------
    answers : JudgeAnswers
    labelled : array of bool of shape (n_items,)
    groups : array of int of shape (n_items,)
    """
    from scipy.special import chdtrc

    found = ("", 1.0)
    mask = np.asarray(labelled, dtype=bool)
    for j, name in enumerate(answers.names):
        statistic, degrees = 0.0, 0
        k = answers.codes[:, j].max() + 1
        for g in np.unique(groups):
            within = groups == g
            table = np.stack(
                [np.bincount(answers.codes[within & side, j], minlength=k) for side in (mask, ~mask)]
            ).astype(np.float64)
            table = table[:, table.sum(axis=0) > 0]
            if table.shape[1] < 2 or (table.sum(axis=1) == 0).any():
                continue
            expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
            # Small expected counts inflate the statistic: answers that are rare count as one.
            rare = expected.min(axis=0) < 2.0
            if rare.any():
                table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
                expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
            if table.shape[1] < 2 or expected.min() < 1.0:
                continue
            statistic += float(((table - expected) ** 2 / expected).sum())
            degrees += table.shape[1] - 1
        p = min(1.0, float(chdtrc(degrees, statistic)) * len(answers.names)) if degrees else 1.0
        if p < found[1]:
            found = (name, p)
    return found
