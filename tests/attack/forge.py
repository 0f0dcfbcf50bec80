"""Forge files made of zips, JSON documents and numpy arrays, one within the other, whatever they mean.

A forger recomputes checksums: `resealed` writes those of a model file's manifest again.
"""

import hashlib
import io
import json
import random
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["changed_bytes", "changed_document", "members_of", "mutated_content", "resealed"]

Members = list[tuple[str, bytes]]
_NAMES = (
    "os.system",
    "builtins.eval",
    "numpy.ndarray",
    "sklearn.tree._tree.Tree",
    "func",
    "../../x",
    "",
    "a" * 5000,
    "\x1b[31m",
)
_NUMBERS = (
    0,
    1,
    -1,
    2,
    3,
    255,
    10**6,
    2**31 - 1,
    2**31,
    -(2**31),
    2**40,
    2**63 - 1,
    2**63,
    -(2**63),
    10**30,
    0.5,
    -0.0,
    1e-320,
    1e308,
)
_VALUES: tuple[Any, ...] = (
    None, True, False, *_NUMBERS, float("nan"), float("inf"), -float("inf"), *_NAMES, "nan", "é€😀", [], {}, [[]], [0] * 1000, {"a": {"b": []}}
)  # fmt: skip
_ARRAY_VALUES = (
    0,
    1,
    -1,
    2,
    7,
    100,
    10**6,
    10**8,
    2**31 - 1,
    -(2**31),
    2**62,
    np.nan,
    np.inf,
    -np.inf,
    1e308,
    -1e308,
    1e-320,
    0.5,
    -0.5,
)
_TYPES = (
    "<i8",
    "<i4",
    "<i2",
    "<u1",
    "<u8",
    "<f8",
    "<f4",
    "<f2",
    ">f8",
    ">i8",
    "?",
    "<c16",
    "<U3",
    "S5",
    "<M8[s]",
    "<m8[s]",
    "V8",
)
_HEADERS = (
    "{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 3), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (300000000,), }",
    "{'descr': '|O', 'fortran_order': False, 'shape': (3,), }",
    "{'descr': ('<f8', (1000000000,)), 'fortran_order': False, 'shape': (3,), }",
    "{'descr': '<U500000000', 'fortran_order': False, 'shape': (3,), }",
    "{'descr': [('a', '<f8'), ('b', '|O')], 'fortran_order': False, 'shape': (3,), }",
    "{'descr': '|V0', 'fortran_order': False, 'shape': (1099511627776,), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (" + "1, " * 70 + "), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 99999999999999), }",
    "{'descr': '<f8', 'fortran_order': 7, 'shape': (True,), }",
    "{'descr': '<f8', 'shape': (1,), }",
    "(" * 4000 + ")" * 4000,
    "__import__('os').system('touch run-by-a-header')",
)
_PICKLE = b"cos\nsystem\n(S'touch run-by-a-pickle'\ntR."


def members_of(content: bytes) -> Members:
    """Return the names and contents of a zip's members."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return [(info.filename, archive.read(info)) for info in archive.infolist()]


def _zipped(members: Members, packed: int) -> bytes:
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", packed) as archive:
        warnings.simplefilter("ignore")  # of a name that comes twice
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), content, packed)
    return out.getvalue()


def _packing(content: bytes) -> int:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return max((info.compress_type for info in archive.infolist()), default=0)


# --- checksums


def resealed(members: Members) -> Members:
    """Return the members of a model file with checksums in its manifest that fit."""
    contents = dict(members)
    manifest = json.loads(contents["manifest.json"])
    if isinstance(manifest, dict) and isinstance(manifest.get("members"), dict):
        for name, about in manifest["members"].items():
            if name in contents and isinstance(about, dict):
                about |= {"sha256": hashlib.sha256(contents[name]).hexdigest(), "bytes": len(contents[name])}
        manifest.pop("seal", None)
        manifest["seal"] = hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()
    written = json.dumps(manifest, indent=1, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return [(name, written if name == "manifest.json" else content) for name, content in members]


# --- contents of any kind


def mutated_content(content: bytes, generator: random.Random, others: Members = ()) -> tuple[bytes, str]:  # type: ignore[assignment]
    """Change a file by what it holds; returns it, and what was done. ``others`` are files that it may be swapped with."""
    if generator.random() < 0.06:
        return changed_bytes(content, generator), "bytes"
    if others and generator.random() < 0.04:
        return generator.choice(list(others))[1], "swapped"
    if content[:4] == b"PK\x03\x04":
        try:
            return _changed_zip(content, generator)
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            ValueError,
            KeyError,
            NotImplementedError,
            RuntimeError,
        ):  # forged already
            return changed_bytes(content, generator), "bytes"
    if content[:6] == b"\x93NUMPY":
        return _changed_array(content, generator)
    if content.lstrip()[:1] in (b"{", b"["):
        try:
            return _changed_json(content, generator)
        except (ValueError, RecursionError):
            pass
    return changed_bytes(content, generator), "bytes"


def changed_bytes(content: bytes, generator: random.Random) -> bytes:
    """Flip, insert, remove or repeat a few bytes, or cut off the end."""
    if not content:
        return b"\0"
    new = bytearray(content)
    for _ in range(generator.choice((1, 1, 2, 5, 40))):
        place = generator.randrange(max(len(new), 1))
        match generator.randrange(6):
            case 0:
                new[place : place + 1] = bytes([generator.randrange(256)])
            case 1:
                new[place:place] = generator.randbytes(generator.choice((1, 2, 8)))
            case 2:
                del new[place : place + generator.choice((1, 4, 100))]
            case 3:
                new[place:place] = new[place : place + generator.choice((4, 50, 1000))]
            case 4:
                new[place : place + 4] = struct.pack("<I", generator.choice((0, 1, 2**31, 2**32 - 1)))
            case 5 if generator.random() < 0.3:
                del new[place:]
    return bytes(new)


# --- zips


def _changed_zip(content: bytes, generator: random.Random) -> tuple[bytes, str]:
    members, packed = members_of(content), _packing(content)
    if not members:
        return changed_bytes(content, generator), "bytes"
    if generator.random() < 0.85:  # mostly what is in it
        return _changed_member(members, packed, generator)
    return changed_members(members, packed, generator)


def _changed_member(members: Members, packed: int, generator: random.Random) -> tuple[bytes, str]:
    documents = [i for i, (name, _) in enumerate(members) if name.endswith(".json")]
    i = generator.choice(documents) if documents and generator.random() < 0.5 else generator.randrange(len(members))
    new, what = mutated_content(members[i][1], generator, members)
    members[i] = members[i][0], new
    return _zipped(members, packed), f"{members[i][0][-12:]}: {what}"


def changed_members(members: Members, packed: int, generator: random.Random) -> tuple[bytes, str]:
    """Return a zip with members removed, repeated, renamed, added, packed otherwise, or that says other sizes than it has."""
    i = generator.randrange(len(members))
    name, content = members[i]
    what = generator.choice(
        ("removed", "twice", "renamed", "added", "packed", "bomb", "sizes", "flags", "method", "swapped", "cut")
    )
    match what:
        case "removed":
            return _zipped(members[:i] + members[i + 1 :], packed), what
        case "twice":
            return _zipped([*members, (name, generator.choice(members)[1])], packed), what
        case "renamed":
            other = generator.choice(("../" + name, "/" + name, name.upper(), name + "\0", "é" + name, "a" * 60000, ""))
            return _zipped([*members[:i], (other, content), *members[i + 1 :]], packed), what
        case "added":
            other = generator.choice(("../escaped", "/tmp/escaped", "__init__.py", "x.npy", "folder/", "\x1b[31m"))
            return _zipped([*members, (other, _PICKLE)], packed), what
        case "packed":
            return _zipped(members, generator.choice((0, 8, 12, 14))), what
        case "bomb":
            zeros = bytes(generator.choice((2**20, 2**24, 2**27)))
            return _zipped([*members[:i], (name, content + zeros), *members[i + 1 :]], 8), what
        case "swapped":
            j = generator.randrange(len(members))
            members[i], members[j] = (name, members[j][1]), (members[j][0], content)
            return _zipped(members, packed), what
        case "cut":
            whole = _zipped(members, packed)
            return whole[: generator.randrange(len(whole))] + b"PK\x05\x06" + bytes(18), what
    whole = bytearray(_zipped(members, packed))
    entries = [place for place in range(len(whole) - 46) if whole[place : place + 4] == b"PK\x01\x02"]
    if entries:
        place = generator.choice(entries) + {"sizes": generator.choice((20, 24)), "flags": 8, "method": 10}[what]
        size = 4 if what == "sizes" else 2
        number = generator.choice((0, 1, 2, 9, 99, 2**16 - 1, 2**31, 2**32 - 1)) % 256**size
        whole[place : place + size] = number.to_bytes(size, "little")
    return bytes(whole), what


# --- arrays


def _changed_array(content: bytes, generator: random.Random) -> tuple[bytes, str]:
    if generator.random() < 0.12:
        header = generator.choice(_HEADERS).encode() + b"\n"
        version = generator.choice((1, 1, 1, 2, 3))
        length = len(header).to_bytes(2 if version == 1 else 4, "little")
        body = generator.choice((content[128:], _PICKLE, b""))
        return b"\x93NUMPY" + bytes([version, 0]) + length + header + body, "header"
    try:
        array = np.load(io.BytesIO(content), allow_pickle=False)
    except ValueError:
        return changed_bytes(content, generator), "bytes"
    what, change = generator.choice(_ARRAY_CHANGES)
    out = io.BytesIO()
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.save(out, change(array.copy(), generator), allow_pickle=False)
    except (ValueError, TypeError, IndexError, OverflowError):
        return changed_bytes(content, generator), "bytes"
    return out.getvalue(), f"array {what}"


def _with_values(array: Any, generator: random.Random) -> Any:
    part = array
    if array.dtype.names:
        part = array[generator.choice(array.dtype.names)]
    value = generator.choice((*_ARRAY_VALUES, array.size, len(array) if array.ndim else 1))
    places = (
        slice(None)
        if generator.random() < 0.15
        else [generator.randrange(part.size) for _ in range(generator.choice((1, 1, 3, 20)))]
    )
    flat = part.reshape(-1)
    if part.dtype.kind in "US":
        flat[places] = generator.choice(("", "\x1b[2J", "other", "nan", "x" * 200))
    elif part.dtype.kind in "iu":
        info = np.iinfo(part.dtype)
        number = int(value) if np.isfinite(value) else -5
        flat[places] = min(max(number, info.min), info.max)
    else:
        flat[places] = value
    if flat.base is None or not np.shares_memory(flat, part):
        part[...] = flat.reshape(part.shape)
    return array


def _with_shape(array: Any, generator: random.Random) -> Any:
    changes: tuple[Callable[[Any], Any], ...] = (
        lambda a: a[:0], lambda a: a[:-1], lambda a: a[1:], lambda a: np.concatenate([a, a]), lambda a: np.concatenate([a, a[:1]]),
        lambda a: a.reshape(-1), lambda a: a[None], lambda a: a[..., None], lambda a: a.T, lambda a: a.reshape(-1)[0],
        lambda a: a[..., :0], lambda a: a[..., :-1], lambda a: np.concatenate([a, a[..., :1]], axis=-1), lambda a: np.asfortranarray(a),
        lambda a: np.repeat(a, 1000, axis=0), lambda a: np.broadcast_to(a.reshape(-1)[:1], (2000, 2000)),
    )  # fmt: skip
    return generator.choice(changes)(array)


def _with_order(array: Any, generator: random.Random) -> Any:
    changes: tuple[Callable[[Any], Any], ...] = (
        lambda a: a[::-1],
        np.sort,
        lambda a: np.random.default_rng(0).permutation(a),
    )
    return generator.choice(changes)(array)


_ARRAY_CHANGES: tuple[tuple[str, Callable[[Any, random.Random], Any]], ...] = (
    ("values", _with_values), ("values", _with_values), ("values", _with_values), ("shape", _with_shape), ("order", _with_order),
    ("type", lambda array, generator: array.astype(generator.choice(_TYPES))),
    ("view", lambda array, generator: array.view(generator.choice(_TYPES))),
    ("scaled", lambda array, generator: array * generator.choice((-1, 0, 1000, 1e-300, 1e300))),
)  # fmt: skip


# --- documents


def _changed_json(content: bytes, generator: random.Random) -> tuple[bytes, str]:
    if generator.random() < 0.03:
        depth = generator.choice((900, 5000, 200_000))
        return generator.choice((b"[" * depth + b"]" * depth, b'{"content":' * depth + b"1" + b"}" * depth)), "depth"
    document, what = changed_document(json.loads(content), generator)
    return json.dumps(document).encode("utf-8", "surrogatepass"), what


def changed_document(document: Any, generator: random.Random) -> tuple[Any, str]:
    """Change one to three places of a document of lists, dicts and plain values; returns it, and what was done."""
    done = []
    for _ in range(generator.choice((1, 1, 1, 2, 3))):
        parent, key = _place(document, generator)
        if parent is None:
            return generator.choice(_VALUES), "document"
        what, change = generator.choice(_DOCUMENT_CHANGES)
        change(document, parent, key, generator)
        done.append(f"{what} {str(key)[:20]}")
    return document, ", ".join(done)


def _place(document: Any, generator: random.Random) -> tuple[Any, Any]:
    """Choose a place by going down at random: what is deep or long is not chosen more often than what is not."""
    parent, key, node = None, None, document
    while isinstance(node, dict | list) and node and (parent is None or generator.random() < 0.85):
        parent = node
        key = generator.choice(list(node)) if isinstance(node, dict) else generator.randrange(len(node))
        node = node[key]
    return parent, key


def _replace(_document: Any, parent: Any, key: Any, generator: random.Random) -> None:
    parent[key] = generator.choice(_VALUES)


def _near(_document: Any, parent: Any, key: Any, generator: random.Random) -> None:
    """Replace a value by another of its type."""
    value = parent[key]
    if isinstance(value, bool):
        parent[key] = not value
    elif isinstance(value, int | float):
        parent[key] = generator.choice((value + 1, value - 1, -value, value * 1000, *_NUMBERS))
    elif isinstance(value, str):
        parent[key] = generator.choice((value + "x", value[:-1], value.upper(), value[::-1], value * 50, *_NAMES))
    elif isinstance(value, list):
        parent[key] = generator.choice((value[:-1], value[::-1], value + value[:1], value * 3, []))
    elif isinstance(value, dict):
        parent[key] = generator.choice((list(value.values()), dict(list(value.items())[::-1]), {}))


def _remove(_document: Any, parent: Any, key: Any, _generator: random.Random) -> None:
    del parent[key]


def _transplant(document: Any, parent: Any, key: Any, generator: random.Random) -> None:
    """Put a part of the document in the place of another: names and references come twice."""
    source, name = _place(document, generator)
    if source is not None:
        parent[key] = json.loads(json.dumps(source[name]))


def _swap(document: Any, parent: Any, key: Any, generator: random.Random) -> None:
    source, name = _place(document, generator)
    if source is not None and isinstance(source, dict | list) and len(json.dumps(source)) < 100_000:
        one, other = json.dumps(parent[key]), json.dumps(source[name])
        source[name] = json.loads(one)
        parent[key] = json.loads(other)


def _rename(_document: Any, parent: Any, key: Any, generator: random.Random) -> None:
    if isinstance(parent, dict):
        parent[generator.choice((f"{key}x", "", "__reduce__", "content", *_NAMES))] = parent.pop(key)


def _repeat(_document: Any, parent: Any, key: Any, generator: random.Random) -> None:
    if isinstance(parent, list) and len(json.dumps(parent[key])) < 2000:
        parent[key:key] = [parent[key]] * generator.choice((1, 2, 100, 20_000))


_DOCUMENT_CHANGES: tuple[tuple[str, Callable[[Any, Any, Any, random.Random], None]], ...] = (
    ("replace", _replace), ("replace", _replace), ("near", _near), ("near", _near), ("near", _near), ("remove", _remove),
    ("transplant", _transplant), ("swap", _swap), ("rename", _rename), ("repeat", _repeat),
)  # fmt: skip
