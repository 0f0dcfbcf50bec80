"""`read_corpus`: a `Corpus` from `label<TAB>text` lines, CSV, TSV, Parquet or svmlight files, gzipped or not."""

from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import numpy as np

from headcount._labels import typed_labels
from headcount.data.corpus import Corpus
from headcount.data.files import PARQUET_MARK, content_of, text_of
from headcount.data.tabular import read_csv, read_parquet, read_tsv
from headcount.exceptions import DataError, FileFormatError

__all__ = ["FORMATS", "read_corpus"]

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
"""Formats by the ending of the file name; ``.gz`` may follow."""


def read_corpus(
    path: str | Path,
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
    path : str or Path
        The format follows from its ending: ``.txt`` (one ``label<TAB>text`` a line, no header), ``.csv`` and ``.tsv`` (with
        a header), ``.parquet``, ``.svm`` / ``.svmlight`` / ``.libsvm``; with ``.gz`` appended if gzipped.
    text : str, optional
        Column that holds the texts; by default ``text`` if there is such a column and no ``features`` are named.
    label : str, optional
        Column that holds the labels; by default ``label`` if there is such a column, else the corpus has no labels.
    features : list of str, optional
        Numeric columns; by default, in a table without a text column, all but the label.
    format : {"lines", "csv", "tsv", "parquet", "svmlight"}, optional
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
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "reviews.csv")
    ...     _ = path.write_text("stars,review\n5,loved it\n1,broke at once\n")
    ...     read_corpus(path, text="review", label="stars")
    Corpus(2 texts, classes 1 0.500, 5 0.500)
    """
    path = Path(path)
    kind = format or _format_of(path)
    if kind not in FORMATS.values():
        raise DataError(f"There is no format {kind!r}; known are {', '.join(dict.fromkeys(FORMATS.values()))}.")
    content = content_of(path)
    if content.startswith(PARQUET_MARK) and kind != "parquet":
        raise FileFormatError(
            f"{path} is a Parquet file, not {kind}: give it the ending .parquet or pass format='parquet'."
        )
    if kind == "svmlight":
        if (text, label, features) != (None, None, None):
            raise DataError(f"{path} is an svmlight file, which has no named columns: omit text, label and features.")
        corpus = _read_svmlight(content, path, n_features, zero_based)
    else:
        columns = [features] if isinstance(features, str) else features
        corpus = _READERS[kind](content, path, text, label, columns)
    return corpus


def _format_of(path: Path) -> str:
    suffixes = [s.lower() for s in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    if not suffixes or suffixes[-1] not in FORMATS:
        raise DataError(
            f"The format of {path} can't be inferred from its name; known are {', '.join(FORMATS)} (and .gz after them). "
            "Rename the file or pass format=..."
        )
    return FORMATS[suffixes[-1]]


def _read_lines(content: bytes, path: Path, text: Any, label: Any, features: Any) -> Corpus:
    if (text, label, features) != (None, None, None):
        raise DataError(
            f"{path} is read as label<TAB>text lines, which have no named columns: omit text, label and features."
        )
    content_text = text_of(content, path)
    ends = "\n" if "\n" in content_text else "\r"
    labels, texts = [], []
    for number, line in enumerate(content_text.split(ends), start=1):
        line = line.rstrip("\r")
        if not line.strip():
            continue
        label_part, tab, text_part = line.partition("\t")
        if not tab or not label_part:
            raise FileFormatError(
                f"{path}, line {number}: expected label<TAB>text, found {line[:60]!r}. "
                "A table with a header should end in .csv or .tsv."
            )
        labels.append(label_part)
        texts.append(text_part)
    return Corpus(texts, typed_labels(labels), str(path))


def _read_svmlight(content: bytes, path: Path, n_features: int | None, zero_based: Any) -> Corpus:
    from sklearn.datasets import load_svmlight_file

    lines = text_of(content, path).encode()
    try:
        X, y = load_svmlight_file(BytesIO(lines), n_features=n_features, zero_based=zero_based)
    except (ValueError, OverflowError) as error:
        raise FileFormatError(f"{path} can't be read as svmlight ('label index:value ...' lines): {error}") from error
    if not np.isfinite(y).all():
        raise FileFormatError(
            f"{path}, item {int(np.flatnonzero(~np.isfinite(y))[0]) + 1}: the label is not a finite number."
        )
    integral = np.equal(np.mod(y, 1), 0).all() and np.abs(y).max(initial=0) < 2**53
    return Corpus(X, y.astype(np.int64) if integral else y, str(path))


_READERS: dict[str, Callable[..., Corpus]] = {
    "lines": _read_lines,
    "csv": read_csv,
    "tsv": read_tsv,
    "parquet": read_parquet,
}
