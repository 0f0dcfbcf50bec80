"""Checks of tables: the items themselves, kept in model files and sampled from tables, and p-values corrected for many groups."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from headcount import PACC
from headcount.checks import check
from headcount.data.examples.reviews import example_files
from headcount.desk import check_tables, estimate_tables, fit_table
from headcount.exceptions import DataError
from headcount.modelfile import Columns, Model, load_model, save_model

CENTRES = 3.5 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])


def draw(codes, seed):
    generator = np.random.default_rng(seed)
    return CENTRES[codes] + generator.standard_normal((len(codes), 2))


@pytest.fixture
def model(tmp_path):
    y = np.arange(600) % 3
    quantifier = PACC(LogisticRegression(), random_state=0).fit(draw(y, 0), y)
    save_model(Model(quantifier, Columns("numbers", ("x", "height"), "y")), tmp_path / "m.headcount")
    return tmp_path / "m.headcount"


def table(folder, codes, seed):
    X = draw(codes, seed)
    frame = pd.DataFrame({"x": X[:, 0], "height": X[:, 1], "g": ["a", "b"] * (len(codes) // 2)})
    frame.to_csv(folder / f"{seed}.csv", index=False)
    return folder / f"{seed}.csv"


def test_a_model_file_keeps_features_for_the_check(model, tmp_path):
    loaded = load_model(model)
    assert loaded.quantifier.validation_items_ is None
    kept = loaded.labelled_items()
    assert kept.features.names == ("x", "height")
    assert len(kept.features) == len(kept.codes) == 600
    clean, unseen = check_tables(loaded, table(tmp_path, np.arange(800) % 2, 1))[0], None
    assert clean["verdict"] == "trust"
    assert clean["p_items"] > 0.025
    codes = np.concatenate([np.arange(600) % 2, np.full(200, 3)])
    unseen = check_tables(loaded, table(tmp_path, codes, 2))[0]
    assert unseen["verdict"] in ("caution", "do not trust")
    assert unseen["p_items"] < 0.01
    assert set(unseen["differs"]) <= {"x", "height"}
    save_model(loaded, tmp_path / "again.headcount")
    assert len(load_model(tmp_path / "again.headcount").labelled_items().codes) == 600


def test_the_check_of_a_table_equals_the_check_in_python(model, tmp_path):
    y = np.arange(600) % 3
    quantifier = PACC(LogisticRegression(), random_state=0).fit(draw(y, 0), y)
    codes = np.arange(400) % 2
    record = check_tables(model, table(tmp_path, codes, 1))[0]
    report = check(quantifier, draw(codes, 1))
    assert record["verdict"] == report.verdict
    assert record["p_label_shift"] == pytest.approx(report.p_label_shift, rel=1e-6)
    assert (record["p_items"] > 0.025) == (
        report.p_items > 0.025
    )  # the folds are others: the items come in another order


def test_verdicts_do_not_depend_on_other_groups_and_corrected_p_values_do(model, tmp_path):
    file = table(tmp_path, np.arange(800) % 3, 3)
    groups = estimate_tables(model, file, by="g")
    alone = pd.read_csv(file, dtype=str).query("g == 'a'")
    alone.to_csv(tmp_path / "alone.csv", index=False)
    one = estimate_tables(model, tmp_path / "alone.csv", by="g")
    assert groups.verdicts[0] == one.verdicts[0]
    assert groups.advice[0] == one.advice[0]
    assert groups.reports[0].p_items == one.reports[0].p_items
    assert groups.p_corrected[0] >= one.p_corrected[0]
    assert groups.records()[0]["p_corrected"] == pytest.approx(groups.p_corrected[0])


def test_terms_that_differ_are_named(tmp_path):
    files = example_files(n_labelled=300)
    (tmp_path / "reviews.csv").write_text(files["reviews.csv"])
    model = fit_table(tmp_path / "reviews.csv", text="review", label="stars", method="PACC", learner="nb")
    save_model(model, tmp_path / "m.headcount")
    frame = pd.read_csv(tmp_path / "reviews.csv")
    frame["review"] += " zeppelin"
    frame.to_csv(tmp_path / "new.csv", index=False)
    record = check_tables(load_model(tmp_path / "m.headcount"), tmp_path / "new.csv")[0]
    assert record["p_items"] < 1e-6
    assert record["differs"][0] == "zeppelin"


def test_features_that_do_not_fit_the_held_out_items_are_refused(model, tmp_path):
    loaded = load_model(model)
    object.__setattr__(loaded, "item_rows", np.array([0, 10_000]))
    with pytest.raises(DataError, match="can't be kept in a file: item_rows holds numbers out of range"):
        save_model(loaded, tmp_path / "bad.headcount")
