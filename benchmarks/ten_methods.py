"""Selection over ten methods over sums of one classifier against selection over one: their fits and scores are shared.

python -m benchmarks.ten_methods
"""

import time

import numpy as np
from sklearn.datasets import make_classification

from benchmarks.setting import SEED, machine
from headcount import (
    ACC,
    BBSE,
    FM,
    MAX,
    MS,
    PACC,
    SMM,
    SORD,
    T50,
    ArtificialPrevalence,
    DyS,
    NewtonLogisticRegression,
    QuantifierSearch,
)

METHODS = (PACC, ACC, FM, SMM, BBSE, T50, MAX, MS, DyS, SORD)
ROUNDS = 4
FEATURES = 60, 300


def seconds_of(methods: tuple[type, ...], n_features: int) -> float:
    X, y = make_classification(12_000, n_features, n_informative=20, flip_y=0.1, random_state=SEED)
    search = QuantifierSearch(
        [method(NewtonLogisticRegression()) for method in methods],
        {"classifier__C": 10.0 ** np.arange(-3, 4)},
        protocol=ArtificialPrevalence(21, repeats=10, sample_size=500, random_state=0),
        random_state=0,
        n_jobs=1,
    )
    began = time.process_time()
    search.fit(X, y)
    return time.process_time() - began


def main() -> int:
    print(machine())
    met = True
    for n_features in FEATURES:
        times = [[seconds_of(methods, n_features) for methods in (METHODS[:1], METHODS)] for _ in range(ROUNDS)]
        one, ten = np.median(times[1:], axis=0)  # the first round compiles
        met &= bool(ten / one < 2.0)
        print(
            f"Seven settings over {n_features} features, processor time: one method {one:.2f} s, ten methods {ten:.2f} s, "
            f"ratio {ten / one:.2f} (target: below 2)."
        )
    return int(not met)


if __name__ == "__main__":
    raise SystemExit(main())
