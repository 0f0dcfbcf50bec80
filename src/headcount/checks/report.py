"""`check`: all that can be said about a sample without its labels, and a verdict in words with what to do next."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from headcount._typing import AnyArray, FloatArray, Items
from headcount.checks.label_shift import LabelledCells, labelled_outputs
from headcount.exceptions import DataError
from headcount.protocols import as_samples
from headcount.quantifiers import Posteriors, Quantifier
from headcount.significance import holm
from headcount.simplex import mixture_least_squares

__all__ = ["Report", "check", "check_counted", "separation_of"]

_FAR = 0.3
"""Distance from the labelled shares beyond which counting decisions would be badly off."""
_MIN_SEPARATION = 0.3
_MAX_DISAGREEMENT = 0.05
"""Difference between two estimates that is tolerated whatever their noise."""
_STANDARD_ERRORS = 4.0
"""By how many standard errors an unadjusted estimate may be off before it is reported."""
_ONLY_DECISIONS = (
    "Nothing speaks against the shares. Decisions alone can't show that the items are a mixture of the classes, though: "
    "scores can."
)


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """What the checks found for one sample.

    Attributes
    ----------
    verdict : {"trust", "caution", "do not trust", "not checked"}
        The last where there are only decisions, and nothing speaks against the answer.
    advice : list of str
        What was found and what to do next, in sentences.
    p_label_shift : float
        p-value of the target being a mixture of the training classes; NaN if that could not be tested.
    separation : float
        How well the classifier tells the classes apart, from 0 (not at all) to 1: the least change of mean posteriors per unit
        change of shares.
    disagreement : float
        The largest difference between the shares that matching the scores' cells and matching their means give.
    distance : float
        Half the sum of absolute differences between the estimated shares and those of the labelled items.
    off : float
        The largest difference between the estimated shares and those that matching the scores' cells gives.
    shares : array of shape (n_classes,)
    """

    verdict: str
    advice: list[str]
    p_label_shift: float
    separation: float
    disagreement: float
    distance: float
    off: float
    classes: AnyArray
    shares: FloatArray

    def __repr__(self) -> str:
        lines = [f"Verdict: {self.verdict}", *(f"  - {sentence}" for sentence in self.advice)]
        return "\n".join(lines)


def check(quantifier: Quantifier, X: Items, labelled: Any = None, level: float = 0.05) -> Report:
    """Check whether a quantifier's estimate for these items can be trusted, without their labels.

    Parameters
    ----------
    quantifier : fitted quantifier over a classifier with posteriors
    X : items, or their `Outputs`
    labelled : pair (X, y), optional
        Labelled items that the classifier was not trained on. Not needed for PACC, HDy and calibrated SLD, which keep theirs, nor
        for an `AutoQuantifier` that has ``held_out_``.
    level : float, default=0.05
        How often the label-shift test may raise a false alarm where only the shares have changed.

    Returns
    -------
    Report

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from headcount import PACC
    >>> X, y = make_classification(4000, flip_y=0.1, random_state=0)
    >>> q = PACC(random_state=0).fit(X[:2000], y[:2000])
    >>> check(q, X[2000:]).verdict
    'trust'
    """
    if not isinstance(level, float | int) or not 0 < level < 1:
        raise DataError(f"level must be between 0 and 1, such as 0.05; got {level!r}.")
    validation, codes = labelled_outputs(quantifier, labelled)
    quantifier = quantifier.chosen
    outputs = quantifier.outputs(X, quantifier.needs | {"posteriors"})
    cells = LabelledCells(validation.need("posteriors"), codes)
    sample = as_samples(None, outputs.n_items)
    counts = cells.representation.reduce(outputs, sample).sums
    sums = Posteriors().reduce(outputs, sample).sums
    shares = quantifier.aggregate(outputs, sample)
    return check_counted(cells, counts, sums, shares, quantifier.classes_, level, quantifier.adjusts_for_shift)[0]


def check_counted(
    labelled: LabelledCells,
    counts: FloatArray,
    sums: FloatArray,
    shares: FloatArray,
    classes: AnyArray,
    level: float = 0.05,
    adjusts: bool = False,
) -> list[Report]:
    """Check samples of which only counts and sums are known: those of batches add up to those of all.

    With several samples the label-shift test's p-values are corrected by Holm's method before they are judged, so that the chance
    of any false alarm among them, not in each, is ``level``.

    Parameters
    ----------
    labelled : LabelledCells
    counts : array of shape (n_samples, n_cells)
        Of the items in the cells of ``labelled``.
    sums : array of shape (n_samples, n_classes)
        Of the items' posteriors.
    shares : array of shape (n_samples, n_classes)
        The estimates to be checked.
    classes : array of shape (n_classes,)
    level : float, default=0.05
    adjusts : bool, default=False
        Whether the method that the estimates are from adjusts for changed shares (``adjusts_for_shift``).
    """
    n = counts.sum(axis=1)
    test = labelled.test(counts, n)
    M, sizes = labelled.means, labelled.sizes
    matched = mixture_least_squares(M, sums / n[:, None])
    separation = separation_of(M)
    corrected = holm(np.where(test.tested, test.p_value, 1.0).tolist())
    reports = []
    for s in range(len(counts)):
        figures = {
            "p_label_shift": float(test.p_value[s]) if test.tested[s] else np.nan,
            "separation": separation,
            "disagreement": float(np.abs(matched[s] - test.shares[s]).max()),
            "distance": float(np.abs(shares[s] - sizes / sizes.sum()).sum() / 2),
            "off": float(np.abs(shares[s] - test.shares[s]).max()),
        }
        noise = 3.0 * np.sqrt(0.25 / n[s] + 0.25 / sizes.min()) / max(separation, 1e-6)
        judged = {**figures, "p_label_shift": float(corrected[s])}
        verdict, advice = _verdict(
            **judged,
            level=level,
            noise=noise,
            error=float(np.nan_to_num(test.errors[s].max(), nan=noise / _STANDARD_ERRORS)),
            adjusts=adjusts,
            tested=bool(test.tested[s]),
            decided=labelled.decided,
            among=len(counts),
        )
        reports.append(Report(verdict, advice, **figures, classes=classes, shares=shares[s]))
    return reports


def separation_of(M: FloatArray) -> float:
    """Return how well profiles of the classes, the columns of M, are told apart: 0 if some mixture of them looks like another."""
    return float(np.linalg.svd(M - M.mean(axis=1, keepdims=True), compute_uv=False)[M.shape[1] - 2])


def _verdict(
    p_label_shift: float,
    separation: float,
    disagreement: float,
    distance: float,
    off: float,
    level: float,
    noise: float,
    error: float,
    adjusts: bool,
    tested: bool,
    decided: bool,
    among: int,
) -> tuple[str, list[str]]:
    advice = []
    verdict = "trust"
    what = "decisions" if decided else "scores"
    if separation < _MIN_SEPARATION:
        verdict = "caution"
        advice.append(
            f"The classifier hardly tells some classes apart (separation {separation:.2f} of 1): intervals will be wide. Label "
            "more items, use better features, or merge classes."
        )
    if disagreement > max(_MAX_DISAGREEMENT, noise):
        verdict = "caution"
        advice.append(
            f"Two ways to explain the scores differ by {disagreement:.1%}: look at the interval, and at a sample of items by hand."
        )
    if not adjusts and off > max(_MAX_DISAGREEMENT, _STANDARD_ERRORS * error):
        verdict = "caution"
        advice.append(
            f"The estimate is {100 * off:.0f} points off the shares that explain the {what} best: shares have changed, and this "
            f"method does not adjust for that. Use {'ACC' if decided else 'PACC or SLD'} over the same classifier."
        )
    if distance > _FAR:
        verdict = verdict if adjusts else "caution"
        advice.append(
            f"The shares are far from those of the labelled items ({distance:.0%} of the items would have to change class): merely "
            "counting decisions would be badly off here."
        )
    if p_label_shift < level:
        verdict = "do not trust" if p_label_shift < level / 10 else "caution"
        corrected = f", corrected for {among:,} groups" if among > 1 else ""
        advice.append(
            f"The {what} do not look like any mixture of the training classes (p = "
            f"{p_label_shift:.2g}{corrected}): there may be a class never seen in training, or the items themselves have changed. "
            f"Look at items{'' if decided else ' with low confidence'}, label some of this sample and train again."
        )
    if not tested:
        verdict = "caution"
        advice.append(
            "There are too few items, or their scores are too much alike, to test whether they are a mixture of the classes."
        )
    if decided and verdict == "trust":
        return "not checked", [*advice, _ONLY_DECISIONS]
    if not advice:
        advice.append("The scores look like a mixture of the training classes, which the classifier tells apart well.")
    return verdict, advice
