"""The figures of the paper's tables, as data."""

import csv
from functools import cache
from importlib.resources import files

__all__ = ["published"]


@cache
def _figures() -> dict[tuple[str, str, str, str, str], float]:
    figures = {}
    for name in ("tables_1_to_4.csv", "table_6_overview.csv"):
        text = files("headcount.report.published").joinpath(name).read_text("utf-8")
        for row in csv.DictReader(text.splitlines()):
            learner = "" if row["method"].startswith("svm(") or row["method"] == "mlpe" else row["learner"]
            figures[row["dataset"], row["method"], learner, row["optimised_for"], row["error"]] = float(row["value"])
    return figures


def published(key: tuple[str, str, str, str], measure: str) -> float | None:
    """Return the paper's mean error for a data set, method, learner and target, if it has one.

    >>> published(("imdb", "CC", "lr", "ae"), "ae")
    0.062
    """
    data_set, method, learner, target = key
    return _figures().get((data_set, method.lower(), learner, target, measure))
