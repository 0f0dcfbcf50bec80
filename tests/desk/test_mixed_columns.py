"""Models of texts, numbers, categories, dates and embeddings together: from the labelled file to shares, and what is refused."""

import io
import json
import webbrowser

import numpy as np
import pandas as pd
import pytest

from headcount.desk import check_tables, compare_tables, estimate_tables, fit_table
from headcount.exceptions import DataError, HeadcountWarning
from headcount.modelfile import load_model, read_summary, save_model
from tests.features.test_table_columns import tickets

FIT = (
    "fit",
    "tickets.csv",
    "--label",
    "team",
    "-o",
    "m.headcount",
    "--method",
    "PACC",
    "--learner",
    "lr",
    "--budget",
    "0.001",
)


def table(n, seed=0, **options):
    frame, team = tickets(n, seed, **options)
    return frame.assign(team=team)


@pytest.fixture
def files(tmp_path):
    table(400).to_csv(tmp_path / "tickets.csv", index=False)
    table(300, 1, start="2024-09-01", shares=(0.2, 0.8)).drop(columns="team").assign(shop=["x", "y"] * 150).to_csv(
        tmp_path / "new.csv", index=False
    )
    return tmp_path


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """Return a model of all columns, and new rows."""
    path = tmp_path_factory.mktemp("labelled") / "tickets.csv"
    table(400).to_csv(path, index=False)
    model = fit_table(path, label="team", method="PACC", learner="lr")
    return model, table(300, 1, start="2024-09-01", shares=(0.2, 0.8))


def test_all_kinds_of_columns_from_the_file_to_the_shares(files, run, monkeypatch):
    monkeypatch.setattr(webbrowser, "open", lambda _: True)
    code, out, err = run(*FIT, "--text", "subject", "--features", "price,region,op*", "--drop", "id")
    assert code == 0, err
    assert "text: subject; numbers: price; categories: region (2 values); dates: opened" in out
    assert "text: subject; numbers: price" in run("inspect", "m.headcount")[1]
    code, out, err = run("estimate", "m.headcount", "new.csv", "-o", "-")
    assert code == 0, err
    shares = pd.read_csv(io.StringIO(out)).set_index("class").share
    assert shares["tech"] == pytest.approx(0.8, abs=0.06)
    for command in (("check",), ("compare", "--by", "shop", "--against", "first"), ("open",)):
        code, _, err = run(command[0], "m.headcount", "new.csv", *command[1:])
        assert code == 0, err


def test_without_names_all_columns_are_read_and_ids_are_left_out(files, run):
    code, out, err = run(*FIT)
    assert code == 0, err
    assert "text: subject; numbers: price; categories: region (2 values); dates: opened, closed" in out
    assert "Column 'id' is left out: a different value in nearly every row, and no words: an id." in out
    assert "Column 'id' is left out" in run("inspect", "m.headcount")[1]
    described = json.loads(run("inspect", "m.headcount", "--json")[1])
    assert described["columns"]["names"] == ["subject", "price", "region", "opened", "closed"]
    assert described["columns"]["roles"][2]["n_values"] == 2


def test_a_column_text_is_read_alone_unless_others_are_named(files, run):
    frame = pd.read_csv(files / "tickets.csv").rename(columns={"subject": "text"})
    frame.to_csv(files / "tickets.csv", index=False)
    assert "Reads      text: text\n" in run(*FIT)[1]
    assert "Reads      text: text; numbers: price\n" in run(*FIT, "--drop", "id,region,*ed")[1]


def test_texts_may_be_named_in_turn_or_together(files, run):
    frame = pd.read_csv(files / "tickets.csv")
    frame.assign(body=frame.subject.str.upper()).to_csv(files / "tickets.csv", index=False)
    assert "text: subject, body\n" in run(*FIT, "--text", "subject", "--text", "body")[1]
    assert "text: subject, body\n" in run(*FIT, "--text", "subject,body")[1]
    assert "text: body; numbers: price\n" in run(*FIT, "--text", "body", "--features", "price")[1]


def test_a_column_may_be_said_to_be_categories(files, run):
    frame = pd.read_csv(files / "tickets.csv")
    frame.assign(zip=[10115, 20095, 80331, 50667] * 100).to_csv(files / "tickets.csv", index=False)
    assert "numbers: price; categories: zip (4 values)" in run(*FIT, "--features", "price,zip:category")[1]
    assert "Reads      numbers: price, zip\n" in run(*FIT, "--features", "price,zip")[1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--text", "subject", "--text", "team"), "column 'team' can't be both the text and the label"),
        (("--features", "price,team"), "column 'team' can't be both a feature and the label"),
        (("--text", "subject,body"), "tickets.csv has no column 'body'; its columns are 'id', 'subject'"),
        (("--features", "price,q*"), "tickets.csv has no column 'q*'"),
        (("--drop", "comment"), "tickets.csv has no column 'comment'"),
        (("--drop", "*"), "besides the label 'team' and those that are dropped: there is nothing to learn from"),
        (("--text", "subject", "--drop", "sub*"), "column 'subject' can't be both read and dropped"),
        (("--features", "id"), "column 'id': nothing can be learnt from it: a different value in nearly every row"),
        (("--features", "price:figure"), "there is no kind of column 'figure'; there are 'text', 'number'"),
        (("--features", "region:number"), "tickets.csv, line 2, column 'region': 'north' is not a number"),
        (("--features", "region:date"), "tickets.csv, line 2, column 'region': 'north' is not a date"),
        (("--features", "region:embedding"), "tickets.csv, line 2, column 'region': 'north' is not a list of numbers"),
        (("--text", "price", "--features", "region"), "column 'price': No words were found in the texts"),
    ],
)
def test_mistakes_in_the_names_of_columns_are_refused(files, refused, options, words):
    refused(words, *FIT, *options)


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("price", "cheap", "tickets.csv, line 12, column 'price': 'cheap' is not a number, unlike 99 % of the column"),
        ("price", "inf", "tickets.csv, line 12, column 'price': the number is infinite"),
        ("opened", "soon", "tickets.csv, line 12, column 'opened': 'soon' is not a date. Write dates as 2016-07-09"),
    ],
)
def test_mistakes_in_a_value_are_refused_with_the_line(files, refused, column, value, words):
    frame = pd.read_csv(files / "tickets.csv", dtype={"price": object})
    frame.loc[10, column] = value
    frame.to_csv(files / "tickets.csv", index=False)
    refused(words, *FIT)


def test_unclear_dates_and_uneven_embeddings_are_refused_with_the_line(files, refused):
    frame = pd.read_csv(files / "tickets.csv")
    frame.assign(opened="03/04/2024").to_csv(files / "tickets.csv", index=False)
    refused("tickets.csv, line 2, column 'opened': it is not clear which number is the day", *FIT)
    vectors = ["[0.5, 1]"] * 399 + ["[0.5, 1, 2]"]
    frame.assign(vector=vectors).to_csv(files / "tickets.csv", index=False)
    refused("tickets.csv, line 401, column 'vector' holds 3 numbers, the first row 2", *FIT)


def test_mistakes_at_the_time_of_the_estimate_are_refused_with_the_line(files, run, refused):
    frame = pd.read_csv(files / "tickets.csv").assign(vector=["[0.5, 1]", "[1, 2]"] * 200, size=[1, 2, 3, 4] * 100)
    frame.to_csv(files / "tickets.csv", index=False)
    assert run(*FIT)[0] == 0
    new = pd.read_csv(files / "new.csv").assign(vector="[0, 1]", size=1)

    def changed(column, value):
        new.astype({column: object}).assign(**{column: [*new[column][:10], value, *new[column][11:]]}).to_csv(
            files / "new.csv", index=False
        )
        return "estimate", "m.headcount", "new.csv"

    refused("new.csv, line 12, column 'price': 'cheap' is not a number", *changed("price", "cheap"))
    refused("new.csv, line 12, column 'size': the number is missing, and none was in", *changed("size", None))
    refused("new.csv, line 12, column 'opened': 'soon' is not a date", *changed("opened", "soon"))
    refused("new.csv, line 12, column 'vector' holds 3 numbers, and embeddings of 2", *changed("vector", "[1, 2, 3]"))
    refused("new.csv, line 12, column 'vector': 'x' is not a list of numbers", *changed("vector", "x"))
    new.drop(columns=["region", "size"]).to_csv(files / "new.csv", index=False)
    refused("new.csv has no column 'region', 'size', from which the model reads", "estimate", "m.headcount", "new.csv")


def test_a_copy_of_the_label_is_told(files, run):
    frame = pd.read_csv(files / "tickets.csv")
    frame.assign(code=np.where(frame.team == "tech", "T1", "B7")).to_csv(files / "tickets.csv", index=False)
    out = run(*FIT)[1]
    assert "Column 'code' tells the label of every row: is it a copy of the label?" in out
    frame.assign(code=np.where(frame.team == "tech", 1, 7))[["price", "code", "team"]].to_csv(
        files / "tickets.csv", index=False
    )
    out = run(*FIT)[1]
    assert "Reads      numbers: price, code" in out
    assert "(--drop code)" in out


def test_a_table_of_ids_alone_is_refused(files, refused):
    pd.read_csv(files / "tickets.csv")[["id", "team"]].to_csv(files / "tickets.csv", index=False)
    refused("has no column to learn from besides the label 'team'. Column 'id' is left out: a different value", *FIT)


def test_row_numbers_are_left_out_of_columns_of_numbers(files, run):
    frame = pd.read_csv(files / "tickets.csv")[["price", "team"]].assign(row=range(400))
    frame.to_csv(files / "tickets.csv", index=False)
    out = run(*FIT)[1]
    assert "Reads      numbers: price\n" in out
    assert "Column 'row' is left out: a different number in every row: an id." in out
    assert "Reads      numbers: price, row\n" in run(*FIT, "--features", "price,row")[1]


def test_the_format_of_the_file_makes_no_difference(fitted, tmp_path):
    model, new = fitted
    expected = estimate_tables(model, new, by="opened:week")
    new.to_csv(tmp_path / "new.csv", index=False)
    new.to_parquet(tmp_path / "new.parquet")
    new.assign(opened=new.opened.astype(str), closed=new.closed.astype(str)).to_json(
        tmp_path / "new.jsonl", orient="records", lines=True
    )
    for name in ("new.csv", "new.parquet", "new.jsonl"):
        groups = estimate_tables(model, tmp_path / name, by="opened:week")
        np.testing.assert_allclose(groups.shares, expected.shares, atol=1e-9)


def test_embeddings_come_as_lists_or_are_written(tmp_path):
    frame = table(400).drop(columns=["subject", "closed"])
    generator = np.random.default_rng(0)
    vectors = generator.normal((frame.team == "tech").to_numpy()[:, None] * [1.5, 0.0, -1.5], 1.0).round(3)
    frame.assign(vector=list(vectors)).to_parquet(tmp_path / "v.parquet")
    frame.assign(vector=[str(vector.tolist()) for vector in vectors]).to_csv(tmp_path / "v.csv", index=False)
    frame.drop(columns=["opened"]).assign(vector=vectors.tolist()).to_json(
        tmp_path / "v.jsonl", orient="records", lines=True
    )
    shares = {}
    for name in ("v.parquet", "v.csv", "v.jsonl"):
        options = {"label": "team", "features": "price,region,vector", "method": "PACC", "learner": "lr"}
        model = fit_table(tmp_path / name, **options)
        assert [role.kind for role in model.columns.roles] == ["number", "category", "embedding"]
        shares[name] = estimate_tables(model, tmp_path / name).shares
    np.testing.assert_allclose(shares["v.csv"], shares["v.parquet"], atol=1e-9)
    np.testing.assert_allclose(shares["v.jsonl"], shares["v.parquet"], atol=1e-9)
    vectors[7, 1] = np.inf
    frame.assign(vector=list(vectors))[["vector", "team"]].to_parquet(tmp_path / "v.parquet")
    with pytest.raises(DataError, match=r"v\.parquet, row 8, column 'vector': the number is infinite"):
        fit_table(tmp_path / "v.parquet", label="team")
    alone = fit_table(tmp_path / "v.csv", label="team", features="vector", method="PACC", learner="lr")
    assert alone.columns.roles[0].size == 3


def test_a_number_may_be_a_feature_and_a_group(tmp_path):
    frame = table(400).assign(stars=[1, 2, 3, 4] * 100)
    frame.to_csv(tmp_path / "new.csv", index=False)
    model = fit_table(tmp_path / "new.csv", label="team", drop="id", method="PACC", learner="lr")
    with pytest.warns(HeadcountWarning, match="grouped by 'stars', which the model also learnt from"):
        groups = estimate_tables(model, tmp_path / "new.csv", by="stars")
    assert groups.names == ["1", "2", "3", "4"]
    frame.assign(stars=["1", "two", "3", "4"] * 100).to_csv(tmp_path / "odd.csv", index=False)
    with (
        pytest.warns(HeadcountWarning, match="grouped by"),
        pytest.raises(DataError, match=r"odd\.csv, line 3, column 'stars': 'two' is not a number"),
    ):
        estimate_tables(model, tmp_path / "odd.csv", by="stars")
    months = estimate_tables(model, tmp_path / "new.csv", by="opened:month", where=["price>=10", "region=north"])
    assert months.names == ["2024-01"]


def test_a_model_file_holds_mixed_columns(fitted, tmp_path):
    model, new = fitted
    save_model(model, tmp_path / "m.headcount")
    loaded = load_model(tmp_path / "m.headcount")
    assert loaded.columns == model.columns
    assert read_summary(tmp_path / "m.headcount").columns == model.columns
    first, second = (estimate_tables(one, new, by="opened:week") for one in (model, loaded))
    np.testing.assert_array_equal(first.shares, second.shares)
    assert first.verdicts == second.verdicts


def test_other_items_are_found_by_the_check(fitted):
    model, new = fitted
    (clean,) = check_tables(model, new)
    assert clean["verdict"] == "trust"
    assert clean["p_items"] > 0.01
    (regions,) = check_tables(model, new.assign(region="overseas"))
    assert "region = overseas" in regions["differs"]
    (prices,) = check_tables(model, new.assign(price=new.price + 200))
    assert "price" in prices["differs"]
    (words,) = check_tables(model, new.assign(subject=new.subject + " coronavirus lockdown measures"))
    assert "subject: lockdown" in words["differs"]


@pytest.mark.parametrize("columns", [None, "price,region,opened,closed"])
def test_the_same_bits_whatever_the_batches_and_files(fitted, tmp_path, monkeypatch, columns):
    model, new = fitted
    if columns:
        table(400).to_csv(tmp_path / "tickets.csv", index=False)
        model = fit_table(
            tmp_path / "tickets.csv", label="team", features=columns, method="SLD", learner="lr", budget=0.001
        )
    (tmp_path / "parts").mkdir()
    new.to_parquet(tmp_path / "new.parquet")
    for part, start in enumerate(range(0, 300, 77)):
        new[start : start + 77].to_parquet(tmp_path / "parts" / f"{part}.parquet")
    whole = estimate_tables(model, tmp_path / "new.parquet", by="opened:week")
    parts = estimate_tables(model, tmp_path / "parts", by="opened:week")
    monkeypatch.setattr("headcount.stream.scan._ROWS_TO_SCORE", 10)
    batches = estimate_tables(model, tmp_path / "new.parquet", by="opened:week")
    for other in (parts, batches):
        assert other.names == whole.names
        np.testing.assert_array_equal(other.shares, whole.shares)
        assert other.records() == whole.records()
        assert [report.p_items for report in other.reports if report] == [
            report.p_items for report in whole.reports if report
        ]


def test_a_table_in_memory_can_be_learnt_from(fitted):
    model, new = fitted
    again = fit_table(table(400), label="team", method="PACC", learner="lr")
    assert again.columns == model.columns
    assert again.source["name"] == "the table (DataFrame)"
    np.testing.assert_array_equal(estimate_tables(again, new).shares, estimate_tables(model, new).shares)


def test_changes_between_groups_are_found(fitted):
    model, new = fitted
    old = table(300, 5, start="2024-05-01", shares=(0.8, 0.2))
    both = pd.concat([old, new], ignore_index=True)
    comparison = compare_tables(model, both, by="opened:month", first="2024-05", second="2024-09")
    change = {row["class"]: row["change"] for row in comparison.records()}
    assert change["tech"] == pytest.approx(0.6, abs=0.1)


def test_a_database_does_not_score_mixed_columns(fitted, tmp_path):
    from headcount.desk import scoring_sql, statistics_sql

    model, _ = fitted
    with pytest.raises(DataError, match="texts, categories"):
        statistics_sql(model, "tickets")
    with pytest.raises(DataError, match="for models over columns of numbers; this one reads mixed"):
        scoring_sql(model, "tickets")
