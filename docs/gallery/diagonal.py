"""Diagonal plot of estimated against true shares; the band contains the middle 80 % of the samples at each true share."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from headcount import CC, PACC, PCC, ArtificialPrevalence, evaluate


def main(picture: str) -> None:
    """Draw the picture."""
    X, y = make_classification(6000, n_informative=4, flip_y=0.15, random_state=1)
    methods = [CC(LogisticRegression()), PCC(LogisticRegression()), PACC(LogisticRegression(), random_state=0)]
    fitted = [method.fit(X[:2000], y[:2000]) for method in methods]
    protocol = ArtificialPrevalence(21, repeats=100, sample_size=500, random_state=0)
    with plt.style.context(Path(__file__).with_name("plain.mplstyle")):
        figure, axes = plt.subplots(figsize=(4.6, 4.4))
        axes.plot([0, 1], [0, 1], ":", color="#808080")
        for result in evaluate(fitted, X[2000:], y[2000:], protocol):
            true_shares = np.unique(result.true[:, 1])
            estimates = [result.estimated[result.true[:, 1] == share, 1] for share in true_shares]
            low, median, high = np.array([np.percentile(e, [10, 50, 90]) for e in estimates]).T
            axes.fill_between(true_shares, low, high, alpha=0.2, linewidth=0)
            axes.plot(true_shares, median, label=f"{result.name}: mean AE {result.ae.mean():.3f}")
        axes.set(xlabel="true share of the second class", ylabel="estimated share", xlim=(0, 1), ylim=(0, 1))
        axes.legend()
        figure.savefig(picture, metadata={"Date": None})


if __name__ == "__main__":
    main(sys.argv[1])
