"""`AssistedShares`: shares of the classes with intervals, and what the predictions were worth."""

from dataclasses import dataclass

import numpy as np

from headcount._typing import FloatArray

__all__ = ["AssistedShares"]


@dataclass(frozen=True, eq=False)
class AssistedShares:
    """Shares of the classes among N items, n of them labelled, with what predictions of all items add.

    Attributes
    ----------
    shares, low, high : arrays of shape (n_classes,)
    level : float
    covariance : array of shape (n_classes, n_classes)
        Of the errors of the shares.
    shares_alone, low_alone, high_alone, covariance_alone : arrays
        The same from the labels alone, without predictions.
    n_labelled, n_items : int
    residual_variance : array of shape (n_classes,)
        Mean square of what the predictions leave of each class's indicator, over items whose label the model has not seen.
    variance_alone : array of shape (n_classes,)
        The same without predictions: p (1 - p).
    item_variances : array of shape (n_items,)
        Expected square of what the predictions leave of an item, summed over the classes: where a further label helps most.
    predictions : array of shape (n_items, n_classes)
        Fitted indicators; their mean is the estimate before it is kept within [0, 1].
    residuals : array of shape (n_labelled, n_classes)
        Indicators of the labelled items less those fitted without the item's own label, with mean about 0.
    tuning : float
        How much of the features' power was kept, from 0 (the labels alone) to 1 (no shrinkage).
    degrees : float
        Number of parameters that the regression used, beside the intercepts.
    finite_population : bool
        Whether the shares are those of these N items, or of what they were drawn from.
    """

    shares: FloatArray
    low: FloatArray
    high: FloatArray
    level: float
    covariance: FloatArray
    shares_alone: FloatArray
    low_alone: FloatArray
    high_alone: FloatArray
    covariance_alone: FloatArray
    n_labelled: int
    n_items: int
    residual_variance: FloatArray
    variance_alone: FloatArray
    item_variances: FloatArray
    predictions: FloatArray
    residuals: FloatArray
    tuning: float
    degrees: float
    finite_population: bool

    @property
    def effective_labels(self) -> float:
        """How many labels drawn at random would give the same variance without predictions, summed over the classes."""
        left, alone = float(self.residual_variance.sum()), float(self.variance_alone.sum())
        return self.n_labelled * (alone / left if left > 0.0 else 1.0)

    @property
    def labels_gained(self) -> float:
        """Effective labels beyond those there are."""
        return self.effective_labels - self.n_labelled

    @property
    def standard_errors(self) -> FloatArray:
        """Square roots of the variances of the shares."""
        return np.asarray(np.sqrt(np.diag(self.covariance)), dtype=np.float64)
