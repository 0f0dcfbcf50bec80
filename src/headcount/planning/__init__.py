"""How many labels a half-width takes, on the side of the new items and of the labelled ones, and which items to label next."""

from headcount.planning.allocation import allocation_sizes, draw_items, inclusion_probabilities
from headcount.planning.plan import LabelPlan, plan_labels
from headcount.planning.residuals import ResidualModel
from headcount.planning.rounds import Design, FirstRound
from headcount.planning.sample_sizes import SampleSizes, ScoreModel, binormal_scores, pilot_scores, sample_sizes
from headcount.planning.source_side import SourceNeed, source_items_needed

__all__ = [
    "Design",
    "FirstRound",
    "LabelPlan",
    "ResidualModel",
    "SampleSizes",
    "ScoreModel",
    "SourceNeed",
    "allocation_sizes",
    "binormal_scores",
    "draw_items",
    "inclusion_probabilities",
    "pilot_scores",
    "plan_labels",
    "sample_sizes",
    "source_items_needed",
]
