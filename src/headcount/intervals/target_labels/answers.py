"""`labelled_estimate`: both answers and the test, for each sample."""

from dataclasses import replace
from typing import Literal

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.designs import SurveyDesign
from headcount.exceptions import DataError
from headcount.intervals.designs import DesignErrors
from headcount.intervals.evidence import Evidence, evidence_of_vectors
from headcount.intervals.item_vectors import item_vectors, posterior_vectors
from headcount.intervals.result import Estimate
from headcount.intervals.target_labels.contradiction import Contradiction, contradiction_of
from headcount.intervals.target_labels.design_based import design_based_shares
from headcount.intervals.target_labels.designed import PooledItems, contradiction_errors, pooled_intervals
from headcount.intervals.target_labels.labels import TargetLabels
from headcount.intervals.target_labels.pooled import PooledScore
from headcount.intervals.target_labels.pooling import Pooled, pool_profiles, pooled_parts
from headcount.intervals.target_labels.result import LabelledEstimate
from headcount.learners import Outputs
from headcount.model_assisted import AssistedShares
from headcount.model_assisted.sampling import SamplingDesign, sampling_design
from headcount.protocols import Samples
from headcount.quantifiers import Quantifier, SumsQuantifier

__all__ = ["labelled_estimate"]

_EQUAL = 1e-9
"""Relative difference up to which chances are equal."""
_FEWEST_UNLABELLED = 2
"""Items without a label below which the labels alone answer."""


def labelled_estimate(
    quantifier: Quantifier,
    outputs: Outputs,
    samples: Samples,
    labels: TargetLabels,
    *,
    source_only: Estimate | None,
    why_no_label_shift: str,
    level: float,
    comparisons: int,
    estimand: Literal["population", "sample"],
    one: bool,
    survey: SurveyDesign | None = None,
) -> LabelledEstimate:
    """Return the design-based answer, the one under label shift and the test of both, for each sample.

    Parameters
    ----------
    quantifier : fitted quantifier
    outputs : Outputs
        Of the pool, with posteriors where there are any.
    samples : Samples
    labels : TargetLabels
    source_only : Estimate of all samples, or None
        Without the labels of the target.
    why_no_label_shift : str
        Why there is no answer under label shift; empty if there is one.
    level : float
    comparisons : int
        Intervals that hold together.
    estimand : {"population", "sample"}
    one : bool
        Whether results are vectors, of the only sample.
    survey : SurveyDesign, optional
        How the items of the pool were drawn; ``source_only`` counts it already.
    """
    _check_samples(samples, labels)
    weighted = samples if survey is None or survey.weights is None else samples.weighted(survey.weights)
    k, within = len(quantifier.classes_), estimand == "sample"
    level_of_each = 1.0 - (1.0 - level) / max(comparisons, 1)
    tail = (1.0 - level_of_each) / 2.0
    n_samples = len(samples)
    estimated = quantifier.aggregate(outputs, weighted) if source_only is None else np.atleast_2d(source_only.shares)
    assisted: list[AssistedShares | None] = []
    finite: list[AssistedShares | None] = []
    notes: list[list[str]] = []
    for s in range(n_samples):
        rows = samples[s]
        given = quantifier, outputs, rows, labels, estimated[s]
        answer, sentences = design_based_shares(*given, within, level_of_each, survey)
        itself = answer
        if answer is not None and not within:
            itself = design_based_shares(*given, True, level_of_each, survey)[0]
        assisted.append(answer)
        finite.append(itself)
        notes.append(sentences)
    design = _design_based_estimate(quantifier, assisted, samples, level, estimand, k, one)
    n_labels = np.array([int(labels.labelled[rows].sum()) for rows in samples])
    label_shift, test = None, None
    if source_only is not None and not why_no_label_shift:
        label_shift, pooled = _label_shift(
            quantifier, outputs, samples, labels, assisted, source_only, tail, level, within, one, survey
        )
        test = _contradiction(quantifier, outputs, samples, labels, finite, pooled, k, survey)
    return LabelledEstimate(
        design, label_shift, source_only, test, n_labels, tuple(notes), why_no_label_shift, tuple(assisted)
    )


def _check_samples(samples: Samples, labels: TargetLabels) -> None:
    if samples.factors is not None:
        raise DataError(
            "Labels of the target are of single items: samples with weights or counts can't be used with labels=. Give one row for "
            "each item; chances of being drawn are given as probabilities=."
        )
    for s, rows in enumerate(samples):
        if len(rows) and np.bincount(rows).max() > 1 and labels.labelled[rows].any():
            name = s if samples.names is None else samples.names[s]
            raise DataError(
                f"Sample {name!s} holds an item several times: with labels=, each item may be in a sample once."
            )


def _design_based_estimate(
    quantifier: Quantifier,
    assisted: list[AssistedShares | None],
    samples: Samples,
    level: float,
    estimand: str,
    k: int,
    one: bool,
) -> Estimate:
    shares, low, high = (
        np.array([np.full(k, np.nan) if a is None else getattr(a, name) for a in assisted]).reshape(-1, k)
        for name in ("shares", "low", "high")
    )
    covariances = np.array([np.full((k, k), np.nan) if a is None else a.covariance for a in assisted])
    return Estimate(
        classes=quantifier.classes_,
        shares=shares[0] if one else shares,
        low=low[0] if one else low,
        high=high[0] if one else high,
        level=level,
        estimand=estimand,
        method="design-based",
        n_items=samples.sizes,
        quantifier=type(quantifier).__name__,
        names=samples.names,
        covariances=covariances,
        ordered=quantifier.is_ordered,
    )


def _label_shift(
    quantifier: Quantifier,
    outputs: Outputs,
    samples: Samples,
    labels: TargetLabels,
    assisted: list[AssistedShares | None],
    source_only: Estimate,
    tail: float,
    level: float,
    within: bool,
    one: bool,
    survey: SurveyDesign | None,
) -> tuple[Estimate, FloatArray]:
    """Return the estimate from source and target labels together, and its shares as a matrix."""
    k = len(quantifier.classes_)
    shares, low, high = (np.atleast_2d(getattr(source_only, name)).copy() for name in ("shares", "low", "high"))
    covariances = np.full((len(samples), k, k), np.nan)
    at_random = labels.strata is None and all(_equal_chances(labels, rows) for rows in samples)
    masks = [labels.labelled[rows] for rows in samples]
    rest = [rows[~mask] if at_random else rows for rows, mask in zip(samples, masks, strict=True)]
    used = [s for s, rows in enumerate(rest) if len(rows) >= _FEWEST_UNLABELLED]
    position = {s: i for i, s in enumerate(used)}
    evidence = _evidence(quantifier, outputs, [rest[s] for s in used], within, survey) if used else None
    is_designed = survey is not None or quantifier.validation_design_ is not None
    for s, mask in enumerate(masks):
        rows = samples[s][mask]
        codes = labels.codes[rows]
        if s not in position or evidence is None:
            given = assisted[s]
            if given is not None:  # next to all items are labelled
                shares[s], low[s], high[s] = given.shares_alone, given.low_alone, given.high_alone
                covariances[s] = given.covariance_alone
            continue
        one_evidence = evidence.take(position[s])
        if not len(rows):
            if source_only.evidence is not None:
                covariances[s] = (source_only if one else source_only.take(s)).covariance()
            continue
        weights = _weights(labels, samples[s], rows, survey)
        vectors = evidence.vectors.target(position[s], outputs.take(rows))
        n = _effective_labels(weights, assisted[s], len(samples[s]), within, survey is not None)
        parts = pooled_parts(one_evidence, vectors, codes, weights, n, float(len(samples[s])), unlabelled=at_random)
        effective = parts if source_only.design is None else _with_fewer_items(parts, source_only.design.take(s))
        score = PooledScore(effective)
        shares[s] = score.shares()
        if is_designed:
            items = None
            if not within:
                all_vectors = evidence.vectors.target(position[s], outputs.take(samples[s]))
                of_sample = SurveyDesign(np.ones(len(mask))) if survey is None else survey.take(samples[s])
                items = PooledItems(mask, codes, weights, all_vectors, of_sample)
            low[s], high[s], covariances[s] = pooled_intervals(
                score, shares[s], one_evidence, items, parts, unlabelled=at_random, tail=tail
            )
        else:
            low[s], high[s] = score.intervals(shares[s], tail)
            covariances[s] = score.covariance(shares[s])
        if within:  # the labelled items are known
            counts, size = np.bincount(codes, minlength=k), len(samples[s])
            low[s] = np.maximum(low[s], counts / size)
            high[s] = np.minimum(high[s], 1.0 - (len(codes) - counts) / size)
        low[s], high[s] = np.minimum(low[s], shares[s]), np.maximum(high[s], shares[s])
    estimate = Estimate(
        classes=quantifier.classes_,
        shares=shares[0] if one else shares,
        low=low[0] if one else low,
        high=high[0] if one else high,
        level=level,
        estimand="sample" if within else "population",
        method="source and target labels",
        n_items=samples.sizes,
        quantifier=type(quantifier).__name__,
        names=samples.names,
        covariances=covariances,
        ordered=quantifier.is_ordered,
    )
    return estimate, shares


def _equal_chances(labels: TargetLabels, sample: IntArray) -> bool:
    """Whether the labelled items of a sample were drawn with equal chances."""
    if labels.probabilities is None:
        return True
    chances = labels.probabilities[sample][labels.labelled[sample]]
    return not chances.size or float(np.ptp(chances)) <= _EQUAL * float(chances.max())


def _weights(labels: TargetLabels, sample: IntArray, rows: IntArray, survey: SurveyDesign | None = None) -> FloatArray:
    """Return what labelled items count: their weights, times one over the chance with which they were drawn to be labelled."""
    drawn = _label_weights(labels, sample, rows)
    return drawn if survey is None else drawn * survey.item_weights[rows]


def _label_weights(labels: TargetLabels, sample: IntArray, rows: IntArray) -> FloatArray:
    """Return one over the inclusion probability of labelled items, by their strata if only these are known."""
    if labels.probabilities is not None:
        return np.asarray(1.0 / labels.probabilities[rows], dtype=np.float64)
    if labels.strata is None:
        return np.ones(len(rows))
    sizes = np.bincount(labels.strata[sample], minlength=labels.strata.max() + 1)
    counts = np.bincount(labels.strata[rows], minlength=len(sizes))
    return np.asarray((sizes / np.maximum(counts, 1))[labels.strata[rows]], dtype=np.float64)


def _with_fewer_items(parts: Pooled, errors: DesignErrors) -> Pooled:
    """Return the second part with effective numbers of items on both sides, so that it weighs no more than it should."""
    target = float(np.nanmax(np.append(errors.target_effects, 1.0)))
    labelled = max(float(errors.labelled_effects.max()), 1.0)
    return replace(parts, N=parts.N / target, sizes=np.maximum(parts.sizes / labelled, 1.0))


def _effective_labels(
    weights: FloatArray, assisted: AssistedShares | None, n_items: int, within: bool, designed: bool
) -> float:
    """Return how many labels drawn at random would know the shares as well as these do."""
    n = len(weights)
    kish = float(weights.sum() ** 2 / (weights @ weights))
    if (designed or np.ptp(weights) > 0.0) and assisted is not None:
        p = assisted.shares_alone
        spread = float((p * (1.0 - p)).sum())
        known = float(np.trace(assisted.covariance_alone))
        prior = 1.0 / n  # what one label of another class would add to the spread, in which the design effect is Kish's
        effect = (known * n + prior * n / kish) / (spread * n / max(n - 1.0, 1.0) + prior)
        return n / max(effect, 1e-3)
    left = 1.0 - n / n_items if within else 1.0
    return kish / max(left, 1e-3)


def _evidence(
    quantifier: Quantifier, outputs: Outputs, rows: list[IntArray], within: bool, survey: SurveyDesign | None
) -> Evidence:
    samples = Samples.from_lists(rows)
    if survey is not None and survey.weights is not None:
        samples = samples.weighted(survey.weights)
    more = {"products": True} if isinstance(quantifier, SumsQuantifier) else {}
    statistics = quantifier.reduce(outputs, samples, **more)
    shares = quantifier.solve(statistics)
    vectors = posterior_vectors(quantifier, outputs, samples, shares) or item_vectors(quantifier, statistics, shares)
    return evidence_of_vectors(vectors, shares, samples.effective_sizes(), within)


def _label_design(labels: TargetLabels, rows: IntArray, survey: SurveyDesign | None) -> SamplingDesign:
    """Return how the labels of a sample were drawn out of its items, and these themselves."""
    mask = labels.labelled[rows]
    return sampling_design(
        mask,
        len(rows),
        None if labels.probabilities is None else labels.probabilities[rows[mask]],
        None if labels.strata is None else labels.strata[rows],
        None if survey is None else survey.take(rows),
    )


def _contradiction(
    quantifier: Quantifier,
    outputs: Outputs,
    samples: Samples,
    labels: TargetLabels,
    finite: list[AssistedShares | None],
    pooled: FloatArray,
    k: int,
    survey: SurveyDesign | None,
) -> Contradiction:
    p_value, difference, detectable = (
        np.full(len(samples), np.nan),
        np.full((len(samples), k), np.nan),
        np.full((len(samples), k), np.nan),
    )
    tested = [s for s, answer in enumerate(finite) if answer is not None]
    if tested:
        evidence = _evidence(quantifier, outputs, [samples[s] for s in tested], True, survey)
        for i, s in enumerate(tested):
            answer = finite[s]
            if answer is not None:
                rows = samples[s][labels.labelled[samples[s]]]
                vectors = evidence.vectors.target(i, outputs.take(rows))
                weights = _weights(labels, samples[s], rows, survey)
                _, spread, known = pool_profiles(evidence.take(i), vectors, labels.codes[rows], weights)
                designed = None
                if survey is not None or quantifier.validation_design_ is not None:
                    all_vectors = evidence.vectors.target(i, outputs.take(samples[s]))
                    drawn = _label_design(labels, samples[s], survey)
                    designed = contradiction_errors(evidence.take(i), answer, drawn, all_vectors, pooled[s])
                p_value[s], difference[s], detectable[s] = contradiction_of(
                    evidence.take(i), answer, pooled[s], spread, known, designed
                )
    return Contradiction(p_value, difference, detectable)
