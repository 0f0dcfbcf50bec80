"""The contract of all quantifiers: fit, score a pool once, reduce, solve."""

from abc import ABCMeta, abstractmethod
from collections.abc import Collection
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from headcount._typing import AnyArray, FloatArray, Items, Labels
from headcount._validation import as_items
from headcount.exceptions import DataError
from headcount.learners import Need, Outputs
from headcount.protocols import Samples, as_samples

__all__ = ["Quantifier"]


class Quantifier(BaseEstimator, metaclass=ABCMeta):
    """Base of the quantifiers, with scikit-learn's contract: ``fit(X, y)``, then ``predict(X)``.

    ``predict`` gives one vector of shares for all the items it is handed. For many samples of one pool, score the pool once
    with :meth:`outputs` and pass it with the samples to :meth:`aggregate`, which is :meth:`reduce` and then :meth:`solve`.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes, in the order of all shares.
    """

    classes_: AnyArray

    @property
    @abstractmethod
    def needs(self) -> frozenset[Need]:
        """What must be known of each item: its decision, posteriors, embedding, or nothing."""

    @abstractmethod
    def fit(self, X: Items, y: Labels) -> Self:
        """Learn from labelled items."""

    @abstractmethod
    def reduce(self, outputs: Outputs, samples: Any = None) -> Any:
        """Reduce outputs to the statistics of each sample, which can be merged by addition."""

    @abstractmethod
    def solve(self, statistics: Any) -> FloatArray:
        """Turn statistics into shares, shape (n_samples, n_classes)."""

    @abstractmethod
    def _score(self, X: Items, needs: Collection[Need]) -> Outputs:
        """Score the items with whatever was learnt."""

    def outputs(self, X: Items, needs: Collection[Need] | None = None) -> Outputs:
        """Score items once, for use with any number of samples of them.

        Parameters
        ----------
        X : items, as in ``fit``
        needs : collection of {"decisions", "posteriors", "embeddings"}, optional
            By default what this quantifier needs; ask for both to share the outputs with others over the same classifier.
        """
        check_is_fitted(self)
        X, _ = as_items(X)
        if hasattr(self, "n_features_in_") and getattr(X, "ndim", 2) == 1:
            raise DataError(
                f"X is one-dimensional, but {type(self).__name__} was fitted on items of {self.n_features_in_} features. Reshape "
                "your data: X.reshape(1, -1) if it is a single item, X.reshape(-1, 1) if it has a single feature."
            )
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
        return tags


def normalised(shares: FloatArray) -> FloatArray:
    """Take rounding out of shares: clip to [0, 1] and divide by their sum."""
    clipped = np.clip(shares, 0.0, 1.0)
    scaled: FloatArray = clipped / clipped.sum(axis=1, keepdims=True)
    return scaled
