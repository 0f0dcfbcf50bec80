"""`BinnedFeatures`: what the methods that compare histograms of features have in common."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from headcount._typing import AnyArray, FloatArray, IntArray
from headcount.learners import Outputs
from headcount.quantifiers.on_features.base import feature_ranges
from headcount.quantifiers.on_features.feature_bins import FeatureBins, left_out_scores

__all__ = ["BinnedFeatures"]


class BinnedFeatures:
    """Histograms of features between their least and largest labelled values: mixed into a `FeaturesQuantifier`."""

    classes_: AnyArray
    validation_outputs_: Outputs
    validation_codes_: IntArray
    features_: IntArray
    ranges_: FloatArray
    bins_: tuple[int, ...]
    learnt_shapes: ClassVar[dict[str, tuple[str | int | None, ...]]] = {"features_": ("used",), "ranges_": (2, "used")}

    @property
    def representation(self) -> FeatureBins:
        """The bins of all features; before `fit`, of none."""
        if not hasattr(self, "features_"):
            return FeatureBins((2,), np.empty(0, dtype=np.int64), np.empty(0), np.empty(0))
        return FeatureBins(self.bins_, self.features_, *self.ranges_)

    def _learn_ranges(self, outputs: Outputs, bins: Sequence[int]) -> None:
        self.features_, low, high = feature_ranges(outputs.need("features"), type(self).__name__)
        self.ranges_ = np.stack([low, high])
        self.bins_ = FeatureBins(bins, self.features_, low, high).histograms.bins

    def projected_validation(self, A: FloatArray) -> FloatArray:
        """Return A times the vector of each labelled item, where A is made with the histograms of the others."""
        return left_out_scores(
            self.representation, self.validation_outputs_, self.validation_codes_, len(self.classes_)
        )
