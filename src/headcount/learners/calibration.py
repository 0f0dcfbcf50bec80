"""Posteriors for classifiers without ``predict_proba``: Platt's sigmoid (1999) over held-out decision values."""

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, clone

from headcount._typing import IntArray
from headcount.exceptions import DataError
from headcount.learners.scoring import name_of, require

__all__ = ["with_posteriors"]

_FOLDS = 5


def with_posteriors(classifier: BaseEstimator, codes: IntArray, n_classes: int) -> BaseEstimator:
    """Return the classifier itself if it has ``predict_proba``, else wrapped in five-fold Platt calibration.

    A frozen classifier is calibrated on the data that the wrapper is fitted on; it is not refitted. Sample weights given to the
    wrapper's ``fit`` reach the classifier and the calibration.

    >>> from sklearn.svm import LinearSVC
    >>> type(with_posteriors(LinearSVC(), np.repeat([0, 1], 10), 2)).__name__
    'CalibratedClassifierCV'
    """
    if hasattr(classifier, "predict_proba"):
        return classifier
    require(classifier, "decision_function")
    from sklearn.calibration import CalibratedClassifierCV

    rarest = int(np.bincount(codes, minlength=n_classes).min())
    if rarest < 2:
        raise DataError(
            f"{name_of(classifier)} has no predict_proba and must be calibrated, which takes at least 2 labelled items "
            f"of each class in its training part; the rarest class has {rarest}. Label more items, or use a classifier with "
            "predict_proba."
        )
    return CalibratedClassifierCV(_without_aliases(classifier), method="sigmoid", cv=min(_FOLDS, rarest))


def _without_aliases(classifier: BaseEstimator) -> BaseEstimator:
    """Return the classifier with its requests for metadata under the parameter names of its ``fit``.

    A quantifier has resolved aliases when it hands parameters on, so that the wrapper's routing would not find them by an alias.
    """
    if not get_config()["enable_metadata_routing"] or not hasattr(classifier, "set_fit_request"):
        return classifier
    requests = classifier.get_metadata_routing().fit.requests
    aliased = [name for name, request in requests.items() if isinstance(request, str) and request.isidentifier()]
    return clone(classifier).set_fit_request(**dict.fromkeys(aliased, True))
