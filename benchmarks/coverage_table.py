"""How often intervals hold the truth: a table by simulation, written to docs/coverage.md by `make coverage-table`.

Scores come from unit Gaussians, one a class, whose centres are 2 apart; the classifier's posteriors are the true ones under equal
shares, except for "SLD, calibrating": there they are three times too sure and biased, and SLD(calibration="bcts") corrects that.
Each simulation draws new labelled items (equally many of each class), fits the method on them, and draws a new target. For the
population, target items are drawn with the stated shares, and these are the truth; for the sample, the target has exactly these
shares.
"""

import argparse
import json
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.frozen import FrozenEstimator

import headcount as hc
from benchmarks.setting import ScoredAlready

SEED = 20261115
SHARES = {2: [(0.98, 0.02), (0.8, 0.2), (0.5, 0.5)], 3: [(0.02, 0.18, 0.8), (0.2, 0.3, 0.5)]}
LABELLED, TARGET = (200, 1000), (500, 2000)
METHODS = ("ACC", "PACC", "SLD", "SLD, calibrating")
CLAIMED = {("delta", "ACC"), ("delta", "PACC"), ("delta", "SLD")}
"""What is claimed to cover 93 to 97 % in every cell: the default intervals. The others are shown beside them."""


def posteriors(codes: Any, k: int, generator: np.random.Generator, separation: float = 2.0) -> Any:
    centres = separation * np.eye(k) / np.sqrt(2)
    scores = (centres[codes] + generator.standard_normal((len(codes), k))) @ centres.T
    P = np.exp(scores - scores.max(axis=1, keepdims=True))
    return P / P.sum(axis=1, keepdims=True)


def too_sure(codes: Any, k: int, generator: np.random.Generator) -> Any:
    P = posteriors(codes, k, generator) ** 3 * np.arange(1, k + 1)
    return P / P.sum(axis=1, keepdims=True)


def cell(
    name: str,
    how: str,
    estimand: str,
    n_labelled: int,
    n_target: int,
    shares: tuple[float, ...],
    simulations: int,
    replicates: int,
) -> list[float]:
    """Return the coverage of each class's interval, and the mean width of the last one's."""
    k = len(shares)
    generator = np.random.default_rng([SEED, n_labelled, n_target, round(1000 * shares[0]), k])
    labelled = np.arange(n_labelled) % k
    classifier = FrozenEstimator(ScoredAlready().fit(None, labelled))
    methods = {
        "ACC": hc.ACC(classifier),
        "PACC": hc.PACC(classifier),
        "SLD": hc.SLD(classifier, prior="uniform"),
        "SLD, calibrating": hc.SLD(classifier, calibration="bcts"),
    }
    scored = too_sure if name == "SLD, calibrating" else posteriors
    held, width = np.zeros(k), 0.0
    for simulation in range(simulations):
        q = methods[name].fit(scored(labelled, k, generator), labelled)
        if estimand == "population":
            target = generator.choice(k, n_target, p=shares)
        else:
            target = np.repeat(np.arange(k), np.round(np.array(shares) * n_target).astype(int))
        answer = hc.estimate(
            q,
            scored(target, k, generator),
            estimand=estimand,
            method=how,
            n_replicates=replicates,
            random_state=simulation,
        )
        held += (answer.low <= shares) & (shares <= answer.high)
        width += answer.high[-1] - answer.low[-1]
    return [*(held / simulations), width / simulations]


def computed(rows: list[Any], arguments: argparse.Namespace) -> list[list[float]]:
    """Return the figures of all cells; those in the file of cells are taken from there, the others are added to it."""
    keys = [json.dumps([*row, SEED, arguments.simulations, arguments.replicates]) for row in rows]
    known: dict[str, list[float]] = {}
    if arguments.cells and arguments.cells.is_file():
        known = dict(json.loads(line) for line in arguments.cells.read_text().splitlines())

    def one(i: int) -> tuple[int, list[float]]:
        return i, [float(figure) for figure in cell(*rows[i], arguments.simulations, arguments.replicates)]

    missing = [i for i, key in reversed(list(enumerate(keys))) if key not in known]
    parallel = joblib.Parallel(n_jobs=arguments.jobs, return_as="generator_unordered")
    for i, figures in parallel(joblib.delayed(one)(i) for i in missing):
        known[keys[i]] = figures
        if arguments.cells:
            with arguments.cells.open("a") as file:
                file.write(json.dumps([keys[i], figures]) + "\n")
    return [known[key] for key in keys]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=2000)
    parser.add_argument("--replicates", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cells", type=Path, help="a file to keep the figures of cells in, and to go on from")
    parser.add_argument("--out", type=Path, default=Path("docs/coverage.md"))
    arguments = parser.parse_args()
    start = time.time()
    rows = [
        (name, how, estimand, n_labelled, n_target, shares)
        for how in ("delta", "bootstrap")
        for estimand in ("population", "sample")
        for name in METHODS
        for k in (2, 3)
        for n_labelled in LABELLED
        for n_target in TARGET
        for shares in SHARES[k]
        if (how, name) != ("bootstrap", METHODS[-1])  # calibrating each replicate anew takes too long here
    ]
    results = computed(rows, arguments)
    error = 100 * np.sqrt(0.95 * 0.05 / arguments.simulations)
    lines = [
        "# How often the intervals hold the truth",
        "",
        f"Coverage in percent of nominal 95 % intervals, {arguments.simulations:,} simulations a cell (Monte Carlo standard error "
        f"{error:.2f}), made by `make coverage-table`: seed {SEED}, {arguments.replicates} bootstrap replicates, headcount "
        f"{hc.__version__}, numpy {version('numpy')}, scipy {version('scipy')}. For two classes that of their one interval; for "
        "three, of each class's. " + " ".join((__doc__ or "").split("\n\n")[1].split()),
        "",
        "HDy is refused: it is biased where labelled items are few. CC and PCC are refused unless `assume='no-shift'`.",
        "",
    ]
    lowest, highest, outside, claimed = 100.0, 0.0, [], []
    for how in ("delta", "bootstrap"):
        for estimand in ("population", "sample"):
            lines += [
                f"## {how}, {estimand}",
                "",
                "| labelled | target | shares | " + " | ".join(METHODS) + " |",
                "|---|---|---|" + "---|" * len(METHODS),
            ]
            table: dict[Any, dict[str, str]] = {}
            for row, result in zip(rows, results, strict=True):
                if row[1:3] == (how, estimand):
                    covered = [100 * c for c in (result[1:2] if len(row[5]) == 2 else result[:-1])]
                    lowest, highest = min(lowest, *covered), max(highest, *covered)
                    claimed += covered if (how, row[0]) in CLAIMED else []
                    if (how, row[0]) in CLAIMED and not 93.0 <= min(covered) <= max(covered) <= 97.0:
                        outside.append(f"{row}: {covered}")
                    table.setdefault(row[3:], {})[row[0]] = " / ".join(f"{c:.1f}" for c in covered)
            for (n_labelled, n_target, shares), by_method in table.items():
                cells = " | ".join(by_method.get(name, "–") for name in METHODS)
                lines.append(f"| {n_labelled:,} | {n_target:,} | {', '.join(map(str, shares))} | {cells} |")
            lines.append("")
    lines.append(
        f"All cells lie between {lowest:.1f} and {highest:.1f}; those of the default intervals (delta) of ACC, PACC and SLD "
        f"between {min(claimed):.2f} and {max(claimed):.2f}."
    )
    arguments.out.parent.mkdir(exist_ok=True)
    arguments.out.write_text("\n".join(lines) + "\n")
    print(f"{lines[-1]} Written to {arguments.out} in {time.time() - start:.0f} s.", file=sys.stderr)
    if outside:
        sys.exit("\n".join(["These lie outside what is claimed:", *outside]))


if __name__ == "__main__":
    main()
