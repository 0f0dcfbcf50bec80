"""`headcount study plan`, `run` and `status`: show what a plan computes, compute it, show how far it has got."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from headcount.cli.output import print_table
from headcount.cli.plans import DEFAULT_STORE, STORE, option, plan_of, with_options_of
from headcount.exceptions import DataError

__all__ = ["app"]

app = typer.Typer(
    help="A whole study from one plan: show it, run it, show how far it has got.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
@with_options_of(plan_of)
def plan(study_plan: Any) -> None:
    """Show what a plan computes: cells, fits as they are shared, and fits if each use had its own.

    Example: headcount study plan paper --only dataset=imdb,learner=lr
    """
    from headcount.study.counts import count

    counts = count(study_plan)
    typer.echo(f"{study_plan.title}: {', '.join(study_plan.data_sets)}; seed {study_plan.seed}.\n")
    rows = [[c.learner, *(f"{n:,}" for n in (c.cells, c.fits, c.refits, c.each_use))] for c in counts]
    totals = [sum(getattr(c, name) for c in counts) for name in ("cells", "fits", "refits", "each_use")]
    figures = ("cells", "fits to choose", "refits, at most", "one fit for each use")
    columns = [("learner", "left"), *((name, "right") for name in figures)]
    print_table("", columns, [*rows, ["all", *(f"{n:,}" for n in totals)]])
    least, most = totals[1] / max(totals[3], 1), (totals[1] + totals[2]) / max(totals[3], 1)
    typer.echo(f"\nEach fit is made once: {least:.0%} to {most:.0%} of one fit for each use.")


@app.command()
@with_options_of(plan_of)
def run(
    study_plan: Any,
    store: STORE = DEFAULT_STORE,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes at a time; -1: one for each core.")] = -1,
    dask: Annotated[str | None, option("--dask", help="Address of a Dask scheduler to compute on.")] = None,
    data_dir: Annotated[
        Path | None, option("--data-dir", help="The folder with the data sets [default: HEADCOUNT_DATA].")
    ] = None,
) -> None:
    """Compute what the store lacks of a plan. A run that was interrupted goes on where it was when run again.

    Example: headcount study run paper --store results --jobs 2 --only dataset=imdb,learner=lr
    """
    from headcount.study import run_study

    if jobs == 0:
        raise DataError("--jobs must not be 0: pass 1 for one process, -1 for one for each core.")
    try:
        summary = run_study(study_plan, store, n_jobs=jobs, dask=dask, data_dir=data_dir, notify=typer.echo)
    except KeyboardInterrupt:
        typer.echo(f"\nStopped. What was computed is kept in {store}; run the same command to go on.", err=True)
        raise typer.Exit(130) from None
    for sentence in [*summary.notices, *(f"Failed: {failure}" for failure in summary.failures)]:
        typer.echo(sentence, err=True)
    took = f"{summary.seconds:.0f} s" if summary.seconds < 120 else f"{summary.seconds / 60:.1f} min"
    typer.echo(
        f"Done in {took}: {summary.computed:,} tasks computed, {summary.kept:,} were in the store. Results: {store}"
    )
    if summary.failures:
        raise typer.Exit(1)


@app.command()
@with_options_of(plan_of)
def status(study_plan: Any, store: STORE = DEFAULT_STORE) -> None:
    """Show how far a study has got, from its store alone.

    Example: headcount study status paper --store results
    """
    from headcount.study.status import status as status_of

    rows, notices = status_of(study_plan, store)
    columns = [(name, "left") for name in ("data set", "learner")]
    columns += [(name, "right") for name in ("settings judged", "chosen tested", "seconds")]
    print_table(
        "",
        columns,
        [[r.data_set, r.learner, f"{r.judged:,} of {r.to_judge:,}", f"{r.tested:,}", f"{r.seconds:.1f}"] for r in rows],
    )
    for sentence in notices:
        sys.stderr.write(f"{sentence}\n")
