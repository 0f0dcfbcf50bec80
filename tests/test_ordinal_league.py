"""The study of the ordinal league: its recipe worked out by hand, and a run on a small table that goes on where it was stopped."""

import sys
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata
from sklearn.ensemble import RandomForestClassifier
from studies.ordinal_league import __main__ as command
from studies.ordinal_league import recipe
from studies.ordinal_league._ranks_kernel import mean_distances
from studies.ordinal_league.fits import LEAGUE, decisions, forest, geometric_mean
from studies.ordinal_league.forests import LeagueForest
from studies.ordinal_league.published import _mean_ranks, histograms


def table(n=36, k=3, seed=0):
    generator = np.random.default_rng(seed)
    y = np.repeat(np.arange(k), n // k)
    return pd.DataFrame({"x0": y + generator.normal(size=n), "x1": generator.normal(size=n), "y": y + 3})


def test_scores_by_hand():
    true, estimated = np.array([[0.5, 0.5, 0.0]]), np.array([[0.0, 0.5, 0.5]])
    # Half of the mass moves by two classes; all mass in the highest class is 0.5 * 2 + 0.5 * 1 away.
    np.testing.assert_allclose(recipe.scores(true, estimated), [1.0 - 1.0 / 1.5])
    np.testing.assert_allclose(recipe.scores(true, true), [1.0])


def test_bags_have_the_recipes_shares():
    y = np.repeat([0, 1, 2], [40, 30, 30])
    rows, true = recipe.draw_bags(y, 3, seed=7, n_bags=50)
    assert rows.shape == (50, 100)
    np.testing.assert_allclose([np.bincount(y[one], minlength=3) / 100 for one in rows], true)
    assert true[:, [0, 2]].min() >= 0.05
    np.testing.assert_array_equal(rows, recipe.draw_bags(y, 3, seed=7, n_bags=50)[0])


def test_histograms_are_numpys_and_lose_what_is_outside():
    X = np.random.default_rng(0).normal(size=(50, 2))
    X[:9, 0] = np.linspace(-1.0, 1.0, 9)
    codes = histograms(X, np.full(2, -1.0), np.full(2, 1.0), 8)
    for c in range(2):
        expected = np.histogram(X[:, c], bins=8, range=(-1.0, 1.0))[0]
        assert np.bincount(codes[codes[:, c] >= 0, c], minlength=8).tolist() == expected.tolist()


def test_ranks_and_distances_of_repeated_items():
    generator = np.random.default_rng(0)
    column, weights = generator.integers(0, 6, 12) / 4.0, np.r_[np.ones(8), [2.0, 1.0, 3.0, 1.0]]
    repeated = np.repeat(column, weights.astype(int))
    first = np.concatenate([[0], np.cumsum(weights)[:-1]]).astype(int)
    np.testing.assert_allclose(_mean_ranks(column, weights), rankdata(repeated)[first])
    C, ends = generator.random((2, 12)).astype(np.float32), np.array([0, 3, 8])
    M, q = mean_distances(C, ends, weights)
    D = np.sqrt(((C[:, :, None] - C[:, None, :]) ** 2).sum(axis=0))
    parts = [slice(a, b) for a, b in pairwise(ends)]
    np.testing.assert_allclose(M, [[D[a, b].mean() for b in parts] for a in parts], rtol=1e-5)
    np.testing.assert_allclose(q, [np.average(D[8:, a].mean(axis=1), weights=weights[8:]) for a in parts], rtol=1e-5)


def test_the_forest_without_weights_is_scikit_learns():
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(60, 3)), np.repeat([0, 1], 30)  # balanced: all weights are 1
    ours = LeagueForest(7, max_depth=3, random_state=5).fit(X, y)
    theirs = RandomForestClassifier(7, max_depth=3, random_state=5).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X))


def test_depths_that_no_tree_reaches_share_a_forest():
    data = table()
    X, y = data[["x0", "x1"]].to_numpy(), data["y"].to_numpy() - 3
    found = decisions(X[::2], y[::2], X[1::2], 2, LEAGUE)
    np.testing.assert_array_equal(found[-1], forest(30, 2, LEAGUE).fit(X[::2], y[::2]).predict(X[1::2]))
    assert geometric_mean(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), 2) == pytest.approx(0.5**0.5)
    assert geometric_mean(np.array([0, 1]), np.array([1, 1]), 2) == 0.0


def test_a_run_writes_its_page_and_goes_on_from_its_store(tmp_path, monkeypatch, capsys):
    table().to_parquet(tmp_path / "small.parquet")
    pd.DataFrame({"a": [1.0]}).to_parquet(tmp_path / "wrong.parquet")
    pd.DataFrame({"set": ["small"], "method": ["EDX"], "score": [0.9]}).to_csv(tmp_path / "published.csv", index=False)
    options = [
        "--store",
        str(tmp_path / "store"),
        "--jobs",
        "1",
        "--bags",
        "4",
        "--cut",
        "--out",
        str(tmp_path / "out"),
    ]
    monkeypatch.setattr(sys, "argv", ["ordinal_league", str(tmp_path), "--repetitions", "1", *options])
    assert command.main() == 0
    first = pd.read_csv(tmp_path / "out.csv")
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "store").rglob("*.*")}
    monkeypatch.setattr(sys, "argv", ["ordinal_league", str(tmp_path), "--repetitions", "2", *options])
    assert command.main() == 0
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    second = pd.read_csv(tmp_path / "out.csv")
    pd.testing.assert_frame_equal(second[second["repetition"] == 0].reset_index(drop=True), first)
    assert second["repetition"].nunique() == 2
    page = (tmp_path / "out.md").read_text()
    assert "wrong.parquet has no column 'y'" in page
    assert "headcount EDyMAP" in page
    assert page in capsys.readouterr().out
