"""The Markdown of the league: cells beside the published ones, how far forests move, and the ranking of all methods."""

import platform
from typing import Any

import numpy as np
import pandas as pd
import sklearn
from studies.ordinal_league.fits import LEAGUE, OTHER_SEED
from studies.ordinal_league.published import METHODS, WITHOUT_CLASSIFIER
from studies.ordinal_league.recipe import SEED

import headcount

ROUNDING = 0.0001
"""Published scores have four decimals; a cell of a method without a classifier has next to no error of its own."""
RIVAL = "EDy_EMD"


def page(table: pd.DataFrame, published: pd.DataFrame, failed: list[str], minutes: float, n_bags: int) -> str:
    """Return the page."""
    league = table[table["learner"] == LEAGUE]
    cells = compared(league, published)
    repetitions = league.groupby("set")["repetition"].nunique()
    lines = [
        "# A published league of ordinal quantifiers, computed again",
        "",
        f"Written by `python -m studies.ordinal_league FOLDER`: {league['set'].nunique()} tables, {repetitions.min()} to "
        f"{repetitions.max()} repetitions of {n_bags} bags, seeds {SEED} to {SEED + int(repetitions.max()) - 1}, headcount "
        f"{headcount.__version__}, scikit-learn {sklearn.__version__}, numpy {np.__version__}, Python "
        f"{platform.python_version()}; {minutes:.1f} minutes with what the store had.",
        "",
        "A score is 1 - EMD(p, q) / M(p), higher is better; a standard error (SE) is that of the mean over repetitions.",
        *agreement(cells),
        *everything(cells),
        *seeds(table),
        *ranking(league, published),
    ]
    if failed:
        lines += ["", "## Tables left out", "", *(f"- {sentence}" for sentence in failed)]
    return "\n".join(lines) + "\n"


def compared(league: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Return the mean score of each set and published method, its error, and the published score."""
    found = (
        league[league["method"].isin(list(METHODS))].groupby(["set", "method"])["score"].agg(["mean", "std", "count"])
    )
    cells = found.reset_index().merge(published[["set", "method", "score"]], on=["set", "method"], how="left")
    cells["se"] = cells["std"] / np.sqrt(cells["count"])
    cells["off"] = cells["mean"] - cells["score"]
    cells["units"] = cells["off"].abs() / np.maximum(cells["se"], ROUNDING)
    return cells


def agreement(cells: pd.DataFrame) -> list[str]:
    """Return the share of cells within three standard errors, by method."""
    known = cells[cells["score"].notna()]
    if known.empty:
        return ["", "There are no published figures of these tables."]
    lines = [
        "",
        "## Agreement by method",
        "",
        "| method | cells | within 3 SE | largest difference | mean difference | mean score | published |",
        "|---|---|---|---|---|---|---|",
    ]
    for method in METHODS:
        rows = known[known["method"] == method]
        if len(rows):
            lines.append(
                f"| {method} | {len(rows)} | {(rows['units'] <= 3).mean():.0%} | {rows['off'].abs().max():.4f} | "
                f"{rows['off'].mean():+.4f} | {rows['mean'].mean():.4f} | {rows['score'].mean():.4f} |"
            )
    plain = known[~known["method"].isin(WITHOUT_CLASSIFIER)]
    lines += [
        "",
        f"**{(known['units'] <= 3).mean():.1%} of {len(known)} cells are within three standard errors over repetitions.** With a "
        f"classifier, cells differ from the published ones by {plain['off'].abs().mean():.4f} on average and "
        f"{plain['off'].abs().max():.4f} at most: forests of another version draw other numbers from the same seed.",
    ]
    far = known[known["units"] > 3]
    lines += [
        f"- {row.set}, {row.method}: {row.mean_:.4f}, published {row.score:.4f} ({row.units:.1f} SE)"
        for row in far.rename(columns={"mean": "mean_"}).itertuples()
    ]
    return lines


def everything(cells: pd.DataFrame) -> list[str]:
    """Return all cells, ours and published."""
    sets = sorted(cells["set"].unique())
    names = [name for name in METHODS if name in set(cells["method"])]
    by = cells.rename(columns={"mean": "mean_", "count": "count_"}).set_index(["set", "method"])
    lines = ["", "## Cell by cell", "", "Ours ± SE, and below it the published score.", ""]
    lines += ["| set | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for name in sets:
        values = by.loc[name].reindex(names)
        measured = [f"{v.mean_:.4f} ± {v.se:.4f}" if v.count_ > 0 else "–" for v in values.itertuples()]
        lines.append(f"| {name} | " + " | ".join(measured) + " |")
        lines.append(
            "| | " + " | ".join("–" if np.isnan(score) else f"{score:.4f}" for score in values["score"]) + " |"
        )
    return lines


def seeds(table: pd.DataFrame) -> list[str]:
    """Return how much another seed of the forests moves the scores."""
    other = table[table["learner"] == OTHER_SEED]
    if other.empty:
        return []
    keys = ["set", "method", "repetition"]
    both = other.merge(table[table["learner"] == LEAGUE], on=keys, suffixes=("_other", ""))
    both["off"] = both["score_other"] - both["score"]
    lines = [
        "",
        "## How much forests move",
        "",
        "The same splits, bags and settings, with another seed of the forests: difference of a repetition's score (root mean "
        "square), and of the mean over repetitions.",
        "",
        "| set | repetitions | a repetition | the mean, root mean square over methods | largest |",
        "|---|---|---|---|---|",
    ]
    with_classifier = both[~both["method"].isin(WITHOUT_CLASSIFIER)]
    for name, rows in with_classifier.groupby("set"):
        means = rows.groupby("method")["off"].mean()
        lines.append(
            f"| {name} | {rows['repetition'].nunique()} | {np.sqrt((rows['off'] ** 2).mean()):.4f} | "
            f"{np.sqrt((means**2).mean()):.4f} | {means.abs().max():.4f} |"
        )
    return lines


def ranking(league: pd.DataFrame, published: pd.DataFrame) -> list[str]:
    """Return all methods by their mean score over sets, and how far each is from the published best."""
    means = league.groupby(["method", "set"])["score"].mean().unstack()
    means = means[means.notna().all(axis=1)]
    errors = league.groupby(["method", "set"])["score"].std().unstack() / np.sqrt(league["repetition"].nunique())
    se = np.sqrt((errors**2).sum(axis=1)) / errors.shape[1]
    order = means.mean(axis=1).sort_values(ascending=False).index
    rival = published[published["method"] == RIVAL].set_index("set")["score"].reindex(means.columns)
    known = bool(rival.notna().all())
    same = league[league["method"] == RIVAL].set_index(["set", "repetition"])["score"]
    lines = [
        "",
        "## All methods, ranked",
        "",
        f"The mean over {means.shape[1]} sets; 'over {RIVAL}' is the paired difference to {RIVAL} as computed here, on the same "
        "splits and bags, with its error over repetitions. Names with 'headcount' are the library's methods at their defaults, or "
        "as named; the others have the league's formulas.",
        "",
        f"| method | mean score | SE | over {RIVAL} | SE of that |"
        + (f" over the published {RIVAL} ({rival.mean():.4f}) |" if known else ""),
        "|---|---|---|---|---|" + ("---|" if known else ""),
    ]
    for method in order:
        mine = league[league["method"] == method].set_index(["set", "repetition"])["score"]
        paired, error = paired_difference(mine, same)
        row = f"| {method} | {means.loc[method].mean():.4f} | {se[method]:.4f} | {paired:+.4f} | {error:.4f} |"
        if known:
            row += f" {means.loc[method].mean() - rival.mean():+.4f} |"
        lines.append(row)
    return lines


def paired_difference(mine: Any, other: Any) -> tuple[float, float]:
    """Return the mean over sets of a paired difference, and its standard error over the repetitions within sets."""
    by_set = (mine - other).groupby(level="set")
    variance = by_set.var() / by_set.count()
    return float(by_set.mean().mean()), float(np.sqrt(variance.sum()) / len(variance))
