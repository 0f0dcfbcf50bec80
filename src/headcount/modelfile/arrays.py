"""Arrays of a model file as .npy members: numbers and texts of fixed length, never objects; checked before they are made."""

import ast
from io import BytesIO
from math import prod
from typing import Any

import numpy as np

from headcount._typing import AnyArray
from headcount.modelfile.checks import UnsoundError, need

__all__ = ["array_bytes", "array_from"]

_MAGIC, _START = b"\x93NUMPY\x01\x00", 10
"""Start of a file in version 1.0 of numpy's format, and where its header begins, after two bytes with the header's length."""
_MOST_HEADER, _MOST_AXES = 1_000, 4
_KINDS = "biufU"


def array_bytes(array: AnyArray) -> bytes:
    """Return an array as the content of a .npy file."""
    if array.dtype.kind not in _KINDS or array.dtype.hasobject or array.ndim > _MOST_AXES:
        raise UnsoundError(f"an array of {array.dtype} with {array.ndim} axes can't be kept in a model file")
    out = BytesIO()
    native = array.dtype.newbyteorder("<")
    np.lib.format.write_array(out, np.asarray(array, dtype=native), version=(1, 0), allow_pickle=False)
    return out.getvalue()


def array_from(content: bytearray) -> AnyArray:
    """Make the array of a .npy file over the same memory; raise unless its size is what type and shape say."""
    need(content.startswith(_MAGIC), "an array is not in numpy's format")
    stop = _START + int.from_bytes(content[8:_START], "little")
    need(stop <= min(len(content), _MOST_HEADER), "an array has no header")
    dtype, fortran, shape = _header(bytes(content[_START:stop]))
    need(prod(shape) * dtype.itemsize == len(content) - stop, "an array is larger or smaller than its header says")
    flat = np.frombuffer(content, dtype, prod(shape), stop) if prod(shape) else np.empty(0, dtype)
    array: AnyArray = flat.reshape(shape, order="F" if fortran else "C")
    if dtype.kind == "b":
        need(bool((array.view(np.uint8) <= 1).all()), "an array of truth values holds other values")
    return array.astype(dtype.newbyteorder("="), copy=False)


def _header(text: bytes) -> tuple[np.dtype[Any], bool, tuple[int, ...]]:
    try:
        fields = ast.literal_eval(text.decode("latin1").strip())
        kind, fortran, shape = fields["descr"], fields["fortran_order"], fields["shape"]
        sound = type(kind) is str and type(fortran) is bool and type(shape) is tuple
        dtype = np.dtype(kind) if sound else np.dtype("O")
    except (SyntaxError, ValueError, TypeError, KeyError, RecursionError, MemoryError, UnicodeError) as error:
        raise UnsoundError("the header of an array can't be read") from error
    need(
        dtype.kind in _KINDS
        and dtype.fields is None
        and dtype.subdtype is None
        and dtype.itemsize > 0
        and dtype.str[0] in "<|"
        and len(shape) <= _MOST_AXES
        and all(type(n) is int and 0 <= n < 2**40 for n in shape),
        "an array has a type or shape that no model file holds",
    )
    return dtype, fortran, shape
