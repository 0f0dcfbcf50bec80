"""Features: those of the paper (tf-idf weights, term ids), and for `headcount fit` words of any language and columns of a table."""

from headcount.features.table_columns import TableColumns
from headcount.features.term_ids import TermIds
from headcount.features.term_weights import TermWeights
from headcount.features.tfidf import LogTfidf

__all__ = ["LogTfidf", "TableColumns", "TermIds", "TermWeights"]
