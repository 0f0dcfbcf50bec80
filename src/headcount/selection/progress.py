"""Run jobs through joblib, with a progress bar on a terminal."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import joblib

__all__ = ["Progress", "results_of", "run_all"]

Progress: TypeAlias = bool | Literal["auto"]


def run_all(
    jobs: Sequence[Any],
    n_jobs: int | None,
    title: str,
    progress: Progress = "auto",
    names: Mapping[int, str] | None = None,
) -> list[Any]:
    """Run joblib's delayed calls and return their results, in no particular order.

    Threads by default: scikit-learn's learners release the interpreter's lock in their inner loops, and threads share the data
    and start at once. ``joblib.parallel_config(backend=...)`` chooses processes or a cluster instead.

    With ``names`` of jobs, the results of which have the same number as ``job``, the bar names the first that is not done.
    """
    return list(results_of(jobs, n_jobs, title, progress, prefer="threads", names=names))


def results_of(
    jobs: Sequence[Any],
    n_jobs: int | None,
    title: str,
    progress: Progress = "auto",
    prefer: Literal["threads", "processes"] = "processes",
    names: Mapping[int, str] | None = None,
) -> Iterator[Any]:
    """Run joblib's delayed calls and yield each result as soon as it is computed."""
    parallel = joblib.Parallel(n_jobs=n_jobs, prefer=prefer)
    # The backend is known only now, and one that can't return a generator (multiprocessing) refuses return_as.
    if parallel._backend.supports_return_generator:
        parallel = joblib.Parallel(n_jobs=n_jobs, prefer=prefer, return_as="generator_unordered")
    show_bar = sys.stderr.isatty() if progress == "auto" else progress
    results = parallel(jobs)
    yield from _with_bar(results, len(jobs), title, names or {}) if show_bar else results


def _with_bar(results: Iterable[Any], total: int, title: str, names: Mapping[int, str]) -> Iterator[Any]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=console.is_terminal) as bar:
        waiting = dict(names)
        task = bar.add_task(_described(title, waiting), total=total)
        for result in results:
            if waiting:
                waiting.pop(result.job, None)
            bar.update(task, advance=1, description=_described(title, waiting))
            yield result


def _described(title: str, waiting: Mapping[int, str]) -> str:
    """Return the title of a bar with the first job that is not done.

    >>> _described("Fitting", {1: "a forest", 2: "a vote"}), _described("Fitting", {})
    ('Fitting a forest', 'Fitting')
    """
    return f"{title} {next(iter(waiting.values()))}" if waiting else title
