"""How many features a fitted estimator reads and makes; None where that is not known."""

from typing import Any

__all__ = ["width_in", "width_out"]


def width_in(estimator: Any) -> Any:
    """Return the number of features that a fitted estimator reads."""
    if hasattr(estimator, "steps"):
        return width_in(estimator.steps[0][1])
    if hasattr(estimator, "original"):
        return getattr(estimator, "n_features_in_", None)
    inner = getattr(estimator, "estimator", None) if type(estimator).__name__ == "FrozenEstimator" else None
    if inner is not None:
        return width_in(inner)
    return vars(estimator).get("n_features_in_") if hasattr(estimator, "__dict__") else None


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
