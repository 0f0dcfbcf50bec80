"""Coverage of intervals under survey designs: clusters on both sides, weights that carry information and weights that do not.

In each simulation labelled and new items are drawn anew; classes and scores are alike within clusters (a normal latent variable
with the intra-class correlation). The plain interval, which takes items for independent, stands beside. The design effect is
compared with the truth: the variance of the estimates over simulations under the design, over that with as many independent items.

    python -m benchmarks.designs [--simulations 400] [--refit 200] [--only PACC]
"""

import argparse
import warnings
from typing import Any

import numpy as np
from scipy.stats import norm
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from headcount import ACC, PACC, SLD, HDy, Outputs, SurveyDesign, estimate

SEED = 24_1119
METHODS: dict[str, Any] = {
    "PACC": lambda **k: PACC(**k),
    "ACC": lambda **k: ACC(**k),
    "SLD": lambda **k: SLD(calibration="bcts", **k),
    "HDy": lambda **k: HDy(**k),
}
SEPARATION = 1.5
CLUSTERS = 60


def draw(
    generator: np.random.Generator, n_clusters: int, size: int, correlation: float, share: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return classes, scores and clusters."""
    clusters = np.repeat(np.arange(n_clusters), size)
    n = len(clusters)

    def alike() -> np.ndarray:
        shared, own = generator.standard_normal(n_clusters)[clusters], generator.standard_normal(n)
        return np.asarray(np.sqrt(correlation) * shared + np.sqrt(1.0 - correlation) * own)

    y = (alike() < norm.ppf(share)).astype(int)
    return y, alike() + SEPARATION * (y - 0.5), clusters


def outputs_of(scores: np.ndarray) -> Outputs:
    p = 1.0 / (1.0 + np.exp(-SEPARATION * scores))
    return Outputs.from_posteriors(np.column_stack([1.0 - p, p]), [0, 1])


def free(answer: Any) -> float:
    """Return the estimate before it is kept within [0, 1], whose variance a design effect is about."""
    return float(answer.evidence.centre[0, 1])


def line(name: str, setting: str, held: Any, plain: Any, width: Any, effects: Any, truth: float) -> str:
    n, mean = len(held), float(np.mean(held))
    error = 100.0 * np.sqrt(max(mean * (1.0 - mean), 0.0025) / n)
    ratio = np.mean(effects) / truth
    return (
        f"| {name} | {setting} | {n} | {100 * mean:.1f} ± {error:.1f} | {100 * np.mean(plain):.1f} | {100 * np.mean(width):.1f} | "
        f"{np.mean(effects):.2f} | {truth:.2f} | {ratio:.2f} |"
    )


def clusters_cell(name: str, size: int, correlation: float, share: float, simulations: int) -> str:
    """Simulate ready-made posteriors in clusters on both sides."""
    generator = np.random.default_rng([SEED, size, round(10 * correlation), round(100 * share)])
    held, plain, width, effects, estimates, independent = [], [], [], [], [], []
    for _ in range(simulations):
        y, s, c = draw(generator, CLUSTERS, size, correlation, 0.5)
        _, S, C = draw(generator, CLUSTERS, size, correlation, share)
        labelled, target = outputs_of(s), outputs_of(S)
        answer = estimate(
            METHODS[name]().fit(labelled, y, design=SurveyDesign(clusters=c)), target, design=SurveyDesign(clusters=C)
        )
        other = estimate(METHODS[name]().fit(labelled, y), target)
        held.append(answer.low[1] <= share <= answer.high[1])
        plain.append(other.low[1] <= share <= other.high[1])
        width.append(answer.high[1] - answer.low[1])
        effects.append(answer.design.effects[0, 1])
        estimates.append(free(answer))
        y, s, _ = draw(generator, CLUSTERS * size, 1, 0.0, 0.5)
        _, S, _ = draw(generator, CLUSTERS * size, 1, 0.0, share)
        independent.append(free(estimate(METHODS[name]().fit(outputs_of(s), y), outputs_of(S))))
    truth = float(np.var(estimates) / np.var(independent))
    setting = f"{CLUSTERS} clusters of {size}, correlation {correlation}, share {share}"
    return line(name, setting, held, plain, width, effects, truth)


def weights_cell(name: str, informative: bool, share: float, simulations: int) -> str:
    """Simulate weights of 1 and 4: of items whose score is above or below 0, or drawn without regard to it."""
    generator = np.random.default_rng([SEED, int(informative), round(100 * share)])
    held, plain, width, effects, estimates, independent = [], [], [], [], [], []

    def drawn(p: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        y, s, _ = draw(generator, 1600, 1, 0.0, p)
        often = s > 0 if informative else generator.random(len(s)) < 0.5
        kept = generator.random(len(s)) < np.where(often, 1.0, 0.25)
        return y[kept], s[kept], np.where(often, 1.0, 4.0)[kept]

    for _ in range(simulations):
        y, s, w = drawn(0.5)
        _, S, W = drawn(share)
        answer = estimate(
            METHODS[name]().fit(outputs_of(s), y, design=SurveyDesign(w)), outputs_of(S), design=SurveyDesign(W)
        )
        other = estimate(METHODS[name]().fit(outputs_of(s), y), outputs_of(S))
        held.append(answer.low[1] <= share <= answer.high[1])
        plain.append(other.low[1] <= share <= other.high[1])
        width.append(answer.high[1] - answer.low[1])
        effects.append(answer.design.effects[0, 1])
        estimates.append(free(answer))
        y, s, _ = draw(generator, len(y), 1, 0.0, 0.5)
        _, S, _ = draw(generator, len(S), 1, 0.0, share)
        independent.append(free(estimate(METHODS[name]().fit(outputs_of(s), y), outputs_of(S))))
    truth = float(np.var(estimates) / np.var(independent))
    setting = f"weights 1:4, {'informative' if informative else 'not informative'}, share {share}"
    return line(name, setting, held, plain, width, effects, truth)


def refitted_cell(name: str, learner: Any, size: int, correlation: float, share: float, simulations: int) -> str:
    """Simulate classifiers that are fitted anew, in folds that keep clusters together; 80 clusters a side."""
    generator = np.random.default_rng([SEED, size, round(10 * correlation), 7])
    held, plain, width, effects, estimates, independent = [], [], [], [], [], []

    def items(n_clusters: int, m: int, rho: float, p: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        y, s, c = draw(generator, n_clusters, m, rho, p)
        noise = generator.standard_normal((len(s), 2)) + np.sqrt(rho) * generator.standard_normal((n_clusters, 2))[c]
        return np.column_stack([s, noise]), y, c

    for _ in range(simulations):
        (X, y, c), (Z, _, C) = items(80, size, correlation, 0.5), items(80, size, correlation, share)
        fitted = METHODS[name](classifier=learner, random_state=0).fit(X, y, design=SurveyDesign(clusters=c))
        answer = estimate(fitted, Z, design=SurveyDesign(clusters=C))
        other = estimate(METHODS[name](classifier=learner, random_state=0).fit(X, y), Z)
        held.append(answer.low[1] <= share <= answer.high[1])
        plain.append(other.low[1] <= share <= other.high[1])
        width.append(answer.high[1] - answer.low[1])
        effects.append(answer.design.effects[0, 1])
        estimates.append(free(answer))
        (X, y, _), (Z, _, _) = items(80 * size, 1, 0.0, 0.5), items(80 * size, 1, 0.0, share)
        independent.append(free(estimate(METHODS[name](classifier=learner, random_state=0).fit(X, y), Z)))
    truth = float(np.var(estimates) / np.var(independent))
    setting = f"{type(learner).__name__}, five folds, 80 clusters of {size}, correlation {correlation}, share {share}"
    return line(name, setting, held, plain, width, effects, truth)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--simulations", type=int, default=400)
    parser.add_argument("--refit", type=int, default=200)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"Seed {SEED}. 95 % intervals of the share; widths in points.\n")
    print("| method | setting | simulations | covers, % | plain covers, % | width | design effect | true | ratio |")
    print("|---|---|---|---|---|---|---|---|---|")
    names = [name for name in METHODS if name.startswith(asked.only)]
    for name in names:
        for size in (2, 5, 10):
            for correlation in (0.2, 0.5):
                for share in (0.5, 0.1):
                    print(clusters_cell(name, size, correlation, share, asked.simulations), flush=True)
    for name in [name for name in names if name != "SLD"]:
        for informative in (False, True):
            for share in (0.5, 0.1):
                print(weights_cell(name, informative, share, asked.simulations), flush=True)
    if asked.refit:
        learners = (LogisticRegression(), GaussianNB(), RandomForestClassifier(50, min_samples_leaf=5, random_state=0))
        for learner in learners:
            for name in [name for name in names if name in ("PACC", "SLD")]:
                print(refitted_cell(name, learner, 5, 0.5, 0.3, asked.refit), flush=True)


if __name__ == "__main__":
    main()
