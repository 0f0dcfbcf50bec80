"""Readers: `label<TAB>text`, CSV, TSV, Parquet and svmlight, plain or gzipped, each into a `Corpus`."""

import gzip
import zlib
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from headcount._typing import AnyArray
from headcount._validation import quoted
from headcount.data.corpus import Corpus
from headcount.exceptions import DataError, FileFormatError

__all__ = ["FORMATS", "read_corpus"]

_GZIP, _PARQUET = b"\x1f\x8b", b"PAR1"
FORMATS = {
    ".txt": "lines",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
}
"""Formats by file name; ``.gz`` may follow."""


def read_corpus(
    path: str | Path,
    *,
    text: str | None = None,
    label: str | None = None,
    features: Sequence[str] | None = None,
    format: str | None = None,  # noqa: A002 (the word users expect)
) -> Corpus:
    r"""Read items and labels from a file.

    Parameters
    ----------
    path : str or Path
        The format follows from its ending: ``.txt`` (one ``label<TAB>text`` a line, no header), ``.csv`` and ``.tsv`` (with
        a header), ``.parquet``, ``.svm`` / ``.svmlight`` / ``.libsvm``; with ``.gz`` behind it where gzipped.
    text : str, optional
        Column that holds the texts; by default ``text`` if there is such a column and no ``features`` are named.
    label : str, optional
        Column that holds the labels; by default ``label`` if there is such a column, else the corpus has no labels.
    features : list of str, optional
        Numeric columns; by default, in a table without a text column, all but the label.
    format : {"lines", "csv", "tsv", "parquet", "svmlight"}, optional
        Overrides the ending.

    Returns
    -------
    Corpus

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "reviews.csv")
    ...     _ = path.write_text("stars,review\n5,loved it\n1,broke at once\n")
    ...     read_corpus(path, text="review", label="stars")
    Corpus(2 texts, classes 1 0.500, 5 0.500)
    """
    path = Path(path)
    kind = format or _format_of(path)
    if kind not in _READERS:
        raise DataError(f"There is no format {kind!r}; known are {', '.join(_READERS)}.")
    content = _content(path)
    if content.startswith(_PARQUET) and kind != "parquet":
        raise FileFormatError(
            f"{path} is a Parquet file, not {kind}: give it the ending .parquet or pass format='parquet'."
        )
    corpus = _READERS[kind](content, path, text, label, features)
    if len(corpus) == 0:
        raise FileFormatError(f"{path} holds no items.")
    return corpus


def _format_of(path: Path) -> str:
    suffixes = [s.lower() for s in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    if not suffixes or suffixes[-1] not in FORMATS:
        raise DataError(
            f"The format of {path} can't be told from its name; known endings are {', '.join(FORMATS)} (and .gz behind them). "
            "Rename the file or pass format=..."
        )
    return FORMATS[suffixes[-1]]


def _content(path: Path) -> bytes:
    if not path.exists():
        raise DataError(f"There is no file {path}.")
    if path.is_dir():
        raise DataError(f"{path} is a folder; a file is needed.")
    content = path.read_bytes()
    named_gzip = path.suffix.lower() == ".gz"
    if named_gzip and not content.startswith(_GZIP):
        raise FileFormatError(f"{path} ends in .gz but is not gzipped: rename it without .gz.")
    if content.startswith(_GZIP):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise FileFormatError(f"{path} is a damaged gzip file ({error}): copy or download it again.") from error
    if not content.strip():
        raise FileFormatError(f"{path} is empty.")
    return content


def _decoded(content: bytes, path: Path) -> str:
    if b"\x00" in content[:65536]:
        raise FileFormatError(f"{path} is a binary file, not text: what is its format?")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileFormatError(
            f"{path} is not UTF-8 text: line {line} has the byte 0x{content[error.start]:02x}. Convert it, for example with "
            "'iconv -f latin1 -t utf-8'."
        ) from error


def _read_lines(content: bytes, path: Path, text: Any, label: Any, features: Any) -> Corpus:
    if (text, label, features) != (None, None, None):
        raise DataError(
            f"{path} is read as label<TAB>text lines, which have no named columns: leave text, label and features out."
        )
    labels, texts = [], []
    for number, line in enumerate(_decoded(content, path).split("\n"), start=1):
        line = line.rstrip("\r")
        if not line.strip():
            continue
        found, tab, words = line.partition("\t")
        if not tab or not found:
            raise FileFormatError(
                f"{path}, line {number}: expected label<TAB>text, found {line[:60]!r}. "
                "A table with a header should end in .csv or .tsv."
            )
        labels.append(found)
        texts.append(words)
    return Corpus(texts, _typed(labels), str(path))


def _typed(labels: list[str]) -> AnyArray:
    """Return labels as integers if all are written as such (and so can be written back), else as strings."""
    values = set(labels)
    if all((v.removeprefix("-")).isdecimal() and str(int(v)) == v for v in values):
        return np.array(labels, dtype=np.int64)
    return np.array(labels)


def _read_csv(content: bytes, path: Path, text: Any, label: Any, features: Any, delimiter: str = ",") -> Corpus:
    import pandas as pd

    _decoded(content, path)
    try:
        table = pd.read_csv(BytesIO(content), sep=delimiter, encoding="utf-8-sig", keep_default_na=True)
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise FileFormatError(
            f"{path} can't be read as a table separated by {delimiter!r}: {str(error).strip()}"
        ) from error
    return _from_table(table, path, text, label, features)


def _read_tsv(content: bytes, path: Path, text: Any, label: Any, features: Any) -> Corpus:
    return _read_csv(content, path, text, label, features, delimiter="\t")


def _read_parquet(content: bytes, path: Path, text: Any, label: Any, features: Any) -> Corpus:
    import pandas as pd
    import pyarrow as pa

    if not content.startswith(_PARQUET):
        raise FileFormatError(f"{path} is named as a Parquet file but is none (it lacks the mark PAR1).")
    try:
        table = pd.read_parquet(BytesIO(content))
    except (OSError, pa.ArrowException) as error:
        raise FileFormatError(f"{path} is a damaged Parquet file ({error}): copy or export it again.") from error
    return _from_table(table, path, text, label, features)


def _from_table(table: Any, path: Path, text: str | None, label: str | None, features: Sequence[str] | None) -> Corpus:
    columns = [str(c) for c in table.columns]
    table.columns = columns
    if text is None and features is None and "text" in columns:
        text = "text"
    if label is None and "label" in columns and "label" not in (text, *(features or ())):
        label = "label"
    for wanted in (text, label, *(features or ())):
        if wanted is not None and wanted not in columns:
            raise DataError(f"{path} has no column {wanted!r}; its columns are {quoted(columns, 12)}.")
    if text is not None and features is not None:
        raise DataError("Name either a text column or feature columns, not both.")
    labels = None if label is None else _label_column(table[label], path, label)
    if text is not None:
        texts = table[text]
        missing = np.flatnonzero(texts.isna())
        if missing.size:
            raise DataError(f"{path}: column {text!r} is empty in row {missing[0] + 1}: drop such rows or fill them.")
        return Corpus(np.array([str(v) for v in texts], dtype=object), labels, str(path))
    names = list(features) if features is not None else [c for c in columns if c != label]
    if not names:
        raise DataError(f"{path} has no columns besides the label {label!r}: there is nothing to learn from.")
    for name in names:
        if table[name].dtype.kind not in "iufb":
            raise DataError(
                f"{path}: column {name!r} is not numeric. Name the text column with text=..., or the numeric columns with "
                f"features=[...]; the columns are {quoted(columns, 12)}."
            )
    return Corpus(table[names].to_numpy(dtype=np.float64), labels, str(path), tuple(names))


def _label_column(column: Any, path: Path, label: str) -> AnyArray:
    missing = np.flatnonzero(column.isna())
    if missing.size:
        raise DataError(
            f"{path}: column {label!r} has no label in row {missing[0] + 1} ({missing.size:,} rows in all): drop such rows or "
            "label them."
        )
    values = column.to_numpy()
    return values if values.dtype.kind in "iufb" else np.array([str(v) for v in values])


def _read_svmlight(content: bytes, path: Path, text: Any, label: Any, features: Any) -> Corpus:
    from sklearn.datasets import load_svmlight_file

    if (text, label, features) != (None, None, None):
        raise DataError(f"{path} is an svmlight file, which has no named columns: leave text, label and features out.")
    _decoded(content, path)
    try:
        X, y = load_svmlight_file(BytesIO(content))
    except ValueError as error:
        raise FileFormatError(f"{path} can't be read as svmlight ('label index:value ...' lines): {error}") from error
    whole = np.equal(np.mod(y, 1), 0).all()
    return Corpus(X, y.astype(np.int64) if whole else y, str(path))


_READERS: dict[str, Callable[..., Corpus]] = {
    "lines": _read_lines,
    "csv": _read_csv,
    "tsv": _read_tsv,
    "parquet": _read_parquet,
    "svmlight": _read_svmlight,
}
