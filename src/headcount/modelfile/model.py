"""`Model`: a fitted quantifier, the columns it reads, held-out scores for checks, and where it comes from."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headcount._typing import AnyArray, FloatArray, IntArray
from headcount._validation import plain
from headcount.checks import ItemFeatures, LabelledItems, item_features
from headcount.checks.items import chosen_items
from headcount.learners import Outputs
from headcount.learners.fold_classifiers import first_classifier
from headcount.learners.scoring import name_of
from headcount.modelfile.columns import Columns
from headcount.quantifiers import Quantifier
from headcount.tables import ColumnRole

__all__ = ["Model"]

_SCORED_HERE = ("text", "numbers", "mixed")
"""Kinds of columns whose items the classifier scores, rather than to come with scores."""
_MOST_ITEMS = 1_000
"""Held-out items whose features are kept in a file: of texts at most 4,000 letters each, so 6 MB at most, 0.3 MB for reviews."""


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A fitted quantifier as it is kept in a file.

    Attributes
    ----------
    quantifier : fitted quantifier
        Of a search or an `AutoQuantifier`, the best one is kept, with its held-out items.
    columns : Columns
    reference : Outputs or None
        Posteriors of labelled items that the classifier was not trained on, to check later items with.
    reference_codes : array of int or None
        The classes of these items, as positions in ``quantifier.classes_``.
    source : dict
        Name, fingerprint and number of rows of the labelled file, and the shares of its classes.
    seed : int or None
    ranking : list of dict
        What else was tried, best first, and how sure that order is.
    skipped : list of dict
        What was not tried, and why.
    written : str
        When the file was written; empty before.
    item_rows, item_features : array of int and matrix, or None
        Of a model that was read from a file: which of the held-out items have features in it, and these.
    """

    quantifier: Quantifier
    columns: Columns
    reference: Outputs | None = None
    reference_codes: IntArray | None = None
    source: dict[str, Any] = field(default_factory=dict)
    seed: int | None = None
    ranking: list[dict[str, Any]] = field(default_factory=list)
    skipped: list[dict[str, Any]] = field(default_factory=list)
    written: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    item_rows: IntArray | None = None
    item_features: Any = None

    def __post_init__(self) -> None:
        held_out: Any = getattr(self.quantifier, "held_out_", None)
        object.__setattr__(self, "quantifier", self.quantifier.chosen)
        if self.reference is None and held_out is not None:
            object.__setattr__(self, "reference", held_out[0])
            object.__setattr__(self, "reference_codes", held_out[1])

    @property
    def classes(self) -> AnyArray:
        """The classes, in the order of all shares."""
        return self.quantifier.classes_

    @property
    def ordered(self) -> bool:
        """Whether the order of the classes means something."""
        return self.quantifier.is_ordered

    @property
    def method(self) -> str:
        """The name of the quantifier's class."""
        return type(self.quantifier).__name__

    @property
    def learner(self) -> str:
        """The name of the classifier's class: of a pipeline, that of its last step."""
        classifier = first_classifier(getattr(self.quantifier, "classifier_", None))
        if classifier is None:
            return ""
        return name_of(classifier[-1] if hasattr(classifier, "steps") else classifier)

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters of quantifier and classifier; values that JSON can't hold are written as text."""
        flat = self.quantifier.get_params()
        return {key: _simple(value) for key, value in sorted(flat.items()) if not hasattr(value, "get_params")}

    @property
    def only_decides(self) -> bool:
        """Whether only the decisions of held-out items are known, not their posteriors."""
        kept = self.quantifier.validation_items()
        return self.columns.kind == "decisions" or (
            self.reference is None and kept is not None and kept[0].posteriors is None
        )

    def held_out(self) -> tuple[FloatArray, IntArray] | None:
        """Return posteriors and classes of labelled items that the classifier was not trained on, if there are any.

        Of a classifier that only decides, the posteriors are 0 and 1.
        """
        if self.reference is not None and self.reference_codes is not None:
            return self.reference.need("posteriors"), self.reference_codes
        kept = self.quantifier.validation_items()
        if kept is None or (getattr(self.quantifier, "refit", False) and self.columns.kind in _SCORED_HERE):
            return None  # the classifier was refitted: the folds' scores are those of others
        outputs, codes = kept
        decided = outputs.posteriors is None
        return np.eye(len(self.classes))[outputs.need("decisions")] if decided else outputs.need("posteriors"), codes

    def kept_items(self) -> tuple[IntArray, Any] | None:
        """Return which of the held-out items are kept for the check of the items themselves, and their features.

        At most `_MOST_ITEMS`: of texts the counts of hashed terms, else the numbers.
        """
        if self.item_rows is not None:
            return self.item_rows, self.item_features
        items = getattr(self.quantifier, "validation_items_", None)
        if items is None or self.reference is not None or self.columns.kind not in _SCORED_HERE:
            return None
        n, design = len(self.quantifier.validation_codes_), self.quantifier.validation_design_
        weights = None if design is None else design.weights
        rows = chosen_items(n, weights, np.random.default_rng(0), _MOST_ITEMS)
        found = item_features(items, rows)
        return None if found is None else (rows, found.X)

    def labelled_items(self) -> LabelledItems | None:
        """Return features, classes and posteriors of held-out items, if the file has them."""
        kept, held_out = self.kept_items(), self.held_out()
        if kept is None or held_out is None or self.only_decides:
            return None
        rows, X = kept
        if self.columns.kind == "mixed":
            features = ItemFeatures(X, number_names(self.columns.names, self.columns.roles), True)
        else:
            names = () if self.columns.kind == "text" or X.shape[1] != len(self.columns.names) else self.columns.names
            features = ItemFeatures(X, names, self.columns.kind == "text")
        design = self.quantifier.validation_design_
        same = design is not None and design.clusters is not None and design.n_items == len(held_out[1])
        clusters = design.item_clusters[rows] if design is not None and same else None
        return LabelledItems(features, held_out[1][rows], held_out[0][rows], clusters)

    def __repr__(self) -> str:
        learner = f" over {self.learner}" if self.learner else ""
        return f"Model({self.method}{learner}, {len(self.classes)} classes, {self.columns.kind})"


def number_names(names: Sequence[str], roles: Sequence[ColumnRole]) -> tuple[str, ...]:
    """Return the name of each number of an item with columns of these roles."""
    numbers: list[str] = []
    for name, role in zip(names, roles, strict=True):
        numbers += [name] if role.kind == "number" else [name] * role.size
    return tuple(numbers)


def _simple(value: Any) -> Any:
    value = plain(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple) and len(value) <= 100:
        return [_simple(item) for item in value]
    return repr(value)[:200]
