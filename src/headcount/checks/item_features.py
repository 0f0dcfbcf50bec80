"""Features of items for the check of the items themselves: terms of texts, columns of numbers, or both."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from headcount._typing import AnyArray, FloatArray, IntArray, Items
from headcount.tables.dates import dates_of, is_date_text

__all__ = ["ItemFeatures", "equal_items", "fill_missing", "item_features", "term_names"]

_N_TERMS = 1 << 18
"""Places that terms are hashed to. A vocabulary would have to be learnt from one side, whose rare words it would then favour."""
_LETTERS = 4_000
"""Letters of a text that are read: a bound for the size of what is kept."""
_SHORT = 30
"""Letters of a value of a column that is one term, as a category is; longer ones are made of words."""
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True, eq=False)
class ItemFeatures:
    """Features of items.

    Attributes
    ----------
    X : sparse matrix of counts of terms, or dense array of numbers
        A missing number is NaN. Of mixed columns, counts of terms and behind them numbers.
    names : tuple of str
        Of the numbers; empty for terms.
    is_texts : bool
        Whether there are texts, or other values, whose terms are hashed.
    """

    X: Any
    names: tuple[str, ...] = ()
    is_texts: bool = False

    @property
    def is_sparse(self) -> bool:
        """Whether the features are terms, or other sparse counts."""
        return not isinstance(self.X, np.ndarray)

    @property
    def n_numbers(self) -> int:
        """How many of the columns of a sparse matrix are numbers, behind those of terms."""
        return int(self.X.shape[1]) - _N_TERMS if self.is_texts else 0

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
        if len(names) < len(items.columns):
            return _mixed_features(_columns_of(items))
        return ItemFeatures(_finite(numeric.to_numpy(np.float64)), names) if names else None
    array = np.asarray(items, dtype=object) if isinstance(items, list | tuple) else np.asarray(items)
    if array.dtype.names is not None:
        return _mixed_features(_columns_of(array))
    if array.ndim == 1 and _num_samples(array) and all(isinstance(text, str) for text in array):
        return ItemFeatures(_hasher().transform([text[:_LETTERS] for text in array]), (), True)
    try:
        numbers = np.asarray(items, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    if numbers.ndim != 2:
        return None
    return ItemFeatures(_finite(numbers), tuple(f"column {j + 1}" for j in range(numbers.shape[1])))


def _mixed_features(columns: dict[str, AnyArray]) -> ItemFeatures:
    """Return terms of texts, categories and days of the week, and behind them the numbers."""
    from scipy.sparse import csr_matrix, hstack

    numbers = {name: _as_rows(values) for name, values in columns.items() if values.dtype.kind in "biuf"}
    names = tuple(name for name, values in numbers.items() for _ in range(values.shape[1]))
    counts = _hasher(_itself).transform(_terms_of_rows(columns))
    X = [counts, *(csr_matrix(_finite(values.astype(np.float64))) for values in numbers.values())]
    return ItemFeatures(hstack(X, format="csr", dtype=np.float32), names, True)


def _columns_of(items: Any) -> dict[str, AnyArray]:
    """Return the columns of a data frame or of records, dates that are written as texts as dates; none of other items."""
    if not hasattr(items, "columns"):
        names = getattr(getattr(items, "dtype", None), "names", None) or ()
        return {name: items[name] for name in names}
    columns = {str(name): np.asarray(items[name]) for name in items.columns}
    for name, values in columns.items():
        known = [value for value in values if isinstance(value, str) and value.strip()] if values.ndim == 1 else []
        if known and all(map(is_date_text, known)):
            columns[name] = dates_of(values)
    return columns


def _as_rows(values: AnyArray) -> AnyArray:
    return values[:, None] if values.ndim == 1 else values


def _terms_of_rows(columns: dict[str, AnyArray]) -> list[list[str]]:
    """Return for each item the terms of its columns that do not hold numbers, each with the name of its column."""
    split = _hasher().build_analyzer()
    others = {name: values for name, values in columns.items() if values.dtype.kind not in "biuf"}
    terms: list[list[str]] = [[] for _ in next(iter(columns.values()))]
    for name, values in others.items():
        for row, value in enumerate(values if values.ndim == 1 else values[:, 0]):
            terms[row] += _terms_of_value(name, value, split)
    return terms


def _terms_of_value(name: str, value: Any, split: Callable[[str], list[str]]) -> list[str]:
    if value is None or value != value:
        return [f"{name} is missing"]
    if isinstance(value, np.datetime64):
        return [f"{name}: {_WEEKDAYS[(int(value.astype('datetime64[D]').astype(np.int64)) + 3) % 7]}"]
    text = str(value)[:_LETTERS]
    if len(text) <= _SHORT:
        return [f"{name} = {text.strip().lower()}"] if text.strip() else [f"{name} is missing"]
    return [f"{name}: {term}" for term in split(text)]


def _itself(terms: list[str]) -> list[str]:
    return terms


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


def _hasher(analyzer: Any = "word") -> Any:
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(n_features=_N_TERMS, alternate_sign=False, norm=None, dtype=np.float32, analyzer=analyzer)


def term_names(columns: IntArray, texts: Items) -> list[str]:
    """Return the most frequent term at each of these columns, by the texts that hold them; columns without one are left out.

    >>> term_names(item_features(["unheard"]).X.indices, ["an unheard melody"])
    ['unheard']
    """
    from collections import Counter

    from sklearn.utils import murmurhash3_32

    columns_of_items = _columns_of(texts)
    if columns_of_items:
        rows = _terms_of_rows(columns_of_items)
    else:
        split = _hasher().build_analyzer()
        rows = [split(text[:_LETTERS]) for text in texts]
    counts: Counter[str] = Counter(term for terms in rows for term in terms)
    wanted, named = {int(column) for column in columns}, {}
    for term, _ in counts.most_common():
        column = abs(murmurhash3_32(term, seed=0)) % _N_TERMS
        if column in wanted and column not in named:
            named[column] = term
    return [named[int(column)] for column in columns if int(column) in named]
