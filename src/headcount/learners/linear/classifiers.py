"""`NewtonLogisticRegression` and `NewtonLinearSVC`: scikit-learn's problems, solved to a certified relative gap."""

import warnings
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from headcount._threads import one_blas_thread
from headcount._typing import FloatArray, IntArray, Labels
from headcount._validation import Interval, StrOptions, integers_from
from headcount.learners.linear.losses import Logistic, Loss, Multinomial, SquaredHinge
from headcount.learners.linear.newton import Solution
from headcount.learners.linear.solutions import solve_for

__all__ = ["NewtonLinearSVC", "NewtonLogisticRegression"]


@dataclass(eq=False, repr=False)
class _NewtonClassifier(LinearClassifierMixin, BaseEstimator):
    """Parameters and checks that both classifiers share."""

    C: float = 1.0
    _: KW_ONLY
    class_weight: Mapping[Any, float] | str | None = None
    tol: float = 1e-4
    max_iter: int = 200

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "tol": [Interval(Real, 0, 1, closed="neither")],
        "max_iter": integers_from(1),
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Labels, sample_weight: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_items, n_features)
        y : labels of shape (n_items,)
        sample_weight : array of shape (n_items,), optional
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, order="C")
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"This solver needs samples of at least 2 classes in the data, but the data contains only one class: "
                f"{self.classes_[0]!r}"
            )
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        of_classes = compute_class_weight(
            self.class_weight, classes=self.classes_, y=y, sample_weight=np.asarray(weights)
        )
        with one_blas_thread():
            solutions = self._solutions(X, codes, np.asarray(weights)[:, None], of_classes)
        theta = np.vstack([solution.theta for solution in solutions])
        self.coef_, self.intercept_ = theta[:, :-1].copy(), theta[:, -1].copy()
        self.n_iter_ = max(solution.n_iter for solution in solutions)
        self.gap_ = max(solution.gap for solution in solutions)
        if self.gap_ > self.tol:
            warnings.warn(
                f"{type(self).__name__} (C={self.C:g}, class_weight={self.class_weight!r}) did not converge: its relative "
                f"gap to the optimum is {self.gap_:.2g}, and at most tol={self.tol:g} was asked for. Scale the features, raise "
                "max_iter or lower C.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _solve(self, X: Any, codes: IntArray, weights: FloatArray, loss: Any) -> Solution:
        """Solve with the loss that ``loss(codes, weights)`` gives."""
        return solve_for(
            X,
            weights,
            lambda C: loss(codes, C * weights),
            float(self.C),
            float(self.tol),
            int(self.max_iter),
            loss,
            codes,
            weights,
        )

    def _solutions(self, X: Any, codes: IntArray, weights: FloatArray, of_classes: FloatArray) -> list[Solution]:
        """Solve all problems, with these weights of the items and of the classes."""
        raise NotImplementedError


@dataclass(eq=False, repr=False)
class NewtonLogisticRegression(_NewtonClassifier):
    r"""Logistic regression, solved to a relative gap that is certified.

    .. math:: \min_{w, b} \tfrac12 |w|^2 + C \sum_i c_i \log(1 + e^{-y_i (w \cdot x_i + b)})

    With more than two classes the losses are multinomial. It is the problem of scikit-learn's ``LogisticRegression``, whose
    stopping rule goes by the gradient of the mean loss: in version 1.9, the default tolerance stops at C >= 100 after 10 to 15 of
    the 300 steps that the optimum takes. Here Newton steps are taken until the duality gap is at most ``tol`` times
    :math:`\tfrac12 |w|^2`, hence less than that part of the objective, and the weights are within :math:`\sqrt{tol}\, |w|` of the
    optimal ones. The solution for C starts from those for C / 10 and C / 100; fits of several C in a search share them.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes' items, as in scikit-learn.
    tol : float, default=1e-4
        Relative gap, see above; a ConvergenceWarning is given where it was not reached.
    max_iter : int, default=200
        Most Newton steps for one C.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_ : array of shape (1 or n_classes, n_features)
    intercept_ : array of shape (1 or n_classes,)
    n_iter_ : int
        Newton steps for this C.
    gap_ : float
        Relative gap that was reached.

    References
    ----------
    Lin, Weng and Keerthi (2008). Trust region Newton method for large-scale logistic regression. JMLR 9.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(500, random_state=0)
    >>> learner = NewtonLogisticRegression(C=1e4).fit(X, y)
    >>> learner.gap_ <= 1e-4, learner.predict_proba(X).shape
    (True, (500, 2))
    """

    def _solutions(self, X: Any, codes: IntArray, weights: FloatArray, of_classes: FloatArray) -> list[Solution]:
        k = len(self.classes_)
        weights = weights * of_classes[codes, None]
        loss = _logistic if k == 2 else partial(Multinomial, n_scores=k)
        if issparse(X):
            return [self._solve(X, codes, weights, loss)]
        # The intercept is free, so moving the origin changes nothing but it; columns far from 0 would take very many steps.
        center = X.mean(axis=0)
        solution = self._solve(X - center, codes, weights, loss)
        theta = solution.theta.copy()
        theta[:, -1] -= theta[:, :-1] @ center
        return [replace(solution, theta=theta)]

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the posteriors, columns in the order of ``classes_``."""
        from scipy.special import expit, softmax

        scores = self.decision_function(X)
        if len(self.classes_) == 2:
            return np.column_stack([expit(-scores), expit(scores)])
        posteriors: FloatArray = softmax(scores, axis=1)
        return posteriors

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return the logarithms of the posteriors."""
        return np.log(self.predict_proba(X))


@dataclass(eq=False, repr=False)
class NewtonLinearSVC(_NewtonClassifier):
    r"""Linear support vector machine with squared hinge loss, solved to a relative gap that is certified.

    .. math:: \min_{w, b} \tfrac12 (|w|^2 + b^2) + C \sum_i c_i \max(0, 1 - y_i (w \cdot x_i + b))^2

    With more than two classes each is separated from all others, whose items then have weight 1 whatever ``class_weight`` says. It
    is the problem of scikit-learn's ``LinearSVC``, whose coordinate descent is slow for large C, or stops 10 % above the optimum
    (C = 1e5, 2 % negatives). See `NewtonLogisticRegression` for parameters and attributes.

    References
    ----------
    Keerthi and DeCoste (2005). A modified finite Newton method for fast solution of large scale linear SVMs. JMLR 6.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(500, random_state=0)
    >>> NewtonLinearSVC(C=1e4).fit(X, y).gap_ <= 1e-4
    True
    """

    def _solutions(self, X: Any, codes: IntArray, weights: FloatArray, of_classes: FloatArray) -> list[Solution]:
        if len(self.classes_) == 2:
            return [self._solve(X, codes, weights * of_classes[codes, None], _squared_hinge)]
        positives = [(codes == j).astype(np.int64) for j in range(len(self.classes_))]
        return [
            self._solve(X, positive, weights * np.where(positive, of_class, 1.0)[:, None], _squared_hinge)
            for positive, of_class in zip(positives, of_classes, strict=True)
        ]


def _logistic(codes: IntArray, weights: FloatArray) -> Loss:
    return Logistic(_signs(codes), weights)


def _squared_hinge(codes: IntArray, weights: FloatArray) -> Loss:
    return SquaredHinge(_signs(codes), weights)


def _signs(codes: IntArray) -> FloatArray:
    return np.where(codes[:, None] == 1, 1.0, -1.0)
