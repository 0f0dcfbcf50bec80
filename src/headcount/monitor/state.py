"""The state of a monitor as a sealed JSON file: written under another name, flushed to the disk and renamed, checked when read."""

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

from headcount._writing import output_target, write_all
from headcount.exceptions import DataError

__all__ = ["read_state", "state_bytes", "write_state"]

_FORMAT, _VERSION = "headcount watch", 2


def state_bytes(body: dict[str, Any]) -> bytes:
    """Encode a state: the same state gives the same bytes, and floats are read back as they were."""
    text = _canonical(body)
    document = {"format": _FORMAT, "version": _VERSION, "seal": sha256(text.encode()).hexdigest(), "body": body}
    return (json.dumps(document, allow_nan=False, ensure_ascii=True, separators=(",", ":")) + "\n").encode()


def write_state(path: Path, body: dict[str, Any]) -> None:
    """Write a state completely or not at all, also where the process is killed or the power fails."""
    write_all({path: state_bytes(body)}, flush=True)
    folder = os.open(output_target(path).parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the renaming itself
    finally:
        os.close(folder)


def read_state(path: Path) -> dict[str, Any]:
    """Return the body of a state file that is whole."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} can't be read: {error.strerror or error}.") from error
    advice = "Restore it from a copy, or name another file to start afresh."
    try:
        document = json.loads(content)
        if not isinstance(document, dict) or document.get("format") != _FORMAT:
            raise DataError(f"{path} is not a state that headcount watch wrote: name another file with --state.")
        if document.get("version") != _VERSION:
            raise DataError(
                f"{path} is a state of version {document.get('version')!r}; this Headcount reads version {_VERSION}. Use the "
                "Headcount that wrote it, or name another file to start afresh."
            )
        body = document["body"]
        sealed = sha256(_canonical(body).encode()).hexdigest() == document["seal"]
    except DataError:
        raise
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(f"{path} is damaged: it is not complete JSON. {advice}") from error
    if not sealed or not isinstance(body, dict):
        raise DataError(f"{path} is damaged: its content does not match its checksum. {advice}")
    return body


def _canonical(body: Any) -> str:
    return json.dumps(body, allow_nan=False, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
