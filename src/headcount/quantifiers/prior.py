"""The shares under which a classifier's posteriors hold, as SLD and QuaNet are told them."""

import warnings
from typing import Any

import numpy as np

from headcount._typing import AnyArray, FloatArray, IntArray
from headcount._validation import StrOptions, as_shares, quoted
from headcount.exceptions import DataError, PriorWarning

__all__ = ["PRIOR_CONSTRAINT", "known_prior", "warn_of_class_weights"]

PRIOR_CONSTRAINT = [StrOptions({"train", "uniform"}), "array-like"]


def known_prior(prior: Any, codes: IntArray, classes: AnyArray, frozen: bool, name: str) -> FloatArray:
    """Return the prior as an array: the training shares ("train"), equal ones ("uniform") or given ones.

    Parameters
    ----------
    prior : {"train", "uniform"} or array of shape (n_classes,)
    codes : array of int
        Classes of the items that the classifier is trained on.
    classes : array of shape (n_classes,)
    frozen : bool
        Whether the classifier was trained elsewhere, so that its training shares are not known.
    name : str
        Of the method, for messages.
    """
    k = len(classes)
    if not isinstance(prior, str):
        shares = as_shares(prior, "prior")
        if shares.shape != (k,) or not (shares >= 1e-12).all():
            raise DataError(
                f"prior must hold a positive share for each of the {k} classes ({quoted(classes)}); got {shares.tolist()}."
            )
        return shares
    if prior == "uniform":
        return np.full(k, 1.0 / k)
    if frozen:
        raise DataError(
            f"With a frozen classifier {name} can't know the class shares that it was trained on: pass prior=[...] in the order "
            f"of its classes ({quoted(classes)}), or prior='uniform' if it was trained with balanced weights."
        )
    return np.bincount(codes, minlength=k) / len(codes)


def warn_of_class_weights(classifier: Any, prior: Any, name: str) -> None:
    """Warn if a classifier weights its classes, so that its posteriors do not hold under the training shares.

    Parameters
    ----------
    classifier : estimator or None
    prior : {"train", "uniform"} or array
    name : str
        Of the method, for the message.
    """
    if classifier is None or not (isinstance(prior, str) and prior == "train") or not hasattr(classifier, "get_params"):
        return
    weighted = {
        key: value
        for key, value in classifier.get_params(deep=True).items()
        if key.rpartition("__")[2] == "class_weight" and value is not None
    }
    if weighted:
        key, value = next(iter(weighted.items()))
        advice = "prior='uniform'" if value == "balanced" else "the shares that the weights imply as prior"
        warnings.warn(
            f"{name} takes the posteriors to hold under the training shares, but the classifier has {key}={value!r}, so that they "
            f"hold under other ones, and the estimates will be off. Pass {advice}, or calibration='bcts'.",
            PriorWarning,
            stacklevel=5,
        )
