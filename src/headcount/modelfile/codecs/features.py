"""Codecs of what makes features: weights of terms, columns of tables, scalers and their like."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from headcount._roles import ROLE_KINDS, ColumnRole
from headcount.modelfile.checks import (
    check_flags,
    check_floats,
    check_integers,
    check_labels,
    check_number,
    check_strings,
    check_width,
    need,
)
from headcount.modelfile.codecs.base import EstimatorCodec, Learnt
from headcount.modelfile.nodes import LongTexts

__all__ = ["CODECS"]


_LARGEST_IDF = 1e3
"""Largest weight of a term: the logarithm of a number of texts."""


@dataclass(frozen=True)
class _TermsCodec(EstimatorCodec):
    """A transformer of texts, whose vocabulary is kept as a list of its terms."""

    def fields(self, instance: Any) -> dict[str, Any]:
        """Return parameters and what was learnt."""
        fields = super().fields(instance)
        vocabulary = fields["learnt"].get("vocabulary_")
        if vocabulary is not None:
            terms = sorted(vocabulary, key=vocabulary.get)
            need([vocabulary[term] for term in terms] == list(range(len(terms))), "a vocabulary has gaps")
            fields["learnt"] = fields["learnt"] | {"vocabulary_": LongTexts(terms)}
        return fields

    def make(self, fields: Any) -> Any:
        """Make the transformer."""
        learnt = fields.get("learnt")
        if isinstance(learnt, dict) and "vocabulary_" in learnt:
            terms = learnt["vocabulary_"]
            check_strings(terms, "vocabulary_")
            vocabulary = {term: column for column, term in enumerate(terms)}
            need(len(vocabulary) == len(terms), "a vocabulary names a term twice")
            fields = fields | {"learnt": learnt | {"vocabulary_": vocabulary}}
        return super().make(fields)


def check_tfidf(weights: Any) -> None:
    """Raise unless there is a factor for each term."""
    check_floats(weights.idf_, "idf_", (len(weights.vocabulary_),), largest=_LARGEST_IDF)
    need(getattr(weights, "unit_", "words") in ("words", "letters"), "unit_ is neither words nor letters")


def check_term_ids(ids: Any) -> None:
    """Raise unless there are as many ids as terms, and two more."""
    need(ids.n_ids_ == len(ids.vocabulary_) + 2 and ids.length <= 100_000, "n_ids_ is not the number of terms and 2")


def check_table_columns(columns: Any) -> None:
    """Raise unless what was learnt is of the columns with each role, as many as there are."""
    roles = columns.roles_
    need(isinstance(roles, dict) and roles and all(type(name) is str for name in roles), "roles_ names no columns")
    need(all(_is_role(role) for role in roles.values()), "roles_ does not say what columns are")
    named = {kind: [name for name, role in roles.items() if role["kind"] == kind] for kind in ROLE_KINDS}
    need(isinstance(columns.feature_names_in_, np.ndarray), "columns have no names")
    check_width(columns, len(columns.feature_names_in_))
    names = columns.feature_names_in_.tolist()
    need(set(roles) <= set(names) and len(set(names)) == len(names), "roles_ names columns that there are not")
    need(isinstance(columns.dropped_, dict) and set(columns.dropped_) <= set(names), "dropped_ names other columns")
    need(isinstance(columns.texts_, dict) and set(columns.texts_) <= set(named["text"]), "texts_ names other columns")
    for transformer in columns.texts_.values():
        need(
            hasattr(transformer, "transform") and hasattr(transformer, "vocabulary_"),
            "texts have no fitted transformer",
        )
    n = len(named["number"]) + max(0, len(named["date"]) - 1)
    check_floats(columns.medians_, "medians_", (n,))
    check_flags(columns.gaps_, "gaps_", (n,))
    check_integers(columns.bent_columns_, "bent_columns_", (None,), 0, n)
    bent = len(columns.bent_columns_)
    check_floats(columns.bends_, "bends_", (bent,))
    check_floats(columns.means_, "means_", (n + bent,))
    check_floats(columns.scales_, "scales_", (n + bent,))
    need(bool((columns.scales_ > 0.0).all()), "scales_ holds numbers that are not positive")
    for parts in (columns.coordinate_means_, columns.coordinate_scales_):
        need(isinstance(parts, dict) and set(parts) == set(named["embedding"]), "coordinates are of other columns")
        for name, one in parts.items():
            check_floats(one, "the coordinates of an embedding", (roles[name]["size"],))
    need(all((one > 0.0).all() for one in columns.coordinate_scales_.values()), "coordinates have no scale")
    for levels in (columns.categories_, columns.further_):
        need(isinstance(levels, dict) and set(levels) == set(named["category"]), "categories are of other columns")
        for one in levels.values():
            check_strings(one, "the categories of a column")
            need(len(set(one)) == len(one), "a column has a category twice")
    need(all(set(one) <= {"other", "missing"} for one in columns.further_.values()), "further_ names other categories")
    check_strings(columns.clocks_, "clocks_")
    need(set(columns.clocks_) <= set(named["date"]), "clocks_ names other columns")
    for name in ("text_weight_", "weight_"):
        check_number(getattr(columns, name), name, 0.0, 1e300)


def _is_role(role: Any) -> bool:
    types = {"kind": str, "complete": bool, "n_values": int, "month_first": bool, "size": int}
    return (
        isinstance(role, dict)
        and set(role) == set(types)
        and all(type(role[name]) is kind for name, kind in types.items())
        and role["kind"] in ROLE_KINDS
        and role["size"] >= 0
        and ColumnRole(**role) is not None
    )


def check_scaler(scaler: Any) -> None:
    """Raise unless means and scales, where they are used, are finite numbers of each feature."""
    width = scaler.n_features_in_
    check_width(scaler, width)
    for name, used in (("mean_", scaler.with_mean), ("scale_", scaler.with_std)):
        value = getattr(scaler, name)
        need(value is not None or not used, f"{name} is missing")
        if value is not None:
            check_floats(value, name, (width,))
    need(scaler.scale_ is None or (scaler.scale_ != 0.0).all(), "scale_ holds zeros")
    need(not scaler.with_std or scaler.scale_ is not None, "scale_ is missing")


def prepare_imputer(imputer: Any, learnt: dict[str, Any]) -> None:
    """Fit to one row, so that the private attributes of this version of the library are there."""
    check_floats(learnt["statistics_"], "statistics_", (None,), finite=False)
    need(len(learnt["statistics_"]), "statistics_ is empty")
    need(not imputer.add_indicator, "an imputer with add_indicator=True can't be kept in a model file")
    need(imputer.strategy in ("mean", "median", "most_frequent", "constant"), "the strategy of an imputer is unknown")
    imputer.fit(np.zeros((1, len(learnt["statistics_"]))))


def check_imputer(imputer: Any) -> None:
    """Raise unless there is a value for each feature."""
    check_width(imputer, len(imputer.statistics_))
    need(not np.isinf(imputer.statistics_).any(), "statistics_ holds infinite values")


def check_svd(svd: Any) -> None:
    """Raise unless the components are rows of as many numbers as there are features."""
    check_floats(svd.components_, "components_", (None, None))
    check_width(svd, svd.components_.shape[1])


def check_classes(encoder: Any) -> None:
    """Raise unless there are classes."""
    check_labels(encoder.classes_)


_TABLE: tuple[str, ...] = (
    "roles_",
    "dropped_",
    "texts_",
    "medians_",
    "gaps_",
    "bent_columns_",
    "bends_",
    "means_",
    "scales_",
)
_TABLE += ("coordinate_means_", "coordinate_scales_", "categories_", "further_", "clocks_", "text_weight_", "weight_")
CODECS = (
    _TermsCodec(
        "term weights",
        "headcount.features.term_weights:TermWeights",
        Learnt(("vocabulary_", "idf_", "unit_")),
        check_tfidf,
    ),
    _TermsCodec("log tfidf", "headcount.features.tfidf:LogTfidf", Learnt(("vocabulary_", "idf_")), check_tfidf),
    _TermsCodec("term ids", "headcount.features.term_ids:TermIds", Learnt(("vocabulary_", "n_ids_")), check_term_ids),
    EstimatorCodec(
        "table columns", "headcount.features.table_columns:TableColumns", Learnt(_TABLE), check_table_columns
    ),
    EstimatorCodec(
        "standard scaler",
        "sklearn.preprocessing._data:StandardScaler",
        Learnt(("mean_", "var_", "scale_", "n_samples_seen_")),
        check_scaler,
    ),
    EstimatorCodec(
        "simple imputer",
        "sklearn.impute._base:SimpleImputer",
        Learnt(("statistics_",)),
        check_imputer,
        prepare_imputer,
    ),
    EstimatorCodec(
        "truncated svd",
        "sklearn.decomposition._truncated_svd:TruncatedSVD",
        Learnt(("components_",), ("explained_variance_", "explained_variance_ratio_", "singular_values_")),
        check_svd,
    ),
    EstimatorCodec(
        "label binarizer",
        "sklearn.preprocessing._label:LabelBinarizer",
        Learnt(("classes_", "y_type_", "sparse_input_")),
        check_classes,
    ),
    EstimatorCodec("label encoder", "sklearn.preprocessing._label:LabelEncoder", Learnt(("classes_",)), check_classes),
)
