"""`AutoQuantifier`: try the methods and learners that suit the data, each optimised for the error of shares; keep the best."""

import time
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import zip_longest
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted, validate_data

from headcount._threads import one_blas_thread
from headcount._typing import AnyArray, IntArray, Items, Labels, RandomState
from headcount._validation import (
    HasMethods,
    Interval,
    StrOptions,
    check_class_counts,
    encode,
    labelled_items,
    learn_classes,
    quoted,
    seed_sequence,
)
from headcount.auto.cross_fitting import CrossFits
from headcount.auto.judging import Judged, Setting, judge
from headcount.auto.learners import LEARNERS, Learner, features_for, kind_of, learner_named
from headcount.auto.ranking import optimism, ranked
from headcount.auto.reference import held_out_scores
from headcount.auto.trials import draw_trials
from headcount.checks.report import separation_of
from headcount.designs import SurveyDesign
from headcount.exceptions import DataError, SearchError, UnknownNameError
from headcount.learners import VALIDATION_CONSTRAINTS, Outputs, validation_parts
from headcount.learners.fit_params import cut_fit_params
from headcount.protocols import Protocol
from headcount.quantifiers import Quantifier, SumsQuantifier, list_methods, method_named
from headcount.selection.chosen import ChosenQuantifier
from headcount.selection.progress import Progress

__all__ = ["AutoQuantifier"]

_REFIT_SHARE = 0.2
"""Share of the budget that is kept for fitting the best."""
_FOLDS = 5
"""Folds of the choice. The best is fitted again in other ones."""
_MOST_TO_CHOOSE_ON = 5_000
"""Of more items, a stratified part of this size makes the choice."""
_MAX_REFITS, _MIN_SEPARATION = 8, 0.05
"""How many of the best are fitted until one separates the classes, and by how much it must."""


@dataclass(eq=False, repr=False)
class AutoQuantifier(ChosenQuantifier):
    """Choose method, learner and settings by the error of the shares under artificial prevalence.

    Each setting of each learner is fitted in five folds, so that every labelled item is scored by a classifier that was not trained
    on it; features (`TermWeights` for texts, scaling for numbers) are learnt within the folds. Then trials draw labelled and new
    items from these again and again: all methods learn their rates on the one and estimate shares of samples of the other, the
    same for all. The method and learner with the least mean absolute error are fitted on all items, in other folds than those of
    the choice.

    Parameters
    ----------
    methods : list of str or quantifiers, optional
        By default those that the catalogue suggests: CC, PCC, PACC, SLD (calibrated) and SELSE, the best by mean rank in the league
        (``studies/league.md``). With SELSE the mean error of what was kept, on ten tables of 500 labelled items, five draws each,
        fell from .0321 by .0016 (standard error .0010); with KDEyML, DMy, EDy or DyS instead of it, it changed by +.0005, +.0008,
        -.0001 and +.0008 (.0003, .0006, .0001 and .0005; ``benchmarks/wider_choice.py``).
    learners : list of str, optional
        Of "lr", "nb", "forest", "boosting", "vote", "svm"; by default those but the last that suit the kind and number of items.
    budget : float, optional
        Seconds. Settings that were not begun by then are skipped and listed in ``skipped_``; one setting is always tried. Without
        it, everything is, and the same seed gives the same answer.
    intervals : bool, default=True
        Keep only a method that has an interval (such as ACC, PACC and calibrated SLD), though another may rank before it.
    validation : float, int or splitter, default=5
        How the kept method's validation items are split from those that train its classifier: a number of folds, a fraction to hold
        out, or a splitter.
    protocol : protocol, optional
        That draws the samples of a trial. By default artificial prevalences for two classes, uniform ones for more, of up to 200
        items each.
    held_out : float, default=0.2
        Fraction of the items that methods without a validation part, such as CC and PCC, keep aside to check later items with;
        0 for none.
    n_jobs : int, optional
    random_state : int, RandomState, Generator or None, default=None
    progress : bool or "auto", default="auto"
    classes : sequence of labels, optional
        The classes in order, where they have one; by default sorted.

    Attributes
    ----------
    best_estimator_ : quantifier
        The chosen one, fitted on all items.
    ranking_ : pandas.DataFrame
        A row for each method and learner in its best setting, best first: whether it was ``kept``; ``ae`` with its standard
        deviation over trials, how far it is ``behind`` the best, and ``p_best``, in which part of the trials it was the best.
    expected_error_ : float
        The mean absolute error to be expected of the kept one in samples like those of the trials: its mean error in the trials,
        and what the least of several is too low by.
    skipped_ : list of dict
        What was not tried, or failed, with the reason.
    held_out_ : pair of Outputs and codes, or None
        Posteriors and classes of labelled items that the classifier of the chosen one was not trained on.
    kind_ : {"text", "numbers", "embeddings", "table", "mixed"}
    classes_ : array of shape (n_classes,)

    References
    ----------
    Moreo and Sebastiani (2021). Re-assessing the "classify and count" quantification method. ECIR.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(1000, flip_y=0.1, random_state=0)
    >>> auto = AutoQuantifier(methods=["CC", "PACC"], learners=["lr"], random_state=0).fit(X[:600], y[:600])
    >>> auto.ranking_["method"].tolist()
    ['PACC', 'CC']
    >>> auto.predict(X[600:]).round(1).tolist()
    [0.5, 0.5]
    """

    methods: Sequence[Any] | None = None
    learners: Sequence[str] | None = None
    _: KW_ONLY
    budget: float | None = None
    intervals: bool = True
    validation: Any = 5
    protocol: Protocol | None = None
    held_out: float = 0.2
    n_jobs: int | None = None
    random_state: RandomState = None
    progress: Progress = "auto"
    classes: Any = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ChosenQuantifier._parameter_constraints,
        "methods": [list, tuple, None],
        "learners": [list, tuple, None],
        "budget": [Interval(Real, 0, None, closed="neither"), None],
        "intervals": ["boolean"],
        "validation": VALIDATION_CONSTRAINTS,
        "protocol": [HasMethods("draw"), None],
        "held_out": [Interval(Real, 0, 1, closed="left")],
        "n_jobs": [Integral, None],
        "random_state": "no_validation",
        "progress": ["boolean", StrOptions({"auto"})],
    }

    def fit(self, X: Items, y: Labels, *, design: SurveyDesign | None = None, **fit_params: Any) -> Self:
        """Try what suits these labelled items, and fit the best on all of them.

        Parameters
        ----------
        X : texts, a matrix or sparse matrix of numbers, or a data frame, whose columns may be of several kinds
        y : labels of shape (n_items,)
        design : SurveyDesign, optional
            How the items were drawn: clusters stay together in all folds, and intervals count them. With weights only methods whose
            class profiles are weighted means are tried.
        **fit_params
            Passed to the learners' ``fit``, such as ``sample_weight``.
        """
        start = time.monotonic()
        self._validate_params()
        X, labels = labelled_items(X, y)
        validate_data(self, X, skip_check_array=True)
        self.classes_, codes = learn_classes(labels, classes=self.classes)
        check_class_counts(self.classes_, codes)
        self.kind_ = kind_of(X)
        self.skipped_: list[dict[str, Any]] = []
        of_choice, of_trials, of_refit = seed_sequence(self.random_state).spawn(3)
        self._seed = int(of_refit.generate_state(1)[0])
        if design is not None:
            design.require(len(codes), "labelled items")
        self._design = design
        methods, settings = self._methods(self._seed), self._settings(len(codes))
        rows = _some_rows(codes, int(of_choice.generate_state(1)[0]))
        fits = self._cross_fits(X, labels, codes, rows, int(of_choice.generate_state(2)[1]), fit_params)
        trials = draw_trials(fits.labels, codes[rows], self.classes_, self.protocol, of_trials)
        judged, skipped = judge(
            list(zip(_method_names(methods), methods, strict=True)),
            settings,
            fits,
            trials,
            kind=self.kind_,
            seed=self._seed,
            deadline=np.inf if self.budget is None else start + (1.0 - _REFIT_SHARE) * self.budget,
            n_jobs=self.n_jobs,
            progress=self.progress,
        )
        self.skipped_ += skipped
        keep = sorted((one for one in judged if self._may_keep(one.quantifier)), key=lambda one: one.tried.mean)
        if not keep:
            first = self.skipped_[0]["reason"] if self.skipped_ else "nothing could be tried"
            raise SearchError(f"No method with an interval could be fitted; the first reason: {first}")
        end = np.inf if self.budget is None else start + self.budget
        self.best_estimator_, self.held_out_ = self._refit_best(keep, X, labels, end, fit_params)
        self.expected_error_ = self._kept.tried.mean + optimism(np.stack([one.tried.errors for one in keep]))
        self.ranking_ = ranked([one.tried for one in judged], self._kept.tried, self.expected_error_)
        return self

    def _may_keep(self, quantifier: Quantifier) -> bool:
        return quantifier.has_interval or not self.intervals

    def _settings(self, n_items: int) -> list[Setting]:
        """List each setting of each learner; the first of each learner comes before any second one.

        So a short budget is spent on all learners.
        """
        by_learner = [
            [Setting(learner, params, one) for params, one in learner.settings(self.kind_, self._seed)]
            for learner in self._learners(n_items)
        ]
        return [one for turn in zip_longest(*by_learner) for one in turn if one is not None]

    def _cross_fits(
        self, X: Items, labels: AnyArray, codes: IntArray, rows: IntArray, seed: int, fit_params: dict[str, Any]
    ) -> CrossFits:
        clusters = None if self._design is None or self._design.clusters is None else self._design.clusters[rows]
        folds = list(validation_parts(_FOLDS, codes[rows], seed, clusters=clusters))
        items, params = _safe_indexing(X, rows), cut_fit_params(fit_params, X, rows)
        return CrossFits(items, labels[rows], self.classes_, features_for(self.kind_, X, len(rows)), folds, params)

    def _methods(self, seed: int) -> list[Quantifier]:
        named = _suggested_methods() if self.methods is None else self.methods
        methods: list[Quantifier] = []
        self._given: list[int] = []
        for i, method in enumerate(named):
            one = clone(method) if isinstance(method, Quantifier) else _quantifier_named(method)
            if one.max_classes is not None and len(self.classes_) > one.max_classes:
                reason = f"it is for {_in_words(one.max_classes)} classes, and the labels hold {len(self.classes_)}"
                self.skipped_.append({"method": type(one).__name__, "reason": reason})
                continue
            if self._design is not None and (reason := _why_no_design(one, self._design)):
                self.skipped_.append({"method": type(one).__name__, "reason": reason})
                continue
            params = one.get_params(deep=False)
            if "random_state" in params and params["random_state"] is None:
                one.set_params(random_state=seed)
            if self.classes is not None:
                one.set_params(classes=self.classes)
            methods.append(one)
            self._given.append(i)
        if not methods and self._design is not None:
            raise DataError(
                f"None of the methods can count the design of the labelled items: {self.skipped_[0]['reason']}. Use PACC, ACC or "
                "SLD."
            )
        if not methods:
            raise DataError(_too_many_classes(self.skipped_, self.classes_))
        if self.intervals and not any(one.has_interval for one in methods):
            raise DataError(
                f"None of the methods {quoted([type(one).__name__ for one in methods], 10)} has an interval: add ACC, PACC or "
                "SLD, or pass intervals=False."
            )
        return methods

    def _learners(self, n_items: int) -> list[Learner]:
        if self.learners is not None:
            if not self.learners:
                raise DataError("learners is empty: name at least one, or omit it.")
            return [learner_named(str(name)) for name in self.learners]
        reasons = {one.name: one.unsuited(self.kind_, n_items) for one in LEARNERS if one.suggested}
        self.skipped_ += [{"learner": name, "reason": reason} for name, reason in reasons.items() if reason]
        return [learner for learner in LEARNERS if reasons.get(learner.name) == ""]

    def _refit_best(
        self, keep: Sequence[Judged], X: Items, labels: AnyArray, end: float, fit_params: dict[str, Any]
    ) -> tuple[Quantifier, tuple[Outputs, IntArray] | None]:
        """Refit the best; one that does not separate some classes, so that its intervals would be too wide, yields to the next."""
        first: tuple[Quantifier, tuple[Outputs, IntArray] | None] | None = None
        for one in keep[:_MAX_REFITS]:
            if first is not None and time.monotonic() > end:
                break
            fitted = self._refitted(one, X, labels, fit_params)
            if first is None:
                first, self._kept = fitted, one
            separation = _separation(fitted[0])
            if separation is None or separation >= _MIN_SEPARATION:
                self._kept = one
                return fitted
            reason = "it hardly tells some classes apart, so its intervals would be too wide to be of use"
            about = {"method": one.tried.method, "learner": one.tried.learner, "settings": one.tried.settings}
            self.skipped_.append({**about, "reason": reason})
        if first is None:
            raise SearchError("No method could be fitted.")
        return first

    def _refitted(
        self, best: Judged, X: Items, labels: AnyArray, fit_params: dict[str, Any]
    ) -> tuple[Quantifier, tuple[Outputs, IntArray] | None]:
        """Fit on all items except those kept aside to check later ones with; return these with their posteriors."""
        inner: Any = best.quantifier
        features = features_for(self.kind_, X, len(labels))
        classifier = Pipeline([("features", features), ("classifier", clone(inner.classifier))])
        new: Quantifier = clone(best.quantifier).set_params(classifier=classifier)
        params = {f"classifier__{name}": value for name, value in fit_params.items()}  # of the pipeline's last step
        aside = self.held_out > 0 and not new.uses_validation and hasattr(classifier, "predict_proba")
        if not aside:
            if new.uses_validation and not self._is_given(best):
                new.set_params(validation=self.validation)
            with one_blas_thread():
                fitted: Quantifier = new.fit(
                    X, labels, **({} if self._design is None else {"design": self._design}), **params
                )
            return fitted, held_out_scores(fitted)
        codes = encode(labels, self.classes_)
        rows, kept = next(validation_parts(float(self.held_out), codes, self._seed, "held_out"))
        with one_blas_thread():
            fitted = new.fit(_safe_indexing(X, rows), labels[rows], **cut_fit_params(params, X, rows))
        return fitted, (fitted.outputs(_safe_indexing(X, kept), {"posteriors"}), codes[kept])

    def _is_given(self, best: Judged) -> bool:
        """Whether the method was given as a quantifier, which has its own validation."""
        return self.methods is not None and isinstance(self.methods[self._given[best.position]], Quantifier)

    def _best(self) -> Quantifier:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        return tags


def _some_rows(codes: IntArray, seed: int) -> IntArray:
    """Return the rows that the choice is made on: all, or of many a stratified part."""
    if len(codes) <= _MOST_TO_CHOOSE_ON:
        return np.arange(len(codes))
    from sklearn.model_selection import train_test_split

    least = 2 * len(np.unique(codes))  # what a stratified split needs
    size = max(_MOST_TO_CHOOSE_ON, least)
    rows: IntArray = train_test_split(np.arange(len(codes)), train_size=size, stratify=codes, random_state=seed)[0]
    return np.sort(rows)


def _why_no_design(method: Quantifier, design: SurveyDesign) -> str:
    """Return why a method can't count the design of labelled items; empty if it can."""
    if not (method.uses_validation and method.has_interval):
        return "it has no interval that counts clusters or weights"
    if design.weights is not None and not method.takes_labelled_weights:
        return "it learns from labelled items without their weights"
    return ""


def _suggested_methods() -> list[str]:
    return [method.name for method in list_methods() if method.suggested]


def _quantifier_named(name: Any) -> Quantifier:
    method = method_named(str(name))
    if reason := method.why_no_classifier:
        raise UnknownNameError(
            f"{method.name} {reason}, so no classifier can be chosen for it, which is what headcount fit and AutoQuantifier do. "
            f"Choose another method, such as {quoted(_suggested_methods(), 10)}, or fit {method.name} in Python with "
            f"headcount.{method.quantifier.__name__}."
        )
    return method.for_tables()


def _too_many_classes(skipped: Sequence[dict[str, Any]], classes: AnyArray) -> str:
    """Return the message where all methods that were named are for fewer classes than there are."""
    if not skipped:
        return "methods is empty: name at least one, or omit it."
    names = [entry["method"] for entry in skipped]
    by_name = {method.name: method for method in list_methods()}
    any_number = [name for name in _suggested_methods() if by_name[name].classes == "any"]
    reasons = " ".join(f"{entry['method']} can't be used: {entry['reason']} ({quoted(classes)})." for entry in skipped)
    return (
        f"{reasons} Choose a method for any number of classes, such as {quoted(any_number, 10)}; or fit it in Python to each class "
        f"against the rest: OneVsRest({names[0]}()).fit(X, y)."
    )


def _in_words(number: int) -> str:
    return "two" if number == 2 else str(number)


def _method_names(quantifiers: Sequence[Quantifier]) -> list[str]:
    """Return the name of each method; of several of one class, with the parameters that were given."""
    classes = [type(quantifier).__name__ for quantifier in quantifiers]
    names = []
    for name, quantifier in zip(classes, quantifiers, strict=True):
        hidden = quantifier.get_params(deep=False).keys() & {"classifier", "random_state"}
        words = repr(clone(quantifier).set_params(**dict.fromkeys(hidden))).replace("classifier=None, ", "")
        names.append(name if classes.count(name) == 1 else words)
    return names


def _separation(quantifier: Quantifier) -> float | None:
    """Return how well a method's profiles of the classes are told apart; None where they are not shares of the classes."""
    profiled = isinstance(quantifier, SumsQuantifier) and quantifier.uses_validation
    if not profiled or not quantifier.representation.sums_to_one:
        return None
    return separation_of(quantifier.M_)
