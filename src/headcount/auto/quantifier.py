"""`AutoQuantifier`: try the methods and learners that suit the data, each optimised for the error of shares; keep the best."""

import time
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import joblib
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
from headcount.auto.learners import LEARNERS, Learner, features_for, kind_of, learner_named
from headcount.auto.pools import POOLS, drawn_again
from headcount.auto.ranking import Tried, ranked
from headcount.auto.reference import held_out_scores
from headcount.checks.report import separation_of
from headcount.errors import get_error, minority_class
from headcount.exceptions import DataError, SearchError
from headcount.learners import VALIDATION_CONSTRAINTS, Fits, Outputs, validation_parts
from headcount.learners.fit_params import cut_fit_params
from headcount.learners.folds_besides import FoldsBesides
from headcount.protocols import Protocol, default_protocol
from headcount.quantifiers import Quantifier, SumsQuantifier, list_methods, method_named
from headcount.selection.candidates import Candidate, group
from headcount.selection.chosen import ChosenQuantifier
from headcount.selection.progress import Progress, run_all
from headcount.selection.tasks import Fold, Outcome, judge

if TYPE_CHECKING:
    pass

__all__ = ["AutoQuantifier"]

_REFIT_SHARE = 0.2
"""Share of the budget that is kept for fitting the best again."""
_FRACTION_WHILE_CHOOSING = 0.4
"""Validation part of the candidates: one fit for each setting. Five folds would make the choice take five times as long."""
_FEW_ITEMS = 500
"""With fewer items no learner is chosen: methods over the first setting of the first one are compared."""
_MAX_REFITS, _MIN_SEPARATION = 8, 0.05
"""How many of the best are fitted until one separates the classes, and by how much it must."""


@dataclass(eq=False, repr=False)
class AutoQuantifier(ChosenQuantifier):
    """Choose method, learner and settings by the error of the shares under artificial prevalence.

    The labelled items are split, stratified, into a part to fit on and a part to judge on. From the latter samples of all kinds of
    shares are drawn, the same for all, and the method over the learner with the least mean absolute error on them is fitted again
    on all items. The items that judged it then train and do not validate: its error rates, and so its intervals, come from the
    others, in folds (`FoldsBesides`), because the best of many looks better on the items that chose it than it is. Methods over one
    setting of a learner share its fits. Features (`TermWeights` for texts, scaling for numbers) are learnt once for the choice, and
    again, on the training part of the kept quantifier alone, for the answer.

    With fewer than 500 items only methods over logistic regression are compared, unless learners are named, and all items validate:
    the best of many learners would be luck, and the items that the choice costs are missed more.

    Parameters
    ----------
    methods : list of str or quantifiers, optional
        By default those that the catalogue suggests: CC, PCC, PACC and SLD (calibrated).
    learners : list of str, optional
        Of "lr", "nb", "forest", "svm"; by default those that suit the kind and number of items.
    budget : float, optional
        Seconds. Settings that were not begun by then are skipped and listed in ``skipped_``; one setting is always tried.
    intervals : bool, default=True
        Keep only a method that has an interval (such as ACC, PACC and calibrated SLD), though another may rank before it.
    test_size : float, default=0.4
        Fraction of the items to judge on.
    validation : float, int or splitter, default=5
        How the kept method's validation items, those that did not judge it, are split: a number of folds, a fraction to hold out,
        or a splitter. While choosing, methods hold out this fraction, or 0.4 where folds are given, so that each setting is
        fitted once.
    protocol : protocol, optional
        By default artificial prevalences for two classes, uniform ones for more; samples of up to 200 items.
    held_out : float, default=0.2
        Fraction of the items that methods without a validation part, such as CC and PCC, keep aside to check later items with;
        0 for none. They are not among the items that judged the method.
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
        A row for each method and learner in its best setting, best first: whether it was ``kept``; ``ae`` with its standard error,
        how far it is ``behind`` the best, and ``p_best``, how often it would be the best with other samples of other held-out
        items.
    skipped_ : list of dict
        What was not tried, or failed, with the reason.
    held_out_ : pair of Outputs and codes, or None
        Posteriors and classes of labelled items that the classifier of the chosen one was not trained on.
    kind_ : {"text", "numbers", "embeddings"}
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
    test_size: float = 0.4
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
        "test_size": [Interval(Real, 0, 1, closed="neither")],
        "validation": VALIDATION_CONSTRAINTS,
        "protocol": [HasMethods("draw"), None],
        "held_out": [Interval(Real, 0, 1, closed="left")],
        "n_jobs": [Integral, None],
        "random_state": "no_validation",
        "progress": ["boolean", StrOptions({"auto"})],
    }

    def fit(self, X: Items, y: Labels, **fit_params: Any) -> Self:
        """Try what suits these labelled items, and fit the best again on all of them.

        Parameters
        ----------
        X : texts, or a matrix, sparse matrix or data frame of numbers
        y : labels of shape (n_items,)
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
        sequence = seed_sequence(self.random_state)
        seed = self._seed = int(sequence.generate_state(1)[0])
        self._chooses = len(codes) >= _FEW_ITEMS or self.learners is not None
        candidates = self._candidates(len(codes), seed)
        fold = self._fold(X, labels, codes, seed, fit_params)
        deadline = np.inf if self.budget is None else start + (1.0 - _REFIT_SHARE) * self.budget
        groups = group(candidates)
        # One group is tried whatever the time: the first with a candidate that may be kept.
        first = next(
            i for i, part in enumerate(groups) if not self.intervals or any(c.quantifier.has_interval for c in part)
        )
        jobs = [
            joblib.delayed(_judge_in_time)(part, fold, np.inf if i == first else deadline)
            for i, part in enumerate(groups)
        ]
        outcomes = [outcome for part in run_all(jobs, self.n_jobs, "Trying methods", self.progress) for outcome in part]
        tried, keep = self._tried(candidates, outcomes)
        self.ranking_ = ranked(tried, fold.true, sequence.spawn(1)[0])
        end = np.inf if self.budget is None else start + self.budget
        self.best_estimator_, self.held_out_ = self._refit_best(keep, X, labels, end, fit_params)
        kept = (self.ranking_["method"] == self._kept.method) & (self.ranking_["learner"] == self._kept.learner)
        self.ranking_.insert(1, "kept", kept)
        return self

    def _candidates(self, n_items: int, seed: int) -> list[Candidate]:
        """List each method over each setting of each learner; the first setting of each learner comes before any second one.

        So a short budget is spent on all learners.
        """
        methods = self._methods(seed)
        names = _method_names(methods)
        candidates: list[Candidate] = []
        settings = [(learner, learner.settings(seed)) for learner in self._learners(n_items)]
        for turn in range(max(len(classifiers) for _, classifiers in settings)):
            for learner, classifiers in settings:
                if turn >= len(classifiers):
                    continue
                params = {key: classifiers[turn].get_params()[key] for key in learner.grid}
                for position, method in enumerate(methods):
                    quantifier = clone(method).set_params(classifier=classifiers[turn])
                    index = len(candidates)
                    candidates.append(
                        Candidate(
                            names[position], learner.name, params, quantifier=quantifier, index=index, position=position
                        )
                    )
        return candidates

    def _methods(self, seed: int) -> list[Quantifier]:
        named = _suggested_methods() if self.methods is None else self.methods
        methods: list[Quantifier] = []
        self._given: list[int] = []
        for i, method in enumerate(named):
            one = clone(method) if isinstance(method, Quantifier) else _quantifier_named(method)
            if one.max_classes is not None and len(self.classes_) > one.max_classes:
                reason = f"defined for {one.max_classes} classes, not {len(self.classes_)}"
                self.skipped_.append({"method": type(one).__name__, "reason": reason})
                continue
            params = one.get_params(deep=False)
            if "validation" in params and not isinstance(method, Quantifier):
                one.set_params(
                    validation=self.validation if _is_fraction(self.validation) else _FRACTION_WHILE_CHOOSING
                )
            if "random_state" in params and params["random_state"] is None:
                one.set_params(random_state=seed)
            if self.classes is not None:
                one.set_params(classes=self.classes)
            methods.append(one)
            self._given.append(i)
        if not methods:
            raise DataError(
                f"There is no method left to try of {quoted(map(str, named), 10)} for {len(self.classes_)} classes."
            )
        if self.intervals and not any(one.has_interval for one in methods):
            raise DataError(
                f"None of the methods {quoted([type(one).__name__ for one in methods], 10)} has an interval: add ACC, PACC or "
                "SLD, or pass intervals=False."
            )
        return methods

    def _learners(self, n_items: int) -> list[Learner]:
        if self.learners is not None:
            if not self.learners:
                raise DataError("learners is empty: name at least one, or leave it out.")
            return [learner_named(str(name)) for name in self.learners]
        if not self._chooses:
            self.skipped_ += [
                {
                    "learner": learner.name,
                    "reason": f"not tried on fewer than {_FEW_ITEMS} items, where the best of many is luck",
                }
                for learner in LEARNERS[1:]
            ]
            return [LEARNERS[0].first_setting()]
        reasons = {learner.name: learner.unsuited(self.kind_, n_items) for learner in LEARNERS}
        self.skipped_ += [{"learner": name, "reason": reason} for name, reason in reasons.items() if reason]
        return [learner for learner in LEARNERS if not reasons[learner.name]]

    def _fold(self, X: Items, labels: AnyArray, codes: IntArray, seed: int, fit_params: dict[str, Any]) -> Fold:
        train, held_out = next(validation_parts(float(self.test_size), codes, seed, "test_size"))
        features = features_for(self.kind_, X, len(codes))
        fitted = features.fit_transform(_safe_indexing(X, train))
        judged = features.transform(_safe_indexing(X, held_out))
        size = int(np.clip(len(held_out) // 2, 50, 200))
        protocol = self.protocol
        if protocol is None:
            protocol = default_protocol(
                len(self.classes_), repeats=25, sample_size=size, random_state=seed, n_samples=500
            )
        samples, true = protocol.draw(labels[held_out], self.classes_)
        fits = Fits(fitted, labels[train], remember=True, fit_params=cut_fit_params(fit_params, X, train))
        again = drawn_again(samples, true, codes[held_out], np.random.default_rng(seed))
        return Fold(fits, judged, labels[held_out], samples, true, self.classes_, minority_class(labels), again)

    def _tried(
        self, candidates: Sequence[Candidate], outcomes: Sequence[Outcome]
    ) -> tuple[list[Tried], list[Candidate]]:
        """Return the best setting of each method over each learner, and the candidates that may be kept, the best first."""
        by_index = {outcome.index: outcome for outcome in outcomes}
        settings: dict[tuple[str, str], list[Candidate]] = {}
        for candidate in candidates:
            error = by_index[candidate.index].error
            if error:
                about = {"method": candidate.method, "learner": candidate.learner, "settings": candidate.params}
                self.skipped_.append({**about, "reason": error})
            else:
                settings.setdefault((candidate.method, candidate.learner), []).append(candidate)
        tried, keep = [], []
        for (method, learner), group_candidates in settings.items():
            results = [by_index[candidate.index] for candidate in group_candidates]
            best, result = min(zip(group_candidates, results, strict=True), key=lambda pair: pair[1].scores["ae"])
            seconds = sum(one.fit_seconds + one.score_seconds for one in results)
            interval = best.quantifier.has_interval
            pools = result.again["ae"].reshape(POOLS, -1)
            tried.append(
                Tried(method, learner, best.params, result.errors["ae"], interval, seconds, len(results), pools)
            )
            if interval or not self.intervals:
                keep.append(best)
        if not keep:
            first = self.skipped_[0]["reason"] if self.skipped_ else "nothing could be tried"
            raise SearchError(f"No method with an interval could be fitted; the first reason: {first}")
        return tried, sorted(keep, key=lambda candidate: by_index[candidate.index].scores["ae"])

    def _refit_best(
        self, keep: Sequence[Candidate], X: Items, labels: AnyArray, end: float, fit_params: dict[str, Any]
    ) -> tuple[Quantifier, tuple[Outputs, IntArray] | None]:
        """Refit the best; one that does not separate some classes, so that its intervals would be too wide, yields to the next."""
        first: tuple[Quantifier, tuple[Outputs, IntArray] | None] | None = None
        for candidate in keep[:_MAX_REFITS]:
            if first is not None and time.monotonic() > end:
                break
            fitted = self._refitted(candidate, X, labels, fit_params)
            if first is None:
                first, self._kept = fitted, candidate
            separation = _separation(fitted[0])
            if separation is None or separation >= _MIN_SEPARATION:
                self._kept = candidate
                return fitted
            reason = "it hardly tells some classes apart, so its intervals would be too wide to be of use"
            self.skipped_.append({"method": candidate.method, "settings": candidate.params, "reason": reason})
        if first is None:
            raise SearchError("No method could be fitted.")
        return first

    def _refitted(
        self, best: Candidate, X: Items, labels: AnyArray, fit_params: dict[str, Any]
    ) -> tuple[Quantifier, tuple[Outputs, IntArray] | None]:
        """Fit on all items except those kept aside to check later ones with; return these with their posteriors."""
        features = features_for(self.kind_, X, len(labels))
        inner: Any = best.quantifier
        classifier = Pipeline([("features", features), ("classifier", clone(inner.classifier))])
        new: Quantifier = clone(best.quantifier).set_params(classifier=classifier)
        codes = encode(labels, self.classes_)
        params = {f"classifier__{name}": value for name, value in fit_params.items()}  # of the pipeline's last step
        splitter = self._splitter(best)
        validation: Any = splitter if self._chooses else splitter.validation
        aside = self.held_out > 0 and not new.uses_validation and hasattr(classifier, "predict_proba")
        if not aside:
            if new.uses_validation:
                new.set_params(validation=validation)
            with one_blas_thread():
                fitted: Quantifier = new.fit(X, labels, **params)
            return fitted, held_out_scores(fitted)
        rows, kept = next(
            replace(splitter, validation=min(self.held_out / (1.0 - self.test_size), 0.5)).split(X, codes)
        )
        with one_blas_thread():
            fitted = new.fit(_safe_indexing(X, rows), labels[rows], **cut_fit_params(params, X, rows))
        return fitted, (fitted.outputs(_safe_indexing(X, kept), {"posteriors"}), codes[kept])

    def _splitter(self, best: Candidate) -> FoldsBesides:
        """Return the split of the items that did not judge the candidates; a quantifier that was given has its own validation."""
        given = None if self.methods is None else self.methods[self._given[best.position]]
        validation = given.get_params(deep=False).get("validation") if isinstance(given, Quantifier) else None
        return FoldsBesides(float(self.test_size), self.validation if validation is None else validation, self._seed)

    def _best(self) -> Quantifier:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        return tags


def _judge_in_time(candidates: Sequence[Candidate], fold: Fold, deadline: float) -> list[Outcome]:
    """Judge a group of candidates that share fits, unless the time is up."""
    if time.monotonic() > deadline:
        return [Outcome(candidate.index, error="the time budget was spent") for candidate in candidates]
    return judge(candidates, fold, [get_error("ae")])


def _is_fraction(validation: Any) -> bool:
    return isinstance(validation, Real) and not isinstance(validation, Integral)


def _suggested_methods() -> list[str]:
    return [method.name for method in list_methods() if method.suggested]


def _quantifier_named(name: Any) -> Quantifier:
    method = method_named(str(name))
    quantifier = method.for_tables()
    if method.brings_learner or "classifier" not in quantifier.get_params(deep=False):
        raise DataError(
            f"{method.name} can't be tried here, since it brings its own learner or none: choose one of "
            f"{quoted(_suggested_methods(), 10)}, or a method of your own over a classifier."
        )
    return quantifier


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
