"""The verdict in words: what the checks of scores and of items say of an estimate, and what to do next."""

from dataclasses import dataclass

import numpy as np

from headcount._distributions import normal_quantile

__all__ = ["NOT_CHECKED", "Findings", "verdict_of"]

NOT_CHECKED = "not checked"

_FAR = 0.3
"""Distance from the labelled shares beyond which counting decisions would be badly off."""
_TOLERATED = 0.05
"""Difference between an estimate and the shares that explain the scores that is tolerated whatever its noise."""
_TOLERATED_UNCALIBRATED = 0.02
"""The same for a method that takes posteriors for right which the labelled items show to be wrong."""
_OFF_LEVEL = 0.001
"""How often an estimate may be reported as off by chance; over all classes, by Bonferroni's inequality."""
_IDENTIFIED = 2.5
"""By how many standard errors the separation must exceed 0 for the shares to be called determined."""
_STRONG = 10.0
"""An alarm is strong if its p-value is smaller than the level by this factor."""
_ONLY_DECISIONS = (
    "Nothing speaks against the shares. Decisions alone can't show that the items are a mixture of the classes, though: "
    "scores can."
)


@dataclass(frozen=True)
class Findings:
    """What the checks found for one sample: figures as in `Report`, and what they are to be judged by."""

    p_scores: float
    p_items: float
    differs: tuple[str, ...]
    distance: float
    off: float
    off_errors: float
    separation_errors: float
    n_classes: int
    miscalibrated: bool
    adjusts: bool
    decided: bool


def verdict_of(found: Findings, level: float) -> tuple[str, list[str]]:
    """Return the verdict and what was found in sentences. Scores and items each have half of the level where both are tested.

    >>> found = Findings(0.4, 0.001, ("sequel",), 0.0, 0.0, 0.0, 9.0, 2, False, True, False)
    >>> verdict_of(found, 0.05)[0]
    'caution'
    """
    scores_made, items_made = not np.isnan(found.p_scores), not np.isnan(found.p_items)
    each = level / 2 if scores_made and items_made else level
    scores_alarm, items_alarm = scores_made and found.p_scores < each, items_made and found.p_items < each
    verdict, advice = "trust", []
    what = "decisions" if found.decided else "scores"
    if found.separation_errors < _IDENTIFIED:
        advice.append(
            "The labelled items do not show that the classifier tells all classes apart: several shares explain the items equally "
            "well, and the interval says which. Label more items, use better features, or merge classes."
        )
    by_calibration = found.miscalibrated and found.off > _TOLERATED_UNCALIBRATED
    if by_calibration or (
        found.off > _TOLERATED and found.off_errors > normal_quantile(_OFF_LEVEL / 2 / found.n_classes)
    ):
        verdict = "caution"
        points = f"The estimate is {100 * found.off:.0f} points off the shares that explain the {what} best"
        advice.append(
            f"{points}: the method takes the classifier's posteriors for right, and they are not. Use "
            f"{'ACC' if found.decided else 'PACC'} over the same classifier, or calibrate the posteriors."
            if found.adjusts
            else f"{points}: shares have changed, and this method does not adjust for that. Use "
            f"{'ACC' if found.decided else 'PACC or SLD'} over the same classifier."
        )
    if found.distance > _FAR:
        verdict = verdict if found.adjusts else "caution"
        advice.append(
            f"The shares are far from those of the labelled items ({found.distance:.0%} of the items would have to change class): "
            "merely counting decisions would be badly off here."
        )
    if scores_alarm:
        strong = found.p_scores < each / _STRONG
        verdict = "do not trust" if strong or items_alarm else "caution"
        advice.append(
            f"The {what} do not look like any mixture of the training classes (p = {found.p_scores:.2g}): there may be a class "
            "never seen in training, or the items themselves have changed. Look at items"
            f"{'' if found.decided else ' with low confidence'}, label some of this sample and train again."
        )
    if items_alarm:
        verdict = verdict if verdict == "do not trust" else "caution"
        named = f"; most in {', '.join(found.differs)}" if found.differs else ""
        kept = "" if scores_alarm else ", though their scores could be a mixture of the training classes"
        advice.append(
            f"The items themselves differ from the labelled ones of these shares (p = {found.p_items:.2g}{named}){kept}: a class "
            "never seen in training, or items that have changed. Read some of them; label some of this sample if the difference "
            "matters to the classes."
        )
    if verdict == "trust" and found.decided:
        return NOT_CHECKED, [*advice, _ONLY_DECISIONS]
    if verdict == "trust" and not scores_made and not items_made:
        return NOT_CHECKED, [
            *advice,
            "There are too few items, or their scores are too much alike, to test whether they are a mixture of the classes.",
        ]
    if verdict == "trust":
        advice.append(_passed(scores_made, items_made))
    return verdict, advice


def _passed(scores_made: bool, items_made: bool) -> str:
    if scores_made and items_made:
        return "The scores look like a mixture of the training classes, and so do the items themselves."
    if scores_made:
        return "The scores look like a mixture of the training classes."
    return (
        "The items look like a mixture of the labelled ones; their scores are too few or too much alike to be tested."
    )
