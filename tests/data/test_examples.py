"""The examples: the same each time, and as their truth says; the command that writes them."""

import csv
import re
from collections import Counter
from functools import cache
from io import StringIO

import pytest
from typer.testing import CliRunner

from headcount.cli.app import app
from headcount.data.examples import EXAMPLES
from headcount.data.examples.conversations import conversation_files
from headcount.data.examples.households import household_files
from headcount.data.examples.infections import infection_files
from headcount.data.examples.reviews import example_files
from headcount.data.examples.stays import stay_files
from headcount.data.examples.survey import survey_files
from headcount.data.examples.tickets import NEW_TOPIC, ticket_files


def read(text):
    return list(csv.DictReader(StringIO(text)))


@cache
def made(name):
    return EXAMPLES[name].make()


def test_the_example_is_the_same_each_time():
    assert example_files(50, 10) == example_files(50, 10)
    assert example_files(50, 10) != example_files(50, 10, seed=1)


def test_the_true_shares_are_those_of_the_new_reviews_and_change():
    files = made("reviews")
    assert len(read(files["reviews.csv"])) == 3000
    assert len(read(files["new.csv"])) == 6000
    truth = read(files["truth.csv"])
    assert [row["month"] for row in truth] == [f"2025-{m:02}" for m in range(1, 13)]
    assert all(abs(sum(float(row[s]) for s in ("low", "middle", "high")) - 1.0) < 0.001 for row in truth)
    assert float(truth[7]["low"]) > 0.5 > 0.2 > float(truth[0]["low"])


SMALL = {
    "tickets": lambda **seed: ticket_files(30, 20, **seed),
    "survey": lambda **seed: survey_files(30, 20, **seed),
    "tests": lambda **seed: infection_files(40, 4, **seed),
    "stays": lambda **seed: stay_files(4, 20, **seed),
}


@pytest.mark.parametrize("name", SMALL)
def test_files_are_the_same_each_time_and_truth_counts_the_new_items(name):
    files = SMALL[name]()
    assert files == SMALL[name]()
    assert files != SMALL[name](seed=1)
    assert list(files) == list(EXAMPLES[name].contents)
    new, truth = (read(files[file]) for file in files if file.startswith(("new", "true")))
    groupings = {"tickets": 2, "survey": 3, "tests": 2, "stays": 1}[name]
    assert sum(int(row["true_count"]) for row in truth) == groupings * len(new)
    sizes = Counter()
    for row in truth:
        sizes[row["group"]] += int(row["true_count"])
    for row in truth:
        assert float(row["true_share"]) == pytest.approx(int(row["true_count"]) / sizes[row["group"]], abs=1e-4)


def test_members_of_a_household_are_alike_and_weights_are_those_of_the_town():
    files = household_files(2000, 2000)
    assert files == household_files(2000, 2000)
    assert files != household_files(2000, 2000, seed=1)
    coded = read(files["coded_households.csv"])
    households = {}
    for row in coded:
        households.setdefault(row["household"], []).append(row)
    assert all(len({row["region"] for row in rows}) == 1 for rows in households.values())
    pairs = [rows[0]["position"] == rows[1]["position"] for rows in households.values()]
    assert sum(pairs) / len(pairs) == pytest.approx(0.6 + 0.4 * 0.34, abs=0.03)
    weights = {row["region"]: float(row["weight"]) for row in read(files["new_households.csv"])}
    assert weights == {"centre": 1.6, "north": 1.2, "east": 0.8, "harbour": 0.4}
    shares = [float(row["true_share"]) for row in read(files["true_town.csv"])]
    assert shares == [0.4, 0.175, 0.425]


def test_a_topic_of_november_is_in_no_labelled_ticket():
    files = ticket_files(200, 20)
    assert NEW_TOPIC not in {row["topic"] for row in read(files["tickets.csv"])}
    assert {row["group"] for row in read(files["true_topics.csv"]) if row["class"] == NEW_TOPIC} >= {
        "2025-11",
        "2025-12",
    }
    assert all(row["class"] != NEW_TOPIC for row in read(files["true_topics.csv"]) if row["group"] < "2025-11")


def test_counts_of_the_quick_test_are_those_of_the_people():
    files = infection_files(100, 10)
    counts = read(files["counts.csv"])
    assert sum(int(row["count"]) for row in counts) == len(read(files["new_tests.csv"]))
    studied = Counter(row["pcr"] for row in read(files["study.csv"]))
    for row in read(files["confusion.csv"]):
        assert sum(int(n) for reading, n in row.items() if reading != "pcr") == studied[row["pcr"]]


@pytest.mark.parametrize("name", EXAMPLES)
def test_files_are_described_with_their_rows_and_columns(name):
    for file, text in made(name).items():
        said = EXAMPLES[name].contents[file]
        counted = re.match(r"[\d,]+", said)
        if counted:
            assert int(counted[0].replace(",", "")) == len(read(text))
        columns = re.search(r"\((.*)\)", said)
        if columns:
            assert columns[1] == ", ".join(read(text)[0])


def written(folder, *arguments):
    result = CliRunner().invoke(app, ["data", "example", *map(str, arguments)])
    return result, sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def test_examples_are_written_by_name_and_reviews_without_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result, files = written(tmp_path / "here", "here")
    assert files == ["new.csv", "reviews.csv", "truth.csv"]
    assert "Next: cd here\n      headcount fit reviews.csv" in result.output
    result, files = written(tmp_path, "tests")
    assert {"study.csv", "counts.csv", "true_infections.csv"} <= set(files)
    assert "Next: headcount estimate --confusion confusion.csv counts.csv --by week\n" in result.output
    assert written(tmp_path / "survey", "survey", "survey")[1] == [
        "coded_answers.csv",
        "new_answers.csv",
        "true_positions.csv",
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["ticket"],
            "There is no example 'ticket'; there are reviews, tickets, survey, households, tests, judges, stays. For a folder",
        ),
        (["cats", "."], "There is no example 'cats'"),
        (["tests", "taken"], "taken is a file: name a folder"),
        (["survey", "."], "new_answers.csv would be overwritten: name another folder, or remove the files"),
    ],
)
def test_examples_that_can_not_be_written(tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").touch()
    (tmp_path / "new_answers.csv").write_text("mine")
    result, files = written(tmp_path, *arguments)
    assert words in str(result.exception)
    assert files == ["new_answers.csv", "taken"]


def test_judged_conversations_are_the_same_each_time_and_humans_know_the_truth():
    files = made("judges")
    assert conversation_files(20) == conversation_files(20)
    assert conversation_files(20) != conversation_files(20, seed=1)
    assert list(files) == list(EXAMPLES["judges"].contents)
    rows, truth = read(files["judged.csv"]), read(files["true_answers.csv"])
    assert len(rows) == 1800
    assert Counter(row["month"] for row in rows if row["human"]) == {"2025-01": 60, "2025-02": 60, "2025-03": 60}
    counts = Counter((row["group"], int(row["true_count"])) for row in truth)
    assert sum(n * times for (group, n), times in counts.items() if group == "all") == 1800
    labelled = [row for row in rows if row["human"]]
    assert sum(row["large"] == row["human"] for row in labelled) / len(labelled) > 0.7
    assert {row["small"] for row in rows} == {row["answer"] for row in read(files["phrases.csv"])}
