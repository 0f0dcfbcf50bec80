"""Labels of some new items that were drawn by a survey design: how often both answers hold, and false alarms of the test of both.

Only shares change, posteriors are ready (`benchmarks.design_worlds`). The same without the designs stands beside.

    python -m benchmarks.designs_labels --simulations 200
"""

import argparse
import platform
import warnings
from typing import Any

import numpy as np

import headcount
from benchmarks.design_worlds import Side, draw
from benchmarks.designs import METHODS, SEED
from headcount import estimate

LABELS = 120
SETTINGS = {
    "clusters of 2, correlation 0.5": Side(150, 2, 0.5),
    "clusters of 5, correlation 0.2": Side(60, 5, 0.2),
    "clusters of 10, correlation 0.5": Side(60, 10, 0.5),
    "weights 1:4 informative": Side(1600, weights="informative"),
    "weights 1:4 informative, clusters of 5, correlation 0.5": Side(160, 5, 0.5, "informative"),
    "4 strata, clusters of 5, correlation 0.5": Side(160, 5, 0.5, strata=True),
}
ANSWERS = ("design_based", "label_shift")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--methods", default="PACC,SLD")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    versions = f"headcount {headcount.__version__}, numpy {np.__version__}, Python {platform.python_version()}"
    print(f"Seed {SEED}; {versions}. {LABELS} labels; 95 % intervals, widths in points; ± is the Monte Carlo error.\n")
    print(
        "| setting | method | simulations | design-based held, % | without the design | width | label shift held, % | "
        "without the design | width | false alarms, % | without the design |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for number, (title, side) in enumerate(SETTINGS.items()):
        generator = np.random.default_rng([SEED, number])
        rows: dict[str, list[Any]] = {name: [] for name in asked.methods.split(",")}
        for _ in range(asked.simulations):
            labelled = draw(generator, side, [0.5, 0.5], "labelled")
            new = draw(generator, side, [0.7, 0.3], "new")
            chosen = generator.choice(len(new.y), LABELS, replace=False)
            labels, outputs, share = (chosen, new.y[chosen]), new.outputs(), new.shares[1]
            for name, row in rows.items():
                figures: list[Any] = []
                for designs in ((labelled.design, new.design), (None, None)):
                    quantifier = METHODS[name]().fit(labelled.outputs(), labelled.y, design=designs[0])
                    answer = estimate(quantifier, outputs, labels=labels, design=designs[1])
                    for one in (getattr(answer, kind) for kind in ANSWERS):
                        figures += [one.low[1] <= share <= one.high[1], one.high[1] - one.low[1]]
                    figures.append(answer.contradiction.p_value[0] < 0.05)
                row.append(figures)
        for name, row in rows.items():
            means = np.mean(np.array(row, dtype=float), axis=0)
            errors = 100.0 * np.sqrt(np.maximum(means * (1.0 - means), 0.0025) / len(row))
            design, _, shift, _, alarm = (
                f"{100 * m:.1f} ± {e:.1f}" for m, e in list(zip(means, errors, strict=True))[:5]
            )
            plain = [f"{100 * m:.1f}" for m in means]
            print(
                f"| {title} | {name} | {len(row)} | {design} | {plain[5]} | {plain[1]} | {shift} | {plain[7]} | {plain[3]} | "
                f"{alarm} | {plain[9]} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
