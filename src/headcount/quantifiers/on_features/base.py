"""`FeaturesQuantifier`: base of the methods that look at the items' own features and need no classifier."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_array

from headcount._typing import FloatArray, IntArray, Items
from headcount._validation import HasMethods, as_items
from headcount.exceptions import DataError
from headcount.learners import Fits, Need, Outputs
from headcount.quantifiers.sums import SumsQuantifier

__all__ = ["FeaturesQuantifier", "feature_ranges"]


class FeaturesQuantifier(SumsQuantifier):
    """Base of the methods over features: profiles are learnt on all labelled items, as no classifier is trained on them.

    A subclass sets ``representation`` and ``solver``, writes `_learn_features` if they depend on the labelled items, and
    `projected_validation`, which leaves each item out of what its own vector is made with.

    Attributes
    ----------
    transformer_ : fitted transformer, or None
    validation_outputs_ : Outputs
        The features of the labelled items.
    """

    adjusts_for_shift = True
    brings_learner = True
    # Means over pairs of items are right on average without the item: only what they vary beyond single items is to be counted.
    left_out_shift = 0.25
    transformer: Any = None
    transformer_: Any
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SumsQuantifier._parameter_constraints,
        "transformer": [HasMethods(["fit", "transform"]), None],
    }

    def __init__(self, transformer: Any = None, *, classes: Any = None) -> None:
        self.transformer = transformer
        self.classes = classes

    def check_learnt(self) -> None:
        """Raise DataError unless there is a transformer or None, and positions of features are those of features that there are."""
        if self.transformer_ is not None and not hasattr(self.transformer_, "transform"):
            raise DataError("transformer_ transforms nothing")
        width = self.validation_outputs_.need("features").shape[1]
        for name in ("features_", "words_"):
            positions = getattr(self, name, np.empty(0, dtype=np.int64))
            sound = isinstance(positions, np.ndarray) and positions.dtype == np.int64 and positions.ndim == 1
            if not sound or (len(positions) and not 0 <= positions.min() <= positions.max() < width):
                raise DataError(f"{name} does not hold positions of features")

    def _score(self, X: Items, needs: Any) -> Outputs:
        """Return the items' features, by the transformer if there is one."""
        items, n_items = as_items(X)
        if self.transformer_ is not None:
            items = self.transformer_.transform(items)
        features = check_array(items, accept_sparse="csr", dtype=np.float64, estimator=self, input_name="X")
        return Outputs(self.classes_, n_items, features=features)

    def _learn(self, fits: Fits, codes: IntArray) -> None:
        self.transformer_, self.validation_items_ = None, None
        if isinstance(fits.X, Outputs):
            outputs = fits.X
        else:
            if self.transformer is not None:
                self.transformer_ = clone(self.transformer).fit(fits.X)
            outputs, self.validation_items_ = self._score(fits.X, self.needs), fits.X
        self.validation_outputs_ = Outputs(self.classes_, outputs.n_items, features=outputs.need("features"))
        self.validation_codes_, self.validation_repeats_ = codes, 1
        self.validation_folds_ = np.zeros(len(codes), dtype=np.int64)
        self._learn_profiles(self.validation_outputs_, codes)

    def _learn_profiles(self, outputs: Outputs, codes: IntArray, folds: IntArray | None = None) -> None:
        self._learn_features(outputs, codes)
        super()._learn_profiles(outputs, codes, folds)

    def _learn_features(self, outputs: Outputs, codes: IntArray) -> None:
        """Learn what the representation needs from the labelled items."""

    @property
    def needs(self) -> frozenset[Need]:
        """What must be known of each item: its features."""
        return frozenset({"features"})


def feature_ranges(features: Any, name: str) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the features that are not constant among the labelled items, with their least and largest values."""
    low, high = (
        np.asarray(_dense(edge), dtype=np.float64).ravel() for edge in (features.min(axis=0), features.max(axis=0))
    )
    used = np.flatnonzero(high > low)
    if not len(used):
        raise DataError(
            f"All {len(low)} features are constant among the labelled items, so that {name} can't tell their classes apart: pass "
            "features that vary."
        )
    return used, low[used], high[used]


def _dense(values: Any) -> Any:
    return values.toarray() if hasattr(values, "toarray") else values


def dense_blocks(features: Any, used: IntArray, block: int = 1 << 22) -> Any:
    """Yield slices of rows with these columns as a dense matrix, so that sparse features never are dense all at once."""
    step = max(1, block // max(1, len(used)))
    for start in range(0, features.shape[0], step):
        rows = slice(start, min(start + step, features.shape[0]))
        yield rows, np.asarray(_dense(features[rows][:, used]))
