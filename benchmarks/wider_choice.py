"""Whether `AutoQuantifier` gains from trying more methods than those it tries by default, on ten tables of two classes.

Each table is drawn again several times: 500 labelled items from its training part, groups of 200 items with other shares (uniform
over all shares) from its test part, the same for all lists of methods. The tables are found through the variable HEADCOUNT_DATA.

    OMP_NUM_THREADS=1 python -m benchmarks.wider_choice [--draws 5] [--add KDEyML,DMy,EDy]
"""

import argparse
import os
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.desk import GROUPS, ITEMS, TABLES, load
from benchmarks.setting import SEED, machine
from headcount.auto import AutoQuantifier
from headcount.protocols import UniformPrevalence
from headcount.quantifiers import list_methods

LABELLED = 500


def judged(methods: list[str], draw: int, parts: tuple[Any, Any, Any, Any]) -> tuple[float, float, str]:
    """Return the mean absolute error of what is chosen out of these methods, the processor seconds, and the method."""
    X, y, Z, z = parts
    rows = np.random.default_rng([SEED, draw]).permutation(len(y))[:LABELLED]
    groups, true = UniformPrevalence(GROUPS, sample_size=ITEMS, random_state=draw).draw(z, np.unique(y))
    began = time.process_time()
    auto = AutoQuantifier(methods, random_state=draw, n_jobs=1, progress=False).fit(X[rows], y[rows])
    seconds = time.process_time() - began
    kept = auto.best_estimator_
    return float(np.abs(kept.aggregate(kept.outputs(Z), groups) - true).mean()), seconds, type(kept).__name__


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument(
        "--add", default="KDEyML,DMy,EDy", help="methods that are added to the suggested ones, one at a time"
    )
    parser.add_argument("--sets", default=",".join(TABLES))
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    suggested = [method.name for method in list_methods() if method.suggested]
    lists = {"suggested": suggested, **{f"with {name}": [*suggested, name] for name in asked.add.split(",")}}
    results: dict[str, list[tuple[float, float, str]]] = {name: [] for name in lists}
    for table in asked.sets.split(","):
        parts = load(Path(os.environ["HEADCOUNT_DATA"]), table)
        for draw in range(asked.draws):
            for name, methods in lists.items():
                results[name].append(judged(methods, draw, parts))
    print(
        f"# {LABELLED} labelled items of {asked.sets.count(',') + 1} tables, {asked.draws} draws of each\n\n{machine()}\n"
    )
    print(
        "| methods | mean AE | difference (standard error) | processor seconds of a fit | kept |\n|---|---|---|---|---|"
    )
    before = np.array([ae for ae, _, _ in results["suggested"]])
    for name, rows in results.items():
        errors = np.array([ae for ae, _, _ in rows])
        change = errors - before
        kept = ", ".join(f"{method} {n}" for method, n in Counter(method for _, _, method in rows).most_common())
        print(
            f"| {name} | {errors.mean():.4f} | {change.mean():+.4f} ({change.std(ddof=1) / np.sqrt(len(change)):.4f}) "
            f"| {np.mean([seconds for _, seconds, _ in rows]):.2f} | {kept} |"
        )


if __name__ == "__main__":
    main()
