"""Models of black boxes: from a labelled table with its scores or decisions, or from a confusion matrix."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from headcount._labels import class_positions, label_text, typed_labels
from headcount._typing import AnyArray, FloatArray
from headcount._validation import plain, quoted
from headcount.cli.labelled import labels_of, read_labels, source_of
from headcount.exceptions import DataError, HeadcountWarning
from headcount.tables import TableFile

__all__ = ["confusion_model", "scored_model", "tally_counts"]

_LEAST_OF_A_CLASS = 2
_MOST_COUNTED = 20_000_000
_SWAPPED = 0.05
_MOST_ITEMS = 2.0**53


def scored_model(
    source: str, *, label: str, scores: str | None = None, decisions: str | None = None, method: str = "auto"
) -> Any:
    """Make a `Model` of a labelled table with columns of scores, or one of decisions, that any classifier has written.

    Parameters
    ----------
    source : str
    label : str
        The column of true labels.
    scores : str, optional
        ``neg=p_neg,pos=p_pos`` (the column of each class), ``p_*`` (the class's name in place of the star), or columns in the order
        of the classes; for two classes the second's alone is enough. By default ``score_*``.
    decisions : str, optional
        The column of decided labels, instead of scores.
    method : str, default="auto"
        PACC for scores, ACC for decisions.
    """
    table = TableFile(source)
    table.require([label])
    if scores is not None and decisions is not None:
        raise DataError("Name either columns of scores (--scores) or one of decisions (--decisions), not both.")
    if decisions is not None:
        return _of_decisions(table, label, decisions, method)
    values = _values(table, label)
    labels = read_labels(table, values, label, _LEAST_OF_A_CLASS)
    classes = np.unique(labels)
    names = _score_columns(table, classes, scores or "score_*")
    P = _posteriors(table, names, len(classes))
    from headcount.modelfile import Columns, Model

    quantifier = _fitted(_named(method, "PACC"), classes, P, labels)
    codes = np.searchsorted(classes, labels).astype(np.int32)
    _warn_if_swapped(P, codes, names, classes)
    from headcount.learners import Outputs

    reference = Outputs(quantifier.classes_, len(P), posteriors=P)
    return Model(quantifier, Columns("scores", tuple(names), label), reference, codes, source_of(table, labels))


def _warn_if_swapped(P: FloatArray, codes: AnyArray, names: list[str], classes: AnyArray) -> None:
    """Warn of scores that are lower for items of their class than for others: such columns are easily mixed up."""
    for j, label in enumerate(classes):
        own, others = P[codes == j, j].mean(), P[codes != j, j].mean()
        if own < others - _SWAPPED:
            column = names[j] if len(names) == len(classes) else names[0]
            warnings.warn(
                f"The scores of class {plain(label)} (column {column!r}) are lower for items of that class than for others "
                f"({own:.2f} and {others:.2f} on average): are the columns mixed up? Say which is which: --scores NAME=COLUMN,...",
                HeadcountWarning,
                stacklevel=2,
            )
            return


def _named(method: str, default: str) -> str:
    from headcount.quantifiers import method_named

    name = method_named(default if method.lower() == "auto" else method).name
    if name not in ("MLPE", "CC", "PCC", "ACC", "PACC", "SLD", "HDy"):
        raise DataError(
            f"{name} brings its own learner, so scores of another are of no use to it: take PACC, ACC or SLD."
        )
    return name


def _fitted(name: str, classes: AnyArray, P: FloatArray, labels: AnyArray) -> Any:
    from sklearn.frozen import FrozenEstimator

    from headcount.learners import BlackBox
    from headcount.quantifiers import MLPE, SLD, method_named

    if name == "MLPE":
        return MLPE().fit(P, labels)
    box = FrozenEstimator(BlackBox(tuple(plain(c) for c in classes)).fit())
    quantifier: Any = SLD(calibration="bcts") if name == "SLD" else method_named(name).make()
    return quantifier.set_params(classifier=box).fit(P, labels)


def _values(table: TableFile, column: str) -> list[Any]:
    return [value for batch in table.batches({column: "group"}) for value in labels_of(batch, column)]


def _score_columns(table: TableFile, classes: AnyArray, scores: str) -> list[str]:
    """Return the column of each class, or that of the second of two."""
    places, text = class_positions(classes)
    own = list(places)
    parts = [part.strip() for part in scores.split(",") if part.strip()]
    if any("=" in part for part in parts):
        pairs = {text(label): column for label, _, column in (part.partition("=") for part in parts)}
        if len(pairs) < len(parts):
            raise DataError(f"--scores {scores}: a class is named more than once.")
        lost = [label for label in own if label not in pairs]
        if len(own) == 2 and lost == own[:1] and len(pairs) == 1:
            names = [pairs[own[1]]]
        elif lost or len(pairs) != len(own):
            raise DataError(
                f"--scores names the classes {quoted(pairs)}; the labels of {table.name} are {quoted(own, 10)}."
            )
        else:
            names = [pairs[label] for label in own]
    elif len(parts) == 1 and "*" in parts[0]:
        head, _, tail = parts[0].partition("*")
        found = {
            head + text(name[len(head) : len(name) - len(tail)]) + tail: name
            for name in table.columns
            if len(name) >= len(head) + len(tail) and name.startswith(head) and name.endswith(tail)
        }
        names = [found.get(head + label + tail, head + label + tail) for label in own]
    else:
        names = parts
        if len(names) != len(own) and not (len(own) == 2 and len(names) == 1):
            raise DataError(
                f"--scores names {len(names)} columns for {len(own)} classes ({quoted(own, 10)}): one for each is needed."
            )
    table.require(names)
    return names


def _posteriors(table: TableFile, names: Sequence[str], k: int) -> FloatArray:
    from headcount.stream.reading import no_posteriors, scores_of
    from headcount.stream.tally import first_wrong

    parts = []
    for batch in table.batches(dict.fromkeys(names, "number")):
        C = scores_of(batch, names, k)
        wrong = first_wrong(C)
        if wrong >= 0:
            raise no_posteriors(batch, wrong, C[:, wrong].tolist(), names)
        parts.append(C.T)
    return np.ascontiguousarray(np.concatenate(parts))


def _of_decisions(table: TableFile, label: str, decisions: str, method: str) -> Any:
    from headcount.stream.reading import decided

    table.require([decisions])
    labels = read_labels(table, _values(table, label), label, _LEAST_OF_A_CLASS)
    classes = np.unique(labels)
    batches = table.batches({decisions: "group"})
    codes = np.concatenate([decided(batch, decisions, classes, f"column {label!r}") for batch in batches])
    return _decisions_model(table, codes, labels, classes, decisions, label, method)


def _decisions_model(
    table: TableFile, decided: AnyArray, labels: AnyArray, classes: AnyArray, column: str, label: str, method: str
) -> Any:
    from headcount.learners import Outputs
    from headcount.modelfile import Columns, Model

    name = _named(method, "ACC")
    if name not in ("ACC", "CC", "MLPE"):
        raise DataError(f"{name} needs scores; decisions alone are enough for ACC (and for CC).")
    P = np.eye(len(classes))[decided]
    quantifier = _fitted(name, classes, P, labels)
    reference = Outputs(quantifier.classes_, len(P), posteriors=P)
    codes = np.searchsorted(classes, labels).astype(np.int32)
    return Model(quantifier, Columns("decisions", (column,), label), reference, codes, source_of(table, labels))


def confusion_model(source: str, method: str = "auto") -> Any:
    """Make a `Model` of a confusion matrix: a row for each true class, named in the first column, and a column for each decided."""
    table = TableFile(source)
    names = table.columns[1:]
    rows = [label_text(value) for value in _values(table, table.columns[0])]
    if sorted(rows) != sorted(map(label_text, names)) or len(set(rows)) < len(rows):
        raise DataError(
            f"{table.name} is no confusion matrix: its rows are for {quoted(rows, 10)} and its columns for {quoted(names, 10)}. "
            "Needed is a row for each true class, named in the first column, and a column for each decided class."
        )
    counts = np.concatenate([batch.matrix(names) for batch in table.batches(dict.fromkeys(names, "number"))])
    wrong = _no_counts(counts)
    if wrong.any():
        row, column = (int(place) for place in np.argwhere(wrong)[0])
        raise DataError(f"{table.place(row, names[column])}: {counts[row, column]:g} is no number of items.")
    if not (counts.sum(axis=1) >= _LEAST_OF_A_CLASS).all():
        row = int(counts.sum(axis=1).argmin())
        raise DataError(f"{table.place(row)}: class {rows[row]!r} has fewer than {_LEAST_OF_A_CLASS} labelled items.")
    if counts.sum() > _MOST_COUNTED:
        raise DataError(f"{table.name} counts more than {_MOST_COUNTED:,} items: divide all counts by a number.")
    if len(rows) < 2:
        raise DataError(f"{table.name} has one class only; a confusion matrix needs at least two.")
    known = typed_labels(rows)
    classes = np.unique(known)
    whole = counts.astype(np.int64)
    place = {label_text(name): j for j, name in enumerate(classes)}
    labels = np.repeat(known, whole.sum(axis=1))
    decided = np.concatenate([np.repeat([place[label_text(name)] for name in names], row) for row in whole])
    return _decisions_model(table, decided, labels, classes, "class", table.columns[0], method)


def _no_counts(counts: FloatArray) -> AnyArray:
    """Return which of some numbers are no numbers of items."""
    with np.errstate(invalid="ignore"):
        wrong: AnyArray = ~((counts >= 0) & (counts <= _MOST_ITEMS) & (np.mod(counts, 1) == 0))
    return wrong


def tally_counts(source: str, recipe: Any, by: str | None) -> Any:
    """Add up a table of counts: a column ``class`` (what was decided), a column ``count``, and a column to group by."""
    from headcount.stream import Grouping
    from headcount.stream.reading import decided, grouped

    table = TableFile(source)
    table.require(["class", "count"])
    grouping = None if by is None else Grouping.parse(by, table.columns)
    kinds: dict[str, Any] = {"class": "group", "count": "number"}
    if grouping is not None:
        kinds.setdefault(grouping.column, grouping.kind)
    tally = recipe.start()
    for batch in table.batches(kinds):
        codes = decided(batch, "class", recipe.quantifier.classes_, "the confusion matrix")
        counts = batch.numbers("count")
        wrong = np.flatnonzero(_no_counts(counts))
        if wrong.size:
            raise DataError(f"{batch.place(int(wrong[0]), 'count')}: {counts[wrong[0]]:g} is no number of items.")
        tally.add_columns(None, codes, *grouped(batch, grouping), counts)
    return tally
