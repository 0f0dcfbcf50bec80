"""From a labelled table to a model: items and labels read, checked where they are wrong, a quantifier chosen and fitted."""

import hashlib
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from headcount._labels import label_text, typed_labels
from headcount._typing import AnyArray
from headcount._validation import quoted
from headcount.exceptions import DataError
from headcount.tables import Kind, TableFile

__all__ = ["chosen_columns", "fit_table", "labels_of", "read_labels", "source_of"]

_MOST_CLASSES = 100
_LEAST_OF_A_CLASS = 10


def fit_table(
    source: str,
    *,
    label: str,
    text: str | None = None,
    features: str | None = None,
    method: str = "auto",
    learner: str = "auto",
    budget: float | None = None,
    shift: str = "any",
    seed: int = 0,
    jobs: int | None = None,
) -> Any:
    """Read a labelled table, choose a method and a learner for it, and return the fitted `Model`.

    Parameters
    ----------
    source : str
        A CSV, TSV or Parquet file, or ``-``.
    label : str
        The column of labels.
    text, features : str, optional
        The column of texts, or columns of numbers: names and patterns such as ``e*``, separated by commas. By default the column
        ``text`` if there is one, else all but the label.
    method, learner : str, default="auto"
    budget : float, optional
        Seconds to spend on the choice.
    shift : {"any", "mild"}, default="any"
        What is judged by: samples of all kinds of shares, or of shares as in the labelled table, for those who know that they move
        little. With the latter a method without intervals may be kept.
    seed : int, default=0
    jobs : int, optional
    """
    from headcount.auto import AutoQuantifier
    from headcount.modelfile import Columns, Model
    from headcount.protocols import NaturalPrevalence
    from headcount.quantifiers import method_named

    table = TableFile(source)
    kind, names = chosen_columns(table, label, text, features)
    items, labels = _read(table, kind, names, label)
    named = None if method.lower() == "auto" else method_named(method).name
    if shift not in ("any", "mild"):
        raise DataError(f"--shift is any or mild; got {shift!r}.")
    mild = NaturalPrevalence(500, sample_size=int(np.clip(len(labels) // 5, 50, 500)), random_state=seed)
    choice = AutoQuantifier(
        None if named is None else [named],
        None if learner.lower() == "auto" else [learner],
        budget=budget,
        intervals=named in (None, "ACC", "PACC", "SLD") and shift == "any",
        protocol=mild if shift == "mild" else None,
        n_jobs=jobs,
        random_state=seed,
    )
    try:
        auto = choice.fit(items, labels)
    except DataError as error:
        raise DataError(f"{table.name}, column {quoted(names, 3)}: {error}") from error
    reference, codes = auto.held_out_ or (None, None)
    columns = Columns("text" if kind == "text" else "numbers", tuple(names), label)
    ranking = auto.ranking_.drop(columns=["seconds"]).to_dict("records")
    source_facts = source_of(table, labels)
    return Model(
        auto.best_estimator_, columns, reference, codes, source_facts, seed, _plain(ranking), _plain(auto.skipped_)
    )


def chosen_columns(table: TableFile, label: str, text: str | None, features: str | None) -> tuple[str, list[str]]:
    """Say which columns are learnt from, by name or by convention."""
    table.require([label])
    if text is not None and features is not None:
        raise DataError("Name either a text column (--text) or columns of numbers (--features), not both.")
    if text is None and features is None and "text" in table.columns and label != "text":
        text = "text"
    if text is not None:
        table.require([text])
        if text == label:
            raise DataError(f"{table.name}: column {text!r} can't be both the text and the label.")
        return "text", [text]
    patterns = ["*"] if features is None else [part.strip() for part in features.split(",") if part.strip()]
    names: list[str] = []
    for pattern in patterns:
        found = [name for name in table.columns if name == pattern or fnmatchcase(name, pattern)]
        if not found:
            raise DataError(f"{table.name} has no column {pattern!r}; its columns are {quoted(table.columns, 12)}.")
        names += [name for name in found if name != label and name not in names]
    if not names:
        raise DataError(f"{table.name} has no columns besides the label {label!r}: there is nothing to learn from.")
    return "numbers", names


def _read(table: TableFile, kind: str, names: Sequence[str], label: str) -> tuple[Any, AnyArray]:
    own: Kind = "text" if kind == "text" else "number"
    parts: list[Any] = []
    labels: list[Any] = []
    for batch in table.batches({**dict.fromkeys(names, own), label: "group"}):
        labels += labels_of(batch, label)
        parts.append(batch.texts(names[0]) if own == "text" else batch.matrix(names))
    odd = next((i for i, part in enumerate(parts) if part.shape[1:] != parts[0].shape[1:]), None)
    if odd is not None:
        row = sum(len(part) for part in parts[:odd])
        raise DataError(
            f"{table.place(row, names[0])} holds {parts[odd].shape[1]} numbers, the first row {parts[0].shape[1]}: an embedding "
            "has as many in each row."
        )
    items = np.concatenate(parts)
    if own == "number" and np.isinf(items).any():
        row, column = (int(place) for place in np.argwhere(np.isinf(items))[0])
        raise DataError(f"{table.place(row, names[column] if len(names) > 1 else names[0])}: the number is infinite.")
    return items, read_labels(table, labels, label, _LEAST_OF_A_CLASS)


def labels_of(batch: Any, label: str) -> list[Any]:
    """Return the labels of a batch, none of them missing."""
    codes, values = batch.groups(label)
    missing = [i for i, value in enumerate(values) if value is None or value != value or not str(value).strip()]
    for i in missing:
        rows = np.flatnonzero(codes == i)
        if rows.size:
            raise DataError(f"{batch.place(int(rows[0]), label)} has no label: drop such rows or label them.")
    return [values[code] for code in codes.tolist()]


def read_labels(table: TableFile, values: list[Any], label: str, least: int) -> AnyArray:
    """Return labels as an array: at least two classes, not too many, and so many items of each."""
    labels = _labels(values)
    classes, first, counts = np.unique(labels, return_index=True, return_counts=True)
    if len(classes) > _MOST_CLASSES:
        raise DataError(
            f"{table.name}, column {label!r} holds {len(classes):,} different labels ({quoted(classes)}): that looks like a "
            f"number, an id or a text rather than a class. At most {_MOST_CLASSES} classes can be told apart; merge some, or "
            "name another column."
        )
    if len(classes) < 2:
        raise DataError(
            f"{table.name}, column {label!r} holds one label only, {quoted(classes)}: at least two are needed."
        )
    rarest = int(counts.argmin())
    if counts[rarest] < least:
        many = "is the only item" if counts[rarest] == 1 else f"is one of only {counts[rarest]} items"
        raise DataError(
            f"{table.place(int(first[rarest]), label)}: this {many} of class {quoted([classes[rarest]])}; at least {least} of "
            "each class are needed. Label more of them, merge classes, or leave them out."
        )
    return labels


def _labels(values: list[Any]) -> AnyArray:
    """Return labels as truth values or integers where all are such, however a file has them; else as texts."""
    if {type(value) for value in values} == {bool}:
        return np.array(values)
    name = {value: label_text(value) for value in {*values}}
    numbers = typed_labels([name[value] for value in values])
    return numbers if numbers.dtype.kind == "i" else np.array([str(value) for value in values])


def source_of(table: TableFile, labels: AnyArray) -> dict[str, Any]:
    """Return what a model says of the file that it was made from."""
    with table.path.open("rb") as file:
        fingerprint = hashlib.file_digest(file, "sha256").hexdigest()
    classes, counts = np.unique(labels, return_counts=True)
    shares = {str(name): round(float(count) / len(labels), 6) for name, count in zip(classes, counts, strict=True)}
    name = table.path.name if table.name != "standard input" else table.name
    return {"name": name, "fingerprint": fingerprint, "rows": len(labels), "shares": shares}


def _plain(records: Any) -> Any:
    """Return records with numpy's numbers as Python's own, and NaN as None."""
    if isinstance(records, dict):
        return {str(key): _plain(value) for key, value in records.items()}
    if isinstance(records, list | tuple):
        return [_plain(value) for value in records]
    value = records.item() if isinstance(records, np.generic) else records
    return None if isinstance(value, float) and value != value else value
