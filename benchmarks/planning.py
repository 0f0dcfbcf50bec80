"""Promised and achieved half-widths of `headcount plan`, its coverage, and what unequal probabilities save.

``python -m benchmarks.planning [simulations] [part of a task's name]``, with the real data sets in the folder HEADCOUNT_DATA.

Each simulation draws the labelled items of the source and the target anew, plans labels for a half-width, draws and labels them,
and estimates the target's shares with `assisted_shares`. Beside it as many labels are drawn evenly. Two ways: the plan rests on the
model alone, or on a first round of 50 labels of the target drawn by the model alone, after which the rest is planned. Half-widths
are those of the class with the widest interval; coverage is the mean over classes with at least 5 % of the items.
"""

import gzip
import os
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from headcount import PACC, estimate
from headcount.desk.label_plan import plan_group
from headcount.learners import BlackBox
from headcount.model_assisted import assisted_shares
from headcount.planning import FirstRound
from headcount.planning.residuals import moved_posteriors

Array = Any
FIRST_LABELS, SOURCE, TARGET, SEED = 50, 1_500, 4_000, 23


@dataclass(frozen=True)
class Task:
    """Posteriors and classes of source and target items; a judge's answers are posteriors of 0 and 1."""

    name: str
    source: tuple[Array, Array]
    target: tuple[Array, Array]
    half_widths: tuple[float, ...]
    drifted: bool
    same_pool: bool = False
    shares: tuple[float, ...] = ()


def _folder() -> Path:
    return Path(os.environ.get("HEADCOUNT_DATA", "shared/data"))


@lru_cache
def _texts(name: str) -> tuple[Array, list[str]]:
    with gzip.open(_folder() / name, "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").partition("\t") for line in file]
    codes, _ = pd.factorize(np.array([label for label, _, _ in rows]), sort=True)
    return codes, [text for _, _, text in rows]


def _classifier(y: Array, X: Array) -> Any:
    return LogisticRegression(C=3.0, max_iter=400).fit(X, y)


def text_tasks() -> Iterator[Task]:
    """Reviews: a model of films on films, on Kindle readers and on devices, and models of their own."""
    y, texts = _texts("imdb/train.txt.gz")
    terms = TfidfVectorizer(min_df=5, sublinear_tf=True, max_features=30_000)
    X = terms.fit_transform(texts)
    order = np.random.default_rng(0).permutation(len(y))
    model = _classifier(y[order[:12_500]], X[order[:12_500]])
    source = model.predict_proba(X[order[12_500:]]), y[order[12_500:]]
    y_test, texts = _texts("imdb/test.txt.gz")
    films = model.predict_proba(terms.transform(texts)), y_test
    yield Task("imdb on imdb", source, films, (0.03, 0.06), False)
    yield Task("imdb on imdb, a tenth positive", source, films, (0.02, 0.04), False, shares=(0.9, 0.1))
    y_test, texts = _texts("kindle_devices/test.txt.gz")
    yield Task(
        "imdb on kindle_devices", source, (model.predict_proba(terms.transform(texts)), y_test), (0.03, 0.05), True
    )
    frame = pd.read_csv(_folder() / "amazon_devices/all.tsv.gz", sep="\t", quoting=3)
    frame = frame[(frame.stars != 3) & frame.text.notna()]
    devices = model.predict_proba(terms.transform(frame.text)), (frame.stars > 3).astype(int).to_numpy()
    dates = pd.to_datetime(frame.date)
    quarter = np.array([f"{date.year}Q{date.quarter}" for date in dates])
    names, counts = np.unique(quarter, return_counts=True)
    for name in names[counts >= 400][::3]:
        rows = quarter == name
        yield Task(f"imdb on amazon_devices {name}", source, (devices[0][rows], devices[1][rows]), (0.025,), True)
    for name, half_widths in (
        ("kindle_devices", (0.02, 0.03, 0.05)),
        ("amazon_categories", (0.025, 0.04)),
        ("trec6", (0.04,)),
    ):
        (y, texts), (y_test, new) = _texts(f"{name}/train.txt.gz"), _texts(f"{name}/test.txt.gz")
        terms = TfidfVectorizer(min_df=2, sublinear_tf=True)
        X = terms.fit_transform(texts)
        P = cross_val_predict(LogisticRegression(C=5.0, max_iter=400), X, y, cv=5, method="predict_proba")
        model = LogisticRegression(C=5.0, max_iter=400).fit(X, y)
        yield Task(name, (P, y), (model.predict_proba(terms.transform(new)), y_test), half_widths, False)


def judge_tasks() -> Iterator[Task]:
    """Answers of one language model to items of which a third is labelled beforehand."""
    for name, judge in (
        ("stance", "text-davinci-003"),
        ("politeness", "flan-t5-xxl"),
        ("emotion", "flan-ul2"),
        ("figurative", "text-davinci-003"),
        ("tempowic", "flan-t5-xxl"),
        ("discourse", "text-davinci-003"),
    ):
        frame = pd.read_csv(_folder() / f"judges/{name}.csv", dtype=str, keep_default_na=False)
        judge = next((c for c in frame.columns if c.lower() == judge), frame.columns[-1])
        labels = sorted(set(frame.gold))
        codes = np.searchsorted(labels, frame.gold)
        answers = pd.Categorical(frame[judge], labels).codes
        P = np.where(answers[:, None] >= 0, np.eye(len(labels))[answers], 1.0 / len(labels))
        yield Task(f"judges {name}, {judge}", (P, codes), (P, codes), (0.06,), False, same_pool=True)


def _drawn(task: Task, generator: np.random.Generator) -> tuple[Array, Array, Array, Array]:
    """Return posteriors and classes of source items and of target items."""
    P, y = task.target
    if task.same_pool:
        order = generator.permutation(len(y))
        part = len(y) // 3
        if len(np.unique(y[order[:part]])) < P.shape[1]:
            return _drawn(task, generator)
        return P[order[:part]], y[order[:part]], P[order[part:]], y[order[part:]]
    P_source, y_source = task.source
    rows = generator.permutation(len(y_source))[:SOURCE]
    if task.shares:
        counts = (TARGET * np.array(task.shares)).astype(int)
        new = np.concatenate([generator.choice(np.flatnonzero(y == j), c, replace=False) for j, c in enumerate(counts)])
    else:
        new = generator.permutation(len(y))[:TARGET]
    return P_source[rows], y_source[rows], P[new], y[new]


def _pacc(P_source: Array, y_source: Array, P: Array) -> tuple[Array, Array]:
    """Return the shares by PACC and their standard errors."""
    classes = tuple(range(P.shape[1]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # judges that do not tell all classes apart
        quantifier = PACC(FrozenEstimator(BlackBox(classes, ()).fit())).fit(P_source, y_source)
        answer = estimate(quantifier, P, estimand="sample")
    return answer.shares, (answer.high - answer.low) / 3.92


def simulate(task: Task, half_width: float, rounds: int, seed: int) -> dict[str, Any]:
    """Run one simulation, and return what was promised and achieved."""
    generator = np.random.default_rng([SEED, zlib.crc32(task.name.encode()), round(1e4 * half_width), rounds, seed])
    P_source, y_source, P, y = _drawn(task, generator)
    k, n_items = P.shape[1], len(y)
    shares, errors = _pacc(P_source, y_source, P)
    prior = np.bincount(y_source, minlength=k) / len(y_source)
    features = np.stack([moved_posteriors(P, prior, 0.98 * shares + 0.02 / k), P], axis=1)
    truth = np.bincount(y, minlength=k) / n_items
    held_out = P_source, y_source
    settings: dict[str, Any] = {"finite_population": True, "random_state": generator}
    found: dict[str, Any] = {"truth": truth}
    for name, uniform in (("plan", False), ("even", True)):
        first, codes = None, None
        if rounds == 2:
            settings_first = settings | {"labels": FIRST_LABELS, "uniform": uniform}
            one, _ = plan_group(P, shares, errors, held_out, None, None, **settings_first)
            first, codes = FirstRound(one.rows, one.probabilities[one.rows]), y[one.rows]
        asked: dict[str, Any] = {"half_width": half_width} if name == "plan" else {"labels": found["plan"]["further"]}
        plan, _ = plan_group(P, shares, errors, held_out, first, codes, uniform=uniform, **asked, **settings)
        rows = np.sort(np.concatenate([plan.rows, *([] if first is None else [first.rows])]))
        answer = assisted_shares(
            y[rows], rows, features, k, probabilities=None if uniform and first is None else plan.probabilities
        )
        found[name] = {
            "further": plan.n_labels,
            "n": len(rows),
            "promised": plan.half_widths.max(),
            "achieved": (answer.high - answer.low).max() / 2.0,
            "held": (answer.low <= truth + 1e-12) & (truth - 1e-12 <= answer.high),
            "errors": ((answer.shares - truth) ** 2).sum(),
            "alone": (answer.high_alone - answer.low_alone).max() / 2.0,
        }
        if name == "plan":
            found["uniform_needs"] = (plan.labels_uniform or 0) + plan.n_labelled
    return found


def _row(task: Task, half_width: float, rounds: int, simulations: int) -> str:
    runs = [simulate(task, half_width, rounds, seed) for seed in range(simulations)]

    def mean(of: Callable[[dict[str, Any]], Any]) -> float:
        return float(np.mean([of(run) for run in runs]))

    shares = np.mean([run["truth"] for run in runs], axis=0)
    frequent = shares >= 0.05 if len(shares) > 2 else np.array([False, True])
    held = {name: np.mean([run[name]["held"] for run in runs], axis=0) for name in ("plan", "even")}
    coverage = {name: float(values[frequent].mean()) for name, values in held.items()}
    error = np.sqrt(0.95 * 0.05 / simulations)
    achieved, promised = mean(lambda r: r["plan"]["achieved"]), mean(lambda r: r["plan"]["promised"])
    spread = np.std([run["plan"]["achieved"] for run in runs]) / np.sqrt(simulations) / promised
    even = mean(lambda r: r["even"]["achieved"])
    return (
        f"{task.name:32s} {len(shares)} classes, ± {100 * half_width:g} points, {'first round' if rounds == 2 else 'model alone'}"
        f"{', drift' if task.drifted else ''}: labels {mean(lambda r: r['plan']['n']):.0f} "
        f"(evenly {mean(lambda r: r['uniform_needs']):.0f}); "
        f"promised {100 * promised:.2f}, achieved {100 * achieved:.2f}, ratio {achieved / promised:.3f} (± {spread:.3f}); coverage "
        f"{100 * coverage['plan']:.1f}, evenly {100 * coverage['even']:.1f} (± {100 * error:.1f}); against as many evenly drawn: "
        f"width {achieved / even:.3f}, labels by width {(achieved / even) ** 2:.2f}, squared error "
        f"{mean(lambda r: r['plan']['errors']) / mean(lambda r: r['even']['errors']):.2f}; against the labels alone: width "
        f"{achieved / mean(lambda r: r['even']['alone']):.2f}"
    )


def main() -> None:
    simulations = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    part = sys.argv[2] if len(sys.argv) > 2 else ""
    print(f"{simulations} simulations of each row, seed {SEED}; shares of exactly these items, level 95 %", flush=True)
    kinds = [judge_tasks] if part.startswith("judges") else [text_tasks, judge_tasks]
    tasks = [task for kind in kinds for task in kind() if part in task.name]
    jobs = [
        (task, w, rounds) for task in tasks for w in task.half_widths for rounds in ((2,) if task.drifted else (1, 2))
    ]
    for row in Parallel(n_jobs=2, return_as="generator")(delayed(_row)(*job, simulations) for job in jobs):
        print(row, flush=True)
    for task in tasks:  # what drift does to a plan that rests on the model alone
        if task.drifted:
            print(_row(task, task.half_widths[-1], 1, simulations), flush=True)


if __name__ == "__main__":
    main()
