"""`headcount sql`: print the query with which a database computes the statistics of an estimate."""

from typing import Annotated

import typer

from headcount.cli import options
from headcount.cli.model import model_from
from headcount.exceptions import DataError

__all__ = ["sql"]


def sql(
    model: options.MODEL,
    table: Annotated[str, options.option("--table", help="The table in the database, as in scores or schema.scores.")],
    by: options.BY = None,
    where: options.WHERE = None,
    dialect: Annotated[
        str, typer.Option("--dialect", help="postgres, snowflake, bigquery, spark, duckdb or sqlite.")
    ] = "postgres",
    scoring: Annotated[
        bool,
        typer.Option("--scoring", help="Print the query that scores items with a linear model of numbers instead."),
    ] = False,
    scored: options.SCORED = False,
    confusion: options.CONFUSION = False,
    label: options.LABEL = None,
    scores: options.SCORES = None,
    decisions: options.DECISIONS = None,
    method: options.SCORED_METHOD = "auto",
) -> None:
    """Print the query that computes, in a database, what an estimate needs of each group of a table of scores.

    Save its few rows as CSV, and pass them to headcount estimate with --statistics and the same arguments: the answer is equal, to
    the bit, to that from the rows themselves.

    Example: headcount sql --scored labelled.csv --label y --scores neg=p0,pos=p1 --table scores --by sold:month
    """
    from headcount.desk import scoring_sql, statistics_sql

    loaded = model_from(model, [], scored, confusion, label, scores, decisions, method)
    if scoring and (by is not None or where):
        raise DataError("--scoring prints a score for each row: omit --by and --where.")
    query = (
        scoring_sql(loaded, table, dialect=dialect)
        if scoring
        else statistics_sql(loaded, table, by=options.joined(by), where=where or (), dialect=dialect)
    )
    typer.echo(f"{query};")
