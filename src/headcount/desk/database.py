"""Queries for a database: one computes what an estimate needs, one scores items with a linear model."""

from collections.abc import Sequence
from pathlib import Path

from headcount.desk.estimate import database_recipe, loaded_model
from headcount.exceptions import DataError
from headcount.modelfile import Model
from headcount.warehouse import scoring_query, statistics_query

__all__ = ["scoring_sql", "statistics_sql"]


def statistics_sql(
    model: Model | str | Path,
    table: str,
    *,
    by: str | None = None,
    where: Sequence[str] = (),
    dialect: str = "postgres",
) -> str:
    r"""Return the query that computes in a database the statistics of each group of a table of scores or decisions.

    Its result, saved as a file, is given to `estimate_tables` with ``statistics=True``, the same model, ``by`` and
    ``where``: shares, intervals and verdicts are equal to the bit to those from the rows themselves.

    Parameters
    ----------
    model : Model or path of a model file
        Of scores or decisions, from `scored_model` or `confusion_model`; or of logistic regression over columns of numbers without
        folds, whose answers agree within 1e-9, and are checked without the items themselves.
    table : str
        The name of the table, with a schema before a dot if need be.
    by : str, optional
        A column to group by; for dates also ``column:day``, ``week``, ``month``, ``quarter`` or ``year``. Several are separated by
        commas.
    where : sequence of str
        Conditions that rows must meet, all of them, as in `estimate_tables`. What is compared with a number must be one; a number
        in quotes is compared as text.
    dialect : {"postgres", "snowflake", "bigquery", "spark", "duckdb", "sqlite"}, default="postgres"

    Examples
    --------
    >>> import sqlite3, tempfile
    >>> from headcount.desk import scored_model
    >>> rows = ["neg,0.1", "neg,0.4", "pos,0.7", "pos,0.8"] * 25
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "labelled.csv")
    ...     _ = file.write_text("\n".join(["y,p", *rows]))
    ...     query = statistics_sql(scored_model(file, label="y", scores="p", method="ACC"), "scores", dialect="sqlite")
    >>> database = sqlite3.connect(":memory:")
    >>> _ = database.execute("CREATE TABLE scores (p REAL)")
    >>> _ = database.executemany("INSERT INTO scores VALUES (?)", [(0.2,), (0.7,), (0.9,)])
    >>> result = database.execute(query)
    >>> [row[[column[0] for column in result.description].index("n")] for row in result]
    [1, 1, 1]
    >>> database.close()
    """
    model = loaded_model(model)
    columns = model.columns
    return statistics_query(database_recipe(model), columns.kind, columns.names, table, by, where, dialect)


def scoring_sql(model: Model | str | Path, table: str, *, dialect: str = "postgres") -> str:
    """Return the query that adds the posteriors of a model of logistic regression over numbers to a table.

    Parameters
    ----------
    model, table, dialect
        As in `statistics_sql`.
    """
    model = loaded_model(model)
    if model.columns.kind != "numbers":
        raise DataError(
            f"Scoring in a database is for models over columns of numbers; this one reads {model.columns.kind}."
        )
    return scoring_query(model.quantifier, model.columns.names, table, dialect)
