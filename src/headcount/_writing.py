"""Write files completely or not at all, and small HTML tables for notebooks."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from headcount.exceptions import DataError

__all__ = ["check_outputs", "html_frame", "html_table", "write_all"]


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


def check_outputs(files: Sequence[Path], folders: Sequence[Path] = ()) -> None:
    """Raise if `write_all` could not write these files, or into these folders: before what takes long, not after it.

    >>> check_outputs([Path("page.html")])
    """
    for folder in folders:
        if folder.exists() and not folder.is_dir():
            raise DataError(f"{folder} can't be written: it is a file, and a folder is needed.")
    for i, file in enumerate(files):
        if not file.name or file.is_dir():
            raise DataError(f"{file} is a folder: name a file to write to.")
        if not file.parent.is_dir():
            raise DataError(f"{file} can't be written: there is no folder {file.parent}.")
        if any(file.resolve() == other.resolve() for other in files[:i]):
            raise DataError(f"Each file needs a different name; {file} is named twice.")


def write_all(contents: Mapping[Path, bytes | str], make: Sequence[Path] = ()) -> None:
    """Write all files or none: each is written under a temporary name, then all are renamed.

    Parameters
    ----------
    contents : mapping of path to text or bytes
    make : sequence of paths
        Folders to create first, if they do not exist.
    """
    renames: list[tuple[Path, Path]] = []
    path = Path()
    try:
        for path in make:
            path.mkdir(parents=True, exist_ok=True)
        for path, content in contents.items():
            if not path.name or path.is_dir():
                raise DataError(f"{path} is a folder: name a file to write to.")
            if any(path.resolve() == other.resolve() for _, other in renames):
                raise DataError(f"Each file needs a different name; {path} is named twice.")
            handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
            renames.append((Path(name), path))
            with os.fdopen(handle, "wb") as file:
                file.write(content.encode("utf-8", "replace") if isinstance(content, str) else content)
            mask = os.umask(0)  # the only way to read it; mkstemp makes files that others can't read
            os.umask(mask)
            Path(name).chmod(0o666 & ~mask)
        for temporary, path in renames:
            temporary.replace(path)
    except (OSError, ValueError) as error:
        reason = error.strerror or str(error) if isinstance(error, OSError) else str(error)
        raise DataError(f"{path} can't be written: {reason}.") from error
    finally:
        for temporary, _ in renames:
            temporary.unlink(missing_ok=True)
