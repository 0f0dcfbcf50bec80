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
    code, out, _ = run(*ARGUMENTS, "one.csv", *OPTIONS, "--id", "monday", "--json")
    assert code == 4 * (json.loads(out)["status"] == "too early")
    assert json.loads(out)["batches"][0]["batch"] == "monday"
    assert list(json.loads((files / "state.json").read_text())["body"]["seen"])[1] == "monday"


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
        ("use one of them", ("one.csv", "--by", "day:week", "--id", "x")),
        ("no file nowhere.csv", ("nowhere.csv",)),
        ("--html needs a file", ("one.csv", "--html", "-")),
    ],
)
def test_questions_and_files_that_make_no_sense_are_refused(files, refused, words, arguments):
    refused(words, *ARGUMENTS, *arguments, *OPTIONS)


def test_states_that_do_not_fit_are_refused(files, run, refused):
    assert run(*ARGUMENTS, "one.csv", *OPTIONS, "--id", "monday", "--reference", "1=0.5", "--band", "1=0.2:0.8")[0] in (
        0,
        4,
    )
    other = "few.csv", *OPTIONS
    refused("seen before with other content", *ARGUMENTS, *other, "--id", "monday")
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
