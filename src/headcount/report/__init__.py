"""What a reader of a study wants to see, from its store alone: nothing is fitted here."""

from headcount.report.table import Cell, Column, Table
from headcount.report.tables import tables

__all__ = ["Cell", "Column", "Table", "tables"]
