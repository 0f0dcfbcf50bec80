"""Predictors of an item's class for the design-based answer, and that answer for each sample."""

from typing import Any

import numpy as np

from headcount._typing import AnyArray, FloatArray, IntArray
from headcount.designs import SurveyDesign
from headcount.exceptions import DataError
from headcount.intervals.target_labels.labels import UNLABELLED, TargetLabels
from headcount.learners import Outputs
from headcount.model_assisted import AssistedShares, assisted_shares
from headcount.model_assisted.assisted import FEWEST_LABELS
from headcount.quantifiers import DensitiesQuantifier, Quantifier
from headcount.quantifiers.moved_posteriors import item_densities, moved_posteriors

__all__ = ["design_based_shares", "few_labels_note", "predictors", "scored_items"]


def scored_items(quantifier: Quantifier, X: Any) -> Outputs:
    """Score items with what the quantifier needs and, where its classifier has them, posteriors."""
    if isinstance(X, Outputs):
        return quantifier.outputs(X)
    needs = set(quantifier.needs)
    if hasattr(getattr(quantifier, "classifier_", None), "predict_proba") and needs:
        needs.add("posteriors")
    return quantifier.outputs(X, needs)


def predictors(quantifier: Quantifier, outputs: Outputs, shares: FloatArray | None) -> FloatArray | None:
    """Return what the model gives each class of each item, shape (n_items, n_predictors, n_classes); None if it gives nothing.

    The first predictor is the posteriors, moved to the shares that are estimated of the sample where the shares under which they
    hold are known; the second is the posteriors as they are. Of a classifier that only decides it is the decision. None of it
    depends on labels of the target.
    """
    k = len(quantifier.classes_)
    if outputs.members is not None:
        given = next((m for m in outputs.members if m.posteriors is not None and m.posteriors.shape[1] == k), None)
        return None if given is None else given.need("posteriors")[:, None, :]
    if outputs.posteriors is None:
        return None if outputs.decisions is None else np.eye(k)[outputs.decisions][:, None, :]
    plain = outputs.posteriors
    prior = _training_shares(quantifier)
    is_densities = isinstance(quantifier, DensitiesQuantifier)
    if shares is None or not np.isfinite(shares).all() or (prior is None and not is_densities):
        return plain[:, None, :]
    densities = item_densities(quantifier, outputs, np.ones(k) if prior is None else prior)
    moved = moved_posteriors(densities, _inside(shares))
    return np.stack([moved, plain], axis=1)


def _training_shares(quantifier: Any) -> FloatArray | None:
    """Return the class shares of the labelled items that the quantifier learnt from, where it keeps them."""
    codes = getattr(quantifier, "validation_codes_", None)
    if codes is None:
        return None
    counts = np.bincount(codes, minlength=len(quantifier.classes_)).astype(np.float64)
    return counts / counts.sum() if (counts > 0).all() else None


def _inside(shares: FloatArray) -> FloatArray:
    """Return shares that are all above 0: an estimate of 0 must not rule a class out for every item."""
    k = len(shares)
    moved: FloatArray = 0.98 * shares + 0.02 / k
    return moved


def few_labels_note(n: int, whose: str = "") -> str:
    """Say that there are too few labels for a design-based answer, and how many are needed."""
    more = FEWEST_LABELS - n
    labels = "no labels" if n == 0 else f"{n} label{'' if n == 1 else 's'}"
    return (
        f"{labels[0].upper()}{labels[1:]}{whose}: a design-based answer needs at least {FEWEST_LABELS}, drawn at random. "
        f"Label {more}{' more' if n else ''}."
    )


def design_based_shares(
    quantifier: Quantifier,
    outputs: Outputs,
    rows: IntArray,
    labels: TargetLabels,
    shares: FloatArray | None,
    within: bool,
    level: float,
    survey: SurveyDesign | None = None,
) -> tuple[AssistedShares | None, list[str]]:
    """Return the design-based shares of one sample, or None, and sentences about them.

    Parameters
    ----------
    quantifier : fitted quantifier
    outputs : Outputs
        Of the pool.
    rows : array of int
        Items of the sample.
    labels : TargetLabels
        Of the pool.
    shares : array of shape (n_classes,) or None
        What the quantifier estimates of the sample, without its labels.
    within : bool
        Whether the shares of the sample itself are meant, not those of its population.
    level : float
    survey : SurveyDesign, optional
        How the items of the pool were drawn.
    """
    codes = labels.codes[rows]
    labelled = np.flatnonzero(codes != UNLABELLED)
    if len(labelled) < FEWEST_LABELS:
        return None, [few_labels_note(len(labelled))]
    notes = []
    present: AnyArray = np.unique(codes[labelled])
    if len(present) == 1:
        notes.append(
            f"All {len(labelled):,} labels are of the class {quantifier.classes_[present[0]]}: they tell little of the others. "
            "The intervals allow for that."
        )
    mask = np.zeros(len(rows), dtype=bool)
    mask[labelled] = True
    given = predictors(quantifier, outputs.take(rows), shares)
    features = None if given is None or not np.isfinite(given).all() else given
    try:
        answer = assisted_shares(
            codes[labelled],
            labelled if features is not None else mask,
            features,
            len(quantifier.classes_),
            probabilities=None if labels.probabilities is None else labels.probabilities[rows[labelled]],
            strata=None if labels.strata is None else labels.strata[rows],
            finite_population=within,
            level=level,
            survey=None if survey is None else survey.take(rows),
        )
    except DataError as error:  # strata with a single label
        return None, [str(error)]
    return answer, notes
