"""`SVMperf`: a scikit-learn classifier trained by cutting planes, for one C or a path of values of C."""

import warnings
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from headcount._threads import one_blas_thread
from headcount._typing import AnyArray, FloatArray, Labels
from headcount._validation import Interval, StrOptions, integers_from, quoted
from headcount.exceptions import DataError
from headcount.learners.svmperf.cuts import CuttingPlanes, Solution
from headcount.learners.svmperf.losses import LOSSES, TableLoss, worst_labelling

__all__ = ["SVMperf", "svmperf_path"]


@dataclass(eq=False, repr=False)
class SVMperf(ClassifierMixin, BaseEstimator):
    r"""Linear support vector machine trained for a loss of the whole labelling: SVM_perf's problem, solved exactly.

    .. math:: \min_{w, \xi \ge 0} \tfrac12 |w|^2 + C \xi \quad\text{such that}\quad
        \frac{100}{n} \sum_{i\text{ flipped}} y_i (w \cdot x_i + w_b) \ge \Delta(\bar y) - \xi

    for every labelling :math:`\bar y` with a loss :math:`\Delta(\bar y) > 0`, where flipped items are those whose label differs
    from the true one. The bias :math:`w_b` is the weight of a constant feature, regularised like the others (and part of
    :math:`|w|`). C is not divided by n. Cutting planes find the solution to a precision of ``eps``.

    Parameters
    ----------
    loss : {"ae", "rae", "kld", "nkld", "q", "error", "f1"} or callable, default="ae"
        Absolute error, relative absolute error, Kullback-Leibler divergence or its normalised form between the shares of the
        labelling and the true ones; Q, the harmonic mean of recall and of the normalised absolute error's complement; error rate;
        F1 of the positive class. All are in percent, except "kld". A callable gets the numbers of true positives, false positives,
        false negatives and true negatives as arrays and returns the losses; all pairs of numbers are then tried in each round,
        which takes n^2 steps.
    C : float, default=1.0
        Weight of the loss. Useful values range from 1e-4 to 1e5.
    eps : float, default=0.1
        The rounds end when the worst labelling exceeds the slack by at most this, in units of the loss: the objective is then
        within ``C * eps`` of the optimum. For "kld", whose values are small, 0.1 is coarse (and what the literature used).
    max_iter : int, default=5000
        Largest number of rounds for one C. A warning states the remaining gap.
    path : sequence of float, optional
        Smaller values of C that are solved first, keeping their cuts: several values of C then take little longer than the largest
        one. By default the fit starts without cuts. Both end within ``C * eps`` of the optimum, but not at the same point.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The second one is the positive class. If y has a single class, all decisions are for it.
    coef_ : array of shape (1, n_features)
    intercept_ : array of shape (1,)
    n_iter_ : int
        Number of rounds of cutting planes.
    objective_ : float
        Objective at the solution.
    gap_ : float
        Largest possible distance of the objective from the optimum.

    See Also
    --------
    svmperf_path : fit all values of C on a path in one call.
    ELM : classify and count over such a classifier: SVM(KLD), SVM(NKLD), SVM(Q), SVM(AE), SVM(RAE).

    References
    ----------
    Joachims (2005). A support vector method for multivariate performance measures. ICML.
    Esuli and Sebastiani (2015). Optimizing text quantifiers for multivariate loss functions. ACM TKDD 9.
    Barranquero, Díez and del Coz (2015). Quantification-oriented learning based on reliable classifiers. Pattern Recognition 48.
    Franc and Sonnenburg (2009). Optimized cutting plane algorithm for large-scale risk minimization. JMLR 10.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(500, weights=[0.8], flip_y=0.1, random_state=0)
    >>> svm = SVMperf(loss="ae", C=10).fit(X, y)
    >>> bool(abs(svm.predict(X).mean() - y.mean()) < 0.02)
    True
    """

    loss: str | TableLoss = "ae"
    C: float = 1.0
    eps: float = 0.1
    _: KW_ONLY
    max_iter: int = 5000
    path: Sequence[float] | None = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "loss": [StrOptions(set(LOSSES)), callable],
        "C": [Interval(Real, 0, None, closed="neither")],
        "eps": [Interval(Real, 0, None, closed="neither")],
        "max_iter": integers_from(1),
        "path": ["array-like", None],
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Labels) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_items, n_features)
        y : labels of shape (n_items,), of two classes
        """
        smaller = [] if self.path is None else [C for C in _checked_path(self.path) if self.C > C]
        X, positive = self._checked(X, y)
        *_, (_, solution) = self._solutions(X, positive, [*smaller, float(self.C)])
        return self._set_solution(solution)

    @_fit_context(prefer_skip_nested_validation=True)
    def iter_path(self, X: Any, y: Labels) -> Iterator["SVMperf"]:
        """Yield a fitted classifier for each value of ``path``, in ascending order: each is what ``fit`` with its C gives."""
        if self.path is None:
            raise DataError("There is no path to fit: pass path=[...], the values of C.")
        # Data is checked at the call, not at the first step; on a clone, so that this object stays unfitted.
        checked: SVMperf = clone(self)
        return checked._iter_solutions(*checked._checked(X, y), _checked_path(self.path))

    def _iter_solutions(self, X: Any, positive: AnyArray, values: Sequence[float]) -> Iterator["SVMperf"]:
        for C, solution in self._solutions(X, positive, values):
            yield copy(self).set_params(C=C)._set_solution(solution)

    def _checked(self, X: Any, y: Any) -> tuple[Any, AnyArray]:
        """Return the checked items, and a mask of the positive ones."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, order="C")
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) > 2:
            raise ValueError(
                f"Only binary classification is supported by SVMperf: its losses are those of two classes, and y has "
                f"{len(self.classes_)} ({quoted(self.classes_)}). Wrap it in OneVsRestClassifier, or use another learner."
            )
        return X, codes == len(self.classes_) - 1

    def _solutions(self, X: Any, positive: AnyArray, values: Sequence[float]) -> Iterator[tuple[float, Solution]]:
        worst = worst_labelling(self.loss, int(positive.sum()), int((~positive).sum()))
        planes = CuttingPlanes(X, positive, worst)
        for C in values:
            with one_blas_thread():
                solution = planes.solve(C, float(self.eps), int(self.max_iter))
            yield C, solution

    def _set_solution(self, solution: Solution) -> Self:
        self.coef_ = solution.coef[None, :]
        self.intercept_ = np.array([solution.intercept])
        self.n_iter_, self.objective_, self.gap_ = solution.n_iter, solution.objective, solution.gap
        if not solution.converged:
            advice = "Raise max_iter or eps, or lower C."
            if solution.rounding:
                advice = (
                    "Rounding errors of numbers of this size prevent more: scale the features, lower C or raise eps."
                )
            warnings.warn(
                f"SVMperf ended after {self.n_iter_:,} rounds without reaching eps={self.eps:g} (C={self.C:g}): the objective, "
                f"{self.objective_:.6g}, may be {self.gap_:.3g} above the optimum, and at most {self.C * self.eps:.3g} is allowed. "
                f"{advice}",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return the score of each item: positive for the second class."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        scores: FloatArray = np.asarray(X @ self.coef_[0]).ravel() + self.intercept_[0]
        return scores

    def predict(self, X: Any) -> AnyArray:
        """Return the decided class of each item."""
        scores = self.decision_function(X)
        codes = (scores > 0.0).astype(np.intp) if len(self.classes_) == 2 else np.zeros(len(scores), dtype=np.intp)
        return self.classes_[codes]


def _checked_path(path: Any) -> list[float]:
    try:
        array = np.asarray(path)
        values = np.unique(array.astype(np.float64)) if array.ndim == 1 and array.dtype.kind in "fiu" else np.empty(0)
    except (TypeError, ValueError):
        values = np.empty(0)
    if not values.size or not np.isfinite(values).all() or values[0] <= 0.0:
        raise DataError(f"path must hold values of C, positive numbers; got {path!r}.")
    return [float(value) for value in values]


def svmperf_path(X: Any, y: Labels, Cs: Sequence[float], **parameters: Any) -> list[SVMperf]:
    """Fit SVMperf for many values of C in one call, from the smallest to the largest, keeping the cuts.

    Cuts do not depend on C, so each value starts where the one before ended; once the loss is 0, all larger values have the same
    solution. Each classifier is within ``C * eps`` of its optimum, as single fits are, but not at the same point.

    Parameters
    ----------
    X, y : items and labels of two classes
    Cs : sequence of float
    **parameters
        Parameters of `SVMperf`.

    Returns
    -------
    list of SVMperf
        Fitted, in ascending order of C.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(200, random_state=0)
    >>> [(svm.C, svm.n_iter_) for svm in svmperf_path(X, y, [0.01, 1, 100], loss="kld")]
    [(0.01, 5), (1.0, 38), (100.0, 4)]
    """
    duplicates = {"C", "path"} & set(parameters)
    if duplicates:
        raise DataError(f"The values of C are given as Cs; omit {quoted(sorted(duplicates))}.")
    return list(SVMperf(**{**parameters, "path": Cs}).iter_path(X, y))
