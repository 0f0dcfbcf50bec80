"""Files and tables that the commands write."""

import io
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pandas as pd

from headcount import report
from headcount.cli import output
from headcount.cli.output import to_stdout
from headcount.report.row_plots import _bias_text
from headcount.report.shares_page import _texts
from headcount.tables import TableFile
from tests.cli.conftest import SCORED, scored_files
from tests.test_writing import special_files


def test_results_never_overwrite_inputs_or_each_other(tmp_path, refused):
    scored_files(tmp_path)
    refused("is an input of this command and would be overwritten", *SCORED, "-o", "new.csv")
    refused("is an input of this command and would be overwritten", *SCORED, "--html", "labelled.csv")
    refused("is named twice", *SCORED, "-o", "a.csv", "--html", "./a.csv")
    refused("is named twice", *SCORED, "--html", "a.svg", "--plot", "a.svg")
    refused("is an input of this command", "compare", *SCORED[1:4], "new.csv", "--label", "y", "-o", "labelled.csv")
    refused("is an input of this command", "fit", "labelled.csv", "--label", "y", "-o", "labelled.csv")


def test_results_are_not_written_into_a_folder_that_is_read(tmp_path, refused):
    scored_files(tmp_path)
    (tmp_path / "parts").mkdir()
    pd.read_csv(tmp_path / "new.csv").to_parquet(tmp_path / "parts" / "a.parquet")
    for name in ("a", "b"):
        refused("would be overwritten", *SCORED[:3], "parts", *SCORED[4:], "-o", f"parts/{name}.parquet")
    refused("--html needs a file", *SCORED, "--html", "-")
    refused("can be read only once", *SCORED[:2], "-", "-", *SCORED[4:])


def test_two_results_on_standard_output_are_refused(tmp_path, refused):
    scored_files(tmp_path)
    words = "--format, --json and -o - each say what is printed: use one of them."
    refused(words, *SCORED, "--json", "-o", "-")
    refused(words, *SCORED, "--format", "csv", "-o", "-")
    compare = ("compare", *SCORED[1:4], "new.csv", "--label", "y")
    refused(words, *compare, "--json", "-o", "-")


def test_messages_name_options_and_not_parameters(tmp_path, refused):
    scored_files(tmp_path)
    refused("headcount: --level must be between 0 and 1, such as 0.95; got 95.", *SCORED, "--level", "95")
    words = "headcount: --shift must be 'any' or 'mild'; got 'huge'."
    refused(words, "fit", "labelled.csv", "--label", "y", "-o", "m.headcount", "--shift", "huge")


def test_the_second_line_of_a_cell_is_said_to_be_a_number_of_items(tmp_path, run):
    scored_files(tmp_path)
    code, out, err = run(*SCORED, "--by", "g")
    assert code == 0, err
    assert out.count("Below each share: the number of items of the class.") == 1
    assert "Below each share" not in run(*SCORED)[1]


def test_a_folder_can_not_be_an_output_file(model, refused):
    (model.parent / "taken").mkdir()
    (model.parent / "taken.csv").mkdir()
    refused("taken.csv is a folder", "estimate", "m.headcount", "new.csv", "-o", "taken.csv")


def test_many_classes_are_printed_one_a_row(tmp_path, run):
    P = np.full((700, 7), 0.05) + 0.65 * np.eye(7)[np.arange(700) % 7]
    frame = pd.DataFrame(P, columns=[f"score_{j}" for j in range(7)]).assign(y=np.arange(700) % 7)
    frame.to_csv(tmp_path / "labelled.csv", index=False)
    frame.to_csv(tmp_path / "new.csv", index=False)
    code, out, err = run(*SCORED)
    assert code == 0, err
    assert out.count("14.3 %") == 7


def test_standard_output_without_a_binary_buffer(monkeypatch):
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    to_stdout(b"shares\n")
    assert out.getvalue() == "shares\n"


def test_commands_refuse_outputs_that_are_not_regular_files_or_are_inputs_by_another_name(tmp_path, refused):
    scored_files(tmp_path)
    special_files(tmp_path)
    (tmp_path / "hard.csv").hardlink_to(tmp_path / "new.csv")
    (tmp_path / "soft.svg").symlink_to("labelled.csv")
    refused("is a device", *SCORED, "-o", "device.csv")
    refused("is a pipe", *SCORED, "--html", "pipe.csv")
    refused("is an input of this command", *SCORED, "-o", "hard.csv")
    refused("is an input of this command", *SCORED, "--plot", "soft.svg")
    refused("is an input of this command", *SCORED[:3], "n*.csv", *SCORED[4:], "-o", "hard.csv")
    refused("is a socket", "compare", *SCORED[1:4], "new.csv", "--label", "y", "-o", "socket.csv")
    refused("is a device", "fit", "labelled.csv", "--label", "y", "-o", "/dev/null")
    refused("is an input of this command", "fit", "labelled.csv", "--label", "y", "-o", "soft.svg")


HOSTILE = {"neg": "\x1b[31mred", "pos": "=1+1", "a": "@sum\x9b", "b": "-\x07\n2", "c": "$\\frac{|<b>"}


def hostile_files(folder):
    """Tables whose classes and groups would control a terminal, or be formulas, in CSV that means just these names."""
    scored_files(folder)
    for name in ("labelled.csv", "new.csv"):
        table = pd.read_csv(folder / name).rename(
            columns={f"score_{old}": f"score_{new}" for old, new in HOSTILE.items()}
        )
        table[["y", "said", "g"]] = table[["y", "said", "g"]].replace(HOSTILE)
        table.rename(columns={"g": "g\x1b]0;t\x07"}).to_csv(folder / name, index=False)


def test_names_are_safe_wherever_they_go(tmp_path, run):
    hostile_files(tmp_path)
    outputs = "-o", "s.csv", "--html", "s.html", "--plot", "s.svg"
    by = "--by", "g\x1b]0;t\x07"
    code, out, err = run(*SCORED, *by, *outputs)
    assert code == 0, err
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", out + err)
    assert "\\x1b[31mred" in out
    assert "\\x07\\n2" in out
    ElementTree.parse("s.svg")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", Path("s.html").read_text())
    cells = pd.read_csv("s.csv")
    assert set(cells["class"]) == {"\x1b[31mred", "'=1+1"}
    assert set(cells["group"]) == {"'@sum\x9b", "'-\x07\n2", "$\\frac{|<b>"}
    read_back = [
        value for batch in TableFile("s.csv").batches({"group": "group"}) for value in batch.groups("group")[1]
    ]
    assert set(read_back) == {HOSTILE[name] for name in "abc"}
    code, out, _ = run(*SCORED, *by, "--json")
    assert set(json.loads(out)["groups"]) == {HOSTILE[name] for name in "abc"}
    assert "\x9b" not in out
    code, out, _ = run(*SCORED, *by, "--format", "markdown")
    assert "$\\\\frac{\\|\\<b\\>" in out
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", out)
    for command in (("check", *SCORED[1:]), ("compare", *SCORED[1:], "--against", "first")):
        code, out, err = run(*command, *by)
        assert code == 0, err
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", out + err)
    code, out, err = run("estimate", "\x1b[31m.headcount", "new.csv")
    assert (code, out) == (2, "")
    assert "\x1b" not in err


def test_no_command_prints_past_the_escaping():
    for file in Path(output.__file__).parent.glob("*.py"):
        assert file.read_text().count("typer.echo(") == (file.name == "output.py"), file.name


def test_a_share_of_minus_nothing_is_printed_as_zero():
    shares = np.array([[-1e-12, 1.0]])
    groups = SimpleNamespace(shares=shares, low=shares, high=shares, counts=(-shares * 0.0, shares * 0, shares * 0))
    assert output._figures(groups, 0, 0) == (("0.0 %", "0.0 to 0.0"), ("0", "0 to 0"))
    assert _texts(-1e-12, -1e-12, 0.1, 3)["share"] == "0.0 %"


def test_a_change_of_minus_nothing_has_no_minus():
    entry = SimpleNamespace(quantiles=[-1e-9] * 5, mean=-1e-9)
    assert _bias_text(entry) == "+0.000 (+0.000, +0.000, +0.000, +0.000; mean +0.000)"
    for file in Path(report.__file__).parent.rglob("*.py"):
        assert not re.search(r":\+\.\d[f%]\}", file.read_text()), f"{file.name}: a sign without z"
