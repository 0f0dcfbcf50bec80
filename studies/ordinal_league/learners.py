"""The classifiers that are decomposed: the league's forest, and others for the comparison of methods."""

from collections.abc import Callable
from typing import Any

from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from studies.ordinal_league.recipe import SEED

LEAGUE, OTHER_SEED = "forest", "forest, other seed"
"""The league's forest, and the same setting with another seed, which tells how much forests move."""
FOLDS = 10
"""Folds of the training side of the learners that are not the league's, which has 20."""

OTHERS: dict[str, Callable[[], Any]] = {
    "extra trees": lambda: ExtraTreesClassifier(100, min_samples_leaf=3, max_features=None, random_state=SEED),
    "boosting": lambda: HistGradientBoostingClassifier(max_iter=60, random_state=SEED),
    "network": lambda: make_pipeline(
        StandardScaler(), MLPClassifier((32, 32), alpha=0.1, max_iter=100, random_state=SEED)
    ),
    "logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression(C=1.0, max_iter=1000)),
}
"""Parameters were chosen by cross-validation in the training part of the first repetition, before any bag was drawn."""
