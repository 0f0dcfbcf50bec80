"""What the check says, by simulation: false alarms and verdicts under pure label shift, and where something is wrong.

Everything is drawn anew in each simulation: labelled items, the fit, the target. Texts are reviews and questions of the sets named
(in the folder HEADCOUNT_DATA), with logistic regression over their tf-idf. Numbers are Gaussian classes with unit variance.

    python -m benchmarks.check_table --simulations 100 --seed 1
"""

import argparse
import re
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline

import headcount as hc
from benchmarks.setting import machine
from headcount.checks import Report, check
from headcount.data import load_set

TEXT_SETS = {"imdb": 800, "kindle_devices": 1000, "amazon_devices_hp": 1000, "amazon_categories": 500, "trec6": 1000}
"""Labelled items of each set."""
_MOST_TEXTS = 8000
Draw = Callable[[np.random.Generator], Report]


@cache
def counted(*names: str) -> tuple[Any, list[Any]]:
    """Return counts of the terms of the texts of some sets under one vocabulary, and their labels, set by set."""
    texts, labels = [], []
    for name in names:
        parts = load_set(name)
        items = np.concatenate([part.items for part in parts])
        y = np.concatenate([part.labels for part in parts])
        rows = np.random.default_rng(0).permutation(len(y))[:_MOST_TEXTS]
        texts.append(items[rows])
        labels.append(y[rows])
    X = CountVectorizer(min_df=2).fit_transform(np.concatenate(texts))
    ends = np.cumsum([len(y) for y in labels])
    return [X[end - len(y) : end] for end, y in zip(ends, labels, strict=True)], labels


def over_terms() -> Any:
    return make_pipeline(TfidfTransformer(sublinear_tf=True), LogisticRegression(max_iter=200))


def shifted(y: Any, rows: Any, n: int, generator: np.random.Generator) -> Any:
    """Choose n of the rows, without replacement, with class shares that are tilted at random."""
    classes, codes = np.unique(y[rows], return_inverse=True)
    available = np.bincount(codes)
    shares = available / available.sum() * np.exp(generator.standard_normal(len(classes)))
    while True:
        counts = generator.multinomial(n, shares / shares.sum())
        if (counts <= available).all():
            break
        shares = np.minimum(shares / shares.sum(), 0.9 * available / n) + 1e-9
        n = min(n, int(0.6 * available.sum()))
    return np.concatenate([generator.permutation(rows[codes == j])[:m] for j, m in enumerate(counts)])


def text_shift(name: str, validation: Any, n: int = 1000) -> Draw:
    def one(generator: np.random.Generator) -> Report:
        (X,), (y,) = counted(name)
        rows = generator.permutation(len(y))
        labelled, rest = rows[: TEXT_SETS[name]], rows[TEXT_SETS[name] :]
        kept = np.unique(y[labelled], return_counts=True)
        few = kept[0][kept[1] < 5]  # a class of a handful of items is left out on both sides
        labelled, rest = (part[~np.isin(y[part], few)] for part in (labelled, rest))
        q = hc.PACC(over_terms(), validation=validation, random_state=int(generator.integers(1 << 30)))
        q.fit(X[labelled], y[labelled])
        return check(q, X[shifted(y, rest, n, generator)])

    return one


def imdb_on_kindle(validation: Any) -> Draw:
    def one(generator: np.random.Generator) -> Report:
        (X, other), (y, y_other) = counted("imdb", "kindle_devices")
        labelled = generator.permutation(len(y))[:800]
        q = hc.PACC(over_terms(), validation=validation, random_state=int(generator.integers(1 << 30)))
        q.fit(X[labelled], y[labelled])
        return check(q, other[shifted(y_other, np.arange(len(y_other)), 1000, generator)])

    return one


def centres(k: int, d: int, apart: float, generator: np.random.Generator) -> Any:
    """Draw k centres: each is ``apart`` or farther from the others, and about that from its nearest."""
    side, found = apart * k ** (1.0 / d) * (1.2 if d < 4 else 1.0), []
    while len(found) < k:
        new = generator.uniform(0, side, d)
        if all(np.linalg.norm(new - one) >= apart for one in found):
            found.append(new)
        side *= 1.0005
    return np.array(found)


def gaussians(
    k: int, d: int, apart: float, method: Any, labelled: int = 500, n: int = 1000, unseen: float = 0.0
) -> Draw:
    def one(generator: np.random.Generator) -> Report:
        middle = generator.permutation(centres(k + 1, d, apart, generator))

        def draw(codes: Any) -> Any:
            return middle[codes] + generator.standard_normal((len(codes), d))

        y = np.concatenate([np.repeat(np.arange(k), 5), generator.integers(0, k, labelled - 5 * k)])
        q = method(int(generator.integers(1 << 30))).fit(draw(y), y)
        codes = generator.choice(k, n, p=generator.dirichlet(np.ones(k)))
        codes[: round(unseen * n)] = k
        return check(q, draw(codes), labelled=None if q.validation_items() else (draw(y), y))

    return one


def copied_features(method: Any, k: int = 3, labelled: int = 1000, n: int = 1000) -> Draw:
    """Naive Bayes takes eight noisy copies of each of three features for independent ones, and is much too sure."""

    def one(generator: np.random.Generator) -> Report:
        def draw(codes: Any) -> Any:
            latent = 1.7 * np.eye(3)[codes] + generator.standard_normal((len(codes), 3))
            return np.repeat(latent, 8, axis=1) + 0.3 * generator.standard_normal((len(codes), 24))

        y, new = np.arange(labelled) % k, np.arange(500) % k
        q = (
            clone(method)
            .set_params(classifier=GaussianNB(), random_state=int(generator.integers(1 << 30)))
            .fit(draw(y), y)
        )
        codes = generator.choice(k, n, p=generator.dirichlet(np.ones(k)))
        return check(q, draw(codes), labelled=(draw(new), new))

    return one


def words(method: Any) -> Draw:
    def one(generator: np.random.Generator) -> Report:
        (X,), (y,) = counted("imdb")
        rows = generator.permutation(len(y))
        train, known, rest = rows[:1000], rows[1000:1500], rows[1500:]
        q = clone(method).set_params(classifier=MultinomialNB(), random_state=int(generator.integers(1 << 30)))
        q.fit(X[train], y[train])
        return check(q, X[shifted(y, rest, 1000, generator)], labelled=(X[known], y[known]))

    return one


def pacc(classifier: Any, validation: Any) -> Callable[[int], Any]:
    return lambda seed: hc.PACC(classifier, validation=validation, random_state=seed)


def cells() -> Iterator[tuple[str, str, Draw]]:
    linear, forest, bayes = LogisticRegression(), RandomForestClassifier(50, min_samples_leaf=3), GaussianNB()
    for validation, how in ((0.4, "held-out part"), (5, "5 folds")):
        for name in TEXT_SETS:
            yield "shift", f"{name}, {how}", text_shift(name, validation)
        for classifier, title in ((linear, "LR"), (forest, "forest"), (bayes, "naive Bayes")):
            for k, n in ((2, 1000), (10, 1000)):
                yield "shift", f"{k} classes, {title}, {how}", gaussians(k, 5, 2.5, pacc(classifier, validation), n=n)
        for n in (100, 5000):
            yield "shift", f"9 classes, LR, n {n}, {how}", gaussians(9, 5, 3.0, pacc(linear, validation), n=n)
        for k in (5, 10):
            for d, apart in ((2, 3.0), (2, 4.0), (10, 3.5)):
                name = f"unseen 20 %, {k} classes, {d} dimensions, {apart:g} apart, {how}"
                yield "unseen", name, gaussians(k, d, apart, pacc(linear, validation), unseen=0.2)
        yield "drift", f"imdb on kindle_devices, {how}", imdb_on_kindle(validation)
    for name, method in (("plain SLD", hc.SLD()), ("calibrated SLD", hc.SLD(calibration="bcts")), ("ACC", hc.ACC())):
        yield "other", f"{name}, naive Bayes over copies of features", copied_features(method)
        yield "other", f"{name}, naive Bayes over the words of imdb", words(method)
    yield "other", "unseen 60 %, n 100, 3 classes", gaussians(3, 2, 4.0, pacc(linear, 0.4), n=100, unseen=0.6)


def main() -> None:
    """Print a row for each cell: how often each test raises an alarm, and the verdicts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="cells whose name has a match of this pattern")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{options.simulations} simulations, seed {options.seed}; {machine()}")
    print(f"{'cell':70} scores items either  trust caution not-trust not-checked  seconds")
    for number, (kind, name, draw) in enumerate(cells()):
        if not re.search(options.only, f"{kind}: {name}"):
            continue
        start = time.perf_counter()
        found = [draw(np.random.default_rng([options.seed, number, s])) for s in range(options.simulations)]
        seconds = (time.perf_counter() - start) / options.simulations
        scores = np.array([one.p_label_shift < 0.025 for one in found])
        items = np.array([one.p_items < 0.025 for one in found])
        verdicts = Counter(one.verdict for one in found)
        share = [verdicts[v] / len(found) for v in ("trust", "caution", "do not trust", "not checked")]
        print(
            f"{kind + ': ' + name:70} {scores.mean():6.3f} {items.mean():5.3f} {(scores | items).mean():6.3f} "
            f"{share[0]:6.3f} {share[1]:7.3f} {share[2]:9.3f} {share[3]:11.3f} {seconds:8.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
