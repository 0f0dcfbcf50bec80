"""Corrected judges on 12 tasks, against the labels alone, ppi-python and truescore: `python -m benchmarks.judges`.

For each task 100 items are drawn at random as labelled by humans, again and again; the classes' shares among all items are the
truth. ppi-python 0.2.3 and truescore 0.7.4 are measured on the same draws where they are installed (``pip install
'headcount[bench]'``), class by class, as they take one judge and a yes or no.
"""

import argparse
import csv
import os
import platform
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from headcount.model_assisted import assisted_shares

LABELS, SEED, LEAST_SHARE = 100, 20, 0.05
COVERS = 0.93
"""Coverage from which a peer's interval of a cell (judge and class) counts in the comparison of widths."""


def read_task(task: str) -> tuple[Any, Any, list[str], list[str]]:
    """Return true classes, the judges' answers (the number of classes where there is none), classes and judges."""
    with Path(os.environ["HEADCOUNT_DATA"], "judges", f"{task}.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    classes = sorted({row["gold"] for row in rows})
    code = {name: j for j, name in enumerate(classes)}
    judges = [name for name in rows[0] if name not in ("item", "gold")]
    answers = np.array([[code.get(row[judge], len(classes)) for judge in judges] for row in rows])
    return np.array([code[row["gold"]] for row in rows]), answers, classes, judges


def tasks() -> list[str]:
    """Return the names of the tasks."""
    with Path(os.environ["HEADCOUNT_DATA"], "judges", "index.csv").open(encoding="utf-8") as file:
        return list(dict.fromkeys(row["task"] for row in csv.DictReader(file)))


def measure(task: str, repetitions: int, n_peers: int, n_labels: int) -> dict[str, Any]:
    """Return coverage, effective labels and widths of every judge of a task, and of all jointly."""
    y, answers, classes, judges = read_task(task)
    k, n_items = len(classes), len(y)
    truth = np.bincount(y, minlength=k) / n_items
    frequent = truth >= LEAST_SHARE
    one_hot = np.vstack([np.eye(k), np.zeros(k)])[answers]
    generator = np.random.default_rng([SEED, *task.encode()])
    draws = [generator.choice(n_items, n_labels, replace=False) for _ in range(repetitions)]
    columns = {judge: [j] for j, judge in enumerate(judges)} | {"all": list(range(len(judges)))}
    result: dict[str, Any] = {"task": task, "classes": k, "items": n_items, "judges": {}, "peers": {}}
    for name, chosen in columns.items():
        features = one_hot[:, chosen]
        errors, errors_alone, inside, width, width_alone = (np.zeros((repetitions, k)) for _ in range(5))
        for r, rows in enumerate(draws):
            answer = assisted_shares(y[rows], rows, features, k)
            errors[r], errors_alone[r] = answer.shares - truth, answer.shares_alone - truth
            inside[r] = (answer.low <= truth + 1e-12) & (truth - 1e-12 <= answer.high)
            width[r], width_alone[r] = answer.high - answer.low, answer.high_alone - answer.low_alone
        result["judges"][name] = {
            "effective": float(errors_alone.var(axis=0).sum() / errors.var(axis=0).sum()),
            "coverage": inside.mean(axis=0)[frequent].tolist(),
            "width": width.mean(axis=0)[frequent].tolist(),
            "width_alone": float(width_alone[:, frequent].mean()),
            "bias": float(np.abs(errors.mean(axis=0)).max()),
            "width_first": width[:n_peers].mean(axis=0)[frequent].tolist(),
        }
    for title, interval in peers().items():
        result["peers"][title] = {}
        for j, name in enumerate(judges):
            inside, width = (np.zeros((n_peers, int(frequent.sum()))) for _ in range(2))
            for r, rows in enumerate(draws[:n_peers]):
                for c, one in enumerate(np.flatnonzero(frequent)):
                    low, high = interval(y == one, answers[:, j] == one, rows)
                    inside[r, c] = low <= truth[one] + 1e-12 and truth[one] - 1e-12 <= high
                    width[r, c] = high - low
            cells = {"coverage": inside.mean(axis=0).tolist(), "width": width.mean(axis=0).tolist()}
            result["peers"][title][name] = cells
    return result


def peers() -> dict[str, Any]:
    """Return the intervals of the peers that are installed, as functions of truth, answers and labelled rows of one class."""
    found: dict[str, Any] = {}
    try:
        from ppi_py import ppi_mean_ci
    except ModuleNotFoundError:
        pass
    else:

        def of_ppi(y: Any, judged: Any, rows: Any) -> tuple[float, float]:
            rest = np.delete(judged, rows).astype(float)
            low, high = ppi_mean_ci(y[rows].astype(float), judged[rows].astype(float), rest, alpha=0.05)
            return float(low[0]), float(high[0])

        found["ppi-python"] = of_ppi
    try:
        from truescore import ppi_estimate
    except ModuleNotFoundError:
        pass
    else:

        def of_truescore(y: Any, judged: Any, rows: Any) -> tuple[float, float]:
            answer = ppi_estimate(judged.astype(float), y[rows].astype(float), rows, alpha=0.05)
            return float(answer.low), float(answer.high)

        found["truescore"] = of_truescore
    return found


def _report(results: list[dict[str, Any]]) -> None:
    """Print a row for each task, then the widths against the peers."""
    print(
        "| task | classes | items | coverage | lowest cell | effective labels: single judges | all | all / best |",
        end="",
    )
    print(" width / labels alone: all |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    ratios = []
    for result in results:
        judges = result["judges"]
        coverage = np.array([one["coverage"] for one in judges.values()])
        single = [one["effective"] for name, one in judges.items() if name != "all"]
        joint = judges["all"]
        ratios.append(joint["effective"] / max(single))
        print(
            f"| {result['task']} | {result['classes']} | {result['items']} | {100 * coverage.mean():.1f} % | "
            f"{100 * coverage.min():.1f} % | {min(single):.2f} to {max(single):.2f} | {joint['effective']:.2f} | "
            f"{ratios[-1]:.2f} | {np.mean(joint['width']) / joint['width_alone']:.2f} |"
        )
    print(f"\nAll / best single judge: median {np.median(ratios):.3f}, lowest {min(ratios):.3f}.")
    for title in results[0]["peers"]:
        print(
            f"\n{title}, single judges: task, its coverage (mean, lowest cell), ours on the same cells; cells where it covers at"
        )
        print(f"least {100 * COVERS:g} %, and the ratio of mean widths there (ours / its), and over all cells")
        ours_all, theirs_all = [], []
        for result in results:
            cells = [
                (theirs, width, own, own_width)
                for name, one in result["peers"][title].items()
                for theirs, width, own, own_width in zip(
                    one["coverage"],
                    one["width"],
                    result["judges"][name]["coverage"],
                    result["judges"][name]["width_first"],
                    strict=True,
                )
            ]
            table = np.array(cells)
            finite = ~np.isnan(table[:, 1])  # ppi-python has no interval with a constant judge
            held = (table[:, 0] >= COVERS) & finite
            ours_all += table[held, 3].tolist()
            theirs_all += table[held, 1].tolist()
            ratio = table[held, 3].mean() / table[held, 1].mean() if held.any() else np.nan
            print(
                f"| {result['task']} | {100 * table[:, 0].mean():.1f} % | {100 * table[:, 0].min():.1f} % | "
                f"{100 * table[:, 2].mean():.1f} % | {int(held.sum())} of {len(table)} | {ratio:.3f} | "
                f"{table[finite, 3].mean() / table[finite, 1].mean():.3f} |"
            )
        print(f"All cells where it covers: {np.mean(ours_all) / np.mean(theirs_all):.3f}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repetitions", type=int, default=2000)
    parser.add_argument("--peers", type=int, default=500, help="repetitions in which the peers are measured")
    parser.add_argument("--labels", type=int, default=LABELS)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--tasks", default="")
    given = parser.parse_args()
    chosen = given.tasks.split(",") if given.tasks else tasks()
    arguments = [(task, given.repetitions, min(given.peers, given.repetitions), given.labels) for task in chosen]
    with ProcessPoolExecutor(given.processes) as executor:
        results = list(executor.map(measure, *zip(*arguments, strict=True)))
    _report(results)
    deviation = 100 * np.sqrt(0.95 * 0.05 / given.repetitions)
    print(
        f"\n{given.repetitions:,} repetitions of {given.labels} labels (peers: the first {arguments[0][2]:,}), seed {SEED}; ",
        end="",
    )
    print(
        f"standard error of a cell's coverage {deviation:.2f} points. Python {platform.python_version()}, numpy {np.__version__}"
    )


if __name__ == "__main__":
    main()
