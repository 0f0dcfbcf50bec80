"""`TableColumns`: what becomes of texts, numbers, categories, dates and embeddings, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from headcount import NewtonLogisticRegression
from headcount.auto import AutoQuantifier
from headcount.auto.learners import kind_of
from headcount.exceptions import DataError
from headcount.features import TableColumns, TermWeights
from headcount.features.column_names import column_kinds
from headcount.tables import ColumnRole
from headcount.tables.records import record_type

WORDS = [["refund", "invoice", "card"], ["crash", "login", "screen"]]


def tickets(n, seed=0, start="2024-01-01", shares=(0.5, 0.5)):
    """Draw tickets of two teams, of which every column says something."""
    generator = np.random.default_rng(seed)
    y = generator.choice(2, n, p=shares)
    words = [
        " ".join(generator.choice([*WORDS[label], "please", "help", "the", "order"], 5)) + f" {i}"
        for i, label in enumerate(y)
    ]
    opened = pd.Timestamp(start) + pd.to_timedelta(generator.integers(0, 28 * 24, n), unit="h")
    frame = pd.DataFrame(
        {
            "id": [f"TK-{i:05d}" for i in generator.permutation(n)],
            "subject": words,
            "price": np.where(generator.random(n) < 0.1, np.nan, generator.normal(20 + 15 * y, 10).round(2)),
            "region": np.where(generator.random(n) < 0.3 + 0.4 * y, "north", "south"),
            "opened": opened,
            "closed": opened + pd.to_timedelta(generator.exponential(1 + 2 * y), unit="D"),
        }
    )
    return frame, np.array(["billing", "tech"])[y]


def column(matrix, columns, name):
    place = columns.get_feature_names_out().tolist().index(name)
    dense = matrix.toarray() if issparse(matrix) else matrix
    return dense[:, place]


def test_numbers_are_filled_marked_and_scaled():
    frame = pd.DataFrame({"a": [1.0, 2.0, 6.0, None], "b": [1.0, 2.0, 3.0, 4.0], "c": [5.0] * 4})
    columns = TableColumns().fit(frame)
    assert columns.get_feature_names_out().tolist() == ["a", "b", "c", "a missing"]
    X = columns.transform(frame)
    filled = np.array([1.0, 2.0, 6.0, 2.0])
    np.testing.assert_allclose(X[:, 0], (filled - filled.mean()) / filled.std())
    np.testing.assert_array_equal(X[:, 2], 0.0)
    np.testing.assert_array_equal(X[:, 3], [0, 0, 0, 1])
    later = columns.transform(pd.DataFrame({"a": [None], "b": [None], "c": [7.0]}, dtype=float))
    np.testing.assert_allclose(later, [[X[3, 0], 0.0, 2.0, 1.0]])


def test_beside_texts_the_effect_of_a_number_may_bend_at_its_quartiles():
    frame = pd.DataFrame({"t": ["good film", "bad film"] * 10, "x": np.arange(20.0) ** 2, "flag": [0.0, 1.0] * 10})
    columns = TableColumns({"t": "text"}).fit(frame)
    names = columns.get_feature_names_out().tolist()
    assert names[-5:] == ["x", "flag", "x above 16", "x above 81", "x above 196"]
    above = column(columns.transform(frame), columns, "x above 81")
    assert np.ptp(above[:10]) == 0
    assert (np.diff(above[9:]) > 0).all()
    without_texts = TableColumns().fit(frame[["x", "flag"]].assign(r=["n", "s"] * 10))
    assert without_texts.get_feature_names_out().tolist()[:2] == ["x", "flag"]
    assert "x above 81" not in without_texts.get_feature_names_out()


def test_rare_and_unknown_categories_are_joined_and_missing_ones_are_not():
    frame = pd.DataFrame({"c": ["a"] * 6 + ["b"] * 5 + ["rare", "rarer"] + [None] * 2, "d": ["x", "y", "y"] * 5})
    columns = TableColumns().fit(frame)
    assert columns.get_feature_names_out().tolist() == ["c = a", "c = b", "c other", "c missing", "d = x", "d = y"]
    new = pd.DataFrame({"c": ["b", "rare", "never seen", None, " a "], "d": ["x", "z", None, "y", "x"]})
    np.testing.assert_array_equal(
        columns.transform(new),
        [[0, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 0], [0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 1], [1, 0, 0, 0, 1, 0]],
    )


def test_dates_are_weekdays_times_of_day_and_distances_never_the_date_itself():
    frame = pd.DataFrame(
        {
            "opened": pd.to_datetime(["2024-01-01 06:00", "2024-01-02 12:00", None]),
            "closed": pd.to_datetime(["2024-01-03", "2024-01-02", "2024-01-07"]),
        }
    )
    columns = TableColumns().fit(frame)
    X = columns.transform(frame)
    assert column(X, columns, "opened: Monday").tolist() == [1, 0, 0]
    assert column(X, columns, "closed: Sunday").tolist() == [0, 0, 1]
    assert column(X, columns, "opened: time of day, sine").round(9).tolist() == [1, 0, 0]
    days = column(X, columns, "days from opened to closed")
    assert days[0] > days[2] > days[1]
    assert "closed: time of day, sine" not in columns.get_feature_names_out()
    years_later = frame + pd.Timedelta(days=7 * 300)
    np.testing.assert_array_equal(columns.transform(years_later), X)


def test_embeddings_are_scaled_coordinates():
    vectors = np.random.default_rng(0).normal(3.0, 2.0, (20, 4))
    frame = pd.DataFrame({"v": list(vectors)})
    X = TableColumns().fit_transform(frame)
    np.testing.assert_allclose(X, (vectors - vectors.mean(axis=0)) / vectors.std(axis=0))
    written = pd.DataFrame({"v": [str(vector.tolist()) for vector in vectors]})
    np.testing.assert_allclose(TableColumns().fit_transform(written), X)
    columns = TableColumns().fit(frame)
    with pytest.raises(DataError, match="row 1, column 'v' holds 2 numbers, and embeddings of 4 were learnt from"):
        columns.transform(pd.DataFrame({"v": [[1.0, 2.0]]}))
    with pytest.raises(DataError, match="row 2, column 'v': a number of the embedding is missing or infinite"):
        columns.transform(pd.DataFrame({"v": [[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, np.inf, 4.0]]}))


def test_texts_have_their_own_terms_in_a_sparse_matrix():
    frame, _ = tickets(60)
    columns = TableColumns({"closed": "drop"}, text=TermWeights(min_count=3)).fit(frame)
    X = columns.transform(frame)
    assert issparse(X)
    assert X.shape == (60, len(columns.get_feature_names_out()))
    terms = TermWeights(min_count=3).fit(frame["subject"])
    np.testing.assert_allclose(
        X[:, : len(terms.vocabulary_)].toarray(), 4.0 * terms.transform(frame["subject"]).toarray()
    )
    assert columns.dropped_ == {"closed": "dropped", "id": "a different value in nearly every row, and no words: an id"}
    north = (frame["region"] == "north") * columns.weight_
    np.testing.assert_allclose(column(X, columns, "region = north"), north)
    rest = X[:, len(terms.vocabulary_) :].toarray()
    assert np.mean((rest**2).sum(axis=1)) == pytest.approx(2.0**2)
    other = TableColumns({"subject": "text"}, text=TfidfVectorizer()).fit(frame)
    assert "subject: refund" in other.get_feature_names_out()


def test_rows_are_transformed_one_by_one_or_together_to_the_same_bits():
    frame, _ = tickets(80)
    columns = TableColumns().fit(frame)
    together = columns.transform(frame).toarray()
    parts = [columns.transform(frame[start : start + 7]).toarray() for start in range(0, 80, 7)]
    np.testing.assert_array_equal(np.vstack(parts), together)
    np.testing.assert_array_equal(TableColumns().fit_transform(frame).toarray(), together)


def test_what_is_learnt_is_learnt_from_the_training_rows_alone():
    frame, _ = tickets(80)
    frame.loc[70:, "price"] = 1e6
    columns = TableColumns(column_kinds(frame)).fit(frame[:60])
    alone = TableColumns(column_kinds(frame)).fit(frame[:60].reset_index(drop=True))
    np.testing.assert_array_equal(columns.transform(frame).toarray(), alone.transform(frame).toarray())
    assert columns.medians_[0] < 100


def test_clones_and_parameters():
    columns = TableColumns({"a": "number"}, text=TermWeights(min_count=3), min_count=2)
    again = clone(columns)
    assert again.get_params()["text__min_count"] == 3
    assert again.kinds == {"a": "number"}
    with pytest.raises(DataError, match=r"kinds may be .*; got 'figure'"):
        TableColumns({"a": "figure"}).fit(pd.DataFrame({"a": [1.0]}))
    with pytest.raises(DataError, match="kinds names 'z', and the columns are 'a'"):
        TableColumns({"z": "number"}).fit(pd.DataFrame({"a": [1.0]}))


def test_other_columns_are_refused():
    frame, _ = tickets(40)
    columns = TableColumns().fit(frame)
    with pytest.raises(ValueError, match="same order"):
        columns.transform(frame[frame.columns[::-1]])
    with pytest.raises(ValueError, match="region"):
        columns.transform(frame.drop(columns="region"))
    with pytest.raises(DataError, match="Expected a data frame"):
        columns.transform([["a", 1.0]])
    with pytest.raises(DataError, match="no column to learn from"):
        TableColumns().fit(frame[["id"]])
    records = np.zeros(3, record_type({"price": ColumnRole("number"), "v": ColumnRole("embedding", size=3)}))
    fitted = TableColumns().fit(records)
    assert fitted.transform(records).shape == (3, 4)
    with pytest.raises(DataError, match="The columns are 'v'; those learnt from were 'price', 'v'"):
        fitted.transform(records[["v"]])
    longer = np.zeros(3, record_type({"price": ColumnRole("number"), "v": ColumnRole("embedding", size=4)}))
    with pytest.raises(DataError, match="embeddings of 4 numbers; those learnt from have 3"):
        fitted.transform(longer)


def test_texts_without_repeated_words_are_refused_alone_and_omitted_beside_others():
    frame = pd.DataFrame({"t": ["one thing", "another matter"], "x": [1.0, 2.0]})
    assert TableColumns({"t": "text"}).fit_transform(frame).shape == (2, 1)
    with pytest.raises(DataError, match="their texts have no words that occur twice"):
        TableColumns({"t": "text", "s": "text"}).fit(frame[["t"]].assign(s=["more", "words"]))
    with pytest.raises(DataError, match="Column 't': No word occurs in 2 of the 2 texts"):
        TableColumns({"t": "text"}).fit(frame[["t"]])


def test_a_frame_of_polars_is_read_as_one_of_pandas():
    polars = pytest.importorskip("polars")
    frame, _ = tickets(50)
    assert kind_of(polars.from_pandas(frame)) == "mixed"
    assert kind_of(polars.from_pandas(frame[["price"]])) == "numbers"
    columns = TableColumns().fit(frame)
    np.testing.assert_array_equal(
        TableColumns().fit_transform(polars.from_pandas(frame)).toarray(), columns.transform(frame).toarray()
    )


def test_mixed_frames_are_learnt_from_and_estimated():
    frame, y = tickets(400)
    assert kind_of(frame) == "mixed"
    assert kind_of(frame[["price", "region", "opened"]]) == "table"
    assert kind_of(frame[["price"]]) == "numbers"
    auto = AutoQuantifier(["PACC"], ["lr"], budget=0.001, random_state=0).fit(frame, y)
    new, truth = tickets(300, seed=1, start="2024-09-01", shares=(0.2, 0.8))
    shares = auto.predict(new)
    assert shares[1] == pytest.approx((truth == "tech").mean(), abs=0.05)
    with pytest.raises(ValueError, match="same order"):
        auto.predict(new[new.columns[::-1]])
    without_texts = AutoQuantifier(["PACC"], ["forest"], budget=0.001, random_state=0).fit(
        frame[["price", "region"]], y
    )
    assert without_texts.kind_ == "table"
    assert without_texts.predict(new[["price", "region"]]).sum() == pytest.approx(1.0)


def test_all_columns_say_more_than_the_texts_alone():
    frame, y = tickets(400)
    new, truth = tickets(400, seed=1)
    right = {}
    for name, used in {"all": list(frame), "text": ["subject"]}.items():
        model = make_pipeline(TableColumns(), NewtonLogisticRegression()).fit(frame[used], y)
        right[name] = (model.predict(new[used]) == truth).mean()
    assert right["all"] >= right["text"]
