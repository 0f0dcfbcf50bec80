"""Diagonal plot of estimated against true shares; the band contains the middle 80 % of the samples at each true share."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from headcount import CC, PACC, PCC, ArtificialPrevalence, evaluate, plots


def main(picture: str) -> None:
    """Draw the picture."""
    X, y = make_classification(6000, n_informative=4, flip_y=0.15, random_state=1)
    methods = [CC(LogisticRegression()), PCC(LogisticRegression()), PACC(LogisticRegression(), random_state=0)]
    fitted = [method.fit(X[:2000], y[:2000]) for method in methods]
    protocol = ArtificialPrevalence(21, repeats=100, sample_size=500, random_state=0)
    with plt.style.context(Path(__file__).with_name("plain.mplstyle")):
        figure, axes = plt.subplots(figsize=(4.6, 4.4))
        plots.diagonal(evaluate(fitted, X[2000:], y[2000:], protocol), ax=axes)
        figure.savefig(picture, metadata={"Date": None})


if __name__ == "__main__":
    main(sys.argv[1])
