"""`headcount sql`: print the query with which a database computes the statistics of an estimate."""

from typing import Annotated

import typer

from headcount.cli import options
from headcount.cli.model import model_from
from headcount.cli.option_groups import BlackBox, Rows, with_option_groups
from headcount.cli.output import echo
from headcount.exceptions import DataError

__all__ = ["sql"]


@with_option_groups
def sql(
    model: options.MODEL,
    table: Annotated[str, options.option("--table", help="The table in the database, as in scores or schema.scores.")],
    *,
    rows: Rows,
    dialect: Annotated[
        str, typer.Option("--dialect", help="postgres, snowflake, bigquery, spark, duckdb or sqlite.")
    ] = "postgres",
    scoring: Annotated[
        bool,
        typer.Option("--scoring", help="Print the query that scores items with a linear model of numbers instead."),
    ] = False,
    black_box: BlackBox,
) -> None:
    """Print the query that computes, in a database, what an estimate needs of each group of a table of scores.

    Save its few rows as CSV, and pass them to headcount estimate with --statistics and the same arguments: the answer is equal, to
    the bit, to that from the rows themselves.

    Example: headcount sql --scored labelled.csv --label y --scores neg=p0,pos=p1 --table scores --by sold:month
    """
    from headcount.desk import scoring_sql, statistics_sql

    loaded = model_from(model, [], black_box)
    if scoring and (rows.by or rows.where):
        raise DataError("--scoring prints a score for each row: omit --by and --where.")
    query = (
        scoring_sql(loaded, table, dialect=dialect)
        if scoring
        else statistics_sql(loaded, table, by=rows.grouping, where=rows.conditions, dialect=dialect)
    )
    echo(f"{query};")
