"""Ordered classes at the command line: the order, cumulative shares, means and quantiles in all outputs, comparisons, mistakes."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from tests.conftest import scored_items

GRADES = ["poor", "fair", "good", "great"]
FIT = "fit", "labelled.csv", "--label", "y", "--features", "a,b,c,d", "--learner", "lr", "--method", "PACC", "-j", "1"


def tables(folder, labels):
    """Write labelled items with four features, and new ones of three months whose shares move up the order."""
    codes, P = scored_items(400, 4, 0, 1.2)
    names = list("abcd")
    features = np.log(P).round(3)
    pd.DataFrame(features, columns=names).assign(y=np.array(labels)[codes]).to_csv(folder / "labelled.csv", index=False)
    months = []
    for m, shares in enumerate(([0.4, 0.3, 0.2, 0.1], [0.25] * 4, [0.1, 0.2, 0.3, 0.4])):
        new = np.log(scored_items(300, 4, 1 + m, 1.2, shares)[1]).round(3)
        months.append(pd.DataFrame(new, columns=names).assign(month=f"2025-0{m + 1}"))
    pd.concat(months).to_csv(folder / "new.csv", index=False)


@pytest.fixture
def stars(tmp_path, run):
    tables(tmp_path, [1, 2, 3, 4])
    assert run(*FIT, "-o", "m.headcount")[0] == 0


@pytest.fixture
def grades(tmp_path, run):
    tables(tmp_path, GRADES)
    assert run(*FIT, "--ordered", ",".join(GRADES), "-o", "m.headcount")[0] == 0


ASKED = "--value", "stars", "--at-least", "3", "--at-most", "1", "--quantile", "0.5", "--quantile", "0.9"
COLUMNS = ["mean", "at_least_3", "at_most_1", "quantile_0.5", "quantile_0.9"]


@pytest.mark.usefixtures("stars")
def test_figures_are_in_every_output(run, tmp_path):
    base = "estimate", "m.headcount", "new.csv", "--by", "month", "--total", *ASKED
    code, out, err = run(*base, "-o", "o.csv", "--html", "p.html", "--plot", "p.svg")
    assert code == 0, err
    table = out[out.index("mean stars") :]
    assert all(title in table for title in ("at least 3", "at most 1", "median", "quantile 0.9"))
    assert "(all)" in table
    records = pd.read_csv(tmp_path / "o.csv")
    answer = json.loads(run(*base, "--json")[1])
    markdown = run(*base, "--format", "markdown")[1].splitlines()[0]
    page, plot = ((tmp_path / name).read_text() for name in ("p.html", "p.svg"))
    for column in COLUMNS:
        for end in ("", "_low", "_high"):
            assert f"{column}{end}" in records
            assert f"| {column}{end}".replace("_", r"\_") in markdown or f"| {column}{end}" in markdown
            for group in answer["groups"].values():
                assert f"{column}{end}" in group
        assert (records[f"{column}_low"] <= records[column]).all()
        assert (records[column] <= records[f"{column}_high"]).all()
    for group, rows in records.groupby("group"):
        shares = rows.set_index("class")["share"]
        assert rows["mean"].iloc[0] == pytest.approx(shares @ shares.index)
        assert rows["at_least_3"].iloc[0] == pytest.approx(shares[3] + shares[4])
        assert rows["at_most_1"].iloc[0] == pytest.approx(shares[1])
        assert rows["quantile_0.5"].iloc[0] == min(c for c in shares.index if shares[:c].sum() >= 0.5)
        assert answer["groups"][group]["at_least_3"] == pytest.approx(rows["at_least_3"].iloc[0])
    assert answer["ordered"] is True
    assert answer["classes"] == ["1", "2", "3", "4"]
    for title in ("mean stars", "at least 3", "at most 1", "median", "quantile 0.9"):
        assert title in page
        assert title in plot
    assert page.count('class="stack"') == 4
    assert "in the order of the classes" in plot


@pytest.mark.usefixtures("stars")
def test_the_total_is_the_answer_without_groups(run):
    grouped = json.loads(run("estimate", "m.headcount", "new.csv", "--by", "month", "--total", *ASKED, "--json")[1])
    whole = json.loads(run("estimate", "m.headcount", "new.csv", *ASKED, "--json")[1])
    assert grouped["groups"]["(all)"] == whole["groups"]["all"]
    _, out, _ = run("estimate", "m.headcount", "new.csv", "--value", "stars")
    assert "mean stars" in out.splitlines()[0]


@pytest.mark.usefixtures("grades")
def test_an_order_of_names_is_kept_by_the_model_and_shown(run):
    code, out, _ = run("inspect", "m.headcount")
    assert code == 0
    assert "Order      poor < fair < good < great" in out
    manifest = json.loads(run("inspect", "m.headcount", "--json")[1])
    assert (manifest["ordered"], manifest["classes"], manifest["values"]) == (True, GRADES, None)
    answer = json.loads(
        run("estimate", "m.headcount", "new.csv", "--at-least", "good", "--quantile", "0.5", "--json")[1]
    )
    group = answer["groups"]["all"]
    assert list(group["shares"]) == GRADES
    assert group["at_least_good"] == pytest.approx(group["shares"]["good"]["share"] + group["shares"]["great"]["share"])
    assert group["quantile_0.5"] in GRADES
    values = ",".join(f"{name}={value}" for value, name in enumerate(GRADES))
    group = json.loads(run("estimate", "m.headcount", "new.csv", "--value", values, "--json")[1])["groups"]["all"]
    assert group["mean_low"] < group["mean"] < group["mean_high"]


@pytest.mark.usefixtures("stars")
def test_means_and_cumulative_shares_are_compared_instead_of_shares(run):
    base = "compare", "m.headcount", "new.csv", "--by", "month"
    figures = "--value", "stars", "--at-least", "3"
    code, out, err = run(*base, "--from", "2025-01", "--to", "2025-03", *figures)
    assert code == 0, err
    rows = {line.split("  ")[0]: line for line in out.splitlines()}
    assert "points" not in rows["mean stars"]
    assert "points" in rows["at least 3"]
    answer = json.loads(run(*base, "--from", "2025-01", "--to", "2025-03", *figures, "--json")[1])
    mean, share = answer["changes"]
    assert [mean["figure"], share["figure"]] == ["mean stars", "at least 3"]
    assert mean["change_low"] < 1.0 < mean["change_high"]
    assert share["change_low"] < 0.4 < share["change_high"]
    assert mean["p_value"] < 1e-4
    many = json.loads(run(*base, "--against", "previous", *figures, "--json")[1])
    assert [(row["second"], row["figure"]) for row in many["changes"]] == [
        (month, figure) for month in ("2025-02", "2025-03") for figure in ("mean stars", "at least 3")
    ]
    code, out, _ = run(*base, "--trend", *figures)
    assert code == 0
    assert [line.split()[-1] for line in out.splitlines() if line.startswith(("mean", "at least"))] == [
        "rises",
        "rises",
    ]
    csv = pd.read_csv(io.StringIO(run(*base, "--trend", *figures, "-o", "-")[1]))
    assert csv["figure"].tolist() == ["mean stars", "at least 3"]


def test_an_order_for_scores_of_a_black_box_is_given_with_the_estimate(tmp_path, run, refused):
    codes, P = scored_items(300, 3, 0, 1.5)
    names = ["fair", "good", "poor"]
    scored = pd.DataFrame(P, columns=[f"score_{name}" for name in names])
    scored.assign(y=np.array(names)[codes]).to_csv(tmp_path / "labelled.csv", index=False)
    scored.to_csv(tmp_path / "new.csv", index=False)
    base = "estimate", "--scored", "labelled.csv", "new.csv", "--label", "y"
    order = "--ordered", "poor,fair,good"
    group = json.loads(run(*base, *order, "--at-least", "fair", "--quantile", "0.5", "--json")[1])["groups"]["all"]
    shares = {name: one["share"] for name, one in group["shares"].items()}
    assert list(shares) == ["poor", "fair", "good"]
    assert group["at_least_fair"] == pytest.approx(shares["fair"] + shares["good"])
    reverse = json.loads(run(*base, "--ordered", "good,fair,poor", "--at-most", "fair", "--json")[1])["groups"]["all"]
    ends = [reverse[f"at_most_fair{end}"] for end in ("", "_low", "_high")]
    assert ends == pytest.approx([group[f"at_least_fair{end}"] for end in ("", "_low", "_high")])
    refused("are only in alphabetical order", *base, "--at-least", "fair")
    refused("are only in alphabetical order", *base, "--quantile", "0.5")
    refused("must name each class once; got 'poor', 'good'", *base, "--ordered", "poor,good")
    refused("must name each class once; got 'poor', 'poor', 'fair', 'good'", *base, "--ordered", "poor,poor,fair,good")


@pytest.mark.usefixtures("stars")
def test_mistakes_are_refused_with_a_sentence(run, refused):
    base = "estimate", "m.headcount", "new.csv"
    refused("There is no class '5' for 'at least': the classes are 1, 2, 3, 4", *base, "--at-least", "5")
    refused("There is no class 'good' for 'at most'", *base, "--at-most", "good")
    refused("must be between 0 and 1, such as 0.5 for the median; got 50", *base, "--quantile", "50")
    refused("must be a number", *base, "--value", "1=0,2=1,3=many,4=3")
    refused("value of each class once", *base, "--value", "1=0,2=1,2=2,3=3,4=4")
    refused("finite value", *base, "--value", "1=0,2=1,3=nan,4=3")
    compare = "compare", "m.headcount", "new.csv", "--by", "month", "--against", "first"
    refused("Quantiles of classes are not compared", *compare, "--quantile", "0.5")
    refused("the same whatever the shares are", *compare, "--at-least", "1")
    for order, words in (
        ("1,2,3", "it misses '4'"),
        ("1,2,3,3,4", "it names twice '3'"),
        ("1,2,3,4,5", "it names, but no row has, '5'"),
    ):
        refused(words, *FIT, "--ordered", order, "-o", "other.headcount")


@pytest.mark.usefixtures("stars")
def test_a_method_without_intervals_has_means_and_quantiles_without_them(run):
    assert run(*FIT[:-4], "--method", "CC", "-j", "1", "-o", "cc.headcount")[0] == 0
    group = json.loads(run("estimate", "cc.headcount", "new.csv", *ASKED, "--json")[1])["groups"]["all"]
    for column in COLUMNS:
        assert group[column] is not None
        assert group[f"{column}_low"] is None
    code, out, _ = run("estimate", "cc.headcount", "new.csv", *ASKED, "--html", "p.html", "--plot", "p.png")
    assert code == 0
    assert "There are no intervals" in out


@pytest.mark.usefixtures("stars")
def test_figures_under_weights_and_clusters(run, tmp_path):
    frame = pd.read_csv(tmp_path / "new.csv")
    frame.assign(w=[1, 3] * (len(frame) // 2), author=np.arange(len(frame)) // 5).to_csv(
        tmp_path / "new.csv", index=False
    )
    base = "estimate", "m.headcount", "new.csv", "--weight", "w", "--cluster", "author", *ASKED
    group = json.loads(run(*base, "--json")[1])["groups"]["all"]
    assert group["mean_low"] < group["mean"] < group["mean_high"]
    assert group["at_least_3_low"] < group["at_least_3"] < group["at_least_3_high"]


@pytest.mark.usefixtures("stars")
def test_figures_with_labels_of_new_items(run, tmp_path):
    frame = pd.read_csv(tmp_path / "new.csv")
    labels = pd.Series(np.where(np.arange(len(frame)) % 7 == 0, np.arange(len(frame)) % 4 + 1, np.nan)).astype("Int64")
    frame.assign(checked=labels).to_csv(tmp_path / "new.csv", index=False)
    base = "estimate", "m.headcount", "new.csv", "--labels", "checked", *ASKED
    group = json.loads(run(*base, "--json")[1])["groups"]["all"]
    assert group["at_least_3_low"] < group["at_least_3"] < group["at_least_3_high"]
    assert run(*base, "--html", "p.html")[0] == 0
