"""Shares from samples of which some items are labelled: design-based, under label shift, and whether the two contradict each other.

- `labels` reads what was given as labels;
- `design_based` makes predictors of the model's posteriors and hands them to `headcount.model_assisted`;
- `pooling` adds the labelled items of a sample to the validation items, `pooled` estimates from both;
- `contradiction` tests whether the design-based shares explain the sample;
- `answers` puts the three together, `result` holds them.
"""

from headcount.intervals.target_labels.answers import labelled_estimate
from headcount.intervals.target_labels.contradiction import Contradiction
from headcount.intervals.target_labels.labels import TargetLabels, target_labels
from headcount.intervals.target_labels.result import LabelledEstimate

__all__ = ["Contradiction", "LabelledEstimate", "TargetLabels", "labelled_estimate", "target_labels"]
