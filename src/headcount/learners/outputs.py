"""`Outputs`: what methods need of the items of a pool, scored once and used by every method.

These are a classifier's decisions, posteriors and embeddings, or the items' own features.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from headcount._typing import AnyArray, FloatArray, IntArray, Labels
from headcount._validation import as_classes, encode, plain, quoted
from headcount._writing import html_frame
from headcount.exceptions import DataError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Need", "Outputs"]

Need: TypeAlias = Literal["decisions", "posteriors", "embeddings", "features"]
"""What a quantifier needs of each item: an output of the classifier, or the item's own features."""

_ROW_SUM_TOLERANCE = 1e-3
"""How far from 1 the posteriors of an item may sum: rounded to three digits, or computed in half precision, they still pass."""
_ROUNDING = 1e-9
"""How far below 0 a posterior may lie: 1 - p is negative where p is rounded to more than 1."""
_KINDS = get_args(Need)


@dataclass(frozen=True, eq=False, repr=False)
class Outputs:
    """A classifier's outputs for the items of a pool.

    Parameters
    ----------
    classes : array of shape (n_classes,)
        The classes, in the order of the posteriors' columns.
    n_items : int
    decisions : array of int, shape (n_items,), optional
        The decision for each item, as a position in ``classes``.
    posteriors : array of shape (n_items, n_classes), optional
        The probability of each class given the item.
    embeddings : array of shape (n_items, n_features), optional
        The classifier's inner representation of the item (its ``transform``), for methods that learn from it.
    features : array or CSR matrix of shape (n_items, n_features), optional
        The items' own features, for methods that work without a classifier.
    folds : sequence of Outputs, optional
        The outputs of each of several fold classifiers for the same items (cross-fitting); decisions and posteriors are then those
        of the classifiers together. Outputs of K folds take K + 1 times the memory of one.
    members : sequence of Outputs, optional
        The outputs that each member of a method of several quantifiers needs, for the same items; each with its own classes.

    See Also
    --------
    Outputs.from_posteriors, Outputs.from_decisions : for outputs of a classifier that runs elsewhere.
    """

    classes: AnyArray
    n_items: int
    decisions: IntArray | None = None
    posteriors: FloatArray | None = None
    embeddings: AnyArray | None = None
    features: Any = None
    folds: "tuple[Outputs, ...] | None" = None
    members: "tuple[Outputs, ...] | None" = None

    def __post_init__(self) -> None:
        if self.posteriors is not None:
            object.__setattr__(self, "posteriors", _checked_posteriors(self.posteriors, self.classes))
        if self.decisions is not None:
            codes, last = np.asarray(self.decisions), len(self.classes) - 1
            are_integers = codes.ndim == 1 and codes.dtype.kind in "iu"
            if not are_integers or (codes.size and not 0 <= codes.min() <= codes.max() <= last):
                raise DataError(
                    f"decisions must be positions in classes, whole numbers from 0 to {last}, one an item; "
                    "Outputs.from_decisions takes labels."
                )
            object.__setattr__(self, "decisions", np.ascontiguousarray(codes, dtype=np.int32))
        if self.embeddings is not None:
            object.__setattr__(self, "embeddings", _checked_embeddings(self.embeddings))
        if self.features is not None:
            object.__setattr__(self, "features", _checked_features(self.features))
        for kind in self._kinds():
            if (n := getattr(self, kind).shape[0]) != self.n_items:
                raise DataError(f"There are {n} {kind} for {self.n_items} items: one for each is needed.")
        if self.folds is not None:
            object.__setattr__(self, "folds", tuple(fold.aligned_to(self.classes) for fold in self.folds))
            sizes = {fold.n_items for fold in self.folds}
            if sizes != {self.n_items} or any(fold.folds is not None for fold in self.folds):
                raise DataError(
                    f"folds must be the outputs of one or more classifiers for the same {self.n_items} items; they hold "
                    f"{quoted(sorted(sizes))}."
                )
        if self.members is not None and {member.n_items for member in self.members} != {self.n_items}:
            raise DataError(f"members must be outputs for the same {self.n_items} items, of one or more quantifiers.")

    @classmethod
    def from_posteriors(
        cls, posteriors: Any, classes: Labels, decisions: Labels | None = None, embeddings: Any = None
    ) -> "Outputs":
        """Make outputs from posteriors, wherever they were computed.

        Parameters
        ----------
        posteriors : array of shape (n_items, n_classes), or (n_items,) for two classes
            Each row sums to 1. A vector holds the posteriors of the second class.
        classes : sequence of labels, in the order of the columns
        decisions : labels of shape (n_items,), optional
            By default the classes of the largest posteriors.
        embeddings : array of shape (n_items, n_features), optional
            For methods that need them.

        Examples
        --------
        >>> Outputs.from_posteriors([[0.9, 0.1], [0.3, 0.7]], classes=["neg", "pos"])
        Outputs(2 items, classes 'neg', 'pos', decisions and posteriors)
        """
        names = as_classes(classes)
        if np.ma.is_masked(posteriors):
            raise DataError("Posteriors have masked values: remove these items.")
        try:
            P = np.array(posteriors, dtype=np.float64, order="C")
        except (TypeError, ValueError) as error:
            raise DataError(f"Posteriors must be numbers in a matrix, one row an item: {error}") from error
        if P.ndim == 1 and len(names) == 2:
            P = np.column_stack([1.0 - P, P])
        P = _checked_posteriors(P, names)
        codes = P.argmax(axis=1) if decisions is None else encode(decisions, names, "decisions")
        return cls(names, len(P), codes, P, embeddings)

    @classmethod
    def from_decisions(cls, decisions: Labels, classes: Labels) -> "Outputs":
        """Make outputs from decided labels, wherever they were computed; CC and ACC need no more.

        >>> Outputs.from_decisions(["pos", "neg", "pos"], classes=["neg", "pos"])
        Outputs(3 items, classes 'neg', 'pos', decisions)
        """
        names = as_classes(classes)
        codes = encode(decisions, names, "decisions")
        return cls(names, len(codes), codes)

    @classmethod
    def from_folds(cls, folds: Sequence["Outputs"]) -> "Outputs":
        """Join the outputs of several classifiers for the same items, as cross-fitting makes them.

        The posteriors are the mean of the classifiers'; the decision is the class of the largest mean posterior or, without
        posteriors, the one that most classifiers decide for (of equally many, the first).

        >>> a = Outputs.from_posteriors([[0.9, 0.1]], classes=["neg", "pos"])
        >>> b = Outputs.from_posteriors([[0.3, 0.7]], classes=["neg", "pos"])
        >>> Outputs.from_folds([a, b]).posteriors.round(9).tolist()
        [[0.6, 0.4]]
        """
        classes = folds[0].classes
        aligned = [fold.aligned_to(classes) for fold in folds]
        common = [kind for kind in aligned[0]._kinds() if all(kind in fold._kinds() for fold in aligned)]
        posteriors: FloatArray | None = None
        decisions: IntArray | None = None
        if "posteriors" in common:
            posteriors = np.mean([fold.need("posteriors") for fold in aligned], axis=0)
        if "decisions" in common:
            votes = sum(np.eye(len(classes), dtype=np.int32)[fold.need("decisions")] for fold in aligned)
            decisions = np.argmax(votes if posteriors is None else posteriors, axis=1)
        return cls(classes, folds[0].n_items, decisions, posteriors, folds=tuple(aligned))

    @classmethod
    def concatenated(cls, parts: Sequence["Outputs"]) -> "Outputs":
        """Join the outputs of several parts of a pool, over the same classes.

        >>> a = Outputs.from_decisions(["pos"], classes=["neg", "pos"])
        >>> Outputs.concatenated([a, a]).decisions.tolist()
        [1, 1]
        """
        if len(parts) == 1:
            return parts[0]
        classes = parts[0].classes
        aligned = [part.aligned_to(classes) for part in parts]
        common = [kind for kind in aligned[0]._kinds() if all(kind in part._kinds() for part in aligned)]
        joined: dict[str, Any] = {kind: _stacked([getattr(part, kind) for part in aligned]) for kind in common}
        if all(part.folds is not None for part in aligned):
            by_part = [part.folds or () for part in aligned]
            if len({len(folds) for folds in by_part}) > 1:
                raise DataError(
                    "Outputs of different numbers of folds can't be joined: score all items with one quantifier."
                )
            joined["folds"] = tuple(cls.concatenated(fold) for fold in zip(*by_part, strict=True))
        if all(part.members is not None for part in aligned):
            joined["members"] = tuple(
                cls.concatenated(member) for member in zip(*(part.members or () for part in aligned), strict=True)
            )
        return cls(classes, sum(part.n_items for part in aligned), **joined)

    def joined(self, other: "Outputs") -> "Outputs":
        """Return all that is known of the same items from these outputs and from others of the same classifier."""
        other = other.aligned_to(self.classes)
        kinds = {name: getattr(self if getattr(self, name) is not None else other, name) for name in _KINDS}
        folds = None
        if self.folds is not None and other.folds is not None:
            folds = tuple(a.joined(b) for a, b in zip(self.folds, other.folds, strict=True))
        members = self.members if self.members is not None else other.members
        return Outputs(self.classes, self.n_items, **kinds, folds=folds, members=members)

    def take(self, rows: IntArray) -> "Outputs":
        """Return the outputs of these items."""
        kept = {name: getattr(self, name) for name in _KINDS}
        taken: dict[str, Any] = {name: None if a is None else a[rows] for name, a in kept.items()}
        for name, parts in (("folds", self.folds), ("members", self.members)):
            taken[name] = None if parts is None else tuple(part.take(rows) for part in parts)
        return Outputs(self.classes, len(rows), **taken)

    def __len__(self) -> int:
        return self.n_items

    def __repr__(self) -> str:
        return f"Outputs({self.n_items:,} items, classes {quoted(self.classes)}, {self._contents()})"

    def _repr_html_(self) -> str:
        """Return a table for a notebook: the share of the decisions and the mean posterior of each class."""
        import pandas as pd

        columns: dict[str, Any] = {"class": [plain(label) for label in self.classes]}
        if self.decisions is not None:
            counts = np.bincount(self.decisions, minlength=len(self.classes))
            columns["share of decisions"] = counts / max(self.n_items, 1)
        if self.posteriors is not None:
            columns["mean posterior"] = self.posteriors.mean(axis=0)
        return html_frame(f"Outputs: {self.n_items:,} items, {self._contents()}", pd.DataFrame(columns))

    def to_frame(self) -> "pd.DataFrame":
        """Return a data frame with one row an item: its decision, and the posterior of each class; of folds, theirs too.

        >>> Outputs.from_posteriors([[0.9, 0.1], [0.3, 0.7]], classes=["neg", "pos"]).to_frame()
          decision  posterior_neg  posterior_pos
        0      neg            0.9            0.1
        1      pos            0.3            0.7
        """
        import pandas as pd

        columns: dict[str, AnyArray] = {}
        if self.decisions is not None:
            columns["decision"] = self.classes[self.decisions]
        if self.posteriors is not None:
            for j, label in enumerate(self.classes):
                columns[f"posterior_{plain(label)}"] = self.posteriors[:, j].copy()
        for f, fold in enumerate(self.folds or ()):
            columns |= {f"fold{f}_{name}": values.to_numpy() for name, values in fold.to_frame().items()}
        return pd.DataFrame(columns, index=range(self.n_items))

    def _kinds(self) -> list[str]:
        """Return what these outputs hold."""
        return [kind for kind in _KINDS if getattr(self, kind) is not None]

    def _contents(self) -> str:
        if self.members is not None:
            return f"outputs of {len(self.members)} members"
        *first, last = self._kinds() or ["neither decisions nor posteriors"]
        kinds = f"{', '.join(first)} and {last}" if first else last
        return kinds if self.folds is None else f"{kinds} of {len(self.folds)} folds"

    def need(self, what: Need) -> AnyArray:
        """Return the decisions, posteriors, embeddings or features; raise if these outputs were made without them."""
        values: AnyArray | None = getattr(self, what)
        if values is None and what == "features":
            raise DataError(
                "These outputs hold no features of the items, which the method needs, as it works without a classifier: score the "
                "items themselves with quantifier.outputs(X)."
            )
        if values is None:
            maker = "Outputs.from_decisions" if what == "decisions" else "Outputs.from_posteriors"
            raise DataError(
                f"These outputs hold no {what}, which the method needs: score the pool with a quantifier that needs them, or pass "
                f"them to {maker}."
            )
        return values

    def aligned_to(self, classes: AnyArray) -> "Outputs":
        """Return these outputs with their classes in the given order; raise if the classes differ."""
        same_order = len(classes) == len(self.classes) and bool(np.all(classes == self.classes))
        if same_order and (classes.dtype.kind == self.classes.dtype.kind or classes.dtype.kind not in "US"):
            return self
        codes = encode(self.classes, classes, "classes of the outputs")
        if len(codes) != len(classes):
            raise DataError(
                f"The outputs have the classes {quoted(self.classes)}; the quantifier was fitted for {quoted(classes)}."
            )
        decisions = None if self.decisions is None else codes[self.decisions]
        posteriors = None if self.posteriors is None else np.ascontiguousarray(self.posteriors[:, np.argsort(codes)])
        return Outputs(
            classes, self.n_items, decisions, posteriors, self.embeddings, self.features, self.folds, self.members
        )


def _checked_posteriors(posteriors: Any, classes: AnyArray) -> FloatArray:
    """Return posteriors as a matrix of floats; raise unless each row is a distribution over the classes."""
    P: FloatArray = np.ascontiguousarray(posteriors, dtype=np.float64)
    if P.ndim != 2 or P.shape[1] != len(classes):
        raise DataError(
            f"Posteriors must have one column for each of the {len(classes)} classes ({quoted(classes)}); "
            f"their shape is {P.shape}."
        )
    if len(P) == 0:
        raise DataError("Posteriors are empty: at least one item is needed.")
    with np.errstate(invalid="ignore"):
        sums = P @ np.ones(P.shape[1])  # ten times as fast as P.sum(axis=1)
    lowest = P.min()
    if np.isfinite(sums).all() and lowest >= -_ROUNDING and np.abs(sums - 1.0).max() <= _ROW_SUM_TOLERANCE:
        return P if lowest >= 0.0 else np.maximum(P, 0.0)
    with np.errstate(invalid="ignore"):
        bad = ~(np.isfinite(P).all(axis=1) & (P >= -_ROUNDING).all(axis=1) & (np.abs(sums - 1.0) <= _ROW_SUM_TOLERANCE))
    row = int(np.flatnonzero(bad)[0])
    raise DataError(
        f"Posteriors must be finite, not negative, and sum to 1 for each item; row {row} is {P[row].tolist()} "
        f"({int(bad.sum()):,} of {len(P):,} rows are wrong). Divide scores by their row sums, or calibrate the classifier."
    )


def _checked_features(features: Any) -> Any:
    """Return features as a matrix of finite floats, dense or CSR; raise unless there is one row an item."""
    from scipy.sparse import issparse

    try:
        sparse: Any = features if issparse(features) else None
        F: Any = np.ascontiguousarray(features, dtype=np.float64) if sparse is None else sparse.tocsr()
        F = F if F.dtype == np.float64 else F.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"Features must be numbers in a matrix, one row an item: {error}") from error
    if F.ndim != 2 or not np.isfinite(F.data if hasattr(F, "tocsr") else F).all():
        raise DataError(
            f"Features must be finite numbers in a matrix, one row an item; NaN or shape {F.shape} was found."
        )
    return F


def _stacked(parts: list[Any]) -> Any:
    """Join the rows of arrays or of sparse matrices."""
    from scipy.sparse import issparse, vstack

    return vstack(parts, format="csr") if any(map(issparse, parts)) else np.concatenate(parts)


def _checked_embeddings(embeddings: Any) -> AnyArray:
    """Return embeddings as a dense matrix of floats; raise unless they are finite numbers, one row an item."""
    dense = embeddings.toarray() if hasattr(embeddings, "toarray") else embeddings
    try:
        E = np.ascontiguousarray(dense, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise DataError(f"Embeddings must be numbers in a matrix, one row an item: {error}") from error
    if E.ndim != 2 or not np.isfinite(E).all():
        raise DataError(
            f"Embeddings must be finite numbers in a matrix, one row an item; these have shape {E.shape}"
            f"{'' if np.isfinite(E).all() else ' and NaN or infinite values'}."
        )
    return E
