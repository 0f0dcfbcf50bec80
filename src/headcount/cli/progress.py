"""The progress bar of commands that read tables."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from headcount._escaping import printable

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int], None] | None]:
    """Show the number of rows read, if standard error is a terminal; yields the function to call with each batch's rows."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}: {task.completed:,} rows"), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(printable(title), total=None)
        yield lambda rows: bar.advance(task, rows)
