# ruff: noqa: T201
"""Shares of one to five stars by quarter, from few labelled reviews: methods for ordered classes beside counting (PCC).

    HEADCOUNT_DATA=DATA python studies/stars_by_quarter.py [--draws 30] [--out studies/stars-by-quarter]

The file is `amazon_devices/all.tsv.gz` (columns date, stars, title, text). In each draw n reviews of each star ("by class"), or
five n reviews ("at random", at least two of each star), are drawn from all; term weights, classifiers and methods are fitted on
them alone, and estimate the shares of the other reviews in each quarter with at least 100 of them. The error of a draw is the mean
NMD over quarters.
"""

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sklearn
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import headcount as hc
from headcount.errors import nmd
from headcount.learners import FitCache, Fits

SEED = 20261120
STARS = np.arange(1, 6)
LEAST = 100
SIZES = (10, 20, 50)


def learner() -> Any:
    """Return term weights and logistic regression."""
    return make_pipeline(TfidfTransformer(sublinear_tf=True), LogisticRegression(C=10.0, max_iter=200))


def settings(seed: int) -> dict[str, Any]:
    """Return the quantifiers; those with folds share them."""
    shared: dict[str, Any] = {"classifier": learner(), "random_state": seed}
    cuts: dict[str, Any] = {"classifier": hc.FrankHall(learner()), "random_state": seed}
    return {
        "PCC": hc.PCC(learner()),
        "PCC, cuts": hc.PCC(hc.FrankHall(learner())),
        "PACC": hc.PACC(**shared),
        "o-PACC": hc.RUN(vectors="posteriors", loss="squares", strength=1e-3, **shared),
        "SLD": hc.SLD(calibration="bcts", smoothing=1.0, **shared),
        "OSLD": hc.OSLD(calibration="bcts", **shared),
        "KDEyML": hc.KDEyML(**shared),
        "EDy (emd)": hc.EDy(distance="emd", **shared),
        "PDFOrd": hc.PDFOrd(**shared),
        "EDyMAP": hc.EDyMAP(**shared),
        "EDy (emd), cuts": hc.EDy(distance="emd", **cuts),
        "EDyMAP, cuts": hc.EDyMAP(**cuts),
    }


def one_draw(X: Any, stars: Any, quarter: Any, size: int, scheme: str, draw: int) -> dict[str, float]:
    """Return the error of each method, fitted on new labels."""
    generator = np.random.default_rng([SEED, size, SCHEMES.index(scheme), draw])
    labelled = SCHEME_ROWS[scheme](stars, size, generator)
    rest = np.setdiff1d(np.arange(len(stars)), labelled)
    pool, y = X[rest], stars[rest]
    names, groups = np.unique(quarter[rest], return_inverse=True)
    lists = [np.flatnonzero(groups == g) for g in range(len(names))]
    lists = [rows for rows in lists if len(rows) >= LEAST]
    samples = hc.Samples.from_lists(lists)
    true = np.stack([np.bincount(y[rows] - 1, minlength=5) / len(rows) for rows in lists])
    fits, errors, scored = Fits(X[labelled], stars[labelled], FitCache()), {}, {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, quantifier in settings(draw).items():
            quantifier.fit_through(fits)
            key = ("cuts" in name, "PCC" in name)
            if key not in scored:
                scored[key] = quantifier.outputs(pool, needs=("posteriors",))
            errors[name] = float(nmd(true, quantifier.aggregate(scored[key], samples)).mean())
    return errors


def of_each_class(stars: Any, size: int, generator: Any) -> Any:
    """Return rows of this many reviews of each star."""
    return np.concatenate([generator.choice(np.flatnonzero(stars == s), size, replace=False) for s in STARS])


def at_random(stars: Any, size: int, generator: Any) -> Any:
    """Return rows of five times as many reviews, drawn again until there are two of each star."""
    while True:
        rows = generator.choice(len(stars), 5 * size, replace=False)
        if np.bincount(stars[rows] - 1, minlength=5).min() >= 2:
            return rows


SCHEME_ROWS: dict[str, Callable[[Any, int, Any], Any]] = {"by class": of_each_class, "at random": at_random}
SCHEMES = list(SCHEME_ROWS)


def page(errors: pd.DataFrame, n_reviews: int, n_quarters: int, minutes: float) -> str:
    """Return the tables in Markdown."""
    draws = errors["draw"].nunique()
    lines = [
        "# Stars by quarter",
        "",
        f"Written by `python studies/stars_by_quarter.py`: {n_reviews:,} reviews, {n_quarters} quarters, {draws} draws of labels, "
        f"seed {SEED}, headcount {hc.__version__}, scikit-learn {sklearn.__version__}; {minutes:.1f} minutes.",
        "",
        *(__doc__ or "").split("\n\n")[2].splitlines(),
        "",
        "Mean NMD ± Monte Carlo error over draws; below it the paired difference to PCC. 'Cuts' are `FrankHall` over the "
        "classifier.",
    ]
    for scheme in SCHEMES:
        part = errors[errors["scheme"] == scheme]
        sizes = sorted(part["size"].unique())
        unit = "labels of each star" if scheme == "by class" else "labels for each star on average"
        lines += ["", f"## Labels {scheme}", "", "| method | " + " | ".join(f"{n} {unit}" for n in sizes) + " |"]
        lines.append("|---" * (len(sizes) + 1) + "|")
        for method in part["method"].unique():
            cells, paired = [], []
            for n in sizes:
                wide = part[part["size"] == n].pivot_table(index="draw", columns="method", values="nmd")
                off = wide[method] - wide["PCC"]
                cells.append(f"{wide[method].mean():.4f} ± {wide[method].std() / np.sqrt(len(wide)):.4f}")
                paired.append(f"{off.mean():+.4f} ± {off.std() / np.sqrt(len(off)):.4f}")
            lines.append(f"| {method} | " + " | ".join(cells) + " |")
            if method != "PCC":
                lines.append("| | " + " | ".join(paired) + " |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Draw labels, fit, estimate and write the page; draws that the CSV has are not computed again."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--draws", type=int, default=30)
    parser.add_argument("--out", default=str(Path(__file__).parent / "stars-by-quarter"))
    asked = parser.parse_args()
    if "HEADCOUNT_DATA" not in os.environ:
        sys.exit("Set HEADCOUNT_DATA to the folder that holds amazon_devices.")
    table = pd.read_csv(Path(os.environ["HEADCOUNT_DATA"]) / "amazon_devices" / "all.tsv.gz", sep="\t", quoting=3)
    table = table[table["date"].notna() & table["stars"].isin(STARS)]
    texts = (table["title"].fillna("") + " " + table["text"].fillna("")).tolist()
    X = HashingVectorizer(n_features=2**15, alternate_sign=False, norm=None, dtype=np.float64).transform(texts)
    stars = table["stars"].to_numpy(np.int64)
    quarter = pd.to_datetime(table["date"]).dt.to_period("Q").astype(str).to_numpy()
    path = Path(f"{asked.out}.csv")
    rows = pd.read_csv(path).to_dict("records") if path.exists() else []
    known = {(row["scheme"], row["size"], row["draw"]) for row in rows}
    began = time.monotonic()
    for draw in range(asked.draws):
        for scheme in SCHEMES:
            for size in SIZES:
                if (scheme, size, draw) in known:
                    continue
                found = one_draw(X, stars, quarter, size, scheme, draw)
                rows += [
                    {"scheme": scheme, "size": size, "draw": draw, "method": m, "nmd": e} for m, e in found.items()
                ]
        pd.DataFrame(rows).round(6).to_csv(path, index=False)
        print(f"\r{draw + 1} of {asked.draws} draws", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    n_quarters = int((pd.Series(quarter).value_counts() >= LEAST).sum())
    text = page(pd.DataFrame(rows), len(stars), n_quarters, (time.monotonic() - began) / 60.0)
    Path(f"{asked.out}.md").write_text(text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
