"""The zip of a model file: its manifest and its body, taken out only if sizes and names are those of a model file."""

import json
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

from headcount.exceptions import DataError, FileFormatError
from headcount.modelfile.manifest import check_member, checked

__all__ = ["BODY", "MANIFEST", "schema_of", "unpacked"]

MANIFEST, BODY = "manifest.json", "model.skops"
_MOST_MANIFEST = 16 * 2**20
_MOST_BODY = 4 * 2**30
_LEAST_LIMIT, _MOST_RATIO = 256 * 2**20, 100
"""Limit of the unpacked size of a body: this many bytes, or this many times its packed size, whichever is more."""


def unpacked(path: Path) -> tuple[dict[str, Any], bytes]:
    """Return the manifest and the body of a model file, both with the checksums that the manifest gives."""
    if not path.exists():
        raise DataError(f"There is no file {path}.")
    if path.is_dir():
        raise DataError(f"{path} is a folder; a model file is needed.")
    try:
        with zipfile.ZipFile(path) as archive:
            members = {info.filename: info for info in archive.infolist()}
            strange = sorted(set(members) - {MANIFEST, BODY})
            if strange or len(members) != len(archive.infolist()):
                raise FileFormatError(
                    f"{path} is refused: besides a model it holds {strange or 'a member twice'}, which is no part of one."
                )
            if len(members) < 2:
                raise FileFormatError(f"{path} is not a model file of Headcount: it lacks {MANIFEST} or {BODY}.")
            _check_sizes(members, path)
            manifest = checked(archive.read(MANIFEST), path)
            body = archive.read(BODY)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, OSError) as error:
        raise FileFormatError(
            f"{path} is not a model file, or one that ends in the middle or is damaged ({error}): copy it again, or make it with "
            "'headcount fit'."
        ) from error
    check_member(manifest, BODY, body, path)
    return manifest, body


def _check_sizes(members: dict[str, zipfile.ZipInfo], path: Path) -> None:
    packed = any(info.compress_type != zipfile.ZIP_STORED for info in members.values())
    if packed or members[MANIFEST].file_size > _MOST_MANIFEST or members[BODY].file_size > _MOST_BODY:
        raise FileFormatError(f"{path} is refused: its members are packed or larger than those of a model file.")


def schema_of(body: bytes, path: Path) -> Any:
    """Return the schema of a body, which is a skops file: what objects it describes."""
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
