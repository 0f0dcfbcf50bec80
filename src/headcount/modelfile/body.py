"""Make the objects of a model file's body, which skops wrote: arrays, plain values and instances of the types on a list.

skops writes this format and could read it, but importing it imports every module of scikit-learn, and torch, dask and pytest where
they are installed: three seconds before the first byte is read. Only the loaders below are needed, and none of them calls a
function that the file names.
"""

import json
import math
import zipfile
from collections.abc import Callable, Container
from importlib import import_module
from inspect import signature
from io import BytesIO
from typing import Any

import numpy as np

from headcount.modelfile.soundness import check_fitted_trees, check_learnt, check_npz, check_sparse, check_tree

__all__ = ["KNOWN_LOADERS", "KNOWN_PROTOCOLS", "make_object"]

KNOWN_PROTOCOLS = (0, 1, 2)
"""Versions of skops' format in which the loaders below are the same."""
_PLAIN_HEADER, _HEADER_START = b"\x93NUMPY\x01\x00", 10
"""Start of a file in version 1 of numpy's format, and where its header begins, after two bytes with the header's length."""
_CONTAINERS = {"DictNode": "dict", "ListNode": "list", "SetNode": "set", "TupleNode": "tuple"}


def make_object(schema: dict[str, Any], archive: zipfile.ZipFile, trusted: Container[str]) -> Any:
    """Make the object that a schema describes.

    Parameters
    ----------
    schema : dict
        The schema of a skops file, of one of the `KNOWN_PROTOCOLS`.
    archive : ZipFile
        The skops file, which holds the arrays.
    trusted : container of str
        The paths of the types that may be made.
    """
    return _Maker(archive, trusted).make(schema)


class _Maker:
    def __init__(self, archive: zipfile.ZipFile, trusted: Container[str]) -> None:
        self._archive = archive
        self._trusted = trusted
        self._made: dict[Any, Any] = {}
        self._headers: dict[bytes, tuple[np.dtype[Any], tuple[int, ...]]] = {}

    def make(self, node: dict[str, Any]) -> Any:
        """Make the object of a node; nodes with the same id are the same object."""
        key = node.get("__id__")
        if key is not None and key in self._made:
            return self._made[key]
        made = _LOADERS[node["__loader__"]](self, node)
        if key is not None:
            self._made[key] = made
        return made

    def type_of(self, node: dict[str, Any]) -> Any:
        path = f"{node['__module__']}.{node['__class__']}"
        if path not in self._trusted:
            raise TypeError(f"{path} is not on the list of types")
        found = getattr(import_module(node["__module__"]), node["__class__"])
        if not isinstance(found, type):
            raise TypeError(f"{path} is not a type")
        return found

    def bytes_of(self, node: dict[str, Any]) -> bytes:
        return self._archive.read(node["file"])

    def array_of(self, node: dict[str, Any]) -> np.ndarray[Any, Any]:
        """Return the array of a file; numpy parses its header, once if many files have the same, as those of a forest do."""
        content = self.bytes_of(node)
        header = content[: _HEADER_START + int.from_bytes(content[8:_HEADER_START], "little")]
        known = self._headers.get(header)
        if known is not None:
            dtype, shape = known
            return np.frombuffer(content, dtype, math.prod(shape), len(header)).reshape(shape).copy()
        array: np.ndarray[Any, Any] = np.load(BytesIO(content), allow_pickle=False)
        if header.startswith(_PLAIN_HEADER) and array.flags.c_contiguous and not array.dtype.hasobject:
            self._headers[header] = array.dtype, array.shape
        return array


def _cached(_maker: _Maker, node: dict[str, Any]) -> Any:
    raise ValueError(f"the object {node.get('__id__')!r} is named before it is described")


def _json(_maker: _Maker, node: dict[str, Any]) -> Any:
    return json.loads(node["content"])


def _type(maker: _Maker, node: dict[str, Any]) -> Any:
    return maker.type_of(node)


def _container_type(maker: _Maker, node: dict[str, Any]) -> Any:
    if (node["__module__"], node["__class__"]) != ("builtins", _CONTAINERS[node["__loader__"]]):
        raise TypeError(f"{node['__module__']}.{node['__class__']} is not made by {node['__loader__']}")
    return maker.type_of(node)


def _dict(maker: _Maker, node: dict[str, Any]) -> Any:
    kind, key_types = _container_type(maker, node), maker.make(node["key_types"])
    return kind(
        (key_type(key), maker.make(value))
        for key_type, (key, value) in zip(key_types, node["content"].items(), strict=True)
    )


def _sequence(maker: _Maker, node: dict[str, Any]) -> Any:
    return _container_type(maker, node)([maker.make(item) for item in node["content"]])


def _array(maker: _Maker, node: dict[str, Any]) -> Any:
    """Make an array, or a number of numpy's."""
    if node["__module__"] != "numpy":
        raise TypeError(f"{node['__module__']}.{node['__class__']} is not an array")
    if node["type"] == "numpy":
        values = maker.array_of(node)
        return values if node["__class__"] == "ndarray" else maker.type_of(node)(values)
    items, shape = [maker.make(item) for item in node["content"]], maker.make(node["shape"])
    if len(shape) != 1:
        return np.array(items, dtype=object)
    objects = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):  # one by one: items may be sequences themselves
        objects[i] = item
    return objects


def _dtype(maker: _Maker, node: dict[str, Any]) -> Any:
    return maker.make(node["content"]).dtype


def _sparse(maker: _Maker, node: dict[str, Any]) -> Any:
    from scipy.sparse import load_npz

    content = maker.bytes_of(node)
    check_npz(content)
    matrix = load_npz(BytesIO(content))
    check_sparse(matrix)
    return matrix


def _random_state(maker: _Maker, node: dict[str, Any]) -> Any:
    state = np.random.RandomState()
    state.set_state(maker.make(node["content"]))
    return state


def _instance(maker: _Maker, node: dict[str, Any]) -> Any:
    """Make an instance with its attributes set, without a call of ``__init__``."""
    kind = maker.type_of(node)
    instance = kind.__new__(kind)
    attributes = None if node.get("content") is None else maker.make(node["content"])
    return instance if attributes is None else _with_attributes(instance, attributes)


def _tree(maker: _Maker, node: dict[str, Any]) -> Any:
    """Make a decision tree of scikit-learn, whose arrays are in C."""
    attributes, arguments = maker.make(node["content"]), maker.make(node["__reduce__"]["args"])
    if (node["__module__"], node["__class__"]) != ("sklearn.tree._tree", "Tree"):
        raise TypeError(f"{node['__module__']}.{node['__class__']} is not a tree")
    check_tree(arguments, attributes)
    return _with_attributes(maker.type_of(node)(*arguments), attributes)


def _with_attributes(instance: Any, attributes: Any) -> Any:
    if hasattr(instance, "__setstate__"):
        instance.__setstate__(attributes)
    else:
        instance.__dict__.update(attributes)
    _set_missing_parameters(instance)
    check_fitted_trees(instance)
    check_learnt(instance)
    return instance


def _set_missing_parameters(instance: Any) -> None:
    """Set parameters that the version that wrote an estimator did not have to their defaults."""
    if not hasattr(instance, "get_params"):
        return
    for name, parameter in signature(type(instance).__init__).parameters.items():
        if parameter.default is not parameter.empty and not hasattr(instance, name):
            setattr(instance, name, parameter.default)


_LOADERS: dict[str, Callable[[_Maker, dict[str, Any]], Any]] = {
    "CachedNode": _cached,
    "DTypeNode": _dtype,
    "DictNode": _dict,
    "JsonNode": _json,
    "ListNode": _sequence,
    "NdArrayNode": _array,
    "ObjectNode": _instance,
    "RandomStateNode": _random_state,
    "SetNode": _sequence,
    "SparseMatrixNode": _sparse,
    "TreeNode": _tree,
    "TupleNode": _sequence,
    "TypeNode": _type,
}
KNOWN_LOADERS = frozenset(_LOADERS)
"""How an object may be made: none of these calls a function that the file names."""
