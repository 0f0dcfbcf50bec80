"""`Samples`: which items of a pool belong to which sample, in one pair of arrays for all samples.

A protocol, a grouping column or a bootstrap makes one; everything that follows works on all its samples at once.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from headcount._interpreted import run
from headcount._threads import in_chunks
from headcount._typing import AnyArray, FloatArray, IntArray, Labels
from headcount._validation import class_codes, plain
from headcount._writing import html_frame
from headcount.exceptions import DataError
from headcount.protocols.exact import LIMB_BITS, ExactSums

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Samples", "as_samples"]

_ITEMS_PER_CHUNK = 1 << 16
_ITEMS_PER_SUM = 1 << 20
"""Items whose fixed-point coordinates can be added up in one 64-bit integer."""


class Samples:
    """Samples of a pool of items; they may differ in size, overlap, and hold an item several times.

    Sample ``s`` consists of the items ``indices[indptr[s]:indptr[s + 1]]``, as in a CSR matrix. The arrays are
    read-only; :meth:`from_matrix`, :meth:`from_lists`, :meth:`from_groups` and :meth:`whole` make samples from other
    forms.

    Parameters
    ----------
    indices : array of int, shape (n_entries,)
        Row numbers of items in the pool.
    indptr : array of int, shape (n_samples + 1,)
        Where each sample begins and ends in ``indices``.
    weights : array of float, shape (n_entries,), optional
        A non-negative sampling weight for each entry; without it every entry weighs 1. Unequal weights carry less information
        than as many equal ones (see :meth:`effective_sizes`).
    names : sequence, optional
        A name for each sample, such as the value of the column that it was grouped by.
    counts : array of float, shape (n_entries,), optional
        How many identical items each entry stands for; without it, one. An entry with count 3 equals three entries.

    Examples
    --------
    >>> import numpy as np
    >>> samples = Samples([0, 1, 2, 0, 3], [0, 3, 5])
    >>> samples
    Samples(2 samples of 2 to 3 items)
    >>> samples[1].tolist()
    [0, 3]
    >>> samples.sum(np.array([[1.0], [2.0], [4.0], [8.0]])).tolist()
    [[7.0], [9.0]]
    """

    __slots__ = ("bound", "counts", "indices", "indptr", "names", "weights")

    indices: IntArray
    indptr: IntArray
    weights: FloatArray | None
    names: tuple[Any, ...] | None
    bound: int
    """One more than the largest row number: the smallest pool that these samples can be of."""
    counts: FloatArray | None

    def __init__(
        self,
        indices: Any,
        indptr: Any,
        weights: Any = None,
        names: Sequence[Any] | AnyArray | None = None,
        counts: Any = None,
    ) -> None:
        rows = _integers(indices, "indices")
        starts = _integers(indptr, "indptr").astype(np.int64)
        if rows.ndim != 1 or starts.ndim != 1:
            raise DataError(
                f"indices and indptr must be one-dimensional; their shapes are {rows.shape} and {starts.shape}."
            )
        if starts.size == 0 or starts[0] != 0 or starts[-1] != rows.size or (np.diff(starts) < 0).any():
            raise DataError(
                f"indptr must rise from 0 to the number of indices ({rows.size}), with one entry more than there are samples."
            )
        if rows.size and rows.min() < 0:
            raise DataError(f"Row numbers of items start at 0; the smallest given is {rows.min()}.")
        if names is not None and len(names) != starts.size - 1:
            raise DataError(f"{len(names)} names were given for {starts.size - 1} samples: one for each is needed.")
        bound = int(rows.max()) + 1 if rows.size else 0
        factors = _factors(weights, rows, "weights"), _factors(counts, rows, "counts")
        self._set(_narrow(rows, bound), starts, factors[0], names, bound, factors[1])

    def _set(
        self, indices: IntArray, indptr: IntArray, weights: Any, names: Any, bound: int, counts: Any = None
    ) -> None:
        for array in (indices, indptr, weights, counts):
            if array is not None:
                array.flags.writeable = False
        object.__setattr__(self, "indices", indices)
        object.__setattr__(self, "indptr", indptr)
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "names", None if names is None else tuple(plain(name) for name in names))
        object.__setattr__(self, "bound", bound)
        object.__setattr__(self, "counts", counts)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"Samples are frozen: {name!r} can't be set. Make new samples instead.")

    def __getstate__(self) -> tuple[Any, ...]:
        return self.indices, self.indptr, self.weights, self.names, self.bound, self.counts

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._set(*state)

    @classmethod
    def _trusted(
        cls,
        indices: IntArray,
        indptr: IntArray,
        bound: int,
        weights: FloatArray | None = None,
        names: Any = None,
        counts: FloatArray | None = None,
    ) -> "Samples":
        """Wrap arrays that are valid by construction, without copying or checking them."""
        samples = cls.__new__(cls)
        samples._set(indices, indptr, weights, names, bound, counts)
        return samples

    @classmethod
    def from_matrix(cls, rows: Any) -> "Samples":
        """Make samples of equal size from a matrix of row numbers, one row a sample.

        >>> Samples.from_matrix([[0, 1, 2], [2, 3, 4]])
        Samples(2 samples of 3 items)
        """
        matrix = _integers(rows, "the matrix of row numbers")
        if matrix.ndim != 2:
            raise DataError(
                f"A matrix of row numbers has one row a sample, shape (n_samples, sample_size); this has shape {matrix.shape}. "
                "For samples of different sizes use Samples.from_lists."
            )
        return cls(matrix.ravel(), np.arange(matrix.shape[0] + 1) * matrix.shape[1])

    @classmethod
    def from_lists(cls, lists: Sequence[Any], names: Sequence[Any] | None = None) -> "Samples":
        """Make samples from a list with the row numbers of each.

        >>> Samples.from_lists([[0, 1, 2], [3]]).sizes.tolist()
        [3, 1]
        """
        arrays = [_integers(rows, f"the list of sample {s}") for s, rows in enumerate(lists)]
        if any(array.ndim != 1 for array in arrays):
            raise DataError("A list of the row numbers of each sample is needed: [[0, 1, 2], [3]].")
        indptr = np.cumsum([0, *(array.size for array in arrays)])
        return cls(np.concatenate([*arrays, np.empty(0, dtype=np.int64)]), indptr, names=names)

    @classmethod
    def from_groups(cls, groups: Labels) -> "Samples":
        """Make a sample of the items of each distinct value, in sorted order; the values become the names.

        >>> samples = Samples.from_groups(["may", "june", "may"])
        >>> samples.names, samples[1].tolist()
        (('june', 'may'), [0, 2])
        """
        values, codes = class_codes(groups, "groups")
        return cls._grouped(codes, len(values), values)

    @classmethod
    def _grouped(cls, codes: IntArray, n_groups: int, names: Any = None) -> "Samples":
        small = codes.astype(np.int16) if n_groups < 2**15 else codes  # numpy sorts 16 bits by radix
        order = np.argsort(small, kind="stable")
        indptr = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=n_groups))])
        return cls._trusted(_narrow(order, codes.size), indptr, codes.size, names=names)

    @classmethod
    def whole(cls, n_items: int) -> "Samples":
        """Make one sample of all items of a pool.

        >>> Samples.whole(3)
        Samples(1 sample of 3 items)
        """
        if n_items < 0:
            raise DataError(f"A pool can't have {n_items} items.")
        return cls._trusted(np.arange(n_items, dtype=np.int32), np.array([0, n_items]), n_items)

    @classmethod
    def merged(cls, a: "Samples", b: "Samples", offset: int) -> "Samples":
        """Join sample s of ``a`` with sample s of ``b``, whose pool comes ``offset`` rows behind that of ``a``.

        >>> Samples.merged(Samples([0, 1], [0, 1, 2]), Samples([0, 1], [0, 0, 2]), offset=2)[1].tolist()
        [1, 2, 3]
        """
        if len(a) != len(b):
            raise DataError(f"{a} and {b} can't be merged: there must be as many of the one as of the other.")
        sample = np.concatenate([np.repeat(np.arange(len(a)), a.sizes), np.repeat(np.arange(len(b)), b.sizes)])
        order = np.argsort(sample, kind="stable")
        indices = np.concatenate([a.indices.astype(np.int64), b.indices.astype(np.int64) + offset])[order]

        def joined(name: str) -> FloatArray | None:
            parts = [getattr(samples, name) for samples in (a, b)]
            if parts[0] is None and parts[1] is None:
                return None
            full = [np.ones(s.indices.size) if part is None else part for s, part in zip((a, b), parts, strict=True)]
            return np.concatenate(full)[order]

        return cls(indices, a.indptr + b.indptr, joined("weights"), a.names, joined("counts"))

    def weighted(self, weights: FloatArray, mean_one: bool = False) -> "Samples":
        """Return the same samples with the weight of each item of the pool, times those they have.

        With ``mean_one`` they are divided by their mean in each sample, so that their sum is its size.

        >>> Samples([0, 1, 1], [0, 1, 3]).weighted(np.array([2.0, 5.0])).weights.tolist()
        [2.0, 5.0, 5.0]
        >>> Samples([0, 1], [0, 2]).weighted(np.array([1.0, 3.0]), mean_one=True).weights.tolist()
        [0.5, 1.5]
        """
        self.check_pool(len(weights))
        each = weights[self.indices] if self.weights is None else weights[self.indices] * self.weights
        if mean_one:
            sample = np.repeat(np.arange(len(self)), self.sizes)
            totals = np.bincount(sample, each, len(self))
            each = each * (self.sizes / np.where(totals > 0.0, totals, 1.0))[sample]
        return Samples._trusted(self.indices, self.indptr, self.bound, each, self.names, self.counts)

    @property
    def sizes(self) -> IntArray:
        """Number of entries of each sample."""
        return np.diff(self.indptr)

    @property
    def factors(self) -> FloatArray | None:
        """What each entry counts in a sum: its weight times its count; None if every entry counts 1."""
        if self.weights is None or self.counts is None:
            return self.counts if self.weights is None else self.weights
        return self.weights * self.counts

    def factors_of(self, s: int) -> FloatArray:
        """Return the factors of the entries of one sample: ones, where there are none."""
        part, factors = slice(self.indptr[s], self.indptr[s + 1]), self.factors
        return np.ones(int(part.stop - part.start)) if factors is None else factors[part]

    def __len__(self) -> int:
        return self.indptr.size - 1

    @overload
    def __getitem__(self, s: int) -> IntArray: ...
    @overload
    def __getitem__(self, s: slice) -> "Samples": ...
    def __getitem__(self, s: int | slice) -> "IntArray | Samples":
        if isinstance(s, slice):
            first, last, step = s.indices(len(self))
            if step != 1:
                raise IndexError("Samples are cut in steps of 1: samples[a:b].")
            ends = self.indptr[first : max(first, last) + 1]
            part = slice(ends[0], ends[-1])
            weights, counts = (None if f is None else f[part] for f in (self.weights, self.counts))
            names = None if self.names is None else self.names[first:last]
            return Samples._trusted(self.indices[part], ends - ends[0], self.bound, weights, names, counts)
        if not -len(self) <= s < len(self):
            raise IndexError(f"There are {len(self)} samples; there is no sample {s}.")
        s = s % len(self)
        return self.indices[self.indptr[s] : self.indptr[s + 1]]

    def __iter__(self) -> Iterator[IntArray]:
        return (self[s] for s in range(len(self)))

    def __repr__(self) -> str:
        sizes = self.sizes
        many = f"{len(self):,} sample{'s' if len(self) != 1 else ''}"
        if len(self) == 0:
            return f"Samples({many})"
        low, high = int(sizes.min()), int(sizes.max())
        size = f"{low:,} items" if low == high else f"{low:,} to {high:,} items"
        return f"Samples({many} of {size}{', weighted' if self.weights is not None else ''})"

    def check_pool(self, n_items: int) -> None:
        """Raise if a row number lies outside a pool of ``n_items``."""
        if self.bound > n_items:
            raise DataError(
                f"The samples hold row number {self.bound - 1}, but the pool has {n_items} items (rows 0 to {n_items - 1}). "
                "Were they drawn from another pool?"
            )

    def total_weights(self) -> FloatArray:
        """Add up the factors of each sample; without weights and counts, its size."""
        factors = self.factors
        return self.sizes.astype(np.float64) if factors is None else self._added_up(factors)

    def effective_sizes(self) -> FloatArray:
        """Return for each sample the number of equally weighted items that would tell as much (Kish 1965)."""
        if self.weights is None:
            return self.total_weights()
        squares = self._added_up(self.weights**2 * (1.0 if self.counts is None else self.counts))
        return self.total_weights() ** 2 / np.where(squares > 0.0, squares, 1.0)

    def _added_up(self, factors: FloatArray) -> FloatArray:
        sums: FloatArray = np.bincount(np.repeat(np.arange(len(self)), self.sizes), factors, len(self)).astype(
            np.float64
        )
        return sums

    def count(self, codes: IntArray, n_codes: int) -> FloatArray:
        """Count, or add up the factors of, the items of each code ``0 .. n_codes - 1`` in each sample.

        An item has one code, or a row of several.
        """
        return self.count_exact(codes, n_codes).values()

    def count_exact(self, codes: IntArray, n_codes: int) -> ExactSums:
        """Like :meth:`count`, as sums that merge to the bit."""
        from headcount.protocols import _kernels

        self.check_pool(len(codes))
        if codes.size and not 0 <= codes.min() <= codes.max() < n_codes:
            raise DataError(f"codes must be from 0 to {n_codes - 1}; these are from {codes.min()} to {codes.max()}.")
        if self.factors is None:
            limbs, unit = np.zeros((len(self), n_codes), dtype=np.int64), 1 << LIMB_BITS
            n_columns = codes.size // max(1, len(codes))
            codes = codes[:, 0] if codes.ndim == 2 and n_columns == 1 else codes
            codes = np.ascontiguousarray(narrow_codes(codes, n_codes))
            kernel = _kernels.count_codes if codes.ndim == 1 else _kernels.count_many_codes
            self._over_chunks(
                lambda a, b: run(
                    kernel, self._items(a, b) * n_columns, codes, self.indices, self.indptr[a : b + 1], unit, limbs[a:b]
                )
            )
            return ExactSums(limbs, None)
        each = ExactSums.from_floats(_exact_factors(self.factors, 2.0**42))
        sums, columns = ExactSums.zeros((len(self), n_codes)), codes.reshape(len(codes), -1)
        run(
            _kernels.count_units,
            float(self.indices.size * columns.shape[1]),
            columns,
            self.indices,
            self.indptr,
            each.high,
            each.low,
            sums.high,
            sums.low,
        )
        return sums

    def sum(self, rows: AnyArray) -> FloatArray:
        """Add up the rows of a matrix (one row an item of the pool), times their factors, over each sample."""
        from scipy.sparse import csr_array

        rows = np.asarray(rows)
        if rows.ndim != 2 or rows.dtype.kind not in "fiub":
            raise DataError(f"A matrix of numbers is needed, one row an item; got shape {rows.shape} of {rows.dtype}.")
        self.check_pool(len(rows))
        factors = np.ones(self.indices.size) if self.factors is None else self.factors
        matrix: Any = csr_array((factors, self.indices, self.indptr), shape=(len(self), len(rows)))
        return np.asarray(matrix @ rows, dtype=np.float64)

    def sum_exact(self, units: FloatArray) -> ExactSums:
        """Add up rows of fixed-point coordinates (`to_units`), times their factors, as sums that merge to the bit."""
        from headcount.protocols import _kernels

        self.check_pool(len(units))
        if self.factors is None and self.sizes.max(initial=0) <= _ITEMS_PER_SUM:
            added = np.zeros((len(self), units.shape[1]), dtype=np.int64)
            kernel = _kernels.sum_pairs if units.shape[1] == 2 else _kernels.sum_rows
            n_columns = units.shape[1]
            self._over_chunks(
                lambda a, b: run(
                    kernel, self._items(a, b) * n_columns, units, self.indices, self.indptr[a : b + 1], added[a:b]
                )
            )
            return ExactSums.from_units(added)
        factors = np.empty(0) if self.factors is None else _exact_factors(self.factors, 2.0**19)
        sums = ExactSums.zeros((len(self), units.shape[1]))
        run(
            _kernels.sum_units,
            3.0 * self.indices.size * units.shape[1],
            units,
            self.indices,
            self.indptr,
            factors,
            LIMB_BITS,
            sums.high,
            sums.low,
        )
        return sums

    def to_frame(self) -> "pd.DataFrame":
        """Return a data frame with one row an entry: sample, item and, where there are any, weight and count."""
        import pandas as pd

        names: Any = range(len(self)) if self.names is None else self.names
        columns: dict[str, Any] = {"sample": np.repeat(np.asarray(names), self.sizes), "item": self.indices}
        columns |= {} if self.weights is None else {"weight": self.weights}
        return pd.DataFrame(columns | ({} if self.counts is None else {"count": self.counts}))

    def _repr_html_(self) -> str:
        import pandas as pd

        names: Any = range(len(self)) if self.names is None else self.names
        return html_frame(repr(self), pd.DataFrame({"sample": names, "items": self.sizes}))

    def _items(self, start: int, stop: int) -> float:
        return float(self.indptr[stop] - self.indptr[start])

    def _over_chunks(self, work: Any) -> None:
        mean_size = max(1, self.indices.size // max(1, len(self)))
        in_chunks(work, len(self), max(1, _ITEMS_PER_CHUNK // mean_size))


def narrow_codes(codes: IntArray, n_codes: int) -> IntArray:
    """Return codes below ``n_codes`` in as few bytes as hold them, so that those of a pool stay in the nearest cache."""
    kind = np.uint8 if n_codes <= 1 << 8 else np.uint16 if n_codes <= 1 << 16 else codes.dtype
    return codes.astype(kind, copy=False)


def as_samples(samples: Any, n_items: int) -> Samples:
    """Accept samples in any of their forms: `Samples`, a matrix of row numbers, or None for the whole pool."""
    if samples is None:
        return Samples.whole(n_items)
    given = samples if isinstance(samples, Samples) else Samples.from_matrix(samples)
    given.check_pool(n_items)
    return given


def _integers(values: Any, what: str) -> IntArray:
    try:
        array = np.asarray(values)
    except ValueError as error:  # numpy's answer to ragged lists
        raise DataError(
            f"{what} must be whole numbers in a regular array; for lists of different lengths use Samples.from_lists."
        ) from error
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise DataError(f"{what} must be whole numbers (row numbers of items); got values of type {array.dtype}.")
    return array


def _factors(values: Any, rows: IntArray, what: str) -> FloatArray | None:
    """Return weights or counts as floats; raise unless there is a finite one that is not negative for each entry."""
    if values is None:
        return None
    factors = np.array(values, dtype=np.float64)
    if factors.shape != rows.shape:
        raise DataError(f"{what} must be one for each of the {rows.size} entries; its shape is {factors.shape}.")
    with np.errstate(over="ignore"):
        total = factors.sum()
    if not (np.isfinite(total) and (factors >= 0).all()):
        raise DataError(f"{what} must be finite and not negative.")
    return factors


def _exact_factors(factors: FloatArray, largest: float) -> FloatArray:
    """Return factors that fixed-point sums have room for; raise at larger ones."""
    if factors.max(initial=0.0) > largest:
        raise DataError(
            f"The largest weight (times count) is {factors.max():g}; at most {largest:,.0f} can be added up exactly. "
            "Divide all weights by a number: shares do not change."
        )
    return factors


def _narrow(rows: IntArray, bound: int) -> IntArray:
    """Copy row numbers into 32 bits where they fit: half the memory to move."""
    return rows.astype(np.int32 if bound < 2**31 else np.int64)
