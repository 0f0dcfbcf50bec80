"""Fitting classifiers, each once: `Fits` over the rows of one labelled data set, `FitCache` across data sets and programs.

A fit is bit for bit what ``clone(classifier).fit(X[rows], y[rows])`` gives with one BLAS thread. No fit starts from another, unless
the classifier itself does so: `SVMperf` when it is given a path, and `NewtonLogisticRegression` and `NewtonLinearSVC`, which start
from solutions for smaller C. Fits that differ in C alone share these.
"""

import pickle
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing

from headcount._recording import recorded_warnings
from headcount._threads import one_blas_thread
from headcount._typing import AnyArray, IntArray, Items, RandomState
from headcount._version import __version__
from headcount.designs import SurveyDesign, check_design
from headcount.exceptions import DataError
from headcount.learners.fit_params import check_accepted, checked_fit_params, cut_fit_params
from headcount.learners.fold_classifiers import FoldClassifiers
from headcount.learners.forests import first_trees, size_of_forest
from headcount.learners.linear.solutions import Solutions, shared_solutions
from headcount.learners.outputs import Need, Outputs
from headcount.learners.paths import on_path, without_place
from headcount.learners.scoring import score
from headcount.learners.validation import Validation, validation_parts

__all__ = ["Fit", "FitCache", "Fits", "content_hash"]


class Fit(NamedTuple):
    """A fitted classifier, the seconds that fitting took, and its warnings."""

    classifier: Any
    seconds: float
    warnings: tuple[Warning, ...] = ()


def content_hash(value: Any) -> str:
    """Return a hash of the content; "" if it can't be hashed (a lambda, a class defined inside a function)."""
    try:
        return str(joblib.hash(value))
    except (pickle.PicklingError, AttributeError, TypeError):
        return ""


class FitCache:
    """Remembers fits by content: the classifier and its parameters, the items, the labels, the rows, the library versions.

    A classifier without a seed (``random_state=None``) is fitted once too, and all uses share that fit. A function or class of your
    own counts by its module and name, not by its code: empty the cache when you change one. Fits in memory are shared by the
    threads of one process only; processes share a folder.

    Parameters
    ----------
    location : str or Path, optional
        A folder to keep the fits in (by joblib's Memory, so as pickles: use only folders that you trust). By default they are
        kept in memory, as long as this object lives.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> cache = FitCache()
    >>> X, y = np.array([[0.0], [1.0]]), np.array([0, 1])
    >>> Fits(X, y, cache).fit(LogisticRegression()) is Fits(X, y, cache).fit(LogisticRegression())
    True
    """

    def __init__(self, location: str | Path | None = None) -> None:
        if location is not None:
            try:
                Path(location).mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise DataError(
                    f"Fits can't be kept in {location}: {error}. Name a folder that can be written to."
                ) from error
        self.location = location
        self._fits: dict[str, Any] = {}
        self._memory = None if location is None else joblib.Memory(location, verbose=0)

    def get(self, key: str, make: Callable[[], Any]) -> Any:
        """Return the fit of this key (or the fits of a path); ``make`` it if there is none."""
        if self._memory is None:
            if key not in self._fits:
                self._fits[key] = make()
            return self._fits[key]
        return self._memory.cache(_made, ignore=["make"])(key, make)

    def __deepcopy__(self, memo: Any) -> "FitCache":  # so that a clone of a search uses the same cache
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {"location": self.location}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]


# joblib's Memory files fits under this function's module, name and source: any change of them orphans the fits on disk.
def _made(key: str, make: Callable[[], Any]) -> Any:  # noqa: ARG001 (the key is what joblib's Memory goes by)
    return make()


class Fits:
    """Fits on rows of one labelled data set; the same classifier on the same rows is fitted once.

    Parameters
    ----------
    X, y : items and labels
    cache : FitCache, optional
        Searched before a classifier is fitted; new fits are added to it.
    remember : bool, default=False
        Whether to fit the same classifier on the same rows once, which takes the time to hash the classifier and the rows; and to
        score the same rows with it once.
    fit_params : mapping of str to value, optional
        Parameters for each classifier's ``fit``, such as ``sample_weight``. Arrays with one entry for each item are cut to the rows
        that are fitted.
    design : SurveyDesign, optional
        How the items were drawn; clusters stay together in splits.

    Attributes
    ----------
    seconds : float
        Time that the fits returned so far took, including those that were remembered; set it to 0 to start anew.
    not_converged : list of str
        The convergence warnings of the fits returned so far; clear it to start anew. Needs ``remember``.
    """

    def __init__(
        self,
        X: Items,
        y: AnyArray,
        cache: FitCache | None = None,
        remember: bool = False,
        fit_params: Mapping[str, Any] | None = None,
        design: SurveyDesign | None = None,
    ) -> None:
        if design is not None:
            check_design(design, len(y), "labelled items")
            if design.fractions is not None:
                raise DataError(
                    "The size of a population is of new items: labelled items stand for all items of their class, of which "
                    "there is no end. Omit population_size and population_clusters (--population-size) where the model is made."
                )
        self.design = design
        self.fit_params = checked_fit_params(fit_params, len(y))
        self.remember = remember or cache is not None
        self.X = X
        self.y = y
        # Without a hash of the parameters, fits of other parameters would be found.
        self.cache = cache if content_hash(self.fit_params) else None
        self.seconds = 0.0
        self.not_converged: list[str] = []
        self._solutions: Solutions = {}
        self._fingerprint: str | None = None
        self._splits: dict[str, list[tuple[IntArray, IntArray]]] = {}
        self._parts: dict[str, tuple[Items, AnyArray]] = {}
        self._fits: dict[tuple[str, str], Fit] = {}
        self._forests: dict[tuple[str, str], Fit] = {}
        self._paths: dict[tuple[str, str], dict[float, Fit]] = {}
        self._folds: dict[tuple[int, ...], FoldClassifiers] = {}
        self._scored: dict[tuple[Any, ...], tuple[Any, Outputs]] = {}
        self._others: dict[str, Fits] = {}

    def scope(self) -> "Fits":
        """Return fits over the same data, sharing splits and parts, that are forgotten with the returned object."""
        scope = Fits(self.X, self.y, self.cache, self.remember, self.fit_params, self.design)
        scope._parts, scope._splits = self._parts, self._splits
        scope._fingerprint = None if self.cache is None else self._data_hash()
        return scope

    def other(self, rows: IntArray | None = None, y: AnyArray | None = None) -> "Fits":
        """Return fits over some of the rows, or with other labels; where fits are remembered, the same ones for the same data."""
        key = joblib.hash((rows, y)) if self.remember else ""
        if key in self._others:
            return self._others[key]
        X = self.X.take(rows) if isinstance(self.X, Outputs) and rows is not None else self.part(rows)[0]
        labels = self.part(rows)[1] if y is None else y
        design = self.design if self.design is None or rows is None else self.design.random_part(rows)
        other = Fits(X, labels, self.cache, self.remember, cut_fit_params(self.fit_params, self.X, rows), design)
        if self.remember:
            self._others[key] = other
        return other

    def part(self, rows: IntArray | None) -> tuple[Items, AnyArray]:
        """Return the items and labels of these rows, cut out once."""
        if rows is None:
            return self.X, self.y
        key = joblib.hash(rows)
        if key not in self._parts:
            self._parts[key] = _safe_indexing(self.X, rows), self.y[rows]
        return self._parts[key]

    def splits(
        self, validation: Validation, codes: IntArray, random_state: RandomState
    ) -> list[tuple[IntArray, IntArray]]:
        """Split the rows as `validation_parts` does, once for the same integer seed."""
        clusters = None if self.design is None else self.design.clusters
        if not isinstance(random_state, int | np.integer):
            return list(validation_parts(validation, codes, random_state, clusters=clusters))
        key = joblib.hash((validation, random_state))
        if key not in self._splits:
            self._splits[key] = list(validation_parts(validation, codes, random_state, clusters=clusters))
        return self._splits[key]

    def fit(self, classifier: Any, rows: IntArray | None = None) -> Any:
        """Return a clone of the classifier, fitted on these rows (by default all)."""
        if self.fit_params:
            check_accepted(classifier, self.fit_params)
        classifier_hash = content_hash(classifier) if self.remember else ""
        if not classifier_hash:
            fit = self._fit_now(classifier, rows, nullcontext([]))  # which shows the warnings
        else:
            key = classifier_hash, "" if rows is None else joblib.hash(rows)
            if key not in self._fits:
                self._fits[key] = self._fit_once(classifier, rows, key)
            fit = self._fits[key]
            for warning in fit.warnings:
                warnings.warn(warning, stacklevel=2)
            self.not_converged += [str(one) for one in fit.warnings if isinstance(one, ConvergenceWarning)]
        self.seconds += fit.seconds
        return fit.classifier

    def fit_folds(self, classifiers: Sequence[Any], rows: Sequence[IntArray]) -> FoldClassifiers:
        """Return clones of the classifiers, each fitted on the rows of its fold; the same fits are one and the same object."""
        fitted = [self.fit(classifier, train) for classifier, train in zip(classifiers, rows, strict=True)]
        key = tuple(map(id, fitted))
        if not self.remember:
            return FoldClassifiers(fitted)
        return self._folds.setdefault(
            key, FoldClassifiers(fitted)
        )  # which keeps the classifiers, so that their ids stay taken

    def score(self, classifier: Any, rows: IntArray, needs: Collection[Need], classes: AnyArray) -> Outputs:
        """Return the outputs of a fitted classifier for these rows."""
        items = self.part(rows)[0]
        if not self.remember:
            return score(classifier, items, needs, classes)
        key = id(classifier), joblib.hash(rows), frozenset(needs), joblib.hash(classes)
        if key not in self._scored:  # the classifier is kept with its outputs, so that its id stays taken
            self._scored[key] = classifier, score(classifier, items, needs, classes)
        return self._scored[key][1]

    def _fit_once(self, classifier: Any, rows: IntArray | None, key: tuple[str, str]) -> Fit:
        """Return a fit from a path, a larger forest or the cache, else a new one."""
        if on_path(classifier):
            return self._fit_on_path(classifier, rows, key[1])
        size = size_of_forest(classifier)
        family = joblib.hash(clone(classifier).set_params(n_estimators=1)) if size else "", key[1]
        if size and family in self._forests and len(self._forests[family].classifier.estimators_) >= size:
            forest = self._forests[family]
            share = size / len(forest.classifier.estimators_)
            return Fit(first_trees(forest.classifier, classifier), forest.seconds * share, forest.warnings)
        # A fit that may have been interrupted is not kept for other programs.
        cache = None if getattr(classifier, "keep_when_interrupted", False) else self.cache
        fit: Fit = self._from_cache(cache, key, lambda: self._fit_now(classifier, rows, recorded_warnings()))
        if size:
            self._forests[family] = fit
        return fit

    def _fit_on_path(self, classifier: Any, rows: IntArray | None, rows_hash: str) -> Fit:
        """Return the fit of one value of a path, all of whose values are fitted when the first one is needed."""
        family = f"path {joblib.hash(without_place(classifier))}", rows_hash
        if family not in self._paths:
            self._paths[family] = self._from_cache(self.cache, family, lambda: self._fit_path(classifier, rows))
        return self._paths[family][float(classifier.C)]

    def _fit_path(self, classifier: Any, rows: IntArray | None) -> dict[float, Fit]:
        steps = clone(classifier).iter_path(*self.part(rows))
        fits: dict[float, Fit] = {}
        while (fit := _timed(lambda: next(steps, None), recorded_warnings())).classifier is not None:
            fits[fit.classifier.C] = fit
        return fits

    def _from_cache(self, cache: FitCache | None, key: tuple[str, str], make: Callable[[], Any]) -> Any:
        """Return the cache's value for a key of this data set; ``make`` it if there is none, or no cache."""
        if cache is None:
            return make()
        return cache.get(joblib.hash((*key, self._data_hash(), _versions())), make)

    def _data_hash(self) -> str:
        """Return a hash of items, labels and, if there are any, parameters for ``fit``."""
        if self._fingerprint is None:
            params = (self.fit_params,) if self.fit_params else ()
            self._fingerprint = joblib.hash((self.X, self.y, *params))
        return self._fingerprint

    def _fit_now(self, classifier: Any, rows: IntArray | None, recording: AbstractContextManager[list[Warning]]) -> Fit:
        X, y = self.part(rows)
        params = cut_fit_params(self.fit_params, self.X, rows)
        with shared_solutions(self._solutions) if self.remember else nullcontext():
            return _timed(lambda: clone(classifier).fit(X, y, **params), recording)


def _timed(make: Callable[[], Any], recording: AbstractContextManager[list[Warning]]) -> Fit:
    """Return the classifier that is made with one BLAS thread, the time it takes, and the warnings that are recorded."""
    start = perf_counter()
    with recording as caught, one_blas_thread():
        classifier = make()
    return Fit(classifier, perf_counter() - start, tuple(caught))


def _versions() -> tuple[str, ...]:
    import scipy
    import sklearn

    torch = version("torch") if find_spec("torch") is not None else ""
    return __version__, np.__version__, scipy.__version__, sklearn.__version__, torch
