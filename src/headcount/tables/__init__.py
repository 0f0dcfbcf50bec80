"""Read tables in batches of rows, with bounded memory: files of many formats, folders, databases, standard input, memory."""

from headcount._roles import ColumnRole
from headcount.tables.batch import Batch
from headcount.tables.tablefile import TABLE_FORMATS, Kind, NoRowsError, Piece, TableFile, files_of

__all__ = ["TABLE_FORMATS", "Batch", "ColumnRole", "Kind", "NoRowsError", "Piece", "TableFile", "files_of"]
