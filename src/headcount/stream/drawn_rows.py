"""`DrawnRows`: weights, strata and clusters of the rows of a batch, read from its columns."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from headcount._interpreted import run
from headcount._labels import label_text
from headcount._typing import AnyArray, FloatArray, IntArray
from headcount.exceptions import DataError
from headcount.stream.design_columns import DesignColumns
from headcount.tables import Batch
from headcount.tables.batch import python_values

__all__ = ["DrawnRows", "cluster_hashes"]


_MULTIPLE_BITS, _LEAST_MULTIPLE, _MOST_MULTIPLE = 12, 1 << 5, 1 << 32


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """How the rows of a batch were drawn.

    Attributes
    ----------
    factors, scales : arrays of shape (n_rows,) or None
        The weights: factors between 2^-4 and 2^5, times 2^9 to the power of the scale; None where all weigh the same.
    strata : list of str
        Names of the strata.
    stratum : array of int, shape (n_rows,), or None
        Position of each row's stratum among the names; None: all are in the first.
    clusters : array of 64-bit hashes, shape (n_rows,), or None
        Of the names of clusters; None: each row is one.
    """

    factors: FloatArray | None
    scales: IntArray | None
    strata: list[str]
    stratum: IntArray | None
    clusters: AnyArray | None

    @cached_property
    def scale_range(self) -> tuple[int, int]:
        """Least and greatest scale; 0 without weights."""
        if self.scales is None or not len(self.scales):
            return 0, 0
        return int(self.scales.min()), int(self.scales.max())

    @property
    def weights(self) -> FloatArray | None:
        """The weights; None where all weigh the same."""
        if self.factors is None or self.scales is None:
            return None
        return np.asarray(self.factors * np.exp2(9.0 * self.scales), dtype=np.float64)

    @cached_property
    def multiples(self) -> IntArray | None:
        """The weights as whole numbers of 2^-12; None where all weigh the same.

        A sketch of items counts whole numbers. Relative to each other, weights of 1 are then exact to 1 in 8,000.
        """
        if self.factors is None or self.scales is None:
            return None
        multiples = np.floor(self.factors * np.exp2(9.0 * self.scales + _MULTIPLE_BITS) + 0.5)
        if multiples.size and not (multiples.min() >= _LEAST_MULTIPLE and multiples.max() <= _MOST_MULTIPLE):
            raise DataError(
                f"With a method that maximises a likelihood weights must be from {_LEAST_MULTIPLE * 2.0**-_MULTIPLE_BITS:g} to "
                f"{_MOST_MULTIPLE * 2.0**-_MULTIPLE_BITS:,.0f}. Multiply all of them by one number, which changes no shares, or "
                "use PACC."
            )
        whole: IntArray = multiples.astype(np.int64)
        return whole

    @classmethod
    def read(cls, batch: Batch, columns: DesignColumns) -> "DrawnRows":
        """Read the columns of a batch; raise, with the place in the file, at what is missing or not valid."""
        factors, scales = None, None
        if columns.weight is not None:
            factors, scales = _weights(batch, columns.weight)
        strata, stratum = [""], None
        if columns.stratum is not None:
            strata, stratum = _strata(batch, columns.stratum)
        return cls(
            factors,
            scales,
            strata,
            stratum,
            None if columns.cluster is None else cluster_hashes(batch, columns.cluster),
        )


def _weights(batch: Batch, column: str) -> tuple[FloatArray, IntArray]:
    from headcount.stream import _design_kernels

    weights = batch.numbers(column)
    factors, scales = np.empty(len(weights)), np.empty(len(weights), dtype=np.int64)
    bad = int(run(_design_kernels.split_weights, 3.0 * len(weights), weights, factors, scales))
    if bad >= 0:
        value = weights[bad]
        said = "there is no weight" if np.isnan(value) else f"the weight is {value:g}"
        raise DataError(
            f"{batch.place(bad, column)}: {said}; weights must be finite and above 0. Correct it, or omit such rows."
        )
    return factors, scales


def _strata(batch: Batch, column: str) -> tuple[list[str], IntArray]:
    in_batch, values = batch.groups(column)
    names = [None if _is_missing(value) else label_text(value) for value in values]
    missing = np.array([name is None for name in names])[in_batch]
    if missing.any():
        raise _missing(batch, int(missing.argmax()), column, "stratum")
    distinct = {name: i for i, name in enumerate(dict.fromkeys(name or "" for name in names))}
    return list(distinct), np.array([distinct[name or ""] for name in names], dtype=np.int64)[in_batch]


def cluster_hashes(batch: Batch, column: str) -> AnyArray:
    """Return the hash of the name of each row's cluster; equal numbers and texts of one column have equal hashes."""
    import pyarrow as pa
    from pyarrow import types

    values = batch.flat(column)
    if values.null_count:
        is_null = np.asarray(values.is_null().to_numpy(zero_copy_only=False))
        raise _missing(batch, int(is_null.argmax()), column, "cluster")
    codes = None
    if types.is_dictionary(values.type):
        codes, values = np.asarray(values.indices.to_numpy()), values.dictionary
    blank = -1
    if types.is_integer(values.type) and not types.is_uint64(values.type):
        hashes = _hashed_integers(np.asarray(values.cast(pa.int64()).to_numpy(), dtype=np.int64))
    elif types.is_string(values.type):
        hashes, blank = _hashed(values)
    else:
        names = python_values(values, f"{batch.file}: a value of column {column!r}")
        hashes, blank = _hashed(
            pa.array(["" if _is_missing(name) else label_text(name) for name in names], pa.string())
        )
    if blank >= 0:
        raise _missing(batch, blank if codes is None else int((codes == blank).argmax()), column, "cluster")
    return hashes if codes is None else hashes[codes]


def _hashed_integers(values: IntArray) -> AnyArray:
    from headcount.stream import _design_kernels

    hashes = np.empty(len(values), dtype=np.uint64)
    with np.errstate(over="ignore"):  # hashes are computed modulo 2^64, as plain Python too
        run(_design_kernels.hash_integers, 20.0 * len(values), values, hashes)
    return hashes


def _hashed(texts: Any) -> tuple[AnyArray, int]:
    """Return the hash of each text of an Arrow array, and the position of the first that is blank, or -1."""
    from headcount.stream import _design_kernels

    _, offsets, data = texts.buffers()
    starts = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    content = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(1, dtype=np.uint8)
    hashes = np.empty(len(texts), dtype=np.uint64)
    with np.errstate(over="ignore"):  # hashes are computed modulo 2^64, as plain Python too
        blank = run(_design_kernels.hash_texts, float(starts[-1] - starts[0]) + len(texts), starts, content, hashes)
    return hashes, int(blank)


def _is_missing(value: Any) -> bool:
    return value is None or value != value or (isinstance(value, str) and not value.strip())


def _missing(batch: Batch, row: int, column: str, what: str) -> DataError:
    return DataError(f"{batch.place(row, column)}: the {what} is missing. Fill it in, or omit such rows.")
