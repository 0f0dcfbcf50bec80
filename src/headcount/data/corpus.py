"""`Corpus`: items and their labels, immutable once read."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np

from headcount._typing import AnyArray, FloatArray, Items
from headcount._validation import as_labels, class_codes, quoted
from headcount.exceptions import DataError

__all__ = ["Corpus"]


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """Items and, if there are any, their labels.

    Parameters
    ----------
    items : array of str, dense matrix, or CSR matrix
        Texts, or a row of features for each item.
    labels : array of shape (n_items,), optional
    source : str, default=""
        Where it was read from.
    feature_names : tuple of str, optional
        Names of the columns of a matrix.

    Examples
    --------
    >>> corpus = Corpus(["good", "bad", "very good"], ["pos", "neg", "pos"])
    >>> corpus
    Corpus(3 texts, classes 'neg' 0.333, 'pos' 0.667)
    >>> corpus.items[corpus.labels == "pos"].tolist()
    ['good', 'very good']
    """

    items: Items
    labels: AnyArray | None = None
    source: str = ""
    feature_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        from scipy.sparse import issparse

        items, labels = self.items, self.labels
        items = cast("Any", items).tocsr(copy=True) if issparse(items) else _texts_or_matrix(items)
        if labels is not None:
            labels = as_labels(labels, "labels").copy()
            if len(labels) != items.shape[0]:
                raise DataError(f"There are {items.shape[0]} items and {len(labels)} labels: each item needs one.")
            labels.flags.writeable = False
        for array in _arrays(items):
            array.flags.writeable = False
        object.__setattr__(self, "items", items)
        object.__setattr__(self, "labels", labels)

    def __reduce__(self) -> tuple[Any, ...]:  # so that a copy is immutable too
        return Corpus, (self.items, self.labels, self.source, self.feature_names)

    def __len__(self) -> int:
        return int(self.items.shape[0])

    @property
    def is_text(self) -> bool:
        """Whether the items are texts rather than rows of features."""
        return bool(self.items.ndim == 1)

    @cached_property
    def classes(self) -> AnyArray:
        """The sorted distinct labels."""
        return class_codes(self._labels(), "labels")[0]

    @cached_property
    def prevalence(self) -> FloatArray:
        """The share of each class."""
        return np.bincount(class_codes(self._labels(), "labels")[1]) / len(self)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of items and labels, the same for the same content wherever it was read from."""
        digest = hashlib.sha256()
        if self.is_text:
            for text in self.items:
                data = text.encode("utf-8", "surrogatepass")
                digest.update(len(data).to_bytes(8, "little") + data)
        else:
            for array in _arrays(self.items):
                digest.update(f"{array.dtype.str}{array.shape}".encode() + np.ascontiguousarray(array).tobytes())
        if self.labels is not None:
            digest.update(repr(self.labels.tolist()).encode())
        return digest.hexdigest()

    def select(self, rows: Any) -> "Corpus":
        """Return a corpus of these rows (row numbers or a mask)."""
        rows = np.atleast_1d(rows)
        labels = None if self.labels is None else self.labels[rows]
        return Corpus(self.items[rows], labels, self.source, self.feature_names)

    def __repr__(self) -> str:
        size = f"{len(self):,} texts" if self.is_text else f"{len(self):,} items of {self.items.shape[1]:,} features"
        if self.labels is None:
            return f"Corpus({size}, no labels)"
        if len(self.classes) > 6:
            return f"Corpus({size}, {len(self.classes)} classes)"
        shares = ", ".join(f"{quoted([c])} {p:.3f}" for c, p in zip(self.classes, self.prevalence, strict=True))
        return f"Corpus({size}, classes {shares})"

    def _labels(self) -> AnyArray:
        if self.labels is None:
            raise DataError("This corpus has no labels: read it with the name of its label column.")
        return self.labels


def _texts_or_matrix(items: Any) -> AnyArray:
    if isinstance(items, str | bytes):
        raise DataError("The items are a single string: pass a list of texts, one for each item.")
    array = np.array(items, dtype=object) if not hasattr(items, "dtype") else np.array(items)
    if array.ndim == 1:
        texts = array.tolist()
        wrong = next((i for i, text in enumerate(texts) if not isinstance(text, str)), None)
        if wrong is not None:
            raise DataError(f"Items must all be texts, or rows of numbers; item {wrong} is {texts[wrong]!r}.")
        return np.array(texts, dtype=object)
    try:
        return array.astype(np.float64) if array.dtype.kind == "O" else array
    except (TypeError, ValueError) as error:
        raise DataError(f"Rows of features must be numbers: {error}") from error


def _arrays(items: Any) -> tuple[AnyArray, ...]:
    return (items,) if isinstance(items, np.ndarray) else (items.data, items.indices, items.indptr)
