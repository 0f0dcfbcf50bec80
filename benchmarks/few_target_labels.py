"""Labels of some target items: coverage and width of both answers, false alarms and power of the test, by simulation.

    python -m benchmarks.few_target_labels drift --draws 40          # a model of film reviews on reviews of devices
    python -m benchmarks.few_target_labels design --draws 60         # the same, the design-based answer alone
    python -m benchmarks.few_target_labels shift --simulations 400   # only shares change; everything is fitted anew
    python -m benchmarks.few_target_labels power --simulations 300   # drift of known size

Texts are those of the folder HEADCOUNT_DATA. Each line prints means over classes and groups, and the Monte
Carlo error of a coverage.
"""

import argparse
import csv
import gzip
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import headcount as hc
from benchmarks.setting import machine
from headcount.data import load_set
from headcount.data.sets import data_folder
from headcount.intervals.target_labels.design_based import predictors
from headcount.model_assisted import assisted_shares

LEAST_GROUP = 300
"""Items of a quarter at least."""
BLOCK = 600
"""Items of a group of kindle_devices, which has no dates."""


@dataclass
class Score:
    """Coverage, width and p-values over simulations."""

    held: dict[str, list[Any]] = field(default_factory=dict)
    width: dict[str, list[Any]] = field(default_factory=dict)
    p: list[float] = field(default_factory=list)
    detectable: list[float] = field(default_factory=list)

    def add(self, name: str, low: Any, high: Any, truth: Any) -> None:
        self.held.setdefault(name, []).append(((low <= truth + 1e-12) & (truth - 1e-12 <= high)).mean(axis=-1).ravel())
        self.width.setdefault(name, []).append((high - low).mean(axis=-1).ravel())

    def add_answer(self, answer: Any, truth: Any) -> None:
        self.add("design-based", answer.low, answer.high, truth)
        alone = [a for a in answer.assisted if a is not None]
        if len(alone) == len(answer.assisted):
            low, high = (np.array([getattr(a, f"{end}_alone") for a in alone]) for end in ("low", "high"))
            self.add("labels alone", low, high, truth)
        for name, one in (("pooled", answer.label_shift), ("source only", answer.source_only)):
            if one is not None:
                self.add(name, one.low, one.high, truth)
        if answer.contradiction is not None:
            self.p += answer.contradiction.p_value.tolist()
            self.detectable += answer.contradiction.detectable.mean(axis=1).tolist()

    def text(self) -> str:
        parts = []
        for name, held in self.held.items():
            values = np.concatenate(held)
            error = values.std() / np.sqrt(len(values))
            width = 100 * np.concatenate(self.width[name]).mean()
            parts.append(f"{name} held {100 * values.mean():.1f} (+-{100 * error:.1f}) width {width:.1f}")
        if self.p:
            p, reach = np.array(self.p), np.array(self.detectable)
            parts.append(
                f"p < .05 in {100 * (p < 0.05).mean():.1f} % of {len(p)}, found with 80 %: {100 * np.median(reach):.0f} points"
            )
        return "; ".join(parts)


# ------------------------------------------------------------------------------------------------------------------- drift


@cache
def film_model(method: str, learner: str, seed: int, n_source: int) -> Any:
    train = load_set("imdb")[0]
    rows = np.random.default_rng(seed).permutation(len(train.labels))[:n_source]
    classifier = {"lr": LogisticRegression(max_iter=300), "nb": MultinomialNB()}[learner]
    pipeline = make_pipeline(hc.LogTfidf(), classifier)
    quantifier = {
        "SLD": hc.SLD(pipeline, calibration="bcts", random_state=seed),
        "PACC": hc.PACC(pipeline, random_state=seed),
    }[method]
    return quantifier.fit([train.items[i] for i in rows], train.labels[rows])


@cache
def device_reviews() -> tuple[list[str], Any, list[Any]]:
    """Return texts, labels and quarters of amazon_devices, without three stars."""
    with gzip.open(Path(data_folder()) / "amazon_devices" / "all.tsv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    rows = [row for row in rows if row["stars"] in ("1", "2", "4", "5") and row["text"] and len(row["date"]) == 10]
    quarters = [f"{row['date'][:4]}-Q{(int(row['date'][5:7]) + 2) // 3}" for row in rows]
    return [row["text"] for row in rows], np.array([int(row["stars"] > "3") for row in rows]), quarters


def drifted_groups(seed: int) -> dict[str, tuple[Any, Any, list[Any]]]:
    """Return texts, labels and groups of both sets: quarters, and blocks with 40 to 98 % positive reviews."""
    texts, y, quarters = device_reviews()
    kindle = load_set("kindle_devices")[1]
    generator = np.random.default_rng(seed)
    by_class = [np.flatnonzero(kindle.labels == c) for c in (0, 1)]
    blocks = []
    for share in np.linspace(0.4, 0.98, 12):
        sizes = BLOCK - round(share * BLOCK), round(share * BLOCK)
        blocks.append(
            np.concatenate([generator.choice(rows, n, False) for rows, n in zip(by_class, sizes, strict=True)])
        )
    large = [rows for rows in hc.Samples.from_groups(quarters) if len(rows) >= LEAST_GROUP]
    return {"amazon_devices": (texts, y, large), "kindle_devices": (kindle.items, kindle.labels, blocks)}


def design(args: Any) -> None:
    """Coverage and width of the design-based answer for the shares of the groups themselves, and of the labels alone."""
    for method, learner in (("SLD", "lr"), ("PACC", "nb")):
        model = film_model(method, learner, 0, args.source)
        for name, (items, labels, groups) in drifted_groups(args.seed).items():
            outputs = model.outputs(list(items))
            given = []
            for rows in groups:
                part = outputs.take(np.asarray(rows))
                given.append((predictors(model, part, model.aggregate(part)[0]), labels[rows].astype(int)))
            for n in (20, 50, 100):
                score = Score()
                for F, y in given:
                    truth = np.array([1 - y.mean(), y.mean()])
                    for draw in range(args.draws):
                        rows = np.random.default_rng([draw, n, len(y)]).choice(len(y), n, replace=False)
                        answer = assisted_shares(y[rows], rows, F, 2, finite_population=True)
                        score.add("design-based", answer.low, answer.high, truth)
                        score.add("labels alone", answer.low_alone, answer.high_alone, truth)
                print(f"{name}, {len(groups)} groups, {method}/{learner}, {n} labels: {score.text()}", flush=True)


def drift(args: Any) -> None:
    targets = drifted_groups(args.seed)
    for method, learner in (("SLD", "lr"), ("PACC", "nb")):
        for seed in range(args.models):
            model = film_model(method, learner, seed, args.source)
            for name, (items, labels, groups) in targets.items():
                samples = hc.Samples.from_lists(groups)
                outputs = model.outputs(list(items))
                right = (outputs.posteriors.argmax(axis=1) == labels).mean()
                truth = np.array([[1 - labels[rows].mean(), labels[rows].mean()] for rows in samples])
                for n in (20, 50, 100):
                    for estimand in ("sample", "population"):
                        score, start = Score(), time.process_time()
                        for draw in range(args.draws):
                            one = np.random.default_rng([args.seed, seed, n, draw])
                            # A population is the group itself, of which items are drawn with replacement.
                            lists = (
                                [one.choice(rows, len(rows)) for rows in samples]
                                if estimand == "population"
                                else list(samples)
                            )
                            flat = np.concatenate(lists)
                            chosen = hc.Samples(
                                np.arange(len(flat)), np.append(0, np.cumsum([len(rows) for rows in lists]))
                            )
                            labelled = np.concatenate([one.choice(rows, n, replace=False) for rows in chosen])
                            some = np.full(len(flat), None, dtype=object)
                            some[labelled] = labels[flat][labelled]
                            answer = hc.estimate(model, outputs.take(flat), chosen, labels=some, estimand=estimand)
                            score.add_answer(answer, truth)
                        print(
                            f"{name}, {len(samples)} groups, {method}/{learner}, seed {seed}, {args.source} source labels, "
                            f"{100 * right:.0f} % right, "
                            f"{n} labels, {estimand}: {score.text()} ({time.process_time() - start:.0f} s)",
                            flush=True,
                        )


# ------------------------------------------------------------------------------------------------------------- label shift


@cache
def film_features() -> tuple[Any, Any]:
    """Return features and labels of reviews of both parts: their films differ, so that between them more than shares changes."""
    train, test = load_set("imdb")
    items, labels = [*train.items, *test.items], np.concatenate([train.labels, test.labels])
    rows = np.random.default_rng(0).permutation(len(labels))[:15_000]
    return hc.LogTfidf().fit_transform([items[i] for i in rows]), labels[rows]


@cache
def question_features() -> tuple[Any, Any]:
    train, test = load_set("trec6")
    items = [*train.items, *test.items]
    return hc.LogTfidf().fit_transform(items), np.concatenate([train.labels, test.labels])


World = Callable[[np.random.Generator, int, int, Any], tuple[Any, Any, Any, Any]]
"""Source items and labels, target items and labels, for numbers of items and target shares."""


def films(generator: np.random.Generator, n_source: int, n: int, shares: Any) -> tuple[Any, Any, Any, Any]:
    X, y = film_features()
    order = generator.permutation(len(y))
    source, rest = order[:n_source], order[n_source:]
    codes = generator.choice(2, n, p=shares)
    rows = np.empty(n, dtype=np.int64)
    for j in (0, 1):
        rows[codes == j] = rest[y[rest] == j][: int((codes == j).sum())]
    return X[source], y[source], X[rows], y[rows]


def questions(generator: np.random.Generator, n_source: int, n: int, shares: Any) -> tuple[Any, Any, Any, Any]:
    X, y = question_features()
    classes, codes = np.unique(y, return_inverse=True)
    order = generator.permutation(len(codes))
    source, rest = order[:n_source], order[n_source:]
    target = generator.choice(len(classes), n, p=shares)
    rows = np.concatenate(
        [generator.choice(rest[codes[rest] == j], int((target == j).sum())) for j in range(len(classes))]
    )
    return X[source], codes[source], X[rows], codes[rows]


def gaussians(k: int, apart: float) -> World:
    centres = np.random.default_rng(k).standard_normal((k, 6))
    centres *= apart / np.linalg.norm(centres, axis=1, keepdims=True)

    def draw(generator: np.random.Generator, n_source: int, n: int, shares: Any) -> tuple[Any, Any, Any, Any]:
        y = np.concatenate([np.repeat(np.arange(k), 5), generator.integers(0, k, n_source - 5 * k)])
        codes = generator.choice(k, n, p=shares)
        return (
            centres[y] + generator.standard_normal((len(y), 6)),
            y,
            centres[codes] + generator.standard_normal((n, 6)),
            codes,
        )

    return draw


def forest() -> Any:
    return RandomForestClassifier(60, min_samples_leaf=3, random_state=0)


def shifted_cells() -> list[tuple[str, World, int, int, int, Any, Any, Any]]:
    """Name, world, source labels, items, target labels, shares, method of a learner and seed, learner."""
    folds = {
        "PACC": lambda c, s: hc.PACC(c, random_state=s),
        "ACC": lambda c, s: hc.ACC(c, random_state=s),
        "SLD": lambda c, s: hc.SLD(c, calibration="bcts", random_state=s),
        "HDy": lambda c, s: hc.HDy(c, random_state=s),
        "KDEy": lambda c, s: hc.KDEyML(c, random_state=s),
        "PACC, held out": lambda c, s: hc.PACC(c, validation=0.4, random_state=s),
        "ACC, held out": lambda c, s: hc.ACC(c, validation=0.4, random_state=s),
    }

    def logistic() -> Any:
        return LogisticRegression(max_iter=300)

    def by_term() -> Any:
        return make_pipeline(FunctionTransformer(), MultinomialNB())

    cells: list[Any] = [
        (f"imdb {shares} {method} lr", films, 1000, 1000, 100, shares, folds[method], logistic)
        for shares in ((0.8, 0.2), (0.3, 0.7), (0.97, 0.03))
        for method in ("PACC", "SLD")
    ]
    cells.append(("imdb (.8, .2) PACC nb", films, 1000, 1000, 100, (0.8, 0.2), folds["PACC"], by_term))
    cells.append(
        ("imdb (.8, .2) ACC held out lr", films, 1000, 1000, 100, (0.8, 0.2), folds["ACC, held out"], logistic)
    )
    six = (0.35, 0.25, 0.15, 0.15, 0.09, 0.01)
    cells.append(("trec6 PACC lr", questions, 1000, 800, 100, six, folds["PACC"], logistic))
    cells.append(("trec6 SLD lr", questions, 1000, 800, 100, six, folds["SLD"], logistic))
    for name, k, apart, n_source, n, labels, shares, method, learner in (
        ("two classes", 2, 1.2, 300, 1000, 50, (0.7, 0.3), "PACC", logistic),
        ("two classes", 2, 1.2, 300, 1000, 50, (0.7, 0.3), "SLD", logistic),
        ("two classes", 2, 1.2, 300, 1000, 50, (0.95, 0.05), "HDy", logistic),
        ("two classes", 2, 1.2, 300, 1000, 50, (0.95, 0.05), "KDEy", logistic),
        ("one absent", 2, 1.2, 300, 1000, 50, (1.0, 0.0), "PACC", logistic),
        ("naive Bayes", 2, 1.2, 300, 1000, 50, (0.9, 0.1), "PACC", GaussianNB),
        ("forest", 2, 1.2, 300, 1000, 50, (0.9, 0.1), "PACC", forest),
        ("few labels", 2, 1.2, 60, 1000, 20, (0.9, 0.1), "PACC", logistic),
        ("few labels", 2, 1.2, 60, 500, 20, (0.6, 0.4), "ACC, held out", GaussianNB),
        ("nearly separable", 2, 2.5, 200, 1000, 50, (0.9, 0.1), "ACC, held out", logistic),
        ("nearly useless", 2, 0.4, 300, 1000, 50, (0.8, 0.2), "PACC", logistic),
        ("three, one absent", 3, 1.6, 400, 1000, 60, (0.7, 0.3, 0.0), "PACC", logistic),
        ("four", 4, 1.8, 400, 1000, 100, (0.5, 0.3, 0.15, 0.05), "SLD", logistic),
        ("six, one rare", 6, 2.2, 600, 1500, 100, six, "PACC", GaussianNB),
    ):
        cells.append(
            (
                f"{name} {method} {getattr(learner, '__name__', '')}",
                gaussians(k, apart),
                n_source,
                n,
                labels,
                shares,
                folds[method],
                learner,
            )
        )
    return cells


def shift(args: Any) -> None:
    for name, world, n_source, n, n_labels, shares, method, learner in shifted_cells():
        if args.only and not any(part in name for part in args.only.split(",")):
            continue
        p, start, score = np.array(shares), time.process_time(), Score()
        within = Score()
        for draw in range(args.simulations):
            generator = np.random.default_rng([args.seed, draw])
            X, y, X_new, y_new = world(generator, n_source, n, p)
            if np.bincount(y, minlength=len(p)).min() < 5:
                continue
            quantifier = method(learner(), draw).fit(X, y)
            rows = generator.choice(n, n_labels, replace=False)
            outputs = quantifier.outputs(X_new, quantifier.needs | {"posteriors"})
            score.add_answer(hc.estimate(quantifier, outputs, labels=(rows, y_new[rows])), p)
            if draw % 2 == 0:
                own = np.bincount(y_new, minlength=len(p)) / n
                within.add_answer(hc.estimate(quantifier, outputs, labels=(rows, y_new[rows]), estimand="sample"), own)
        print(f"{name}, {n_source} source, {n} items, {n_labels} labels: {score.text()}", flush=True)
        print(f"    the sample itself: {within.text()} ({time.process_time() - start:.0f} s)", flush=True)


# ------------------------------------------------------------------------------------------------------------------- power


def power(args: Any) -> None:
    """Move the target's negatives towards the positives: the shares under label shift are then off by some points."""
    print(
        f"{args.simulations} simulations, two classes, 1,000 source labels, 1,000 items; PACC over logistic regression, "
        "shares .7 and .3"
    )
    print("| moved | off by | labels | p < .05 | of those stated to be found with 80 % power |\n|---|---|---|---|---|")
    centres = np.array([[-0.8, 0.0], [0.8, 0.0]])
    for moved in (0.0, 0.1, 0.2, 0.4, 0.6):
        for n_labels in (50, 100, 200):
            found, off, reach = [], [], []
            for draw in range(args.simulations):
                generator = np.random.default_rng([args.seed, draw, 9])
                y = generator.integers(0, 2, 1000)
                X = centres[y] + generator.standard_normal((1000, 2))
                codes = generator.choice(2, 1000, p=[0.7, 0.3])
                target = centres[codes] + generator.standard_normal((1000, 2))
                target[codes == 0, 0] += moved
                quantifier = hc.PACC(LogisticRegression(), random_state=draw).fit(X, y)
                rows = generator.choice(1000, n_labels, replace=False)
                answer = hc.estimate(quantifier, target, labels=(rows, codes[rows]))
                found.append(answer.contradiction.p_value[0] < 0.05)
                off.append(answer.source_only.shares[1] - codes.mean())
                reach.append(answer.contradiction.detectable[0, 1])
            print(
                f"| {moved:.1f} | {100 * np.mean(off):.1f} points | {n_labels} | {100 * np.mean(found):.0f} % "
                f"| {100 * np.mean(reach):.0f} points |",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("drift", "design", "shift", "power"))
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--simulations", type=int, default=400)
    parser.add_argument("--models", type=int, default=2)
    parser.add_argument("--source", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    print(machine(), flush=True)
    {"drift": drift, "design": design, "shift": shift, "power": power}[args.what](args)


if __name__ == "__main__":
    main()
