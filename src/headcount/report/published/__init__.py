"""The figures of the paper's tables, as data."""

import csv
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from headcount.report.scores import Key

__all__ = ["published", "published_keys", "published_test"]


def _rows(name: str) -> Iterator[dict[str, str]]:
    text = files("headcount.report.published").joinpath(name).read_text("utf-8")
    yield from csv.DictReader(text.splitlines())


@cache
def _figures() -> dict[tuple[Key, str], float]:
    """Mean errors by key, its method in lower case, and measure."""
    figures = {}
    for name in ("tables_1_to_4.csv", "table_6_overview.csv"):
        for row in _rows(name):
            learner = "" if row["method"].startswith("svm(") or row["method"] == "mlpe" else row["learner"]
            key = Key(row["dataset"], row["method"], learner, row["optimised_for"])
            figures[key, row["error"]] = float(row["value"])
    return figures


@cache
def _tests() -> dict[tuple[str, str, str, str], str]:
    return {(row["x"], row["y"], row["method"], row["error"]): row["outcome"] for row in _rows("table_5_ttests.csv")}


def published_keys() -> list[tuple[Key, str]]:
    """Return the key, its method in lower case, and the measure of each published figure."""
    return list(_figures())


def published_test(x: str, y: str, method: str, measure: str) -> str | None:
    """Return the mark in the paper's table 5 for a variant of CC optimised for x or y, by a measure.

    >>> published_test("ae", "accuracy", "CC", "ae")
    '>>'
    """
    return _tests().get((x, y, method.lower(), measure))


def published(key: Key, measure: str) -> float | None:
    """Return the paper's mean error for a data set, method, learner and target, if it has one.

    >>> published(Key("imdb", "CC", "lr", "ae"), "ae")
    0.062
    """
    return _figures().get((key._replace(method=key.method.lower()), measure))
