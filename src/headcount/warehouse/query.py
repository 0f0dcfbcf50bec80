"""`statistics_query`: the one query that computes in a database what a tally adds up.

All sums are of integers, so that the result does not depend on the order of rows or on the database. A coordinate x is the integer
floor(x * 2^40 + 1/2), as in `headcount.protocols.exact`, and its sum has two columns, of the integer's quotient and remainder by
2^20: 64-bit sums of them overflow at 2^43 rows.
"""

from headcount._validation import plain
from headcount.exceptions import DataError
from headcount.quantifiers import Quantifier
from headcount.stream import Recipe
from headcount.stream.groups import Grouping
from headcount.stream.sketch import FINEST, WIDEST, Sketch
from headcount.warehouse.contents import Contents
from headcount.warehouse.dialects import DIALECTS, column_name, rendered, table_name
from headcount.warehouse.linear import posterior_sql

__all__ = ["DIALECTS", "scoring_query", "statistics_query"]

_UNIT, _LIMB = f"{2.0**40!r}", f"{2.0**20!r}"
_LARGEST_EXPONENT, _BIAS = 40, 1023
"""Of a coordinate in units, and what a double adds to its exponent: cells of a sketch are told apart by the first bits of a double."""
_FENCES = {"postgres": " OFFSET 0", "sqlite": " LIMIT -1 OFFSET 0"}
"""Ends of steps without which these databases would put each step's expressions into the next one, wherever they are used: with ten
classes that is hundreds of times."""


def statistics_query(
    recipe: Recipe, kind: str, names: tuple[str, ...], table: str, by: str | None = None, dialect: str = "postgres"
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
        A column to group by; for dates also ``column:day``, ``week``, ``month``, ``quarter`` or ``year``.
    dialect : str, default="postgres"
        One of `DIALECTS`.
    """
    _check_dialect(dialect)
    contents = Contents.of(recipe, kind, names, by)
    source, columns = table_name(table, dialect), [column_name(name, dialect) for name in names]
    group, bad_date = _group(by, dialect)
    if kind == "decisions":
        return rendered(_counted(contents.stamp, source, columns[0], group, bad_date, by), dialect)
    scores = [f"CAST({column} AS DOUBLE)" for column in columns]
    if kind == "numbers":
        scores = list(posterior_sql(recipe.quantifier.classifier_, columns, recipe.quantifier.classes_))
    elif len(columns) < recipe.k:
        scores = [f"1.0 - {scores[0]}", scores[0]]
    # SQLite stores anything anywhere, and would read a text as the number 0.
    types = ("real", "integer", "null") if kind == "numbers" else ("real", "integer")
    numbers = [f"TYPEOF({column}) IN {types}" for column in columns] if dialect == "sqlite" else []
    return rendered(_added_up(contents, source, scores, numbers, group, bad_date, by, dialect), dialect)


def scoring_query(quantifier: Quantifier, names: tuple[str, ...], table: str, dialect: str = "postgres") -> str:
    """Return the query that adds the posteriors of a linear classifier to a table of numbers, in columns ``score_`` and the class.

    They agree with the classifier's own within 1e-9; with fold classifiers they are the mean of theirs.
    """
    _check_dialect(dialect)
    columns = [column_name(name, dialect) for name in names]
    posteriors = posterior_sql(getattr(quantifier, "classifier_", None), columns, quantifier.classes_)
    titles = [column_name(f"score_{plain(label)}", dialect) for label in quantifier.classes_]
    scores = ", ".join(f"{e} AS {title}" for e, title in zip(posteriors, titles, strict=True))
    return rendered(f"SELECT *, {scores} FROM {table_name(table, dialect)}", dialect)


def _check_dialect(dialect: str) -> None:
    if dialect not in DIALECTS:
        raise DataError(f"There is no dialect {dialect!r}; there are {', '.join(DIALECTS)}.")


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
    scores: list[str],
    numbers: list[str],
    group: str,
    bad_date: str,
    by: str | None,
    dialect: str,
) -> str:
    """Return the query for columns of scores: each step names what the next one uses."""
    k = len(scores)
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
    for name in ("checked", "posteriors", "ranked", "units"):
        steps[f"headcount_{name}"] += _FENCES.get(dialect, "")
    sizes = {"n": "COUNT(*)", "bad_dates": "SUM(bad_date)", "invalid": "SUM(1 - valid)"}
    added = {f"{name}_high": f"SUM({name}_high)" for name in sums}
    added |= {f"{name}_low": f"SUM({name} - {name}_high * {1 << 20})" for name in sums}
    groups = [] if by is None else ["grp"]
    last = "headcount_limbs"
    if contents.sketched:
        keys = [f"sketch_key_{i}" for i in range(len(contents.sketched))]
        columns = [f"{e} AS {name}" for name, e in (sizes | added).items()]
        kept_keys = ", ".join([*groups, *codes, *keys])
        steps["headcount_cells"] = f"SELECT {kept_keys}, {', '.join(columns)} FROM {last} GROUP BY {kept_keys}"
        steps |= _levels(groups, keys, Sketch(k))
        last = "headcount_cells CROSS JOIN headcount_width"
        sizes, added = ({name: f"SUM({name})" for name in part} for part in (sizes, added))
        codes |= {"sketch_width": "sketch_width"}
        by_cell = [*groups, *codes, *(f"FLOOR({key} / CAST(sketch_width AS DOUBLE))" for key in keys)]
    else:
        by_cell = [*groups, *codes]
    results = [
        f"'{contents.stamp}' AS recipe",
        "grp AS group_name" if groups else "'all' AS group_name",
        *codes,
        *(f"CAST({e} AS BIGINT) AS {name}" for name, e in (sizes | added).items()),
    ]
    with_steps = ", ".join(f"{name} AS ({step})" for name, step in steps.items())
    grouped = f" GROUP BY {', '.join(by_cell)}" if by_cell else ""
    return f"WITH {with_steps} SELECT {', '.join(results)} FROM {last}{grouped}"


def _levels(groups: list[str], keys: list[str], sketch: Sketch) -> dict[str, str]:
    """Return steps that find how wide the cells of a sketch must be: as `Sketch` does, the least of which there are not too many."""
    steps, widths = {}, []
    for level, bits in enumerate(range(FINEST, WIDEST - 1, -1)):
        halves = [f"FLOOR({key} / 2.0) AS {key}" if level else key for key in keys]
        source = f"headcount_level_{bits + 1}" if level else "headcount_cells"
        name = f"headcount_level_{bits}".replace("-", "minus_")
        steps[name] = f"SELECT DISTINCT {', '.join([*groups, *halves])} FROM {source.replace('-', 'minus_')}"
        widths.append(f"SELECT {1 << level} AS width, COUNT(*) AS n_cells FROM {name}")
    steps["headcount_widths"] = " UNION ALL ".join(widths)
    steps["headcount_width"] = (
        f"SELECT COALESCE(MIN(CASE WHEN n_cells <= {sketch.most_cells} THEN width END), {1 << (FINEST - WIDEST)}) AS sketch_width "
        "FROM headcount_widths"
    )
    return steps


def _at_least_one(unit: str) -> str:
    """A coordinate below one unit counts as one unit, as in `headcount.stream.sketch`."""
    return f"CASE WHEN {unit} < 1 THEN 1 ELSE {unit} END"


def _cell(name: str) -> str:
    """Return SQL for the finest cell of a sketch: the exponent and the first bits of the mantissa of a whole number of units."""
    branches = [
        f"WHEN {name} >= {1 << e} THEN FLOOR({name} * {2.0 ** (FINEST - e)!r}) + {(e + _BIAS - 1) << FINEST}"
        for e in range(_LARGEST_EXPONENT, -1, -1)
    ]
    return f"CASE {' '.join(branches)} END"
