"""Groups of few items, by themselves and drawn towards the other groups: `python -m benchmarks.small_groups [N] [--wider]`.

N simulations of each setting (default 200) and of the real reviews in HEADCOUNT_DATA. Printed: mean squared error of the drawn
shares over that of the plain ones, share of classes and groups whose interval held the truth (both), widths, and how far groups
were drawn; ± is the Monte Carlo standard error over simulations, in each of which all groups share one labelled side.
"""

import argparse
import gzip
import platform
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from zlib import crc32

import numpy as np
from joblib import Parallel, delayed

import headcount as hc
from benchmarks.coverage.learners import forget, make_classifier
from benchmarks.coverage.real import _file
from benchmarks.coverage.worlds import Gaussian, Scores
from benchmarks.setting import ScoredAlready
from headcount.intervals import borrow_strength

Array = Any
SEED = 2026


def _alike(base: Array, n: int, _: Any) -> Array:
    return np.tile(base, (n, 1))


def _spread(concentration: float) -> Callable[[Array, int, Any], Array]:
    """Return a maker of shares with standard deviation sqrt(p (1 - p) / (concentration + 1)) between groups."""
    return lambda base, n, g: g.dirichlet(base * concentration, n)


def _outlier(base: Array, n: int, g: Any) -> Array:
    shares = _alike(base, n, g)
    shares[g.integers(n)] = _mostly(len(base), 0.9)
    return shares


def _two_clusters(base: Array, n: int, _: Any) -> Array:
    return np.where(np.arange(n)[:, None] < n // 2, _mostly(len(base), 0.7), base)


def _cluster_at_zero(base: Array, n: int, _: Any) -> Array:
    """Give two thirds of the groups the first class alone."""
    k = len(base)
    return np.where(np.arange(n)[:, None] < n // 3, np.full(k, 1.0 / k), np.eye(k)[0])


def _heavy_tails(base: Array, n: int, g: Any) -> Array:
    odds = np.exp(np.log(base) + 0.25 * g.standard_t(2, (n, len(base))))
    return odds / odds.sum(axis=1, keepdims=True)


def _by_size(base: Array, n: int, g: Any) -> Array:
    """Give the first half of the groups, which are the small ones, other shares than the second."""
    return np.vstack(
        [g.dirichlet(60 * _mostly(len(base), 0.2), n // 2), g.dirichlet(60 * _mostly(len(base), 0.5), n - n // 2)]
    )


def _mostly(k: int, last: float) -> Array:
    return np.append(np.full(k - 1, (1.0 - last) / (k - 1)), last)


GROUPS: dict[str, Callable[[Array, int, Any], Array]] = {
    "alike": _alike,
    "spread .05": _spread(83.0),
    "spread .08": _spread(32.0),
    "spread .15": _spread(8.3),
    "one outlier": _outlier,
    "two clusters": _two_clusters,
    "cluster at 0": _cluster_at_zero,
    "heavy tails": _heavy_tails,
    "by size": _by_size,
}


@dataclass(frozen=True)
class Setting:
    """Where groups and their items come from, and what is estimated of them."""

    groups: str = "alike"
    k: int = 2
    rare: bool = False
    method: str = "PACC"
    labelled: int = 10_000
    sizes: str = "50"
    n_groups: int = 24
    learner: str = ""
    separation: float = 2.5
    seed: int = SEED

    @property
    def base(self) -> Array:
        """Shares around which those of groups lie."""
        if self.rare:
            return np.append(1.0 - 0.04 * (self.k - 1), np.full(self.k - 1, 0.04))
        return np.array([0.7, 0.3]) if self.k == 2 else np.full(self.k, 1.0 / self.k)

    @property
    def name(self) -> str:
        rare = ", rare" if self.rare else ""
        learner = f" over {self.learner}" if self.learner else ""
        apart = f", classes {self.separation:g} apart" if self.separation != 2.5 else ""
        return (
            f"{self.groups}{rare}; {self.k} classes{apart}; {self.method}{learner}; {self.labelled:,} labelled; "
            f"{self.n_groups} groups of {self.sizes}"
        )

    def simulate(self, i: int) -> Array:
        g = np.random.default_rng([self.seed, crc32(self.name.encode()), i])
        world = (
            Gaussian(self.k, self.separation, noise=3, copies=3 if self.learner == "NB" else 1)
            if self.learner
            else Scores(self.k, self.separation, 2.0)  # overconfident posteriors
        )
        forget()
        sizes = {
            "50": np.full(self.n_groups, 50),
            "200": np.full(self.n_groups, 200),
            "20 to 500": np.round(20.0 * 25.0 ** g.random(self.n_groups)).astype(int),
            "10 to 500": np.round(10.0 * 50.0 ** g.random(self.n_groups)).astype(int),
        }[self.sizes]
        sizes = np.sort(sizes)
        shares = GROUPS[self.groups](self.base, self.n_groups, g)
        y = g.permutation(np.arange(self.labelled) % self.k)
        method, _, calibration = self.method.partition(" ")
        options = {"calibration": calibration} if calibration else {}
        classifier = make_classifier(self.learner) if self.learner else world.scorer()
        q = getattr(hc, method)(classifier, random_state=i, **options).fit(world.draw(y, g), y)
        codes = np.concatenate([g.choice(self.k, n, p=p) for n, p in zip(sizes, shares, strict=True)])
        samples = hc.Samples.from_groups(np.repeat(np.arange(self.n_groups), sizes))
        return figures(hc.estimate(q, world.draw(codes, g), samples), shares)


def figures(plain: Any, shares: Array) -> Array:
    """Return squared errors, share of intervals that held, widths, of the plain and of the drawn shares; how far drawn."""
    drawn = borrow_strength(plain)
    rows = []
    for answer in (plain, drawn):
        held = (answer.low <= shares + 1e-9) & (shares - 1e-9 <= answer.high)
        rows += [np.square(answer.shares - shares).sum(axis=1).mean(), held.mean(), (answer.high - answer.low).mean()]
    return np.array([*rows, drawn.drawn.mean()])


def report(name: str, results: list[Array]) -> None:
    table = np.array(results)
    mean, error = table.mean(axis=0), table.std(axis=0, ddof=1) / np.sqrt(len(table))
    ratio = mean[3] / mean[0]
    ratio_error = np.std(table[:, 3] - ratio * table[:, 0], ddof=1) / np.sqrt(len(table)) / mean[0]
    print(
        f"{name:<72} | {ratio:.3f} ± {ratio_error:.3f} | {100 * mean[1]:.1f} | {100 * mean[4]:.1f} ± {100 * error[4]:.1f} | "
        f"{mean[2]:.3f} | {mean[5]:.3f} | {100 * mean[6]:.0f} %",
        flush=True,
    )


def wider_settings() -> list[Setting]:
    """Return further methods, classes, numbers and sizes of groups, besides those that the method was made with."""
    S, cells = Setting, []
    for groups in ("alike", "spread .08", "two clusters", "one outlier"):
        cells += [S(groups=groups, k=k) for k in (2, 3, 5)]
        cells += [S(groups=groups, method=method, k=k) for method in ("HDy", "SLD bcts", "ACC") for k in (2, 3)]
        cells += [S(groups=groups, sizes="10 to 500", k=k) for k in (2, 5)]
        cells += [S(groups=groups, n_groups=200, k=5), S(groups=groups, n_groups=200)]
        cells += [
            S(groups=groups, learner=learner, labelled=2_000, k=k) for learner in ("forest", "NB") for k in (2, 5)
        ]
    return [cell for cell in cells if cell.method != "HDy" or cell.k == 2]


def settings() -> list[Setting]:
    S = Setting
    cells = [S(groups=groups, k=k) for k in (2, 3, 5) for groups in GROUPS if groups != "by size"]
    cells += [S(groups=groups, k=k, rare=True) for k in (2, 3, 5) for groups in ("alike", "spread .08")]
    for groups in ("alike", "spread .08", "cluster at 0"):
        cells += [S(groups=groups, method=method, k=k) for method in ("ACC", "SLD bcts") for k in (2, 3)]
        cells += [S(groups=groups, labelled=labelled, k=k) for labelled in (200, 1000) for k in (2, 3)]
        cells += [S(groups=groups, learner=learner, labelled=1000, k=k) for learner in ("forest", "NB") for k in (2, 3)]
    cells += [
        S(groups=groups, sizes="20 to 500", k=k)
        for k in (2, 3)
        for groups in ("alike", "spread .08", "one outlier", "by size", "cluster at 0")
    ]
    cells += [S(groups=groups, n_groups=n) for n in (5, 8, 100) for groups in ("alike", "spread .05", "spread .15")]
    cells += [S(groups=groups, separation=s) for s in (1.5, 5.0) for groups in ("alike", "spread .08", "cluster at 0")]
    return cells


def real(n: int) -> None:
    """Amazon devices by quarter and by product: 50 reviews a group, 1,000 others labelled, a classifier of other reviews."""
    import pandas as pd
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.frozen import FrozenEstimator
    from sklearn.linear_model import LogisticRegression

    if not _file("amazon_devices/all.tsv.gz").is_file():
        print("Real reviews: HEADCOUNT_DATA has no amazon_devices.")
        return
    frame = pd.read_csv(_file("amazon_devices/all.tsv.gz"), sep="\t", quoting=3, dtype=str, keep_default_na=False)
    frame = frame[(frame["stars"] != "3") & (frame["date"] != "")]
    y = (frame["stars"].astype(float) > 3).to_numpy().astype(int)
    columns = {"quarter": frame["date"].str[:4] + "Q" + ((frame["date"].str[5:7].astype(int) + 2) // 3).astype(str)}
    columns["product"] = frame["asins"]
    for source in ("kindle_devices", "imdb"):
        with gzip.open(_file(f"{source}/train.txt.gz"), "rt", encoding="utf-8") as file:
            lines = [line.rstrip("\n").partition("\t") for line in file]
        terms = TfidfVectorizer(sublinear_tf=True, min_df=3)
        classifier = LogisticRegression(C=10.0, class_weight="balanced", max_iter=300)
        positive = np.array([label in ("1", "pos", "positive") for label, _, _ in lines]).astype(int)
        classifier.fit(terms.fit_transform(text for _, _, text in lines), positive)
        P = classifier.predict_proba(terms.transform(frame["text"]))
        for title, column in columns.items():
            counts = column.value_counts()
            names = counts.index[counts >= 150]
            rows = {name: np.flatnonzero((column == name).to_numpy()) for name in names}
            truth = np.array([[1.0 - y[r].mean(), y[r].mean()] for r in rows.values()])
            for method in ("PACC", "ACC"):
                results = []
                for i in range(n):
                    g = np.random.default_rng([SEED, i])
                    order = g.permutation(len(y))
                    negative, others = order[y[order] == 0], order[y[order] == 1]
                    labelled = np.concatenate([negative[:300], others[:700]])
                    drawn = [
                        g.choice(r, 50) for r in rows.values()
                    ]  # with replacement: the shares of the group are the truth
                    q = getattr(hc, method)(FrozenEstimator(ScoredAlready().fit(None, np.arange(2))))
                    q.fit(P[labelled], y[labelled])
                    samples = hc.Samples.from_groups(np.repeat(np.arange(len(names)), 50))
                    results.append(figures(hc.estimate(q, P[np.concatenate(drawn)], samples), truth))
                spread = truth[:, 1].std()
                report(
                    f"devices by {title}, model of {source}; {method}; {len(names)} groups, spread {spread:.3f}",
                    results,
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n", nargs="?", type=int, default=200)
    parser.add_argument("--part", default="0/1", help="which settings: the I-th of J parts")
    parser.add_argument("--wider", action="store_true", help="further settings alone")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    part, parts = map(int, arguments.part.split("/"))
    print(
        f"{arguments.n} simulations a setting, seed {arguments.seed}, headcount {hc.__version__}, numpy {np.__version__}, "
        f"Python {platform.python_version()}"
    )
    print("setting | error, of the plain one | plain held | drawn held | width | drawn width | drawn by")
    if part == 0 and not arguments.wider:
        real(arguments.n)
    listed = [replace(one, seed=arguments.seed) for one in (wider_settings() if arguments.wider else settings())]
    with Parallel(n_jobs=arguments.jobs) as pool:
        for setting in listed[part::parts]:
            report(setting.name, pool(delayed(_simulate)(setting, i) for i in range(arguments.n)))


def _simulate(setting: Setting, i: int) -> Array:
    warnings.simplefilter("ignore")
    return setting.simulate(i)


if __name__ == "__main__":
    main()
