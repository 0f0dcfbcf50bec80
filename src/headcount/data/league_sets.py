"""Data sets that are one Parquet file each: columns of numbers (or one named ``text``), ``y``, and ``part`` (train or test)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from headcount._typing import AnyArray
from headcount._validation import quoted
from headcount.data.corpus import Corpus
from headcount.exceptions import DataError, FileFormatError

__all__ = ["files_of_sets", "read_set", "settings_beside"]

_LABEL, _PART, _TEXT = "y", "part", "text"
_PARTS = ("train", "test")


def files_of_sets(folder: Path) -> Iterator[Path]:
    """Yield the Parquet files of a folder that hold a column ``y``, by name: those that are meant as data sets."""
    import pyarrow.parquet as pq

    for path in sorted(folder.glob("*.parquet")):
        try:
            columns = pq.read_schema(path).names
        except Exception:
            columns = [_LABEL]
        if _LABEL in columns:
            yield path


def read_set(path: Path) -> tuple[Corpus, Corpus]:
    """Return the training and the test part of a file; numbers outside 0 to 1 are scaled by the training part's range."""
    frame = _read(path)
    missing = [name for name in (_LABEL, _PART) if name not in frame.columns]
    if missing:
        raise FileFormatError(
            f"{path} has no column {quoted(missing)}: a set needs 'y' (the class) and 'part' (train or test)."
        )
    parts = frame[_PART].astype(str)
    unknown = sorted(set(parts) - set(_PARTS))
    if unknown:
        raise FileFormatError(f"{path}: part must be 'train' or 'test'; found {quoted(unknown)}.")
    for part in _PARTS:
        if not (parts == part).any():
            raise FileFormatError(
                f"{path} has no rows of part {part!r}: a set needs rows to train on and rows to test on."
            )
    y = frame[_LABEL]
    if y.isna().any():
        raise FileFormatError(f"{path}: y has no value in {int(y.isna().sum()):,} rows; leave these rows out.")
    labels = y.to_numpy()
    is_train = (parts == "train").to_numpy()
    features = frame.drop(columns=[_LABEL, _PART])
    items = features[_TEXT].to_numpy() if _TEXT in features.columns else _numbers(features, is_train, path)
    names = None if items.ndim == 1 else tuple(map(str, features.columns))
    train, test = (Corpus(items[rows], labels[rows], str(path), names) for rows in (is_train, ~is_train))
    _check_classes(train, test, path)
    return train, test


def settings_beside(path: Path, file_name: str) -> dict[str, Any]:
    """Return the row for a set in a file beside it (a column ``set`` holds the name); empty if there is none."""
    import pandas as pd

    file = path.with_name(file_name)
    if not file.is_file():
        return {}
    table = pd.read_csv(file)
    if "set" not in table.columns:
        raise FileFormatError(f"{file} has no column 'set' with the names of the sets.")
    rows = table[table["set"].astype(str) == path.stem]
    if rows.empty:
        return {}
    values = rows.iloc[0].drop("set").to_dict()
    return {
        str(name): None if value == "none" else value.item() if isinstance(value, np.generic) else value
        for name, value in values.items()
        if not (isinstance(value, float) and np.isnan(value))
    }


def _read(path: Path) -> Any:
    import pandas as pd

    try:
        return pd.read_parquet(path)
    except Exception as error:
        raise FileFormatError(f"{path} can't be read as Parquet: {str(error).splitlines()[0]}") from error


def _numbers(features: Any, is_train: AnyArray, path: Path) -> AnyArray:
    wrong = [str(name) for name in features.columns if features[name].dtype.kind not in "biuf"]
    if wrong:
        raise FileFormatError(
            f"{path}: columns {quoted(wrong)} hold no numbers. A set has columns of numbers, or one of texts named 'text'."
        )
    if features.shape[1] == 0:
        raise FileFormatError(f"{path} has no columns beside 'y' and 'part'.")
    values: AnyArray = features.to_numpy(np.float64, copy=True)
    bad = ~np.isfinite(values).all(axis=0)
    if bad.any():
        names = [str(name) for name in features.columns[bad]]
        raise FileFormatError(
            f"{path}: columns {quoted(names)} have missing or infinite values; fill them or leave them out."
        )
    outside = (values.min(axis=0, initial=0.0) < 0.0) | (values.max(axis=0, initial=1.0) > 1.0)
    if outside.any() and is_train.any():
        low, high = values[is_train].min(axis=0), values[is_train].max(axis=0)
        span = np.where(high > low, high - low, 1.0)
        values[:, outside] = ((values - low) / span)[:, outside]
    return values


def _check_classes(train: Corpus, test: Corpus, path: Path) -> None:
    for corpus, part in ((train, "training"), (test, "test")):
        if not len(corpus):
            raise FileFormatError(f"{path} has no rows in its {part} part.")
    if len(train.classes) < 2:
        raise DataError(
            f"{path}: the training part has only the class {quoted(train.classes)}; two at least are needed."
        )
    absent = sorted(set(train.classes.tolist()) ^ set(test.classes.tolist()), key=str)
    if absent:
        raise DataError(f"{path}: the class {quoted(absent)} is in one of the parts only, training or test.")
