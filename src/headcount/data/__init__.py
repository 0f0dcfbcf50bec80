"""Labelled documents: the immutable `Corpus`, readers for common file formats, data sets by name."""

from headcount.data.corpus import Corpus
from headcount.data.fetching import fetch_set
from headcount.data.league_sets import settings_beside
from headcount.data.readers import read_corpus
from headcount.data.sets import PAPER_SETS, data_folder, find_files, list_sets, load_set, sets_in, table_file
from headcount.data.synthetic import STAND_INS, SyntheticReviews

__all__ = [
    "PAPER_SETS",
    "STAND_INS",
    "Corpus",
    "SyntheticReviews",
    "data_folder",
    "fetch_set",
    "find_files",
    "list_sets",
    "load_set",
    "read_corpus",
    "sets_in",
    "settings_beside",
    "table_file",
]
