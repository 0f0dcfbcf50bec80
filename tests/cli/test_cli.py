import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from headcount import __version__
from headcount.cli import app as cli
from headcount.exceptions import DataError


def run(*arguments):
    return CliRunner().invoke(cli.app, arguments)


def test_version():
    result = run("--version")
    assert (result.exit_code, result.output) == (0, f"headcount {__version__}\n")


def test_methods_are_listed_with_their_references():
    output = run("methods").output
    for word in (
        "MLPE",
        "CC",
        "PCC",
        "ACC",
        "PACC",
        "Forman 2008",
        "Bella et al. 2010",
        "nkld",
        "SVM(KLD)",
        "SVM(RAE)",
    ):
        assert word in output


def test_methods_as_json():
    records = json.loads(run("methods", "--json").output)
    counting = ["MLPE", "CC", "PCC", "ACC", "PACC", "SLD", "HDy"]
    explicit = ["ELM", "SVM(KLD)", "SVM(NKLD)", "SVM(Q)", "SVM(AE)", "SVM(RAE)"]
    assert [m["name"] for m in records["methods"]] == [*counting, *explicit, "QuaNet"]
    assert all(m["reference"] for m in records["methods"])
    assert {"name": "nmd", "ordinal": True}.items() <= records["errors"][7].items()


def test_without_arguments_it_explains_itself():
    result = run()
    assert "Usage" in result.output
    assert "methods" in result.output


def end_of_main(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["headcount", *arguments])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    return stop.value.code, capsys.readouterr()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["count"], "No such command 'count'."), (["methods", "--xml"], "--xml"), (["methods", "x"], "unexpected extra")],
)
def test_a_command_that_is_not_there_is_one_line_and_exit_code_2(monkeypatch, capsys, arguments, words):
    code, shown = end_of_main(monkeypatch, capsys, *arguments)
    assert code == 2
    assert words in shown.err
    assert shown.err.startswith("headcount: ")
    assert shown.err.count("\n") == 1
    assert shown.out == ""


def test_a_users_mistake_is_one_line_and_exit_code_2(monkeypatch, capsys):
    def fail(**options):
        raise DataError("There is no file x.csv.")

    monkeypatch.setattr(cli, "app", fail)
    code, shown = end_of_main(monkeypatch, capsys)
    assert (code, shown.err) == (2, "headcount: There is no file x.csv.\n")


def test_success_is_exit_code_0(monkeypatch, capsys):
    for arguments in (["--version"], ["methods"], ["--help"], []):
        code, shown = end_of_main(monkeypatch, capsys, *arguments)
        assert (code, shown.err) == (0, "")
        assert shown.out


def test_python_dash_m_runs_it():
    done = subprocess.run([sys.executable, "-m", "headcount", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"headcount {__version__}\n"
