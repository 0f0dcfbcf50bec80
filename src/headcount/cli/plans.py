"""Options that the commands of `headcount study` share: the plan, the part of it, the store."""

from pathlib import Path
from typing import Annotated, Any

import typer

from headcount.exceptions import DataError

__all__ = ["DEFAULT_STORE", "ON", "ONLY", "PLAN", "RUNS", "STORE", "plan_of"]

PLAN = Annotated[
    str, typer.Argument(help="The name of a shipped plan (stand-ins, paper), or a TOML file.", show_default=True)
]
DEFAULT_STORE = Path("study-store")
STORE = Annotated[Path, typer.Option("--store", help="The folder of the results.")]
ONLY = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        help="A part of the plan, e.g. dataset=imdb,learner=lr; may be given several times.",
        show_default=False,
    ),
]
RUNS = Annotated[
    int | None,
    typer.Option(
        "--runs", help="Number of runs of methods with several runs, instead of the plan's.", show_default=False
    ),
]
ON = Annotated[
    list[str] | None,
    typer.Option(
        "--on", help="Data sets instead of the plan's, separated by commas: names, or folders.", show_default=False
    ),
]


def plan_of(plan: str, only: list[str] | None, runs: int | None = None, on: list[str] | None = None) -> Any:
    """Return the plan, or the part of it, that the options name."""
    from headcount.study import read_plan

    selected: dict[str, list[str]] = {}
    for part in ",".join(only).split(",") if only else []:
        what, equals, name = (word.strip() for word in part.partition("="))
        if not equals or not name or what not in ("dataset", "learner"):
            raise DataError(f"--only takes dataset=NAME and learner=NAME, separated by commas; got {part!r}.")
        selected.setdefault(what, []).append(name)
    result = read_plan(plan)
    if on:
        result = result.on([name.strip() for name in ",".join(on).split(",") if name.strip()])
    if runs is not None:
        result = result.with_runs(runs)
    return result.only(selected.get("dataset"), selected.get("learner")) if selected else result
