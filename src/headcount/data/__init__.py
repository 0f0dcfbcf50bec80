"""Labelled documents and tables: the frozen `Corpus`, and readers for the usual file formats."""

from headcount.data.corpus import Corpus
from headcount.data.readers import read_corpus

__all__ = ["Corpus", "read_corpus"]
