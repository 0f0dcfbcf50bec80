"""What a command writes: tables for people, CSV, JSON and pages for files, each there complete or not at all."""

import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from headcount.exceptions import DataError

__all__ = ["as_json", "as_table", "check_places", "print_shares", "print_table", "to_stdout"]

_WIDTH = 140
"""Of tables that go to a file or a pipe."""
_MOST_COLUMNS = 6


def check_places(outputs: Sequence[str | Path | None], inputs: Sequence[str]) -> None:
    """Raise where a result would be written over what it is made from, or over another."""
    read = {Path(name).resolve() for name in inputs if name != "-"}
    taken: set[Path] = set()
    for output in outputs:
        if output is None or str(output) == "-":
            continue
        place = Path(output).resolve()
        among = place.suffix.lower() in (".parquet", ".pq") and any(folder in read for folder in place.parents)
        if place in read or among:
            raise DataError(f"{output} is read here, and would be written over: name another file.")
        if place in taken:
            raise DataError(f"Each file must have a name of its own; {output} is named twice.")
        taken.add(place)


def to_stdout(content: bytes) -> None:
    """Write bytes to standard output."""
    sys.stdout.flush()
    out: Any = getattr(sys.stdout, "buffer", None)
    if out is None:
        sys.stdout.write(content.decode())
    else:
        out.write(content)
        out.flush()


def as_table(records: Sequence[dict[str, Any]], path: str) -> bytes:
    """Return records as CSV, TSV, JSON or Parquet, by the ending of a name."""
    import pandas as pd

    ending = Path(path).suffix.lower()
    frame = pd.DataFrame(list(records))
    if path == "-" or ending == ".csv":
        return frame.to_csv(index=False, lineterminator="\n").encode()
    if ending == ".tsv":
        return frame.to_csv(index=False, sep="\t", lineterminator="\n").encode()
    if ending == ".json":
        return as_json(list(records))
    if ending in (".parquet", ".pq"):
        buffer = io.BytesIO()
        frame.to_parquet(buffer, index=False)
        return buffer.getvalue()
    raise DataError(f"-o {path}: results are written as .csv, .tsv, .json or .parquet; name such a file.")


def as_json(value: Any) -> bytes:
    """Return a plain value as JSON."""
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


def print_table(title: str, columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; columns are given with their alignment."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title or None, title_justify="left", box=None, pad_edge=False)
    for name, justify in columns:
        table.add_column(name, justify=justify, overflow="fold")  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*row)

    class Shown(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    console = Console()
    width = console.width if console.is_terminal else _WIDTH
    Shown(width=width, markup=False, highlight=False, emoji=False).print(table)


def print_shares(groups: Any, by: str) -> None:
    """Print the shares of groups: a row a group, or a row for each class where there are many."""
    from headcount.stream.shares import shown

    classes = [str(label) for label in groups.classes]
    places = range(len(classes))
    wide = len(classes) <= _MOST_COLUMNS
    own = [(label, "right") for label in classes] if wide else [("class", "left"), ("share", "right")]
    rows: list[list[str]] = []
    for g, verdict in enumerate(groups.verdicts):
        head, shares = [shown(groups.names[g]), f"{groups.n_items[g]:,}"], [_share(groups, g, j) for j in places]
        if wide:
            rows.append([*head, *shares, verdict])
        else:
            rows += [[*head, label, share, verdict] for label, share in zip(classes, shares, strict=True)]
    print_table("", [(by or "group", "left"), ("items", "right"), *own, ("verdict", "left")], rows)


def _share(groups: Any, g: int, j: int) -> str:
    share, low, high = groups.shares[g, j], groups.low[g, j], groups.high[g, j]
    if share != share:
        return "-"
    between = f" ({100 * low:.1f}-{100 * high:.1f})" if low == low else ""
    return f"{100 * share:.1f} %{between}"
