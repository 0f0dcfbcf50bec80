"""False alarms and power of the check under clusters: everything drawn anew, the classifier fitted anew in five folds.

Rows of one cluster share features and class (`benchmarks.design_worlds`). Without a change a verdict other than "trust" is a false
alarm; with it, a class that was never seen makes up a part of the new items. The check without the design stands beside.

    python -m benchmarks.designs_check --simulations 200
"""

import argparse
import platform
import warnings
from typing import Any

import numpy as np

import headcount
from benchmarks.design_worlds import Side, draw
from benchmarks.designs import LEARNERS, SEED
from headcount import PACC
from headcount.checks import check

UNSEEN = 0.25
"""Part of the new clusters that are of a class never seen, where something has changed."""


def one(generator: Any, learner: str, size: int, correlation: float, changed: bool) -> list[bool]:
    """Return whether the verdict is another than "trust", with the design and without it."""
    side = Side(80, size, correlation)
    labelled = draw(generator, side, [0.5, 0.5], "labelled", wide=True)
    new = draw(generator, side, [0.7, 0.3], "new", wide=True)
    X = new.X.copy()
    if changed:
        unseen = np.isin(new.design.clusters, np.arange(round(UNSEEN * side.clusters)))
        X[unseen] += np.array([0.0, 3.0, 0.0])
    alarms = []
    for with_design in (True, False):
        quantifier = PACC(LEARNERS[learner](), random_state=0)
        quantifier.fit(labelled.X, labelled.y, design=labelled.design if with_design else None)
        report = check(quantifier, X, design=new.design if with_design else None)
        alarms.append(report.verdict != "trust")
    return alarms


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--learners", default=",".join(LEARNERS))
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    versions = f"headcount {headcount.__version__}, numpy {np.__version__}, Python {platform.python_version()}"
    print(f"Seed {SEED}; {versions}. 80 clusters a side; alarms in %, with the Monte Carlo error.\n")
    print(
        "| learner | clusters | correlation | simulations | false alarms | without the design | found | without the design |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for learner in asked.learners.split(","):
        for size, correlation in ((2, 0.5), (5, 0.2), (5, 0.5), (10, 0.2), (10, 0.5)):
            generator = np.random.default_rng([SEED, size, round(10 * correlation), len(learner)])
            rows = [
                one(generator, learner, size, correlation, False) + one(generator, learner, size, correlation, True)
                for _ in range(asked.simulations)
            ]
            share = np.mean(rows, axis=0)
            error = np.sqrt(np.maximum(share * (1.0 - share), 0.0025) / len(rows))
            told = " | ".join(f"{100 * p:.1f} ± {100 * e:.1f}" for p, e in zip(share, error, strict=True))
            print(f"| {learner} | of {size} | {correlation} | {len(rows)} | {told} |", flush=True)


if __name__ == "__main__":
    main()
