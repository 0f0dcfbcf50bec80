"""SHA-256 of the paper's files: from a list where it is known, else recorded in the data folder when a file is first fetched."""

import hashlib
import json
from pathlib import Path

from headcount._writing import write_all
from headcount.exceptions import DataError

__all__ = ["RECORD", "SHIPPED", "check_digest", "expected_digest", "record_digests", "sha256_of"]

RECORD = "sha256.json"
"""Name of the file in the data folder that lists the SHA-256 of each fetched file, by file name."""

SHIPPED: dict[str, str] = {}
"""SHA-256 by file name, which goes before a recorded one. Zenodo publishes MD5 alone, so none is known yet."""


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's content, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def expected_digest(folder: Path, file_name: str) -> str | None:
    """SHA-256 that a file must have: the shipped one, else the one recorded in its folder; None if neither is known."""
    return SHIPPED.get(file_name) or _read_record(folder).get(file_name)


def check_digest(path: Path) -> None:
    """Raise if a file of the data folder is not the one that was fetched."""
    expected = expected_digest(path.parent, path.name)
    if expected is not None and (found := sha256_of(path)) != expected:
        name = path.name.partition("_")[0]
        raise DataError(
            f"{path} is not the file that was fetched: its SHA-256 is {found[:16]}..., and {expected[:16]}... is expected. Delete "
            f"it and fetch it again (headcount data fetch {name}), or put your own set into a folder of another name."
        )


def record_digests(folder: Path, digests: dict[str, str]) -> None:
    """Add the SHA-256 of files to the record of their folder."""
    record = _read_record(folder)
    if digests.items() - record.items():
        content = json.dumps({**record, **digests}, indent=1, sort_keys=True)
        write_all({folder / RECORD: f"{content}\n"})


def _read_record(folder: Path) -> dict[str, str]:
    path = folder / RECORD
    try:
        record = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path} can't be read: {error}. Delete it, and the files are recorded anew.") from error
    if not isinstance(record, dict) or not all(isinstance(digest, str) for digest in record.values()):
        raise DataError(f"{path} must list a SHA-256 for each file name. Delete it, and the files are recorded anew.")
    return record
