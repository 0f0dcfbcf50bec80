"""The zip of a model file: its manifest and its other members, taken out only if sizes and names are those of a model file."""

import json
import re
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

from headcount.exceptions import DataError, FileFormatError
from headcount.modelfile.manifest import check_member, checked

__all__ = ["BODY", "MANIFEST", "NODES", "json_nodes", "packed", "schema_of", "unpacked"]

MANIFEST, NODES, BODY = "manifest.json", "model.json", "model.skops"
"""The manifest; the nodes of version 3; the model of versions 1 and 2."""
_MEMBER = re.compile(r"manifest\.json|model\.json|model\.skops|(0|[1-9][0-9]{0,5})\.npy")
_MOST_MANIFEST = 16 * 2**20
_MOST_BODY = 4 * 2**30
_LEAST_LIMIT, _MOST_RATIO = 256 * 2**20, 100
"""Limit of the unpacked size of a body of version 1 or 2: this many bytes, or this many times its packed size."""
_DICT_BYTES, _ITEM_BYTES, _MOST_COST, _FREE_COST = 240, 60, 10, 64 * 2**20
"""Memory that a dictionary or list and an item of JSON take, and what the nodes may take: times their size, and bytes."""


def packed(manifest: bytes, members: dict[str, bytes]) -> bytes:
    """Return the zip of a manifest and other members."""
    whole = BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(MANIFEST, manifest)
        for name, content in members.items():
            archive.writestr(name, content)
    return whole.getvalue()


def unpacked(path: Path) -> tuple[dict[str, Any], dict[str, bytearray]]:
    """Return the manifest and the other members of a model file, all with the checksums that the manifest gives."""
    if not path.exists():
        raise DataError(f"There is no file {path}.")
    if path.is_dir():
        raise DataError(f"{path} is a folder; a model file is needed.")
    if not path.is_file():
        raise DataError(f"{path} is not a regular file; a model file is needed.")
    try:
        with zipfile.ZipFile(path) as archive:
            infos = {info.filename: info for info in archive.infolist()}
            _check_names(infos, len(archive.infolist()), path)
            _check_sizes(infos, path)
            manifest = checked(archive.read(MANIFEST), path)
            members = {name: _read(archive, info) for name, info in infos.items() if name != MANIFEST}
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, OSError, ValueError, KeyError) as error:
        if isinstance(error, DataError):
            raise
        if isinstance(error, zipfile.BadZipFile) and not _begins_as_zip(path):
            raise FileFormatError(
                f"{path} is not a model file. Make one with 'headcount fit'; scores, or a confusion matrix, are used without one "
                "(--scored, --confusion)."
            ) from error
        raise FileFormatError(
            f"{path} is a model file that ends in the middle or is damaged ({error}): copy it again, or make it again with "
            "'headcount fit'."
        ) from error
    if (NODES in members) != (manifest["version"] > 2) or set(members) != set(manifest["members"]):
        raise FileFormatError(f"{path} is damaged: it holds other members than its manifest names. Get it again.")
    for name, content in members.items():
        check_member(manifest, name, content, path)
    return manifest, members


def _begins_as_zip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"PK"


def _check_names(infos: dict[str, zipfile.ZipInfo], count: int, path: Path) -> None:
    strange = sorted(name for name in infos if not _MEMBER.fullmatch(name))
    strange += [BODY] if BODY in infos and len(infos) > 2 and not strange else []
    if strange or len(infos) != count:
        from headcount._validation import quoted

        raise FileFormatError(
            f"{path} is refused: besides a model it holds {quoted(strange) if strange else 'a member twice'}, which is no part of "
            "one."
        )
    if MANIFEST not in infos or len({NODES, BODY} & set(infos)) != 1:
        raise FileFormatError(f"{path} is not a model file of Headcount: it lacks {MANIFEST} or {NODES}.")


def _check_sizes(infos: dict[str, zipfile.ZipInfo], path: Path) -> None:
    """Raise unless members are not compressed and lie beside each other: together they are no larger than the file."""
    compressed = any(
        info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size for info in infos.values()
    )
    total = sum(info.file_size for info in infos.values())
    if compressed or infos[MANIFEST].file_size > _MOST_MANIFEST or total > min(_MOST_BODY, path.stat().st_size):
        raise FileFormatError(f"{path} is refused: its members are packed or larger than those of a model file.")


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytearray:
    content = bytearray(info.file_size)
    with archive.open(info) as member:
        view = memoryview(content)
        done = 0
        while done < len(content):
            n = member.readinto(view[done:])  # type: ignore[attr-defined]
            if not n:
                raise EOFError(f"{info.filename} ends in the middle")
            done += n
        member.read(1)  # at the end the checksum of the zip is compared
    return content


def json_nodes(content: bytes | bytearray, path: Path) -> list[Any]:
    """Parse the nodes of a model; raise before that would take far more memory than they have bytes."""
    brackets = content.count(b"{") + content.count(b"[")
    if _DICT_BYTES * brackets + _ITEM_BYTES * content.count(b",") > _MOST_COST * len(content) + _FREE_COST:
        raise FileFormatError(f"{path} is refused: its nodes would take far more memory than its size.")
    try:
        nodes = json.loads(content, parse_constant=_no_number)["nodes"]
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        raise FileFormatError(f"{path} is damaged: its nodes can't be read ({error}). Make the model again.") from error
    if not isinstance(nodes, list) or not nodes or not all(isinstance(node, dict) for node in nodes):
        raise FileFormatError(f"{path} is damaged: it holds no nodes. Make the model again.")
    return nodes


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is not a number of JSON")


def schema_of(body: bytes | bytearray, path: Path) -> Any:
    """Return the schema of a body of version 1 or 2, which is a skops file: what objects it describes."""
    try:
        with zipfile.ZipFile(BytesIO(body)) as archive:
            limit = min(_MOST_BODY, max(_LEAST_LIMIT, _MOST_RATIO * len(body)))
            if sum(info.file_size for info in archive.infolist()) > limit:
                raise FileFormatError(f"{path} is refused: it would unpack to more than {limit / 2**20:,.0f} MiB.")
            return json.loads(archive.read("schema.json"))
    except (
        zipfile.BadZipFile,
        EOFError,
        NotImplementedError,
        RuntimeError,
        KeyError,
        ValueError,
        RecursionError,
    ) as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(f"{path} is damaged: its model can't be unpacked ({error}). Make it again.") from error
