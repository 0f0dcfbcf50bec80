"""`statistics_query`: the one query that computes in a database what a tally adds up.

All sums are of integers, so that the result does not depend on the order of rows or on the database. A coordinate x is the integer
floor(x * 2^40 + 1/2), as in `headcount.protocols.exact`, and its sum has two columns, of the integer's quotient and remainder by
2^20: 64-bit sums of them overflow at 2^43 rows.
"""

from collections.abc import Sequence

from headcount._validation import plain
from headcount.exceptions import DataError
from headcount.quantifiers import Quantifier
from headcount.stream import Recipe
from headcount.stream._kernels import COARSEST, PRIME, STIRRED
from headcount.stream.filters import Condition
from headcount.stream.groups import parse_groupings
from headcount.stream.sketch import FINEST, HALVINGS, lot_factors, most_cells
from headcount.warehouse.contents import Contents, group_columns
from headcount.warehouse.dialects import DIALECTS, column_name, rendered, table_name

__all__ = ["DIALECTS", "scoring_query", "statistics_query"]

_UNIT, _LIMB = f"{2.0**40!r}", f"{2.0**20!r}"
_LARGEST_EXPONENT, _BIAS = 40, 1023
"""Of a coordinate in units, and what a double adds to its exponent: the first bits of a double tell cells of a sketch apart."""
_FENCES = {"postgres": " OFFSET 0", "sqlite": " LIMIT -1 OFFSET 0"}
"""Ends of steps without which these databases put each step's expressions into the next one, wherever they are used: with ten
classes PostgreSQL took 25 times as long."""


def statistics_query(
    recipe: Recipe,
    kind: str,
    names: tuple[str, ...],
    table: str,
    by: str | None = None,
    where: Sequence[str] = (),
    dialect: str = "postgres",
) -> str:
    """Return the query that computes the statistics of each group of a table of scores or decisions.

    Parameters
    ----------
    recipe : Recipe
    kind : {"scores", "decisions", "numbers"}
    names : tuple of str
        The columns of scores in the order of the classes (for two classes that of the second is enough), that of decisions, or the
        features of a linear classifier.
    table : str
        Its name, with a schema before a dot if need be.
    by : str, optional
        A column to group by; for dates also ``column:day``, ``week``, ``month``, ``quarter`` or ``year``. Several are separated by
        commas.
    where : sequence of str
        Conditions that rows must meet, as `headcount.stream.filters.Condition` has them.
    dialect : str, default="postgres"
        One of `DIALECTS`.
    """
    _check_dialect(dialect)
    contents = Contents.of(recipe, kind, names, by, where)
    source, columns = table_name(table, dialect), [column_name(name, dialect) for name in names]
    conditions = [Condition.parse(text) for text in where]
    if conditions:
        met = " AND ".join(one.sql(column_name(one.column, dialect), dialect) for one in conditions)
        source = f"{source} WHERE {met}"
    groups, bad_date = _groups(by, dialect)
    if kind == "decisions":
        return rendered(_counted(contents.stamp, source, columns[0], groups, bad_date), dialect)
    scores = [f"CAST({column} AS DOUBLE)" for column in columns]
    if kind == "numbers":
        from headcount.warehouse.linear import posterior_sql

        scores = list(posterior_sql(recipe.quantifier.classifier_, columns, recipe.quantifier.classes_))
    elif len(columns) < recipe.k:
        scores = [f"1.0 - {scores[0]}", scores[0]]
    # SQLite stores anything anywhere, and would read a text as the number 0.
    types = ("real", "integer", "null") if kind == "numbers" else ("real", "integer")
    numbers = [f"TYPEOF({column}) IN {types}" for column in columns] if dialect == "sqlite" else []
    steps = _item_steps(contents, source, scores, numbers, groups, bad_date, dialect)
    return rendered(_added_up(contents, steps, list(groups), dialect), dialect)


def scoring_query(quantifier: Quantifier, names: tuple[str, ...], table: str, dialect: str = "postgres") -> str:
    """Return the query that adds the posteriors of a linear classifier to a table of numbers, in columns ``score_`` and the class.

    They agree with the classifier's own within 1e-9; with fold classifiers they are the mean of theirs.
    """
    from headcount.warehouse.linear import posterior_sql

    _check_dialect(dialect)
    columns = [column_name(name, dialect) for name in names]
    posteriors = posterior_sql(getattr(quantifier, "classifier_", None), columns, quantifier.classes_)
    titles = [column_name(f"score_{plain(label)}", dialect) for label in quantifier.classes_]
    scores = ", ".join(f"{e} AS {title}" for e, title in zip(posteriors, titles, strict=True))
    return rendered(f"SELECT *, {scores} FROM {table_name(table, dialect)}", dialect)


def _check_dialect(dialect: str) -> None:
    if dialect not in DIALECTS:
        raise DataError(f"There is no dialect {dialect!r}; there are {', '.join(DIALECTS)}.")


def _groups(by: str | None, dialect: str) -> tuple[dict[str, str], str]:
    """Return SQL for the columns that name the group of a row, and for whether some date can't be read (1) or all can (0)."""
    groups, unread = {}, []
    for position, grouping in enumerate(parse_groupings(by, [])):
        column = column_name(grouping.column, dialect)
        groups[f"grp_{position}"] = column
        if grouping.unit:
            groups[f"grp_{position}"] = period = f"PERIOD('{grouping.unit}', {column})"
            unread.append(f"(NOT {column} IS NULL AND {period} IS NULL)")
    return groups, f"CASE WHEN {' OR '.join(unread)} THEN 1 ELSE 0 END" if unread else "0"


def _named(groups: list[str]) -> list[str]:
    """Return the columns of a result that name the group."""
    named = [f"{column} AS {name}" for column, name in zip(groups, group_columns(len(groups)), strict=True)]
    return named or ["'all' AS group_name"]


def _counted(stamp: str, source: str, column: str, groups: dict[str, str], bad_date: str) -> str:
    """Return the query for a column of decisions: how many rows there are of each."""
    columns = ", ".join([*(f"{e} AS {name}" for name, e in groups.items()), f"{bad_date} AS bad_date"])
    return (
        f"WITH headcount_items AS (SELECT {columns}, {column} AS decided FROM {source}) "
        f"SELECT {_text(stamp)} AS recipe, {', '.join(_named(list(groups)))}, decided AS class, COUNT(*) AS n, "
        "SUM(bad_date) AS bad_dates, SUM(CASE WHEN decided IS NULL THEN 1 ELSE 0 END) AS invalid FROM headcount_items "
        f"GROUP BY {', '.join([*groups, 'decided'])}"
    )


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _added_up(contents: Contents, steps: dict[str, str], groups: list[str], dialect: str) -> str:
    """Return the query that adds up what the steps compute of each row."""
    codes, sums = contents.code_columns(), contents.sum_columns()
    sizes = {"n": "COUNT(*)", "bad_dates": "SUM(bad_date)", "invalid": "SUM(1 - valid)"}
    added = sizes | {f"{name}_high": f"SUM({name}_high)" for name in sums}
    added |= {f"{name}_low": f"SUM({name} - {name}_high * {1 << 20})" for name in sums}
    last, cells = "headcount_limbs", [*groups, *codes]
    if contents.sketched:
        keys = [f"sketch_key_{i}" for i in range(len(contents.sketched))]
        finest = ", ".join([*cells, *keys])
        columns = ", ".join(f"{e} AS {name}" for name, e in added.items())
        steps = steps | {"headcount_cells": f"SELECT {finest}, {columns} FROM {last} GROUP BY {finest}"}
        steps |= _cell_steps(groups, [*codes, *added], keys, _FENCES.get(dialect, ""))
        last = "headcount_placed"
        added = {name: f"SUM({name})" for name in added}
        codes |= dict.fromkeys(("sketch_step", "sketch_kept"), "")
        cells += ["sketch_step", "sketch_kept", *keys]
    results = [
        f"{_text(contents.stamp)} AS recipe",
        *_named(groups),
        *codes,
        *(f"CAST({e} AS BIGINT) AS {name}" for name, e in added.items()),
    ]
    with_steps = ", ".join(f"{name} AS ({step})" for name, step in steps.items())
    grouped = f" GROUP BY {', '.join(cells)}" if cells else ""
    return f"WITH {with_steps} SELECT {', '.join(results)} FROM {last}{grouped}"


def _item_steps(
    contents: Contents,
    source: str,
    scores: list[str],
    numbers: list[str],
    groups: dict[str, str],
    bad_date: str,
    dialect: str,
) -> dict[str, str]:
    """Return the steps from a row's scores to its cells and to the limbs of its coordinates.

    Posteriors are valid as in `headcount.learners.Outputs`: at least -1e-9, with a sum within 1e-3 of 1. ``numbers`` are conditions
    under which the columns hold numbers at all.
    """
    classes = range(len(scores))
    total = " + ".join(f"s{j}" for j in classes)
    within = [f"{total} - 1.0 <= 1e-3", f"{total} - 1.0 >= -1e-3"]
    valid = " AND ".join(["is_number = 1", *(f"s{j} >= -1e-9" for j in classes), *within])
    is_number = f"CASE WHEN {' AND '.join(numbers)} THEN 1 ELSE 0 END" if numbers else "1"
    kept, p = ", ".join([*groups, "bad_date", "valid"]), ", ".join(f"p{j}" for j in classes)
    grouped = [f"{e} AS {name}" for name, e in groups.items()]
    posteriors = ", ".join(f"CASE WHEN valid = 1 AND s{j} > 0.0 THEN s{j} ELSE 0.0 END AS p{j}" for j in classes)
    decision = " ".join(f"WHEN p{j} = largest THEN {j}" for j in classes[:-1])
    codes, sums = contents.code_columns(), contents.sum_columns()
    units = {name: f"FLOOR(({e}) * {_UNIT} + 0.5)" for name, e in sums.items()}
    coordinates = [
        *(f"CAST({e} AS BIGINT) AS {name}" for name, e in codes.items()),
        *(f"{_at_least_one(u) if name.startswith('sketch_') else u} AS {name}" for name, u in units.items()),
    ]
    limbs = [
        *codes,
        *(f"{_cell(f'sketch_{i}')} AS sketch_key_{i}" for i in range(len(contents.sketched))),
        *(f"{name}, FLOOR({name} / {_LIMB}) AS {name}_high" for name in sums),
    ]
    named = ", ".join(f"{score} AS s{j}" for j, score in enumerate(scores))
    columns = {
        "scores": ", ".join([*grouped, f"{bad_date} AS bad_date, {is_number} AS is_number, {named}"]),
        "checked": ", ".join(
            [*groups, "bad_date", *(f"s{j}" for j in classes), f"CASE WHEN {valid} THEN 1 ELSE 0 END AS valid"]
        ),
        "posteriors": f"{kept}, {posteriors}",
        "ranked": f"{kept}, {p}, LARGEST({p}) AS largest",
        "decided": f"{kept}, {p}, largest, CASE {decision} ELSE {len(scores) - 1} END AS decision",
        "units": f"{kept}, {', '.join(coordinates)}",
        "limbs": f"{kept}, {', '.join(limbs)}",
    }
    steps = {}
    for name, selected in columns.items():
        fence = _FENCES.get(dialect, "") if name in ("checked", "posteriors", "ranked", "units") else ""
        steps[f"headcount_{name}"] = f"SELECT {selected} FROM {source}{fence}"
        source = f"headcount_{name}"
    return steps


def _cell_steps(groups: list[str], carried: list[str], keys: list[str], fence: str) -> dict[str, str]:
    """Return steps that find how wide the cells of each group are, and which are kept, as `Sketch` does.

    ``sketch_step`` counts how often they were made wider, and after that how often their sample was halved: as often as it takes
    until there are not too many. Cells that are not kept have the keys -1.
    """
    carry = ", ".join([*groups, "group_number", *carried, *keys])
    numbered = f"DENSE_RANK() OVER (ORDER BY {', '.join(groups)})" if groups else "1"
    widest, steps = FINEST - COARSEST, {}
    steps["headcount_numbered"] = f"SELECT *, {numbered} AS group_number FROM headcount_cells"
    factors = lot_factors(len(keys))
    drawn = " + ".join(f"FLOOR({key} / {2.0**widest!r}) * {f}" for key, f in zip(keys, factors, strict=True))
    steps["headcount_drawn"] = f"SELECT {carry}, ({drawn}) % {PRIME} AS lot FROM headcount_numbered{fence}"
    source = "headcount_drawn"
    for time, constant in enumerate(STIRRED):
        steps[f"headcount_lots_{time}"] = (
            f"SELECT {carry}, (lot * lot + {constant}) % {PRIME} AS lot FROM {source}{fence}"
        )
        source = f"headcount_lots_{time}"
    counts, level = [], source
    for step in range(widest + 1):
        halves = ", ".join(f"FLOOR({key} / 2.0) AS {key}" if step else key for key in keys)
        name = f"headcount_width_{step}"
        steps[name] = f"SELECT DISTINCT group_number, lot, {halves} FROM {level}"
        counts.append(f"SELECT group_number, {step} AS step, COUNT(*) AS n_cells FROM {name} GROUP BY group_number")
        level = name
    for step in range(widest + 1, widest + HALVINGS + 1):
        below = f"SUM(CASE WHEN lot < {PRIME >> (step - widest)} THEN 1 ELSE 0 END)"
        counts.append(f"SELECT group_number, {step} AS step, {below} AS n_cells FROM {level} GROUP BY group_number")
    steps["headcount_counts"] = " UNION ALL ".join(counts)
    fits = f"MIN(CASE WHEN n_cells <= {most_cells(len(keys))} THEN step END)"
    steps["headcount_steps"] = (
        f"SELECT group_number AS numbered, COALESCE({fits}, {widest + HALVINGS}) AS sketch_step FROM headcount_counts "
        "GROUP BY group_number"
    )
    bounds = " ".join(f"WHEN sketch_step = {widest + h} THEN {PRIME >> h}" for h in range(1, HALVINGS + 1))
    widths = " ".join(f"WHEN sketch_step = {step} THEN {1 << step}" for step in range(widest))
    steps["headcount_kept"] = (
        f"SELECT {carry}, sketch_step, CASE {widths} ELSE {1 << widest} END AS width, "
        f"CASE WHEN lot < CASE {bounds} ELSE {PRIME} END THEN 1 ELSE 0 END AS sketch_kept "
        f"FROM {source} JOIN headcount_steps ON group_number = numbered"
    )
    placed = ", ".join(
        f"CASE WHEN sketch_kept = 1 THEN FLOOR({key} / CAST(width AS DOUBLE)) ELSE -1 END AS {key}" for key in keys
    )
    kept = ", ".join([*groups, *carried, "sketch_step", "sketch_kept"])
    steps["headcount_placed"] = f"SELECT {kept}, {placed} FROM headcount_kept"
    return steps


def _at_least_one(unit: str) -> str:
    """Return SQL for a coordinate of a sketch, which is at least one unit."""
    return f"CASE WHEN {unit} < 1 THEN 1 ELSE {unit} END"


def _cell(name: str) -> str:
    """Return SQL for the finest cell of a sketch: the exponent and the first bits of the mantissa of a whole number of units."""
    branches = [
        f"WHEN {name} >= {1 << e} THEN FLOOR({name} * {2.0 ** (FINEST - e)!r}) + {(e + _BIAS - 1) << FINEST}"
        for e in range(_LARGEST_EXPONENT, -1, -1)
    ]
    return f"CASE {' '.join(branches)} END"
