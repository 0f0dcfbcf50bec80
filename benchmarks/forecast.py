"""How near a forecast of the error of shares can be at all: the error over one labelled file and one pool against its mean.

`headcount fit` predicts the error to be expected. A benchmark measures the error with one labelled file, drawn again a few times
as nine tenths of itself, on samples of one pool: with few items it lies far from its own mean, by luck of the file and the pool.
This simulation says how often it is within a factor of 1.5 of the mean, which no forecast can beat by more than luck.

    python -m benchmarks.forecast
"""

import numpy as np

SEED, RUNS = 7, 150
REDRAWS, GROUPS, ITEMS = 5, 100, 200
SETTINGS = ((300, 0.35), (700, 0.3), (1400, 0.1), (1400, 0.4), (3500, 0.3))
"""Labelled items, and share of the second class among them; the pool has 43 % as many items."""


def items(generator: np.random.Generator, n: int, share: float, separation: float) -> tuple[np.ndarray, np.ndarray]:
    """Draw classes and scores: posteriors of two Gaussians."""
    y = generator.random(n) < share
    y[:2] = False, True
    return y, 1.0 / (1.0 + np.exp(-separation * (generator.standard_normal(n) + separation * (y - 0.5))))


def realised_error(generator: np.random.Generator, n: int, share: float, separation: float) -> float:
    """Return the mean error of PACC over the redraws of a labelled file, on samples of a pool with uniform shares."""
    y, scores = items(generator, n, share, separation)
    y_pool, pool = items(generator, int(0.43 * n), share, separation)
    errors = []
    for _ in range(REDRAWS):
        rows = generator.permutation(n)[: int(0.9 * n)]
        high, low = scores[rows][y[rows]].mean(), scores[rows][~y[rows]].mean()
        for true in generator.random(GROUPS):
            k = round(true * ITEMS)
            drawn = np.concatenate([generator.choice(pool[y_pool], k), generator.choice(pool[~y_pool], ITEMS - k)])
            errors.append(abs(float(np.clip((drawn.mean() - low) / (high - low), 0.0, 1.0)) - true))
    return float(np.mean(errors))


def main() -> None:
    print(f"Simulations {RUNS} a row, seed {SEED}.\n")
    print("| separation | labelled items | share | mean error | within a factor of 1.5 of it |\n|---|---|---|---|---|")
    generator = np.random.default_rng(SEED)
    for separation in (1.0, 2.0, 3.0):
        for n, share in SETTINGS:
            errors = np.array([realised_error(generator, n, share, separation) for _ in range(RUNS)])
            ratios = errors / errors.mean()
            near = np.mean((ratios < 1.5) & (ratios > 1 / 1.5))
            print(f"| {separation:g} | {n:,} | {share} | {errors.mean():.4f} | {near:.0%} |", flush=True)


if __name__ == "__main__":
    main()
