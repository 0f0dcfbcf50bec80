"""From a model and tables of new items to which of them to label, and the file to be filled in."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from headcount._distributions import normal_quantile
from headcount._labels import class_positions, label_text
from headcount._typing import AnyArray, FloatArray, IntArray
from headcount._validation import quoted, seed_sequence
from headcount.desk.estimate import check_level, listed_paths, loaded_model
from headcount.exceptions import DataError
from headcount.modelfile import Model
from headcount.planning import FirstRound, LabelPlan, ResidualModel, SourceNeed, plan_labels, source_items_needed
from headcount.planning.plan import check_half_width
from headcount.planning.residuals import source_predictions, steadied_shares
from headcount.stream import GroupShares, Reading, Recipe, estimate_groups
from headcount.stream.groups import group_label
from headcount.stream.scored_items import ScoredItems, scored_items
from headcount.tables import Kind, TableFile, files_of

__all__ = ["GroupPlan", "TablePlan", "plan_table"]

ITEM, PROBABILITY, LABEL = "headcount_item", "headcount_probability", "label"
"""Columns of a file of items to label: the row of an item in the new tables, from 1; its inclusion probability; its label."""
_FEWEST_FIRST = 10
"""Labels of a first round from which a group is planned by them."""


@dataclass(frozen=True, eq=False)
class GroupPlan:
    """The plan of one group.

    Attributes
    ----------
    name : str
    n_items : int
    plan : LabelPlan or None
        None if the group has too few items.
    source : SourceNeed or None
        What the label-shift route needs; None without a half-width to reach or an interval of the method.
    verdict : str
        Of the check whether the model fits the group.
    from_labels : bool
        Whether labels of a first round stand behind the plan, not the model alone.
    """

    name: str
    n_items: int
    plan: LabelPlan | None
    source: SourceNeed | None
    verdict: str
    from_labels: bool


@dataclass(frozen=True, eq=False)
class TablePlan:
    """Plans of the groups of tables, and the rows of the file to be filled in.

    Attributes
    ----------
    groups : list of GroupPlan
    classes : array
    rows : list of dict
        The columns of each item to label; those that are labelled already come first.
    half_width, level : float
    estimand : {"population", "sample"}
    learnt : bool
        Whether labelled items say how far the posteriors are wrong; else they are trusted.
    min_items : int
    """

    groups: list[GroupPlan]
    classes: AnyArray
    rows: list[dict[str, Any]]
    half_width: float | None
    level: float
    estimand: str
    learnt: bool
    min_items: int

    @property
    def planned(self) -> list[tuple[GroupPlan, LabelPlan]]:
        """The groups that have a plan, with it."""
        return [(group, group.plan) for group in self.groups if group.plan is not None]

    @property
    def n_labels(self) -> int:
        """Number of items to label, over all groups."""
        return sum(plan.n_labels for _, plan in self.planned)

    def records(self) -> list[dict[str, Any]]:
        """Return one row a group, of plain values."""
        records = []
        for group in self.groups:
            plan, source = group.plan, group.source
            record: dict[str, Any] = {"group": group.name, "n": group.n_items}
            if plan is None:
                records.append(record | {"labels": None, "verdict": group.verdict})
                continue
            widest = plan.widest
            records.append(
                record
                | {
                    "labels": plan.n_labels,
                    "labels_uniform": plan.labels_uniform,
                    "labels_alone": plan.labels_alone,
                    "labelled_already": plan.n_labelled,
                    "class": label_text(self.classes[widest]),
                    "share": float(plan.shares[widest]),
                    "half_width": float(plan.half_widths[widest]),
                    "half_width_uniform": float(plan.half_widths_uniform[widest]),
                    "half_width_alone": float(plan.half_widths_alone[widest]),
                    "reached": plan.reached,
                    "label_shift_half_width": None if source is None else source.half_width,
                    "label_shift_labelled": None if source is None else source.n_labelled,
                    "label_shift_needed": None if source is None else source.needed,
                    "verdict": group.verdict,
                }
            )
        return records


def plan_table(
    model: Model | str | Path,
    files: str | Path | Sequence[str | Path],
    *,
    by: str | None = None,
    where: Sequence[str] = (),
    half_width: float | None = None,
    labels: int | None = None,
    target: str | None = None,
    uniform: bool = False,
    labels_from: Any = None,
    id_column: str | None = None,
    level: float = 0.95,
    estimand: str = "population",
    min_items: int = 30,
    random_state: int | None = 0,
    progress: Callable[[int], None] | None = None,
) -> TablePlan:
    r"""Plan which new items to label, so that the shares of each group have a half-width, and make the file to be filled in.

    The posteriors of all items are kept in memory.

    Parameters
    ----------
    model, files, by, where, level, estimand, min_items, progress
        As in `estimate_tables`.
    half_width : float, optional
        To reach in each group; or else
    labels : int, optional
        how many items to label in each group; all of a group that has fewer.
    target : str, optional
        The class whose share matters; by default all, and the widest interval counts.
    uniform : bool, default=False
        Draw all items of a group with the same probability, rather than those more often whose class is less certain.
    labels_from : path or table, optional
        Items that are labelled already, drawn at random, in a file as this function makes it: further ones are planned.
    id_column : str, optional
        A column that identifies items; by default their row numbers do.
    random_state : int, default=0

    Returns
    -------
    TablePlan

    Examples
    --------
    >>> import tempfile
    >>> from headcount.desk import scored_model
    >>> rows = ["neg,0.9,0.1", "neg,0.6,0.4", "pos,0.3,0.7", "pos,0.2,0.8"] * 100
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "labelled.csv")
    ...     _ = file.write_text("\n".join(["y,score_neg,score_pos", *rows]))
    ...     result = plan_table(scored_model(file, label="y"), file, labels=20, estimand="sample")
    >>> result.n_labels, list(result.rows[0])
    (20, ['y', 'score_neg', 'score_pos', 'headcount_item', 'headcount_probability', 'label'])
    """
    check_level(level)
    if (half_width is None) == (labels is None):
        raise DataError("Name either a half-width to reach (--half-width) or how many items to label (--labels).")
    if half_width is not None:
        check_half_width(half_width)
    model = loaded_model(model)
    classes, paths = model.classes, listed_paths(files)
    chosen = None if target is None else _class_position(target, classes)
    held_out = model.held_out()
    recipe = Recipe(model.quantifier, held_out, model.only_decides, model.labelled_items())
    columns = model.columns
    reading = Reading(recipe, columns.kind, columns.names, by, where=tuple(where), roles=columns.roles)
    items = scored_items(paths, reading, id_column, progress)
    known = None if labels_from is None else _first_labels(labels_from, items, id_column, classes)
    shares = estimate_groups(items.tally, level=level, estimand=_checked_estimand(estimand), min_items=min_items)
    plans: list[GroupPlan] = []
    drawn: dict[int, tuple[float, str]] = {}
    seeds = seed_sequence(random_state).spawn(len(shares.names))
    for g, name in enumerate(shares.names):
        members = np.flatnonzero(items.groups == items.names.index(name))
        first, codes = (None, None) if known is None else _first_of(members, *known)
        plan, from_labels = None, False
        if len(members) >= min_items:
            plan, from_labels = plan_group(
                items.posteriors[members],
                shares.shares[g],
                (shares.high[g] - shares.low[g]) / (2.0 * float(normal_quantile((1.0 - level) / 2.0))),
                held_out,
                first,
                codes,
                half_width=half_width,
                labels=None
                if labels is None
                else min(labels, len(members) - (0 if first is None else len(first.rows))),
                target=chosen,
                uniform=uniform,
                finite_population=estimand == "sample",
                level=level,
                random_state=np.random.default_rng(seeds[g]),
            )
            if codes is not None and first is not None:
                for row, code in zip(first.rows, codes, strict=True):
                    drawn[int(members[row])] = (float(plan.probabilities[row]), label_text(classes[code]))
            drawn |= {int(members[row]): (float(plan.probabilities[row]), "") for row in plan.rows}
        source = None if half_width is None or plan is None else _source_need(shares, g, half_width, chosen)
        plans.append(GroupPlan(group_label(name), len(members), plan, source, shares.verdicts[g], from_labels))
    if not any(group.plan is not None for group in plans):
        raise DataError(
            f"The {'groups have' if len(plans) > 1 else 'table has'} too few items to plan labels for: "
            f"{max(group.n_items for group in plans):,} at most, and {min_items:,} are asked for (--min-items)."
        )
    rows = _rows_to_label(paths, items, drawn, id_column)
    return TablePlan(plans, classes, rows, half_width, level, estimand, held_out is not None, min_items)


def plan_group(
    P: FloatArray,
    shares: FloatArray,
    errors: FloatArray,
    held_out: tuple[FloatArray, IntArray] | None,
    first: FirstRound | None,
    codes: IntArray | None,
    **settings: Any,
) -> tuple[LabelPlan, bool]:
    """Return the plan of one group, and whether labels of a first round stand behind it.

    Parameters
    ----------
    P : array of shape (N, K)
        Posteriors of its items.
    shares, errors : arrays of shape (K,)
        Estimated without labels, with their standard errors; NaN where these are not known.
    held_out : posteriors and classes of labelled items of the source, or None
    first, codes : FirstRound and classes of its items, or None
    settings
        Of `plan_labels`.
    """
    k = P.shape[1]
    p = 0.98 * shares + 0.02 / k  # an estimate of 0 must not rule a class out for every item
    if held_out is None:
        predictions, residuals = P, ResidualModel.trusting(k)
    else:
        prior = np.bincount(held_out[1], minlength=k) / len(held_out[1])
        p = steadied_shares(p, errors, prior)
        predictions, of_source = source_predictions(P, *held_out, p)
        residuals = ResidualModel.fit(of_source, held_out[1], p)
    from_labels = first is not None and codes is not None and len(first.rows) >= _FEWEST_FIRST
    if from_labels and first is not None and codes is not None:
        residuals, p = residuals.with_first_round(predictions, first, codes)
    return plan_labels(residuals.variances(predictions), p, first=first, **settings), from_labels


def _source_need(shares: GroupShares, g: int, half_width: float, target: int | None) -> SourceNeed | None:
    estimated = shares.estimate
    if estimated is None or estimated.evidence is None or shares.names[g] not in (estimated.names or ()):
        return None
    s = (estimated.names or ()).index(shares.names[g])
    widths = (shares.high[g] - shares.low[g]) / 2.0
    return source_items_needed(estimated.evidence.take(s), widths, half_width, target)


def _checked_estimand(estimand: str) -> Any:
    if estimand not in ("population", "sample"):
        raise DataError(f"estimand must be one of 'population', 'sample'; got {estimand!r}.")
    return estimand


def _class_position(name: str, classes: AnyArray) -> int:
    positions, _ = class_positions(classes)
    if name not in positions:
        raise DataError(f"--class {name}: the classes of the model are {quoted(positions, 10)}.")
    return positions[name]


def _first_of(
    members: IntArray, positions: IntArray, codes: IntArray, probabilities: FloatArray | None, filled: FloatArray
) -> tuple[FirstRound | None, IntArray | None]:
    """Return the labelled items of one group, by their positions in the group."""
    order = np.argsort(positions)
    inside = order[np.isin(positions[order], members)]
    if not len(inside):
        return None, None
    rows = np.searchsorted(members, positions[inside])
    if probabilities is None:
        chances = np.full(len(rows), len(rows) / len(members))
    else:  # rows of the file that were left empty: the others are taken for a random part of them
        part = len(inside) / max(float(np.isin(filled, members).sum()), 1.0)
        chances = probabilities[inside] * part
    return FirstRound(rows.astype(np.int64), chances), codes[inside]


def _first_labels(
    source: Any, items: ScoredItems, id_column: str | None, classes: AnyArray
) -> tuple[IntArray, IntArray, FloatArray | None, FloatArray]:
    """Read the file of a first round: positions of labelled items, their classes and probabilities, positions of all its rows."""
    table = TableFile(source)
    key = ITEM if id_column is None else id_column
    if key not in table.columns and id_column is None:
        raise DataError(
            f"{table.name} has no column {ITEM!r}, by which its rows are found in the new table: give the file that headcount plan "
            "wrote, or name a column that identifies items with --id."
        )
    table.require([key, LABEL], ", which a file of labels needs")
    kinds: dict[str, Kind] = {key: "group", LABEL: "group"}
    if PROBABILITY in table.columns:
        kinds[PROBABILITY] = "number"
    names = [str(row + 1) for row in items.rows] if items.ids is None else items.ids
    position_of = {name: i for i, name in enumerate(names)}
    class_of, text = class_positions(classes)
    positions, codes, chances, filled, seen = [], [], [], [], set()
    for batch in table.batches(kinds):
        keys, key_names = batch.groups(key)
        labels, label_names = batch.groups(LABEL)
        numbers = batch.numbers(PROBABILITY) if PROBABILITY in kinds else None
        for row in range(len(batch)):
            name = "" if key_names[keys[row]] is None else label_text(key_names[keys[row]])
            label = label_names[labels[row]]
            if name not in position_of:
                _check_left_out(name, items, id_column, batch.place(row, key))
                continue
            if name in seen:
                raise DataError(
                    f"{batch.place(row, key)}: the item {name!r} is in the file twice: keep one row of each item."
                )
            seen.add(name)
            filled.append(position_of[name])
            if label is None or label != label or not str(label).strip():
                continue
            code = class_of.get(text(label))
            if code is None:
                raise DataError(
                    f"{batch.place(row, LABEL)}: the label {quoted([label])} is not among the classes of the model "
                    f"({quoted(class_of, 10)}). Correct it or leave it empty."
                )
            if numbers is not None and not 0.0 < numbers[row] <= 1.0:
                raise DataError(
                    f"{batch.place(row, PROBABILITY)}: the inclusion probability must be above 0 and at most 1; "
                    f"got {numbers[row]:g}."
                )
            positions.append(position_of[name])
            codes.append(code)
            chances.append(1.0 if numbers is None else float(numbers[row]))
    if not positions:
        raise DataError(f"{table.name} holds no labels of these rows: fill in its column {LABEL!r}.")
    return (
        np.array(positions, dtype=np.int64),
        np.array(codes, dtype=np.int64),
        np.array(chances) if PROBABILITY in kinds else None,
        np.array(filled, dtype=np.float64),
    )


def _check_left_out(name: str, items: ScoredItems, id_column: str | None, place: str) -> None:
    """Raise unless the item may be one of the rows that conditions leave out."""
    is_row = id_column is None and name.isdecimal() and 1 <= int(name) <= items.n_rows
    is_left_out = id_column is not None and items.n_rows > len(items.rows)
    if not (is_row or is_left_out):
        known = f", whose rows are numbered 1 to {items.n_rows:,}" if id_column is None else ""
        raise DataError(f"{place}: there is no item {name!r} in the new table{known}.")


def _rows_to_label(
    paths: Sequence[Any], items: ScoredItems, drawn: dict[int, tuple[float, str]], id_column: str | None
) -> list[dict[str, Any]]:
    """Return the original columns of the chosen rows, and those to be filled in; labelled ones first."""
    by_row = {int(items.rows[position]): entry for position, entry in drawn.items()}
    chosen = np.array(sorted(by_row), dtype=np.int64)
    records, first = [], 0
    for source in paths:
        for file in files_of(source):
            table = TableFile(file)
            taken = [name for name in (ITEM, PROBABILITY, LABEL) if name in table.columns]
            if taken:
                raise DataError(
                    f"{table.name} has a column {quoted(taken)}, which the file to be filled in needs for itself: rename it."
                )
            kinds: dict[str, Kind] = dict.fromkeys([*table.columns, *table.partitions], "any")
            for batch in table.batches(kinds):
                here = chosen[(chosen >= first) & (chosen < first + len(batch))]
                for number, values in zip(here, batch.chosen(here - first).columns.to_pylist(), strict=True):
                    probability, label = by_row[int(number)]
                    item = {ITEM: int(number) + 1} if id_column is None else {}
                    records.append(values | item | {PROBABILITY: probability, LABEL: label})
                first += len(batch)
    return sorted(records, key=lambda record: record[LABEL] == "")
