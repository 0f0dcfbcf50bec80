"""What differs between dialects of SQL and sqlglot does not know: exact numbers, whole numbers, dates, names.

An expression is written once, in sqlglot's own dialect, and rendered in that of a database.
"""

import re
from importlib import import_module
from typing import Any

from headcount.exceptions import DataError, MissingPackageError

__all__ = ["DIALECTS", "column_name", "period_start", "rendered", "table_name"]

DIALECTS = ("postgres", "snowflake", "bigquery", "spark", "duckdb", "sqlite")
_PART = re.compile(r'"[^"\0]+"|[^\W\d][\w$-]*')
"""A part of a table's name: plain, or in double quotes."""
_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")
_SQLITE_STARTS = {
    "day": "DATE({0})",
    "week": "DATE({0}, 'weekday 0', '-6 days')",
    "month": "DATE({0}, 'start of month')",
    "quarter": "DATE({0}, 'start of month', '-' || CAST((CAST(STRFTIME('%m', {0}) AS INTEGER) + 2) % 3 AS TEXT) || ' months')",
    "year": "DATE({0}, 'start of year')",
}


def sqlglot() -> Any:
    """Return the package sqlglot."""
    try:
        return import_module("sqlglot")
    except ImportError as error:
        raise MissingPackageError(
            "SQL for databases needs the package sqlglot, which is not installed: pip install 'headcount[warehouse]'."
        ) from error


def column_name(name: str, dialect: str) -> str:
    """Return a column's name in double quotes, as the database knows it: Snowflake stores plain names in capitals."""
    if '"' in name or "\0" in name or "`" in name:
        raise DataError(f"The column name {name!r} has quotes in it, which not all databases take: rename the column.")
    return f'"{name.upper() if dialect == "snowflake" and _PLAIN.fullmatch(name) else name}"'


def table_name(table: str, dialect: str) -> str:
    """Return a table's name, up to three parts with dots between them, each in double quotes.

    >>> table_name('analytics.scores', "postgres"), table_name('"My scores"', "snowflake")
    ('"analytics"."scores"', '"My scores"')
    """
    parts = [match[0] for match in _PART.finditer(table)]
    if not 1 <= len(parts) <= 3 or ".".join(parts) != table:
        raise DataError(
            f"{table!r} is not the name of a table: write scores, schema.scores or database.schema.scores, and parts with other "
            'characters than letters and digits in double quotes, as in "My scores".'
        )
    return ".".join(part if part.startswith('"') else column_name(part, dialect) for part in parts)


def period_start(value: str, unit: str, dialect: str) -> str:
    """Return SQL, in the dialect itself, for the first day of the day, week, .. that a date or time lies in."""
    if (
        dialect == "sqlite"
    ):  # dates are text: the first ten letters are the day by the clock of the time zone that was written
        return _SQLITE_STARTS[unit].format(f"SUBSTR({value}, 1, 10)")
    day = f"CAST({value} AS DATE)"
    if unit == "day":
        return day
    if dialect == "bigquery":
        return f"DATE_TRUNC({day}, {'ISOWEEK' if unit == 'week' else unit.upper()})"
    if dialect == "spark":
        return f"TRUNC({day}, '{unit.upper()}')"
    return f"CAST(DATE_TRUNC('{unit}', {day}) AS DATE)"


def rendered(query: str, dialect: str) -> str:
    """Render a query that is written in sqlglot's dialect.

    Numbers with a decimal point become doubles to the bit, FLOOR a 64-bit integer, LARGEST the largest of its arguments, and
    PERIOD('unit', value) the first day of a period.
    """
    glot = sqlglot()
    exp = glot.exp

    def replaced(node: Any) -> Any:
        if isinstance(node, exp.Literal) and not node.is_string and not node.this.isdecimal():
            return glot.parse_one(_exact(float(node.this)))
        if isinstance(node, exp.Floor):
            inner = (
                node.this if dialect == "sqlite" else node.copy()
            )  # SQLite may lack FLOOR; its CAST cuts off the fraction
            return exp.cast(inner, "BIGINT", copy=True)
        if isinstance(node, exp.Anonymous) and node.name.upper() == "LARGEST":
            return exp.Anonymous(this="MAX" if dialect == "sqlite" else "GREATEST", expressions=node.expressions)
        if isinstance(node, exp.Anonymous) and node.name.upper() == "PERIOD":
            unit, value = node.expressions
            return glot.parse_one(period_start(value.sql(dialect=dialect), unit.name, dialect), read=dialect)
        return node

    text: str = _transformed(glot.parse_one(query), replaced).sql(dialect=dialect, pretty=True)
    return text


def _transformed(tree: Any, replaced: Any) -> Any:
    """Replace nodes from the leaves up, each once."""
    for node in reversed(list(tree.walk(bfs=True))):
        new = replaced(node)
        if new is not node:
            node.replace(new)
    return tree


def _exact(value: float) -> str:
    """Return SQL for a double, made of an integer below 2^53 and powers of 2: no rounding, whatever a database does with decimals.

    >>> _exact(0.75)
    '(CAST(3 AS DOUBLE) / CAST(4 AS DOUBLE))'
    """
    numerator, denominator = value.as_integer_ratio()
    exponent = denominator.bit_length() - 1
    if exponent == 0:
        return f"CAST({numerator} AS DOUBLE)"
    steps = [min(60, exponent - done) for done in range(0, exponent, 60)]
    return f"(CAST({numerator} AS DOUBLE) / {' / '.join(f'CAST({1 << step} AS DOUBLE)' for step in steps)})"
