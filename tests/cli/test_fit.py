"""`headcount fit`: what is printed and written."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from headcount.cli.fit import _check_method
from headcount.quantifiers import method_named
from tests.cli.conftest import FIT


def test_skipped_methods_and_learners_are_listed(reviews, run):
    code, out, err = run(*FIT[:8], "--budget", "0.001", "-j", "1")
    assert code == 0, err
    assert "Not tried, not for text: random forest, gradient boosting, vote of all\n" in out
    assert "the time budget was spent" in out
    assert "Next: headcount estimate" in out


def test_learners_are_called_by_their_names_and_columns_that_are_not_read_are_named(reviews, run):
    table = pd.read_csv(reviews / "labelled.csv").rename(columns={"review": "text"})
    table.assign(site="shop").to_csv(reviews / "text.csv", index=False)
    code, out, err = run(
        "fit", "text.csv", "--label", "stars", "-o", "m.headcount", "--learner", "nb", "--method", "PACC", "-j", 1
    )
    assert code == 0, err
    assert "PACC over naive Bayes" in out
    assert "MultinomialNB" not in out
    assert "Only the column 'text' is read, not 'row', 'site': --text text --features '*' reads them too." in out
    assert "Only the column 'text' is read" in run("inspect", "m.headcount")[1]
    code, out, err = run("fit", "text.csv", "--text", "text", *FIT[4:8], "--learner", "nb", "--method", "PACC", "-j", 1)
    assert code == 0, err
    assert "Only the column" not in out


def test_an_order_of_classes_that_no_row_has_is_refused_with_the_column_of_labels(reviews, refused):
    message = "it names, but no row has, 'none'"
    refused(message, *FIT, "--classes", "bad,good,none")


def test_the_kept_row_is_marked_with_the_reason(reviews, run):
    code, out, err = run(*FIT, "-j", "1")
    assert code == 0, err
    rows = [line for line in out.splitlines() if line.startswith("kept")]
    assert len(rows) == 1
    method = next(line for line in out.splitlines() if line.startswith("Method")).split()[1]
    assert rows[0].split()[1] == method
    assert "Kept: " in out
    assert "Expect shares to be off by about" in out


def test_a_folder_can_not_be_the_model_file(reviews, refused):
    (reviews / "folder").mkdir()
    refused("is a folder", *FIT[:7], "folder", *FIT[8:])
    refused("budget", *FIT, "--budget", "0")


def test_a_label_is_not_learnt_from_for_another(reviews, run):
    table = pd.read_csv(reviews / "labelled.csv").drop(columns="row")
    table.assign(tone=np.where(table.index % 2, "calm", "loud")).to_csv(reviews / "both.csv", index=False)
    fit = "fit", "both.csv", "--method", "PACC", "--learner", "lr", "--budget", "0.001", "-j", 1
    code, out, err = run(*fit, "--label", "stars,tone", "--features", "*,review:text", "-o", "models")
    assert code == 0, err
    assert [line for line in out.splitlines() if line.startswith("Reads")] == ["Reads      text: review"] * 2


def test_several_labels_make_a_model_each(reviews, run, refused):
    table = pd.read_csv(reviews / "labelled.csv")
    table.assign(tone=np.where(table.row % 2, "calm", "loud")).to_csv(reviews / "both.csv", index=False)
    fit = "fit", "both.csv", "--method", "PACC", "--learner", "lr", "-j", 1
    refused("both.csv has no column 'mood'", *fit, "--label", "stars,mood", "--text", "review", "-o", "models")
    refused("With several labels, name the texts", *fit, "--label", "stars,tone", "-o", "models")
    refused("name a folder", *fit, "--label", "stars,tone", "--text", "review", "-o", "new.csv")
    code, out, err = run(*fit, "--label", "stars,tone", "--text", "review", "-o", "models")
    assert code == 0, err
    assert out.count("Written: ") == 2
    assert sorted(path.name for path in (reviews / "models").iterdir()) == ["stars.headcount", "tone.headcount"]
    code, out, err = run("estimate", "models", "new.csv", "--by", "shop", "--total", "-o", "all.csv")
    assert code == 0, err
    assert "stars\n" in out
    assert "tone\n" in out
    both = pd.read_csv(reviews / "all.csv")
    assert both.label.unique().tolist() == ["stars", "tone"]
    assert both.columns[0] == "label"
    alone = pd.read_csv(
        io.StringIO(run("estimate", "models/tone.headcount", "new.csv", "--by", "shop", "--total", "-o", "-")[1])
    )
    pd.testing.assert_frame_equal(both[both.label == "tone"].drop(columns="label").reset_index(drop=True), alone)
    answer = json.loads(run("estimate", "models", "new.csv", "--json")[1])
    assert list(answer["labels"]) == ["stars", "tone"]
    assert "all" in answer["labels"]["stars"]["groups"]
    refused("--html takes one model", "estimate", "models", "new.csv", "--html", "p.html")
    refused("go with --scored", "estimate", "models", "new.csv", "--label", "stars")
    (reviews / "empty").mkdir()
    refused("empty holds no model files", "estimate", "empty", "new.csv")


def test_an_unknown_method_names_those_that_fit_takes(reviews, refused):
    words = "There is no method 'EMG'. fit takes auto, 'CC', 'PCC', 'ACC', 'PACC', "
    refused(words, *FIT, "--method", "EMG")


@pytest.mark.parametrize(("other", "name"), [("EMQ", "SLD"), ("saerens", "SLD"), ("GAC", "ACC"), ("gpac", "PACC")])
def test_methods_are_found_by_their_names_elsewhere(other, name):
    _check_method(other)
    assert method_named(other).name == name


def test_the_order_of_the_classes_is_kept_in_the_model(reviews, run, refused):
    code, _, err = run(*FIT, "--method", "PACC", "--classes", "good,bad")
    assert code == 0, err
    assert list(json.loads(run("estimate", "m.headcount", "new.csv", "--json")[1])["groups"]["all"]["shares"]) == [
        "good",
        "bad",
    ]
    (reviews / "m.headcount").unlink()
    refused("'poor'", *FIT, "--method", "PACC", "--classes", "good,poor")


def test_the_order_of_classes_is_that_of_the_shares_of_the_labels(reviews, run):
    code, out, err = run(*FIT, "-j", "1", "--classes", "good,bad")
    assert code == 0, err
    assert "stars: good 55.2 %, bad 44.8 %" in out
    assert "stars: good 55.2 %, bad 44.8 %" in run("inspect", FIT[7])[1]


@pytest.fixture
def clustered(tmp_path):
    """A labelled and a new table of numbers whose rows come in clusters, with weights and strata."""
    generator = np.random.default_rng(0)

    def table(n_clusters):
        c = np.repeat(np.arange(n_clusters), 6)
        y = generator.random(len(c)) < 0.4 + 0.3 * np.sin(c)
        x = generator.standard_normal(n_clusters)[c] + generator.standard_normal(len(c)) + 2.0 * y
        regions = np.where(c % 2, "north", "south")
        frame = {"x": x, "author": c, "region": regions, "w": np.where(c % 2, 1.0, 2.5), "month": c % 3}
        return pd.DataFrame(frame), np.where(y, "yes", "no")

    labelled, y = table(60)
    labelled.assign(y=y).to_csv(tmp_path / "labelled.csv", index=False)
    table(80)[0].to_csv(tmp_path / "new.csv", index=False)
    return tmp_path


FIT_CLUSTERED = (
    "fit",
    "labelled.csv",
    "--label",
    "y",
    "--learner",
    "lr",
    "--method",
    "PACC",
    "-o",
    "m.headcount",
    "-j",
    1,
)


def test_a_model_keeps_the_clusters_of_its_labelled_rows(clustered, run):
    design = "--cluster", "author", "--weight", "w", "--stratum", "region"
    code, out, err = run(*FIT_CLUSTERED, *design)
    assert code == 0, err
    # Columns that say how rows were drawn are not learnt from.
    assert next(line for line in out.splitlines() if line.startswith("Reads")) == "Reads      numbers: x, month"
    widths = []
    for asked in ((), design):
        code, out, err = run("estimate", "m.headcount", "new.csv", *asked, "--json")
        assert code == 0, err
        group = json.loads(out)["groups"]["all"]
        share = group["shares"]["yes"]
        widths.append(share["share_high"] - share["share_low"])
    assert widths[1] > 1.1 * widths[0]
    assert group["design_effect"]["yes"] > 1.2
    assert share["count"] == round(share["share"] * pd.read_csv(clustered / "new.csv")["w"].sum())


def test_designs_are_counted_by_group_and_in_files(clustered, run):
    assert run(*FIT_CLUSTERED, "--features", "x", "--cluster", "author")[0] == 0
    code, out, err = run(
        "estimate", "m.headcount", "new.csv", "--by", "month", "--cluster", "author", "--total", "-o", "s.csv"
    )
    assert code == 0, err
    table = pd.read_csv(clustered / "s.csv")
    assert (table["design_effect"] > 0).all()
    assert len(table) == 8
    code, out, err = run("estimate", "m.headcount", "new.csv", "--by", "month", "--cluster", "author")
    assert "times those of as many independent rows" in out


def test_what_makes_no_design_is_refused(clustered, run, refused):
    assert run(*FIT_CLUSTERED, "--features", "x")[0] == 0
    estimate = "estimate", "m.headcount", "new.csv"
    refused("has no column 'nope'", *estimate, "--weight", "nope")
    refused("the weight is", *estimate, "--weight", "x")
    refused("fewer than the 480 that were drawn", *estimate, "--population-size", "100")
    refused("give a number of items", *estimate, "--population-size", "many")
    refused("lacks the strata 'south'", *estimate, "--stratum", "region", "--population-size", "north=5000")
    refused("need the column of strata", *estimate, "--population-size", "north=5000")
    refused("lies in several strata", *estimate, "--cluster", "month", "--stratum", "region")
    refused("can't hold both weights and", *estimate, "--cluster", "author", "--weight", "author")
    refused(
        "has no interval that counts", *FIT_CLUSTERED[:6], "--method", "CC", *FIT_CLUSTERED[8:], "--cluster", "author"
    )


def test_labels_of_new_items_go_with_their_clusters_and_weights(clustered, run, refused):
    design = "--cluster", "author", "--weight", "w"
    assert run(*FIT_CLUSTERED, "--features", "x", "--cluster", "author")[0] == 0
    new = pd.read_csv(clustered / "new.csv")
    generator = np.random.default_rng(1)
    answers = np.where(generator.random(len(new)) < 0.5, "yes", "no").astype(object)
    answers[generator.choice(len(new), 300, replace=False)] = None
    new.assign(answer=answers).to_csv(clustered / "some.csv", index=False)
    estimate = "estimate", "m.headcount", "some.csv", "--labels", "answer"
    records = {}
    for name, asked in (("plain", ()), ("designed", design)):
        code, out, err = run(*estimate, *asked, "--json")
        assert code == 0, err
        group = json.loads(out)["groups"]["all"]
        records[name] = [group["shares"]["yes"], group["label_shift"]["shares"]["yes"]]
    for plain, designed in zip(*records.values(), strict=True):
        assert designed["share_high"] - designed["share_low"] > 1.02 * (plain["share_high"] - plain["share_low"])
        assert abs(designed["share"] - plain["share"]) < 0.2
    assert run(*estimate, *design, "--by", "month", "--total")[0] == 0
    refused("'answer' holds the labels and can't hold the weights too", *estimate, "--weight", "answer")
    refused("'y' holds the labels and can't hold the clusters too", *FIT_CLUSTERED, "--cluster", "y")
    refused("'y' holds the labels and can't hold the weights too", *FIT_CLUSTERED, "--weight", "y")
    refused(
        "size of a population is of new items",
        *FIT_CLUSTERED,
        "--features",
        "x",
        "--cluster",
        "author",
        "--population-size",
        9000,
    )


@pytest.mark.filterwarnings("default")
def test_a_group_of_one_cluster_says_so(clustered, run):
    assert run(*FIT_CLUSTERED, "--features", "x", "--cluster", "author")[0] == 0
    new = pd.read_csv(clustered / "new.csv")
    new = pd.concat([new, new.head(40).assign(author=1000, month=9)])
    new.to_csv(clustered / "more.csv", index=False)
    code, out, err = run("estimate", "m.headcount", "more.csv", "--by", "month", "--cluster", "author", "--json")
    assert code == 0, err
    assert "One cluster only: all items of sample '9' are in one" in " ".join(err.split())
    groups = json.loads(out)["groups"]
    assert [groups["9"]["shares"]["yes"][end] for end in ("share_low", "share_high")] == [0.0, 1.0]
    assert groups["0"]["shares"]["yes"]["share_high"] < 1.0


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("w", -1.0, "the weight is -1"),
        ("w", 0.0, "the weight is 0"),
        ("w", None, "there is no weight"),
        ("w", "inf", "weight"),
        ("w", "much", "much"),
        ("author", None, "the cluster is missing"),
        ("region", None, "the stratum is missing"),
        ("author", "all", "All items are in one cluster"),
    ],
)
def test_rows_that_make_no_design_are_named_in_a_line(clustered, run, refused, column, value, words):
    new = pd.read_csv(clustered / "new.csv").astype({column: object})
    if value == "all":
        new[column] = 7
    else:
        new.loc[5, column] = value
    new.to_csv(clustered / "bad.csv", index=False)
    assert run(*FIT_CLUSTERED, "--features", "x")[0] == 0
    refused(
        words,
        "estimate",
        "m.headcount",
        "bad.csv",
        {"w": "--weight", "author": "--cluster"}.get(column, "--stratum"),
        column,
    )
    labelled = pd.read_csv(clustered / "labelled.csv").astype({column: object})
    if value == "all":
        labelled[column] = 7
    else:
        labelled.loc[5, column] = value
    labelled.to_csv(clustered / "labelled.csv", index=False)
    refused(words, *FIT_CLUSTERED, {"w": "--weight", "author": "--cluster"}.get(column, "--stratum"), column)
