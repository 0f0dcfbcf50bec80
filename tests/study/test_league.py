"""A league over small tables: sets that suit, settings of each set, parts of the samples, and sets that can't be used."""

import numpy as np
import pandas as pd
import pytest

from headcount import (
    ACC,
    CC,
    ArtificialPrevalence,
    NaturalPrevalence,
    NewtonLogisticRegression,
    UniformPrevalence,
    evaluate,
)
from headcount.data import load_set, sets_in
from headcount.exceptions import DataError, StoreError
from headcount.study import Results, read_plan, run_study, stored_sets
from headcount.study.status import status
from headcount.study.tasks import protocol_of, seeds
from tests.study.test_run import figures

PLAN = """
name = "small league"
league = true
data_sets = ["*"]
seed = 5

[protocol]
sample_size = 30
validation_repeats = 1
n_prevalences = 5
inner = 3

[[protocol.parts]]
name = "grid"
kind = "app"
sample_size = 20
n_samples = 42

[[protocol.parts]]
name = "random"
kind = "upp"
sample_size = 50
n_samples = 7

[[protocol.parts]]
name = "natural"
kind = "natural"
sample_size = 10
n_samples = 9

[learners.lr]
class = "headcount.NewtonLogisticRegression"
settings = "sets.csv"
grid = { C = [0.1, 10.0] }

[[methods]]
names = ["CC", "ACC"]
learners = ["lr"]
targets = ["none", "ae"]

[[methods]]
names = ["HDy"]
learners = ["lr"]

[[methods]]
names = ["DMx"]
on = "tables"
"""


def write_table(path, k=2, n=160, seed=0, **columns):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % k)
    X = rng.standard_normal((n, 3)) + 1.5 * y[:, None]
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y, part=np.where(np.arange(n) < n // 2, "train", "test"))
    path.parent.mkdir(parents=True, exist_ok=True)
    frame = frame.assign(**columns)
    frame.to_parquet(path)
    return frame


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("league")
    write_table(folder / "tables" / "one.parquet", seed=1)
    write_table(folder / "tables" / "three.parquet", k=3, seed=2)
    write_table(folder / "tables" / "two.parquet", seed=3)
    settings = pd.DataFrame(
        {"set": ["one", "two"], "C": [0.01, 100.0], "class_weight": ["balanced", "none"], "other": [1, 2]}
    )
    settings.to_csv(folder / "tables" / "sets.csv", index=False)
    (folder / "league.toml").write_text(PLAN)
    return folder


@pytest.fixture(scope="module")
def done(data):
    plan = read_plan(data / "league.toml").found_in(["*"], data)
    summary = run_study(plan, data / "store", n_jobs=1, data_dir=data)
    return plan, data / "store", summary


def cells_of(plan, store):
    return {(c.data_set, c.method, c.target): c for c in Results(plan, store).cells}


def test_methods_that_a_set_does_not_suit_are_left_out_without_a_failure(done):
    plan, store, summary = done
    assert summary.failures == []
    cells = cells_of(plan, store)
    assert ("tables/one", "HDy", "none") in cells
    assert ("tables/three", "HDy", "none") not in cells
    assert all(cell.missing == "" for cell in cells.values())


def test_a_learner_has_the_settings_of_the_file_beside_the_set(done, data):
    plan, store, _ = done
    truth = Results(plan, store).truth("tables/one")
    assert truth["settings"] == {"lr": {"C": 0.01, "class_weight": "balanced"}}
    assert Results(plan, store).truth("tables/three")["settings"] == {"lr": {}}
    train, test = load_set("tables/one", data)
    fitted = CC(NewtonLogisticRegression(C=0.01, class_weight="balanced")).fit(train.items, train.labels)
    protocol = protocol_of(plan, "test", 2)
    expected = evaluate(fitted, test.items, test.labels, protocol).estimated
    np.testing.assert_array_equal(cells_of(plan, store)["tables/one", "CC", "none"].estimated, expected)


def test_methods_have_the_folds_of_the_plan(done, data):
    plan, store, _ = done
    train, test = load_set("tables/two", data)
    run = int(np.random.SeedSequence([seeds(plan)["runs"], 0]).generate_state(1)[0])
    fitted = ACC(NewtonLogisticRegression(C=100.0), validation=3, random_state=run).fit(train.items, train.labels)
    expected = evaluate(fitted, test.items, test.labels, protocol_of(plan, "test", 2)).estimated
    np.testing.assert_array_equal(cells_of(plan, store)["tables/two", "ACC", "none"].estimated, expected)


def test_parts_of_the_samples_are_those_of_their_protocols(done, data):
    plan, store, _ = done
    results = Results(plan, store)
    assert results.parts("tables/one") == {"grid": slice(0, 42), "random": slice(42, 49), "natural": slice(49, 58)}
    cell = cells_of(plan, store)["tables/one", "CC", "none"]
    assert cell.sizes.tolist() == [20] * 42 + [50] * 7 + [10] * 9
    _, test = load_set("tables/one", data)
    states = np.random.SeedSequence(seeds(plan)["test"]).generate_state(3)
    alone = [
        ArtificialPrevalence(21, repeats=2, sample_size=20, random_state=int(states[0])),
        UniformPrevalence(7, sample_size=50, random_state=int(states[1])),
        NaturalPrevalence(9, sample_size=10, random_state=int(states[2])),
    ]
    np.testing.assert_array_equal(cell.true, np.concatenate([p.draw(test.labels, [0, 1])[1] for p in alone]))


def test_the_relative_error_is_smoothed_by_the_size_of_each_sample(done):
    plan, store, _ = done
    cell = cells_of(plan, store)["tables/one", "CC", "none"]
    whole = cell.errors("rae")
    for size in (20, 50, 10):
        part = cell.sizes == size
        np.testing.assert_array_equal(whole[part], cell.errors("rae", size)[part])
    assert not np.array_equal(whole, cell.errors("rae", 20))


@pytest.mark.parametrize("first", [["tables/two"], ["tables/three", "tables/one"]])
def test_a_run_in_parts_and_in_another_order_gives_the_same_bits(done, data, tmp_path, first):
    plan, store, _ = done
    run_study(plan.on(first).found_in(first, data), tmp_path / "store", n_jobs=2, data_dir=data)
    again = run_study(plan, tmp_path / "store", n_jobs=2, data_dir=data)
    assert again.kept > 0
    assert figures(plan, tmp_path / "store") == figures(plan, store)


def test_figures_come_from_the_store_alone(done, data):
    plan, store, _ = done
    fresh = read_plan(data / "league.toml")
    assert sorted(stored_sets(fresh, store)) == ["tables/one", "tables/three", "tables/two"]
    assert stored_sets(fresh, store, ["tables/one"]) == ["tables/one"]
    assert len(stored_sets(fresh, store, ["tables"])) == 3
    with pytest.raises(StoreError, match="no data set of the plan small league in 'elsewhere'"):
        stored_sets(fresh, store, ["elsewhere"])
    assert figures(fresh.on(sorted(stored_sets(fresh, store))), store) == figures(plan, store)


def test_status_counts_what_suits_each_set(done):
    plan, store, _ = done
    rows, notices = status(plan, store)
    assert notices == []
    assert all((row.judged, row.tested) == (row.to_judge, row.to_test) for row in rows)
    assert {(row.data_set, row.learner) for row in rows} >= {("tables/three", "lr"), ("tables/three", "own")}


def without_part(frame):
    return frame.drop(columns="part")


def of_one_class(frame):
    return frame.assign(y=np.where(frame["part"] == "train", 1, frame["y"]))


def with_missing(frame):
    return frame.assign(b=frame["b"].where(frame.index != 3))


def with_names(frame):
    return frame.assign(b="x")


def with_a_third_part(frame):
    return frame.assign(part=frame["part"].where(frame.index != 3, "spare"))


def without_a_label(frame):
    return frame.assign(y=frame["y"].where(frame.index != 3))


def without_test_rows(frame):
    return frame[frame["part"] == "train"]


def without_rows(frame):
    return frame[:0]


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (without_test_rows, "bad.parquet has no rows of part 'test'"),
        (without_rows, "bad.parquet has no rows of part 'train'"),
        (without_part, "has no column 'part'"),
        (of_one_class, "the training part has only the class 1"),
        (with_missing, "columns 'b' have missing or infinite values"),
        (with_names, "columns 'b' hold no numbers"),
        (with_a_third_part, "part must be 'train' or 'test'; found 'spare'"),
        (without_a_label, "y has no value in 1 rows"),
    ],
)
def test_a_set_that_cant_be_used_gets_a_sentence_and_does_not_stop_the_others(data, tmp_path, spoil, words):
    good = write_table(tmp_path / "sets" / "good.parquet", seed=4)
    spoil(good).to_parquet(tmp_path / "sets" / "bad.parquet")
    plan = read_plan(data / "league.toml").found_in(["sets"], tmp_path)
    assert plan.data_sets == ("sets/bad", "sets/good")
    summary = run_study(plan, tmp_path / "store", n_jobs=1, data_dir=tmp_path)
    [failure] = summary.failures
    assert failure.startswith("sets/bad is left out: ")
    assert words in failure
    assert stored_sets(plan, tmp_path / "store") == ["sets/good"]


def test_a_file_that_is_no_parquet_does_not_stop_the_others(data, tmp_path):
    write_table(tmp_path / "sets" / "good.parquet", seed=4)
    (tmp_path / "sets" / "bad.parquet").write_bytes(b"not a table")
    plan = read_plan(data / "league.toml").found_in([str(tmp_path / "sets")])
    summary = run_study(plan, tmp_path / "store", n_jobs=1)
    assert "can't be read as Parquet" in summary.failures[0]
    assert stored_sets(plan, tmp_path / "store") == ["sets/good"]


def test_texts_in_a_parquet_file_are_a_set_of_texts(data, tmp_path):
    table = write_table(tmp_path / "reviews.parquet", seed=6)
    words = np.where(table["y"] == 1, "good fine day", "bad poor night")
    table.drop(columns=["a", "b", "c"]).assign(text=words).to_parquet(tmp_path / "reviews.parquet")
    plan = read_plan(data / "league.toml").found_in(["*"], tmp_path)
    assert run_study(plan, tmp_path / "store", n_jobs=1, data_dir=tmp_path).failures == []
    cells = Results(plan, tmp_path / "store").cells
    assert {cell.method for cell in cells} == {"CC", "ACC", "HDy"}  # DMx is for tables
    assert max(cell.errors("ae").max() for cell in cells if cell.method == "CC") == 0.0


def test_columns_outside_0_to_1_are_scaled_by_the_training_part(tmp_path):
    table = write_table(tmp_path / "t.parquet", seed=7, a=np.linspace(0.0, 1.0, 160), b=np.arange(160.0))
    train, test = load_set("t", tmp_path)
    np.testing.assert_array_equal(train.items[:, 0], table["a"][:80])
    assert (train.items[:, 1].min(), train.items[:, 1].max()) == (0.0, 1.0)
    assert test.items[0, 1] == pytest.approx(80 / 79)


def test_sets_of_the_same_items_are_known_by_them(tmp_path, data):
    table = write_table(tmp_path / "sets" / "one.parquet", seed=8)
    table.sample(frac=1.0, random_state=0).assign(y=lambda t: 1 - t["y"]).to_parquet(
        tmp_path / "sets" / "turned.parquet"
    )
    write_table(tmp_path / "sets" / "other.parquet", seed=9)
    plan = read_plan(data / "league.toml").found_in(["sets"], tmp_path)
    run_study(plan, tmp_path / "store", n_jobs=1, data_dir=tmp_path)
    results = Results(plan, tmp_path / "store")
    items = {name: results.truth(f"sets/{name}")["items"] for name in ("one", "turned", "other")}
    assert items["one"] == items["turned"] != items["other"]


def test_a_folder_that_is_a_set_itself_is_taken_for_one(tmp_path):
    for part in ("train", "test"):
        (tmp_path / "reviews").mkdir(exist_ok=True)
        (tmp_path / "reviews" / f"{part}.txt").write_text("1\tgood\n0\tbad\n")
    assert read_plan("league").found_in(["reviews"], tmp_path).data_sets == ("reviews",)


def test_bundled_sets_can_be_loaded_anywhere():
    names = sets_in("bundled")
    assert "bundled/iris" in names
    for name in names:
        train, test = load_set(name)
        assert set(train.classes) == set(test.classes)
        if not train.is_text:
            assert train.items.min() >= 0.0
            assert train.items.max() <= 1.0


def test_no_data_sets_at_all_is_a_sentence(tmp_path):
    with pytest.raises(DataError, match=r"There are no data sets in .* --on bundled"):
        read_plan("league").found_in(["*"], tmp_path / "missing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="empty holds no data sets: each is a Parquet file"):
        read_plan("league").found_in(["empty"], tmp_path)
    with pytest.raises(DataError, match=r"There are no data sets in .* --on bundled"):
        read_plan("league").found_in(["*"], tmp_path)


def test_the_shipped_league_has_the_methods_of_the_catalogue():
    """Each method of the catalogue is in the league, but for those that it says why not of here."""
    from headcount.quantifiers import list_methods

    left_out = {
        "ELM", "SVM(KLD)", "SVM(NKLD)", "SVM(Q)", "SVM(AE)", "SVM(RAE)",  # learners of their own, in the paper's plan
        "QuaNet",  # needs a network
        "ReadMe",  # needs words of texts, not their tf-idf
        "MedianQuantifier", "Ensemble", "OneVsRest",  # made of others
        "ACOrd", "CvMy", "EDyMAP", "OACC", "OPACC", "OSLD", "PDFOrd",  # for ordered classes, of which two have none
    }  # fmt: skip
    assert {method.name for method in list_methods()} - {
        method.name for method in read_plan("league").methods
    } == left_out
