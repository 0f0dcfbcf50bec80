"""Tables, plots, claims and pages of a study, from its store alone: nothing is fitted here."""

from headcount.report.claims import Claim, claims
from headcount.report.downloads import to_csv, to_json, to_latex
from headcount.report.markdown import pictures, summary
from headcount.report.page import overview_plots, render
from headcount.report.page_contents import Contents, gather, missing_of
from headcount.report.reproduction import Reproduction, reproduction
from headcount.report.scores import Errors
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
    "overview_plots",
    "pictures",
    "render",
    "reproduction",
    "summary",
    "tables",
    "to_csv",
    "to_json",
    "to_latex",
]
