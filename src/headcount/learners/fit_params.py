"""Parameters for a classifier's ``fit``, such as ``sample_weight``: checked, and cut to the rows that are fitted."""

from collections.abc import Mapping
from inspect import Parameter, signature
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_method_params

from headcount._typing import IntArray, Items
from headcount._validation import quoted
from headcount.exceptions import ClassifierError, DataError
from headcount.learners.scoring import name_of

__all__ = ["check_accepted", "checked_fit_params", "cut_fit_params"]


def checked_fit_params(params: Mapping[str, Any] | None, n_items: int) -> dict[str, Any]:
    """Return the parameters that are given; sample weights must have one entry for each item.

    None counts as not given, as in scikit-learn's metadata routing. A weight array of another length could otherwise match the
    length of a part of the items by chance, and be taken for its weights.
    """
    given = {name: value for name, value in (params or {}).items() if value is not None}
    for name, value in given.items():
        if name.endswith("sample_weight") and np.ndim(value) and len(value) != n_items:
            raise DataError(f"{name} has {len(value)} entries for {n_items} items: one for each is needed.")
    return given


def cut_fit_params(params: dict[str, Any], X: Items, rows: IntArray | None) -> dict[str, Any]:
    """Cut arrays with one entry for each item to these rows; other values are returned as they are."""
    cut: dict[str, Any] = _check_method_params(X, params, rows)
    return cut


def check_accepted(classifier: Any, params: Mapping[str, Any]) -> None:
    """Raise unless the classifier's ``fit`` takes these parameters.

    `CalibratedClassifierCV` only warns, and weights the calibration but not the classifier, so the classifier inside is checked.
    """
    from sklearn.calibration import CalibratedClassifierCV

    while isinstance(classifier, CalibratedClassifierCV) and classifier.estimator is not None:
        classifier = classifier.estimator
    accepted = signature(classifier.fit).parameters
    refused = sorted(set(params) - set(accepted))
    if refused and all(parameter.kind is not Parameter.VAR_KEYWORD for parameter in accepted.values()):
        raise ClassifierError(
            f"The fit method of {name_of(classifier)} takes no {quoted(refused)}: omit it, or use a classifier that takes it."
        )
