"""`AutoQuantifier`: try the methods and learners that suit the data, each optimised for the error of shares, keep the best."""

import time
from collections.abc import Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Self

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
from headcount.protocols import ArtificialPrevalence, Protocol, UniformPrevalence
from headcount.quantifiers import Quantifier, SumsQuantifier, list_methods, method_named
from headcount.selection.candidates import Candidate, group
from headcount.selection.chosen import ChosenQuantifier
from headcount.selection.progress import Progress, run_all
from headcount.selection.tasks import Fold, Outcome, judge

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["AutoQuantifier"]

_MIN_ITEMS_OF_A_CLASS = 5
"""Labelled items of each class that are needed to train, to validate and to judge."""
_REFIT_SHARE = 0.2
"""Share of the budget that is kept for fitting the best again."""
_MAX_REFITS, _MIN_SEPARATION = 8, 0.05
"""How many of the best are fitted until one separates the classes, and by how much it must."""


class AutoQuantifier(ChosenQuantifier):
    """Choose method, learner and settings by the error of the shares under artificial prevalence.

    The labelled items are split, stratified, into a part to fit on and a part to judge on. From the latter samples of all kinds of
    shares are drawn, the same for all, and the method over the learner with the least mean absolute error on them is fitted again
    on all items. Methods over one setting of a learner share its fits. Features (`LogTfidf` for texts, scaling for numbers) are
    learnt once for the choice, and again, on the training part of the kept quantifier alone, for the answer.

    Parameters
    ----------
    methods : list of str or quantifiers, optional
        By default CC, PCC, ACC, PACC, SLD (calibrated) and, for two classes, HDy.
    learners : list of str, optional
        Of "lr", "nb", "forest", "svm"; by default those that suit the kind and number of items.
    budget : float, optional
        Seconds. What was not begun by then is skipped, and listed in ``skipped_``; one setting is always tried.
    intervals : bool, default=True
        Keep the best method that has an interval (ACC, PACC, SLD), though another may rank before it.
    test_size : float, default=0.4
        Fraction of the items to judge on.
    validation : float, int or splitter, default=0.4
        The validation part of the methods that have one.
    protocol : protocol, optional
        By default artificial prevalences for two classes, uniform ones for more; samples of up to 500 items.
    held_out : float, default=0.2
        Fraction of the items that CC and PCC, which have no validation part, leave aside, to check later items by; 0 for none.
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
        A row for each method and learner in its best setting, best first: ``ae`` with its standard error, how far it is ``behind``
        the best, and ``p_best``, how often it would be the best with other samples of other held-out items.
    skipped_ : list of dict
        What was not tried, or failed, and why.
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

    best_estimator_: Quantifier
    ranking_: "pd.DataFrame"
    skipped_: list[dict[str, Any]]
    held_out_: tuple[Outputs, IntArray] | None

    _parameter_constraints: dict[str, Any] = {  # noqa: RUF012
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

    def __init__(
        self,
        methods: Sequence[Any] | None = None,
        learners: Sequence[str] | None = None,
        *,
        budget: float | None = None,
        intervals: bool = True,
        test_size: float = 0.4,
        validation: Any = 0.4,
        protocol: Protocol | None = None,
        held_out: float = 0.2,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        progress: Progress = "auto",
        classes: Any = None,
    ) -> None:
        self.methods = methods
        self.learners = learners
        self.budget = budget
        self.intervals = intervals
        self.test_size = test_size
        self.validation = validation
        self.protocol = protocol
        self.held_out = held_out
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress
        self.classes = classes

    def fit(self, X: Items, y: Labels) -> Self:
        """Try what suits these labelled items, and fit the best again on all of them.

        Parameters
        ----------
        X : texts, or a matrix, sparse matrix or data frame of numbers
        y : labels of shape (n_items,)
        """
        start = time.monotonic()
        self._validate_params()
        X, labels = labelled_items(X, y)
        validate_data(self, X, skip_check_array=True)
        self.classes_, codes = learn_classes(labels, classes=self.classes)
        check_class_counts(self.classes_, codes, _MIN_ITEMS_OF_A_CLASS)
        self.kind_, self.skipped_ = kind_of(X), []
        sequence = seed_sequence(self.random_state)
        seed = self._seed = int(sequence.generate_state(1)[0])
        candidates, learner_of = self._candidates(len(codes), seed)
        fold = self._fold(X, labels, codes, seed)
        deadline = np.inf if self.budget is None else start + (1.0 - _REFIT_SHARE) * self.budget
        groups = group(candidates)
        # One group is tried whatever the time: the first that holds something to be kept.
        first = next(
            i for i, own in enumerate(groups) if not self.intervals or any(c.quantifier.has_interval for c in own)
        )
        jobs = [
            joblib.delayed(_judge_in_time)(own, fold, np.inf if i == first else deadline)
            for i, own in enumerate(groups)
        ]
        outcomes = [outcome for part in run_all(jobs, self.n_jobs, "Trying methods", self.progress) for outcome in part]
        tried, keep = self._tried(candidates, learner_of, outcomes)
        self.ranking_ = ranked(tried, fold.true, sequence.spawn(1)[0])
        end = np.inf if self.budget is None else start + self.budget
        self.best_estimator_, self.held_out_ = self._telling_apart(keep, X, labels, end)
        return self

    # ------------------------------------------------------------------------------------------ what is tried

    def _candidates(self, n_items: int, seed: int) -> tuple[list[Candidate], dict[int, str]]:
        methods = self._methods(seed)
        candidates: list[Candidate] = []
        learner_of: dict[int, str] = {}
        settings = [(learner, list(learner.settings(seed))) for learner in self._learners(n_items)]
        # The first setting of each learner comes before the second of any: a short time is spent on all of them.
        for turn in range(max(len(own) for _, own in settings)):
            for learner, own in settings:
                if turn < len(own):
                    setting = {key: own[turn].get_params()[key] for key in learner.grid}
                    for position, method in enumerate(methods):
                        one = clone(method).set_params(classifier=own[turn])
                        learner_of[len(candidates)] = learner.name
                        candidates.append(Candidate(len(candidates), position, one, setting))
        return candidates, learner_of

    def _methods(self, seed: int) -> list[Quantifier]:
        named = _suggested_methods() if self.methods is None else self.methods
        found: list[Quantifier] = []
        for method in named:
            one = clone(method) if isinstance(method, Quantifier) else _quantifier_named(method)
            if one.max_classes is not None and len(self.classes_) > one.max_classes:
                reason = f"defined for {one.max_classes} classes, not {len(self.classes_)}"
                self.skipped_.append({"method": type(one).__name__, "reason": reason})
                continue
            params = one.get_params(deep=False)
            if "validation" in params and not isinstance(method, Quantifier):
                one.set_params(validation=self.validation)
            if "random_state" in params and params["random_state"] is None:
                one.set_params(random_state=seed)
            if self.classes is not None:
                one.set_params(classes=self.classes)
            found.append(one)
        if not found:
            raise DataError(
                f"There is no method left to try of {quoted(map(str, named), 10)} for {len(self.classes_)} classes."
            )
        if self.intervals and not any(one.has_interval for one in found):
            raise DataError(
                f"None of the methods {quoted([type(one).__name__ for one in found], 10)} has an interval: add ACC, PACC or SLD, "
                "or pass intervals=False."
            )
        return found

    def _learners(self, n_items: int) -> list[Learner]:
        if self.learners is not None:
            if not self.learners:
                raise DataError("learners is empty: name at least one, or leave it out.")
            return [learner_named(str(name)) for name in self.learners]
        reasons = {learner.name: learner.unsuited(self.kind_, n_items) for learner in LEARNERS}
        self.skipped_ += [{"learner": name, "reason": reason} for name, reason in reasons.items() if reason]
        return [learner for learner in LEARNERS if not reasons[learner.name]]

    def _fold(self, X: Items, labels: AnyArray, codes: IntArray, seed: int) -> Fold:
        train, held_out = next(validation_parts(float(self.test_size), codes, seed, "test_size"))
        features = features_for(self.kind_, X, len(codes))
        fitted = features.fit_transform(_safe_indexing(X, train))
        judged = features.transform(_safe_indexing(X, held_out))
        size = int(np.clip(len(held_out) // 2, 50, 500))
        protocol = self.protocol
        if protocol is None and len(self.classes_) == 2:
            protocol = ArtificialPrevalence(21, repeats=25, sample_size=size, random_state=seed)
        elif protocol is None:
            protocol = UniformPrevalence(500, sample_size=size, random_state=seed)
        samples, true = protocol.draw(labels[held_out], self.classes_)
        fits = Fits(fitted, labels[train], None, remember=True)
        again = drawn_again(samples, true, codes[held_out], np.random.default_rng(seed))
        return Fold(fits, judged, labels[held_out], samples, true, self.classes_, minority_class(labels), again)

    # ---------------------------------------------------------------------------------------- what came of it

    def _tried(
        self, candidates: Sequence[Candidate], learner_of: dict[int, str], outcomes: Sequence[Outcome]
    ) -> tuple[list[Tried], list[Candidate]]:
        """Return the best setting of each method over each learner, and the candidates that may be kept, the best first."""
        by_index = {outcome.index: outcome for outcome in outcomes}
        named = _names([own.quantifier for own in {c.position: c for c in candidates}.values()])
        found: dict[tuple[str, str], list[Candidate]] = {}
        for candidate in candidates:
            outcome = by_index[candidate.index]
            name, learner = named[candidate.position], learner_of[candidate.index]
            if outcome.error:
                about = {"method": name, "learner": learner, "settings": candidate.params}
                self.skipped_.append({**about, "reason": outcome.error})
            else:
                found.setdefault((name, learner), []).append(candidate)
        tried, keep = [], []
        for (name, learner), own in found.items():
            best = min(own, key=lambda c: by_index[c.index].scores["ae"])
            errors = by_index[best.index].errors["ae"]
            seconds = sum(by_index[c.index].fit_seconds + by_index[c.index].score_seconds for c in own)
            interval = best.quantifier.has_interval
            pools = by_index[best.index].again["ae"].reshape(POOLS, -1)
            tried.append(Tried(name, learner, best.params, errors, interval, seconds, len(own), pools))
            if interval or not self.intervals:
                keep.append(best)
        if not keep:
            first = self.skipped_[0]["reason"] if self.skipped_ else "nothing could be tried"
            raise SearchError(f"No method with an interval could be fitted; the first reason: {first}")
        return tried, sorted(keep, key=lambda c: by_index[c.index].scores["ae"])

    def _telling_apart(
        self, keep: Sequence[Candidate], X: Items, labels: AnyArray, end: float
    ) -> tuple[Quantifier, tuple[Outputs, IntArray] | None]:
        """Refit the best; one that does not tell some classes apart, and so would say nothing of them, gives way to the next."""
        first: tuple[Quantifier, tuple[Outputs, IntArray] | None] | None = None
        for candidate in keep[:_MAX_REFITS]:
            if first is not None and time.monotonic() > end:
                break
            fitted = self._refitted(candidate, X, labels)
            first = fitted if first is None else first
            apart = _separation(fitted[0])
            if apart is None or apart >= _MIN_SEPARATION:
                return fitted
            name = type(candidate.quantifier).__name__
            reason = (
                f"it does not tell some classes apart (separation {apart:.2f} of 1), so its intervals would be too wide"
            )
            self.skipped_.append({"method": name, "settings": candidate.params, "reason": reason})
        if first is None:
            raise SearchError("No method could be fitted.")
        return first

    def _refitted(
        self, best: Candidate, X: Items, labels: AnyArray
    ) -> tuple[Quantifier, tuple[Outputs, IntArray] | None]:
        """Fit on all items, but for those that are left aside to check later ones by; return these with their posteriors."""
        features = features_for(self.kind_, X, len(labels))
        inner: Any = best.quantifier
        classifier = Pipeline([("features", features), ("classifier", clone(inner.classifier))])
        new: Quantifier = clone(best.quantifier).set_params(classifier=classifier)
        codes = encode(labels, self.classes_)
        aside = self.held_out > 0 and not new.uses_validation and hasattr(classifier, "predict_proba")
        if not aside:
            with one_blas_thread():
                fitted: Quantifier = new.fit(X, labels)
            return fitted, held_out_scores(fitted, X, labels)
        rows, rest = next(validation_parts(float(self.held_out), codes, self._seed, "held_out"))
        with one_blas_thread():
            fitted = new.fit(_safe_indexing(X, rows), labels[rows])
        return fitted, (fitted.outputs(_safe_indexing(X, rest), {"posteriors"}), codes[rest])

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


def _names(quantifiers: Sequence[Quantifier]) -> list[str]:
    """Return the name of each method; of several of one class, with what was said of them."""
    classes = [type(one).__name__ for one in quantifiers]
    names = []
    for name, one in zip(classes, quantifiers, strict=True):
        own = one.get_params(deep=False).keys() & {"classifier", "random_state"}
        words = repr(clone(one).set_params(**dict.fromkeys(own))).replace("classifier=None, ", "")
        names.append(name if classes.count(name) == 1 else words)
    return names


def _separation(quantifier: Quantifier) -> float | None:
    """Return how well a method's profiles of the classes are told apart; None where they are not shares of the classes."""
    profiled = isinstance(quantifier, SumsQuantifier) and quantifier.uses_validation
    if not profiled or not quantifier.representation.sums_to_one:
        return None
    return separation_of(quantifier.M_)
