"""The verdict in words: what the checks of scores and of items say of an estimate, and what to do next."""

from dataclasses import dataclass

import numpy as np

from headcount._distributions import normal_quantile

__all__ = ["NOT_CHECKED", "Advice", "Findings", "verdict_of"]

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
    "Nothing speaks against the shares, but decisions alone can't show whether there are items of a new kind: the classifier's "
    "scores can."
)
_UNTESTED = (
    "There are too few items, or their scores are too much alike, to check whether there are items of a new kind. Use longer "
    "periods or larger groups."
)


class Advice(str):
    """A piece of advice: a text whose ``reason`` several groups may have in common, and whose ``figures`` are of one group.

    A note (``is_note``) is worth knowing, and no reason for a warning.

    >>> advice = Advice("The items have changed{}. Read some of them.", "p = 0.01")
    >>> str(advice), advice.reason
    ('The items have changed (p = 0.01). Read some of them.', 'The items have changed. Read some of them.')
    """

    __slots__ = ("_template", "figures", "is_note")
    _template: str
    figures: str
    is_note: bool

    def __new__(cls, template: str, figures: str = "", is_note: bool = False) -> "Advice":
        """Put the figures, between parentheses, where the template has ``{}``."""
        advice = super().__new__(cls, template.replace("{}", f" ({figures})" if figures else ""))
        advice._template, advice.figures, advice.is_note = template, figures, is_note
        return advice

    def __getnewargs__(self) -> tuple[str, str, bool]:  # type: ignore[override]
        return self._template, self.figures, self.is_note

    @property
    def reason(self) -> str:
        """The text without its figures."""
        return self._template.replace("{}", "")


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
    verdict = "trust"
    advice: list[str] = []
    if found.separation_errors < _IDENTIFIED:
        advice.append(_not_apart(found.n_classes))
    by_calibration = found.miscalibrated and found.off > _TOLERATED_UNCALIBRATED
    is_off = found.off > _TOLERATED and found.off_errors > normal_quantile(_OFF_LEVEL / 2 / found.n_classes)
    # Where nothing explains the scores, no shares explain them best, and the method is not to blame for differing from those.
    if by_calibration or (is_off and not (scores_alarm and found.adjusts)):
        verdict = "caution"
        advice.append(_off(found))
    if found.distance > _FAR:
        verdict = verdict if found.adjusts else "caution"
        advice.append(
            Advice(
                "The shares are far from those of the labelled items{}. "
                + (
                    "The estimate allows for that; just counting the classifier's answers would be far off."
                    if found.adjusts
                    else "This method does not allow for that and may be far off: use "
                    f"{'ACC' if found.decided else 'PACC or SLD'} over the same classifier."
                ),
                f"{100 * found.distance:.0f} points",
                is_note=found.adjusts,
            )
        )
    if scores_alarm:
        strong = found.p_scores < each / _STRONG
        verdict = "do not trust" if strong or items_alarm else "caution"
        advice.append(
            Advice(
                "No combination of the known classes explains what the classifier says of these items{}: there may be items of a "
                "kind that is not among the labelled ones, or the items have changed. Read some items"
                f"{'' if found.decided else ', above all where the classifier is unsure'}, label some of them and fit again.",
                _p_text(found.p_scores),
            )
        )
    if items_alarm:
        verdict = verdict if verdict == "do not trust" else "caution"
        kept = "" if scores_alarm else ", though their scores do not"
        figures = f"most in {', '.join(found.differs)}" if found.differs else _p_text(found.p_items)
        advice.append(
            Advice(
                f"The items themselves look different from the labelled ones{kept}{{}}: there may be items of a new kind, or their "
                "wording or values have changed. Read some of them; if the difference matters to the classes, label some and fit "
                "again.",
                figures,
            )
        )
    if verdict == "trust" and found.decided:
        return NOT_CHECKED, [*advice, _ONLY_DECISIONS]
    if verdict == "trust" and not scores_made and not items_made:
        return NOT_CHECKED, [*advice, _UNTESTED]
    if verdict == "trust":
        advice.append(_passed(scores_made, items_made))
    return verdict, advice


def _not_apart(n_classes: int) -> str:
    """Say that the shares are hardly determined; classes can be merged only where there are more than two."""
    whom = "the two classes" if n_classes == 2 else "all classes"
    todo = "or use better features" if n_classes == 2 else "use better features, or merge classes that look alike"
    return (
        f"The labelled items do not show that the classifier can tell {whom} apart: very different shares would explain the new "
        f"items just as well, and the interval shows how different. Label more items, {todo}."
    )


def _off(found: Findings) -> Advice:
    """Say that the method is off, why, and which method is not."""
    if found.adjusts:
        reason = (
            "The estimate is off{}: this method relies on the classifier's probabilities, and those of the labelled items are "
            f"wrong. Use {'ACC' if found.decided else 'PACC'} over the same classifier, or calibrate its probabilities."
        )
    else:
        reason = (
            "The estimate is off{}: shares have changed since the items were labelled, and this method does not allow for that. "
            f"Use {'ACC' if found.decided else 'PACC or SLD'} over the same classifier."
        )
    return Advice(reason, f"by {100 * found.off:.0f} points")


def _p_text(p: float) -> str:
    return f"p = {p:.2g}" if p >= 0.001 else "p < 0.001"


def _passed(scores_made: bool, items_made: bool) -> str:
    if scores_made and items_made:
        return "Nothing unusual: scores and items look like those of the labelled classes, in these shares."
    if scores_made:
        return "Nothing unusual: the scores look like those of the labelled classes, in these shares."
    return "Nothing unusual: the items look like the labelled ones, in these shares; their scores could not be checked."
