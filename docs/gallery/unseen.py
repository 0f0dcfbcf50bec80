"""A class never seen in training: the scores are no mixture of those of the known classes, and the check says so."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from headcount import PACC
from headcount.checks import check


def main(picture: str) -> None:
    """Draw the picture: two piles with the same shares, one with a third kind of items among them."""
    generator = np.random.default_rng(0)

    def drawn(centres: list[float], n: int) -> np.ndarray:
        return np.concatenate([generator.normal(c, 1.0, (n, 1)) for c in centres])

    X, y = drawn([-2.0, 2.0], 1000), np.repeat(["no", "yes"], 1000)
    quantifier = PACC(LogisticRegression(), random_state=0).fit(X, y)
    piles = {"only known classes": drawn([-2.0, 2.0], 600), "with a third class": drawn([-2.0, 0.0, 2.0], 400)}
    with plt.style.context(Path(__file__).with_name("plain.mplstyle")):
        figure, axes = plt.subplots(1, 2, figsize=(6.8, 3.2), sharey=True)
        for place, (name, pile) in zip(axes, piles.items(), strict=True):
            report = check(quantifier, pile)
            place.hist(quantifier.outputs(pile).posteriors[:, 1], bins=25, range=(0, 1))
            place.set(title=f"{name}: {report.verdict}\n(p = {report.p_label_shift:.2g})", xlabel="score for yes")
        axes[0].set_ylabel("items")
        figure.savefig(picture, metadata={"Date": None})


if __name__ == "__main__":
    main(sys.argv[1])
