"""Made-up tables to try Headcount on, each with its truth: the same each time, and nobody's data."""

from headcount.data.examples.catalogue import EXAMPLES, Example

__all__ = ["EXAMPLES", "Example"]
