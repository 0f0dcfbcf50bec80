"""`Held`: everything of a model that is kept in nodes and arrays, and its codec."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from headcount._typing import IntArray
from headcount.learners.outputs import Outputs
from headcount.modelfile.checks import check_integers, need
from headcount.modelfile.codecs.quantifiers import check_validated
from headcount.quantifiers import Quantifier

__all__ = ["Held", "HeldCodec", "check_held"]


@dataclass(frozen=True)
class Held:
    """A fitted quantifier, and what is known of labelled items.

    Attributes
    ----------
    quantifier : Quantifier
    reference, reference_codes, item_rows, item_features
        As in `Model`.
    """

    quantifier: Quantifier
    reference: Outputs | None
    reference_codes: IntArray | None
    item_rows: IntArray | None
    item_features: Any


class HeldCodec:
    """The last node of a model file."""

    tag = "model"
    path = "headcount.modelfile.codecs.held:Held"

    def fields(self, instance: Any) -> dict[str, Any]:
        """Return the quantifier and the rest."""
        return {field.name: getattr(instance, field.name) for field in fields(Held)}

    def make(self, fields: Any) -> Held:
        """Make what a model holds, and check that it fits together."""
        need(set(fields) == set(Held.__dataclass_fields__), "it holds no model")
        held = Held(**fields)
        check_held(held)
        return held


def check_held(held: Held) -> None:
    """Raise unless there is a fitted quantifier, and what is known of labelled items is of its classes and of each other."""
    quantifier = held.quantifier
    need(isinstance(quantifier, Quantifier), "it holds no fitted quantifier")
    classes = getattr(quantifier, "classes_", None)
    members = getattr(quantifier, "members_", None)
    scores = quantifier.needs <= {"features"} or hasattr(quantifier, "classifier_") or members is not None
    need(isinstance(classes, np.ndarray) and scores, "it holds no fitted quantifier")
    if members is not None:
        sound = isinstance(members, list) and members and all(isinstance(one, Quantifier) for one in members)
        need(bool(sound), "the members of a quantifier are not quantifiers")
        need(all(hasattr(one, "classes_") for one in members), "a member of a quantifier is not fitted")
    check_validated(quantifier)
    reference, codes = held.reference, held.reference_codes
    need((reference is None) == (codes is None), "what it holds of labelled items does not fit together")
    if reference is not None:
        need(isinstance(reference, Outputs), "what it holds of labelled items does not fit together")
        need(reference.classes.tolist() == classes.tolist(), "what it holds of labelled items is of other classes")  # type: ignore[union-attr]
        check_integers(codes, "reference_codes", (reference.n_items,), 0, len(classes))  # type: ignore[arg-type]
        need(len(np.unique(codes)) == len(classes), "what it holds of labelled items lacks a class")  # type: ignore[arg-type]
    rows, features = held.item_rows, held.item_features
    need((rows is None) == (features is None), "what it holds of items does not fit together")
    if rows is not None:
        known = getattr(quantifier, "validation_codes_", None)
        need(isinstance(known, np.ndarray), "what it holds of items does not fit together")
        check_integers(rows, "item_rows", (None,), 0, len(known))  # type: ignore[arg-type]
        sound = getattr(features, "ndim", 0) == 2 and features.shape[0] == len(rows) and features.dtype.kind in "fiu"
        need(sound, "what it holds of items does not fit together")
        values = features.data if hasattr(features, "tocsr") else features
        need(not np.isinf(values).any(), "the features of items are infinite")
