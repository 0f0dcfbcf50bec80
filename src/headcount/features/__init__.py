"""From texts to numbers, as the paper does it: weighted terms for most learners, term ids for neural ones."""

from headcount.features.term_ids import TermIds
from headcount.features.tfidf import LogTfidf

__all__ = ["LogTfidf", "TermIds"]
