"""`ImportanceWeights`: what BBSE and RLLS share, which were published as estimators of importance weights."""

from typing import Any, ClassVar

import numpy as np

from headcount._typing import AnyArray, FloatArray, IntArray, Items
from headcount._validation import StrOptions
from headcount.learners import Fits
from headcount.quantifiers.sums import SumsQuantifier

__all__ = ["ImportanceWeights"]


class ImportanceWeights:
    """Mixin of methods over sums that estimate importance weights: shares divided by the shares among the labelled items.

    The method has the parameter ``confusion``, "hard" or "soft": whether its confusion matrix is made of decisions or of
    posteriors.

    Attributes
    ----------
    prior_ : array of shape (n_classes,)
        The class shares among the labelled items.
    """

    classes_: AnyArray
    confusion: str
    prior_: FloatArray
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SumsQuantifier._parameter_constraints,
        "confusion": [StrOptions({"hard", "soft"})],
    }

    def _learn(self, fits: Fits, codes: IntArray) -> None:
        self.prior_ = np.bincount(codes, minlength=len(self.classes_)) / len(codes)
        super()._learn(fits, codes)  # type: ignore[misc]

    def importance_weights(self, X: Items) -> FloatArray:
        """Return for each class its estimated share among these items divided by its share among the labelled ones.

        They are the weights with which labelled items stand for the new ones when a classifier is trained for these.
        """
        weights: FloatArray = self.predict(X) / self.prior_  # type: ignore[attr-defined]
        return weights
