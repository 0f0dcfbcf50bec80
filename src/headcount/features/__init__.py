"""Text features of the paper: tf-idf weights for most learners, term ids for neural ones."""

from headcount.features.term_ids import TermIds
from headcount.features.tfidf import LogTfidf

__all__ = ["LogTfidf", "TermIds"]
