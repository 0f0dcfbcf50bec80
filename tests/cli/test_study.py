"""The commands `data` and `study`, as a user types them."""

import contextlib
import io
import subprocess
import sys
from unittest import mock

import pytest

from headcount.cli.app import main
from tests.study.conftest import PLAN, write_small_set

WRONG = {"estimated": None, "error": "ValueError: wrong", "warnings": [], "fit_seconds": 0.0}


def headcount(*words, ok=True, code=0):
    """Run the command line in this process: forty new ones would take minutes only to import."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["headcount", *map(str, words)]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as stop,
    ):
        main()
    if ok:
        assert stop.value.code == code, err.getvalue()
        return out.getvalue()
    assert stop.value.code == 2
    assert out.getvalue() == ""
    assert err.getvalue().count("\n") == 1, err.getvalue()
    return err.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    write_small_set(folder / "data")
    (folder / "small.toml").write_text(PLAN)
    return folder


def test_a_study_from_plan_to_overview(folder):
    plan, store = folder / "small.toml", folder / "store"
    shown = headcount("study", "plan", plan)
    assert "A small study: small; seed 3." in shown
    assert "one fit for each use" in shown
    assert "Each fit is made once" in shown
    printed = headcount(
        "study",
        "run",
        plan,
        "--store",
        store,
        "--jobs",
        2,
        "--data-dir",
        folder / "data",
        "--only",
        "dataset=small,learner=lr",
    )
    assert "tasks computed, 0 were in the store" in printed
    assert "6 of 6" not in headcount("study", "status", plan, "--store", store, "--only", "learner=rf")
    assert "18 of 18" in headcount("study", "status", plan, "--store", store, "--only", "learner=lr")
    printed = headcount("study", "run", plan, "--store", store, "--jobs", 1, "--data-dir", folder / "data")
    assert " were in the store" in printed
    table = headcount("study", "overview", plan, "--store", store, "--method", "cc", "--target", "ae")
    assert "small AE" in table
    assert table.count("CC") == 2
    assert headcount("study", "tables", plan, "--store", store, "--number", 6).startswith("Table 6: all methods")
    for form, start in (
        ("markdown", "### Table 1"),
        ("latex", "\\begin{table}"),
        ("html", "<table>"),
        ("csv", "learner,optimised for,AE small"),
    ):
        assert headcount("study", "tables", plan, "--store", store, "--format", form).startswith(start)
    assert "There is no table 2; there are 1, 3, 4, 5, 6." in headcount(
        "study", "tables", plan, "--store", store, "-n", 2, ok=False
    )
    assert "--format must be one of" in headcount(
        "study", "tables", plan, "--store", store, "--format", "pdf", ok=False
    )


def test_results_of_other_code_are_shown_and_restamped(folder, monkeypatch):
    plan, store = folder / "small.toml", folder / "restamped"
    options = ("--store", store, "--only", "learner=own")
    run = ("--jobs", 1, "--data-dir", folder / "data")
    headcount("study", "run", plan, *options, *run)
    assert "other code" not in headcount("study", "status", plan, *options)
    monkeypatch.setattr("headcount.study.tasks.code_version", lambda roots: "changed")
    shown = headcount("study", "status", plan, *options)
    assert "other code" in shown
    assert "0 of 1" in shown
    assert "'headcount study restamp' checks whether they can be kept" in shown
    printed = headcount("study", "restamp", plan, *options, *run)
    assert "choosing, own, SVM(AE): 1 computed again, 1 stamped" in printed
    assert "3 results stamped, 0 not, 0 had the present code's version already." in printed
    assert "other code" not in headcount("study", "status", plan, *options)
    assert "0 tasks computed, 3 were in the store" in headcount("study", "run", plan, *options, *run)

    monkeypatch.setattr("headcount.study.tasks.code_version", lambda roots: "changed again")
    monkeypatch.setattr("headcount.study.execution.tested", lambda members, fold: [WRONG for _ in members])
    monkeypatch.setattr(
        "headcount.study.store.Record.changed_versions", lambda record: record.task["stage"] == "select"
    )
    printed = headcount("study", "restamp", plan, *options, *run, code=1)
    assert "testing, own, SVM(AE), MLPE: 1 computed again, 2 NOT stamped\n    small, " in printed
    assert "1 results were computed with other versions of libraries and are left as they are." in printed
    assert "--jobs must not be 0" in headcount("study", "restamp", plan, *options, "--jobs", 0, ok=False)


def test_mistakes_are_one_line_and_exit_2(folder):
    plan = folder / "small.toml"
    assert "There is no plan 'nope'" in headcount("study", "plan", "nope", ok=False)
    assert "There is no store at" in headcount("study", "status", plan, "--store", folder / "nothing", ok=False)
    assert "There is no store at" in headcount("study", "overview", plan, "--store", folder / "nothing", ok=False)
    assert "--only takes dataset=NAME and learner=NAME" in headcount("study", "plan", plan, "--only", "lr", ok=False)
    assert "no learner 'knn'" in headcount("study", "plan", plan, "--only", "learner=knn", ok=False)
    assert "--jobs must not be 0" in headcount("study", "run", plan, "--jobs", 0, "--store", folder / "s", ok=False)
    assert "from 1 to 10,000 runs; got 0" in headcount("study", "plan", plan, "--runs", 0, ok=False)
    assert "There is no data set 'small'" in headcount(
        "study", "run", plan, "--store", folder / "s", "--data-dir", folder, ok=False
    )
    assert "can't be written to" in headcount(
        "study", "run", plan, "--store", plan / "x", "--data-dir", folder / "data", ok=False
    )


def test_data_sets_are_listed_and_described(folder):
    listed = headcount("data", "list", "--data-dir", folder / "data")
    assert "synthetic stand-in for IMDB" in listed
    assert "not there: headcount data fetch kindle" in listed
    assert "small/train.txt" in listed
    info = headcount("data", "info", "small", "--data-dir", folder / "data")
    assert "train: Corpus(240 texts, classes 0 0.300, 1 0.700)" in info
    assert "words a document" in info
    assert "There is no data set 'nope'" in headcount("data", "info", "nope", "--data-dir", folder, ok=False)
    assert "'nope' can't be fetched" in headcount("data", "fetch", "nope", "--data-dir", folder, ok=False)


@pytest.mark.parametrize("group", ["data", "study"])
def test_command_group_without_a_command_prints_help(group):
    answer = subprocess.run([sys.executable, "-m", "headcount", group], capture_output=True, text=True, check=False)
    assert answer.returncode == 2
    assert answer.stdout.startswith("Usage: ")
    assert answer.stderr == ""
    help_text = headcount(group, "--help")
    assert "Usage" in help_text


@pytest.mark.parametrize(
    "command",
    [
        "data list",
        "data fetch",
        "data info",
        "study plan",
        "study run",
        "study status",
        "study restamp",
        "study overview",
        "study tables",
    ],
)
def test_every_help_shows_an_example(command):
    assert "Example: headcount" in headcount(*command.split(), "--help")
