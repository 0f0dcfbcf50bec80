"""Columns of a labelled table to learn from: which are asked for, what each of them is to a model, and their rows."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal

import numpy as np

from headcount._roles import ROLE_KINDS
from headcount._typing import AnyArray
from headcount._validation import quoted
from headcount.data.table_items import batch_labels, read_items
from headcount.exceptions import DataError
from headcount.tables import ColumnRole, TableFile
from headcount.tables.records import reading_kinds, records_of
from headcount.tables.role_inference import column_roles, is_row_number

__all__ = ["TableItems", "names_asked", "read_table"]


@dataclass(frozen=True, eq=False)
class TableItems:
    """Labelled items of a table, and the columns that they come from.

    Attributes
    ----------
    kind : {"text", "numbers", "mixed"}
    items : array
        Texts, a matrix of numbers, or records.
    labels : list
    names : list of str
        The columns, in the order of the items' features.
    roles : tuple of ColumnRole
        What the columns are; empty unless the kind is "mixed".
    notes : tuple of str
        Sentences on columns that are left out, or that seem to copy the label.
    """

    kind: Literal["text", "numbers", "mixed"]
    items: AnyArray
    labels: list[Any]
    names: list[str]
    roles: tuple[ColumnRole, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass
class _Asked:
    """Columns to read, by name, with the kind of role that is asked for; and those that the user named, not a pattern."""

    kinds: dict[str, str | None] = field(default_factory=dict)
    named: set[str] = field(default_factory=set)


def names_asked(given: str | Sequence[str] | None, columns: Sequence[str]) -> list[str] | None:
    """Return names and patterns from strings that may hold several, separated by commas; a column with a comma takes precedence.

    >>> names_asked("subject, body", ["subject", "body"]), names_asked(["a,b", "c"], ["a,b", "c"]), names_asked(None, [])
    (['subject', 'body'], ['a,b', 'c'], None)
    """
    if given is None:
        return None
    parts: list[str] = []
    for one in [given] if isinstance(given, str) else given:
        parts += [one] if one in columns else [part.strip() for part in one.split(",") if part.strip()]
    return parts


def read_table(
    table: TableFile,
    label: str,
    text: Sequence[str] | None = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
) -> TableItems:
    """Read the labelled items of a table.

    Parameters
    ----------
    table : TableFile
    label : str
        The column of labels.
    text : sequence of str, optional
        Columns of texts.
    features : sequence of str, optional
        Other columns: names and patterns, of which ``name:kind`` says what a column is.
    drop : sequence of str, optional
        Columns to leave out: names and patterns. Without texts and features all others are read.

    Without any of these, the column ``text`` is read, or else all columns but the label.
    """
    table.require([label])
    notes: tuple[str, ...] = ()
    if text is None and features is None and not drop and "text" in table.columns and label != "text":
        text = ["text"]
        notes = _not_read([name for name in table.columns if name not in ("text", label) and not _is_index(name)])
    asked = _columns_asked(table, label, text or (), ["*"] if text is None and features is None else features or ())
    for pattern in drop or ():
        for name in _matching(table, pattern):
            if name in asked.named:
                raise DataError(f"{table.name}: column {name!r} can't be both read and dropped.")
            asked.kinds.pop(name, None)
    if not asked.kinds:
        raise DataError(
            f"{table.name} has no columns besides the label {label!r}"
            + (" and those that are dropped" if drop else "")
            + ": there is nothing to learn from."
        )
    kinds = list(asked.kinds.values())
    if kinds == ["text"]:
        names = list(asked.kinds)
        items, labels = read_items(table, "text", names, label)
        return TableItems("text", items, labels, names, notes=notes)
    if kinds == [None] * len(kinds):
        found = _numbers_of(table, label, asked)
        if found is not None:
            return found
    return _mixed_of(table, label, asked)


def _columns_asked(table: TableFile, label: str, text: Sequence[str], features: Sequence[str]) -> _Asked:
    asked = _Asked()
    for pattern in text:
        for name in _matching(table, pattern):
            if name == label and name == pattern:
                raise DataError(f"{table.name}: column {name!r} can't be both the text and the label.")
            asked.kinds[name] = "text"
    asked.named.update(name for name in text if name in asked.kinds)
    for entry in features:
        pattern, colon, kind = entry.rpartition(":")
        if entry in table.columns or not colon:
            pattern, kind = entry, ""
        elif kind not in ROLE_KINDS:
            raise DataError(f"{entry!r}: there is no kind of column {kind!r}; there are {quoted(ROLE_KINDS, 10)}.")
        for name in _matching(table, pattern):
            if name == label and name == pattern:
                raise DataError(f"{table.name}: column {name!r} can't be both a feature and the label.")
            if name != label and asked.kinds.get(name) is None:
                asked.kinds[name] = kind or None
            if name == pattern:
                asked.named.add(name)
    asked.kinds.pop(label, None)
    asked.kinds = {name: kind for name, kind in asked.kinds.items() if not _is_index(name)}
    return asked


def _is_index(name: str) -> bool:
    """Whether this is how pandas names an unnamed index."""
    return name.startswith("__index_level_")


def _not_read(names: Sequence[str]) -> tuple[str, ...]:
    """Say which columns are not read because the column of texts alone is, where no columns are named."""
    if not names:
        return ()
    return (f"Only the column 'text' is read, not {quoted(names, 8)}: --text text --features '*' reads them too.",)


def _matching(table: TableFile, pattern: str) -> list[str]:
    names = [name for name in table.columns if name == pattern or fnmatchcase(name, pattern)]
    if not names:
        table.require([pattern])  # raises, with the names of the columns
    return names


def _numbers_of(table: TableFile, label: str, asked: _Asked) -> TableItems | None:
    """Read columns that all hold numbers, or a column of embeddings; None if one of several holds something else."""
    names = list(asked.kinds)
    try:
        X, labels = read_items(table, "numbers", names, label)
    except DataError:
        return None
    is_embedding = X.shape[1] != len(names)
    if np.isinf(X).any():
        row, column = np.argwhere(np.isinf(X))[0].tolist()
        raise DataError(f"{table.place(row, names[0 if is_embedding else column])}: the number is infinite.")
    if is_embedding:
        return TableItems("numbers", X, labels, names)
    ids = [j for j, name in enumerate(names) if name not in asked.named and is_row_number(name, X[:, j])]
    if len(ids) == len(names):
        ids = []
    notes = [_left_out(names[j], "a different number in every row: an id") for j in ids]
    kept = [j for j in range(len(names)) if j not in ids]
    notes += _copies_of_label({names[j]: X[:, j] for j in kept}, labels)
    return TableItems("numbers", X[:, kept] if ids else X, labels, [names[j] for j in kept], (), tuple(notes))


def _mixed_of(table: TableFile, label: str, asked: _Asked) -> TableItems:
    roles, without = column_roles(table, asked.kinds, asked.named)
    for name, reason in without.items():
        if name in asked.named:
            raise DataError(f"{table.name}, column {name!r}: nothing can be learnt from it: {reason}. Leave it out.")
    if not roles:
        reasons = " ".join(_left_out(name, reason) for name, reason in without.items())
        raise DataError(f"{table.name} has no column to learn from besides the label {label!r}. {reasons}")
    parts: list[AnyArray] = []
    labels: list[Any] = []
    for batch in table.batches({**reading_kinds(roles), label: "group"}):
        labels += batch_labels(batch, label)
        parts.append(records_of(batch, roles))
    records = np.concatenate(parts)
    for name in asked.named:
        if asked.kinds[name] == "text" and not any(any(map(str.isalpha, text)) for text in records[name]):
            raise DataError(
                f"{table.name}, column {name!r}: No words were found in the texts: name columns of numbers as features "
                "(--features), not as text."
            )
    notes = [_left_out(name, reason) for name, reason in without.items()]
    single = {name: records[name] for name, role in roles.items() if role.kind == "number"}
    single |= {name: records[name][:, 0] for name, role in roles.items() if role.kind == "category"}
    notes += _copies_of_label(single, labels)
    return TableItems("mixed", records, labels, list(roles), tuple(roles.values()), tuple(notes))


def _left_out(name: str, reason: str) -> str:
    return f"Column {name!r} is left out: {reason}."


def _copies_of_label(columns: dict[str, AnyArray], labels: Sequence[Any]) -> list[str]:
    """Warn of columns in which each class has one value, and each value one class."""
    codes = {value: i for i, value in enumerate(dict.fromkeys(labels))}
    y = np.array([codes[value] for value in labels])
    notes = []
    for name, values in columns.items():
        if len({str(value) for value in values[:1000].tolist()}) > len(codes):
            continue
        pairs = set(zip(map(str, values.tolist()), y.tolist(), strict=True))
        if len(pairs) == len({value for value, _ in pairs}) == len(codes):
            notes.append(
                f"Column {name!r} tells the label of every row: is it a copy of the label? If new items do not have it before they "
                f"are labelled, leave it out (--drop {name})."
            )
    return notes
