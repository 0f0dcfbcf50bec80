"""From a table with the answers of judges and some human labels to corrected shares."""

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from headcount._labels import class_positions
from headcount._validation import quoted
from headcount.desk.estimate import check_level, listed_paths
from headcount.exceptions import DataError
from headcount.judges import AnswerMap, JudgeCorrection, JudgedShares
from headcount.judges.answers import human_codes, is_missing
from headcount.stream.filters import Condition
from headcount.stream.groups import parse_groupings
from headcount.stream.scan import group_codes
from headcount.tables import Batch, Kind, TableFile, files_of

__all__ = ["judge_tables", "read_answer_map"]


def judge_tables(
    files: str | Path | Sequence[str | Path],
    *,
    human: str,
    judges: Sequence[str] = (),
    scores: Sequence[str] = (),
    by: str | None = None,
    where: Sequence[str] = (),
    ids: str | None = None,
    classes: Sequence[Any] | None = None,
    mapping: AnswerMap | None = None,
    level: float = 0.95,
    half_width: float = 0.05,
    estimand: str = "sample",
    progress: Callable[[int], None] | None = None,
) -> JudgedShares:
    r"""Estimate class shares from tables with columns of judges' answers and one of human labels, empty in most rows.

    Parameters
    ----------
    files : path or sequence of paths
        As in `estimate_tables`.
    human : str
        The column of human labels, of rows drawn at random.
    judges : sequence of str
        Columns of decisions, or patterns of such (``judge_*``).
    scores : sequence of str
        Judges that give scores: ``neg=p_neg,pos=p_pos`` names the column of each class.
    by, where
        As in `estimate_tables`.
    ids : str, optional
        A column that names each item once.
    classes : sequence, optional
        All classes; by default those of the human labels.
    mapping : AnswerMap, optional
        For answers that are free texts.
    level, half_width, estimand
        As in `JudgeCorrection`.
    progress : callable, optional
        Called with the number of rows of each batch after it was read.

    Returns
    -------
    JudgedShares

    Examples
    --------
    >>> import tempfile
    >>> rows = [f"{'yes' if i % 3 else 'no'},{('yes' if i % 3 else 'no') if i % 7 == 0 else ''}" for i in range(300)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "judged.csv")
    ...     _ = file.write_text("\n".join(["model,human", *rows]))
    ...     result = judge_tables(file, human="human", judges=["model"])
    >>> result.total.shares.round(2).tolist(), result.n_labelled
    ([0.33, 0.67], 43)
    """
    check_level(level)
    reader = _Reader(human, tuple(judges), tuple(scores), by, tuple(where), ids, classes)
    for source in (file for given in listed_paths(files) for file in files_of(given)):
        reader.read(TableFile(source), progress)
    if not reader.labels:
        raise DataError("No row meets the conditions (--where).")
    known, _ = human_codes(reader.labels, classes)
    answers: dict[str, Any] = dict(reader.answers)
    for given in scores:
        name, columns = _score_columns(given, known)
        answers[name] = np.column_stack([reader.numbers[column] for column in columns])
    correction = JudgeCorrection(known, mapping, level, half_width, estimand)
    return correction.fit(answers, reader.labels, reader.groups if by is not None else None, reader.ids or None).result_


class _Reader:
    """Collects the columns of one or several tables."""

    def __init__(
        self,
        human: str,
        judges: tuple[str, ...],
        scores: tuple[str, ...],
        by: str | None,
        where: tuple[str, ...],
        ids: str | None,
        classes: Sequence[Any] | None,
    ) -> None:
        if not judges and not scores:
            raise DataError(
                "There is no judge: name the columns of their answers (--judge a,b, or --scores neg=p0,pos=p1)."
            )
        self.human, self.judges, self.by, self.where, self.id_column = human, judges, by, where, ids
        self.score_columns = [part.partition("=")[2].strip() for given in scores for part in given.split(",")]
        self.classes = None if classes is None else class_positions(classes)
        self.labels: list[Any] = []
        self.ids: list[Any] = []
        self.groups: list[Any] = []
        self.answers: dict[str, list[Any]] = {}
        self.numbers: dict[str, Any] = {}

    def read(self, table: TableFile, progress: Callable[[int], None] | None) -> None:
        groupings = parse_groupings(self.by, table.columns)
        conditions = [Condition.parse(text, table.columns) for text in self.where]
        names = self._judge_columns(table)
        table.require([self.human], " of human labels (--human)")
        table.require(self.score_columns, " of scores (--scores)")
        kinds: dict[str, Kind] = dict.fromkeys([self.human, *names], "group")
        kinds |= dict.fromkeys(self.score_columns, "number")
        if self.id_column is not None:
            table.require([self.id_column], " of ids (--id)")
            kinds.setdefault(self.id_column, "group")
        for grouping in groupings:
            kinds.setdefault(grouping.column, grouping.kind)
        for condition in conditions:
            kinds.setdefault(condition.column, "group")
        for batch in table.batches(kinds):
            chosen = batch
            for condition in conditions:
                met = condition.met(chosen, kinds[condition.column] == "number")
                chosen = chosen if met.all() else chosen.chosen(np.flatnonzero(met))
            if len(chosen):
                self._add(chosen, names, groupings)
            if progress is not None:
                progress(len(batch))

    def _judge_columns(self, table: TableFile) -> list[str]:
        names: list[str] = []
        for pattern in self.judges:
            found = [name for name in table.columns if name == pattern] or [
                name
                for name in table.columns
                if fnmatchcase(name, pattern) and name not in (self.human, self.id_column)
            ]
            if not found:
                table.require([pattern], " of a judge (--judge)")
            names += [name for name in found if name not in names]
        if self.human in names:
            raise DataError(f"Column {self.human!r} can't be both the human labels (--human) and a judge (--judge).")
        if self.answers and list(self.answers) != names:
            raise DataError(f"{table.name} has other judges, {quoted(names, 12)}, than the tables before it.")
        return names

    def _add(self, batch: Batch, names: Sequence[str], groupings: Any) -> None:
        labels = _values(batch, self.human)
        if self.classes is not None:
            positions, text = self.classes
            for row, label in enumerate(labels):
                if not is_missing(label) and text(label).strip() not in positions:
                    raise DataError(
                        f"{batch.place(row, self.human)}: the human label {quoted([label])} is not among the classes "
                        f"{quoted(positions, 10)} (--classes)."
                    )
        self.labels += labels
        for name in names:
            self.answers.setdefault(name, []).extend(_values(batch, name))
        for name in self.score_columns:
            column = batch.numbers(name)
            self.numbers[name] = np.concatenate([self.numbers[name], column]) if name in self.numbers else column
        if self.id_column is not None:
            self.ids += _values(batch, self.id_column)
        if groupings:
            codes, values = group_codes(batch, groupings)
            self.groups += [values[code] for code in codes.tolist()] if codes is not None else []


def _values(batch: Batch, name: str) -> list[Any]:
    codes, values = batch.groups(name)
    return [values[code] for code in codes.tolist()]


def _score_columns(given: str, classes: Any) -> tuple[str, list[str]]:
    """Return the name of a judge that gives scores, and the column of each class in order."""
    positions, text = class_positions(classes)
    pairs = [part.partition("=") for part in given.split(",")]
    columns = {text(label.strip()): column.strip() for label, _, column in pairs}
    if set(columns) != set(positions) or len(columns) < len(pairs):
        raise DataError(
            f"--scores {given}: name the column of each class once, as in "
            f"{','.join(f'{label}=COLUMN' for label in positions)}."
        )
    ordered = [columns[label] for label in positions]
    return "+".join(ordered), ordered


def read_answer_map(source: str | Path) -> AnswerMap:
    """Read a table of free texts and the classes that they stand for.

    Its columns are ``answer`` and ``class``, or else its first two.
    """
    table = TableFile(source)
    if len(table.columns) < 2:
        raise DataError(f"{table.name} must have two columns, answer and class; it has {quoted(table.columns)}.")
    columns = ["answer", "class"] if {"answer", "class"} <= set(table.columns) else table.columns[:2]
    pairs: list[tuple[Any, Any]] = []
    for batch in table.batches(dict.fromkeys(columns, "group")):
        answers, classes = (_values(batch, name) for name in columns)
        pairs += [("" if is_missing(a) else a, c) for a, c in zip(answers, classes, strict=True)]
    return AnswerMap(pairs)
