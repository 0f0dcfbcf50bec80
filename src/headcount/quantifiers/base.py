"""`Quantifier`: the contract of all methods. Fit, score a pool once, reduce to statistics, solve for shares.

A method belongs to one of two families (`sums`, `densities`) or to none. What a method can do is declared by class attributes
with safe defaults: a method that declares nothing does not adjust for shift, has no interval and can't be streamed.
"""

from abc import ABCMeta, abstractmethod
from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted, validate_data

from headcount._typing import AnyArray, FloatArray, IntArray, Items, Labels, RandomState
from headcount._validation import (
    HasMethods,
    as_classes,
    as_items,
    encode,
    has_natural_order,
    labelled_items,
    learn_classes,
    quoted,
)
from headcount.designs import SurveyDesign
from headcount.exceptions import DataError
from headcount.learners import (
    VALIDATION_CONSTRAINTS,
    BlackBox,
    Fits,
    FoldClassifiers,
    Need,
    NewtonLogisticRegression,
    Outputs,
    Validation,
    require,
    score,
)
from headcount.protocols import Samples, as_samples

__all__ = ["DEFAULT_VALIDATION", "Quantifier", "normalised"]

DEFAULT_VALIDATION = 5
"""Folds of cross-fitting. A held-out part of 40 % gives estimates that vary by half as much again, and with the split."""

_NO_EQUATION = (
    "{name} declares no estimating equation, so how far its estimates are off can't be said. Use PACC or SLD over the same "
    "classifier, or pass method='bootstrap', whose coverage is not measured for this method."
)
_REFITTED = (
    "with refit=True the rates of {name} are those of the fold classifiers, and the classifier that was refitted on all items is "
    "better than they are, so that intervals would not cover the true shares as often as they say. Leave refit=False, which keeps "
    "the fold classifiers."
)

_ESTIMATION = {"reduce", "solve", "aggregate", "predict", "densities"}
"""Methods that make up the estimate: what is declared of an estimate is not inherited where one of them is overridden."""


class Quantifier(BaseEstimator, metaclass=ABCMeta):
    """Base of the quantifiers, with scikit-learn's contract: ``fit(X, y)``, then ``predict(X)``.

    ``predict`` gives one vector of shares for all the items it is handed. For many samples of one pool, score the pool once
    with :meth:`outputs` and pass it with the samples to :meth:`aggregate`, which is :meth:`reduce` and then :meth:`solve`.

    A subclass writes ``needs``, ``_learn``, ``reduce`` and ``solve``; most methods subclass :class:`SumsQuantifier` or
    :class:`DensitiesQuantifier` instead, which write the last two. A method with other parameters writes its own constructor.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes, in the order of all shares: as given by the parameter ``classes``, else sorted.
    classifier_ : estimator
        The fitted classifier, for methods over one (calibrated where posteriors are needed and it has none); with folds the
        `FoldClassifiers`.
    """

    # What a method declares of itself. The defaults are safe: they promise nothing.
    adjusts_for_shift: ClassVar[bool] = False
    """Whether the estimate stays right when the class shares differ from those in training."""
    max_classes: ClassVar[int | None] = None
    """The most classes that the method is defined for; None: any number."""
    needs_order: ClassVar[bool] = False
    """Whether the estimate depends on the order of the classes, which labels that are texts do not tell."""
    brings_learner: ClassVar[bool] = False
    """Whether the method is defined by a learner of its own, so that scores of another classifier are of no use to it."""
    learnt_shapes: ClassVar[Mapping[str, tuple[str | int | None, ...]]] = {}
    """Sizes of learnt arrays of numbers that a method adds, by name ("classes" is known): checked when a model file is read."""
    has_posterior: ClassVar[bool] = False
    """Whether its interval is that of a posterior distribution, drawn by its method ``posterior``."""
    _PROMISES: ClassVar[tuple[str, ...]] = ("adjusts_for_shift", "has_posterior", "interval_refusal")
    """Declarations that describe the estimate; a family adds its own."""

    classes: Any = None
    refit: Any = False
    validation_design_: SurveyDesign | None = None
    """How the validation items were drawn, if ``fit`` was told."""
    classifier: Any
    classes_: AnyArray
    classifier_: Any

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "classifier": [HasMethods(["fit", "predict"]), None],
        "validation": VALIDATION_CONSTRAINTS,
        "refit": ["boolean"],
        "random_state": "no_validation",
        "classes": ["array-like", None],
    }

    def __init__(
        self,
        classifier: Any = None,
        *,
        validation: Validation = DEFAULT_VALIDATION,
        refit: bool = False,
        random_state: RandomState = None,
        classes: Any = None,
    ) -> None:
        self.classifier = classifier
        self.validation = validation
        self.refit = refit
        self.random_state = random_state
        self.classes = classes

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # A subclass of PACC that overrides `solve`, or has a mixin that does, is another estimator: PACC's interval is not its own.
        defined = [set(vars(base)) for base in cls.__mro__]
        overridden = next(i for i, names in enumerate(defined) if names & _ESTIMATION)
        for promise in cls._PROMISES:
            if overridden < next(i for i, names in enumerate(defined) if promise in names):
                setattr(cls, promise, vars(Quantifier).get(promise))

    @property
    @abstractmethod
    def needs(self) -> frozenset[Need]:
        """What must be known of each item: its decision, posteriors, embedding, or nothing."""

    @abstractmethod
    def reduce(self, outputs: Outputs, samples: Any = None) -> Any:
        """Reduce outputs to the statistics of each sample, which can be merged by addition."""

    @abstractmethod
    def solve(self, statistics: Any) -> FloatArray:
        """Turn statistics into shares, shape (n_samples, n_classes)."""

    def _learn(self, fits: Fits, codes: IntArray) -> None:
        """Learn ``classifier_`` and whatever else the method needs from items with these class codes, through the fits."""
        raise NotImplementedError(f"{type(self).__name__} must write _learn, or override fit.")

    @property
    def uses_validation(self) -> bool:
        """Whether the method learns from validation items: labelled ones that its classifier was not trained on."""
        return False

    @property
    def takes_labelled_weights(self) -> bool:
        """Whether weights of labelled items are counted in all that is learnt from them."""
        return False

    def _validation_weights(self) -> FloatArray | None:
        """Return the weights of the validation items, if ``fit`` was told any."""
        return None if self.validation_design_ is None else self.validation_design_.weights

    @property
    def has_interval(self) -> bool:
        """Whether there is an analytic interval for the estimates."""
        return False

    @property
    def interval_refusal(self) -> str:
        """Why there is no analytic interval, and what to do; {name} stands for the method's name. A method may declare its own."""
        return _REFITTED if self._is_refitted() else _NO_EQUATION

    def _is_refitted(self) -> bool:
        """Whether the rates are those of fold classifiers, and the classifier that is used is another one."""
        return bool(self.refit and self.uses_validation)

    @property
    def n_folds(self) -> int:
        """The number of fold classifiers that score each item; 1 without cross-fitting."""
        classifier = getattr(self, "classifier_", None)
        return len(classifier.classifiers_) if isinstance(classifier, FoldClassifiers) else 1

    @property
    def can_stream(self) -> bool:
        """Whether items can be added up batch by batch: the estimate is made of the family's statistics and of nothing else."""
        return False

    def _is_inherited(self, family: type, *names: str) -> bool:
        """Whether the methods of these names are the family's, not overridden."""
        return all(getattr(type(self), name) is getattr(family, name) for name in names)

    @property
    def is_ordered(self) -> bool:
        """Whether the order of the classes means something: it was given (``classes``), or they are numbers or dates."""
        return self.chosen.classes is not None or has_natural_order(self.classes_)

    @property
    def chosen(self) -> "Quantifier":
        """The quantifier that answers: of a search the best one, else the quantifier itself."""
        return self

    @staticmethod
    def default_classifier() -> Any:
        """Return the classifier that ``classifier=None`` means."""
        return NewtonLogisticRegression()

    def fit(self, X: Items, y: Labels, *, design: SurveyDesign | None = None, **fit_params: Any) -> Self:
        """Learn from labelled items.

        Parameters
        ----------
        X : array, sparse matrix, data frame or list of texts, whatever the classifier takes; or `Outputs`
            With the outputs of a classifier that was trained elsewhere, these items are the validation part, and
            the parameter ``classifier`` stays None.
        y : labels of shape (n_items,)
        design : SurveyDesign, optional
            How the labelled items were drawn. Items of a cluster stay in one fold, class profiles are weighted, and intervals count
            what clusters and weights do to the errors. The classifier is trained on items as they are; pass ``sample_weight`` too
            if it is to be weighted.
        **fit_params
            Passed to the classifier's ``fit``, such as ``sample_weight``: arrays with one entry an item are cut to the items it
            is fitted on. With scikit-learn's metadata routing enabled, what the classifier requests is passed.
        """
        X, labels = labelled_items(X, y)
        return self._fit(Fits(X, labels, fit_params=self._routed(fit_params) if fit_params else None, design=design))

    def _fit(self, fits: Fits) -> Self:
        """Learn from the data set of these fits, through them, so that other quantifiers can share what is fitted."""
        self._validate_params()
        if isinstance(fits.X, Outputs):
            if getattr(self, "classifier", None) is not None:
                raise DataError(
                    "Outputs come from a classifier that is trained already: leave classifier=None, or pass the items themselves."
                )
            self.classes_ = fits.X.classes
            if self.classes is not None and as_classes(self.classes).tolist() != self.classes_.tolist():
                raise DataError(
                    f"The outputs are of the classes {quoted(self.classes_, 10)}, in this order, and the parameter classes names "
                    f"others or another order ({quoted(self.classes, 10)}): make the outputs in that order, or omit classes."
                )
            codes = encode(fits.y, self.classes_)
        else:
            validate_data(self, fits.X, skip_check_array=True)
            self.classes_, codes = self._learn_classes(fits.y)
        if self.max_classes is not None and len(self.classes_) > self.max_classes:
            raise DataError(
                f"{type(self).__name__} is defined for {'two' if self.max_classes == 2 else self.max_classes} classes; the labels "
                f"hold {len(self.classes_)} ({quoted(self.classes_)}). Use PACC or SLD, merge classes, or fit each class "
                f"against the rest: OneVsRest({type(self).__name__}()).fit(X, y)."
            )
        self._check_order()
        self._check_design(fits.design)
        self._learn(fits, codes)
        return self

    def _check_order(self) -> None:
        """Raise if the method depends on the order of the classes, and these are only in alphabetical order."""
        if (
            self.needs_order and len(self.classes_) > 2 and not self.is_ordered
        ):  # in either order two classes are neighbours
            raise DataError(
                f"{type(self).__name__} depends on the order of the classes, but {quoted(self.classes_)} are only in alphabetical "
                "order: pass the classes from lowest to highest, classes=[...]."
            )

    def _check_design(self, design: SurveyDesign | None) -> None:
        """Raise if the labelled items have a design that this method can't count."""
        name = type(self).__name__
        if design is None:
            return
        if not (self.uses_validation and self.has_interval):
            raise DataError(
                f"The design of the labelled items is for methods that learn from validation items and have an interval, such as "
                f"PACC; {name} would not use it. Omit design, or use PACC."
            )
        if design.weights is not None and not self.takes_labelled_weights:
            raise DataError(
                f"{name} learns from labelled items without weights. Use PACC, HDy, KDEyML or SLD(calibration='bcts'), which count "
                "them, or give a design of the labelled items without weights."
            )

    def fit_through(self, fits: Fits) -> Self:
        """Learn from the data set of these fits, and through them where ``fit`` is not overridden."""
        if type(self).fit is Quantifier.fit:
            return self._fit(fits)
        return self.fit(fits.X, fits.y) if fits.design is None else self.fit(fits.X, fits.y, design=fits.design)

    def _learn_classes(self, labels: AnyArray) -> tuple[AnyArray, IntArray]:
        """Return the classes in their order, and the labels as positions among them."""
        if self.classes is not None:
            return learn_classes(labels, classes=self.classes)
        if not self._is_frozen():
            return learn_classes(labels)
        check_is_fitted(self.classifier)
        require(self.classifier, "classes_")
        classes = np.asarray(self.classifier.classes_)
        return classes, encode(labels, classes)

    def _is_frozen(self) -> bool:
        """Whether the classifier must not be fitted."""
        return _is_frozen(getattr(self, "classifier", None))

    def _routed(self, fit_params: dict[str, Any]) -> dict[str, Any]:
        from sklearn.utils.metadata_routing import process_routing

        if not get_config()["enable_metadata_routing"]:
            return fit_params
        return dict(process_routing(self, "fit", **fit_params).classifier.fit)

    def get_metadata_routing(self) -> Any:
        """Say which of the parameters passed to ``fit`` go to the classifier, in scikit-learn's form."""
        from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

        router = MetadataRouter(owner=self)
        if "classifier" not in self.get_params(deep=False):
            return router
        classifier = self.default_classifier() if self.classifier is None else self.classifier
        return router.add(classifier=classifier, method_mapping=MethodMapping().add(caller="fit", callee="fit"))

    def _score(self, X: Items, needs: Collection[Need]) -> Outputs:
        """Score the items with the classifier; without one, only their number is known."""
        if not hasattr(self, "classifier_"):
            return Outputs(self.classes_, as_items(X)[1])
        return score(self.classifier_, X, needs, self.classes_)

    def outputs(self, X: Items, needs: Collection[Need] | None = None) -> Outputs:
        """Score items once, for use with any number of samples of them.

        Parameters
        ----------
        X : items, as in ``fit``; `Outputs` are returned in the order of this quantifier's classes
        needs : collection of {"decisions", "posteriors", "embeddings"}, optional
            By default what this quantifier needs; ask for both to share the outputs with others over the same classifier.
        """
        check_is_fitted(self)
        if isinstance(X, Outputs):
            return X.aligned_to(self.classes_)
        if hasattr(self, "n_features_in_") and getattr(X, "ndim", 2) == 1:
            raise DataError(
                f"X is one-dimensional, but {type(self).__name__} was fitted on items of {self.n_features_in_} features. Reshape "
                "your data: X.reshape(1, -1) if it is a single item, X.reshape(-1, 1) if it has a single feature."
            )
        X, _ = as_items(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return self._score(X, self.needs if needs is None else needs)

    def aggregate(self, outputs: Outputs, samples: Any = None) -> FloatArray:
        """Estimate the shares of each sample.

        Parameters
        ----------
        outputs : Outputs
            Of the pool, from :meth:`outputs` or from a black box (``Outputs.from_posteriors``).
        samples : Samples or matrix of row numbers, optional
            By default the whole pool is the one sample.

        Returns
        -------
        array of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return self.solve(self.reduce(outputs, samples))

    def predict(self, X: Items) -> FloatArray:
        """Estimate the class shares among these items.

        Returns
        -------
        array of shape (n_classes,)
            In the order of ``classes_``; sums to 1.
        """
        shares: FloatArray = self.aggregate(self.outputs(X))[0]
        return shares

    def check_learnt(self) -> None:
        """Raise DataError unless the learnt arrays by which compiled code finds its way fit together.

        Called when a model file is read, after the shapes in ``learnt_shapes`` have been checked.
        """

    def validation_items(self) -> tuple[Outputs, IntArray] | None:
        """Return outputs and class codes of the validation items that the quantifier keeps, or None."""
        kept = getattr(self, "validation_outputs_", None)
        return None if kept is None else (kept, self.validation_codes_)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Pickles and model files from before cross-fitting: rates of folds were used with a classifier refitted on all items.
        if "validation_codes_" in state and "validation_folds_" not in state:
            folds = np.zeros(len(state["validation_codes_"]), dtype=np.int64)
            given = isinstance(state.get("classifier_"), BlackBox) or _is_frozen(state.get("classifier"))
            refit = not given and not isinstance(state.get("validation"), float)
            state = {**state, "validation_folds_": folds, "validation_items_": None, "refit": refit}
        super().__setstate__(state)

    def _ready(self, outputs: Outputs, samples: Any) -> tuple[Outputs, Samples]:
        """Check and align what `reduce` is given."""
        check_is_fitted(self)
        if not isinstance(outputs, Outputs):
            raise DataError(
                f"Expected Outputs, got {type(outputs).__name__}: score items with quantifier.outputs(X), or wrap ready-made "
                "posteriors with Outputs.from_posteriors(P, classes)."
            )
        return outputs.aligned_to(self.classes_), as_samples(samples, outputs.n_items)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        if self.max_classes == 2:
            tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags


def _is_frozen(classifier: Any) -> bool:
    from sklearn.frozen import FrozenEstimator

    return isinstance(classifier, FrozenEstimator)


def normalised(shares: FloatArray) -> FloatArray:
    """Take rounding out of shares: clip to [0, 1] and divide by their sum."""
    clipped = np.clip(shares, 0.0, 1.0)
    scaled: FloatArray = clipped / clipped.sum(axis=1, keepdims=True)
    return scaled
