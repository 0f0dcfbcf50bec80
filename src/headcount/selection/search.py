"""`QuantifierSearch`: try settings of quantifiers, score each by the error of its estimates on drawn samples, refit the best."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import joblib
import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted, validate_data

from headcount._typing import AnyArray, FloatArray, IntArray, Items, Labels, RandomState
from headcount._validation import (
    HasMethods,
    StrOptions,
    encode,
    labelled_items,
    learn_classes,
    quoted,
    seed_sequence,
)
from headcount.errors import ErrorMeasure, check_order, minority_class
from headcount.exceptions import DataError, SearchError, SearchWarning
from headcount.learners import VALIDATION_CONSTRAINTS, FitCache, Fits, validation_parts
from headcount.learners.fit_params import cut_fit_params
from headcount.protocols import Protocol, default_protocol
from headcount.quantifiers import Quantifier
from headcount.selection.candidates import Candidate, expand, group
from headcount.selection.chosen import ChosenQuantifier
from headcount.selection.progress import Progress, run_all
from headcount.selection.results import as_frame, collect
from headcount.selection.scoring import Scoring, measures_of
from headcount.selection.tasks import Fold, fit_through, judge

if TYPE_CHECKING:
    pass

__all__ = ["QuantifierSearch"]


@dataclass(eq=False, repr=False)
class QuantifierSearch(ChosenQuantifier):
    """Choose a quantifier's settings by the error of the shares that it estimates under a protocol.

    The labelled data is split, stratified, into a part to fit on and a part to judge on. From the latter the protocol draws
    samples, the same for all candidates, and the candidate with the least mean error on them is fitted again on all data. Each
    setting of a classifier is fitted once on each part of the data that it is needed for, however many quantifiers and scorings
    use it.

    Parameters
    ----------
    quantifier : quantifier, or a list of them
        With a list, the search is over all of them together and they share their fits.
    grid : dict of str to list, or a list of such dicts
        Settings to try, as in scikit-learn: ``classifier__C`` is the parameter C of the classifier. A key that only some
        quantifiers of a list have applies to those.
    scoring : str, ErrorMeasure, callable, or a list of these, default="ae"
        Error measures by name (`headcount.errors`), as objects, or as functions ``(true, estimated) -> errors`` of shares, which
        are known by their ``__name__``. Measures of shares are taken on the samples, measures of decisions (``"accuracy"``,
        ``"f1"`` of the minority class) on the items of the second part.
    refit : bool or str, default=True
        Name of the scoring that decides; True means the first. False: nothing is fitted again, and there is no
        ``best_estimator_``.
    refit_each : bool, default=False
        Fit again the best of each quantifier of a list, not only the best of all: ``best_estimators_``.
    protocol : protocol, default=None
        None means ``ArtificialPrevalence(21, repeats=10, sample_size=500)`` for two classes and
        ``UniformPrevalence(1000, sample_size=500)`` for more, seeded by ``random_state``.
    test_size : float, int or splitter, default=0.4
        Fraction of the data to judge on; or a number of folds or a splitter, and the mean over them counts.
    memory : str, Path or FitCache, default=None
        Where to keep fits for later searches: a folder, or an object that holds them in memory.
    n_jobs : int, default=None
        Jobs at a time, in threads unless ``joblib.parallel_config`` says otherwise. The scores are the same for any number.
    random_state : int, RandomState, Generator or None, default=None
        For the split, for the default protocol, and for quantifiers without a seed: all of them then split alike.
    progress : bool or "auto", default="auto"
        Whether to show a progress bar; "auto" does so in a terminal.

    Attributes
    ----------
    results_ : pandas.DataFrame
        One row for each candidate: quantifier, parameters, scores, rank by the deciding score (equal scores share the mean of
        their ranks), seconds, whether all fits of its classifier ``converged``, warnings, error.
    best_index_ : int
        The row of the best candidate; of equal ones, the first.
    best_params_ : dict
    best_score_ : float
    best_estimator_ : quantifier
        The best candidate, fitted on all data.
    best_estimators_ : list of quantifiers
        The best candidate of each quantifier, fitted on all data, if ``refit_each``; None where all its candidates failed.
    classes_ : array of shape (n_classes,)

    References
    ----------
    Moreo and Sebastiani (2021). Re-assessing the "classify and count" quantification method. ECIR.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from headcount import CC, PACC
    >>> X, y = make_classification(2000, flip_y=0.1, weights=[0.2], random_state=0)
    >>> search = QuantifierSearch(
    ...     [CC(LogisticRegression()), PACC(LogisticRegression())],
    ...     {"classifier__C": [0.01, 1.0], "classifier__class_weight": [None, "balanced"]},
    ...     scoring="ae", random_state=0,
    ... ).fit(X, y)
    >>> type(search.best_estimator_).__name__, len(search.results_)
    ('PACC', 8)
    """

    quantifier: Any
    grid: Any
    _: KW_ONLY
    scoring: Scoring | Sequence[Scoring] = "ae"
    refit: bool | str = True
    refit_each: bool = False
    protocol: Protocol | None = None
    test_size: Any = 0.4
    memory: Any = None
    n_jobs: int | None = None
    random_state: RandomState = None
    progress: Progress = "auto"

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "quantifier": [HasMethods(["fit", "aggregate"]), list, tuple],
        "grid": [dict, list],
        "scoring": [str, list, tuple, callable],
        "refit": ["boolean", str],
        "refit_each": ["boolean"],
        "protocol": [HasMethods("draw"), None],
        "test_size": VALIDATION_CONSTRAINTS,
        "memory": [str, Path, FitCache, None],
        "n_jobs": [Integral, None],
        "random_state": "no_validation",
        "progress": ["boolean", StrOptions({"auto"})],
    }

    def fit(self, X: Items, y: Labels, **fit_params: Any) -> Self:
        """Try all settings, and fit the best again on all data.

        Parameters
        ----------
        X : array, sparse matrix, data frame or list of texts, whatever the classifiers take
        y : labels of shape (n_items,)
        **fit_params
            Passed to the classifiers' ``fit``, such as ``sample_weight``.
        """
        self._validate_params()
        quantifiers, measures = self._quantifiers(), measures_of(self.scoring)
        deciding = self._deciding(measures)
        X, labels = labelled_items(X, y)
        validate_data(self, X, skip_check_array=True)
        for name in ("best_estimator_", "best_estimators_"):
            self.__dict__.pop(name, None)
        self.classes_, codes = _classes_of(quantifiers, labels)
        for measure in measures:
            check_order(measure, self.classes_, any(quantifier.classes is not None for quantifier in quantifiers))
        params = quantifiers[0]._routed(fit_params) if fit_params else {}
        seed = int(seed_sequence(self.random_state).generate_state(1)[0])
        cache = self.memory if isinstance(self.memory, FitCache) else FitCache(self.memory) if self.memory else None
        candidates = expand(quantifiers, self.grid, seed)
        groups = group(candidates)
        folds = list(self._folds(X, labels, codes, seed, cache, params))
        jobs = [joblib.delayed(judge)(group, fold, measures) for fold in folds for group in groups]
        outcomes = collect(run_all(jobs, self.n_jobs, "Searching", self.progress), len(candidates))
        self.results_ = as_frame(candidates, outcomes, measures, deciding)
        self._report_failures(outcomes)
        ranks = self.results_["rank"].to_numpy()
        self.best_index_ = int(np.nanargmin(ranks))
        self.best_params_ = candidates[self.best_index_].params
        self.best_score_ = float(self.results_[deciding.name].to_numpy()[self.best_index_])
        if self.refit is not False:
            self._refit(candidates, ranks, Fits(X, labels, cache, remember=True, fit_params=params))
        return self

    def _quantifiers(self) -> list[Quantifier]:
        quantifiers = list(self.quantifier) if isinstance(self.quantifier, list | tuple) else [self.quantifier]
        if not quantifiers or not all(isinstance(q, Quantifier) for q in quantifiers):
            raise DataError(f"Expected a quantifier or a list of them to search over, got {self.quantifier!r}.")
        return quantifiers

    def _deciding(self, measures: Sequence[ErrorMeasure]) -> ErrorMeasure:
        """Return the measure that the best candidate is chosen by."""
        for measure in measures:
            if isinstance(self.refit, bool) or self.refit == measure.name:
                return measure
        names = [measure.name for measure in measures]
        raise DataError(f"refit={self.refit!r} must be one of the scorings ({quoted(names)}).")

    def _folds(
        self,
        X: Items,
        labels: AnyArray,
        codes: IntArray,
        seed: int,
        cache: FitCache | None,
        fit_params: dict[str, Any],
    ) -> Iterator[Fold]:
        protocol = self.protocol
        if protocol is None:
            protocol = default_protocol(
                len(self.classes_), repeats=10, sample_size=500, random_state=seed, n_samples=1000
            )
        split_seed = self.random_state if isinstance(self.random_state, int | np.integer) else seed
        for train, held_out in validation_parts(self.test_size, codes, split_seed, "test_size"):
            samples, true = protocol.draw(labels[held_out], self.classes_)
            params = cut_fit_params(fit_params, X, train)
            fits = Fits(_safe_indexing(X, train), labels[train], cache, remember=True, fit_params=params)
            X_held_out, y_held_out = _safe_indexing(X, held_out), labels[held_out]
            yield Fold(fits, X_held_out, y_held_out, samples, true, self.classes_, minority_class(labels))

    def _report_failures(self, outcomes: Sequence[Any]) -> None:
        failed = [outcome for outcome in outcomes if outcome.error]
        if not failed:
            return
        first = f"the first: candidate {failed[0].index}, {failed[0].error}"
        if len(failed) == len(outcomes):
            raise SearchError(f"All {len(outcomes)} candidates of the search failed; {first}")
        warnings.warn(
            f"{len(failed)} of {len(outcomes)} candidates of the search failed and can't be chosen; {first}. "
            "See the column 'error' of results_.",
            SearchWarning,
            stacklevel=3,
        )

    def _refit(self, candidates: Sequence[Candidate], ranks: FloatArray, fits: Fits) -> None:
        """Fit the best of all candidates, or the best of each quantifier, again on all data."""
        best = candidates[self.best_index_]
        winners = {best.position: best}
        if self.refit_each:
            worst_first = [candidates[i] for i in np.argsort(ranks, kind="stable")[::-1] if np.isfinite(ranks[i])]
            winners = {candidate.position: candidate for candidate in worst_first}  # the best comes last and is kept
        jobs = [joblib.delayed(_fit_all)(group, fits) for group in group(list(winners.values()))]
        fitted = {index: q for part in run_all(jobs, self.n_jobs, "Refitting", self.progress) for index, q in part}
        self.best_estimator_ = fitted[best.index]
        if self.refit_each:
            last = max(candidate.position for candidate in candidates)
            self.best_estimators_ = [fitted.get(winners[i].index) if i in winners else None for i in range(last + 1)]
        self.classes_ = self.best_estimator_.classes_

    def _best(self) -> Quantifier:
        check_is_fitted(self, "results_")
        if not hasattr(self, "best_estimator_"):
            raise DataError("The search was run with refit=False, so there is no fitted quantifier: pass refit=True.")
        return self.best_estimator_


def _classes_of(quantifiers: Sequence[Quantifier], labels: AnyArray) -> tuple[AnyArray, IntArray]:
    """Return the classes, in the order that a quantifier or a frozen classifier has, and the labels as positions among them."""
    for quantifier in quantifiers:
        if quantifier.classes is not None:
            return learn_classes(labels, classes=quantifier.classes)
        classifier = getattr(quantifier, "classifier", None)
        if isinstance(classifier, FrozenEstimator) and hasattr(classifier, "classes_"):
            return classifier.classes_, encode(labels, classifier.classes_)
    return learn_classes(labels)


def _fit_all(candidates: Sequence[Candidate], fits: Fits) -> list[tuple[int, Quantifier]]:
    """Fit the candidates of one group on all data; a classifier that they share is fitted once."""
    scope = fits.scope()
    return [(candidate.index, fit_through(candidate.quantifier, scope)) for candidate in candidates]
