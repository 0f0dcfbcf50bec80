"""Mean absolute error against shift, the distance of a sample's shares from those of the training items."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from headcount import CC, MLPE, PACC, PCC, SLD, ArtificialPrevalence, evaluate, plots


def main(picture: str) -> None:
    """Draw the picture."""
    X, y = make_classification(8000, n_informative=4, weights=[0.7], flip_y=0.1, random_state=1)
    learner = LogisticRegression()
    methods = [MLPE(), CC(learner), PCC(learner), PACC(learner, random_state=0), SLD(learner)]
    fitted = [method.fit(X[:2000], y[:2000]) for method in methods]
    protocol = ArtificialPrevalence(21, repeats=50, sample_size=500, random_state=0)
    with plt.style.context(Path(__file__).with_name("plain.mplstyle")):
        figure, axes = plt.subplots()
        results = evaluate(fitted, X[2000:], y[2000:], protocol)
        plots.error_by_shift(results, [1 - y[:2000].mean(), y[:2000].mean()], n_bins=14, ax=axes)
        figure.savefig(picture, metadata={"Date": None})


if __name__ == "__main__":
    main(sys.argv[1])
