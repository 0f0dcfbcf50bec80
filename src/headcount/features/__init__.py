"""Text features: those of the paper (tf-idf weights, term ids for networks), and words of any language for `headcount fit`."""

from headcount.features.term_ids import TermIds
from headcount.features.term_weights import TermWeights
from headcount.features.tfidf import LogTfidf

__all__ = ["LogTfidf", "TermIds", "TermWeights"]
