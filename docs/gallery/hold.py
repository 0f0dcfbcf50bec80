"""Intervals for 100 samples, each with its own labelled items; intervals that miss the true share are orange."""

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
    """Repeat with new labelled items, a new fit and new items to estimate, and draw the intervals."""
    generator = np.random.default_rng(0)
    answers = []
    for seed in range(100):
        quantifier = PACC(LogisticRegression(), random_state=seed).fit(*items(generator, 0.5, 500))
        answers.append(estimate(quantifier, items(generator, SHARE, 500)[0]))
    low, share, high = (np.array([getattr(a, name)[1] for a in answers]) for name in ("low", "shares", "high"))
    covers = (low <= SHARE) & (high >= SHARE)
    with plt.style.context(Path(__file__).with_name("plain.mplstyle")):
        figure, axes = plt.subplots()
        repetition = np.arange(100)
        for chosen, colour in ((covers, "#0072b2"), (~covers, "#d55e00")):
            axes.vlines(repetition[chosen], low[chosen], high[chosen], color=colour, linewidth=1.5)
            axes.plot(repetition[chosen], share[chosen], ".", color=colour, markersize=4)
        axes.axhline(SHARE, color="#808080", linestyle=":")
        title = f"{covers.sum()} of 100 intervals contain the true share, {SHARE}"
        axes.set(xlabel="repetition", ylabel="share", title=title)
        axes.set_ylim(bottom=0)
        figure.savefig(picture, metadata={"Date": None})


if __name__ == "__main__":
    main(sys.argv[1])
