"""Logistic regression over numbers, scored by a database."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from headcount import PACC
from headcount.desk import estimate_tables, scoring_sql, statistics_sql
from headcount.exceptions import DataError
from headcount.learners import NewtonLogisticRegression
from headcount.modelfile import Columns, Model

NAMES = ("height", "Weight of it", "x3")


def model_over(classifier, k, validation=0.4):
    rng = np.random.default_rng(k)
    y = np.tile(np.arange(k), 100)
    X = rng.normal(size=(len(y), 3)) * [1.0, 30.0, 0.01] + y[:, None] * [1.0, -20.0, 0.0] + [0.0, 500.0, 0.0]
    return Model(PACC(classifier, validation=validation, random_state=0).fit(X, y), Columns("numbers", NAMES, "y"))


def items():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(400, 3)) * [1.5, 40.0, 0.01] + [0.5, 490.0, 0.0], columns=list(NAMES))
    frame.loc[0] = [60.0, -3000.0, 0.0]  # far away: its exponentials must not overflow
    return frame


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("validation", [0.4, 3])
def test_scores_agree(database, k, validation):
    model = model_over(make_pipeline(StandardScaler(), NewtonLogisticRegression()), k, validation)
    frame = items()
    database.load("people", frame)
    scored = database.frame(scoring_sql(model, "people", dialect=database.dialect))
    P = model.quantifier.classifier_.predict_proba(frame.to_numpy())
    columns = [f"score_{j}" for j in range(k)]
    scored = scored.sort_values("height")[columns].to_numpy(float)
    np.testing.assert_allclose(scored, P[np.argsort(frame["height"])], atol=1e-9, rtol=0)


def test_missing_numbers_are_filled_in(database):
    model = model_over(make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), LogisticRegression()), 2)
    frame = items()
    frame.loc[::7, "x3"] = np.nan
    database.load("people", frame.astype("Float64"))
    scored = database.frame(scoring_sql(model, "people", dialect=database.dialect))
    P = model.quantifier.classifier_.predict_proba(frame.to_numpy())
    scored = scored.sort_values("height")["score_1"].to_numpy(float)
    np.testing.assert_allclose(scored, P[np.argsort(frame["height"]), 1], atol=1e-9, rtol=0)


def test_estimate_agrees_with_that_from_the_file(database, tmp_path):
    model = model_over(make_pipeline(StandardScaler(), NewtonLogisticRegression()), 2)
    frame = items()
    frame.to_parquet(tmp_path / "items.parquet", index=False)
    database.load("people", frame)
    database.frame(statistics_sql(model, "people", dialect=database.dialect)).to_csv(tmp_path / "r.csv", index=False)
    from_file = estimate_tables(model, tmp_path / "items.parquet")
    computed = estimate_tables(model, tmp_path / "r.csv", statistics=True)
    for figures in ("shares", "low", "high"):
        np.testing.assert_allclose(getattr(computed, figures), getattr(from_file, figures), atol=1e-9, rtol=0)
    other = model_over(make_pipeline(StandardScaler(), NewtonLogisticRegression(C=0.1)), 2)
    with pytest.raises(DataError, match="of another model"):
        estimate_tables(other, tmp_path / "r.csv", statistics=True)


def test_models_that_no_query_can_score():
    with pytest.raises(DataError, match="RandomForestClassifier can't be written in SQL"):
        scoring_sql(model_over(RandomForestClassifier(3, random_state=0), 2), "people")
    with pytest.raises(
        DataError, match="3 fold classifiers, whose statistics no query adds up: print their mean scores"
    ):
        statistics_sql(model_over(NewtonLogisticRegression(), 2, 3), "people")
