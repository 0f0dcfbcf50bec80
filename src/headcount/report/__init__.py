"""What a reader of a study wants to see, from its store alone: nothing is fitted here."""

from headcount.report.claims import Claim, claims
from headcount.report.contents import Contents, gather, missing_of
from headcount.report.figures import Errors
from headcount.report.page import render, to_csv, to_json
from headcount.report.reproduction import Reproduction, reproduction
from headcount.report.summary import summary
from headcount.report.table import Cell, Column, Table
from headcount.report.tables import tables

__all__ = [
    "Cell",
    "Claim",
    "Column",
    "Contents",
    "Errors",
    "Reproduction",
    "Table",
    "claims",
    "gather",
    "missing_of",
    "render",
    "reproduction",
    "summary",
    "tables",
    "to_csv",
    "to_json",
]
