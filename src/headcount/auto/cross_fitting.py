"""Cross-fitting: outputs for all labelled items, each by a classifier that was not trained on it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from headcount._typing import AnyArray, IntArray, Items
from headcount._validation import encode
from headcount.learners import Need, Outputs, score, with_posteriors
from headcount.learners.fit_params import check_accepted, cut_fit_params
from headcount.learners.linear.solutions import Solutions, shared_solutions

__all__ = ["CrossFits", "mean_outputs"]

_NEEDS: tuple[Need, ...] = ("decisions", "posteriors")


class CrossFits:
    """The labelled items in folds, with the features that each fold's classifiers see, which all classifiers share.

    Parameters
    ----------
    X, labels : items and labels
    classes : array of shape (n_classes,)
    features : transformer
        Learnt again for each fold, without its items.
    folds : sequence of pairs of rows: to train on, to hold out
    fit_params : dict
        For each classifier's ``fit``, such as ``sample_weight``.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = np.repeat([0.0, 1.0], 4)[:, None], np.repeat([0, 1], 4)
    >>> folds = [(np.arange(1, 8, 2), np.arange(0, 8, 2)), (np.arange(0, 8, 2), np.arange(1, 8, 2))]
    >>> CrossFits(X, y, np.array([0, 1]), StandardScaler(), folds, {}).outputs(LogisticRegression()).decisions.tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]
    """

    def __init__(
        self,
        X: Items,
        labels: AnyArray,
        classes: AnyArray,
        features: Any,
        folds: Sequence[tuple[IntArray, IntArray]],
        fit_params: dict[str, Any],
    ) -> None:
        self.labels, self.classes, self.folds = labels, classes, folds
        self._params = [cut_fit_params(fit_params, X, train) for train, _ in folds]
        self._solutions: list[Solutions] = [{} for _ in folds]  # settings that differ in C alone share them
        self._parts = []
        for train, held_out in folds:
            learnt = clone(features)
            fitted = learnt.fit_transform(_safe_indexing(X, train))
            self._parts.append((fitted, learnt.transform(_safe_indexing(X, held_out))))

    def outputs(self, classifier: Any) -> Outputs:
        """Return decisions and posteriors for all items, in their order."""
        scored = []
        parts = zip(self.folds, self._parts, self._params, self._solutions, strict=True)
        for (train, _), (X, held_out), params, solutions in parts:
            y = self.labels[train]
            one = with_posteriors(clone(classifier), encode(y, self.classes), len(self.classes))
            if params:
                check_accepted(one, params)
            with shared_solutions(solutions):
                one.fit(X, y, **params)
            scored.append(score(one, held_out, _NEEDS, self.classes))
        order = np.argsort(np.concatenate([held_out for _, held_out in self.folds]), kind="stable")
        return Outputs.concatenated(scored).take(order)


def mean_outputs(parts: Sequence[Outputs]) -> Outputs:
    """Return the outputs of classifiers that vote by the mean of their posteriors.

    >>> a, b = (Outputs.from_posteriors([p], [0, 1]) for p in (0.2, 0.9))
    >>> mean_outputs([a, b]).decisions.tolist()
    [1]
    """
    classes = parts[0].classes
    posteriors = np.mean([part.aligned_to(classes).need("posteriors") for part in parts], axis=0)
    return Outputs(classes, len(posteriors), np.argmax(posteriors, axis=1), posteriors)
