"""The progress bars of commands that read tables and that download files."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from headcount._escaping import printable

if TYPE_CHECKING:
    from rich.progress import TaskID

__all__ = ["download_bars", "progress_bar"]


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


@contextmanager
def download_bars() -> Iterator[Callable[[str, int, int], None] | None]:
    """Show the bytes of each file, if standard error is a terminal; yields what to call with file, bytes so far and in total."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn()
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:

        def update(file: str, done: int, total: int) -> None:
            if file not in tasks:
                tasks[file] = bar.add_task(file, total=total or None)
            bar.update(tasks[file], completed=done)

        yield update
