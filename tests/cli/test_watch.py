"""`headcount watch`: what is printed and written, exit codes for schedulers, replays, and which input is refused."""

import json

import pandas as pd
import pytest

from headcount.desk import scored_model, watch_tables
from headcount.exceptions import HeadcountWarning
from tests.cli.conftest import scored_table

ARGUMENTS = "watch", "--scored", "labelled.csv"
OPTIONS = "--label", "y", "--state", "state.json"


def week(share, seed, n=300):
    """Scores of two classes, so many of them of the second one."""
    table = scored_table(20 * n, seed)
    second = table[table.y == 1].head(round(n * share))
    return pd.concat([second, table[table.y == 0].head(n - len(second))])


@pytest.fixture
def files(tmp_path):
    scored_table(2000, 0).to_csv(tmp_path / "labelled.csv", index=False)
    shares = [0.5] * 8 + [0.75] * 6
    weeks = [
        week(share, i + 1).assign(day=pd.Timestamp("2024-01-01") + pd.Timedelta(weeks=i))
        for i, share in enumerate(shares)
    ]
    pd.concat(weeks[:8]).to_csv(tmp_path / "calm.csv", index=False)
    pd.concat(weeks).to_csv(tmp_path / "all.csv", index=False)
    weeks[0].to_csv(tmp_path / "one.csv", index=False)
    weeks[1].head(25).to_csv(tmp_path / "few.csv", index=False)
    weeks[0].head(0).to_csv(tmp_path / "none.csv", index=False)
    return tmp_path


def test_weeks_are_batches_and_a_growing_file_is_counted_once(files, run):
    code, out, err = run(
        *ARGUMENTS, "calm.csv", *OPTIONS, "--by", "day:week", "--reference", "1=0.5", "--html", "p.html"
    )
    assert code == 0, err + out
    assert "2024-W08" in out
    assert "Nothing to report." in out
    assert "Written: p.html" in err
    before = (files / "state.json").read_bytes()
    code, out, _ = run(*ARGUMENTS, "calm.csv", *OPTIONS, "--by", "day:week")
    assert code == 0
    assert "8 batches seen before: not counted again." in out
    assert (files / "state.json").read_bytes() == before
    code, out, _ = run(*ARGUMENTS, "all.csv", *OPTIONS, "--by", "day:week", "--html", "p.html", "--reference", "1=0.5")
    assert code == 3, out
    assert "8 batches seen before" in out
    alarm = next(line for line in out.splitlines() if line.startswith("ALARM"))
    assert "has moved from the reference (50.0 %): since 2024-W0" in alarm
    page = (files / "p.html").read_text()
    assert "has moved from the reference" in page
    assert "prefers-color-scheme: dark" in page
    assert page.count('class="point"') == 2 * 14 + 1
    state = json.loads((files / "state.json").read_text())
    assert state["body"]["n_batches"] == 14


def test_the_whole_file_at_once_is_the_same_as_week_by_week(files, run):
    run(*ARGUMENTS, "all.csv", *OPTIONS, "--by", "day:week", "--reference", "labelled")
    whole = (files / "state.json").read_bytes()
    (files / "state.json").unlink()
    for i in range(14):
        day = pd.Timestamp("2024-01-01") + pd.Timedelta(weeks=i)
        where = "--where", f"day={day:%Y-%m-%d}"
        run(*ARGUMENTS, "all.csv", *OPTIONS, "--by", "day:week", *where, "--reference", "labelled")
    assert (files / "state.json").read_bytes() == whole


def test_a_file_is_a_batch_known_by_its_content_or_its_name(files, run):
    code, out, err = run(*ARGUMENTS, "few.csv", *OPTIONS, "--band", "1=0.3:0.7", "--json")
    assert code == 4, err
    answer = json.loads(out)
    assert answer["status"] == "too early"
    assert answer["batches"][0]["n"] == 25
    assert "Nothing can be said yet" in answer["batches"][0]["note"]
    assert run(*ARGUMENTS, "few.csv", *OPTIONS, "--json")[0] == 4
    assert json.loads((files / "state.json").read_text())["body"]["n_batches"] == 1
    code, out, _ = run(*ARGUMENTS, "one.csv", *OPTIONS, "--batch", "monday", "--json")
    assert code == 4 * (json.loads(out)["status"] == "too early")
    assert json.loads(out)["batches"][0]["batch"] == "monday"
    assert list(json.loads((files / "state.json").read_text())["body"]["seen"])[1] == "monday"


def test_a_batch_is_not_counted_again_under_another_name(files, run, refused):
    assert run(*ARGUMENTS, "one.csv", *OPTIONS)[0] == 0
    (name,) = json.loads((files / "state.json").read_text())["body"]["seen"]
    refused(f"pass --batch {name}", *ARGUMENTS, "one.csv", *OPTIONS, "--batch", "monday")
    filled = pd.read_csv(files / "one.csv").assign(checked=lambda table: table.y.where(table.index % 3 == 0))
    filled.to_csv(files / "filled.csv", index=False)
    refused(f"pass --batch {name}", *ARGUMENTS, "filled.csv", *OPTIONS)
    out = run(*ARGUMENTS, "filled.csv", *OPTIONS, "--batch", name, "--labels", "checked")[1]
    assert "By 100 labels (100 new) of batches with 300 items" in out


def test_an_alarm_is_said_again_when_its_run_is_repeated(files, run):
    week(0.95, 30, 2000).to_csv(files / "far.csv", index=False)
    first = run(*ARGUMENTS, "far.csv", *OPTIONS, "--reference", "1=0.3")
    again = run(*ARGUMENTS, "far.csv", *OPTIONS)
    assert first[0] == again[0] == 3
    assert "ALARM" in again[1]


def test_a_model_file_is_watched(model, run):
    code, out, err = run(
        "watch", "m.headcount", "new.csv", "--by", "day:month", "--state", "s.json", "--band", "good=0.1:0.9"
    )
    assert code in (0, 4), err
    assert "2016-02" in out


def test_rows_without_a_date_are_left_out_with_a_warning(files):
    table = pd.read_csv(files / "calm.csv")
    table.loc[:9, "day"] = None
    table.to_csv(files / "gaps.csv", index=False)
    labelled = scored_model(files / "labelled.csv", label="y")
    with pytest.warns(HeadcountWarning, match="10 items without a value in 'day' belong to no batch"):
        found = watch_tables(labelled, files / "gaps.csv", files / "state.json", by="day:week")
    assert found.monitor.n_items == 8 * 300 - 10


def labelled_weeks(n_weeks=8, n=300, wrong=False):
    """Weeks of items with an id and, of every fifth one, a label; labels are the other way round if they are wrong."""
    weeks = []
    for i in range(n_weeks):
        table = week(0.5, i + 1, n).reset_index(drop=True)
        table["review"] = [f"w{i}-{j}" for j in range(len(table))]
        table["day"] = pd.Timestamp("2024-01-01") + pd.Timedelta(weeks=i)
        table["checked"] = (1 - table.y if wrong else table.y).where(table.index % 5 == 0).astype("Int64")
        weeks.append(table.drop(columns="y"))
    return pd.concat(weeks)


def test_labels_that_are_filled_in_later_are_counted_once(files, run):
    table, by_week = labelled_weeks(), ("--by", "day:week")
    table.assign(checked=None).to_csv(files / "new.csv", index=False)
    table.to_csv(files / "later.csv", index=False)
    table[table.index < 150].to_csv(files / "short.csv", index=False)
    half = table.assign(checked=table.checked.where(table.index < 150))
    half.to_csv(files / "half.csv", index=False)
    code, out, err = run(*ARGUMENTS, "new.csv", *OPTIONS, *by_week, "--labels", "checked")
    assert code == 0, err + out
    assert "labels" not in out
    code, out, err = run(*ARGUMENTS, "half.csv", *OPTIONS, *by_week, "--labels", "checked", "--json")
    assert code == 0, err + out
    assert json.loads(out)["labelled"]["n_labels"] == 8 * 30
    code, out, _ = run(*ARGUMENTS, "later.csv", *OPTIONS, *by_week, "--labels", "checked", "--html", "p.html")
    assert code == 0
    assert "8 batches seen before: not counted again." in out
    assert "By 480 labels (240 new) of batches with 2,400 items: 0 " in out
    assert "by 480 labels" in (files / "p.html").read_text()
    before = (files / "state.json").read_bytes()
    code, out, _ = run(*ARGUMENTS, "later.csv", *OPTIONS, *by_week, "--labels", "checked", "--json")
    answer = json.loads(out)
    assert (files / "state.json").read_bytes() == before
    assert answer["n_items"] == 2400
    labelled = answer["labelled"]
    assert labelled["low"]["1"] < 0.5 < labelled["high"]["1"]
    assert labelled["high"]["1"] - labelled["low"]["1"] < 2 * 1.96 * (0.25 / 480) ** 0.5  # scores help
    (files / "state.json").unlink()
    run(*ARGUMENTS, "later.csv", *OPTIONS, *by_week, "--labels", "checked")  # all at once
    at_once = json.loads(run(*ARGUMENTS, "later.csv", *OPTIONS, *by_week, "--json")[1])["labelled"]
    assert at_once["shares"]["1"] == pytest.approx(labelled["shares"]["1"])
    assert at_once["low"]["1"] == pytest.approx(labelled["low"]["1"])


def test_labels_in_a_file_of_their_own_or_labelled_items_alone_are_the_same(files, run, refused):
    table, answers = labelled_weeks(), []
    table.to_csv(files / "new.csv", index=False)
    labels = table[table.checked.notna()]
    labels.rename(columns={"checked": "label"})[["review", "label"]].to_csv(files / "ids.csv", index=False)
    numbered = table.reset_index(drop=True).assign(headcount_item=range(1, len(table) + 1))
    numbered[numbered.checked.notna()].rename(columns={"checked": "label"})[["headcount_item", "label"]].to_csv(
        files / "rows.csv", index=False
    )
    labels.to_csv(files / "alone.csv", index=False)
    ways = (
        ("new.csv", "--labels-from", "ids.csv", "--id", "review"),
        ("new.csv", "--labels-from", "rows.csv"),
        ("new.csv", "--labels", "checked"),
        ("alone.csv", "--labels", "checked", "--id", "review"),
    )
    for file, *way in ways:
        run(*ARGUMENTS, "new.csv", *OPTIONS, "--by", "day:week")
        for _ in range(2):
            code, out, err = run(*ARGUMENTS, file, *OPTIONS, "--by", "day:week", *way, "--json")
            assert code == 0, err
        answers.append(json.loads(out)["labelled"])
        (files / "state.json").unlink()
    assert answers[0]["n_labels"] == 480
    assert all(answer == answers[0] for answer in answers[1:])
    run(*ARGUMENTS, "new.csv", *OPTIONS, "--by", "day:week", "--labels", "checked")
    refused(
        "by row before, and are by column review now", *ARGUMENTS, "new.csv", *OPTIONS, "--by", "day:week", *ways[0][1:]
    )
    (files / "state.json").unlink()
    # A batch that is a file: its content names it also when labels come in another file.
    run(*ARGUMENTS, "new.csv", *OPTIONS)
    code, out, _ = run(*ARGUMENTS, "new.csv", *OPTIONS, "--labels-from", "ids.csv", "--id", "review")
    assert "1 batch seen before" in out
    assert "By 480 labels (480 new)" in out


def test_labels_that_contradict_the_shares_raise_an_alarm_that_lasts(files, run):
    labelled_weeks(wrong=True).to_csv(files / "wrong.csv", index=False)
    arguments = *ARGUMENTS, "wrong.csv", *OPTIONS, "--by", "day:week"
    assert run(*arguments)[0] == 0
    code, out, _ = run(*arguments, "--labels", "checked", "--html", "p.html")
    assert code == 3
    assert "ALARM" in out
    assert "Labels that arrived later contradict the shares" in out
    assert "labels contradict" in (files / "p.html").read_text()
    code, out, _ = run(*arguments)  # without labels: they were counted, and what they said lasts
    assert code == 3
    assert "Labels contradict the shares" in out
    assert json.loads(run(*arguments, "--json")[1])["status"] == "alarm"


def test_labels_that_make_no_sense_are_refused(files, run, refused):
    table, by_week = labelled_weeks(), ("--by", "day:week")
    table.to_csv(files / "new.csv", index=False)
    arguments = *ARGUMENTS, "new.csv", *OPTIONS
    refused("name the batch with --batch", *arguments, "--labels", "checked")
    refused("name one", *arguments, *by_week, "--labels", "checked", "--labels-from", "new.csv")
    refused("--id names the items that labels are of", *arguments, "--id", "review")
    refused("no column 'nowhere'", *arguments, *by_week, "--labels", "nowhere")
    refused("no file nowhere.csv", *arguments, *by_week, "--labels-from", "nowhere.csv")
    refused("no column 'headcount_item'", *arguments, *by_week, "--labels-from", "new.csv")
    assert run(*arguments, *by_week, "--labels", "checked", "--id", "review")[0] == 0
    before = (files / "state.json").read_bytes()
    table.assign(checked=1 - table.checked).to_csv(files / "new.csv", index=False)
    refused("counted before with another label", *arguments, *by_week, "--labels", "checked", "--id", "review")
    table.assign(review="same").to_csv(files / "new.csv", index=False)
    refused("ids must differ", *arguments, *by_week, "--labels", "checked", "--id", "review")
    table.assign(review=None).to_csv(files / "new.csv", index=False)
    refused("have no review", *arguments, *by_week, "--labels", "checked", "--id", "review")
    table.assign(checked=table.checked.where(table.checked.isna(), 7)).to_csv(files / "new.csv", index=False)
    refused("not among the classes", *arguments, *by_week, "--labels", "checked")
    table[table.index < 150].to_csv(files / "new.csv", index=False)
    refused("seen before with other content", *arguments, *by_week, "--labels", "checked")
    chances = table[table.checked.notna()].rename(columns={"checked": "label"})
    chances["headcount_probability"] = 0.1 + 0.8 * (chances.index % 2)
    chances[["review", "label", "headcount_probability"]].to_csv(files / "ids.csv", index=False)
    table.to_csv(files / "new.csv", index=False)
    refused("drawn with chances between", *arguments, *by_week, "--labels-from", "ids.csv", "--id", "review")
    assert (files / "state.json").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ("'2', which is not a class", ("one.csv", "--band", "2=0.1:0.3")),
        ("from a lower to a higher share", ("one.csv", "--band", "1=0.5:0.3")),
        ("write the band of each class once", ("one.csv", "--band", "1=0.5")),
        ("can't be read; write positive=0.2:0.4", ("one.csv", "--band", "half")),
        ("sum to 1", ("one.csv", "--reference", "0=0.5,1=0.6")),
        ("'2', which is not a class", ("one.csv", "--reference", "2=0.5")),
        ("too uncertain", ("one.csv", "--reference", "first:5")),
        ("level must be between 0 and 1", ("one.csv", "--level", "95")),
        ("no rows", ("none.csv",)),
        ("No row of", ("one.csv", "--where", "day=1999-01-01")),
        ("use one of them", ("one.csv", "--by", "day:week", "--batch", "x")),
        ("no file nowhere.csv", ("nowhere.csv",)),
        ("--html needs a file", ("one.csv", "--html", "-")),
    ],
)
def test_questions_and_files_that_make_no_sense_are_refused(files, refused, words, arguments):
    refused(words, *ARGUMENTS, *arguments, *OPTIONS)


def test_states_that_do_not_fit_are_refused(files, run, refused):
    assert run(*ARGUMENTS, "one.csv", *OPTIONS, "--batch", "monday", "--reference", "1=0.5", "--band", "1=0.2:0.8")[
        0
    ] in (
        0,
        4,
    )
    other = "few.csv", *OPTIONS
    refused("seen before with other content", *ARGUMENTS, *other, "--batch", "monday")
    refused("made with another reference", *ARGUMENTS, *other, "--reference", "1=0.4")
    refused("made with another level and another band", *ARGUMENTS, *other, "--level", "0.9", "--band", "1=0.1:0.9")
    scored_table(2000, 5).to_csv(files / "other.csv", index=False)
    refused("the state of another model", "watch", "--scored", "other.csv", *other)
    content = (files / "state.json").read_text()
    (files / "state.json").write_text(content.replace("monday", "sunday"))
    refused("does not match its checksum", *ARGUMENTS, *other)
    (files / "state.json").write_text(content[:100])
    refused("is damaged", *ARGUMENTS, *other)
    (files / "state.json").write_text("y\n1\n")
    refused("is damaged", *ARGUMENTS, *other)


def test_a_state_is_not_written_over_an_input_or_into_no_folder(files, refused):
    refused("overwritten", "watch", "--scored", "labelled.csv", "one.csv", "--label", "y", "--state", "one.csv")
    refused(
        "no folder", "watch", "--scored", "labelled.csv", "one.csv", "--label", "y", "--state", "nowhere/state.json"
    )


def test_names_on_the_page_are_escaped(files, run):
    table = pd.read_csv(files / "calm.csv").assign(shop="<b>&")
    table.to_csv(files / "shops.csv", index=False)
    run(*ARGUMENTS, "shops.csv", *OPTIONS, "--by", "shop", "--html", "p.html")
    page = (files / "p.html").read_text()
    assert "&lt;b&gt;&amp;" in page
    assert "<b>&" not in page
