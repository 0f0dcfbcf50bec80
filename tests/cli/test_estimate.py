"""`headcount estimate`: what is written, and which input is refused."""

import io
import json
import os
import re
import sys
import threading

import numpy as np
import pandas as pd
import pytest

from headcount import SLD
from headcount.cli.output import table_bytes
from headcount.modelfile import Columns, Model, save_model
from tests.cli.conftest import SCORED, scored_files, scored_table
from tests.conftest import blobs


def test_fit_estimate_and_inspect_a_model(model, run):
    code, out, err = run(
        *("estimate", "m.headcount", "new.parquet", "--by", "day:month", "-o", "shares.csv", "--html", "p.html"),
        *("--plot", "p.svg"),
    )
    assert code == 0, err
    assert "2016-01" in out
    assert "too few items" in out
    assert "Too few items for an estimate: at least 30 are asked for (--min-items).\n  2016-05 (3 items)" in out
    assert "stars=bad" in out.splitlines()[0]
    frame = pd.read_csv("shares.csv")
    counts = ["count", "count_low", "count_high"]
    assert frame.columns.tolist() == [
        *("group", "class", "share", "share_low", "share_high", *counts, "n", "verdict", "p_corrected")
    ]
    assert frame[frame.group != "2016-05"].groupby("group")["count"].sum().tolist() == [150, 150]
    assert (frame.count_low.dropna() == (frame.share_low * frame.n).round().dropna()).all()
    assert (frame.count_high.dropna() == (frame.share_high * frame.n).round().dropna()).all()
    assert frame.groupby("group").share.sum().round(9).tolist() == [1.0, 1.0, 0.0]
    assert (frame.share_low.dropna() <= frame.share.dropna()).all()
    page = (model.parent / "p.html").read_text()
    assert 'id="groups"' in page
    assert "prefers-color-scheme: dark" in page
    assert "http" not in page.replace("http://www.w3.org", "").replace("http://purl.org", "").replace(
        "http://creativecommons", ""
    )
    assert (model.parent / "p.svg").read_bytes().startswith(b"<?xml")
    assert err.count("Written: ") == 3
    code, out, _ = run("inspect", "m.headcount")
    assert code == 0
    assert "labelled.csv, 400 rows" in out
    assert "seed 0" in out
    record = json.loads(run("inspect", "m.headcount", "--json")[1])
    assert record["columns"] == {"kind": "text", "names": ["review"], "label": "stars"}
    assert record["ranking"][0]["method"] == "PACC"


def test_all_input_and_output_formats_agree(model, run, monkeypatch):
    base = run("estimate", "m.headcount", "new.csv", "--by", "shop", "-o", "-")[1]
    assert base.startswith(
        "group,class,share,share_low,share_high,count,count_low,count_high,n,verdict,p_corrected\nx,bad,"
    )
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((model.parent / "new.csv").read_bytes())))
    assert run("estimate", "m.headcount", "-", "--by", "shop", "-o", "-")[1] == base
    answer = json.loads(run("estimate", "m.headcount", "new.parquet", "--by", "shop", "--json")[1])
    first = pd.read_csv(io.StringIO(base)).iloc[0]
    assert answer["groups"]["x"]["shares"]["bad"]["share"] == pytest.approx(first.share)
    assert answer["groups"]["x"]["shares"]["bad"]["count_high"] == first.count_high
    for name in ("s.tsv", "s.json", "s.parquet", "s.xlsx"):
        assert run("estimate", "m.headcount", "new.csv", "--by", "shop", "-o", name)[0] == 0
    assert pd.read_csv("s.tsv", sep="\t").share[0] == pytest.approx(first.share)
    assert json.loads((model.parent / "s.json").read_text())[0]["share"] == pytest.approx(first.share)
    assert pd.read_parquet("s.parquet").share[0] == pytest.approx(first.share)
    pd.testing.assert_frame_equal(
        pd.read_excel("s.xlsx", engine="calamine"), pd.read_csv("s.tsv", sep="\t"), check_dtype=False
    )


def test_texts_of_an_excel_sheet_are_no_formulas(tmp_path):
    import openpyxl

    names = ["=1+1", "-5", "https://example.com", "\x1b[31mred"]
    (tmp_path / "t.xlsx").write_bytes(table_bytes([{"=class": name, "share": 0.5} for name in names], "t.xlsx"))
    header, *rows = openpyxl.load_workbook(tmp_path / "t.xlsx").active.iter_rows()
    assert [(cell.value, cell.data_type) for cell in header] == [("=class", "s"), ("share", "s")]
    assert [row[0].value for row in rows] == [*names[:3], "\\x1b[31mred"]
    assert {(row[0].data_type, row[0].hyperlink, row[1].value) for row in rows} == {("s", None, 0.5)}


def test_unusable_new_tables_and_options_are_refused(model, refused):
    folder = model.parent
    out = "-o", "shares.csv", "--html", "p.html", "--plot", "p.svg"
    (folder / "odd.csv").write_text("words\ngood\n")
    refused(
        "odd.csv has no column 'review', from which the model reads text", "estimate", "m.headcount", "odd.csv", *out
    )
    (folder / "bad.csv").write_bytes(b"review,day\ngood,2016-01-01\ncaf\xe9,2016-01-01\n")
    refused("bad.csv, line 3, column 'review': the byte 0xe9", "estimate", "m.headcount", "bad.csv", *out)
    (folder / "ragged.csv").write_text("review,day\ngood,2016-01-01\ngood\n")
    refused("ragged.csv, line 3: expected 2 fields", "estimate", "m.headcount", "ragged.csv", *out)
    (folder / "late.csv").write_text("review,day\ngood,2016-01-01\ngood,soon\n")
    refused(
        "late.csv, line 3, column 'day': 'soon' is not a date",
        "estimate",
        "m.headcount",
        "late.csv",
        "--by",
        "day:week",
        *out,
    )
    cut = (folder / "new.parquet").read_bytes()
    (folder / "cut.parquet").write_bytes(cut[: len(cut) // 2])
    refused("ends in the middle", "estimate", "m.headcount", "cut.parquet", *out)
    refused("results are written as .csv", "estimate", "m.headcount", "new.csv", "-o", "shares.xls")
    refused("plots are written as .svg", "estimate", "m.headcount", "new.csv", "--plot", "p.gif")
    refused("level must be between 0 and 1", "estimate", "m.headcount", "new.csv", "--level", "95")
    refused(
        "no/p.html can't be written: there is no folder",
        "estimate",
        "m.headcount",
        "new.csv",
        "-o",
        "s.csv",
        "--html",
        "no/p.html",
    )
    refused("go with --scored", "estimate", "m.headcount", "new.csv", "--label", "stars")
    refused("There is no Dask scheduler", "estimate", "m.headcount", "new.csv", "--dask", "not an address")


def test_intervals_that_assume_calibrated_posteriors_say_so(tmp_path, run, refused):
    scored_files(tmp_path)
    sld = *SCORED, "--method", "SLD"
    code, out, err = run(*sld, "--assume-calibrated", "--html", "p.html")
    assert code == 0, err
    assert "The intervals assume that the classifier's probabilities are calibrated" in out
    page = " ".join((tmp_path / "p.html").read_text().split())
    assert "It assumes that the classifier's posteriors are calibrated" in page
    assert "contain the true share" not in page
    assumed, not_assumed = (json.loads(run(*sld, *more, "--json")[1]) for more in (("--assume-calibrated",), ()))
    assert (assumed["assume"], not_assumed["assume"]) == ("calibrated", None)
    assert assumed["groups"]["all"]["shares"]["pos"]["share_low"] is not None
    assert "The intervals assume" not in run(*sld)[1]
    refused("PACC does not: omit", *SCORED, "--method", "PACC", "--assume-calibrated")


def test_the_reason_for_no_interval_names_the_option(tmp_path, run):
    scored_files(tmp_path)
    X, y = blobs(300, 2, 0)
    save_model(Model(SLD(random_state=0).fit(X, y), Columns("numbers", tuple("abcd"))), tmp_path / "m.headcount")
    pd.DataFrame(X, columns=list("abcd")).to_csv(tmp_path / "x.csv", index=False)
    out = run("estimate", "m.headcount", "x.csv")[1]
    assert "There are no intervals, so how sure the shares are is not known: without calibration SLD takes" in out
    assert "or --assume-calibrated where" in out
    assert "There are no intervals" not in run("estimate", "m.headcount", "x.csv", "--assume-calibrated")[1]


def test_formula_like_names_and_many_classes_are_plotted(tmp_path, run):
    rng = np.random.default_rng(0)
    names = [r"$\frac$", "_hidden", "$200 & $300", *(f"class {i}" for i in range(12))]
    P = rng.dirichlet(np.full(len(names), 0.2), 1500)
    table = pd.DataFrame(P, columns=[f"score_{name}" for name in names])
    table["y"] = [names[j] for j in P.argmax(axis=1)]
    table["g"] = [f"group {i % 3}" for i in range(1500)]
    table.to_csv(tmp_path / "labelled.csv", index=False)
    command = (
        "estimate",
        "--scored",
        "labelled.csv",
        "labelled.csv",
        "--label",
        "y",
        "--by",
        "g",
        "--html",
        "p.html",
        "--plot",
        "p.svg",
    )
    code, _, err = run(*command)
    assert code == 0, err
    plot = (tmp_path / "p.svg").read_text()
    assert "more, with smaller shares" in plot
    assert r"$\frac$" in (tmp_path / "p.html").read_text()


def test_the_page_of_a_counting_method_does_not_claim_to_correct(tmp_path, run):
    scored_table(300).to_csv(tmp_path / "labelled.csv", index=False)
    command = "estimate", "--scored", "labelled.csv", "labelled.csv", "--label", "y", "--html", "p.html", "--method"
    code, _, err = run(*command, "PCC")
    assert code == 0, err
    page = (tmp_path / "p.html").read_text()
    assert "does not correct the classifier's mistakes" in page
    assert "There are no intervals: PCC is biased" in page
    assert "contain the true share" not in " ".join(page.split())
    run(*command, "PACC")
    page = (tmp_path / "p.html").read_text()
    assert "the method PACC corrects them" in page
    assert "contain the true share" in " ".join(page.split())


def test_a_pipe_is_read_like_a_file(tmp_path, run):
    scored_files(tmp_path)
    os.mkfifo(tmp_path / "pipe.csv")
    content = (tmp_path / "new.csv").read_bytes()
    writer = threading.Thread(target=lambda: (tmp_path / "pipe.csv").write_bytes(content))
    writer.start()
    code, out, err = run(*SCORED[:3], "pipe.csv", *SCORED[4:], "-o", "-")
    writer.join(5)
    assert code == 0, err
    assert out == run(*SCORED, "-o", "-")[1]


def test_invalid_option_values_are_refused(tmp_path, refused):
    scored_files(tmp_path)
    for level in ("95", "0", "1", "nan"):
        refused("level must be between 0 and 1", *SCORED, "--level", level, "--min-items", "10000")
    refused("--jobs must not be 0", "fit", "labelled.csv", "--label", "y", "-o", "m", "-j", "0")
    refused("--budget must be a finite number", "fit", "labelled.csv", "--label", "y", "-o", "m", "--budget", "inf")
    refused("name a class more than once", *SCORED, "--scores", "neg=score_neg,neg=score_pos")
    two = "compare", *SCORED[1:4], "new.csv", "--label", "y"
    refused("The groups to compare are values of a column", *two, "--from", "a", "--to", "b")
    refused("too few items to be compared", *two, "--min-items", "5000")


def test_sample_gives_shorter_intervals_and_pile_is_its_former_name(tmp_path, run):
    scored_files(tmp_path)
    population, sample, pile = (
        json.loads(run(*SCORED, "--json", *more)[1]) for more in ((), ("--sample",), ("--pile",))
    )
    assert pile == sample
    assert (population["estimand"], sample["estimand"]) == ("population", "sample")
    wide, short = (answer["groups"]["all"]["shares"]["pos"] for answer in (population, sample))
    assert short["share_high"] - short["share_low"] < wide["share_high"] - wide["share_low"]
    assert "about exactly these items." in run(*SCORED, "--sample")[1]
    assert "--pile" not in run("estimate", "--help")[1]


def test_means_totals_comparisons_and_formats(run, refused, tmp_path):
    scored_files(tmp_path, k=3)
    frame = pd.read_csv(tmp_path / "new.csv")
    frame.assign(h=["u", "v"] * 450).to_csv(tmp_path / "new.csv", index=False)
    code, out, err = run(*SCORED, "--by", "g,h", "--total", "--value", "mid=2,neg=1,pos=3", "--compare", "all")
    assert code == 0, err
    assert "a / u" in out
    assert "(all)" in out
    assert "mean" in out.splitlines()[0]
    assert "all pairs: 45 comparisons" in out
    answer = json.loads(
        run(*SCORED, "--by", "g", "--total", "--value", "mid=2,neg=1,pos=3", "--json", "--compare", "first")[1]
    )
    whole = json.loads(run(*SCORED, "--value", "mid=2,neg=1,pos=3", "--json")[1])
    assert answer["groups"]["(all)"] == whole["groups"]["all"]
    assert len(answer["compared"]["changes"]) == 6
    group = answer["groups"]["a"]
    expected = sum({"mid": 2, "neg": 1, "pos": 3}[name] * share["share"] for name, share in group["shares"].items())
    assert group["mean"] == pytest.approx(expected)
    assert group["mean_low"] < group["mean"] < group["mean_high"]
    records = pd.read_csv(io.StringIO(run(*SCORED, "--by", "g,h", "--where", "h=v", "--total", "--format", "csv")[1]))
    assert records["group"].unique().tolist() == ["a / v", "b / v", "c / v", "(all)"]
    assert records["h"].tolist()[:3] == ["v", "v", "v"]
    lines = run(*SCORED, "--format", "markdown")[1].splitlines()
    assert lines[0].startswith("| group | class | share |")
    assert len(lines) == 2 + 3
    lines = run(*SCORED, "--by", "g,h", "--total", "--format", "markdown")[1].splitlines()
    assert lines[-1].startswith("| (all) |  |  | pos |")
    assert run(*SCORED, "--by", "g", "--total", "--value", "mid=2,neg=1,pos=3", "--html", "p.html")[0] == 0
    assert (tmp_path / "p.html").read_text().count('class="total"') == 1
    (tmp_path / "p.html").unlink()
    refused("are not numbers: give the value of each class", *SCORED, "--value", "stars")
    refused("value of each class once", *SCORED, "--value", "neg=1,pos=2")
    refused("must be a number", *SCORED, "--value", "neg=1,pos=2,mid=x")
    refused("--total is about groups", *SCORED, "--total")
    refused("--compare is about groups", *SCORED, "--compare", "all")
    refused("must be 'first', 'previous' or 'all'", *SCORED, "--by", "g", "--compare", "last")
    refused("--format must be csv, tsv, json or markdown", *SCORED, "--format", "xml")
    refused("use one of them", *SCORED, "--format", "csv", "--json")
    refused("is no condition", *SCORED, "--where", "price")


def test_the_answer_comes_first_with_counts(tmp_path, run):
    scored_files(tmp_path)
    shares = json.loads(run(*SCORED, "--json")[1])["groups"]["all"]["shares"]["pos"]
    lines = run(*SCORED)[1].splitlines()
    assert lines[0].split() == [
        "group",
        "items",
        "y",
        "share",
        "95",
        "%",
        "interval",
        "count",
        "95",
        "%",
        "interval",
        "verdict",
    ]
    assert lines[2].split() == [
        *(
            "pos",
            f"{100 * shares['share']:.1f}",
            "%",
            f"{100 * shares['share_low']:.1f}",
            "to",
            f"{100 * shares['share_high']:.1f}",
        ),
        *(str(shares["count"]), str(shares["count_low"]), "to", str(shares["count_high"])),
    ]
    assert lines[4] == "The checks found nothing unusual: the shares can be used."
    out = run(*SCORED, "--by", "g")[1]
    assert out.splitlines()[0].split() == ["g", "items", "y=neg", "y=pos", "verdict"]
    assert "All 3 groups look fine: the shares can be used." in out


def test_classes_called_low_and_high_are_told_from_ends_of_intervals(tmp_path, run):
    scored_files(tmp_path)
    for name in ("labelled.csv", "new.csv"):
        frame = pd.read_csv(tmp_path / name).rename(columns={"score_neg": "score_low", "score_pos": "score_high"})
        frame.assign(y=frame.y.map({"neg": "low", "pos": "high"})).to_csv(tmp_path / name, index=False)
    assert run(*SCORED, "--by", "g")[1].splitlines()[0].split() == ["g", "items", "y=high", "y=low", "verdict"]
    records = pd.read_csv(io.StringIO(run(*SCORED, "-o", "-")[1]))
    assert records["class"].tolist() == ["high", "low"]
    assert (records.share_low < records.share).all()


def test_advice_for_many_groups_is_given_once(tmp_path, run):
    """Shares of every group are far from the labelled ones, each by other points."""
    labelled = scored_table(900)
    labelled[(labelled.y == 1) | (np.arange(900) % 12 == 0)].to_csv(tmp_path / "labelled.csv", index=False)
    new = scored_table(3000, 1)
    new.assign(g=[f"shop {i % 10}" for i in range(3000)]).to_csv(tmp_path / "new.csv", index=False)
    code, out, err = run(*SCORED, "--by", "g")
    assert code == 0, err
    assert out.count("The shares are far from those of the labelled items.") == 1
    assert "points), shop 1 (" in out
    assert "and 4 more" in out
    assert "would have to change class" not in out


def test_several_columns_to_group_by_may_be_named_one_by_one(model, run):
    both = run("estimate", "m.headcount", "new.csv", "--by", "shop", "--by", "day:month", "-o", "-")
    assert both[0] == 0, both[2]
    assert both[1] == run("estimate", "m.headcount", "new.csv", "--by", "shop,day:month", "-o", "-")[1]
    assert "x / 2016-01" in both[1]
    answer = json.loads(run("check", "m.headcount", "new.csv", "--by", "shop", "--by", "day:month", "--json")[1])
    assert answer["by"] == "shop,day:month"


def test_classes_in_an_order_of_their_own(tmp_path, run, refused):
    scored_files(tmp_path, k=3)
    plain, ordered = (json.loads(run(*SCORED, "--json", *more)[1]) for more in ((), ("--classes", "neg,mid,pos")))
    plain, ordered = plain["groups"]["all"], ordered["groups"]["all"]
    assert (list(plain["shares"]), list(ordered["shares"])) == (["mid", "neg", "pos"], ["neg", "mid", "pos"])
    assert plain["shares"] == {name: ordered["shares"][name] for name in plain["shares"]}
    assert ordered["covariance"][0][0] == plain["covariance"][1][1]
    assert run(*SCORED, "--by", "g", "--classes", "pos,mid,neg")[1].split()[2:5] == ["y=pos", "y=mid", "y=neg"]
    refused("must name each class once; got 'neg', 'pos'", *SCORED, "--classes", "neg,pos")


def test_covariance_agrees_with_the_intervals(tmp_path, run):
    scored_files(tmp_path, k=3)
    group = json.loads(run(*SCORED, "--json")[1])["groups"]["all"]
    covariance = np.array(group["covariance"])
    assert covariance.sum(axis=1) == pytest.approx([0.0] * 3, abs=1e-12)
    widths = [share["share_high"] - share["share_low"] for share in group["shares"].values()]
    assert np.sqrt(np.diag(covariance)) * 2 * 1.96 == pytest.approx(widths, rel=0.05)


def test_advice_of_a_command_names_its_options_not_parameters(tmp_path, run, refused):
    scored_files(tmp_path)
    refused("PACC does not: omit --assume-calibrated.", *SCORED, "--method", "PACC", "--assume-calibrated")
    two = "compare", *SCORED[1:4], "new.csv", "--label", "y"
    refused("name it with --by COLUMN.", *two, "--from", "a", "--to", "b")
    refused("compared with needs --against first.", *two, "--by", "g", "--from", "a", "--against", "all")
    answer = json.loads(run(*SCORED, "--method", "CC", "--json")[1])
    assert answer["note"]
    assert "='" not in answer["note"]


def test_comparisons_beside_an_estimate_have_its_order_of_classes(model, run):
    arguments = "estimate", "m.headcount", "new.csv", "--by", "day:month", "--compare", "all", "--classes", "good,bad"
    answer = json.loads(run(*arguments, "--json")[1])
    assert [row["class"] for row in answer["compared"]["changes"]] == ["good", "bad"]


def test_ends_of_a_mean_below_zero_are_not_parted_by_a_dash(model, run):
    arguments = "estimate", "m.headcount", "new.csv", "--by", "day:month", "--value", "good=-2,bad=-1"
    out = run(*arguments)[1]
    assert re.search(r"-1\.\d+ \(-[12]\.\d+ to -1\.\d+\)", out), out


def test_strength_is_borrowed_beside_the_plain_shares(run, refused, tmp_path):
    scored_files(tmp_path, k=3)
    frame = pd.read_csv(tmp_path / "new.csv")
    shops = [f"s{i // 50}" for i in range(890)] + ["few"] * 10
    frame.assign(shop=shops).to_csv(tmp_path / "new.csv", index=False)
    plain = json.loads(run(*SCORED, "--by", "shop", "--json", "--total")[1])
    answer = json.loads(run(*SCORED, "--by", "shop", "--borrow-strength", "--json", "--total")[1])
    assert sum(answer["drawn_towards"].values()) == pytest.approx(1.0)
    for name, group in plain["groups"].items():
        for label, share in group["shares"].items():
            there = answer["groups"][name]["shares"][label]
            assert {key: there[key] for key in share} == share  # the plain figures stay
            if name == "few":
                assert there["drawn_share"] is there["drawn"] is None
            elif name != "(all)":
                assert there["drawn_low"] <= there["drawn_share"] <= there["drawn_high"]
                towards = answer["drawn_towards"][label]
                assert abs(there["drawn_share"] - towards) < abs(share["share"] - towards) + 0.02
    code, out, err = run(
        *SCORED, "--by", "shop", "--borrow-strength", "-o", "s.csv", "--html", "p.html", "--plot", "p.svg"
    )
    assert code == 0, err
    table = out.split("Drawn towards the other groups:")[1]
    assert table.count("\ns1 ") == 1
    assert "(drawn towards)" in table
    assert "on average over these, not in each" in out
    written = pd.read_csv("s.csv")
    assert written.columns.tolist()[-4:] == ["drawn_share", "drawn_low", "drawn_high", "drawn"]
    assert written[written.group != "few"].groupby("group")["drawn_share"].sum().round(9).eq(1.0).all()
    page = (tmp_path / "p.html").read_text()
    assert "<h2>Drawn towards the other groups</h2>" in page
    assert page.count("by itself ") == 18 * 3
    assert "drawn towards the other groups" in (tmp_path / "p.svg").read_text()
    ordered = json.loads(run(*SCORED, "--by", "shop", "--borrow-strength", "--json", "--classes", "pos,neg,mid")[1])
    assert ordered["groups"]["s3"]["shares"] == answer["groups"]["s3"]["shares"]
    assert "Drawn towards" not in run(*SCORED, "--by", "shop")[1]
    lend = "--borrow-strength"
    refused("--borrow-strength is about groups", *SCORED, lend)
    refused("at least 5 groups of 30 items or more (--min-items); there are 3", *SCORED, "--by", "g", lend)
    refused("there is one. Fewer", *SCORED, "--by", "g", "--where", "g=a", lend)
    refused("which CC does not have: omit --borrow-strength", *SCORED, "--by", "shop", lend, "--method", "CC")
    calibrated = ("--method", "KDEyML", "--assume-calibrated")
    refused("KDEyML assumed calibrated does not have", *SCORED, "--by", "shop", lend, *calibrated)
    refused("omit it or --compare", *SCORED, "--by", "shop", lend, "--compare", "all")
    refused("not of exactly these items: omit --sample", *SCORED, "--by", "shop", lend, "--sample")
