"""What a reader of a study wants to see, from its store alone: nothing is fitted here."""

from headcount.report.claims import Claim, claims
from headcount.report.contents import Contents, gather
from headcount.report.page import render, to_json, write_csv, write_whole
from headcount.report.table import Cell, Column, Table
from headcount.report.tables import tables

__all__ = [
    "Cell",
    "Claim",
    "Column",
    "Contents",
    "Table",
    "claims",
    "gather",
    "render",
    "tables",
    "to_json",
    "write_csv",
    "write_whole",
]
