"""`headcount study`: what a plan computes, computing it, and how far it is."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from headcount.exceptions import DataError

__all__ = ["app"]

app = typer.Typer(
    help="A whole study from one plan: see it, run it, look how far it is.", no_args_is_help=True, rich_markup_mode=None
)

_WIDTH = 140
"""Of tables that go to a file or a pipe."""
_PLAN = Annotated[
    str, typer.Argument(help="A plan that is shipped (stand-ins, paper), or a TOML file.", show_default=True)
]
_DEFAULT_STORE = Path("study-store")
_STORE = Annotated[Path, typer.Option("--store", help="The folder that results are kept in.")]
_ONLY = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        help="A part of the plan, e.g. dataset=imdb,learner=lr; may be given several times.",
        show_default=False,
    ),
]


_RUNS = Annotated[
    int | None,
    typer.Option("--runs", help="Runs of methods that split anew, instead of the plan's.", show_default=False),
]


_ON = Annotated[
    list[str] | None,
    typer.Option(
        "--on", help="Data sets instead of the plan's, separated by commas: names, or folders.", show_default=False
    ),
]


def _read(plan: str, only: list[str] | None, runs: int | None = None, on: list[str] | None = None) -> Any:
    from headcount.study import read_plan

    chosen: dict[str, list[str]] = {}
    for part in ",".join(only).split(",") if only else []:
        what, equals, name = (word.strip() for word in part.partition("="))
        if not equals or not name or what not in ("dataset", "learner"):
            raise DataError(f"--only takes dataset=NAME and learner=NAME, separated by commas; got {part!r}.")
        chosen.setdefault(what, []).append(name)
    whole = read_plan(plan)
    if on:
        whole = whole.on([name.strip() for name in ",".join(on).split(",") if name.strip()])
    if runs is not None:
        whole = whole.with_runs(runs)
    return whole.only(chosen.get("dataset"), chosen.get("learner")) if chosen else whole


def _table(title: str, columns: dict[str, str], rows: list[list[str]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for name, justify in columns.items():
        table.add_column(name, justify=justify, overflow="fold")  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*row)
    console = Console()
    Console(width=console.width if console.is_terminal else _WIDTH, markup=False, emoji=False).print(table)


@app.command()
def plan(plan: _PLAN = "stand-ins", only: _ONLY = None, runs: _RUNS = None, on: _ON = None) -> None:
    """Show what a plan computes: cells and fits, as shared here and as one fit for each use would be.

    Example: headcount study plan paper --only dataset=imdb,learner=lr
    """
    from headcount.study.counts import count

    own = _read(plan, only, runs, on)
    counts = count(own)
    typer.echo(f"{own.title}: {', '.join(own.data_sets)}; seed {own.seed}.\n")
    rows = [[c.learner, *(f"{n:,}" for n in (c.cells, c.fits, c.refits, c.each_use))] for c in counts]
    totals = [sum(getattr(c, name) for c in counts) for name in ("cells", "fits", "refits", "each_use")]
    columns = {
        "learner": "left",
        "cells": "right",
        "fits to choose": "right",
        "refits, at most": "right",
        "one fit for each use": "right",
    }
    _table("", columns, [*rows, ["all", *(f"{n:,}" for n in totals)]])
    least, most = totals[1] / max(totals[3], 1), (totals[1] + totals[2]) / max(totals[3], 1)
    typer.echo(f"\nEach fit is made once: {least:.0%} to {most:.0%} of one fit for each use.")


@app.command()
def run(
    plan: _PLAN = "stand-ins",
    store: _STORE = _DEFAULT_STORE,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Processes at a time; -1: as many as there are cores.")
    ] = -1,
    dask: Annotated[
        str | None, typer.Option("--dask", help="Address of a Dask scheduler to compute on.", show_default=False)
    ] = None,
    only: _ONLY = None,
    runs: _RUNS = None,
    on: _ON = None,
    data_dir: Annotated[
        Path | None,
        typer.Option("--data-dir", help="The folder with the data sets [default: HEADCOUNT_DATA].", show_default=False),
    ] = None,
) -> None:
    """Compute what the store lacks of a plan. Interrupted, it goes on where it was when run again.

    Example: headcount study run paper --store results --jobs 2 --only dataset=imdb,learner=lr
    """
    from headcount.study import run_study

    own = _read(plan, only, runs, on)
    if jobs == 0:
        raise DataError("--jobs must not be 0: say 1 for one at a time, -1 for as many as there are cores.")
    try:
        summary = run_study(own, store, n_jobs=jobs, dask=dask, data_dir=data_dir, told=typer.echo)
    except KeyboardInterrupt:
        typer.echo(f"\nStopped. What was computed is kept in {store}; run the same command to go on.", err=True)
        raise typer.Exit(130) from None
    for sentence in [*summary.notices, *(f"Failed: {failure}" for failure in summary.failures)]:
        typer.echo(sentence, err=True)
    took = f"{summary.seconds:.0f} s" if summary.seconds < 120 else f"{summary.seconds / 60:.1f} min"
    typer.echo(f"Done in {took}: {summary.computed:,} tasks computed, {summary.kept:,} were there. Results: {store}")
    if summary.failures:
        raise typer.Exit(1)


@app.command()
def overview(
    plan: _PLAN = "stand-ins",
    store: _STORE = _DEFAULT_STORE,
    only: _ONLY = None,
    runs: _RUNS = None,
    on: _ON = None,
    method: Annotated[
        list[str] | None, typer.Option("--method", help="Show these methods only.", show_default=False)
    ] = None,
    target: Annotated[
        list[str] | None,
        typer.Option("--target", help="Show what was optimised for these only: none, ae, ...", show_default=False),
    ] = None,
) -> None:
    """Show the mean errors that a study found, from its store alone, the best methods first.

    Example: headcount study overview paper --store results --target ae --target none
    """
    from headcount.study import Results
    from headcount.study.overview import overview as made

    results = Results(_read(plan, only, runs, on), store)
    found = made(results, method, target)
    columns = (
        {"method": "left", "learner": "left", "optimised for": "left"}
        | dict.fromkeys(found.columns, "right")
        | {"mean rank": "right"}
    )
    rows = [
        [
            *names,
            *("–" if figure != figure else f"{figure:.3f}" for figure in figures),
            "–" if rank != rank else f"{rank:.1f}",
        ]
        for *names, figures, rank in found.rows
    ]
    _table(results.plan.title, columns, rows)
    for sentence in found.missing[:10]:
        sys.stderr.write(f"{sentence}\n")
    if len(found.missing) > 10:
        sys.stderr.write(f"... and {len(found.missing) - 10} more like these.\n")


@app.command("tables")
def tables_(
    plan: _PLAN = "stand-ins",
    store: _STORE = _DEFAULT_STORE,
    only: _ONLY = None,
    runs: _RUNS = None,
    on: _ON = None,
    form: Annotated[str, typer.Option("--format", help="text, markdown, latex, html or csv.")] = "text",
    number: Annotated[
        list[int] | None, typer.Option("--number", "-n", help="Print these tables only.", show_default=False)
    ] = None,
) -> None:
    """Print the paper's tables of a study, from its store alone: errors and changes (1 to 4), tests (5), all methods (6).

    Example: headcount study tables paper --store results --format latex --number 6
    """
    from headcount.report import Table, missing_of, tables
    from headcount.study import Results

    writers = {
        "text": Table.to_text,
        "markdown": Table.to_markdown,
        "latex": Table.to_latex,
        "html": Table.to_html,
        "csv": Table.to_csv,
    }
    if form not in writers:
        raise DataError(f"--format must be one of {', '.join(writers)}; got {form!r}.")
    results = Results(_read(plan, only, runs, on), store)
    made = {int(table.title.split(":")[0].removeprefix("Table ")): table for table in tables(results)}
    missing = [n for n in number or () if n not in made]
    if missing:
        raise DataError(f"There is no table {missing[0]}; there are {', '.join(map(str, made))}.")
    typer.echo("\n".join(writers[form](made[n]) for n in number or made), nl=False)
    _say_missing(missing_of(results), 3)


@app.command("claims")
def claims_(
    plan: _PLAN = "stand-ins",
    store: _STORE = _DEFAULT_STORE,
    only: _ONLY = None,
    runs: _RUNS = None,
    on: _ON = None,
    figures: Annotated[bool, typer.Option("--figures", help="Show the rule and the figures of each, too.")] = False,
) -> None:
    """Judge the paper's conclusions by a study's figures, from its store alone: holds, does not hold, cannot be judged here.

    Example: headcount study claims paper --store results --figures
    """
    from headcount.report import claims, missing_of
    from headcount.study import Results

    results = Results(_read(plan, only, runs, on), store)
    for claim in claims(results):
        typer.echo(
            f"{claim.verdict.upper():22}{claim.says}\n{'':22}{claim.why} (Published figures: {claim.published}.)"
        )
        if figures:
            listed = "; ".join(f"{figure.label} {figure.text()}" for figure in claim.figures)
            typer.echo(f"{'':22}Rule: {claim.rule}" + (f"\n{'':22}{listed}." if listed else ""))
    _say_missing(missing_of(results), 3)


@app.command()
def summary(
    plan: _PLAN = "stand-ins",
    store: _STORE = _DEFAULT_STORE,
    only: _ONLY = None,
    runs: _RUNS = None,
    on: _ON = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A file [default: the terminal].", show_default=False)
    ] = None,
) -> None:
    """Write the summary of a study as Markdown: measured beside published figures, claims, tables, provenance.

    Example: headcount study summary paper --store results -o studies/paper.md
    """
    from headcount._writing import write_all
    from headcount.report import Errors, gather
    from headcount.report import summary as written
    from headcount.study import Results

    results = Results(_read(plan, only, runs, on), store)
    options = [f"--{name} {','.join(values)}" for name, values in (("on", on), ("only", only)) if values]
    options += [f"--runs {runs}"] if runs is not None else []
    command = " ".join(["headcount study summary", plan, *options, f"--store {store}"])
    text = written(gather(results), Errors(results), command)
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_all({output: text})
        typer.echo(f"Summary: {output.resolve()}")


@app.command()
def report(
    plan: _PLAN = "stand-ins",
    store: _STORE = _DEFAULT_STORE,
    only: _ONLY = None,
    runs: _RUNS = None,
    on: _ON = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The page [default: report.html in the store].", show_default=False),
    ] = None,
    as_json: Annotated[
        Path | None,
        typer.Option(
            "--json", help="Write everything that is shown to this file; - is the terminal.", show_default=False
        ),
    ] = None,
    as_csv: Annotated[
        Path | None,
        typer.Option("--csv", help="Write everything that is shown into this folder.", show_default=False),
    ] = None,
) -> None:
    """Write the page of a study: one HTML file with tables, plots, claims and provenance, from its store alone.

    Example: headcount study report paper --store results -o report.html --csv figures
    """
    from headcount._writing import write_all
    from headcount.report import gather, render, to_csv, to_json
    from headcount.study import Results

    contents = gather(Results(_read(plan, only, runs, on), store))
    page, to_terminal = output or store / "report.html", str(as_json) == "-"
    texts = {page: render(contents)}
    if as_json is not None and not to_terminal:
        if as_json.resolve() == page.resolve():
            raise DataError(f"{page} can't be both the page and its figures: name another file with --json.")
        texts[as_json] = to_json(contents)
    if as_csv is not None:
        texts |= {as_csv / name: text for name, text in to_csv(contents).items()}
    write_all(texts, [] if as_csv is None else [as_csv])
    if to_terminal:
        typer.echo(to_json(contents), nl=False)
    for figures in (as_csv, None if to_terminal else as_json):
        if figures is not None:
            typer.echo(f"Figures: {figures.resolve()}", err=True)
    _say_missing(contents.missing, 5)
    typer.echo(f"Page: {page.resolve()}", err=to_terminal)


def _say_missing(sentences: list[str], most: int) -> None:
    for sentence in sentences[:most]:
        typer.echo(f"Missing: {sentence}", err=True)
    if len(sentences) > most:
        typer.echo(f"... and {len(sentences) - most} more like these.", err=True)


@app.command()
def status(
    plan: _PLAN = "stand-ins", store: _STORE = _DEFAULT_STORE, only: _ONLY = None, runs: _RUNS = None, on: _ON = None
) -> None:
    """Show how far a study is, from its store alone.

    Example: headcount study status paper --store results
    """
    from headcount.study.status import status as how_far

    rows, notices = how_far(_read(plan, only, runs, on), store)
    columns = {
        "data set": "left",
        "learner": "left",
        "settings judged": "right",
        "chosen tested": "right",
        "seconds": "right",
    }
    _table(
        "",
        columns,
        [
            [
                r.data_set,
                r.learner,
                f"{r.judged:,} of {r.to_judge:,}",
                f"{r.tested:,}",
                f"{r.seconds:.1f}",
            ]
            for r in rows
        ],
    )
    for sentence in notices:
        sys.stderr.write(f"{sentence}\n")
