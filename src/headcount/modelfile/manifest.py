"""The manifest of a model file: its content and origin as JSON, with checksums that show later changes."""

import hashlib
import json
from dataclasses import asdict, fields
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from headcount._roles import ROLE_KINDS, ColumnRole
from headcount.exceptions import FileFormatError
from headcount.modelfile.columns import Columns

if TYPE_CHECKING:
    from headcount.modelfile.model import Model

__all__ = ["VERSION", "check_member", "checked", "class_numbers", "columns_of", "described", "sealed"]

FORMAT, VERSION = "headcount-model", 3
_READ = (1, 2, VERSION)
"""Versions that can be read. The first two are written by skops; the first has columns of one kind only."""
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "skops")
_NEEDED = {"members": dict, "columns": dict, "classes": list, "method": str, "learner": str, "source": dict}
_NEEDED |= {"libraries": dict, "ranking": list, "skipped": list, "written": str}
_RANKED = {"method": str, "learner": str, "ae": float, "behind": float, "p_best": float}


def described(model: "Model", written: str) -> dict[str, Any]:
    """Return everything about a model except the fitted quantifier, as plain data."""
    from headcount._validation import plain

    classes = [plain(label) for label in model.classes]
    return {
        "format": FORMAT,
        "version": VERSION,
        "headcount": version("headcount"),
        "libraries": {name: version(name) for name in _LIBRARIES},
        "written": written,
        "method": model.method,
        "learner": model.learner,
        "parameters": model.parameters,
        "classes": classes,
        "ordered": model.ordered,
        "values": class_numbers(classes),
        "columns": _described_columns(model.columns),
        "source": model.source,
        "seed": model.seed,
        "ranking": model.ranking,
        "skipped": model.skipped,
    }


def class_numbers(classes: list[Any]) -> list[float] | None:
    """Return classes that are numbers as they are, None if some are not.

    >>> class_numbers([1, 2, 3]), class_numbers(["1", "2"])
    ([1, 2, 3], None)
    """
    return classes if all(type(label) in (int, float) for label in classes) else None


def _described_columns(columns: Columns) -> dict[str, Any]:
    about: dict[str, Any] = {"kind": columns.kind, "names": list(columns.names), "label": columns.label}
    if columns.roles:
        about["roles"] = [asdict(role) for role in columns.roles]
    if columns.notes:
        about["notes"] = list(columns.notes)
    return about


def sealed(manifest: dict[str, Any], members: dict[str, bytes]) -> bytes:
    """Return the manifest as JSON, with checksums of the other members and of itself."""
    manifest = manifest | {"members": {name: _named(content) for name, content in members.items()}}
    return json.dumps(manifest | {"seal": _seal(manifest)}, indent=1, ensure_ascii=False).encode()


def _named(content: bytes | bytearray) -> dict[str, Any]:
    return {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}


def _seal(manifest: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()


def checked(content: bytes, path: Any) -> dict[str, Any]:
    """Parse a manifest; raise if it was changed after it was written, or if its version is not supported."""
    try:
        manifest = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{path} is damaged: its manifest is not JSON. Make the model again.") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise FileFormatError(f"{path} is not a model file of Headcount: its manifest does not say so.")
    if type(manifest.get("version")) is not int or manifest["version"] not in _READ:
        raise FileFormatError(
            f"{path} is a model file of version {manifest.get('version')!r}; this Headcount {version('headcount')} reads versions "
            f"{_READ[0]} to {_READ[-1]}. It was written by Headcount {manifest.get('headcount')!r}: use that, or make the "
            "model again."
        )
    seal = manifest.pop("seal", None)
    if seal != _seal(manifest):
        raise FileFormatError(
            f"{path} was changed after it was written: its manifest does not fit its checksum. Get it again."
        )
    whole = all(isinstance(manifest.get(name), kind) for name, kind in _NEEDED.items())
    if not whole or not _sound(manifest):
        raise FileFormatError(
            f"{path} is damaged: its manifest lacks some of {', '.join(_NEEDED)}. Make the model again."
        )
    return manifest


def _sound(manifest: dict[str, Any]) -> bool:
    """Whether the entries that are printed have the expected types."""
    rows = manifest["source"].get("rows", 0)
    shares, trusted = manifest["source"].get("shares", {}), manifest.get("trusted", [])
    seed, libraries = manifest.get("seed"), manifest["libraries"]
    texts = [manifest["source"].get(key, "") for key in ("name", "fingerprint")]
    texts += [manifest.get(key, "") for key in ("headcount", "written")]
    return (
        isinstance(rows, int)
        and isinstance(manifest.get("ordered", False), bool)
        and all(isinstance(text, str) for text in [*texts, *libraries.values()])
        and isinstance(seed, int | None)
        and isinstance(trusted, list)
        and all(isinstance(path, str) for path in trusted)
        and isinstance(shares, dict)
        and all(isinstance(share, int | float) for share in shares.values())
        and all(isinstance(one, dict) and "reason" in one for one in manifest["skipped"])
        and all(
            isinstance(one, dict) and all(isinstance(one.get(key), kind) for key, kind in _RANKED.items())
            for one in manifest["ranking"]
        )
    )


def check_member(manifest: dict[str, Any], name: str, content: bytes | bytearray, path: Any) -> None:
    """Raise unless a member has the checksum that the manifest gives for it."""
    if manifest["members"].get(name) != _named(content):
        raise FileFormatError(
            f"{path} was changed after it was written: {name} does not fit its checksum. Get it again."
        )


def columns_of(manifest: dict[str, Any], path: Any) -> Columns:
    """Return the columns that the manifest names."""
    columns = manifest["columns"]
    kind, names, label = columns.get("kind"), columns.get("names"), columns.get("label")
    strings = isinstance(names, list) and all(isinstance(name, str) for name in [*names, label])
    alone = kind in ("text", "decisions")
    if (
        kind not in ("text", "numbers", "mixed", "scores", "decisions")
        or not strings
        or (len(names) != 1 if alone else not names)
    ):
        raise FileFormatError(f"{path} is damaged: its manifest names no columns. Make the model again.")
    notes, roles = columns.get("notes", []), _roles_of(columns.get("roles", []))
    if (
        roles is None
        or len(roles) != (len(names) if kind == "mixed" else 0)
        or not (isinstance(notes, list) and all(isinstance(note, str) for note in notes))
    ):
        raise FileFormatError(
            f"{path} is damaged: its manifest does not say what its columns are. Make the model again."
        )
    return Columns(kind, tuple(names), label, roles, tuple(notes))


def _roles_of(described_roles: Any) -> tuple[ColumnRole, ...] | None:
    """Return the roles of mixed columns; None if they are not such."""
    if not isinstance(described_roles, list):
        return None
    types = {field.name: type(field.default) for field in fields(ColumnRole)} | {"kind": str}
    sound = all(
        isinstance(one, dict)
        and one.keys() == types.keys()
        and all(type(one[name]) is kind for name, kind in types.items())
        and one["kind"] in ROLE_KINDS
        and one["size"] >= 0
        for one in described_roles
    )
    return tuple(ColumnRole(**one) for one in described_roles) if sound else None
