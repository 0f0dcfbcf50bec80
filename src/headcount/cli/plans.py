"""Options that the commands of `headcount study` share: the plan, the part of it, the store."""

from collections.abc import Callable
from functools import partial, wraps
from inspect import Signature, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from headcount.exceptions import DataError

__all__ = [
    "DATA_DIR",
    "DEFAULT_STORE",
    "JOBS",
    "ON",
    "ONLY",
    "PLAN",
    "RUNS",
    "STORE",
    "checked_jobs",
    "option",
    "plan_of",
    "results_of",
    "with_options_of",
]

option = partial(typer.Option, show_default=False)
PLAN = Annotated[
    str,
    typer.Argument(
        help="The name of a shipped plan (stand-ins, paper, paper-code, league), or a TOML file.", show_default=True
    ),
]
DEFAULT_STORE = Path("study-store")
STORE = Annotated[Path, typer.Option("--store", help="The folder of the results.")]
ONLY = Annotated[
    list[str] | None,
    option("--only", help="A part of the plan, e.g. dataset=imdb,learner=lr; may be given several times."),
]
RUNS = Annotated[
    int | None,
    option("--runs", help="Number of runs of methods with several runs, instead of the plan's (with --on bundled: 1)."),
]
ON = Annotated[
    list[str] | None,
    option(
        "--on",
        help="Data sets instead of the plan's, separated by commas: names, or folders; of a league also 'bundled'.",
    ),
]
JOBS = Annotated[int, typer.Option("--jobs", "-j", help="Processes at a time; -1: one for each core.")]
DATA_DIR = Annotated[Path | None, option("--data-dir", help="The folder with the data sets [default: HEADCOUNT_DATA].")]


def checked_jobs(jobs: int) -> int:
    """Return a number of processes that joblib takes."""
    if jobs == 0:
        raise DataError("--jobs must not be 0: pass 1 for one process, -1 for one for each core.")
    return jobs


def plan_of(
    plan: PLAN = "stand-ins", only: ONLY = None, runs: RUNS = None, on: ON = None, data_dir: DATA_DIR = None
) -> Any:
    """Return the plan, or the part of it, that the options name; of a league, on all sets of the folders that they name."""
    from headcount.study import read_plan

    whole = _changed(read_plan(plan), runs, on)
    if whole.league:
        whole = whole.found_in(whole.data_sets, data_dir)
    return _part(whole, only)


def results_of(
    plan: PLAN = "stand-ins", store: STORE = DEFAULT_STORE, only: ONLY = None, runs: RUNS = None, on: ON = None
) -> Any:
    """Return the results that a store has of the plan that the options name; of a league, on all sets that are in the store."""
    from headcount.study import Results, read_plan, stored_runs, stored_sets

    whole = read_plan(plan)
    if whole.league:
        whole = whole.with_runs(stored_runs(whole, store) if runs is None else runs)
        whole = whole.on(stored_sets(whole, store, on or []))
    else:
        whole = _changed(whole, runs, on)
    return Results(_part(whole, only), store)


def _changed(plan: Any, runs: int | None, on: list[str] | None) -> Any:
    """Return the plan on other data sets, or with other numbers of runs."""
    sets = [name.strip() for name in ",".join(on or []).split(",") if name.strip()]
    if sets:
        plan = plan.on(sets)
    if runs is None and plan.league and sets == ["bundled"]:
        runs = 1  # a first look, in less than two minutes instead of seven
    return plan if runs is None else plan.with_runs(runs)


def _part(plan: Any, only: list[str] | None) -> Any:
    """Return the part of the plan that --only names."""
    selected: dict[str, list[str]] = {}
    for part in ",".join(only).split(",") if only else []:
        what, equals, name = (word.strip() for word in part.partition("="))
        if not equals or not name or what not in ("dataset", "learner"):
            raise DataError(f"--only takes dataset=NAME and learner=NAME, separated by commas; got {part!r}.")
        selected.setdefault(what, []).append(name)
    return plan.only(selected.get("dataset"), selected.get("learner")) if selected else plan


def with_options_of(make: Callable[..., Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of a function; the command gets what the function returns as its first argument."""

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        shared, (_, *further) = signature(make).parameters, signature(command).parameters.values()
        own = {parameter.name for parameter in further}

        @wraps(command)
        def run(**options: Any) -> None:
            made = make(**{name: options[name] for name in shared})
            command(made, **{name: options[name] for name in own})

        # Typer reads the options of a command from its signature.
        inherited = [parameter for name, parameter in shared.items() if name not in own]
        run.__signature__ = Signature([*inherited, *further])  # type: ignore[attr-defined]
        return run

    return decorated
