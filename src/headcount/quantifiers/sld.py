"""SLD: maximum likelihood shares, by Saerens, Latinne and Decaestecker's expectation maximisation or straight to its limit."""

import warnings
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from headcount._threads import in_chunks
from headcount._typing import FloatArray, IntArray, RandomState
from headcount._validation import Interval, StrOptions, as_shares, integers_from, quoted
from headcount.exceptions import DataError
from headcount.learners import BiasCorrectedTemperature, Fits, Outputs, Validation
from headcount.quantifiers.statistics import EachPosterior, GatheredPosteriors, require_items
from headcount.quantifiers.validated import DEFAULT_VALIDATION, ValidatedQuantifier

__all__ = ["SLD", "Convergence"]

_ITEMS_A_CHUNK = 1 << 15


@dataclass(frozen=True, eq=False)
class Convergence:
    """How the search for the shares of each sample ended.

    Attributes
    ----------
    shares : array of shape (n_samples, n_classes)
    n_iter : array of shape (n_samples,)
        Steps or rounds taken.
    change : array of shape (n_samples,)
        Mean absolute change of the shares in the last of them.
    converged : array of shape (n_samples,)
        Whether that was below ``tol``.
    """

    shares: FloatArray
    n_iter: IntArray
    change: FloatArray
    converged: np.ndarray[Any, np.dtype[np.bool_]]


class SLD(ValidatedQuantifier):
    r"""Maximum likelihood shares from posteriors: the method of Saerens, Latinne and Decaestecker (also EMQ).

    If only the class shares have changed since training, the posteriors :math:`\Pr(y | x)` of a classifier trained under the
    prior :math:`\pi` become, under shares p, proportional to :math:`p_y \Pr(y | x) / \pi_y`. Starting from the prior, the
    rounds of expectation maximisation

    .. math:: p_y \leftarrow \frac{1}{|U|} \sum_{x \in U} \frac{p_y \Pr(y | x) / \pi_y}{\sum_c p_c \Pr(c | x) / \pi_c}

    climb the likelihood of the sample, which is concave in p, towards its maximum. By default the maximum is found directly by
    Newton steps, mostly three to ten of them where the rounds need tens to thousands.

    Parameters
    ----------
    classifier : estimator, default=None
        Any scikit-learn classifier; None means ``LogisticRegression()``. Without ``predict_proba`` it is calibrated by Platt's
        method. A ``FrozenEstimator`` is not fitted again, and ``prior`` or ``calibration`` must then be given.
    prior : {"train", "uniform"} or array of shape (n_classes,), default="train"
        The shares under which the posteriors hold: those of the training data, equal ones (for a classifier with balanced class
        weights), or given ones, in the order of ``classes_``.
    solver : {"newton", "em"}, default="newton"
        Straight to the maximum, or by the rounds themselves, which may be stopped early.
    tol : float, default=1e-6
        The search ends when the shares change by less than this, on average over the classes.
    min_iter : int, default=10
        Rounds of "em" that must have passed before it may end. The published code of the reassessment of "classify and count" is
        ``solver="em", tol=1e-4, min_iter=10``.
    max_iter : int, default=1000
        The most steps or rounds; samples that need more are reported by a warning, and by :meth:`convergence`.
    calibration : {"bcts"}, optional
        Calibrate the posteriors on a validation part, by bias-corrected temperature scaling. They then hold under that part's
        shares, so ``prior`` must be left alone. Intervals then count the labelled items' uncertainty too: take it where the
        classifier may be too sure of itself, as those trained on few items are.
    validation : float, int or splitter, default=0.4
        The validation part, if there is a ``calibration``: as for :class:`ACC`.
    random_state : int, RandomState or None, default=None
        For the split.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    classifier_ : fitted classifier
    prior_ : array of shape (n_classes,)
    calibration_ : BiasCorrectedTemperature or None
    validation_outputs_, validation_codes_
        Outputs and classes of the validation part, if there is a ``calibration``.

    References
    ----------
    Saerens, Latinne and Decaestecker (2002). Adjusting the outputs of a classifier to new a priori probabilities: a simple
    procedure. Neural Computation 14.
    Alexandari, Kundaje and Shrikumar (2020). Maximum likelihood with bias-corrected calibration is hard-to-beat at label shift
    adaptation. ICML.
    Kim, Carbonetto, Stephens and Anitescu (2020). A fast algorithm for maximum likelihood estimation of mixture proportions using
    sequential quadratic programming. Journal of Computational and Graphical Statistics 29.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(4000, flip_y=0.1, random_state=0)
    >>> pile = np.flatnonzero(y[2000:] == 1)[:500] + 2000           # positives only
    >>> SLD().fit(X[:2000], y[:2000]).predict(X[pile]).round(1).tolist()
    [0.0, 1.0]
    """

    representation = EachPosterior()
    prior_: FloatArray
    calibration_: BiasCorrectedTemperature | None

    _parameter_constraints: dict[str, Any] = {  # noqa: RUF012
        **ValidatedQuantifier._parameter_constraints,
        "prior": [StrOptions({"train", "uniform"}), "array-like"],
        "solver": [StrOptions({"newton", "em"})],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "min_iter": integers_from(0),
        "max_iter": integers_from(1),
        "calibration": [StrOptions({"bcts"}), None],
    }

    def __init__(
        self,
        classifier: Any = None,
        *,
        prior: Any = "train",
        solver: str = "newton",
        tol: float = 1e-6,
        min_iter: int = 10,
        max_iter: int = 1000,
        calibration: str | None = None,
        validation: Validation = DEFAULT_VALIDATION,
        random_state: RandomState = None,
    ) -> None:
        self.classifier = classifier
        self.prior = prior
        self.solver = solver
        self.tol = tol
        self.min_iter = min_iter
        self.max_iter = max_iter
        self.calibration = calibration
        self.validation = validation
        self.random_state = random_state

    @property
    def uses_validation(self) -> bool:
        """Whether there is a calibration to be learnt on a validation part."""
        return self.calibration is not None

    def _learn(self, fits: Fits, codes: IntArray) -> None:
        """Fit the classifier, on all labelled items if there is no calibration, and note the shares under which posteriors hold."""
        self.calibration_ = None
        for name in ("validation_outputs_", "validation_codes_"):
            if hasattr(self, name):
                delattr(self, name)
        if self.calibration is None:
            self.prior_ = self._known_prior(codes)
            self.classifier_ = fits.fit(self._learner(codes))
            return
        if not (isinstance(self.prior, str) and self.prior == "train"):
            raise DataError(
                f"Calibrated posteriors hold under the shares of the validation part: leave prior alone (got {self.prior!r}), or "
                "leave calibration away."
            )
        self._learn_validated(fits, codes)
        k = len(self.classes_)
        self.prior_ = np.bincount(self.validation_codes_, minlength=k) / len(self.validation_codes_)
        P = self.validation_outputs_.need("posteriors")
        self.calibration_ = BiasCorrectedTemperature.learnt(P, self.validation_codes_)

    def reduce(self, outputs: Outputs, samples: Any = None) -> GatheredPosteriors:
        """Gather the posteriors of each sample's items, calibrated if that was asked for."""
        outputs, samples = self._ready(outputs, samples)
        return self.representation.reduce(self.calibrated(outputs), samples)

    def calibrated(self, outputs: Outputs) -> Outputs:
        """Return outputs whose posteriors hold under ``prior_``: the given ones, or calibrated ones."""
        if self.calibration_ is None:
            return outputs
        return replace(outputs, posteriors=self.calibration_.posteriors(outputs.need("posteriors")))

    def _known_prior(self, codes: IntArray) -> FloatArray:
        k = len(self.classes_)
        if isinstance(self.prior, str) and self.prior == "uniform":
            return np.full(k, 1.0 / k)
        if isinstance(self.prior, str):
            if self._is_frozen():
                raise DataError(
                    "With a frozen classifier SLD can't know the class shares that it was trained on: pass prior=[...] in the "
                    f"order of its classes ({quoted(self.classes_)}), or prior='uniform' if it was trained with balanced weights."
                )
            return np.bincount(codes, minlength=k) / len(codes)
        prior = as_shares(self.prior, "prior")
        if prior.shape != (k,) or not (prior >= 1e-12).all():
            raise DataError(
                f"prior must hold a positive share for each of the {k} classes ({quoted(self.classes_)}); got {prior.tolist()}."
            )
        return prior

    def convergence(self, outputs: Outputs, samples: Any = None) -> Convergence:
        """Estimate the shares of each sample, and say how the search for them ended."""
        return self._most_likely(self.reduce(outputs, samples), self.prior_)

    def solve(self, statistics: GatheredPosteriors) -> FloatArray:
        """Find the most likely shares of each sample; a warning names how many of them were not found to ``tol``."""
        check_is_fitted(self)
        found = self._most_likely(statistics, self.prior_)
        failed = np.flatnonzero(~found.converged)
        if failed.size:
            advice = ", or use solver='newton'" if self.solver == "em" else ""
            warnings.warn(
                f"SLD ended after {self.max_iter} iterations without reaching tol={self.tol:g} in {failed.size:,} of "
                f"{len(found.converged):,} samples (sample {failed[0]} first; largest last change "
                f"{found.change[failed].max():.2g}). Raise max_iter or tol{advice}.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return found.shares

    def _most_likely(self, statistics: GatheredPosteriors, prior: FloatArray) -> Convergence:
        from headcount.quantifiers import _kernels

        P, samples = statistics.posteriors, statistics.samples
        require_items(statistics.weights)
        weights = np.empty(0) if samples.weights is None else samples.weights
        shares = np.empty((len(samples), P.shape[1]))
        n_iter = np.empty(len(samples), dtype=np.int64)
        change = np.empty(len(samples))

        def search(start: int, stop: int) -> None:
            _kernels.most_likely(
                P,
                prior,
                samples.indices,
                samples.indptr[start : stop + 1],
                weights,
                self.solver == "newton",
                float(self.tol),
                int(self.min_iter),
                int(self.max_iter),
                shares[start:stop],
                n_iter[start:stop],
                change[start:stop],
            )

        in_chunks(search, len(samples), max(1, _ITEMS_A_CHUNK * len(samples) // max(1, samples.indices.size)))
        return Convergence(shares, n_iter, change, change < self.tol)
