"""Values of the command line: texts, numbers and paths are taken as they are, all others are converted and checked by typer."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import pytest
import typer
import typer.core
from typer.testing import CliRunner

from headcount.cli.plain_values import take_plain_values


def command(
    name: str,
    files: Annotated[list[str], typer.Argument()],
    by: Annotated[list[str] | None, typer.Option()] = None,
    share: Annotated[float, typer.Option(min=0.0, max=1.0)] = 0.5,
    rows: int = 3,
    out: Path | None = None,
    there: Annotated[Path | None, typer.Option(exists=True)] = None,
    upper: Annotated[str, typer.Option(parser=str.upper)] = "none",
) -> None:
    typer.echo(repr((name, files, by, share, rows, out, there, upper)))


def outcome(arguments):
    app = typer.Typer(rich_markup_mode=None)
    app.command()(command)
    result = CliRunner().invoke(app, arguments)
    return result.exit_code, result.output


ARGUMENTS = [
    ["a", "b", "c"],
    ["a", "b", "--by", "x", "--by", "y"],
    ["a", "b", "--share", "0.25", "--rows", "7"],
    ["a", "b", "--share", "1.5"],
    ["a", "b", "--share", "half"],
    ["a", "b", "--rows", "1.5"],
    ["a", "b", "--out", "x/y.html"],
    ["a", "b", "--there", "nowhere"],
    ["a", "b", "--there", os.devnull],
    ["a", "b", "--upper", "text"],
    ["a"],
    [],
]


@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_values_and_messages_are_those_of_typer(arguments, monkeypatch):
    expected = outcome(arguments)
    monkeypatch.setattr(typer.core, "build_runtime_param", typer.core.build_runtime_param, raising=False)
    take_plain_values()
    assert outcome(arguments) == expected
    assert expected[0] in (0, 2)


def test_a_text_is_not_validated_by_pydantic(tmp_path):
    (tmp_path / "m.headcount").write_text("")
    code = """
import sys
sys.argv = ["headcount", "inspect", "m.headcount"]
from headcount.cli import main
try:
    main()
except SystemExit as stop:
    assert stop.code == 2, stop.code
assert "pydantic" not in sys.modules
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
