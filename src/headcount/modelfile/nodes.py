"""Objects as nodes of JSON that refer to arrays and to earlier nodes, and back: `Packer` and `Unpacker`.

A node has the tag of a codec and the values that the codec asks for. Values are what JSON has, and objects with one key:
``{"tuple": [..]}``, ``{"dict": [[key, value], ..]}``, ``{"set": [..]}``, ``{"float": "nan"}``, ``{"array": number}``,
``{"objects": {..}}`` (an array of texts and plain values), ``{"texts": number}`` (a long list of texts), ``{"csr": {..}}``,
``{"node": number}``.
"""

import json
from collections.abc import Callable
from math import isfinite
from typing import Any, Protocol

import numpy as np

from headcount._typing import AnyArray
from headcount.modelfile.arrays import array_bytes
from headcount.modelfile.checks import UnsoundError, as_array, check_integers, need

__all__ = ["Codec", "LongTexts", "Packer", "UnknownTypeError", "Unpacker"]

_PLAIN = (str, int, float, bool, type(None))
_MOST_DEPTH = 40
"""Nodes, or values within each other."""
_MOST_NODES = 100_000
_MOST_SHARING = 4
"""By how much a model may be larger than its file because nodes and arrays are referred to more than once."""
_MOST_COST, _FREE_COST = 10, 64 * 2**20
"""Memory that reading may take: this many times the size of the file, and this many bytes."""
_NODE_BYTES, _TEXT_BYTES = 200, 150
"""Memory that a node and a text of a list take besides their content."""
_MOST_COLUMNS = 2**24


class UnknownTypeError(ValueError):
    """There is no codec for an object; the argument is the import path of its type."""


class Codec(Protocol):
    """How objects of one type are taken apart and made again."""

    tag: str

    def fields(self, instance: Any) -> dict[str, Any]:
        """Return what describes the object: plain values, arrays, and other objects."""

    def make(self, fields: Any) -> Any:
        """Make the object, and raise `UnsoundError` if no such object could have been written."""


class LongTexts(list[str]):
    """A list of texts that is stored as one array of bytes, such as a vocabulary."""


class Packer:
    """Takes objects apart; what is the same object twice is stored once.

    Parameters
    ----------
    codec_for : callable
        Returns the codec for an object; raises `UnknownTypeError` if there is none.
    other : Codec, optional
        For objects that no codec can take apart.
    """

    def __init__(self, codec_for: Callable[[Any], Codec], other: Codec | None = None) -> None:
        self.nodes: list[dict[str, Any]] = []
        self.arrays: list[bytes] = []
        self._codec_for = codec_for
        self._other = other
        self._packed: dict[int, tuple[Any, Any]] = {}

    def value(self, value: Any) -> Any:
        """Return a value as JSON holds it."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if isfinite(value) else {"float": repr(value)}
        if type(value) is list:
            return [self.value(one) for one in value]
        if type(value) in (tuple, set, frozenset):
            items = value if type(value) is tuple else sorted(value, key=repr)
            return {"tuple" if type(value) is tuple else "set": [self.value(one) for one in items]}
        if type(value) is dict:
            keys = [self.value(key) for key in value]
            need(all(type(key) in _PLAIN for key in keys), "a key is not a plain value")
            return {"dict": [[key, self.value(one)] for key, one in zip(keys, value.values(), strict=True)]}
        if id(value) not in self._packed:
            self._packed[id(value)] = value, self._object(value)
        return self._packed[id(value)][1]

    def _object(self, value: Any) -> Any:
        if isinstance(value, LongTexts):
            return {"texts": self._long_texts(value)}
        if type(value) is np.ndarray and value.dtype.kind == "O":
            need(all(type(one) in _PLAIN for one in value.ravel().tolist()), "an array holds objects")
            items = [self.value(one) for one in value.ravel().tolist()]
            return {"objects": {"items": items, "shape": list(value.shape)}}
        if type(value) is np.ndarray:
            return {"array": self._array(value)}
        if getattr(value, "format", None) == "csr" and type(value).__module__.startswith("scipy.sparse"):
            parts = {name: self._array(getattr(value, name)) for name in ("data", "indices", "indptr")}
            return {"csr": {**parts, "columns": int(value.shape[1]), "matrix": type(value).__name__ == "csr_matrix"}}
        try:
            codec = self._codec_for(value)
            parts = codec.fields(value)
        except (UnknownTypeError, UnsoundError):
            if self._other is None:
                raise
            codec, parts = self._other, self._other.fields(value)
        fields = {name: self.value(one) for name, one in parts.items()}
        self.nodes.append({"type": codec.tag, **fields})
        return {"node": len(self.nodes) - 1}

    def _array(self, array: AnyArray) -> int:
        self.arrays.append(array_bytes(np.asarray(array)))
        return len(self.arrays) - 1

    def _long_texts(self, texts: list[str]) -> int:
        whole = json.dumps(texts, ensure_ascii=False).encode("utf-8", "surrogatepass")
        return self._array(np.frombuffer(whole, dtype=np.uint8))


class Unpacker:
    """Makes objects from nodes, each once, in their order; what they may cost is bounded by the size of the file.

    Parameters
    ----------
    nodes : list
        As parsed from JSON.
    array_of : callable
        Returns the array of a number.
    size : int
        Bytes of the whole file.
    codec_named : callable
        Returns the codec with a tag, or None.
    """

    def __init__(
        self, nodes: Any, array_of: Callable[[int], AnyArray], size: int, codec_named: Callable[[str], Codec | None]
    ) -> None:
        need(isinstance(nodes, list) and 0 < len(nodes) <= _MOST_NODES, "its nodes are no list, or too many")
        self._nodes = nodes
        self._array_of = array_of
        self._codec_named = codec_named
        self._made: list[Any] = []
        self._weights: list[int] = []
        self._depths: list[int] = []
        self._known: dict[tuple[str, int], Any] = {}
        self._most_weight = _MOST_SHARING * (size + _NODE_BYTES * len(nodes)) + 2**20
        self._most_cost = _MOST_COST * size + _FREE_COST
        self._cost = self._weight = self._depth = self._nesting = 0

    def last(self) -> Any:
        """Make all nodes, and return the object of the last one."""
        for node in self._nodes:
            need(isinstance(node, dict) and type(node.get("type")) is str, "a node has no type")
            codec = self._codec_named(node["type"])
            need(codec is not None, f"it holds {node['type']!r}, which no model of Headcount holds")
            self._weight, self._depth = _NODE_BYTES, 0
            fields = {name: self._value(one) for name, one in node.items() if name != "type"}
            self._spend(_NODE_BYTES)
            need(
                self._weight <= self._most_weight, "its parts refer to each other so often that the model would be huge"
            )
            need(self._depth < _MOST_DEPTH, "its parts are nested too deeply")
            self._made.append(codec.make(fields) if codec is not None else None)
            self._weights.append(self._weight)
            self._depths.append(self._depth + 1)
        return self._made[-1]

    def _spend(self, n_bytes: int) -> None:
        self._cost += n_bytes
        need(self._cost <= self._most_cost, "reading it would take far more memory than its size")

    def _value(self, value: Any) -> Any:
        if value is None or type(value) in (bool, int, float, str):
            return value
        need(self._nesting < _MOST_DEPTH, "its values are nested too deeply")
        self._spend(_NODE_BYTES)
        self._nesting += 1
        if type(value) is list:
            made: Any = [self._value(one) for one in value]
        else:
            need(isinstance(value, dict) and len(value) == 1 and set(value) <= _KINDS, "a value is of no kind")
            [(kind, content)] = value.items()
            made = getattr(self, f"_as_{kind}")(content)
        self._nesting -= 1
        return made

    def _as_float(self, text: Any) -> float:
        need(text in ("nan", "inf", "-inf"), "a number is not one")
        return float(text)

    def _as_tuple(self, items: Any) -> tuple[Any, ...]:
        need(isinstance(items, list), "a tuple is not one")
        return tuple(self._value(one) for one in items)

    def _as_set(self, items: Any) -> set[Any]:
        need(isinstance(items, list) and all(type(one) in _PLAIN for one in items), "a set is not one")
        return set(items)

    def _as_dict(self, pairs: Any) -> dict[Any, Any]:
        need(
            isinstance(pairs, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in pairs),
            "a dictionary is not one",
        )
        made = {}
        for key, one in pairs:
            need(type(key) in _PLAIN, "a key is not a plain value")
            made[key] = self._value(one)
        return made

    def _as_objects(self, content: Any) -> AnyArray:
        need(isinstance(content, dict), "an array of values is not one")
        items, shape = content.get("items"), content.get("shape")
        need(
            isinstance(items, list)
            and isinstance(shape, list)
            and 0 < len(shape) <= 2
            and all(type(n) is int and n >= 0 for n in shape)
            and int(np.prod(shape, dtype=object)) == len(items),
            "an array of values has another size than it says",
        )
        made = np.empty(len(items), dtype=object)
        for i, one in enumerate(items):
            made[i] = self._value(one)
            need(type(made[i]) in _PLAIN, "an array of values holds others")
        return made.reshape(shape)

    def _as_array(self, number: Any) -> AnyArray:
        need(type(number) is int, "a number of an array is not one")
        first = ("array", number) not in self._known
        array = as_array(self._array_of(number) if first else self._known["array", number])
        self._known["array", number] = array
        self._weight += array.nbytes
        self._spend(array.nbytes if first else 0)
        return array

    def _as_texts(self, number: Any) -> list[str]:
        if ("texts", number) not in self._known:
            content = self._as_array(number)
            need(content.dtype == np.uint8 and content.ndim == 1, "texts are not bytes")
            whole = content.tobytes()
            self._spend(4 * len(whole) + _TEXT_BYTES * whole.count(b","))
            self._known["texts", number] = _texts_from(whole)
        self._weight += sum(map(len, self._known["texts", number]))
        return LongTexts(self._known["texts", number])

    def _as_csr(self, parts: Any) -> Any:
        from scipy.sparse import csr_array, csr_matrix

        need(isinstance(parts, dict), "a sparse matrix is not one")
        data, indices, indptr = (self._as_array(parts.get(name)) for name in ("data", "indices", "indptr"))
        n_columns = parts.get("columns")
        need(type(n_columns) is int and 0 <= n_columns <= _MOST_COLUMNS, "a sparse matrix is too wide")
        need(data.ndim == 1 and data.dtype.kind in "fiub", "a sparse matrix holds no numbers")
        need(indptr.ndim == 1 and len(indptr) > 0, "a sparse matrix has no rows")
        check_integers(indices, "the columns of a sparse matrix", data.shape, 0, n_columns)
        check_integers(indptr, "the rows of a sparse matrix", indptr.shape, 0, len(data) + 1)
        need(indices.dtype == indptr.dtype and indices.dtype in (np.int32, np.int64), "a sparse matrix has odd indices")
        need(
            indptr[0] == 0 and indptr[-1] == len(data) and bool((indptr[1:] >= indptr[:-1]).all()),
            "the rows of a sparse matrix do not follow each other",
        )
        kind = csr_matrix if parts.get("matrix") is True else csr_array
        return kind((data, indices, indptr), shape=(len(indptr) - 1, n_columns))

    def _as_node(self, number: Any) -> Any:
        need(type(number) is int and 0 <= number < len(self._made), "a node refers to itself or to a later one")
        self._weight += self._weights[number]
        self._depth = max(self._depth, self._depths[number])
        return self._made[number]


_KINDS = {"float", "tuple", "set", "dict", "objects", "array", "texts", "csr", "node"}
"""Kinds of values that JSON lacks."""


def _texts_from(content: bytes) -> list[str]:
    try:
        texts = json.loads(content.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise UnsoundError("texts can't be read") from error
    need(isinstance(texts, list) and all(type(text) is str for text in texts), "texts are not a list of texts")
    return texts  # type: ignore[no-any-return]
