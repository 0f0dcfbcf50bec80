"""`statistics_query`: the one query that computes in a database what a tally adds up.

All sums are of integers, so that the result does not depend on the order of rows or on the database. A coordinate x is the integer
floor(x * 2^40 + 1/2), as in `headcount.protocols.exact`, and its sum has two columns, of the integer's quotient and remainder by
2^20: 64-bit sums of them overflow at 2^43 rows.
"""

from headcount.exceptions import DataError
from headcount.stream import Recipe
from headcount.stream.groups import Grouping
from headcount.warehouse.contents import Contents
from headcount.warehouse.dialects import DIALECTS, column_name, rendered, table_name

__all__ = ["DIALECTS", "statistics_query"]

_UNIT, _LIMB = f"{2.0**40!r}", f"{2.0**20!r}"
_BITS, _LARGEST_BITS = 8, 41
"""Bits of the mantissa that tell cells of a sketch apart, and the most bits of an integer coordinate."""


def statistics_query(
    recipe: Recipe, kind: str, names: tuple[str, ...], table: str, by: str | None = None, dialect: str = "postgres"
) -> str:
    """Return the query that computes the statistics of each group of a table of scores or decisions.

    Parameters
    ----------
    recipe : Recipe
    kind : {"scores", "decisions"}
    names : tuple of str
        The columns of scores in the order of the classes (for two classes that of the second is enough), or that of decisions.
    table : str
        Its name, with a schema before a dot if need be.
    by : str, optional
        A column to group by; for dates also ``column:day``, ``week``, ``month``, ``quarter`` or ``year``.
    dialect : str, default="postgres"
        One of `DIALECTS`.
    """
    if dialect not in DIALECTS:
        raise DataError(f"There is no dialect {dialect!r}; there are {', '.join(DIALECTS)}.")
    if kind not in ("scores", "decisions"):
        raise DataError(
            f"The model reads {kind}, which a database can't score. Use --scored with columns of scores, or estimate from files."
        )
    contents = Contents.of(recipe, kind, names, by)
    source, columns = table_name(table, dialect), [column_name(name, dialect) for name in names]
    group, bad_date = _group(by, dialect)
    if kind == "decisions":
        return rendered(_counted(contents.stamp, source, columns[0], group, bad_date, by), dialect)
    return rendered(_added_up(contents, source, columns, recipe.k, group, bad_date, by, dialect), dialect)


def _group(by: str | None, dialect: str) -> tuple[str, str]:
    """Return SQL for the group of a row, and for whether its date can't be read (1) or can (0)."""
    if by is None:
        return "'all'", "0"
    grouping = Grouping.parse(by, [by.rpartition(":")[0] or by])
    column = column_name(grouping.column, dialect)
    if not grouping.unit:
        return column, "0"
    period = f"PERIOD('{grouping.unit}', {column})"
    return period, f"CASE WHEN NOT {column} IS NULL AND {period} IS NULL THEN 1 ELSE 0 END"


def _counted(stamp: str, source: str, column: str, group: str, bad_date: str, by: str | None) -> str:
    keys = ["decided"] if by is None else ["grp", "decided"]
    return (
        f"WITH headcount_items AS (SELECT {group} AS grp, {bad_date} AS bad_date, {column} AS decided FROM {source}) "
        f"SELECT '{stamp}' AS recipe, grp AS group_name, decided AS class, COUNT(*) AS n, SUM(bad_date) AS bad_dates, "
        "SUM(CASE WHEN decided IS NULL THEN 1 ELSE 0 END) AS invalid "
        f"FROM headcount_items GROUP BY {', '.join(keys)}"
    ).replace("grp AS group_name", "'all' AS group_name" if by is None else "grp AS group_name")


def _added_up(
    contents: Contents,
    source: str,
    columns: list[str],
    k: int,
    group: str,
    bad_date: str,
    by: str | None,
    dialect: str,
) -> str:
    """Return the query for columns of scores: each step names what the next one uses."""
    scores = [f"CAST({column} AS DOUBLE)" for column in columns]
    if len(columns) < k:
        scores = [f"1.0 - {scores[0]}", scores[0]]
    numbers = [f"TYPEOF({column}) IN ('real', 'integer')" for column in columns] if dialect == "sqlite" else []
    total = " + ".join(f"s{j}" for j in range(k))
    valid = " AND ".join(
        [*(["is_number = 1"] if numbers else []), *(f"s{j} >= -1e-9" for j in range(k)), f"{total} - 1.0 <= 1e-3"]
        + [f"{total} - 1.0 >= -1e-3"]
    )
    is_number = f"CASE WHEN {' AND '.join(numbers)} THEN 1 ELSE 0 END" if numbers else "1"
    posteriors = [f"CASE WHEN valid = 1 AND s{j} > 0.0 THEN s{j} ELSE 0.0 END" for j in range(k)]
    kept = "grp, bad_date, valid"
    p = ", ".join(f"p{j}" for j in range(k))
    decision = " ".join(f"WHEN p{j} = largest THEN {j}" for j in range(k - 1))
    codes, sums = contents.code_columns(), contents.sum_columns()
    units = {name: f"FLOOR(({e}) * {_UNIT} + 0.5)" for name, e in sums.items()}
    keys = [*codes, *(f"sketch_key_{i}" for i in range(len(contents.sketched)))]
    steps = {
        "headcount_scores": f"SELECT {group} AS grp, {bad_date} AS bad_date, {is_number} AS is_number, "
        + ", ".join(f"{score} AS s{j}" for j, score in enumerate(scores))
        + f" FROM {source}",
        "headcount_checked": f"SELECT grp, bad_date, {', '.join(f's{j}' for j in range(k))}, "
        f"CASE WHEN {valid} THEN 1 ELSE 0 END AS valid FROM headcount_scores",
        "headcount_posteriors": f"SELECT {kept}, {', '.join(f'{e} AS p{j}' for j, e in enumerate(posteriors))} FROM headcount_checked",
        "headcount_ranked": f"SELECT {kept}, {p}, LARGEST({p}) AS largest FROM headcount_posteriors",
        "headcount_decided": f"SELECT {kept}, {p}, largest, CASE {decision} ELSE {k - 1} END AS decision FROM headcount_ranked",
        "headcount_units": f"SELECT {kept}, "
        + ", ".join(
            [f"CAST({e} AS BIGINT) AS {name}" for name, e in codes.items()]
            + [f"{_at_least_one(e) if name.startswith('sketch_') else e} AS {name}" for name, e in units.items()]
        )
        + " FROM headcount_decided",
        "headcount_limbs": f"SELECT {kept}, "
        + ", ".join(
            [
                *codes,
                *(f"{_cell(f'sketch_{i}')} AS sketch_key_{i}" for i in range(len(contents.sketched))),
                *(f"{name}, FLOOR({name} / {_LIMB}) AS {name}_high" for name in sums),
            ]
        )
        + " FROM headcount_units",
    }
    results = [
        f"'{contents.stamp}' AS recipe",
        "'all' AS group_name" if by is None else "grp AS group_name",
        *codes,
        "COUNT(*) AS n",
        "SUM(bad_date) AS bad_dates",
        "SUM(1 - valid) AS invalid",
        *(f"CAST(SUM({name}_high) AS BIGINT) AS {name}_high" for name in sums),
        *(f"CAST(SUM({name} - {name}_high * {1 << 20}) AS BIGINT) AS {name}_low" for name in sums),
    ]
    keys = keys if by is None else ["grp", *keys]
    with_steps = ", ".join(f"{name} AS ({step})" for name, step in steps.items())
    return f"WITH {with_steps} SELECT {', '.join(results)} FROM headcount_limbs" + (f" GROUP BY {', '.join(keys)}" if keys else "")


def _at_least_one(unit: str) -> str:
    """A coordinate below one unit counts as one unit, as in `headcount.stream.sketch`."""
    return f"CASE WHEN {unit} < 1 THEN 1 ELSE {unit} END"


def _cell(name: str) -> str:
    """Return SQL for the cell of a sketch: the exponent and the first bits of the mantissa of a whole number of units."""
    branches = [
        f"WHEN {name} >= {1 << (_BITS + shift)} THEN FLOOR({name} / {float(1 << shift)!r}) + {shift << _BITS}"
        for shift in range(_LARGEST_BITS - _BITS, 0, -1)
    ]
    return f"CASE {' '.join(branches)} ELSE {name} END"
