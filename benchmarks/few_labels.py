"""BayesianCC and ACC with few labelled items, which the docstring of `BayesianCC` cites: `python -m benchmarks.few_labels`."""

import warnings
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

import headcount as hc

SIMULATIONS, LABELLED, TARGET, FEATURES, SEPARATION = 200, 10, 300, 6, 2.0


def _items(y: Any, generator: np.random.Generator) -> Any:
    centres = np.random.default_rng(5).standard_normal((2, FEATURES)) * SEPARATION / np.sqrt(FEATURES)
    return centres[y] + generator.standard_normal((len(y), FEATURES))


def main() -> None:
    warnings.simplefilter("ignore")
    print(f"{SIMULATIONS} simulations, {LABELLED} labelled items a class, {TARGET} in the target, logistic regression")
    for shares, in_folds in (((0.7, 0.3), False), ((0.95, 0.05), False), ((0.95, 0.05), True), ((1.0, 0.0), True)):
        p, held, widths, errors = np.array(shares), np.zeros(2), np.zeros(2), np.zeros(2)
        for seed in range(SIMULATIONS):
            generator = np.random.default_rng([seed, 2, LABELLED])
            y = np.repeat([0, 1], LABELLED)
            X = _items(y, generator)
            target = _items(generator.choice(2, TARGET, p=p), generator)
            classifier: Any = LogisticRegression()
            if not in_folds:
                y_train = np.repeat([0, 1], 200)
                classifier = FrozenEstimator(classifier.fit(_items(y_train, generator), y_train))
            for m, method in enumerate((hc.BayesianCC, hc.ACC)):
                answer = hc.estimate(method(classifier, random_state=seed).fit(X, y), target)
                held[m] += ((answer.low <= p + 1e-12) & (p - 1e-12 <= answer.high)).mean()
                widths[m] += (answer.high - answer.low).mean()
                errors[m] += np.abs(answer.shares - p).mean()
        rows = zip(("BayesianCC", "ACC"), held / SIMULATIONS, widths / SIMULATIONS, errors / SIMULATIONS, strict=True)
        text = "; ".join(f"{name} held {h:.3f}, width {w:.2f}, error {e:.3f}" for name, h, w, e in rows)
        print(f"shares {shares}, {'five folds' if in_folds else 'a classifier of other items'}: {text}", flush=True)


if __name__ == "__main__":
    main()
