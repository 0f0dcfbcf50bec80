"""How many labels a half-width takes, on the side of the new items and of the labelled ones, and which items to label next."""

from headcount.planning.allocation import allocation_sizes, draw_items, inclusion_probabilities
from headcount.planning.plan import LabelPlan, plan_labels
from headcount.planning.residuals import ResidualModel
from headcount.planning.rounds import Design, FirstRound

__all__ = [
    "Design",
    "FirstRound",
    "LabelPlan",
    "ResidualModel",
    "allocation_sizes",
    "draw_items",
    "inclusion_probabilities",
    "plan_labels",
]
