"""What 95 % means: 100 samples with their intervals, those that miss the true share in orange."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from headcount import PACC, estimate

SHARE = 0.2


def items(generator: np.random.Generator, share: float, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw items of two overlapping classes."""
    y = (generator.random(n) < share).astype(int)
    return generator.normal(2.0 * y[:, None], 1.0), y


def main(picture: str) -> None:
    """Draw the picture: each time new labelled items, a new fit and new items to estimate."""
    generator = np.random.default_rng(0)
    answers = []
    for seed in range(100):
        quantifier = PACC(LogisticRegression(), random_state=seed).fit(*items(generator, 0.5, 500))
        answers.append(estimate(quantifier, items(generator, SHARE, 500)[0]))
    low, share, high = (np.array([getattr(a, name)[1] for a in answers]) for name in ("low", "shares", "high"))
    held = (low <= SHARE) & (high >= SHARE)
    with plt.style.context(Path(__file__).with_name("plain.mplstyle")):
        figure, axes = plt.subplots()
        at = np.arange(100)
        for which, colour in ((held, "#0072b2"), (~held, "#d55e00")):
            axes.vlines(at[which], low[which], high[which], color=colour, linewidth=1.5)
            axes.plot(at[which], share[which], ".", color=colour, markersize=4)
        axes.axhline(SHARE, color="#808080", linestyle=":")
        axes.set(
            xlabel="repetition", ylabel="share", title=f"{held.sum()} of 100 intervals hold the true share, {SHARE}"
        )
        axes.set_ylim(bottom=0)
        figure.savefig(picture, metadata={"Date": None})


if __name__ == "__main__":
    main(sys.argv[1])
