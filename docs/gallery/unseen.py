"""Detecting a class that training never saw: its scores are not a mixture of those of the training classes."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from headcount import PACC
from headcount.checks import check


def main(picture: str) -> None:
    """Draw the scores of two samples, one of which has items of a third class."""
    generator = np.random.default_rng(0)

    def draw(centres: list[float], n: int) -> np.ndarray:
        return np.concatenate([generator.normal(c, 1.0, (n, 1)) for c in centres])

    X, y = draw([-2.0, 2.0], 1000), np.repeat(["no", "yes"], 1000)
    quantifier = PACC(LogisticRegression(), random_state=0).fit(X, y)
    samples = {"only known classes": draw([-2.0, 2.0], 600), "with a third class": draw([-2.0, 0.0, 2.0], 400)}
    with plt.style.context(Path(__file__).with_name("plain.mplstyle")):
        figure, axes = plt.subplots(1, 2, figsize=(6.8, 3.2), sharey=True)
        for panel, (name, sample) in zip(axes, samples.items(), strict=True):
            report = check(quantifier, sample)
            panel.hist(quantifier.outputs(sample).posteriors[:, 1], bins=25, range=(0, 1))
            panel.set(title=f"{name}: {report.verdict}\n(p = {report.p_label_shift:.2g})", xlabel="score for yes")
        axes[0].set_ylabel("items")
        figure.savefig(picture, metadata={"Date": None})


if __name__ == "__main__":
    main(sys.argv[1])
