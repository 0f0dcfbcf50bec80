"""Files and tables that the commands write."""

import io
import sys

import numpy as np
import pandas as pd

from headcount.cli.output import to_stdout
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
