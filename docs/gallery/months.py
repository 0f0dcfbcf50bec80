"""Shares by month with 95 % intervals, beside the true shares, which the method never sees."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from headcount import CC, PACC, Samples, estimate

NAMES = np.array(["bad", "good"])
TRUE = 0.5 + 0.3 * np.sin(np.arange(12) / 11 * 2 * np.pi)


def items(generator: np.random.Generator, share: float, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw items of two overlapping classes."""
    y = (generator.random(n) < share).astype(int)
    return generator.normal(1.4 * y[:, None] * [1, 1, 0], 1.0), NAMES[y]


def main(picture: str) -> None:
    """Draw the picture."""
    generator = np.random.default_rng(0)
    X, y = items(generator, 0.7, 1500)
    months = [items(generator, share, 600) for share in TRUE]
    X_new = np.concatenate([part[0] for part in months])
    by_month = Samples.from_groups(np.repeat([f"2025-{m:02d}" for m in range(1, 13)], 600))
    answer = estimate(PACC(LogisticRegression(), random_state=0).fit(X, y), X_new, by_month)
    cc = CC(LogisticRegression()).fit(X, y)
    counted = cc.aggregate(cc.outputs(X_new), by_month)
    with plt.style.context(Path(__file__).with_name("plain.mplstyle")):
        figure, axes = plt.subplots()
        month, share = np.arange(12), answer.shares[:, 1]
        bars = np.stack([share - answer.low[:, 1], answer.high[:, 1] - share])
        axes.errorbar(month, share, yerr=bars, marker="o", markersize=4, capsize=3, label="PACC, 95 % interval")
        axes.plot(month, counted[:, 1], linestyle="--", label="classify and count")
        axes.plot(month, TRUE, "x", color="#808080", label="true share")
        axes.set_xticks(month, answer.names, rotation=45, ha="right")
        axes.set(ylabel="share of good", ylim=(0, 1))
        axes.legend(loc="lower left")
        figure.savefig(picture, metadata={"Date": None})


if __name__ == "__main__":
    main(sys.argv[1])
