"""A table in each format, with missing, marked and shaded figures and special characters."""

import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

from headcount.report import Cell, Column, Table

TABLE = Table(
    "Table 1: A & B",
    "50 % of <these> are made_up.",
    ["method", "learner"],
    [Column("imdb", "AE"), Column("kindle", "AE"), Column("imdb", "RAE")],
    [
        (["CC", "lr"], [Cell(0.1234, bold=True), Cell(0.5, note="+10.0%", shade=-0.5), Cell(None)]),
        (
            ["SVM(Q)", ""],
            [
                Cell(0.2, mark="‡", note="2"),
                Cell(float("nan")),
                Cell(6.1, digits=1, shade=0.9, hint=["in full", "and more"]),
            ],
        ),
        (["x|y", "~"], [Cell(">>", note="~", more="d = +0.10, n = 7"), Cell(1.0), Cell(2.0)]),
    ],
)


def test_text_is_aligned_and_marks_missing_figures():
    lines = TABLE.to_text().splitlines()
    assert lines[0] == "Table 1: A & B"
    assert lines[2].split() == ["method", "learner", "AE", "imdb", "AE", "kindle", "RAE", "imdb"]
    assert lines[4].split() == ["CC", "lr", "0.123", "0.500", "(+10.0%)", "–"]
    assert lines[5].split() == ["SVM(Q)", "0.200‡", "(2)", "–", "6.1"]
    assert len({len(line) for line in lines[4:7]}) == 1


def test_markdown_has_as_many_columns_in_each_row():
    rows = [line for line in TABLE.to_markdown().splitlines() if line.startswith("|")]
    # Two groups of columns, twice: the figures, then the further notes, folded.
    assert [len(re.findall(r"(?<!\\)\|", row)) for row in rows] == ([5] * 5 + [4] * 5) * 2
    assert "**0.123**" in rows[2]
    assert r"x\|y" in rows[4]


def test_cells_of_markdown_do_not_wrap_and_further_notes_are_folded():
    before, folded = TABLE.to_markdown().split("<details", 1)
    assert "0.500\u00a0(+10.0%)" in before
    assert "d\u00a0=\u00a0+0.10" in folded
    assert "d\u00a0=" not in before
    assert folded.rstrip().endswith("</details>")
    words = Table("T", "C", ["a"], [Column("b")], [(["r"], [Cell("a setting that is long; " * 4)])])
    assert "\u00a0" not in words.to_markdown()  # what is long may wrap


def test_each_note_of_html_keeps_together_and_all_are_there():
    text = TABLE.to_html()
    assert '<span class="note several">(<span>~</span>, <span>d = +0.10</span>, <span>n = 7</span>)</span>' in text
    assert '<span class="note">(<span>+10.0%</span>)</span>' in text


def test_first_label_of_html_names_the_row_in_full_for_narrow_screens():
    assert '<th scope="row">CC<span class="rest">lr</span></th>' in TABLE.to_html()
    assert TABLE.to_html("some-id").startswith('<table aria-labelledby="some-id"><thead>')


def test_html_is_well_formed_and_escaped():
    class Balanced(HTMLParser):
        def __init__(self):
            super().__init__()
            self.open, self.cells = [], []

        def handle_starttag(self, tag, attrs):
            self.open.append(tag)
            if tag == "td":
                self.cells.append(dict(attrs))

        def handle_endtag(self, tag):
            assert self.open.pop() == tag

    parser = Balanced()
    parser.feed(TABLE.to_html())
    assert parser.open == []
    assert len(parser.cells) == 9
    assert parser.cells[0]["class"] == "figure best"
    assert parser.cells[0]["data-value"] == "0.1234"
    assert "worse" in parser.cells[1]["class"]
    assert parser.cells[2]["data-value"] == ""
    assert parser.cells[5]["title"] == "in full\nand more"
    assert "&lt;these&gt;" in TABLE.to_html()


def test_data_frame_holds_figures_without_notes():
    frame = TABLE.to_frame()
    assert frame.columns.tolist() == ["method", "learner", "AE imdb", "AE kindle", "RAE imdb"]
    assert frame["AE imdb"].tolist() == [0.1234, 0.2, ">>"]


def test_latex_escapes_and_groups():
    text = TABLE.to_latex()
    assert r"\multicolumn{2}{c}{AE} & \multicolumn{1}{c}{RAE} \\" in text
    assert r"50 \% of \textless{}these\textgreater{} are made\_up." in text
    assert r"\cellcolor{red!20}0.500 (+10.0\%)" in text
    assert text.count(r"\\") == 5
    bare = Table("T", "C", ["a"], [Column("b")], [(["r"], [Cell(1.0)])])
    assert "multicolumn" not in bare.to_latex()


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_compiles(tmp_path):
    preamble = "\\documentclass{article}\\usepackage[table]{xcolor}\\usepackage{booktabs,graphicx}\\begin{document}\n"
    (tmp_path / "t.tex").write_text(preamble + TABLE.to_latex() + "\\end{document}\n")
    subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
