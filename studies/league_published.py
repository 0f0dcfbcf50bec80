# ruff: noqa: D103, T201
"""Reproduce a published league: 12 quantifiers over logistic regression on binary tables, by its own recipe, quirks included.

The league is that of the repository Bachega/lequa2024_workshop (2024). Its recipe is the README of the data; the formulas below are
its formulas, not the library's: rates are counted by ``>`` and rounded, counts by ``>=``, PACC divides by hard rates, MS2 does not
divide at all. Beside the published PACC and MS2 stand the corrected ones. Each cell is compared with the published error in units
of sqrt(se^2 + se_published^2 + 0.0005^2).

    HEADCOUNT_DATA=DATA python studies/league_published.py [--sets A,B] [--jobs 2] [--out studies/league-published]

The folder ``league_binary`` holds the tables (columns x.., y, part), `sets.csv` (C and class weight of each) and `published.csv`.
A table that `sets.csv` does not name gets the settings that the recipe chooses. Writes OUT.csv, a row each cell, and OUT.md.
"""

import argparse
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, cross_val_predict, cross_val_score

import headcount
from headcount import NewtonLogisticRegression

SEED = 20261118
SIZE = 100
PREVALENCES = np.round(np.linspace(0.0, 1.0, 20), 2)
THRESHOLDS = np.round(np.linspace(0.0, 1.0, 101), 2)
GRID = THRESHOLDS
CORRECTED = ("PACC corrected", "MS2 corrected", "T50 corrected")
JUDGED = ("CC", "ACC", "PCC", "X", "MAX", "MS", "SMM", "HDy", "DyS", "SORD")


def classifier(C: float, class_weight: str) -> Any:
    return NewtonLogisticRegression(C=C, class_weight=None if class_weight == "none" else "balanced", tol=1e-6)


def chosen_setting(X: Any, y: Any) -> tuple[float, str]:
    """Return the setting with the best accuracy in three folds in file order, the first of equals."""
    settings = [(C, weight) for C in 10.0 ** np.arange(-3, 4) for weight in ("none", "balanced")]
    folds = StratifiedKFold(3)
    accuracies = [cross_val_score(classifier(*one), X, y, cv=folds, scoring="accuracy").mean() for one in settings]
    return settings[int(np.argmax(accuracies))]


def draw_samples(y: Any, repeats: int, generator: np.random.Generator) -> tuple[Any, Any]:
    """Return the rows of samples, positives and negatives with replacement, and their prevalences."""
    positives, negatives = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    rows, true = [], np.repeat(PREVALENCES, repeats)
    for p in true:
        n_positive = round(p * SIZE)
        rows.append(
            np.concatenate([generator.choice(positives, n_positive), generator.choice(negatives, SIZE - n_positive)])
        )
    return np.array(rows), true


def adjusted(counts: Any, tpr: Any, fpr: Any) -> Any:
    """Return (c - fpr) / (tpr - fpr), and c where the rates are equal."""
    gap = tpr - fpr
    return np.where(gap == 0.0, counts, (counts - fpr) / np.where(gap == 0.0, 1.0, gap))


def by_thresholds(S: Any, positive: Any, negative: Any) -> dict[str, Any]:
    """Return the estimates of the methods that count items above thresholds."""
    counts = np.stack([(t <= S).mean(axis=1) for t in THRESHOLDS], axis=1)
    tpr = np.round([(positive > t).mean() for t in THRESHOLDS], 2)
    fpr = np.round([(negative > t).mean() for t in THRESHOLDS], 2)
    half, gap = 50, np.abs(tpr - fpr)
    at = lambda t: adjusted(counts[:, t], tpr[t], fpr[t])  # noqa: E731
    all_of_them = adjusted(counts, tpr, fpr)
    wide = gap > 0.25 if (gap > 0.25).any() else np.ones(101, dtype=bool)
    return {
        "CC": counts[:, half],
        "ACC": at(half),
        "X": at(int(np.argmin(np.round(np.abs(1.0 - tpr - fpr), 10)))),
        "MAX": at(int(np.argmax(np.round(gap, 10)))),
        "MS": np.median(all_of_them[:, 1:100], axis=1),
        "MS2": np.median(np.abs(counts - fpr)[:, wide], axis=1),
        "MS2 corrected": np.median(all_of_them[:, wide], axis=1),
        "T50 corrected": at(int(np.argmin(np.round(np.abs(tpr - 0.5), 10)))),
    }


def histogram(scores: Any, b: int) -> Any:
    """Return the recipe's histogram of each row of scores."""
    bins = np.minimum((scores * b).astype(int), b - 1)
    counts = np.zeros((len(scores), b))
    for row, one in enumerate(bins):
        counts[row] = np.bincount(one, minlength=b)
    return (counts + 1.0 / b) / (scores.shape[1] + 1.0)


def hellinger(p: Any, q: Any) -> Any:
    return 2.0 * np.sqrt(np.maximum(1.0 - np.sqrt(p * q).sum(axis=-1), 0.0))


def hdy(S: Any, positive: Any, negative: Any) -> Any:
    found = []
    for b in range(10, 111, 10):
        H, h1, h0 = histogram(S, b), histogram(positive[None, :], b)[0], histogram(negative[None, :], b)[0]
        distances = np.stack([hellinger(p * h1 + (1.0 - p) * h0, H) for p in GRID], axis=1)
        found.append(GRID[np.argmin(distances, axis=1)])
    return np.median(found, axis=0)


def dys(S: Any, positive: Any, negative: Any) -> Any:
    found = []
    for b in [*range(2, 21, 2), 30]:
        H, h1, h0 = histogram(S, b), histogram(positive[None, :], b)[0], histogram(negative[None, :], b)[0]
        low, high = np.zeros(len(S)), np.ones(len(S))
        while (high - low).max() > 1e-4:
            third = (high - low) / 3.0
            left, right = low + third, high - third
            at_left, at_right = (hellinger(p[:, None] * h1 + (1.0 - p[:, None]) * h0, H) for p in (left, right))
            worse = at_left > at_right
            low, high = np.where(worse, left, low), np.where(worse, high, right)
        found.append((low + high) / 2.0)
    return np.median(found, axis=0)


def sord(S: Any, positive: Any, negative: Any) -> Any:
    """Return the prevalence with the least area between the distribution functions, on the grid."""
    labelled = np.concatenate([positive, negative])
    share_1 = np.concatenate([np.full(len(positive), 1.0 / len(positive)), np.zeros(len(negative))])
    share_0 = np.concatenate([np.zeros(len(positive)), np.full(len(negative), 1.0 / len(negative))])
    estimates = []
    for scores in S:
        points = np.concatenate([labelled, scores])
        order = np.argsort(points, kind="stable")
        width = np.diff(points[order])
        jumps = [
            np.concatenate([share_1, np.zeros(len(scores))]),
            np.concatenate([share_0, np.zeros(len(scores))]),
            np.concatenate([np.zeros(len(labelled)), np.full(len(scores), 1.0 / len(scores))]),
        ]
        F1, F0, Ft = (np.cumsum(one[order])[:-1] for one in jumps)
        kept = width > 0.0
        gap, slope, width = (F0 - Ft)[kept], (F1 - F0)[kept], width[kept]
        areas = np.abs(gap[:, None] + slope[:, None] * GRID).T @ width
        estimates.append(GRID[np.argmin(np.round(areas, 12))])
    return np.array(estimates)


def cells_of(path: Path, repeats: int, C: float | None, class_weight: str | None) -> list[dict[str, Any]]:
    """Return the error of each method on one table."""
    table = pd.read_parquet(path)
    missing = {"y", "part"} - {*table.columns}
    if missing:
        raise ValueError(f"{path.name} has no column {sorted(missing)[0]!r}: a table has x0.., y and part.")
    X = table.filter(regex=r"^x\d+$").to_numpy(np.float64)
    y, train = table["y"].to_numpy(), (table["part"] == "train").to_numpy()
    if np.unique(y[train]).tolist() != [0, 1] or np.unique(y[~train]).tolist() != [0, 1]:
        raise ValueError(f"{path.name}: both classes, 0 and 1, are needed in both parts.")
    if not np.isfinite(X).all():
        raise ValueError(f"{path.name}: a feature is not a finite number.")
    generator = np.random.default_rng([SEED, *path.stem.encode()])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "The least populated class")
        if C is None or class_weight is None:
            C, class_weight = chosen_setting(X[train], y[train])
        learner = classifier(C, class_weight)
        scores = learner.fit(X[train], y[train]).predict_proba(X[~train])[:, 1]
        of_train = cross_val_predict(learner, X[train], y[train], cv=StratifiedKFold(10), method="predict_proba")[:, 1]
        calibrated = CalibratedClassifierCV(learner, cv=StratifiedKFold(3), method="sigmoid").fit(X[train], y[train])
        soft = calibrated.predict_proba(X[~train])[:, 1]
    positive, negative = of_train[y[train] == 1], of_train[y[train] == 0]
    samples, true = draw_samples(y[~train], repeats, generator)
    S, tpr, fpr = (
        scores[samples],
        round((positive > 0.5).mean(), 2),
        round((negative > 0.5).mean(), 2),
    )
    mean, pcc = S.mean(axis=1), soft[samples].mean(axis=1)
    smm = adjusted(mean, positive.mean(), negative.mean())
    estimates = by_thresholds(S, positive, negative) | {
        "PCC": pcc,
        "PACC": adjusted(pcc, tpr, fpr) if tpr != fpr else pcc,
        "PACC corrected": smm,  # soft rates of the same scores
        "SMM": smm,
        "HDy": hdy(S, positive, negative),
        "DyS": dys(S, positive, negative),
        "SORD": sord(S, positive, negative),
    }
    cells = []
    for method, p in estimates.items():
        error = np.round(np.abs(np.round(np.clip(p, 0.0, 1.0), 2) - true), 2)
        by_prevalence = error.reshape(len(PREVALENCES), repeats)
        se = np.sqrt((by_prevalence.var(axis=1, ddof=1) / repeats).sum()) / len(PREVALENCES)
        cells.append(
            {"set": path.stem, "method": method, "mae": error.mean(), "se": se, "C": C, "class_weight": class_weight}
        )
    return cells


def attempted(path: Path, repeats: int, C: float | None, class_weight: str | None) -> list[dict[str, Any]] | str:
    try:
        return cells_of(path, repeats, C, class_weight)
    except (ValueError, OSError) as error:
        return str(error)


def compared(cells: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Return the cells beside the published ones, with their distance in units of the joint standard error."""
    both = cells.merge(published, on=["set", "method"], how="left", suffixes=("", "_published"))
    unit = np.sqrt(both["se"] ** 2 + both["se_published"] ** 2 + 0.0005**2)
    both["units"] = (both["mae"] - both["mae_published"]) / unit
    return both


def report(both: pd.DataFrame, failed: list[str], seconds: float) -> str:
    lines = [
        "# A published league, computed again",
        "",
        f"Written by `python studies/league_published.py` (headcount {headcount.__version__}, numpy {np.__version__}, seed {SEED}, "
        f"{both['set'].nunique()} tables, {seconds / 60:.1f} minutes).",
        "",
        (__doc__ or "").split("\n\n")[1].replace("\n", " "),
        "",
        "| method | cells | within 2 units | within 3 | mean error | published |",
        "|---|---|---|---|---|---|",
    ]
    plain = both[both["mae_published"].notna() & both["note"].isna()]
    for method in [*JUDGED, "PACC", "MS2"]:
        rows = both[(both["method"] == method) & both["mae_published"].notna()]
        if method in JUDGED:
            rows = rows[rows["note"].isna()]
        if len(rows):
            near = rows["units"].abs()
            lines.append(
                f"| {method} | {len(rows)} | {(near <= 2).mean():.1%} | {(near <= 3).mean():.1%} | {rows['mae'].mean():.4f} "
                f"| {rows['mae_published'].mean():.4f} |"
            )
    judged = plain[plain["method"].isin(JUDGED)]["units"].abs()
    if len(judged):
        lines += [
            "",
            f"All ten methods whose formulas are right, cells without a note: **{(judged <= 2).mean():.1%} of {len(judged)} within "
            f"2 units, {(judged <= 3).mean():.1%} within 3**.",
        ]
    lines += ["", "## The original's mistakes, put right", "", "| method | published | corrected |", "|---|---|---|"]
    for method, why in (
        ("PACC", "divides a calibrated mean by hard rates of the uncalibrated classifier"),
        ("MS2", "lacks its denominator and takes an absolute value"),
        ("T50", "returned its own running time, hence no table"),
    ):
        right = both[both["method"] == f"{method} corrected"]["mae"].mean()
        theirs = both[both["method"] == method]["mae_published"].mean()
        lines.append(f"| {method}: {why} | {'–' if np.isnan(theirs) else f'{theirs:.3f}'} | {right:.3f} |")
    far = plain[plain["method"].isin(JUDGED) & (plain["units"].abs() > 3)]
    lines += [
        "",
        "## Cells further than 3 units",
        "",
        "| set | method | measured | published | units |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['set']} | {row['method']} | {row['mae']:.4f} | {row['mae_published']:.4f} | {row['units']:+.1f} |"
        for _, row in far.iterrows()
    ] or ["| none | | | | |"]
    if failed:
        lines += ["", "## Tables left out", "", *(f"- {sentence}" for sentence in failed)]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sets", default="", help="names of tables, separated by commas; by default all in the folder")
    parser.add_argument("--repeats", type=int, default=10, help="samples at each prevalence; the league had 10")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", default=str(Path(__file__).parent / "league-published"))
    asked = parser.parse_args()
    if "HEADCOUNT_DATA" not in os.environ:
        sys.exit("Set HEADCOUNT_DATA to the folder that holds league_binary.")
    folder = Path(os.environ["HEADCOUNT_DATA"]) / "league_binary"
    settings = pd.read_csv(folder / "sets.csv").set_index("set")
    published = pd.read_csv(folder / "published.csv")[["set", "method", "mae", "se", "note"]]
    names = {name for name in asked.sets.split(",") if name}
    paths = [path for path in sorted(folder.glob("*.parquet")) if not names or path.stem in names]
    if not paths:
        sys.exit(f"There are no such tables in {folder}.")
    began = time.monotonic()
    known = [
        (float(settings.loc[p.stem, "C"]), str(settings.loc[p.stem, "class_weight"]))
        if p.stem in settings.index
        else (None, None)
        for p in paths
    ]
    work = (
        joblib.delayed(attempted)(path, asked.repeats, *setting) for path, setting in zip(paths, known, strict=True)
    )
    cells: list[dict[str, Any]] = []
    failed: list[str] = []
    for done, result in enumerate(joblib.Parallel(asked.jobs, return_as="generator")(work), 1):
        if isinstance(result, str):
            failed.append(result)
        else:
            cells += result
        print(f"\r{done} of {len(paths)} tables", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    if not cells:
        sys.exit("\n".join(failed))
    both = compared(pd.DataFrame(cells), published)
    both.round(6).to_csv(f"{asked.out}.csv", index=False)
    text = report(both, failed, time.monotonic() - began)
    Path(f"{asked.out}.md").write_text(text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
