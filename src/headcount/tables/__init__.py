"""Read tables in batches of rows, with bounded memory: CSV, TSV and Parquet files, folders of Parquet files, standard input."""

from headcount.tables.batch import Batch
from headcount.tables.tablefile import TABLE_FORMATS, Kind, NoRowsError, Piece, TableFile, files_of

__all__ = ["TABLE_FORMATS", "Batch", "Kind", "NoRowsError", "Piece", "TableFile", "files_of"]
