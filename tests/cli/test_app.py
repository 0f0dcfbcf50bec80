"""The application: version, help, exit codes, signals, closed pipes."""

import errno
import io
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headcount import __version__
from headcount.cli import app as cli
from headcount.exceptions import DataError
from tests.cli.conftest import SCORED, scored_files, scored_table


def invoke(*arguments):
    return CliRunner().invoke(cli.app, arguments)


def test_version():
    result = invoke("--version")
    assert (result.exit_code, result.output) == (0, f"headcount {__version__}\n")


def test_help_is_shown_without_arguments():
    result = invoke()
    assert "Usage" in result.output
    assert "methods" in result.output


def run_main(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["headcount", *arguments])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    return stop.value.code, capsys.readouterr()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["count"], "No such command 'count'."), (["methods", "--xml"], "--xml"), (["methods", "x"], "unexpected extra")],
)
def test_an_unknown_command_or_option_is_one_line_and_exit_code_2(monkeypatch, capsys, arguments, words):
    code, shown = run_main(monkeypatch, capsys, *arguments)
    assert code == 2
    assert words in shown.err
    assert shown.err.startswith("headcount: ")
    assert shown.err.count("\n") == 1
    assert shown.out == ""


def test_a_users_mistake_is_one_line_and_exit_code_2(monkeypatch, capsys):
    def fail(**options):
        raise DataError("There is no file x.csv.")

    monkeypatch.setattr(cli, "app", fail)
    code, shown = run_main(monkeypatch, capsys)
    assert (code, shown.err) == (2, "headcount: There is no file x.csv.\n")


def test_a_message_ends_as_a_sentence_also_where_it_quotes_another_library(monkeypatch, capsys):
    def fail(**options):
        raise DataError("t.svm can't be read: could not convert string to float: b'x' ")

    monkeypatch.setattr(cli, "app", fail)
    _, shown = run_main(monkeypatch, capsys)
    assert shown.err == "headcount: t.svm can't be read: could not convert string to float: b'x'.\n"


def test_success_is_exit_code_0(monkeypatch, capsys):
    for arguments in (["--version"], ["methods"], ["--help"], []):
        code, shown = run_main(monkeypatch, capsys, *arguments)
        assert (code, shown.err) == (0, "")
        assert shown.out


def test_python_m_headcount_runs_the_command_line():
    done = subprocess.run([sys.executable, "-m", "headcount", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"headcount {__version__}\n"


@pytest.mark.parametrize("command", ["fit", "estimate", "compare", "check", "inspect"])
def test_each_help_shows_an_example(run, command):
    code, out, _ = run(command, "--help")
    assert code == 0
    assert f"Example: headcount {command} " in " ".join(out.split())


def test_a_terminated_command_leaves_no_files_behind(tmp_path):
    scored_table(300).to_csv(tmp_path / "labelled.csv", index=False)
    command = [
        sys.executable,
        "-m",
        "headcount",
        "estimate",
        "--scored",
        "labelled.csv",
        "-",
        "--label",
        "y",
        "-o",
        "out.csv",
    ]
    environment = os.environ | {"TMPDIR": str(tmp_path / "tmp")}
    (tmp_path / "tmp").mkdir()
    with subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.PIPE, env=environment, stderr=subprocess.DEVNULL
    ) as process:
        rows = scored_table(50).drop(columns="y").to_csv(index=False).encode()
        process.stdin.write(rows)
        process.stdin.flush()
        deadline = time.monotonic() + 60
        while not list((tmp_path / "tmp").glob("headcount-*")) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert list((tmp_path / "tmp").glob("headcount-*"))
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 143
    assert list((tmp_path / "tmp").glob("headcount-*")) == []
    assert not (tmp_path / "out.csv").exists()


def test_a_file_without_read_permission_is_reported(tmp_path, refused, monkeypatch):
    scored_files(tmp_path)

    def forbidden(*_, **__):
        raise PermissionError(13, "Permission denied", "new.csv")

    monkeypatch.setattr(Path, "is_dir", forbidden)
    refused("new.csv can't be used: Permission denied", *SCORED)


@pytest.mark.parametrize("full", [True, False])
def test_full_disks_and_closed_pipes_show_no_traceback(tmp_path, full):
    scored_files(tmp_path)
    command = [sys.executable, "-m", "headcount", *SCORED]
    shell = f"{shlex.join(command)} " + ("> /dev/full" if full else "| true")
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {shell}"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    assert (done.returncode, "can't be used: No space left" in done.stderr) == ((2, True) if full else (0, False))


def test_a_reader_of_the_output_that_has_gone_is_no_error(monkeypatch, capsys):
    class Gone(io.StringIO):
        def write(self, _):
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    for arguments in (["--version"], ["methods"], ["--help"]):
        monkeypatch.setattr(sys, "stdout", Gone())
        code, shown = run_main(monkeypatch, capsys, *arguments)
        assert (code, shown.err) == (0, "")


def test_closed_streams_are_no_bugs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    scored_files(tmp_path)
    monkeypatch.setattr(sys, "stdin", None)
    code, shown = run_main(monkeypatch, capsys, *SCORED[:3], "-", *SCORED[4:])
    assert (code, shown.err) == (2, "headcount: Standard input is closed: send a table to it, or name a file.\n")
    for stream in ("stdout", "stderr"):
        monkeypatch.setattr(sys, stream, None)
        code, _ = run_main(monkeypatch, capsys, "inspect", "none.headcount")
        assert code == 2


def test_file_names_that_lead_nowhere_or_are_not_utf8(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    scored_files(tmp_path)
    Path("loop.csv").symlink_to("loop.csv")
    for output in ("s.csv", "s.parquet"):
        code, shown = run_main(monkeypatch, capsys, *SCORED[:3], "loop.csv", *SCORED[4:], "-o", output)
        assert (code, shown.err) == (2, "headcount: There is no file loop.csv.\n")
    name = os.fsdecode(b"n\xff.csv")
    Path("new.csv").rename(name)
    code, shown = run_main(monkeypatch, capsys, *SCORED[:3], name, *SCORED[4:], "--json")
    assert code == 0, shown.err
    assert name in json.loads(shown.out)["from"].values()


def test_a_message_is_of_bounded_length(monkeypatch, capsys):
    code, shown = run_main(monkeypatch, capsys, "x" * 1_000_000)
    assert code == 2
    assert len(shown.err) < 5_000
