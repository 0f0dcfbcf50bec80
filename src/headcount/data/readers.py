"""`read_corpus`: a `Corpus` from a table (`headcount.tables`), `label<TAB>text` lines or an svmlight file."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import numpy as np

from headcount._labels import typed_labels
from headcount.data.corpus import Corpus
from headcount.data.table_items import item_columns, label_array, read_items
from headcount.exceptions import DataError, FileFormatError
from headcount.tables import TABLE_FORMATS, TableFile
from headcount.tables.lines import Text, check_is_file, unpacked_name

__all__ = ["FORMATS", "read_corpus"]

FORMATS = {
    ".txt": "lines",
    **TABLE_FORMATS,
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
}
"""Formats by the ending of the file name; ``.gz`` or ``.zst`` may follow those of text."""


def read_corpus(
    path: Any,
    *,
    text: str | None = None,
    label: str | None = None,
    features: Sequence[str] | str | None = None,
    format: str | None = None,  # noqa: A002 (the word users expect)
    n_features: int | None = None,
    zero_based: bool | Literal["auto"] = "auto",
) -> Corpus:
    r"""Read items and labels from a file.

    Parameters
    ----------
    path : str, Path or table
        A table, by the ending of its name: ``.csv``, ``.tsv`` (with a header), ``.jsonl``, ``.parquet``, ``.xlsx``; a table or
        query of an SQLite or DuckDB file (``file.db::table``); a table of pandas, polars or Arrow. Also ``.txt`` (one
        ``label<TAB>text`` a line, no header) and ``.svm`` / ``.svmlight`` / ``.libsvm``. Text may be packed (``.gz``, ``.zst``).
    text : str, optional
        Column that holds the texts; by default ``text`` if there is such a column and no ``features`` are named.
    label : str, optional
        Column that holds the labels; by default ``label`` if there is such a column, else the corpus has no labels.
    features : list of str, optional
        Numeric columns, or a column of embeddings: names and patterns such as ``e*``; by default, in a table without a text column,
        all but the label.
    format : {"lines", "csv", "tsv", "jsonl", "parquet", "excel", "svmlight"}, optional
        Overrides the ending.
    n_features : int, optional
        Of an svmlight file: its number of features, if the last ones may be absent from the file.
    zero_based : bool or "auto", default="auto"
        Of an svmlight file: whether its indices start at 0 rather than 1; "auto": if the file has an index 0.

    Returns
    -------
    Corpus

    Examples
    --------
    >>> from pathlib import Path
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "reviews.csv")
    ...     _ = path.write_text("stars,review\n5,loved it\n1,broke at once\n")
    ...     read_corpus(path, text="review", label="stars")
    Corpus(2 texts, classes 1 0.500, 5 0.500)
    """
    is_file = isinstance(path, str | Path)
    file_format = format or (FORMATS.get(unpacked_name(Path(path)).suffix.lower()) if is_file else None)
    if file_format not in ("lines", "svmlight"):
        names = [features] if isinstance(features, str) else features
        return _read_table(TableFile(path, file_format), text, label, names)
    if (text, label, features) != (None, None, None):
        raise DataError(f"{path} is read as {file_format}, which has no named columns: omit text, label and features.")
    content = _read_text(Path(path))
    return (
        _read_lines(content, path) if file_format == "lines" else _read_svmlight(content, path, n_features, zero_based)
    )


def _read_table(table: TableFile, text: str | None, label: str | None, features: Sequence[str] | None) -> Corpus:
    if label is None and "label" in table.columns and "label" not in (text, *(features or ())):
        label = "label"
    kind, names = item_columns(table, label, text, features)
    items, values = read_items(table, kind, names, label)
    labels = None if label is None else label_array(values)
    if kind == "text":
        return Corpus(items, labels, table.name)
    if items.shape[1] > len(names):  # an embedding
        names = [f"{names[0]}[{j}]" for j in range(items.shape[1])]
    return Corpus(items, labels, table.name, tuple(names))


def _read_text(path: Path) -> str:
    """Content of a text file, decompressed if gzipped."""
    check_is_file(path, str(path))
    content = Text(path, str(path), "\t").content()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileFormatError(
            f"{path} is not UTF-8 text: line {line} has the byte 0x{content[error.start]:02x}. Convert it, for example with "
            "'iconv -f latin1 -t utf-8'."
        ) from error


def _read_lines(content: str, path: Path) -> Corpus:
    line_end = "\n" if "\n" in content else "\r"
    labels, texts = [], []
    for number, line in enumerate(content.split(line_end), start=1):
        label, tab, text = line.rstrip("\r").partition("\t")
        if not line.strip():
            continue
        if not tab or not label:
            raise FileFormatError(
                f"{path}, line {number}: expected label<TAB>text, found {line[:60]!r}. "
                "A table with a header should end in .csv or .tsv."
            )
        labels.append(label)
        texts.append(text)
    return Corpus(texts, typed_labels(labels), str(path))


def _read_svmlight(content: str, path: Path, n_features: int | None, zero_based: Any) -> Corpus:
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(BytesIO(content.encode()), n_features=n_features, zero_based=zero_based)
    except (ValueError, OverflowError) as error:
        raise FileFormatError(f"{path} can't be read as svmlight ('label index:value ...' lines): {error}") from error
    if not np.isfinite(y).all():
        raise FileFormatError(f"{path}, item {int(np.isfinite(y).argmin()) + 1}: the label is not a finite number.")
    integral = np.equal(np.mod(y, 1), 0).all() and np.abs(y).max(initial=0) < 2**53
    return Corpus(X, y.astype(np.int64) if integral else y, str(path))
