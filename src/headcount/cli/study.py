"""`headcount study plan`, `run`, `status` and `restamp`: show what a plan computes, compute it, show how far it has got."""

import sys
from typing import Annotated, Any

import typer

from headcount.cli.output import echo, print_table
from headcount.cli.plans import DATA_DIR, DEFAULT_STORE, JOBS, STORE, checked_jobs, option, plan_of, with_options_of

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
    echo(f"{study_plan.title}: {', '.join(study_plan.data_sets)}; seed {study_plan.seed}.\n")
    rows = [[c.learner, *(f"{n:,}" for n in (c.cells, c.fits, c.refits, c.each_use))] for c in counts]
    totals = [sum(getattr(c, name) for c in counts) for name in ("cells", "fits", "refits", "each_use")]
    figures = ("cells", "fits to choose", "refits, at most", "one fit for each use")
    columns = [("learner", "left"), *((name, "right") for name in figures)]
    print_table("", columns, [*rows, ["all", *(f"{n:,}" for n in totals)]])
    least, most = totals[1] / max(totals[3], 1), (totals[1] + totals[2]) / max(totals[3], 1)
    echo(f"\nEach fit is made once: {least:.0%} to {most:.0%} of one fit for each use.")


@app.command()
@with_options_of(plan_of)
def run(
    study_plan: Any,
    store: STORE = DEFAULT_STORE,
    jobs: JOBS = -1,
    dask: Annotated[str | None, option("--dask", help="Address of a Dask scheduler to compute on.")] = None,
    data_dir: DATA_DIR = None,
) -> None:
    """Compute what the store lacks of a plan. A run that was interrupted goes on where it was when run again.

    Example: headcount study run paper --store results --jobs 2 --only dataset=imdb,learner=lr
    """
    from headcount.study import run_study

    try:
        summary = run_study(study_plan, store, n_jobs=checked_jobs(jobs), dask=dask, data_dir=data_dir, notify=echo)
    except KeyboardInterrupt:
        echo(f"\nStopped. What was computed is kept in {store}; run the same command to go on.", err=True)
        raise typer.Exit(130) from None
    for sentence in [*summary.notices, *(f"Failed: {failure}" for failure in summary.failures)]:
        echo(sentence, err=True)
    took = f"{summary.seconds:.0f} s" if summary.seconds < 120 else f"{summary.seconds / 60:.1f} min"
    echo(f"Done in {took}: {summary.computed:,} tasks computed, {summary.kept:,} were in the store. Results: {store}")
    if summary.failures:
        raise typer.Exit(1)


@app.command()
@with_options_of(plan_of)
def status(study_plan: Any, store: STORE = DEFAULT_STORE) -> None:
    """Show how far a study has got, from its store alone. Only results that the next run would use are counted as done.

    Example: headcount study status paper --store results
    """
    from headcount.study.status import status as status_of

    rows, notices = status_of(study_plan, store)
    columns = [(name, "left") for name in ("data set", "learner")]
    # Columns of results that can't be used are shown where there are any.
    further = {"other code": "other_code", "other versions": "other_versions", "other data": "other_data"}
    shown = {title: name for title, name in further.items() if any(getattr(row, name) for row in rows)}
    columns += [(name, "right") for name in ("settings judged", "chosen tested", *shown, "seconds")]
    table = [
        [
            *(r.data_set, r.learner, f"{r.judged:,} of {r.to_judge:,}", f"{r.tested:,} of {r.to_test:,}"),
            *(f"{getattr(r, name):,}" for name in shown.values()),
            f"{r.seconds:.1f}",
        ]
        for r in rows
    ]
    print_table("", columns, table)
    if shown:
        echo(
            "\nResults of other code, versions or data are not counted as done: the next run computes them again. Where only "
            "Headcount's code has changed, 'headcount study restamp' checks whether they can be kept."
        )
    for sentence in notices:
        sys.stderr.write(f"{sentence}\n")


@app.command()
@with_options_of(plan_of)
def restamp(
    study_plan: Any,
    store: STORE = DEFAULT_STORE,
    per_kind: Annotated[int, typer.Option("--tasks", help="Number of tasks of each kind to compute.")] = 1,
    jobs: JOBS = -1,
    data_dir: DATA_DIR = None,
) -> None:
    """Keep results after a change of Headcount's code that changes no figure.

    One task of each kind (stage, learner, version of the code) is computed again. Where it comes out the same to the bit, all
    results of the kind are stamped with the present version of the code; where it does not, what differs is printed, and the
    next run computes them again. Results of an earlier format are taken over likewise.

    Example: headcount study restamp paper --store results --only learner=lr
    """
    from headcount.study import restamp as restamp_store

    found = restamp_store(
        study_plan, store, per_kind=per_kind, n_jobs=checked_jobs(jobs), data_dir=data_dir, notify=echo
    )
    for kind in found.kinds:
        verdict = "stamped" if not kind.differences else "NOT stamped"
        stage = "choosing" if kind.stage == "select" else "testing"
        echo(
            f"{stage}, {kind.learner}, {', '.join(kind.methods)}: {kind.checked:,} computed again, {kind.results:,} {verdict}"
        )
        for line in kind.differences[:3]:
            echo(f"    {line}")
    echo(
        f"{found.stamped:,} results stamped, {found.refused:,} not, {found.kept:,} had the present code's version already."
    )
    if found.other:
        echo(f"{found.other:,} results were computed with other versions of libraries and are left as they are.")
    if found.refused:
        raise typer.Exit(1)
