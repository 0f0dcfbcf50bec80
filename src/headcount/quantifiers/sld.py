"""SLD: maximum likelihood shares, by Saerens, Latinne and Decaestecker's expectation maximisation or straight to its limit."""

from dataclasses import KW_ONLY, dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from headcount._typing import FloatArray, IntArray, RandomState
from headcount._validation import Interval, StrOptions, integers_from, quoted
from headcount.exceptions import DataError
from headcount.learners import CALIBRATIONS, Fits, LogLinearCalibration, Outputs, Validation
from headcount.protocols import Samples
from headcount.quantifiers.base import DEFAULT_VALIDATION
from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.classifiers import fit_classifier
from headcount.quantifiers.densities import DensitiesQuantifier
from headcount.quantifiers.prior import PRIOR_CONSTRAINT, known_prior, warn_of_class_weights
from headcount.quantifiers.statistics import SampleItems

__all__ = ["SLD"]


@register_method(
    "maximum likelihood shares (EM)",
    "Saerens et al. 2002",
    group="likelihood",
    needs="posteriors, prior",
    aliases=("EMQ", "EM", "Saerens"),
    table_preset=lambda: SLD(calibration="bcts", smoothing=1.0),
    suggested=True,
)
@dataclass(eq=False, repr=False)
class SLD(DensitiesQuantifier):
    r"""Maximum likelihood shares from posteriors: the method of Saerens, Latinne and Decaestecker (also EMQ).

    If only the class shares have changed since training, the posteriors :math:`\Pr(y | x)` of a classifier trained under the
    prior :math:`\pi` become, under shares p, proportional to :math:`p_y \Pr(y | x) / \pi_y`. Starting from the prior, the
    rounds of expectation maximisation

    .. math:: p_y \leftarrow \frac{1}{|U|} \sum_{x \in U} \frac{p_y \Pr(y | x) / \pi_y}{\sum_c p_c \Pr(c | x) / \pi_c}

    climb the likelihood of the sample, which is concave in p, towards its maximum. By default the maximum is found directly by
    Newton steps, mostly three to ten of them where the rounds need tens to thousands.

    **When to use it.** Without a calibration, where posteriors are known to be calibrated: all labelled items then train the
    classifier. Otherwise with ``calibration="bcts"``, which the posteriors of most classifiers need. With ``smoothing=1`` where
    samples are small or the classifier is weak.

    Parameters
    ----------
    classifier : estimator, default=None
        Any scikit-learn classifier; None means `NewtonLogisticRegression`. Without ``predict_proba`` it is calibrated by Platt's
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
    smoothing : float or array of shape (n_classes,), default=0.0
        Weights s_j of imaginary items of each class that are added to each sample; a number is divided equally among the classes.
        The answer is then the mode of the shares (MAP) under a Dirichlet prior with parameters 1 + s_j: the rounds become
        p_j <- (n_j + s_j) / (n + sum_c s_c), where n is the number of items and n_j the sum of their posteriors. Where the
        classifier hardly tells the classes apart, or a sample is small, the most likely shares lie at the ends, and 1 keeps them
        away from there; else it changes little. Damped rounds (a part of each step) end at the same maximum, so there is no
        parameter for them.
    calibration : {"bcts", "ts", "vs", "nbvs"}, optional
        Calibrate the posteriors on a validation part: by one factor for their logarithms ("ts", temperature scaling), that factor
        and a bias for each class ("bcts"), a factor for each class ("nbvs"), or a factor and a bias for each class ("vs"). They
        then hold under that part's shares, so ``prior`` must keep its default; without biases, only where the classifier's shares
        are right. Intervals then count the labelled items' uncertainty too: take "bcts" where the classifier may be too sure of
        itself, as those trained on few items are.
    validation : int, float or splitter, default=5
        The validation part, if there is a ``calibration``: folds or a held-out fraction, as for :class:`ACC`. With folds one
        calibration is learnt on the posteriors of all folds, and each item counts once for each fold classifier, with weight 1 / K.
    refit : bool, default=False
        As for :class:`ACC`.
    random_state : int, RandomState or None, default=None
        For the split.
    classes : sequence of labels, optional
        The classes in order, where they have one; by default sorted.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    classifier_ : fitted classifier
    prior_ : array of shape (n_classes,)
    calibration_ : LogLinearCalibration or None
    validation_outputs_, validation_codes_, validation_folds_, validation_items_, validation_repeats_
        Outputs, classes and folds of the validation items, and the items themselves, if there is a ``calibration``.

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
    >>> import numpy as np
    >>> sample = np.flatnonzero(y[2000:] == 1)[:500] + 2000           # positives only
    >>> SLD().fit(X[:2000], y[:2000]).predict(X[sample]).round(1).tolist()
    [0.0, 1.0]
    """

    classifier: Any = None
    _: KW_ONLY
    prior: Any = "train"
    solver: str = "newton"
    tol: float = 1e-6
    min_iter: int = 10
    max_iter: int = 1000
    smoothing: Any = 0.0
    calibration: str | None = None
    validation: Validation = DEFAULT_VALIDATION
    refit: bool = False
    random_state: RandomState = None
    classes: Any = None

    adjusts_for_shift = True

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DensitiesQuantifier._parameter_constraints,
        "prior": PRIOR_CONSTRAINT,
        "solver": [StrOptions({"newton", "em"})],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "min_iter": integers_from(0),
        "max_iter": integers_from(1),
        "smoothing": [Interval(Real, 0, None, closed="left"), "array-like"],
        "calibration": [StrOptions(set(CALIBRATIONS)), None],
    }

    @property
    def uses_validation(self) -> bool:
        """Whether there is a calibration to be learnt on a validation part."""
        return self.calibration is not None

    def _learn(self, fits: Fits, codes: IntArray) -> None:
        """Fit the classifier, on all labelled items if there is no calibration, and note the shares under which posteriors hold."""
        self.calibration_: LogLinearCalibration | None = None
        weights = np.asarray(self.smoothing)
        if weights.ndim and not (
            weights.shape == self.classes_.shape and np.isfinite(weights).all() and (weights >= 0).all()
        ):
            raise DataError(
                f"smoothing must be a number, or a weight that is not negative for each of the {len(self.classes_)} classes "
                f"({quoted(self.classes_)}); got {self.smoothing!r}."
            )
        kept = ("outputs", "codes", "folds", "items", "repeats")
        for name in (f"validation_{one}_" for one in kept):
            if hasattr(self, name):
                delattr(self, name)
        if self.calibration is None:
            frozen = self._is_frozen() or isinstance(fits.X, Outputs)
            if not frozen:
                warn_of_class_weights(self.classifier, self.prior, type(self).__name__)
            self.prior_ = known_prior(self.prior, codes, self.classes_, frozen, type(self).__name__)
            self.classifier_ = fit_classifier(self, fits, codes)
            return
        if not (isinstance(self.prior, str) and self.prior == "train"):
            raise DataError(
                f"Calibrated posteriors hold under the shares of the validation part: omit prior (got {self.prior!r}), or omit "
                "calibration."
            )
        super()._learn(fits, codes)

    @property
    def takes_labelled_weights(self) -> bool:
        """Whether there is a calibration, which is learnt from weighted items, under their weighted shares."""
        return self.uses_validation and self._is_inherited(SLD, "_learn", "_learn_densities", "densities")

    def _learn_densities(self, outputs: Outputs, codes: IntArray) -> None:
        self.prior_ = np.bincount(codes, minlength=len(self.classes_)) / len(codes)
        self.calibration_ = CALIBRATIONS[str(self.calibration)].learnt(outputs.need("posteriors"), codes)

    def _learn_weighted_densities(self, outputs: Outputs, codes: IntArray, weights: FloatArray) -> None:
        self.prior_ = np.bincount(codes, weights, minlength=len(self.classes_)) / weights.sum()
        each, P = weights / weights.mean(), outputs.need("posteriors")
        self.calibration_ = CALIBRATIONS[str(self.calibration)].learnt(P, codes, each)

    def calibrated(self, outputs: Outputs) -> Outputs:
        """Return outputs whose posteriors hold under ``prior_``: the given ones, or calibrated ones."""
        if self.calibration_ is None:
            return outputs
        if outputs.folds is not None:
            return Outputs.from_folds([self.calibrated(fold) for fold in outputs.folds])
        return replace(outputs, posteriors=self.calibration_.posteriors(outputs.need("posteriors")))

    def densities(self, outputs: Outputs) -> FloatArray:
        """Return posteriors divided by the shares under which they hold: densities, up to a factor for each item."""
        F: FloatArray = self.calibrated(outputs).need("posteriors") * (1.0 / self.prior_)
        return F

    def starting_shares(self) -> FloatArray:
        """Return the shares at which the search begins: the prior."""
        return self.prior_

    def _newton(self) -> bool:
        return self.solver == "newton"

    # A stream keeps the posteriors as they come, and calibrates the cells rather than each item.

    def sketched_columns(self, C: FloatArray) -> FloatArray:
        """Return the posteriors."""
        return C

    def sketched_sql(self) -> tuple[str, ...] | None:
        """Return SQL for the posteriors, unless a subclass keeps something else."""
        if not self._is_inherited(SLD, "sketched_columns"):
            return None
        return tuple(f"p{j}" for j in range(len(self.classes_)))

    def from_sketch(self, vectors: FloatArray, samples: Samples) -> SampleItems:
        """Return the statistics of samples of cells of posteriors."""
        return self.reduce(Outputs(self.classes_, len(vectors), posteriors=vectors), samples)

    def sketch_error(self, log_width: float) -> float:
        """Bound the error of the mean log-likelihood.

        Of posteriors calibrated by a factor t, log f is not concave in them; its second derivatives by their logarithms are at most
        t^2 and its first at most t, which makes the bound (t^2 / 2 + t / 8) d^2 instead of d^2 / 8.
        """
        factor = None if self.calibration_ is None else self.calibration_.steepness
        return super().sketch_error(log_width) * (1.0 if factor is None else 4.0 * factor**2 + factor)

    def validation_densities(self) -> FloatArray:
        """Return the densities of the validation items, for each of them calibrated by the others."""
        if self.calibration_ is None:
            return self.densities(self.validation_outputs_)
        P, codes = self.validation_outputs_.need("posteriors"), self.validation_codes_
        weights = self._validation_weights()
        each = None if weights is None else weights / weights.mean()
        F: FloatArray = self.calibration_.jackknifed_posteriors(P, codes, each) / self.prior_
        return F

    @property
    def interval_refusal(self) -> str:
        """Why there is no analytic interval, and what to do."""
        if self.calibration is not None:
            return super().interval_refusal
        return (
            "without calibration {name} takes the classifier's posteriors for right, and nothing tells how far they are off. Pass "
            "calibration='bcts', or assume='calibrated' where the posteriors are known to be calibrated."
        )
