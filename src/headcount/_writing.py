"""Write files completely or not at all, and small HTML tables for notebooks."""

import os
import stat
import tempfile
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from headcount.exceptions import DataError

__all__ = ["check_outputs", "html_frame", "html_table", "output_target", "same_file", "write_all"]

_SPECIAL_FILES = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
"""Kinds of files that are not written to, in words."""


def html_table(caption: str, rows: Mapping[str, Any]) -> str:
    """Return an HTML table with one row per entry; names and values are escaped.

    >>> html_table("shares", {"a & b": 0.5})
    '<table><caption>shares</caption><tr><th>a &amp; b</th><td>0.5</td></tr></table>'
    """
    body = "".join(f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>" for name, value in rows.items())
    return f"<table><caption>{escape(caption)}</caption>{body}</table>"


def html_frame(caption: str, frame: Any, most: int = 20) -> str:
    """Return the first rows of a data frame as an HTML table under a caption; names and values are escaped."""
    more = f"<p>and {len(frame) - most:,} more rows</p>" if len(frame) > most else ""
    table = frame.head(most).to_html(index=False, border=0, float_format="{:.4f}".format)
    return f"<p>{escape(caption)}</p>{table}{more}"


def output_target(path: Path) -> Path:
    """Return the regular file that writing to a path replaces, at the end of symbolic links; raise for anything else.

    Devices, pipes and sockets would be turned into regular files, as each file is written under a temporary name and renamed.
    """
    if not path.name or path.is_dir():
        raise DataError(f"{path} is a folder: name a file to write to.")
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise DataError(f"{path} can't be written: it is a symbolic link that leads back to itself. Name another file.")
    try:
        mode = target.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return target
    if not stat.S_ISREG(mode):
        kind = next((word for is_kind, word in _SPECIAL_FILES if is_kind(mode)), "a special file")
        raise DataError(f"{path} can't be written: it is {kind}, not a regular file. Name another file.")
    return target


def same_file(path: Path, other: Path) -> bool:
    """Whether two paths name one file: by another spelling, a symbolic or a hard link."""
    try:
        return path.samefile(other)
    except OSError:  # one of them does not exist
        return os.path.realpath(path) == os.path.realpath(other)


def check_outputs(files: Sequence[Path], folders: Sequence[Path] = (), inputs: Sequence[Path] = ()) -> None:
    """Raise if `write_all` could not write these files, or would overwrite an input: before what takes long, not after it.

    Parameters
    ----------
    files : sequence of paths
    folders : sequence of paths
        Folders that are created if they do not exist.
    inputs : sequence of paths
        Files that are read.

    Examples
    --------
    >>> check_outputs([Path("page.html")], inputs=[Path("new.csv")])
    """
    try:
        for folder in folders:
            if folder.exists() and not folder.is_dir():
                raise DataError(f"{folder} can't be written: it is a file, and a folder is needed.")
        for i, file in enumerate(files):
            target = output_target(file)
            if not target.parent.is_dir() and file.parent not in folders:
                raise DataError(f"{file} can't be written: there is no folder {target.parent}.")
            if target.parent.is_dir() and not os.access(target.parent, os.W_OK):
                raise DataError(f"{file} can't be written: nothing can be written to the folder {target.parent}.")
            if target.exists() and any(same_file(file, other) for other in inputs):
                raise DataError(f"{file} is an input of this command and would be overwritten: name another file.")
            if any(same_file(file, other) for other in files[:i]):
                raise DataError(f"Each output needs its own file; {file} is named twice.")
    except (OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        reason = error.strerror or str(error) if isinstance(error, OSError) else str(error)
        raise DataError(f"{file} can't be written: {reason}.") from error


def write_all(contents: Mapping[Path, bytes | str], make: Sequence[Path] = (), flush: bool = False) -> None:
    """Write all files or none: each is written under a temporary name, then all are renamed.

    Symbolic links are followed: the file that they lead to is replaced. What is not a regular file is refused (`output_target`).

    Parameters
    ----------
    contents : mapping of path to text or bytes
    make : sequence of paths
        Folders to create first, if they do not exist.
    flush : bool, default=False
        Flush each file to the disk before it is renamed, so that a power failure leaves the old or the new one.
    """
    renames: list[tuple[Path, Path]] = []
    path = Path()
    try:
        for path in make:
            path.mkdir(parents=True, exist_ok=True)
        for path, content in contents.items():
            target = output_target(path)
            if any(same_file(target, other) for _, other in renames):
                raise DataError(f"Each output needs its own file; {path} is named twice.")
            handle, name = tempfile.mkstemp(prefix=".headcount-", suffix=".part", dir=target.parent)
            renames.append((Path(name), target))
            with os.fdopen(handle, "wb") as file:
                file.write(content.encode("utf-8", "replace") if isinstance(content, str) else content)
                if flush:
                    file.flush()
                    os.fsync(file.fileno())
            Path(name).chmod(_mode_of(target))
        for temporary, path in renames:
            temporary.replace(path)
    except DataError:
        raise
    except (OSError, ValueError) as error:
        reason = error.strerror or str(error) if isinstance(error, OSError) else str(error)
        raise DataError(f"{path} can't be written: {reason}.") from error
    finally:
        for temporary, _ in renames:
            temporary.unlink(missing_ok=True)


def _mode_of(target: Path) -> int:
    """Return the permissions of a file that is replaced, or those of a new one; mkstemp makes files that others can't read."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode) & 0o777
    mask = os.umask(0)  # the only way to read it
    os.umask(mask)
    return 0o666 & ~mask
