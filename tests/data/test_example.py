"""The example case: the same each time, learnable, and as its truth says."""

import csv
from io import StringIO

from headcount.data.examples.reviews import example_files


def read(text):
    return list(csv.DictReader(StringIO(text)))


def test_the_example_is_the_same_each_time():
    assert example_files(50, 10) == example_files(50, 10)
    assert example_files(50, 10) != example_files(50, 10, seed=1)


def test_the_true_shares_are_those_of_the_new_reviews_and_change():
    files = example_files()
    assert len(read(files["reviews.csv"])) == 3000
    assert len(read(files["new.csv"])) == 6000
    truth = read(files["truth.csv"])
    assert [row["month"] for row in truth] == [f"2025-{m:02}" for m in range(1, 13)]
    assert all(abs(sum(float(row[s]) for s in ("low", "middle", "high")) - 1.0) < 0.001 for row in truth)
    assert float(truth[7]["low"]) > 0.5 > 0.2 > float(truth[0]["low"])
