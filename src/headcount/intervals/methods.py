"""`estimate`: shares with intervals, by the method that suits the quantifier, or a sentence why there is none."""

from dataclasses import dataclass
from typing import Any, Literal

import joblib
import numpy as np
from scipy.stats import norm
from sklearn.utils.validation import check_is_fitted

from headcount._typing import FloatArray, Items, RandomState
from headcount._validation import seed_sequence
from headcount.exceptions import DataError
from headcount.intervals.bootstrap import likelihood_replicates, linear_replicates
from headcount.intervals.estimate import Estimate, check_level, confined
from headcount.intervals.likelihood import LikelihoodModel
from headcount.intervals.linear import LinearModel
from headcount.intervals.parts import ErrorParts
from headcount.learners import Outputs
from headcount.protocols import Samples, as_samples
from headcount.quantifiers import ACC, CC, MLPE, PACC, PCC, SLD, HDy, Quantifier, Statistics

__all__ = ["Moments", "estimate", "why_no_interval"]

_FEW = 10
_BIASED = (
    "is biased as soon as the class shares differ from those in training, and no interval can say by how much: use PACC or SLD "
    "over the same classifier, or pass assume='no-shift' if the shares can't have changed."
)
_REFUSED = {
    HDy: "HDy's estimates are biased where labelled items are few, by more than their spread, so that no interval built on them "
    "holds the truth as often as it says. Use PACC or SLD over the same classifier.",
    MLPE: "MLPE never looks at the items, so it knows nothing of how far they are from training. Use PACC or SLD.",
}


@dataclass(frozen=True, eq=False)
class Moments:
    """All that the intervals of CC, PCC, ACC and PACC need to know of samples: sums that can be merged by addition.

    Attributes
    ----------
    sums : array of shape (n_samples, n_classes)
        Of the items' vectors: decisions as unit vectors, or posteriors, in the order of the quantifier's ``classes_``.
    products : array of shape (n_samples, n_classes, n_classes)
        Sums of their outer products with themselves.
    n_items : array of shape (n_samples,)
    names : tuple, optional
    """

    sums: FloatArray
    products: FloatArray
    n_items: FloatArray
    names: tuple[Any, ...] | None = None


def estimate(
    quantifier: Quantifier,
    X: Items,
    samples: Any = None,
    *,
    level: float = 0.95,
    estimand: Literal["population", "pile"] = "population",
    method: Literal["auto", "delta", "bootstrap"] = "auto",
    assume: Literal["no-shift"] | None = None,
    simultaneous: Literal["classes", "samples", "both"] | None = None,
    n_replicates: int = 1000,
    random_state: RandomState = None,
) -> Estimate:
    """Estimate shares with intervals that count the uncertainty of the sample's items and of the labelled ones.

    The labelled ones are those of the validation part, on which ACC and PACC learn how wrong the classifier is, and on which
    ``SLD(calibration="bcts")`` calibrates its posteriors. Plain SLD has no such part and takes the classifier's posteriors for
    calibrated: where few labelled items trained it they are not, and the intervals are too short.

    Parameters
    ----------
    quantifier : fitted quantifier
        ACC, PACC or SLD, or a search over them. CC and PCC need ``assume``; HDy and
        MLPE are refused with the reason.
    X : items, or their `Outputs`; or `Moments` of samples that were added up before
    samples : Samples or matrix of row numbers, optional
        By default all items are one sample, and the answer's arrays are vectors.
    level : float, default=0.95
    estimand : {"population", "pile"}, default="population"
        The share in the process that the items came from, or the share among these very items (a narrower interval).
    method : {"auto", "delta", "bootstrap"}, default="auto"
        "delta": from the normal distribution of the error; with two classes by inverting a test, Fieller's for ACC and PACC and
        the likelihood ratio's for SLD. "bootstrap": percentiles over replicates of both sides. "auto" is "delta".
    assume : {"no-shift"}, optional
        For CC and PCC: that the class shares have not changed since training. The interval is then that of the counted share; a
        classifier whose mistakes do not balance makes it differ from the true one even so.
    simultaneous : {"classes", "samples", "both"}, optional
        Widen the intervals such that those of all classes, all samples or both hold together at the level (Bonferroni).
    n_replicates : int, default=1000
    random_state : int, RandomState, Generator or None, default=None
        For the bootstrap.

    Returns
    -------
    Estimate

    References
    ----------
    Fieller (1954). Some problems in interval estimation. Journal of the Royal Statistical Society B 16.
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
    """
    _check(level, estimand, method, assume, simultaneous, n_replicates)
    quantifier = _inner(quantifier)
    moments = X if isinstance(X, Moments) else None
    if moments is not None:
        _check_moments(quantifier, method)
        names, n_items = moments.names, moments.n_items.astype(np.int64)
    else:
        outputs = X if isinstance(X, Outputs) else quantifier.outputs(X)
        outputs = outputs.aligned_to(quantifier.classes_)
        known = as_samples(samples, outputs.n_items)
        names, n_items = known.names, known.sizes
    z = norm.isf((1.0 - level) / max(1, _comparisons(simultaneous, len(quantifier.classes_), len(n_items))) / 2.0)
    pile = estimand == "pile"
    if isinstance(quantifier, CC | PCC):
        moments = moments or _moments_of(quantifier, outputs, known)
        effective = moments.n_items if isinstance(X, Moments) else known.effective_sizes()
        shares, low, high, parts = _without_shift(quantifier, moments, effective, z, assume, pile)
        method_name = "assuming no shift"
    elif isinstance(quantifier, ACC | PACC | SLD):
        seed = seed_sequence(random_state)
        model: Any = (
            LikelihoodModel(quantifier, outputs, known) if isinstance(quantifier, SLD) else LinearModel(quantifier)
        )
        if moments is not None:
            weights = moments.n_items.astype(np.float64)
            parts = model.parts_of(moments.sums, moments.products, weights, weights, pile)
        else:
            parts = model.parts(pile) if isinstance(quantifier, SLD) else model.parts(outputs, known, pile)
        if method == "bootstrap":
            low, high = _percentiles(model, parts, outputs, known, z, pile, n_replicates, seed)
        else:
            low, high = _delta(model, parts, z, pile)
        shares, method_name = parts.shares, "bootstrap" if method == "bootstrap" else "delta"
    else:
        raise DataError(f"No interval for {type(quantifier).__name__}: {why_no_interval(quantifier)}")
    if parts is not None:  # where several mixtures explain the items equally well, nothing is ruled out
        told = np.broadcast_to(parts.identified, len(shares))[:, None]
        low, high = np.where(told, low, 0.0), np.where(told, high, 1.0)
    low, high = confined(low, high)
    low, high = np.minimum(low, shares), np.maximum(high, shares)
    if samples is None and not isinstance(X, Moments):
        shares, low, high = shares[0], low[0], high[0]
    return Estimate(
        classes=quantifier.classes_,
        shares=shares,
        low=low,
        high=high,
        level=level,
        estimand=estimand,
        method=method_name,
        n_items=n_items,
        quantifier=type(quantifier).__name__,
        names=names,
        parts=parts,
        labelled_side=_labelled_side(quantifier),
    )


def why_no_interval(quantifier: Quantifier) -> str:
    """Say why a method has no interval; empty if it has one."""
    if isinstance(quantifier, ACC | PACC | SLD):
        return ""
    if isinstance(quantifier, CC | PCC):
        return f"{type(quantifier).__name__} {_BIASED}"
    reasons = [reason for kind, reason in _REFUSED.items() if isinstance(quantifier, kind)]
    return next(iter(reasons), "there is no interval for this method yet. Use PACC or SLD.")


def _check_moments(quantifier: Quantifier, method: str) -> None:
    if isinstance(quantifier, SLD) or method == "bootstrap":
        raise DataError(
            "Moments are enough for the delta intervals of ACC and PACC (and of CC and PCC without shift), not for SLD or the "
            "bootstrap, which need the items' outputs."
        )


def _moments_of(quantifier: Any, outputs: Outputs, samples: Samples) -> Moments:
    """Return the moments of samples; of the products only the squares, which is all that an interval without shift needs."""
    vectors = quantifier.representation.vectors(outputs)
    squares = samples.sum(np.square(vectors))
    products = squares[:, :, None] * np.eye(vectors.shape[1])
    return Moments(samples.sum(vectors), products, samples.total_weights(), samples.names)


def _labelled_side(quantifier: Quantifier) -> str:
    """Name the labelled items that an estimate rests on, so that a difference knows whether two rest on the same."""
    if isinstance(quantifier, SLD) and quantifier.calibration_ is not None:
        return str(joblib.hash((quantifier.calibration_.theta, quantifier.validation_codes_)))
    if not isinstance(quantifier, ACC | PACC):
        return ""
    own: Any = quantifier.representation
    return str(joblib.hash((own.vectors(quantifier.validation_outputs_), quantifier.validation_codes_)))


def _inner(quantifier: Any) -> Quantifier:
    """Return the fitted quantifier itself, or the best of a search."""
    if not isinstance(quantifier, Quantifier):
        raise DataError(f"Expected a fitted quantifier, got {quantifier!r}.")
    check_is_fitted(quantifier)
    best: Any = getattr(quantifier, "best_estimator_", None)
    return quantifier if best is None else best


def _check(level: Any, estimand: Any, method: Any, assume: Any, simultaneous: Any, n_replicates: Any) -> None:
    check_level(level)
    if not isinstance(n_replicates, int | np.integer) or n_replicates < 100:
        raise DataError(f"n_replicates must be a whole number of at least 100; got {n_replicates!r}.")
    if method == "bootstrap" and n_replicates * (1.0 - level) < 4:
        raise DataError(
            f"{n_replicates} replicates are too few for level={level}: at least {int(np.ceil(4 / (1 - level)))} are needed."
        )
    for name, value, allowed in (
        ("estimand", estimand, ("population", "pile")),
        ("method", method, ("auto", "delta", "bootstrap")),
        ("assume", assume, (None, "no-shift")),
        ("simultaneous", simultaneous, (None, "classes", "samples", "both")),
    ):
        if not (value is None or isinstance(value, str)) or value not in allowed:
            raise DataError(f"{name} must be one of {', '.join(map(repr, allowed))}; got {value!r}.")


def _comparisons(simultaneous: str | None, n_classes: int, n_samples: int) -> int:
    classes = n_classes if n_classes > 2 else 1  # the shares of two classes stand and fall together
    return {None: 1, "classes": classes, "samples": n_samples, "both": classes * n_samples}[simultaneous]


def _delta(
    model: LinearModel | LikelihoodModel, parts: ErrorParts, z: float, pile: bool
) -> tuple[FloatArray, FloatArray]:
    if isinstance(model, LinearModel):
        return model.fieller(parts, z)
    if parts.shares.shape[1] == 2:
        return _both_classes(*model.ratio_intervals(z, pile))
    reach = parts.quantile(z) * np.sqrt(np.maximum(np.diagonal(parts.covariance(), axis1=1, axis2=2), 0.0))
    return parts.centre - reach, parts.centre + reach


def _both_classes(low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    return np.column_stack([1.0 - high, low]), np.column_stack([1.0 - low, high])


def _percentiles(
    model: LinearModel | LikelihoodModel,
    parts: ErrorParts,
    outputs: Outputs,
    samples: Samples,
    z: float,
    pile: bool,
    n_replicates: int,
    seed: np.random.SeedSequence,
) -> tuple[FloatArray, FloatArray]:
    if isinstance(model, LinearModel):
        replicates = linear_replicates(model, outputs, samples, n_replicates, pile, seed)
    else:
        replicates = likelihood_replicates(model, n_replicates, pile, seed)
    # Replicates vary less than samples do, by the degrees of freedom: percentiles farther out make up for it (Hesterberg 2015).
    tails = norm.sf(parts.expanded(z))
    low, high = _quantiles(replicates, tails), _quantiles(replicates, 1.0 - tails)
    # Items that are all alike give replicates that are all alike: there the delta method knows better.
    least_low, least_high = _delta(model, parts, z, pile)
    alike = (high - low) < (least_high - least_low) / 4.0
    low, high = np.where(alike, least_low, low), np.where(alike, least_high, high)
    few = samples.effective_sizes()[:, None] < _FEW  # as do so few of them, whichever they are
    return np.where(few, np.minimum(low, least_low), low), np.where(few, np.maximum(high, least_high), high)


def _quantiles(replicates: FloatArray, levels: FloatArray) -> FloatArray:
    """Return the quantile of each sample's and class's replicates at its own level, which another replicate would be beyond."""
    ordered = np.sort(replicates, axis=1)
    place = np.clip(levels * (ordered.shape[1] + 1) - 1.0, 0.0, ordered.shape[1] - 1.0)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, ordered.shape[1] - 1)
    values = [np.take_along_axis(ordered, index[:, None, :], axis=1)[:, 0, :] for index in (below, above)]
    between: FloatArray = values[0] + (place - below) * (values[1] - values[0])
    return between


def _without_shift(
    quantifier: Any, moments: Moments, effective: FloatArray, z: float, assume: str | None, pile: bool
) -> tuple[FloatArray, FloatArray, FloatArray, ErrorParts | None]:
    name = type(quantifier).__name__
    if assume != "no-shift":
        raise DataError(f"{name} {_BIASED}")
    if pile:
        raise DataError(f"{name} has no interval for the pile itself: pass estimand='population', or use PACC or SLD.")
    total = moments.n_items.astype(np.float64)
    shares = quantifier.solve(Statistics(moments.sums, total))
    n = effective[:, None]
    variance = np.maximum(np.diagonal(moments.products, axis1=1, axis2=2) / total[:, None] - shares**2, 0.0)
    # Wilson's interval (1927), with the variance that the vectors have rather than that of decisions.
    centre = (shares + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * np.sqrt(variance / n + z**2 / (4 * n**2))
    return shares, centre - reach, centre + reach, None
