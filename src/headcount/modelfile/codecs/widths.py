"""How many features a fitted estimator reads and makes; None where that is not known."""

from collections.abc import Sequence
from typing import Any

from headcount.modelfile.checks import need

__all__ = ["check_same_width", "is_fitted", "width_in", "width_out"]


def width_in(estimator: Any) -> Any:
    """Return the number of features that a fitted estimator reads."""
    several = getattr(estimator, "classifiers", None) or getattr(estimator, "members_", None)
    if isinstance(several, list | tuple):
        return next((width for one in several if (width := width_in(one)) is not None), None)
    if hasattr(estimator, "steps"):
        return width_in(estimator.steps[0][1])
    if hasattr(estimator, "original"):
        return getattr(estimator, "n_features_in_", None)
    inner = getattr(estimator, "estimator", None) if type(estimator).__name__ == "FrozenEstimator" else None
    if inner is not None:
        return width_in(inner)
    return vars(estimator).get("n_features_in_") if hasattr(estimator, "__dict__") else None


def check_same_width(estimators: Sequence[Any]) -> None:
    """Raise unless all estimators read as many features, as far as that is known."""
    widths = {width_in(one) for one in estimators} - {None}
    need(len(widths) < 2, "classifiers of the same items read different features")


def is_fitted(estimator: Any) -> bool:
    """Whether an estimator, or what is in it, has learnt anything."""
    if hasattr(estimator, "steps"):
        return any(is_fitted(step) for _, step in estimator.steps)
    if type(estimator).__name__ == "FrozenEstimator":
        return is_fitted(estimator.estimator)
    return any(name.endswith("_") for name in getattr(estimator, "__dict__", ()))


def width_out(transformer: Any) -> Any:
    """Return the number of features that a fitted transformer makes."""
    name = type(transformer).__name__
    if hasattr(transformer, "steps"):
        widths = [width_out(step) for _, step in transformer.steps]
        return widths[-1]
    if name == "FrozenEstimator":
        return width_out(transformer.estimator)
    if name in ("LogTfidf", "TermWeights"):
        vocabulary = vars(transformer).get("vocabulary_")
        return None if vocabulary is None else len(vocabulary)
    if name == "TermIds":
        return int(transformer.length)
    if name == "StandardScaler":
        return vars(transformer).get("n_features_in_")
    if name == "SimpleImputer" and transformer.keep_empty_features and not transformer.add_indicator:
        return vars(transformer).get("n_features_in_")
    if name == "TruncatedSVD" and hasattr(transformer, "components_"):
        return len(transformer.components_)
    if name == "TableColumns" and hasattr(transformer, "weight_"):
        return len(transformer.get_feature_names_out())
    return None
