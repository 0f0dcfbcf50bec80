"""`Outputs`: what a classifier says about every item of a pool, scored once and then used by every method."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from headcount._typing import AnyArray, FloatArray, IntArray, Labels
from headcount._validation import as_classes, encode, quoted
from headcount.exceptions import DataError

__all__ = ["Need", "Outputs"]

Need: TypeAlias = Literal["decisions", "posteriors", "embeddings"]
"""What a quantifier needs to know of each item."""

_ROW_SUM_TOLERANCE = 1e-3  # posteriors rounded to three digits, or computed in half precision, still pass
_ROUNDING = 1e-9
_HELD = ("decisions", "posteriors", "embeddings")


@dataclass(frozen=True, eq=False, repr=False)
class Outputs:
    """A classifier's outputs for the items of a pool.

    Parameters
    ----------
    classes : array of shape (n_classes,)
        The classes, in the order of the posteriors' columns.
    n_items : int
    decisions : array of int, shape (n_items,), optional
        The decided class of each item, as a position in ``classes``.
    posteriors : array of shape (n_items, n_classes), optional
        The probability of each class given the item.
    embeddings : array of shape (n_items, n_features), optional
        What the classifier makes of the item on the way to its decision (its ``transform``); for methods that learn from it.

    See Also
    --------
    Outputs.from_posteriors, Outputs.from_decisions : for outputs of any black box.
    """

    classes: AnyArray
    n_items: int
    decisions: IntArray | None = None
    posteriors: FloatArray | None = None
    embeddings: AnyArray | None = None

    def __post_init__(self) -> None:
        if self.posteriors is not None:
            object.__setattr__(self, "posteriors", _checked(self.posteriors, self.classes))
        if self.decisions is not None:
            codes, last = np.asarray(self.decisions), len(self.classes) - 1
            whole = codes.ndim == 1 and codes.dtype.kind in "iu"
            if not whole or (codes.size and not 0 <= codes.min() <= codes.max() <= last):
                raise DataError(
                    f"decisions must be positions in classes, whole numbers from 0 to {last}, one an item; "
                    "Outputs.from_decisions takes labels."
                )
            object.__setattr__(self, "decisions", np.ascontiguousarray(codes, dtype=np.int32))
        if self.embeddings is not None:
            object.__setattr__(self, "embeddings", _checked_embeddings(self.embeddings))
        for what in _HELD:
            held = getattr(self, what)
            if held is not None and len(held) != self.n_items:
                raise DataError(f"There are {len(held)} {what} for {self.n_items} items: one for each is needed.")

    @classmethod
    def from_posteriors(
        cls, posteriors: Any, classes: Labels, decisions: Labels | None = None, embeddings: Any = None
    ) -> "Outputs":
        """Make outputs from posteriors that any black box has computed.

        Parameters
        ----------
        posteriors : array of shape (n_items, n_classes), or (n_items,) for two classes
            Each row sums to 1. A vector holds the posteriors of the second class.
        classes : sequence of labels, in the order of the columns
        decisions : labels of shape (n_items,), optional
            The classes decided for; by default those of the largest posterior.
        embeddings : array of shape (n_items, n_features), optional
            For methods that need them.

        Examples
        --------
        >>> Outputs.from_posteriors([[0.9, 0.1], [0.3, 0.7]], classes=["neg", "pos"])
        Outputs(2 items, classes 'neg', 'pos', decisions and posteriors)
        """
        names = as_classes(classes)
        if np.ma.is_masked(posteriors):
            raise DataError("Posteriors have masked values: leave those items out.")
        try:
            P = np.array(posteriors, dtype=np.float64, order="C")
        except (TypeError, ValueError) as error:
            raise DataError(f"Posteriors must be numbers in a matrix, one row an item: {error}") from error
        if P.ndim == 1 and len(names) == 2:
            P = np.column_stack([1.0 - P, P])
        P = _checked(P, names)
        codes = P.argmax(axis=1) if decisions is None else encode(decisions, names, "decisions")
        return cls(names, len(P), codes, P, embeddings)

    @classmethod
    def from_decisions(cls, decisions: Labels, classes: Labels) -> "Outputs":
        """Make outputs from the labels that any black box has decided for; enough for CC and ACC.

        >>> Outputs.from_decisions(["pos", "neg", "pos"], classes=["neg", "pos"])
        Outputs(3 items, classes 'neg', 'pos', decisions)
        """
        names = as_classes(classes)
        codes = encode(decisions, names, "decisions")
        return cls(names, len(codes), codes)

    @classmethod
    def concatenated(cls, parts: Sequence["Outputs"]) -> "Outputs":
        """Join the outputs of several parts of a pool, of the same classes.

        >>> a = Outputs.from_decisions(["pos"], classes=["neg", "pos"])
        >>> Outputs.concatenated([a, a]).decisions.tolist()
        [1, 1]
        """
        if len(parts) == 1:
            return parts[0]
        classes = parts[0].classes
        aligned = [part.aligned_to(classes) for part in parts]
        held: dict[str, Any] = {}
        for what in _HELD:
            if all(getattr(part, what) is not None for part in aligned):
                held[what] = np.concatenate([getattr(part, what) for part in aligned])
        return cls(classes, sum(part.n_items for part in aligned), **held)

    def take(self, rows: IntArray) -> "Outputs":
        """Return the outputs of these items."""
        parts = (None if held is None else held[rows] for held in (self.decisions, self.posteriors, self.embeddings))
        return Outputs(self.classes, len(rows), *parts)

    def __len__(self) -> int:
        return self.n_items

    def __repr__(self) -> str:
        held = [need for need in _HELD if getattr(self, need) is not None]
        what = (
            " and ".join([", ".join(held[:-1]), held[-1]] if held[1:] else held) or "neither decisions nor posteriors"
        )
        return f"Outputs({self.n_items:,} items, classes {quoted(self.classes)}, {what})"

    def need(self, what: Need) -> AnyArray:
        """Return the decisions, the posteriors or the embeddings; raise if these outputs were made without them."""
        held: AnyArray | None = getattr(self, what)
        if held is None:
            how = {
                "posteriors": "score the pool with a quantifier that needs them, or make them with Outputs.from_posteriors",
                "decisions": "score the pool with a quantifier that needs them, or make them with Outputs.from_decisions",
                "embeddings": "score the pool with a quantifier that needs them, or pass them to Outputs.from_posteriors",
            }[what]
            raise DataError(f"These outputs hold no {what}, which the method needs: {how}.")
        return held

    def aligned_to(self, classes: AnyArray) -> "Outputs":
        """Return these outputs with their classes in the given order; other classes are an error."""
        same_order = len(classes) == len(self.classes) and bool(np.all(classes == self.classes))
        if same_order and (classes.dtype.kind == self.classes.dtype.kind or classes.dtype.kind not in "US"):
            return self
        places = encode(self.classes, classes, "classes of the outputs")
        if len(places) != len(classes):
            raise DataError(
                f"The outputs know the classes {quoted(self.classes)}; the quantifier was fitted for {quoted(classes)}."
            )
        decisions = None if self.decisions is None else places[self.decisions]
        posteriors = None if self.posteriors is None else np.ascontiguousarray(self.posteriors[:, np.argsort(places)])
        return Outputs(classes, self.n_items, decisions, posteriors, self.embeddings)


def _checked(posteriors: Any, classes: AnyArray) -> FloatArray:
    """Return posteriors as a matrix of floats; raise unless they are a probability for each item and class."""
    P: FloatArray = np.ascontiguousarray(posteriors, dtype=np.float64)
    if P.ndim != 2 or P.shape[1] != len(classes):
        raise DataError(
            f"Posteriors must have one column for each of the {len(classes)} classes ({quoted(classes)}); "
            f"their shape is {P.shape}."
        )
    if len(P) == 0:
        raise DataError("Posteriors are empty: at least one item is needed.")
    sums = P.sum(axis=1)
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


def _checked_embeddings(embeddings: Any) -> AnyArray:
    """Return embeddings as a dense matrix of floats; raise if they are not finite numbers, a row for each item."""
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
