"""Coverage of intervals of ordered classes: of the mean, of cumulative shares and of quantiles.

In each simulation labelled and new items are drawn anew, and classifier and quantifier are fitted anew. Items are points around the
middle of their class on a line, seen through three noisy features. Cumulative shares count one by one: a cell is the mean over the
thresholds, with the least and the most covered one. Methods over one classifier share its fits.

    python -m benchmarks.ordered_intervals [--classes 5] [--learner lr] [--simulations 400] [--labels 40] [--jobs -1]
"""

import argparse
import sys
import time
import warnings
from importlib.metadata import version
from typing import Any

import joblib
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB

from headcount import ACC, PACC, SLD, ACOrd, DMy, EDy, EDyMAP, PDFOrd, estimate
from headcount.learners import Fits, NewtonLogisticRegression

SEED = 25_1120
METHODS: dict[str, Any] = {
    "PACC": PACC,
    "ACC": ACC,
    "SLD": lambda classifier, **options: SLD(classifier, calibration="bcts", **options),
    "DMy": DMy,
    "EDy": EDy,
    "ACOrd": ACOrd,
    "PDFOrd": PDFOrd,
    "EDyMAP": EDyMAP,
}
_USUAL = "PACC,ACC,SLD,DMy,EDy"
LEARNERS: dict[str, Any] = {
    "lr": NewtonLogisticRegression,
    "nb": GaussianNB,
    "forest": lambda: RandomForestClassifier(50, min_samples_leaf=5, random_state=0, n_jobs=1),
}
QUANTILES = (0.25, 0.5, 0.9)
NEW_ITEMS = 500


def settings(k: int) -> dict[str, np.ndarray]:
    """Return class shares of the new items: even, skewed to one end, with an absent class, and all at one end."""
    skewed = 0.45 ** np.arange(k)
    absent = np.arange(1.0, k + 1.0)
    absent[k // 2] = 0.0
    ends = np.full(k, 0.0)
    ends[-2:] = 0.1, 0.9
    shares = {"even": np.ones(k), "skewed": skewed, "one absent": absent, "at one end": ends}
    return {name: p / p.sum() for name, p in shares.items()}


def draw(generator: np.random.Generator, y: np.ndarray, separation: float) -> np.ndarray:
    """Return three features of items: their class's place on a line with noise of their own."""
    return separation * y[:, None] * np.array([1.0, 0.6, 0.3]) + generator.standard_normal((len(y), 3))


def simulate(
    k: int, learner: str, methods: list[str], labels: int, separation: float, simulation: int
) -> list[tuple[Any, ...]]:
    """Return what each interval of one simulation held: method, setting, figure, whether it held the truth, its width."""
    generator = np.random.default_rng([SEED, k, labels, sorted(LEARNERS).index(learner), simulation])
    y = np.repeat(np.arange(k), labels)
    X = draw(generator, y, separation)
    fits = Fits(X, y, remember=True)
    fitted = {name: METHODS[name](LEARNERS[learner](), random_state=simulation).fit_through(fits) for name in methods}
    records: list[tuple[Any, ...]] = []
    for setting, shares in settings(k).items():
        y_new = generator.choice(k, NEW_ITEMS, p=shares)
        outputs = next(iter(fitted.values())).outputs(draw(generator, y_new, separation), {"decisions", "posteriors"})
        true = np.cumsum(shares)[:-1]
        for name, quantifier in fitted.items():
            answer = estimate(quantifier, outputs)
            mean, cumulative = answer.mean(), answer.cumulative
            truth = float(shares @ np.arange(k))
            records.append((name, setting, "mean", mean.low <= truth <= mean.high, mean.high - mean.low))
            held = (cumulative.low[:-1] <= true) & (true <= cumulative.high[:-1])
            for j in range(k - 1):
                width = cumulative.high[j] - cumulative.low[j]
                records.append((name, setting, f"at most {j}", bool(held[j]), float(width)))
            for q in QUANTILES:
                found = answer.quantile(q)
                place = int(np.argmax(np.cumsum(shares) >= q - 1e-12))
                records.append(
                    (name, setting, f"quantile {q}", found.low <= place <= found.high, found.high - found.low)
                )
    return records


def coverage(records: list[tuple[Any, ...]], simulations: int) -> list[dict[str, Any]]:
    """Return a row for each method and setting."""
    cells: dict[tuple[str, str], dict[str, list[tuple[bool, float]]]] = {}
    for name, setting, figure, held, width in records:
        cells.setdefault((name, setting), {}).setdefault(figure, []).append((held, width))
    rows = []
    for (name, setting), figures in cells.items():
        rates = {figure: np.mean([held for held, _ in entries]) for figure, entries in figures.items()}
        thresholds = {figure: rate for figure, rate in rates.items() if figure.startswith("at most")}
        quantiles = [rate for figure, rate in rates.items() if figure.startswith("quantile")]
        rows.append(
            {
                "method": name,
                "setting": setting,
                "mean": rates["mean"],
                "width": np.mean([width for _, width in figures["mean"]]),
                "cumulative": np.mean(list(thresholds.values())),
                "least": min(thresholds.values()),
                "most": max(thresholds.values()),
                "quantiles": np.mean(quantiles),
                "least quantile": min(quantiles),
                "error": np.sqrt(0.05 * 0.95 / simulations),
            }
        )
    return rows


def run(
    k: int = 5,
    learner: str = "lr",
    methods: list[str] | None = None,
    simulations: int = 400,
    labels: int = 40,
    separation: float = 1.0,
    jobs: int = 1,
) -> list[dict[str, Any]]:
    """Simulate one learner with a number of classes, and return coverages."""

    def one(simulation: int) -> list[tuple[Any, ...]]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of logistic regressions that did not converge
            return simulate(k, learner, methods or _USUAL.split(","), labels, separation, simulation)

    parts = joblib.Parallel(n_jobs=jobs)(joblib.delayed(one)(simulation) for simulation in range(simulations))
    return coverage([record for part in parts for record in part], simulations)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--classes", type=int, default=5)
    parser.add_argument("--learner", choices=sorted(LEARNERS), default="lr")
    parser.add_argument("--methods", default=_USUAL, help=f"of {', '.join(METHODS)}")
    parser.add_argument("--simulations", type=int, default=400)
    parser.add_argument("--labels", type=int, default=40, help="labelled items of each class")
    parser.add_argument("--separation", type=float, default=1.0)
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    start = time.perf_counter()
    rows = run(
        asked.classes,
        asked.learner,
        asked.methods.split(","),
        asked.simulations,
        asked.labels,
        asked.separation,
        asked.jobs,
    )
    versions = ", ".join(f"{name} {version(name)}" for name in ("headcount", "numpy", "scikit-learn"))
    print(
        f"{asked.classes} classes, {asked.learner}, {asked.labels} labelled items a class, {NEW_ITEMS} new items, separation "
        f"{asked.separation}, {asked.simulations} simulations, seed {SEED}, {versions}"
    )
    print(
        "\n| method | shares | mean | its width | cumulative (least, most) | quantiles (least) |\n|---|---|---:|---:|---:|---:|"
    )
    for row in rows:
        mean, least, most = f"{100 * row['mean']:.1f} | {row['width']:.2f}", 100 * row["least"], 100 * row["most"]
        cumulative = f"{100 * row['cumulative']:.1f} ({least:.1f}, {most:.1f})"
        quantiles = f"{100 * row['quantiles']:.1f} ({100 * row['least quantile']:.1f})"
        print(f"| {row['method']} | {row['setting']} | {mean} | {cumulative} | {quantiles} |")
    print(f"\nMonte Carlo error of one figure at 95 %: {100 * rows[0]['error']:.1f} points.")
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
