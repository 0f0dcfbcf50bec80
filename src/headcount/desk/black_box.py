"""Models of black-box classifiers: from a labelled table with scores or decisions, or from a confusion matrix."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from headcount._labels import class_positions, label_text, typed_labels
from headcount._typing import AnyArray, FloatArray
from headcount._validation import plain, quoted
from headcount.data.table_items import read_labels
from headcount.desk.labels import check_labels, describe_source
from headcount.exceptions import DataError, HeadcountWarning
from headcount.learners import BlackBox, Outputs
from headcount.modelfile import Columns, Model
from headcount.quantifiers import Quantifier, method_named
from headcount.stream.scan import count_column, decision_codes, invalid_scores_error, posterior_columns
from headcount.stream.tally import first_invalid_row
from headcount.tables import TableFile

__all__ = ["confusion_model", "scored_model"]

_MIN_ITEMS_PER_CLASS = 2
_MAX_LABELLED = 5_000_000
"""Labelled items of a confusion matrix, each of which becomes an entry of an array: 1.3 GB."""
_SWAPPED_MARGIN = 0.05
"""Difference of mean scores from which columns of scores look swapped."""


def scored_model(
    source: str | Path, *, label: str, scores: str | None = None, decisions: str | None = None, method: str = "auto"
) -> Model:
    r"""Make a model from a labelled table with the scores, or the decisions, of any classifier.

    The labelled items must not be those that the classifier was trained on.

    Parameters
    ----------
    source : str or Path
        A CSV, TSV or Parquet file, or ``-`` for standard input.
    label : str
        The column of true labels.
    scores : str, optional
        ``neg=p_neg,pos=p_pos`` (the column of each class), ``p_*`` (the star stands for the class), or columns in the order of the
        classes; for two classes the column of the second is enough. Default: ``score_*``.
    decisions : str, optional
        The column of decided labels, instead of scores.
    method : str, default="auto"
        A method that `headcount.quantifiers.method_named` accepts, or ``"auto"``: PACC for scores, ACC for decisions.

    Returns
    -------
    Model

    Examples
    --------
    >>> import tempfile
    >>> rows = ["neg,0.9,0.1", "neg,0.6,0.4", "pos,0.3,0.7", "pos,0.2,0.8"] * 25
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "labelled.csv")
    ...     _ = file.write_text("\n".join(["y,score_neg,score_pos", *rows]))
    ...     scored_model(file, label="y", method="SLD")
    Model(SLD over BlackBox, 2 classes, scores)
    """
    table = TableFile(source)
    if scores is not None and decisions is not None:
        raise DataError("Name either columns of scores (--scores) or a column of decisions (--decisions), not both.")
    labels = check_labels(table, read_labels(table, label), label, _MIN_ITEMS_PER_CLASS)
    classes = np.unique(labels)
    if decisions is not None:
        batches = table.batches({decisions: "group"})
        codes = [decision_codes(batch, decisions, classes, f"column {label!r}") for batch in batches]
        return _decisions_model(table, np.concatenate(codes), labels, decisions, label, method)
    columns = _score_columns(table, classes, scores or "score_*")
    P = _read_posteriors(table, columns, len(classes))
    model = _model(table, "PACC" if method.lower() == "auto" else method, P, labels, Columns("scores", columns, label))
    _warn_if_swapped(P, np.searchsorted(classes, labels), columns, classes)
    return model


def confusion_model(source: str | Path, *, method: str = "auto") -> Model:
    r"""Make a model from a confusion matrix of any classifier.

    Parameters
    ----------
    source : str or Path
        A table with a row for each true class, named in the first column, and a column of counts for each decided class. Further
        columns are answers that are no class, such as "unsure".
    method : str, default="auto"
        A method that needs nothing but decisions; ``"auto"``: ACC, or PACC where there are answers that are no class.

    Returns
    -------
    Model
        For tables of counts: `estimate_tables` with ``counts=True``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "confusion.csv")
    ...     _ = file.write_text("true,neg,pos\nneg,80,20\npos,10,90\n")
    ...     confusion_model(file)
    Model(ACC over BlackBox, 2 classes, decisions)
    """
    table = TableFile(source)
    decided = table.columns[1:]
    rows = [label_text(value) for value in read_labels(table, table.columns[0])]
    answers = [name for name in decided if label_text(name) not in rows]
    if not set(rows) <= set(map(label_text, decided)) or len(set(rows)) < len(rows):
        raise DataError(
            f"{table.name} is not a confusion matrix: its rows are for {quoted(rows, 5)} and its columns for "
            f"{quoted(decided, 5)}. It needs a row for each true class, named in the first column, and a column for each decided "
            "class."
        )
    batches = table.batches(dict.fromkeys(decided, "number"))
    counts = np.concatenate([np.stack([count_column(batch, name) for name in decided], axis=1) for batch in batches])
    if not (counts.sum(axis=1) >= _MIN_ITEMS_PER_CLASS).all():
        row = int(counts.sum(axis=1).argmin())
        raise DataError(
            f"{table.place(row)}: class {rows[row]!r} has fewer than {_MIN_ITEMS_PER_CLASS} labelled items."
        )
    if counts.sum() > _MAX_LABELLED:
        raise DataError(f"{table.name} counts more than {_MAX_LABELLED:,} items: divide all counts by a number.")
    if len(rows) < 2:
        raise DataError(f"{table.name} has only one class; a confusion matrix needs at least two.")
    row_labels = typed_labels(rows)
    names = [*map(label_text, np.unique(row_labels)), *answers]
    columns = [names.index(name if name in answers else label_text(name)) for name in decided]
    cells = counts.astype(np.int64)
    decisions = np.concatenate([np.repeat(columns, row_counts) for row_counts in cells])
    labels = np.repeat(row_labels, cells.sum(axis=1))
    title = "" if table.columns[0].startswith("__index_level_") else table.columns[0]
    if not answers:
        return _decisions_model(table, decisions, labels, "class", title, method)
    _check_answers(table, counts, decided, answers)
    name = "PACC" if method.lower() == "auto" else method
    # An answer that is no class is a vector of posteriors, as if each class had as many labelled items.
    rates = counts / counts.sum(axis=1, keepdims=True)
    by_class = rates[[rows.index(one) for one in names[: len(rows)]]]
    vectors = [by_class[:, decided.index(one)] for one in answers]
    posteriors = [v / v.sum() if v.sum() else np.full(len(rows), 1.0 / len(rows)) for v in vectors]
    P = np.concatenate([np.eye(len(rows)), *(v[None] for v in posteriors)])[decisions]
    pairs = tuple((one, tuple(v.tolist())) for one, v in zip(answers, posteriors, strict=True))
    return _model(table, name, P, labels, Columns("scores", ("class",), title), pairs)


def _check_answers(table: TableFile, counts: FloatArray, decided: list[str], answers: list[str]) -> None:
    """Raise if a further column of a confusion matrix is its totals."""
    for name in answers:
        totals = counts[:, decided.index(name)]
        if np.array_equal(2 * totals, counts.sum(axis=1)):
            raise DataError(
                f"{table.name}, column {name!r}: these look like the totals of the rows, not like an answer of the classifier. "
                "Remove the column."
            )


def _decisions_model(
    table: TableFile, decisions: AnyArray, labels: AnyArray, column: str, label: str, method: str
) -> Model:
    name = "ACC" if method.lower() == "auto" else method
    if "posteriors" in _quantifier(name).needs:
        raise DataError(f"{name} needs scores; with decisions alone use a method that needs only those, such as ACC.")
    P = np.eye(len(np.unique(labels)))[decisions]
    return _model(table, name, P, labels, Columns("decisions", (column,), label))


def _quantifier(name: str) -> Quantifier:
    """Unfitted quantifier of a method that works on the scores or decisions of any classifier."""
    method = method_named(name)
    if method.brings_learner:
        raise DataError(
            f"{method.name} {method.why_no_classifier}, so it can't use the scores of one: choose a method that can, such as PACC."
        )
    return method.for_tables()


def _model(
    table: TableFile, method: str, P: FloatArray, labels: AnyArray, columns: Columns, answers: Sequence[Any] = ()
) -> Model:
    """Fit a quantifier over a classifier whose posteriors are given, and those of its answers that are no class."""
    classes = np.unique(labels)
    quantifier = _quantifier(method)
    if quantifier.needs:  # a method that needs no outputs of a classifier takes none
        quantifier.set_params(classifier=FrozenEstimator(BlackBox(tuple(plain(c) for c in classes), answers).fit()))
    quantifier.fit(P, labels)
    reference = Outputs(quantifier.classes_, len(P), posteriors=P)
    codes = np.searchsorted(classes, labels).astype(np.int32)
    return Model(quantifier, columns, reference, codes, describe_source(table, labels))


def _warn_if_swapped(P: FloatArray, codes: AnyArray, columns: Sequence[str], classes: AnyArray) -> None:
    """Warn if the scores of a class are lower for its items than for others: columns of scores are easily swapped."""
    for j, label in enumerate(classes):
        mean, mean_of_others = P[codes == j, j].mean(), P[codes != j, j].mean()
        if mean < mean_of_others - _SWAPPED_MARGIN:
            column = columns[j] if len(columns) == len(classes) else columns[0]
            warnings.warn(
                f"The scores of class {plain(label)} (column {column!r}) are lower for items of that class than for others "
                f"({mean:.2f} and {mean_of_others:.2f} on average): are the columns swapped? Say which is which, as in "
                "--scores CLASS=COLUMN,...",
                HeadcountWarning,
                stacklevel=3,
            )
            return


def _score_columns(table: TableFile, classes: AnyArray, scores: str) -> tuple[str, ...]:
    """Column of scores of each class, or of the second of two."""
    positions, text = class_positions(classes)
    labels = list(positions)
    parts = [part.strip() for part in scores.split(",") if part.strip()]
    if any("=" in part for part in parts):
        column_of = {text(label): column for label, _, column in (part.partition("=") for part in parts)}
        if len(column_of) < len(parts):
            raise DataError(f"The scores {scores!r} name a class more than once.")
        names = [column_of[label] for label in labels if label in column_of]
        second_of_two = len(labels) == 2 and list(column_of) == labels[1:]
        if set(column_of) != set(labels) and not second_of_two:
            raise DataError(
                f"The scores {scores!r} name the classes {quoted(column_of)}; the labels of {table.name} are {quoted(labels, 10)}."
            )
    elif len(parts) == 1 and "*" in parts[0]:
        head, _, tail = parts[0].partition("*")
        matches = {
            head + text(name[len(head) : len(name) - len(tail)]) + tail: name
            for name in table.columns
            if len(name) >= len(head) + len(tail) and name.startswith(head) and name.endswith(tail)
        }
        names = [matches.get(head + label + tail, head + label + tail) for label in labels]
    else:
        names = parts
        if len(names) != len(labels) and not (len(labels) == 2 and len(names) == 1):
            raise DataError(
                f"The scores {scores!r} name {len(names)} columns for {len(labels)} classes ({quoted(labels, 10)}): name one for "
                "each."
            )
    table.require(names, " of scores (name those of scores with --scores, or one of decisions with --decisions)")
    return tuple(names)


def _read_posteriors(table: TableFile, columns: Sequence[str], k: int) -> FloatArray:
    parts = []
    for batch in table.batches(dict.fromkeys(columns, "number")):
        C = posterior_columns(batch, columns, k)
        row = first_invalid_row(C)
        if row >= 0:
            raise invalid_scores_error(batch, row, C[:, row].tolist(), columns)
        parts.append(C.T)
    return np.ascontiguousarray(np.concatenate(parts))
