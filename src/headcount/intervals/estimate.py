"""`estimate`: shares with intervals, by inverting a test, or a sentence why there is none."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

import joblib
import numpy as np
from sklearn.utils.validation import check_is_fitted

from headcount._distributions import normal_quantile, normal_tail, student_quantile
from headcount._typing import FloatArray, Items, RandomState
from headcount._validation import quoted, seed_sequence
from headcount.designs import SurveyDesign, check_design
from headcount.exceptions import DataError, HeadcountWarning
from headcount.intervals.bootstrap import (
    design_replicates,
    percentile_interval,
    relearnt_replicates,
    statistic_replicates,
)
from headcount.intervals.designs import (
    DesignedItems,
    DesignErrors,
    IndependentItems,
    TargetErrors,
    design_errors,
    design_intervals,
)
from headcount.intervals.evidence import Evidence, gather_evidence
from headcount.intervals.inversion import class_intervals
from headcount.intervals.likelihood import LikelihoodRatio
from headcount.intervals.posterior import credible_intervals
from headcount.intervals.result import Estimate, check_level
from headcount.intervals.target_labels import LabelledEstimate, labelled_estimate, target_labels
from headcount.intervals.target_labels.design_based import scored_items
from headcount.learners import Outputs
from headcount.protocols import Samples, as_samples
from headcount.quantifiers import DensitiesQuantifier, Quantifier, SampleItems, Statistics, SumsQuantifier

__all__ = ["estimate", "why_no_interval"]

_FEW_CLUSTERS = 20
"""Clusters less strata, below which a variance between clusters is warned of."""
_MIN_BOOTSTRAP_ITEMS = 10
"""With fewer items, in the sample or labelled of a class, replicates vary too little: the delta method's interval is the least."""


@dataclass(frozen=True)
class _Target:
    """What is known of the samples: their statistics and, unless these were added up before, their items."""

    statistics: Any
    outputs: Outputs | None
    samples: Samples | None

    @property
    def effective_sizes(self) -> FloatArray:
        known = self.samples if self.samples is not None else getattr(self.statistics, "samples", None)
        sizes: FloatArray = self.statistics.weights if known is None else known.effective_sizes()
        return sizes

    @property
    def item_sizes(self) -> FloatArray:
        """Number of items of each sample, whatever they weigh."""
        samples = self.samples
        if samples is None:  # sums of weights were divided by the mean weight
            weights: FloatArray = self.statistics.weights
            return weights
        return samples.sizes.astype(np.float64) if samples.counts is None else samples._added_up(samples.counts)

    def items(self) -> tuple[Outputs, Samples]:
        """Return the items, which a bootstrap draws from and whose clusters a design counts."""
        if self.outputs is None or self.samples is None:
            raise DataError("The bootstrap needs the items' outputs: statistics that were added up are not enough.")
        return self.outputs, self.samples

    def errors(self, design: SurveyDesign | TargetErrors | None) -> TargetErrors:
        """Return the errors of the shares that come from the items, under their design."""
        if isinstance(design, SurveyDesign):
            return DesignedItems(*self.items(), design)
        return IndependentItems() if design is None else design


@overload
def estimate(
    quantifier: Quantifier,
    X: Items,
    samples: Any = None,
    *,
    labels: None = None,
    probabilities: None = None,
    strata: None = None,
    level: float = 0.95,
    estimand: Literal["population", "sample"] = "population",
    method: Literal["auto", "delta", "bootstrap"] = "auto",
    assume: Literal["calibrated"] | None = None,
    simultaneous: Literal["classes", "samples", "both"] | None = None,
    n_replicates: int = 1000,
    random_state: RandomState = None,
    design: SurveyDesign | TargetErrors | None = None,
) -> Estimate: ...


@overload
def estimate(
    quantifier: Quantifier,
    X: Items,
    samples: Any = None,
    *,
    labels: Any,
    probabilities: Any = None,
    strata: Any = None,
    level: float = 0.95,
    estimand: Literal["population", "sample"] = "population",
    method: Literal["auto", "delta", "bootstrap"] = "auto",
    assume: Literal["calibrated"] | None = None,
    simultaneous: Literal["classes", "samples", "both"] | None = None,
    n_replicates: int = 1000,
    random_state: RandomState = None,
    design: SurveyDesign | None = None,
) -> LabelledEstimate: ...


def estimate(
    quantifier: Quantifier,
    X: Items,
    samples: Any = None,
    *,
    labels: Any = None,
    probabilities: Any = None,
    strata: Any = None,
    level: float = 0.95,
    estimand: Literal["population", "sample"] = "population",
    method: Literal["auto", "delta", "bootstrap"] = "auto",
    assume: Literal["calibrated"] | None = None,
    simultaneous: Literal["classes", "samples", "both"] | None = None,
    n_replicates: int = 1000,
    random_state: RandomState = None,
    design: SurveyDesign | TargetErrors | None = None,
) -> Estimate | LabelledEstimate:
    """Estimate shares with intervals that count the uncertainty of the sample's items and of the labelled ones.

    The labelled ones are the validation items, on which methods learn what the classifier gives for items of each class. Intervals
    hold whatever the classifier is, calibrated or not, as long as only the class shares have changed since training: they invert a
    test of each share, whose statistic has the mean of the mixture by construction. How often they held the truth, setting by
    setting, is in the coverage table of the documentation.

    Where a classifier does not tell some classes apart, all shares that explain the items equally well are in the interval.

    Parameters
    ----------
    quantifier : fitted quantifier
        A method with an analytic interval (ACC, PACC, HDy, ``SLD(calibration="bcts")``) or a posterior (`BayesianCC`, whose
        interval is credible), or a search over such methods. Others are refused with the reason, unless ``method="bootstrap"`` or
        ``assume`` is asked for. CC and PCC have no interval at all.
    X : items, or their `Outputs`; or statistics of samples that were added up before
        For methods over sums these are made by ``quantifier.reduce(outputs, samples, products=True)`` and merged by ``+``.
    samples : Samples or matrix of row numbers, optional
        By default all items are one sample, and the answer's arrays are vectors.
    labels : array of n_items labels, mapping, or pair (positions, labels), optional
        Labels of some of these items, drawn at random from each sample: None, NaN, NA or a masked entry where an item has none. The
        result is then a `LabelledEstimate` with two answers side by side: the *design-based* one, which holds whatever has changed
        since the model was made, for any method; and the one *under label shift*, from source and target labels together. A test
        says whether the two contradict each other.
    probabilities : array of shape (n_items,), or one for each of a pair of labels, optional
        With labels: the chances with which items were drawn to be labelled, above 0 and at most 1. By default they are equal.
    strata : array of shape (n_items,), optional
        With labels: the stratum of each item, if a fixed number of items was drawn from each.
    level : float, default=0.95
    estimand : {"population", "sample"}, default="population"
        The share in the population that the items were drawn from, or the share among these very items (a narrower interval).
    method : {"auto", "delta", "bootstrap"}, default="auto"
        "delta": the shares that a test does not reject, with the variance at the tested share, quantiles for few labelled items,
        and a correction for skewness. "bootstrap": percentiles over replicates of both sides; they hold less often where shares are
        near 0 or labelled items few; for methods without an analytic interval their coverage is not measured. "auto" is "delta".
    assume : {"calibrated"}, optional
        For methods that maximise a likelihood, such as SLD: that their densities are right, which for plain SLD means that the
        classifier's posteriors are calibrated. The interval is then that of the profile likelihood ratio, the shortest there is;
        where posteriors are off, so are the intervals.
    simultaneous : {"classes", "samples", "both"}, optional
        Widen the intervals such that those of all classes, all samples or both hold together at the level (Bonferroni).
    n_replicates : int, default=1000
    random_state : int, RandomState, Generator or None, default=None
        For the bootstrap.
    design : SurveyDesign, optional
        How the items of X were drawn: weights, strata, clusters, the size of the population. That of the labelled items is given to
        ``fit``. Either makes intervals count its design effects, which are in the result (`Estimate.design`). Labels may be given
        too, drawn out of these items as ``probabilities`` and ``strata`` say.

    Returns
    -------
    Estimate, or LabelledEstimate if labels are given

    References
    ----------
    Fieller (1954). Some problems in interval estimation. Journal of the Royal Statistical Society B 16.
    Hall (1992). On the removal of skewness by transformation. Journal of the Royal Statistical Society B 54.
    Wilks (1938). The large-sample distribution of the likelihood ratio for testing composite hypotheses. Annals of Mathematical
    Statistics 9.
    Hesterberg (2015). What teachers should know about the bootstrap. The American Statistician 69.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from headcount import PACC
    >>> X, y = make_classification(4000, flip_y=0.1, random_state=0)
    >>> q = PACC(random_state=0).fit(X[:2000], y[:2000])
    >>> answer = estimate(q, X[2000:])
    >>> bool(answer.low[1] < y[2000:].mean() < answer.high[1])
    True

    With labels of fifty of the new items, the answer holds even if more than the shares has changed:

    >>> some = {i: y[2000 + i] for i in range(0, 2000, 40)}
    >>> answer = estimate(q, X[2000:], labels=some)
    >>> bool(answer.low[1] < y[2000:].mean() < answer.high[1]), bool(answer.contradiction.p_value[0] > 0.01)
    (True, True)
    """
    if labels is not None:
        if isinstance(design, TargetErrors):
            raise TypeError("Labels are of single items, whose design is a SurveyDesign.")
        return _with_labels(
            quantifier, X, samples, labels, probabilities, strata, level, estimand, method, assume, simultaneous, design
        )
    if probabilities is not None or strata is not None:
        raise DataError("probabilities and strata say how labelled items were drawn: pass labels too.")
    _check(level, estimand, method, assume, simultaneous, n_replicates)
    quantifier = _fitted(quantifier)
    within, seed = estimand == "sample", seed_sequence(random_state)
    target = _reduced(quantifier, X, samples, design)
    of_items = design if isinstance(design, SurveyDesign) else None
    is_designed = design is not None or quantifier.validation_design_ is not None
    if is_designed:
        _check_designed(quantifier, estimand, assume, design)
    tail = (1.0 - level) / max(1, _comparisons(simultaneous, len(quantifier.classes_), len(target.statistics))) / 2.0
    z = float(normal_quantile(tail))
    evidence: Evidence | None = None
    replicates: FloatArray | None = None
    draws: FloatArray | None = None
    errors: DesignErrors | None = None
    if assume == "calibrated":
        shares, low, high = _assuming_densities(quantifier, target, z, within, method, n_replicates, seed)
        method_name = "likelihood ratio" if method != "bootstrap" else "bootstrap of the likelihood"
    elif quantifier.has_posterior and quantifier.has_interval:
        _check_posterior(quantifier, estimand, method)
        shares, low, high, draws = credible_intervals(quantifier, target.statistics, target.effective_sizes, tail)
        method_name = "posterior"
    elif quantifier.has_interval:
        sizes_of_items = target.effective_sizes if design is None else target.item_sizes
        evidence = gather_evidence(quantifier, target.statistics, sizes_of_items, within)
        shares, method_name = evidence.shares, "delta"
        if is_designed:
            target_errors = target.errors(design)
            errors = design_errors(evidence, target_errors)
            _warn_of_few_clusters(errors, target_errors.names)
            low, high = design_intervals(evidence, errors, z)
            method_name = "linearised for the design"
        else:
            low, high = class_intervals(evidence, z)
        if method == "bootstrap" and errors is not None:
            drawn = design_replicates(evidence, *target.items(), of_items, n_replicates, seed)
            low, high = _percentiles(evidence, drawn, tail, (low, high), errors.few_degrees)
            method_name = "bootstrap of clusters"
        elif method == "bootstrap":
            drawn = statistic_replicates(evidence, *target.items(), n_replicates, seed)
            low, high = _percentiles(evidence, drawn, tail, (low, high))
            method_name = "bootstrap"
    elif method == "bootstrap" and not within and quantifier.uses_validation:
        shares = quantifier.solve(target.statistics)
        replicates = relearnt_replicates(quantifier, *target.items(), n_replicates, seed)
        low, high = percentile_interval(replicates, np.full(shares.shape, tail))
        method_name = "bootstrap, coverage not measured"
    else:
        raise DataError(f"No interval for {type(quantifier).__name__}: {why_no_interval(quantifier)}")
    low, high = np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
    low, high = np.minimum(low, shares), np.maximum(high, shares)
    known = target.samples
    sizes = np.rint(target.statistics.weights).astype(np.int64) if known is None else known.sizes
    one = samples is None and known is not None
    return Estimate(
        classes=quantifier.classes_,
        shares=shares[0] if one else shares,
        low=low[0] if one else low,
        high=high[0] if one else high,
        level=level,
        estimand=estimand,
        method=method_name,
        n_items=sizes,
        quantifier=type(quantifier).__name__,
        names=None if known is None else known.names,
        evidence=evidence,
        labelled_side=_labelled_side(quantifier, None if replicates is None else seed.entropy),
        replicates=replicates,
        draws=draws,
        design=errors,
        ordered=quantifier.is_ordered,
    )


def _with_labels(
    quantifier: Quantifier,
    X: Items,
    samples: Any,
    labels: Any,
    probabilities: Any,
    strata: Any,
    level: float,
    estimand: Literal["population", "sample"],
    method: str,
    assume: Any,
    simultaneous: Literal["classes", "samples", "both"] | None,
    design: SurveyDesign | None,
) -> LabelledEstimate:
    """Return both answers for samples of which some items are labelled, and warn where one is missing."""
    _check(level, estimand, method, assume, simultaneous, 1000)
    if method == "bootstrap" or assume is not None:
        given = f"method={method!r}" if method == "bootstrap" else f"assume={assume!r}"
        raise DataError(f"With labels=, intervals are design-based and analytic: omit {given}.")
    if isinstance(X, Statistics | SampleItems):
        raise DataError(
            "labels= are of single items: pass these items or their Outputs, not statistics that were added up."
        )
    quantifier = _fitted(quantifier)
    outputs = scored_items(quantifier, X)
    given_labels = target_labels(labels, quantifier.classes_, outputs.n_items, probabilities, strata)
    known = as_samples(samples, outputs.n_items)
    if design is not None:
        check_design(design, outputs.n_items, "items")
        _check_estimand(estimand)
        if quantifier.has_posterior:
            _check_designed(quantifier, estimand, assume, design)
    why = why_no_label_shift(quantifier)
    source_only = None
    if quantifier.has_interval:
        source_only = (
            estimate(
                quantifier, outputs, samples, level=level, estimand=estimand, simultaneous=simultaneous, design=design
            )
            if not (quantifier.has_posterior and estimand == "sample")
            else None
        )
    answer = labelled_estimate(
        quantifier,
        outputs,
        known,
        given_labels,
        source_only=source_only,
        why_no_label_shift=why,
        level=level,
        comparisons=_comparisons(simultaneous, len(quantifier.classes_), len(known)),
        estimand=estimand,
        one=samples is None,
        survey=design,
    )
    for s, sentences in enumerate(answer.notes):
        for sentence in sentences:
            which = "" if samples is None else f"Sample {s if known.names is None else known.names[s]}: "
            warnings.warn(which + sentence, HeadcountWarning, stacklevel=3)
    return answer


def why_no_label_shift(quantifier: Quantifier) -> str:
    """Say why a method has no answer from source and target labels together; empty if it has one."""
    if quantifier.has_posterior and quantifier.has_interval:
        return (
            f"{type(quantifier).__name__} draws from a posterior, which target labels can't be added to here: use ACC, PACC or "
            "SLD(calibration='bcts') over the same classifier."
        )
    return why_no_interval(quantifier)


def why_no_interval(quantifier: Quantifier) -> str:
    """Say why a method has no analytic interval; empty if it has one."""
    return "" if quantifier.has_interval else quantifier.interval_refusal.format(name=type(quantifier).__name__)


def _reduced(quantifier: Quantifier, X: Any, samples: Any, design: SurveyDesign | TargetErrors | None) -> _Target:
    if isinstance(X, Statistics | SampleItems):
        if isinstance(design, SurveyDesign):
            raise DataError(
                "A survey design is of single items, which these statistics do not hold: pass the items or their Outputs, or "
                "estimate the shares of files, whose design is added up too."
            )
        return _Target(X, None, None)
    if isinstance(design, TargetErrors):
        raise DataError(
            "Errors that were added up belong to statistics that were added up: pass a SurveyDesign of the items."
        )
    outputs = quantifier.outputs(X)
    known = as_samples(samples, outputs.n_items)
    if design is not None:
        check_design(design, outputs.n_items, "items")
        known = known if design.weights is None else known.weighted(design.weights, mean_one=True)
    more = {"products": True} if isinstance(quantifier, SumsQuantifier) and quantifier.has_interval else {}
    return _Target(quantifier.reduce(outputs, known, **more), outputs, known)


def _assuming_densities(
    quantifier: Quantifier,
    target: _Target,
    z: float,
    within: bool,
    method: str,
    n_replicates: int,
    seed: np.random.SeedSequence,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return shares and the ends of their intervals by the likelihood, whose densities are taken for right."""
    if not (isinstance(quantifier, DensitiesQuantifier) and quantifier.is_most_likely):
        raise DataError(
            f"assume='calibrated' is for methods that maximise a likelihood, such as SLD; {type(quantifier).__name__} does not."
        )
    likelihood = LikelihoodRatio(quantifier, target.statistics)
    if method == "bootstrap":
        if within:
            raise DataError("The bootstrap of the likelihood is for the population: pass estimand='population'.")
        target.items()
        drawn = likelihood.replicates(likelihood.samples, n_replicates, seed)
        return likelihood.shares, *percentile_interval(drawn, np.full(likelihood.shares.shape, normal_tail(z)))
    return likelihood.shares, *likelihood.interval(z, within)


def _warn_of_few_clusters(errors: DesignErrors, names: Sequence[Any] | None) -> None:
    """Warn where a side has so few clusters that the variance between them is hardly known, or not at all."""
    single = np.flatnonzero(errors.clusters < 2)
    if single.size:
        which = single.tolist() if names is None else [names[s] for s in single.tolist()]
        warnings.warn(
            f"One cluster only: all items of {'sample' if len(which) == 1 else 'the samples'} {quoted(which, 5)} are in one. How "
            "much clusters differ can't be told from one, and the intervals rule nothing out: sample more clusters.",
            HeadcountWarning,
            stacklevel=3,
        )
    several = errors.clusters > 1
    sides = {
        "a sample": (errors.degrees[several], errors.clusters[several]),
        "the labelled items": (errors.labelled_degrees, errors.labelled_clusters),
    }
    for side, (degrees, clusters) in sides.items():
        if degrees.size and degrees.min() < _FEW_CLUSTERS:
            warnings.warn(
                f"Few clusters: {clusters[degrees.argmin()]} of {side}. From fewer than {_FEW_CLUSTERS} it is hardly known how "
                "much clusters differ, and intervals may hold less often than they say.",
                HeadcountWarning,
                stacklevel=3,
            )


def _check_designed(
    quantifier: Quantifier, estimand: str, assume: Any, design: SurveyDesign | TargetErrors | None
) -> None:
    """Raise if what is asked for is not there under a survey design."""
    if assume is not None or quantifier.has_posterior or not quantifier.has_interval:
        raise DataError(
            f"Under a survey design there are the intervals of methods with an estimating equation, such as PACC; not those of "
            f"{type(quantifier).__name__}{' with assume=' + repr(assume) if assume else ''}."
        )
    if design is not None:
        _check_estimand(estimand)


def _check_estimand(estimand: str) -> None:
    """Raise if the shares of the very items are asked for, whose design does not matter then."""
    if estimand != "population":
        raise DataError(
            "Under a survey design the shares of the population are estimated: omit estimand, and say how large the population is "
            "with population_size."
        )


def _check_posterior(quantifier: Quantifier, estimand: str, method: str) -> None:
    """Raise if anything but the posterior is asked for."""
    name = type(quantifier).__name__
    if method != "auto":
        raise DataError(f"The interval of {name} is that of its posterior: omit method={method!r}.")
    if estimand != "population":
        raise DataError(
            f"The posterior of {name} is that of the population's shares: pass estimand='population', or use ACC or PACC."
        )


def _labelled_side(quantifier: Quantifier, seed: Any) -> str:
    """Name the labelled items that an estimate depends on, so that a difference knows whether two share their errors."""
    items = quantifier.validation_items()
    if items is None:
        return ""
    outputs, codes = items
    return str(joblib.hash((outputs.decisions, outputs.posteriors, outputs.features, codes, seed)))


def _fitted(quantifier: Any) -> Quantifier:
    """Return the fitted quantifier itself, or the best of a search."""
    if not isinstance(quantifier, Quantifier):
        raise DataError(f"Expected a fitted quantifier, got {quantifier!r}.")
    check_is_fitted(quantifier)
    return quantifier.chosen


def _check(level: Any, estimand: Any, method: Any, assume: Any, simultaneous: Any, n_replicates: Any) -> None:
    check_level(level)
    if not isinstance(n_replicates, int | np.integer) or n_replicates < 100:
        raise DataError(f"n_replicates must be a whole number of at least 100; got {n_replicates!r}.")
    if method == "bootstrap" and n_replicates * (1.0 - level) < 4:
        raise DataError(
            f"{n_replicates} replicates are too few for level={level}: at least {int(np.ceil(4 / (1 - level)))} are needed."
        )
    for name, value, allowed in (
        ("estimand", estimand, ("population", "sample")),
        ("method", method, ("auto", "delta", "bootstrap")),
        ("assume", assume, (None, "calibrated")),
        ("simultaneous", simultaneous, (None, "classes", "samples", "both")),
    ):
        if not (value is None or isinstance(value, str)) or value not in allowed:
            raise DataError(f"{name} must be one of {', '.join(map(repr, allowed))}; got {value!r}.")


def _comparisons(simultaneous: str | None, n_classes: int, n_samples: int) -> int:
    classes = n_classes if n_classes > 2 else 1  # the shares of two classes stand and fall together
    return {None: 1, "classes": classes, "samples": n_samples, "both": classes * n_samples}[simultaneous]


def _percentiles(
    evidence: Evidence,
    replicates: FloatArray,
    tail: float,
    delta: tuple[FloatArray, FloatArray],
    clusters: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return percentiles of replicates, and the delta method's interval where replicates say too little."""
    degrees = np.maximum(np.minimum(evidence.sizes.min(), evidence.n) - 1.0, 1.0)[:, None]
    if clusters is not None:
        degrees = np.minimum(degrees, clusters[:, None])
    # Replicates vary less than samples do, by the degrees of freedom: percentiles farther out make up for it (Hesterberg 2015).
    farther = normal_tail(student_quantile(tail, degrees) * np.sqrt((degrees + 1.0) / degrees))
    low, high = percentile_interval(replicates, np.broadcast_to(farther, evidence.shares.shape))
    low, high = np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
    # Items that are all alike give replicates that are all alike, and percentiles may lie beyond the simplex: there the delta
    # method knows better.
    alike = (high - low) < (delta[1] - delta[0]) / 4.0
    low, high = np.where(alike, delta[0], low), np.where(alike, delta[1], high)
    few = np.minimum(evidence.n, evidence.sizes.min())[:, None] < _MIN_BOOTSTRAP_ITEMS
    return np.where(few, np.minimum(low, delta[0]), low), np.where(few, np.maximum(high, delta[1]), high)
