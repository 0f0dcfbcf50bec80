"""The figures of the paper's tables, as data."""

import csv
from functools import cache
from importlib.resources import files

__all__ = ["published", "published_keys", "published_test"]


@cache
def _figures() -> dict[tuple[str, str, str, str, str], float]:
    figures = {}
    for name in ("tables_1_to_4.csv", "table_6_overview.csv"):
        text = files("headcount.report.published").joinpath(name).read_text("utf-8")
        for row in csv.DictReader(text.splitlines()):
            learner = "" if row["method"].startswith("svm(") or row["method"] == "mlpe" else row["learner"]
            figures[row["dataset"], row["method"], learner, row["optimised_for"], row["error"]] = float(row["value"])
    return figures


@cache
def _tests() -> dict[tuple[str, str, str, str], str]:
    text = files("headcount.report.published").joinpath("table_5_ttests.csv").read_text("utf-8")
    return {
        (row["x"], row["y"], row["method"], row["error"]): row["outcome"] for row in csv.DictReader(text.splitlines())
    }


def published_keys() -> list[tuple[str, str, str, str, str]]:
    """Return data set, method (in small letters), learner, target and measure of all published figures."""
    return list(_figures())


def published_test(x: str, y: str, method: str, measure: str) -> str | None:
    """Return the mark that the paper's table 5 has for a variant optimised for x or y, by a measure.

    >>> published_test("ae", "accuracy", "CC", "ae")
    '>>'
    """
    return _tests().get((x, y, method.lower(), measure))


def published(key: tuple[str, str, str, str], measure: str) -> float | None:
    """Return the paper's mean error for a data set, method, learner and target, if it has one.

    >>> published(("imdb", "CC", "lr", "ae"), "ae")
    0.062
    """
    data_set, method, learner, target = key
    return _figures().get((data_set, method.lower(), learner, target, measure))
