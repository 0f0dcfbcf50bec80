"""`DensitiesQuantifier`: the family of methods that maximise the likelihood of a sample's items over the shares.

An item is a vector of densities f_j(x), one for each class, up to a factor that the classes share. The estimate maximises
sum_i log sum_j p_j f_j(x_i), which is concave in p.
"""

import warnings
from abc import abstractmethod
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from headcount._threads import in_chunks
from headcount._typing import FloatArray, IntArray
from headcount.exceptions import DataError
from headcount.learners import Fits, Need, Outputs
from headcount.protocols import Samples
from headcount.quantifiers.base import Quantifier
from headcount.quantifiers.classifiers import fit_validated
from headcount.quantifiers.folds import stacked
from headcount.quantifiers.statistics import SampleItems, require_items

__all__ = ["Convergence", "DensitiesQuantifier", "most_likely", "with_imaginary_items"]

_ITEMS_PER_CHUNK = 1 << 15
_PARTS = 10
"""Parts of the validation items, without which densities are learnt again for intervals."""


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


class DensitiesQuantifier(Quantifier):
    """Base of the methods that find the most likely shares from the densities of items under each class.

    A subclass writes ``densities`` and, where they are learnt, ``_learn_densities``. It adjusts for shift if the densities are
    right. The defaults below say how the maximum is searched for, and the weight of imaginary items (``smoothing``) that draw the
    shares towards theirs; a subclass may make them parameters.

    Attributes
    ----------
    validation_outputs_ : Outputs
        Of the validation items; with folds, each is scored by the one classifier that was not trained on it.
    validation_codes_ : array of int
        The classes of these items, as positions in ``classes_``.
    validation_folds_ : array of int
        The folds of these items; all 0 without folds.
    validation_items_ : items or None
        The validation items themselves; None if the quantifier was fitted on outputs.
    validation_repeats_ : int
        How often an item is validated at most; more than 1 for splitters that repeat themselves.
    """

    tol: float = 1e-6
    min_iter: int = 10
    max_iter: int = 1000
    smoothing: Any = 0.0
    validation_outputs_: Outputs
    validation_codes_: IntArray
    validation_folds_: IntArray
    validation_items_: Any
    validation_repeats_: int

    @property
    def has_interval(self) -> bool:
        """Whether validation items tell what the densities give in each class, so that the interval holds if they are wrong."""
        return self.uses_validation and self.is_most_likely and not self._is_refitted()

    @property
    def is_most_likely(self) -> bool:
        """Whether the estimate maximises the likelihood of the densities."""
        return self._is_inherited(DensitiesQuantifier, "reduce", "solve", "aggregate", "predict")

    @property
    def can_stream(self) -> bool:
        """Whether the estimate is made of the items' densities and of nothing else."""
        return self.is_most_likely

    @property
    def needs(self) -> frozenset[Need]:
        """What must be known of each item: its posteriors."""
        return frozenset({"posteriors"})

    @property
    def uses_validation(self) -> bool:
        """Whether the densities are learnt on validation items."""
        return True

    def _learn(self, fits: Fits, codes: IntArray) -> None:
        fit_validated(self, fits, codes)
        weights = self._validation_weights()
        if weights is None:
            self._learn_densities(self.validation_outputs_, self.validation_codes_)
        else:
            self._learn_weighted_densities(self.validation_outputs_, self.validation_codes_, weights)

    def _learn_weighted_densities(self, outputs: Outputs, codes: IntArray, weights: FloatArray) -> None:
        """Learn the density of each class from weighted validation items; of methods that declare ``takes_labelled_weights``."""
        raise NotImplementedError(f"{type(self).__name__} must write _learn_weighted_densities to take weights.")

    def _learn_densities(self, outputs: Outputs, codes: IntArray) -> None:
        """Learn the density of each class from validation items."""
        raise NotImplementedError(f"{type(self).__name__} must write _learn_densities, or override _learn.")

    @abstractmethod
    def densities(self, outputs: Outputs) -> FloatArray:
        """Return the densities of items under each class, up to a factor for each item: shape (n_items, n_classes)."""

    def starting_shares(self) -> FloatArray:
        """Return the shares at which the search for the maximum begins."""
        return np.full(len(self.classes_), 1.0 / len(self.classes_))

    def reduce(self, outputs: Outputs, samples: Any = None) -> SampleItems:
        """Keep the densities of each sample's items; with folds, K entries for each item, which count 1 / K."""
        outputs, samples = self._ready(outputs, samples)
        if outputs.folds is not None:
            samples = stacked(samples, len(outputs.folds), outputs.n_items)
            outputs = Outputs.concatenated(outputs.folds)
        F = np.ascontiguousarray(self.densities(outputs), dtype=np.float64)
        expected = outputs.n_items, len(self.classes_)
        totals = (
            F @ np.ones(expected[1]) if F.shape == expected else np.zeros(1)
        )  # a product: sums of short rows are slow
        if not (F.min() >= 0.0 and totals.min() > 0.0 and np.isfinite(totals.max())):
            raise DataError(
                f"The densities of {type(self).__name__} must be numbers that are not negative, one for each item and class, and "
                "not all 0 for an item."
            )
        return SampleItems(F, samples)

    def solve(self, statistics: SampleItems) -> FloatArray:
        """Find the most likely shares of each sample; a warning says in how many of them ``tol`` was not reached."""
        check_is_fitted(self)
        result = self._most_likely(statistics)
        failed = np.flatnonzero(~result.converged)
        if failed.size:
            advice = ", or use solver='newton'" if self._newton() is False else ""
            warnings.warn(
                f"{type(self).__name__} ended after {self.max_iter} iterations without reaching tol={self.tol:g} in "
                f"{failed.size:,} of {len(result.converged):,} samples (sample {failed[0]} first; largest last change "
                f"{result.change[failed].max():.2g}). Raise max_iter or tol{advice}.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return result.shares

    def convergence(self, outputs: Outputs, samples: Any = None) -> Convergence:
        """Estimate the shares of each sample, and say how the search for them ended."""
        return self._most_likely(self.reduce(outputs, samples))

    def imaginary_items(self) -> FloatArray:
        """Return how many imaginary items of each class are added to a sample: ``smoothing`` divided equally, or as it says."""
        weights = np.asarray(self.smoothing, dtype=np.float64)
        return np.full(len(self.classes_), weights / len(self.classes_)) if weights.ndim == 0 else weights

    def _newton(self) -> bool:
        """Whether the maximum is searched by Newton steps rather than by rounds of expectation maximisation."""
        return True

    def _most_likely(self, statistics: SampleItems) -> Convergence:
        imaginary = self.imaginary_items()
        if imaginary.any():
            statistics = with_imaginary_items(statistics, imaginary)
        return most_likely(
            statistics, self.starting_shares(), self._newton(), float(self.tol), int(self.min_iter), int(self.max_iter)
        )

    # What streaming needs: items are kept in cells of nearly equal vectors, each replaced by its mean.

    def sketched_columns(self, C: FloatArray) -> FloatArray:
        """Return the vectors, on the simplex, that a stream sorts into cells: a row each class, of posteriors likewise.

        By default the densities divided by their sum. They are known up to a factor for each item, so nothing is lost, and the
        likelihood is linear in them, which bounds the error of a cell's mean (`headcount.stream.sketch`).
        """
        F = self.reduce(Outputs(self.classes_, C.shape[1], posteriors=C.T)).vectors
        return np.ascontiguousarray((F / F.sum(axis=1, keepdims=True)).T)

    def sketched_sql(self) -> tuple[str, ...] | None:
        """Return SQL for what `sketched_columns` returns, as `Representation.sql` does; None: a database can't compute it."""
        return None

    def from_sketch(self, vectors: FloatArray, samples: Samples) -> SampleItems:
        """Return the statistics of samples of cells, whose counts say how many items each stands for."""
        return SampleItems(vectors, samples)

    def sketch_error(self, log_width: float) -> float:
        """Bound the error of the mean log-likelihood, for cells whose vectors differ by at most this much in logarithm."""
        return log_width**2 / 8.0  # Hoeffding (1963)

    # What intervals need.

    def validation_densities(self) -> FloatArray:
        """Return the densities of the validation items, for each of them learnt from others.

        By default the densities are learnt again without each of up to ten parts, in which classes are spread evenly. A method that
        can tell what an item adds to its own densities overrides this.
        """
        outputs, codes = self.validation_outputs_, self.validation_codes_
        n_parts = min(_PARTS, int(np.bincount(codes).min()))
        if n_parts < 2:
            return self.densities(outputs)
        order = np.argsort(codes, kind="stable")
        part = np.empty(len(codes), dtype=np.int64)
        part[order] = np.arange(len(codes)) % n_parts
        F, relearnt = np.empty((len(codes), len(self.classes_))), copy(self)
        for one in range(n_parts):
            rows, others = np.flatnonzero(part == one), np.flatnonzero(part != one)
            relearnt._learn_densities(outputs.take(others), codes[others])
            F[rows] = relearnt.densities(outputs.take(rows))
        return F


def with_imaginary_items(statistics: SampleItems, weights: FloatArray) -> SampleItems:
    """Add items whose classes are known to each sample, with this weight for each class.

    The most likely shares are then the mode under a Dirichlet prior with parameters 1 + weights. Where items have sampling weights,
    an imaginary item weighs as much as an item does on average.

    >>> samples = SampleItems(np.array([[0.9, 0.1], [0.2, 0.8]]), Samples([0, 1], [0, 2]))
    >>> with_imaginary_items(samples, np.array([0.5, 0.25])).samples.to_frame().values.tolist()
    [[0.0, 0.0, 1.0], [0.0, 1.0, 1.0], [0.0, 2.0, 0.5], [0.0, 3.0, 0.25]]
    """
    require_items(statistics.weights)
    F, samples = statistics.vectors, statistics.samples
    n, k = F.shape
    # Each sample's entries, then one of each class.
    sizes = np.diff(samples.indptr)
    indptr = samples.indptr + k * np.arange(len(samples) + 1)
    places = np.arange(samples.indices.size) + k * np.repeat(np.arange(len(samples)), sizes)
    indices = np.empty(indptr[-1], dtype=np.int64)
    factors = np.ones(indptr[-1])
    imaginary = np.ones(indptr[-1], dtype=bool)
    imaginary[places] = False
    indices[imaginary], indices[places] = np.tile(np.arange(n, n + k), len(samples)), samples.indices
    factors[imaginary] = np.outer(samples.total_weights() / samples.effective_sizes(), weights).ravel()
    factors[places] = 1.0 if samples.factors is None else samples.factors
    return SampleItems(np.concatenate([F, np.eye(k)]), Samples(indices, indptr, counts=factors))


def most_likely(
    statistics: SampleItems, start: FloatArray, newton: bool, tol: float, min_iter: int = 10, max_iter: int = 1000
) -> Convergence:
    """Find the most likely shares of each sample, by Newton steps or by rounds of expectation maximisation."""
    from headcount.quantifiers import _kernels

    F, samples = statistics.vectors, statistics.samples
    require_items(statistics.weights)
    factors = np.empty(0) if samples.factors is None else samples.factors
    shares = np.empty((len(samples), F.shape[1]))
    n_iter = np.empty(len(samples), dtype=np.int64)
    change = np.empty(len(samples))

    def search(first: int, last: int) -> None:
        part, ends = slice(first, last), samples.indptr[first : last + 1]
        results = shares[part], n_iter[part], change[part]
        given = F, start, samples.indices, ends, factors, tol
        if not newton:
            _kernels.most_likely_by_rounds(*given, min_iter, max_iter, *results)
        elif F.shape[1] == 2:
            _kernels.most_likely_two(*given, max_iter, *results)
        else:
            work = _kernels.WorkArrays.empty(int(np.diff(ends).max(initial=0)), F.shape[1])
            _kernels.most_likely_many(*given, max_iter, work, *results)

    in_chunks(search, len(samples), max(1, _ITEMS_PER_CHUNK * len(samples) // max(1, samples.indices.size)))
    return Convergence(shares, n_iter, change, change < tol)
