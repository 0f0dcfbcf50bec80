"""The page and the files of a small league, without a browser, and its commands."""

import io
import json
import re
import sys
from base64 import b64decode
from zipfile import ZipFile

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from headcount import cli
from headcount.report.league import View, league_to_csv, league_to_json, league_to_latex, rank, render_league, standings
from headcount.report.league.breakdowns import breakdowns
from headcount.report.league.pictures import rank_picture, time_picture
from headcount.study import Results
from tests.report.league.leagues import contents_of, made_up


def test_page_refers_to_no_other_files_and_ids_are_distinct(page_text):
    assert not re.search(r'(src|href)="(?!#|data:)[^"]*"', page_text)
    ids = re.findall(r' id="([^"]+)"', page_text)
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in re.findall(r'href="(#[^"]+)"', page_text)} <= {*ids}
    assert "A &lt;small&gt; league" in page_text
    assert "<small>" not in page_text


def test_page_says_first_what_was_compared_and_who_is_best(page_text, contents):
    words = page_text[page_text.index('<section id="words">') : page_text.index('<div id="filters"')]
    assert (
        "5 methods that estimate class shares were compared on 5 data sets (5 tables; 4 with two classes, 1 with more)"
        in words
    )
    assert "Some are made of the same items and count once: 5 data sets count as 4." in words
    assert "Over 3 data sets with two classes, with the classifier lr at given settings, " in words
    assert contents.first.ranking.names[0] in contents.answer[1].partition(" the best mean rank")[0].split()
    order = [
        page_text.index(f'id="{part}"')
        for part in ("words", "filters", "ranking", "pictures", "by-set", "tables", "provenance")
    ]
    assert order == sorted(order)
    for what in ("seed 7", "21 of 40 items", "to choose settings", "scikit-learn", "LogisticRegression"):
        assert what in page_text[order[-1] :]


def test_page_is_readable_without_script(page_text, contents):
    before = page_text[: page_text.index("<script")]
    assert '<div id="filters" hidden>' in before
    board = before[before.index('id="leaderboard"') :]
    for entrant, mean_rank in zip(contents.first.ranking.entrants, contents.first.ranking.mean_ranks, strict=True):
        assert re.search(rf'data-method="{entrant.method}".*?data-value="{mean_rank}"', board)


def test_files_have_all_errors(contents, results):
    files = league_to_csv(contents)
    errors = pd.read_csv(io.StringIO(files["errors.csv"]))
    assert len(errors) == (7 * 4 + 6) * 4  # entrants that suit each set, all samples and three parts
    cell = next(c for c in results.cells if c.method == "PACC" and c.target == "ae" and c.data_set.endswith("/b"))
    row = errors[(errors["set"] == cell.data_set) & (errors["method"] == "PACC") & (errors["target"] == "ae")]
    assert row[row["part"] == "all"]["ae"].item() == pytest.approx(cell.errors("ae").mean(), abs=1e-8)
    assert row[row["part"] == "as they are, 40 items"]["ae"].item() == pytest.approx(
        cell.errors("ae")[42:].mean(), abs=1e-8
    )
    rarest = int(np.argmin(contents.standings.sets[1].training))
    assert row[row["part"] == "all"]["bias"].item() == pytest.approx((cell.estimated - cell.true)[:, rarest].mean())
    assert {*errors["counts as"]} < {*errors["set"]}
    ranking = pd.read_csv(io.StringIO(files["ranking-lr-given-settings-two-classes.csv"]))
    assert ranking["method"].tolist() == [entrant.method for entrant in contents.first.ranking.entrants]
    figures = json.loads(league_to_json(contents))
    assert len(figures["standings"]) == len(errors)
    assert figures["words"][1] == contents.answer[1]


def test_latex_tables_are_whole_and_wide_ones_are_cut(contents):
    files = league_to_latex(contents)
    assert "methods.tex" in files
    for text in files.values():
        assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") > 0
        for line in text.splitlines():
            assert not re.search(r"(?<!\\)[%#]", line.removesuffix("{%"))
    wide = league_to_latex(contents_of(made_up(np.random.default_rng(0).random((4, 30)))))
    text = wide["ranking-lr-given-settings-two-classes.tex"]
    assert "(1 of 3)" in text
    assert "(3 of 3)" in text


def test_archive_holds_the_same_files(page_text, contents):
    [data] = re.findall(r'download="small-league.zip" href="data:application/zip;base64,([^"]+)"', page_text)
    with ZipFile(io.BytesIO(b64decode(data))) as archive:
        names = {*league_to_csv(contents), *league_to_latex(contents), "league.json"}
        assert {*archive.namelist()} == names
        assert archive.read("errors.csv").decode() == league_to_csv(contents)["errors.csv"]


def test_breakdowns_are_means_over_sets(results, contents):
    ranking = contents.first.ranking
    shift = next(b for b in contents.first.breakdowns if b.name == "shift")
    parts = next(b for b in contents.first.breakdowns if b.name == "part")
    j = ranking.names.index("MLPE")
    # MLPE answers the training shares: its error is the shift itself, and lies inside each bin.
    lows = [float(group.split(" ")[0]) for group in shift.groups]
    assert all(low <= value for low, value in zip(lows, shift.values[j], strict=True))
    assert all(value <= high for value, high in zip(shift.values[j][:-1], lows[1:], strict=True))
    sums = (parts.values * [21, 21, 10]).sum(axis=1) / 52
    np.testing.assert_allclose(sums, ranking.mean_errors, atol=1e-7)


def test_pictures_change_with_the_errors_and_name_each_method():
    errors = np.random.default_rng(6).random((20, 8))
    ranking, other = (rank(made_up(e), View("lr", "none", "ae")) for e in (errors, errors[:, ::-1] ** 2))
    picture = rank_picture(ranking)
    assert {s.method for s in picture.series} == {f"M{j}" for j in range(8)}
    for j in range(8):
        assert len(re.findall(rf">M{j}  [\d.]+<|>[\d.]+  M{j}<", picture.svg)) == 1
    assert picture.svg != rank_picture(other).svg
    ranks = dict(zip([e.method for e in ranking.entrants], ranking.mean_ranks, strict=True))
    left = {s.method: s.points[0][0] for s in picture.series}
    by_rank, by_place = (sorted(values, key=values.get) for values in (ranks, left))
    assert by_rank == by_place
    assert mpl.rcParams["axes.spines.top"]  # nothing global is changed


def test_names_beside_dots_do_not_lie_on_each_other_nor_on_other_dots():
    errors = np.full((6, 30), 0.05)
    ranking = rank(made_up(errors), View("lr", "none", "ae"))
    crowded = time_picture(ranking, np.full(30, 0.1))
    apart = time_picture(ranking, np.geomspace(0.001, 100.0, 30))
    named = [len(re.findall(r">M\d+<", plot.svg)) for plot in (crowded, apart)]
    assert named[0] <= 4 < 10 < named[1]  # a dot has four sides


def test_groups_of_one_are_not_broken_down():
    table = made_up(np.random.default_rng(8).random((1, 3)))
    ranking = rank(table, View("lr", "none", "ae"))
    assert ranking.comparison is None
    assert rank_picture(ranking) is None
    assert {b.name for b in breakdowns(table, ranking)} == {"shift", "sample-size", "part"}
    assert "there is no test of how sure that is" in render_league(contents_of(table))


@pytest.fixture
def headcount(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["headcount", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        captured = capsys.readouterr()
        return stop.value.code, captured.out, captured.err

    return call


def test_commands_choose_the_page_of_a_league(headcount, league, tmp_path, results):
    _, store = league
    plan = store.parent / "league.toml"
    code, _, said = headcount(
        *(
            "study",
            "report",
            plan,
            "--store",
            store,
            "--only",
            f"dataset={results.plan.data_sets[1]}",
            "-o",
            "page.html",
        ),
        *("--csv", "csv", "--latex", "tex", "--json", "all.json"),
    )
    assert (code, said.count("Figures: ")) == (0, 3)
    assert 'id="leaderboard"' in (tmp_path / "page.html").read_text("utf-8")
    assert len(pd.read_csv(tmp_path / "csv" / "errors.csv")) == 7 * 4
    assert (tmp_path / "tex" / "data-sets.tex").is_file()
    assert json.loads((tmp_path / "all.json").read_text("utf-8"))["standings"]
    code, out, _ = headcount("study", "overview", plan, "--store", store)
    assert code == 0
    assert "has the best mean rank of 5 methods" in out
    assert out.splitlines()[-2 if "Not ranked" in out else -1].startswith("Over 4 data sets with two classes")
    code, out, _ = headcount("study", "overview", plan, "--store", store, "--target", "AE", "--method", "pacc")
    assert re.search(r"^PACC .*", out, re.M)
    assert not re.search(r"^CC .*", out, re.M)
    code, _, said = headcount("study", "overview", plan, "--store", store, "--method", "nothing")
    assert (code, "The plan has no method 'nothing'" in said) == (2, True)


def test_a_store_of_fewer_runs_than_the_plan_has_all_that_is_asked_of_it(headcount, league, tmp_path):
    _, store = league
    plan = store.parent / "more-runs.toml"
    text = (store.parent / "league.toml").read_text("utf-8")
    of_two = 'names = ["SLD", "HDy"]'
    assert of_two in text
    plan.write_text(text.replace(of_two, f"runs = 7\n{of_two}"), "utf-8")
    code, _, said = headcount("study", "overview", plan, "--store", store)
    assert (code, "Missing" in said) == (0, False)
    code, _, said = headcount("study", "overview", plan, "--store", store, "--runs", "7")
    assert (code, "Missing" in said) == (0, True)


def test_the_summary_has_the_ranking_and_each_pair_with_the_first(headcount, league, tmp_path):
    plan, store = league
    table = rank(standings(Results(plan, store)), View("lr", "none", "ae"))
    file = store.parent / "league.toml"
    code, text, _ = headcount("study", "summary", file, "--store", store)
    assert code == 0
    assert "](" not in text.partition("## Ranking")[0]  # the terminal gets no pictures
    first, second = table.names[:2]
    change = table.ranked[:, 1] - table.ranked[:, 0]
    row = next(
        line for line in text.partition("### Against the first")[2].splitlines() if line.startswith(f"| {second} ")
    )
    wins = [str((change > 0).sum()), str((change == 0).sum()), str((change < 0).sum())]
    assert row.split("|")[2:5] == [f" {n} " for n in wins]
    assert float(row.split("|")[5]) == pytest.approx(change.mean(), abs=5.1e-5)
    assert f"alone, over {len(change)} data sets" in text
    assert first in text
    code, _, _ = headcount("study", "summary", file, "--store", store, "-o", tmp_path / "league.md")
    assert code == 0
    written = (tmp_path / "league.md").read_text()
    for name in ("ranks.svg", "shifts.svg"):
        assert f"(league-pictures/{name})" in written
        assert (tmp_path / "league-pictures" / name).read_text().startswith("<?xml")


@pytest.mark.parametrize("command", ["tables", "claims"])
def test_what_is_the_papers_is_refused(headcount, league, command):
    _, store = league
    code, _, said = headcount("study", command, store.parent / "league.toml", "--store", store)
    assert code == 2
    assert (
        f"'headcount study {command}' is about the paper's tables and conclusions, and small-league is a league" in said
    )


def test_a_store_without_figures_gives_a_page_that_says_so():
    contents = contents_of(made_up(np.full((3, 4), np.nan)))
    assert "Nothing can be ranked yet" in render_league(contents)
    assert league_to_csv(contents)["errors.csv"].count("\n") == 1 + 3 * 4 * 5
    assert json.loads(league_to_json(contents))["standings"][0]["ae"] is None
