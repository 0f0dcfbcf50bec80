"""Features of items for the check of the items themselves: terms of texts, or columns of numbers."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from headcount._typing import AnyArray, FloatArray, IntArray, Items

__all__ = ["ItemFeatures", "equal_items", "fill_missing", "item_features", "term_names"]

_N_TERMS = 1 << 18
"""Places that terms are hashed to. A vocabulary would have to be learnt from one side, whose rare words it would then favour."""
_LETTERS = 4_000
"""Letters of a text that are read: a bound for the size of what is kept."""


@dataclass(frozen=True, eq=False)
class ItemFeatures:
    """Features of items.

    Attributes
    ----------
    X : sparse matrix of counts of terms, or dense array of numbers
        A missing number is NaN.
    names : tuple of str
        Of the columns; empty for terms.
    is_texts : bool
        Whether the items are texts, whose terms are hashed.
    """

    X: Any
    names: tuple[str, ...] = ()
    is_texts: bool = False

    @property
    def is_sparse(self) -> bool:
        """Whether the features are terms, or other sparse counts."""
        return not isinstance(self.X, np.ndarray)

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def fits(self, other: "ItemFeatures") -> bool:
        """Whether the other's features are the same kind."""
        return self.is_sparse == other.is_sparse and bool(self.X.shape[1] == other.X.shape[1])


def item_features(items: Items, rows: IntArray | None = None) -> ItemFeatures | None:
    """Return the features of items, or of some rows of them; None for items that are neither texts nor numbers.

    >>> item_features(["good film", "bad film"]).X.sum()
    np.float32(4.0)
    >>> item_features([[1.0, 2.0]]).names
    ('column 1', 'column 2')
    """
    if rows is not None:
        items = _safe_indexing(items, rows)
    if hasattr(items, "tocsr"):
        return ItemFeatures(items.tocsr().astype(np.float32))
    if hasattr(items, "columns"):
        numeric = items.select_dtypes(["number", "bool"])
        names = tuple(map(str, numeric.columns))
        return ItemFeatures(_finite(numeric.to_numpy(np.float64)), names) if names else None
    array = np.asarray(items, dtype=object) if isinstance(items, list | tuple) else np.asarray(items)
    if array.ndim == 1 and _num_samples(array) and all(isinstance(text, str) for text in array):
        return ItemFeatures(_hasher().transform([text[:_LETTERS] for text in array]), (), True)
    try:
        numbers = np.asarray(items, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    if numbers.ndim != 2:
        return None
    return ItemFeatures(_finite(numbers), tuple(f"column {j + 1}" for j in range(numbers.shape[1])))


def _finite(X: FloatArray) -> AnyArray:
    """Return numbers in single precision, NaN where they are not finite."""
    with np.errstate(over="ignore"):
        single = X.astype(np.float32)
    return np.where(np.isfinite(single), single, np.float32(np.nan))


def fill_missing(X: FloatArray) -> FloatArray:
    """Return numbers in which a missing one is a value of its own, below the others of its column.

    Items that are compared must be filled together: each side's own least value would tell the sides apart.

    >>> fill_missing(np.array([[1.0], [np.nan], [3.0]])).ravel()
    array([1., 0., 3.])
    """
    if not np.isnan(X).any():
        return X
    known = ~np.isnan(X).all(axis=0)
    fill = np.zeros(X.shape[1])
    fill[known] = np.nanmin(X[:, known], axis=0) - np.nanstd(X[:, known], axis=0)
    return np.where(np.isnan(X), fill, X)


def equal_items(*parts: ItemFeatures) -> IntArray:
    """Return the group of each item, over all parts: items with equal features are of one group, numbered by first appearance.

    Texts are equal if their terms are: case, white space, punctuation, one-letter words and the order of words do not matter.

    >>> equal_items(item_features(["Good film!", "a book"]), item_features(["good  film"]))
    array([0, 1, 0])
    """
    groups: dict[bytes, int] = {}
    keys = (key for part in parts for key in _row_keys(part))
    return np.array([groups.setdefault(key, len(groups)) for key in keys], dtype=np.int64)


def _row_keys(features: ItemFeatures) -> Iterator[bytes]:
    if not features.is_sparse:
        return (row.tobytes() for row in np.ascontiguousarray(features.X) + np.float32(0.0))  # + 0: -0 is 0
    X = features.X.tocsr(copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    indices, data, ends = X.indices.astype(np.int64), X.data, X.indptr
    return (indices[a:b].tobytes() + data[a:b].tobytes() for a, b in pairwise(ends.tolist()))


def _hasher() -> Any:
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(n_features=_N_TERMS, alternate_sign=False, norm=None, dtype=np.float32)


def term_names(columns: IntArray, texts: Items) -> list[str]:
    """Return the most frequent term at each of these columns, by the texts that hold them; columns without one are left out.

    >>> term_names(item_features(["unheard"]).X.indices, ["an unheard melody"])
    ['unheard']
    """
    from collections import Counter

    from sklearn.utils import murmurhash3_32

    split = _hasher().build_analyzer()
    counts: Counter[str] = Counter(term for text in texts for term in split(text[:_LETTERS]))
    wanted, terms = {int(column) for column in columns}, {}
    for term, _ in counts.most_common():
        column = abs(murmurhash3_32(term, seed=0)) % _N_TERMS
        if column in wanted and column not in terms:
            terms[column] = term
    return [terms[int(column)] for column in columns if int(column) in terms]
