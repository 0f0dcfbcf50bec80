"""What learners are called where people read of a model: the names that `headcount fit --learner` takes, and titles."""

__all__ = ["LEARNER_TITLES", "learner_title"]

LEARNER_TITLES = {
    "lr": "logistic regression",
    "nb": "naive Bayes",
    "forest": "random forest",
    "boosting": "gradient boosting",
    "vote": "vote of all",
    "svm": "support vector machine",
}
"""Titles of learners by the names that `headcount fit --learner` takes."""
_CLASSES = {
    "NewtonLogisticRegression": LEARNER_TITLES["lr"],
    "MultinomialNB": LEARNER_TITLES["nb"],
    "RandomForestClassifier": LEARNER_TITLES["forest"],
    "BoostedTrees": LEARNER_TITLES["boosting"],
    "Vote": LEARNER_TITLES["vote"],
    "NewtonLinearSVC": LEARNER_TITLES["svm"],
    "BlackBox": "your own classifier",
}


def learner_title(class_name: str) -> str:
    """Return what a learner of this class is called; the name of the class if it has no other.

    >>> learner_title("MultinomialNB"), learner_title("KNeighborsClassifier")
    ('naive Bayes', 'KNeighborsClassifier')
    """
    return _CLASSES.get(class_name, class_name)
