"""`expected_accuracy`: how often a classifier's decisions are right among new items, of which no labels are known."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from headcount._distributions import student_quantile
from headcount._typing import AnyArray, FloatArray, IntArray, Items
from headcount.correction.classifier import PriorCorrectedClassifier
from headcount.exceptions import DataError
from headcount.intervals.evidence import Evidence, gather_evidence
from headcount.intervals.result import check_level
from headcount.learners import Outputs
from headcount.protocols import as_samples
from headcount.quantifiers import DensitiesQuantifier, Quantifier, SumsQuantifier
from headcount.quantifiers.moved_posteriors import item_densities, moved_posteriors

__all__ = ["ExpectedAccuracy", "expected_accuracy"]

_ADDED = (0.0, 1.0)
"""Decisions that are added to those of each class when their spread is counted: one wrong, one right (Agresti and Coull 1998)."""


class ExpectedAccuracy(NamedTuple):
    """The accuracy to be expected, with its interval: numbers for one sample, vectors for many; NaN where there is no interval."""

    accuracy: Any
    low: Any
    high: Any
    level: float


def expected_accuracy(
    model: Quantifier | PriorCorrectedClassifier, X: Items, samples: Any = None, *, level: float = 0.95
) -> ExpectedAccuracy:
    r"""Expect the accuracy of decisions about new items, from validation items and the estimated class shares.

    .. math:: \widehat{\mathrm{acc}} = \sum_j \hat p_j \, \hat r_j

    where :math:`\hat r_j` is the share of validation items of class j that are decided rightly (its recall), and :math:`\hat p` are
    the shares that the quantifier estimates among the new items. If only the shares of the classes have changed, recalls have not.
    With folds, recalls are means over the fold classifiers; together they decide new items a little better.

    The interval is that of the delta method, about the accuracy in the population that the items come from. It counts the errors of
    the shares and of the recalls together, since both are learnt from the same validation items. It is there for methods with an
    analytic interval.

    Parameters
    ----------
    model : fitted quantifier with validation items, or fitted PriorCorrectedClassifier over one
        Of a quantifier, the decisions are those of its classifier; of a `PriorCorrectedClassifier`, those under the estimated
        shares.
    X : items, or their `Outputs`
    samples : Samples or matrix of row numbers, optional
        By default all items are one sample.
    level : float, default=0.95

    Returns
    -------
    ExpectedAccuracy

    References
    ----------
    Saerens, Latinne and Decaestecker (2002). Adjusting the outputs of a classifier to new a priori probabilities: a simple
    procedure. Neural Computation 14.
    Lipton, Wang and Smola (2018). Detecting and correcting for label shift with black box predictors. ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from headcount import PACC
    >>> y = np.arange(4000) % 2
    >>> X = y[:, None] + np.random.default_rng(0).standard_normal((4000, 1))
    >>> rare = np.flatnonzero((y == 0) | (np.arange(4000) % 19 == 0))[1000:]    # 5 % positives
    >>> q = PACC(random_state=0).fit(X[:1000], y[:1000])
    >>> expected = expected_accuracy(q, X[rare])
    >>> true = q.classifier_.score(X[rare], y[rare])
    >>> bool(abs(expected.accuracy - true) < 0.05), bool(expected.low < true < expected.high)
    (True, True)
    """
    check_level(level)
    corrected = isinstance(model, PriorCorrectedClassifier)
    check_is_fitted(model)
    quantifier = (model.quantifier_ if isinstance(model, PriorCorrectedClassifier) else model).chosen
    kept = quantifier.validation_items()
    if kept is None or quantifier._is_refitted():
        raise DataError(
            f"{type(quantifier).__name__} keeps no validation items of the classifier that decides, from which its recalls "
            "could be learnt: use ACC, PACC or SLD(calibration='bcts'), with refit=False."
        )
    outputs = model._outputs(X) if isinstance(model, PriorCorrectedClassifier) else quantifier.outputs(X)
    known = as_samples(samples, outputs.n_items)
    has_evidence = quantifier.has_interval and not quantifier.has_posterior
    more = {"products": True} if isinstance(quantifier, SumsQuantifier) and has_evidence else {}
    statistics = quantifier.reduce(outputs, known, **more)
    shares = quantifier.solve(statistics)
    evidence = gather_evidence(quantifier, statistics, known.effective_sizes(), False) if has_evidence else None
    labelled, codes = kept
    densities = _validation_densities(quantifier, labelled, model) if corrected else None
    right = (_decisions(labelled) == codes).astype(np.float64)
    accuracy, low, high = np.empty((3, len(shares)))
    for s, p in enumerate(shares):
        if densities is not None:
            right = (moved_posteriors([densities], p).argmax(axis=1) == codes).astype(np.float64)
        recalls = _recalls(right, codes, quantifier, len(p))
        accuracy[s] = p @ recalls
        reach = np.nan if evidence is None else _reach(evidence, s, p, recalls, right, level)
        low[s], high[s] = accuracy[s] - reach, accuracy[s] + reach
    low, high = np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
    if samples is None:
        return ExpectedAccuracy(float(accuracy[0]), float(low[0]), float(high[0]), level)
    return ExpectedAccuracy(accuracy, low, high, level)


def _decisions(outputs: Outputs) -> AnyArray:
    return outputs.need("posteriors").argmax(axis=1) if outputs.decisions is None else outputs.decisions


def _validation_densities(quantifier: Quantifier, labelled: Outputs, model: Any) -> FloatArray:
    """Return the densities of the validation items, by what was learnt from others."""
    if isinstance(quantifier, DensitiesQuantifier):
        return quantifier.validation_densities()
    return item_densities(quantifier, labelled, model.prior_)[0]


def _recalls(right: FloatArray, codes: IntArray, quantifier: Any, k: int) -> FloatArray:
    """Return the share of the items of each class that are decided rightly: the mean of the folds' shares."""
    folds = getattr(quantifier, "validation_folds_", np.zeros_like(codes))
    cells, cell = np.unique(codes * (int(folds.max()) + 1) + folds, return_inverse=True)
    means = np.bincount(cell, right) / np.bincount(cell)
    classes = cells // (int(folds.max()) + 1)
    return np.array([means[classes == j].mean() for j in range(k)])


def _reach(evidence: Evidence, s: int, p: FloatArray, recalls: FloatArray, right: FloatArray, level: float) -> float:
    """Return half the width of the interval of the accuracy in sample s.

    The shares change by B (dz - dG p), where z is the mean vector of the sample and G holds those of the classes. So a validation
    item i of class j, with vector u, moves the accuracy by p_j / n_j times (right_i - r' B u), r the recalls.
    """
    one = 0 if len(evidence.B) == 1 else s
    direction = recalls @ evidence.B[one]
    moved = right - evidence.vectors.labelled(s) @ direction
    codes, centre, variance = evidence.vectors.codes, np.empty(len(p)), 0.0
    spread = np.einsum("a,lab,b->l", direction, evidence.S[one], direction)
    for j, size in enumerate(evidence.sizes):
        values = moved[codes == j]
        added = values.mean() + np.array(_ADDED) - recalls[j]
        centre[j] = direction @ evidence.G[one][:, j]
        variance += p[j] ** 2 / size * np.var(np.concatenate([values, added]), ddof=1)
    between = p @ np.square(centre) - (p @ centre) ** 2
    variance += (p @ spread + between) / evidence.n[s]
    weights = p**2 / evidence.sizes
    degrees = np.square(weights.sum()) / max(float(np.sum(weights**2 / np.maximum(evidence.sizes - 1.0, 1.0))), 1e-300)
    return float(student_quantile((1.0 - level) / 2.0, max(degrees, 1.0)) * np.sqrt(variance))
