"""Model selection with a quantification loss: each classifier setting is fitted once, whatever is asked of it."""

from headcount.selection.search import QuantifierSearch

__all__ = ["QuantifierSearch"]
