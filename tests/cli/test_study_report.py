"""`headcount study claims`, `summary` and `report` from a store alone."""

import json
import re
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from headcount.cli.app import app, main
from tests.report.conftest import WHOLE, study_results

__all__ = ["study_results"]


@pytest.fixture
def called(study_results, tmp_path):
    (tmp_path / "whole.toml").write_text(WHOLE)

    def call(command, *options):
        arguments = [
            "study",
            command,
            str(tmp_path / "whole.toml"),
            "--store",
            str(study_results.store.folder),
            *options,
        ]
        result = CliRunner().invoke(app, arguments, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result

    return call


def test_claims(called):
    text = called("claims").stdout
    assert "CANNOT BE JUDGED HERE CNN is the learner" in text
    assert "(Published figures: holds.)" in text
    assert "Rule:" not in text
    assert "Rule: Table 5, by AE" in called("claims", "--figures").stdout


def test_report_prints_the_path_of_the_page(called, study_results, tmp_path):
    result = called(
        "report",
        "-o",
        str(tmp_path / "page.html"),
        "--json",
        str(tmp_path / "all.json"),
        "--csv",
        str(tmp_path / "csv"),
    )
    assert result.stdout == f"Page: {tmp_path / 'page.html'}\n"
    assert (tmp_path / "page.html").read_text().startswith("<!DOCTYPE html>")
    assert json.loads((tmp_path / "all.json").read_text())["title"] == study_results.plan.title
    assert (tmp_path / "csv" / "table-6.csv").is_file()


def test_with_json_to_the_terminal_stdout_is_json_only(called, tmp_path):
    result = called("report", "-o", str(tmp_path / "page.html"), "--json", "-")
    assert json.loads(result.stdout)["claims"]
    assert "Page:" in result.stderr


def test_missing_results_are_reported(called, tmp_path):
    result = called("report", "--on", "even,odd", "-o", str(tmp_path / "page.html"))
    assert "Missing: odd, svm: there are no results" in result.stderr
    result = called("report", "--on", "odd,strange", "-o", str(tmp_path / "page.html"))
    assert "and 3 more like these." in result.stderr
    assert "Missing: odd, svm: there are no results" in called("tables", "--on", "even,odd").stderr
    assert "Missing: odd, svm: there are no results" in called("claims", "--on", "even,odd").stderr


def test_summary(called, tmp_path):
    assert "## Provenance" in called("summary", "--on", "even", "--runs", "1").stdout
    result = called("summary", "-o", str(tmp_path / "summary.md"))
    assert result.stdout == f"Summary: {tmp_path / 'summary.md'}\n"
    text = (tmp_path / "summary.md").read_text()
    assert "headcount study summary" in text
    pictures = [tmp_path / name for name in re.findall(r"!\[[^]]*\]\(([^)]*)\)", text)]
    assert len(pictures) == 2 + 2 + 2
    for picture in pictures:
        assert ElementTree.parse(picture).getroot().tag.endswith("svg")
        assert "currentColor" not in picture.read_text()
    assert sorted(pictures) == sorted((tmp_path / "summary-pictures").iterdir())


@pytest.mark.parametrize(
    "options",
    [("-o", "."), ("-o", ""), ("--json", "."), ("-o", "same", "--json", "same"), ("-o", "page.html", "--csv", "file")],
)
def test_output_that_cannot_be_written_is_one_line_of_error_and_leaves_no_files(
    options, study_results, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "whole.toml").write_text(WHOLE)
    (tmp_path / "file").write_text("")
    store = str(study_results.store.folder)
    monkeypatch.setattr("sys.argv", ["headcount", "study", "report", "whole.toml", "--store", store, *options])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "whole.toml"]


def test_missing_store_is_one_line_of_error(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["headcount", "study", "report", "--store", str(tmp_path / "none")])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    assert "There is no store at" in capsys.readouterr().err
