"""`check`: all that can be said about a sample without its labels, and a verdict in words with what to do next."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from headcount._typing import AnyArray, FloatArray, Items
from headcount.checks.item_features import item_features
from headcount.checks.items import ItemFindings, LabelledItems, chosen_items
from headcount.checks.label_shift import LabelledScores, labelled_scores
from headcount.checks.labelled_cells import LabelledCells
from headcount.checks.verdict import Findings, verdict_of
from headcount.designs import SurveyDesign, check_design
from headcount.exceptions import DataError
from headcount.learners import Outputs
from headcount.protocols import as_samples
from headcount.quantifiers import Posteriors, Quantifier
from headcount.simplex import mixture_least_squares, sum_zero_basis

__all__ = ["Report", "check", "check_counted", "separation_of"]

_MISCALIBRATED = 4.0
"""Standard errors beyond which posteriors are not taken for right."""


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """What the checks found for one sample.

    Attributes
    ----------
    verdict : {"trust", "caution", "do not trust", "not checked"}
        The last where nothing could be tested, or where there are only decisions and nothing speaks against the answer.
    advice : list of str
        What was found and what to do next, in sentences.
    p_label_shift : float
        p-value of the scores being those of a mixture of the training classes; NaN if that could not be tested.
    separation : float
        The least change of mean posteriors per unit change of shares: 0 where several shares explain the scores equally well.
    disagreement : float
        The largest difference between the shares that matching the scores' cells and matching their means give.
    distance : float
        Half the sum of absolute differences between the estimated shares and those of the labelled items.
    off : float
        The largest difference between the estimated shares and those that matching the scores' cells gives; or, if larger, the
        method's error on the labelled items weighted to these. It is large where a method takes posteriors for right that are not.
    shares : array of shape (n_classes,)
    p_items : float
        p-value of the items themselves being a mixture of labelled ones; NaN if that could not be tested.
    differs : tuple of str
        Terms or columns in which the items differ most, if they do.
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
    p_items: float = float("nan")
    differs: tuple[str, ...] = ()

    def __repr__(self) -> str:
        lines = [f"Verdict: {self.verdict}", *(f"  - {sentence}" for sentence in self.advice)]
        return "\n".join(lines)


def check(
    quantifier: Quantifier,
    X: Items,
    labelled: Any = None,
    level: float = 0.05,
    *,
    design: SurveyDesign | None = None,
) -> Report:
    """Check whether a quantifier's estimate for these items can be trusted, without their labels.

    Two things are tested: whether the classifier's scores are those of a mixture of the training classes, and, where the items
    themselves are at hand on both sides, whether these are. Each has half of the level.

    Parameters
    ----------
    quantifier : fitted quantifier over a classifier with posteriors
    X : items, or their `Outputs`
    labelled : pair (X, y), optional
        Labelled items that the classifier was not trained on. Not needed for PACC, HDy and calibrated SLD, which keep theirs, nor
        for an `AutoQuantifier` that has ``held_out_``.
    level : float, default=0.05
        How often the tests may raise a false alarm where only the shares have changed.
    design : SurveyDesign, optional
        How the items of X were drawn. Clusters make the tests count fewer items, so that items that are alike raise no alarm; that
        of the labelled items is given to ``fit``.

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
    known = labelled_scores(quantifier, labelled)
    quantifier = quantifier.chosen
    outputs = quantifier.outputs(X, quantifier.needs | {"posteriors"})
    cells, sample, effective = known.cells(), as_samples(None, outputs.n_items), None
    if design is not None:
        check_design(design, outputs.n_items, "items")
        sample = sample if design.weights is None else sample.weighted(design.weights, mean_one=True)
        P = Posteriors().vectors(outputs)
        effect = cells.design_effect(cells.representation.codes(_one_classifier(outputs, P)), P, design)
        effective = np.array([outputs.n_items / effect])
    counts, sums = (rep.reduce(outputs, sample).sums for rep in (cells.representation, Posteriors()))
    shares = quantifier.aggregate(outputs, sample)
    items = ItemFindings()
    if not isinstance(X, Outputs) and known.items is not None:
        items = _check_items(known, X, outputs, level, design)
    return check_counted(
        cells,
        counts,
        sums,
        shares,
        quantifier.classes_,
        level,
        quantifier.adjusts_for_shift,
        quantifier,
        [items],
        effective,
    )[0]


def _one_classifier(outputs: Outputs, P: FloatArray) -> Outputs:
    """Return outputs whose posteriors are those of fold classifiers on the mean."""
    return outputs if outputs.folds is None else Outputs(outputs.classes, outputs.n_items, P.argmax(axis=1), P)


def _check_items(
    known: LabelledScores, X: Items, outputs: Outputs, level: float, design: SurveyDesign | None
) -> ItemFindings:
    """Test the items themselves, of each side as many as are used at most."""
    generator = np.random.default_rng(0)
    of_labelled, of_new = (None if one is None else one.weights for one in (known.design, design))
    own = chosen_items(len(known.codes), of_labelled, generator)
    new = chosen_items(outputs.n_items, of_new, generator)
    features = item_features(known.items, own)
    if features is None:
        return ItemFindings()
    labelled = LabelledItems(
        features, known.codes[own], known.P[own], None if known.design is None else known.design.item_clusters[own]
    )
    clusters = None if design is None else design.item_clusters[new]
    return labelled.check(_safe_indexing(X, new), Posteriors().vectors(outputs)[new], level, clusters)


def check_counted(
    labelled: LabelledCells,
    counts: FloatArray,
    sums: FloatArray,
    shares: FloatArray,
    classes: AnyArray,
    level: float = 0.05,
    adjusts: bool = False,
    quantifier: Quantifier | None = None,
    items: Sequence[ItemFindings] | None = None,
    effective: FloatArray | None = None,
) -> list[Report]:
    """Check samples of which only counts and sums are known: those of batches add up to those of all.

    Each sample is judged by itself, whatever other samples there are.

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
    quantifier : fitted quantifier, optional
        That made the estimates. If it adjusts, it is also asked for the shares of the labelled items themselves, weighted to those
        that explain the scores: what it is off by there, it is off by here.
    items : sequence of ItemFindings, optional
        What is known of the items themselves, for each sample. Copies among them make it as noisy as fewer items.
    effective : array of shape (n_samples,), optional
        Effective numbers of items; by default their numbers.
    """
    total = counts.sum(axis=1)
    n = total if effective is None else effective
    n = n if items is None else np.array([one.effective_size(m) for one, m in zip(items, n, strict=True)])
    test = labelled.test(counts, total, None if labelled.decided else sums)
    if (n < total).any():  # the shares stay those of all items: fewer would be put into fewer, coarser cells
        fewer = labelled.test(counts, n, None if labelled.decided else sums)
        test = replace(test, p_value=fewer.p_value, tested=fewer.tested)
    M, sizes = labelled.means, labelled.counts
    matched = mixture_least_squares(M, sums / total[:, None])
    separation, separation_errors = _separation(labelled)
    # Noise of the difference between the estimate and the shares that explain the scores. If one of the two is efficient, its error
    # is uncorrelated with their difference (Hausman 1978), so that the variance of that is smaller than the other's.
    by_decisions = labelled.decided or (quantifier is not None and "posteriors" not in quantifier.needs)
    own = 0.5 / np.sqrt(n)[:, None]
    if adjusts:
        of_labelled = labelled.matched_errors(test.shares, np.full(len(n), np.inf), by_decisions) ** 2
        of_validation = _sizes_by_validation(labelled, quantifier) * of_labelled
        labelled_noise = np.sqrt(of_labelled + of_validation)
        own = np.sqrt(labelled.matched_errors(test.shares, n, by_decisions) ** 2 + of_validation)
    noise = np.maximum(np.nan_to_num(test.errors, nan=1.0), own)
    gaps = np.abs(shares - test.shares)
    ratios = gaps / np.maximum(noise, 1e-12)
    if adjusts and quantifier is not None and not labelled.decided:
        biases = np.abs(labelled.answers(quantifier, test.shares) - test.shares)
        ratios = np.maximum(ratios, biases / np.maximum(labelled_noise, 1e-3))
        gaps = np.maximum(gaps, biases)
    assumes_calibration = adjusts and quantifier is not None and not quantifier.uses_validation
    miscalibrated = assumes_calibration and not labelled.decided and abs(labelled.calibration_errors()) > _MISCALIBRATED
    reports = []
    for s in range(len(counts)):
        found = ItemFindings() if items is None else items[s]
        figures: dict[str, Any] = {
            "p_label_shift": float(test.p_value[s]) if test.tested[s] else np.nan,
            "separation": separation,
            "disagreement": float(np.abs(matched[s] - test.shares[s]).max()),
            "distance": float(np.abs(shares[s] - sizes / sizes.sum()).sum() / 2),
            "off": float(gaps[s].max()),
        }
        verdict, advice = verdict_of(
            Findings(
                figures["p_label_shift"],
                found.p_value,
                found.differs,
                figures["distance"],
                figures["off"],
                float(ratios[s].max()),
                separation_errors,
                labelled.k,
                miscalibrated,
                adjusts,
                labelled.decided,
            ),
            level,
        )
        figures |= {"p_items": found.p_value, "differs": found.differs}
        reports.append(Report(verdict, advice, **figures, classes=classes, shares=shares[s]))
    return reports


def _sizes_by_validation(labelled: LabelledCells, quantifier: Quantifier | None) -> float:
    """Return how many times more labelled items there are than the quantifier was validated on; 0 if these are the same ones."""
    if quantifier is None or not quantifier.uses_validation:
        return 0.0
    validated = np.bincount(quantifier.validation_codes_, minlength=labelled.k)
    return 0.0 if np.array_equal(validated, labelled.counts) else float((labelled.counts / validated).max())


def separation_of(M: FloatArray) -> float:
    """Return how well profiles of the classes, the columns of M, are told apart: 0 if some mixture of them looks like another."""
    return float(np.linalg.svd(M - M.mean(axis=1, keepdims=True), compute_uv=False)[M.shape[1] - 2])


def _separation(labelled: LabelledCells) -> tuple[float, float]:
    """Return the separation of the classes' mean posteriors, and by how many of its standard errors it exceeds 0."""
    directions = sum_zero_basis(labelled.k)
    left, values, right = np.linalg.svd(labelled.means @ directions, full_matrices=False)
    u, v = left[:, -1], directions @ right[-1]
    along = labelled.P @ u
    variance = sum(v[j] ** 2 * along[labelled.codes == j].var() / size for j, size in enumerate(labelled.sizes))
    smallest = float(values[-1])
    return separation_of(labelled.means), smallest / max(float(np.sqrt(variance)), 1e-12)
