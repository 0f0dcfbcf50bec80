"""Columns of results have one meaning each, whatever classes and columns of the user are called."""

import io
import json
from itertools import pairwise

import pandas as pd
import pytest

from headcount.desk import compare_tables, confusion_model, estimate_tables, trend_tables

CLASSES = ["low", "high", "share"]
MONTHS = ["2025-01", "2025-02", "2025-03"]
RESULTS = {
    "shares": ("estimate", "--by", "month", "--value", "low=1,high=3,share=2", "--total"),
    "shares with changes": ("estimate", "--by", "month", "--compare", "previous"),
    "shares by columns of their names": ("estimate", "--by", "share,class_low,month"),
    "change": ("compare", "--by", "month", "--from", "2025-01", "--to", "2025-03"),
    "changes": ("compare", "--by", "month", "--against", "previous"),
    "trend": ("compare", "--by", "month", "--trend"),
}


@pytest.fixture
def counts(tmp_path):
    (tmp_path / "confusion.csv").write_text("true,low,high,share\nlow,800,100,100\nhigh,50,900,50\nshare,20,80,900\n")
    rows = [
        f"{month},{'east' if i % 2 else 'west'},{i % 2},{label},{100 + 40 * (m + 1) * (j + 1) + i}"
        for m, month in enumerate(MONTHS)
        for j, label in enumerate(CLASSES)
        for i in range(2)
    ]
    (tmp_path / "counts.csv").write_text("\n".join(["month,share,class_low,class,count", *rows]) + "\n")
    return tmp_path / "counts.csv"


def answer_of(run, name, *more):
    command, *options = RESULTS[name]
    code, out, err = run(command, "--confusion", "confusion.csv", "counts.csv", *options, *more)
    assert code == 0, err
    return out


def keys_of(answer):
    """All keys of an answer but those that are classes or groups."""
    if isinstance(answer, list):
        return set().union(*map(keys_of, answer))
    if not isinstance(answer, dict):
        return set()
    nested = [
        part
        for key in ("shares", "groups", "verdicts")
        if isinstance(answer.get(key), dict)
        for part in answer[key].values()
    ]
    return set(answer).union(
        *map(keys_of, [*nested, *(v for k, v in answer.items() if k not in ("shares", "groups", "verdicts"))])
    )


@pytest.mark.parametrize("name", RESULTS)
def test_columns_of_files_are_named_once_and_not_as_classes_are(counts, run, name):
    """A first line with a name twice is read by pandas as `share` and `share.1`: look at the line itself."""
    header = answer_of(run, name, "-o", "-").splitlines()[0].split(",")
    assert len(set(header)) == len(header)
    assert not {"low", "high"} & set(header)
    records = pd.read_csv(io.StringIO(answer_of(run, name, "-o", "-")))
    assert set(records["class"]) == set(CLASSES)
    of = next(column for column in ("share", "change", "slope") if column in records)
    assert (records[f"{of}_low"] < records[of]).all()
    assert (records[of] < records[f"{of}_high"]).all()
    for ending in ("json", "parquet", "xlsx"):
        answer_of(run, name, "-o", f"table.{ending}")
    pd.testing.assert_frame_equal(
        pd.read_json(counts.parent / "table.json", dtype=False)[["class", of]], records[["class", of]]
    )
    assert pd.read_parquet(counts.parent / "table.parquet").columns.tolist() == header
    assert pd.read_excel(counts.parent / "table.xlsx", engine="openpyxl").columns.tolist() == header


@pytest.mark.parametrize("name", RESULTS)
def test_keys_of_json_are_not_named_as_classes_are(counts, run, name):
    answer = json.loads(answer_of(run, name, "--json"))
    keys = keys_of(answer)
    assert not {"low", "high"} & keys
    ends = {"shares": ["share"], "shares with changes": ["share", "change"], "trend": ["slope"]}
    for of in ends.get(name, ["share" if RESULTS[name][0] == "estimate" else "change"]):
        assert {of, f"{of}_low", f"{of}_high"} <= keys


def test_columns_to_group_by_that_are_called_as_a_result_is_are_told_from_it(counts, run):
    records = pd.read_csv(io.StringIO(answer_of(run, "shares by columns of their names", "-o", "-")))
    assert records.columns.tolist()[:6] == ["group", "by_share", "class_low", "month", "class", "share"]
    assert set(records.by_share) == {"east", "west"}
    assert records.groupby("group").share.sum().tolist() == pytest.approx([1.0] * 6)


def test_data_frames_and_records_have_the_columns_of_files(counts):
    model = confusion_model(counts.parent / "confusion.csv")
    groups = estimate_tables(model, counts, by="month", counts=True)
    frame = groups.to_frame()
    assert frame.columns.tolist()[1:5] == ["class", "share", "share_low", "share_high"]
    assert groups.estimate.to_frame().columns.tolist() == ["sample", "class", "share", "share_low", "share_high", "n"]
    two = compare_tables(model, counts, by="month", first="2025-01", second="2025-03", counts=True)
    assert list(two.records()[0]) == ["class", "change", "change_low", "change_high", "p_value"]
    many = compare_tables(model, counts, by="month", against="previous", counts=True)
    columns = ["first", "second", "class", "change", "change_low", "change_high", "p_value", "p_single"]
    assert many.differences.to_frame().columns.tolist() == list(many.records()[0]) == columns
    assert [(record["first"], record["second"]) for record in many.records()[::3]] == list(pairwise(MONTHS))
    slopes = trend_tables(model, counts, by="month", counts=True).records()
    assert list(slopes[0]) == ["class", "slope", "slope_low", "slope_high", "p_value"]
