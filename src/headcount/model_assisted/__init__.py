"""Class shares of a finite set of items, of which a random part is labelled, with predictions for all of them as an aid.

The estimates hold whatever the predictions are worth: they rest on how the labelled items were drawn, not on a model. Nothing here
knows a classifier, a quantifier or a table.
"""

from headcount.model_assisted.assisted import FEWEST_LABELS, assisted_group_shares, assisted_shares
from headcount.model_assisted.result import AssistedShares

__all__ = ["FEWEST_LABELS", "AssistedShares", "assisted_group_shares", "assisted_shares"]
