"""`headcount study overview`, `tables`, `claims`, `summary` and `report`: the results of a study, from its store alone."""

from math import isnan
from pathlib import Path
from typing import Annotated, Any

import typer

from headcount.cli.output import echo, print_table
from headcount.cli.plans import DEFAULT_STORE, ON, ONLY, PLAN, RUNS, STORE, option, results_of, with_options_of
from headcount.cli.study import app
from headcount.exceptions import DataError

__all__ = ["app"]


@app.command()
@with_options_of(results_of)
def overview(
    results: Any,
    method: Annotated[list[str] | None, option("--method", help="Show only these methods.")] = None,
    target: Annotated[
        list[str] | None, option("--target", help="Show only methods optimised for these: none, ae, ...")
    ] = None,
) -> None:
    """Show the mean errors of a study, from its store alone, the best methods first.

    Example: headcount study overview paper --store results --target ae --target none
    """
    from headcount.errors import get_error
    from headcount.study.overview import overview as overview_of

    table = overview_of(results, method, target)
    columns = [(name, "left") for name in ("method", "learner", "optimised for")]
    columns += [
        (name, "right") for name in (*table.columns, f"mean rank by {get_error(results.plan.measures[0]).label}")
    ]
    rows = []
    for row in table.rows:
        figures = ["–" if isnan(error) else f"{error:.3f}" for error in row.errors]
        mean_rank = "–" if isnan(row.mean_rank) else f"{row.mean_rank:.1f}"
        rows.append([row.method, row.learner, row.target, *figures, mean_rank])
    print_table(results.plan.title, columns, rows)
    _print_missing(table.missing, 10)


@app.command("tables")
@with_options_of(results_of)
def tables_(
    results: Any,
    form: Annotated[str, typer.Option("--format", help="text, markdown, latex, html or csv.")] = "text",
    number: Annotated[list[int] | None, option("--number", "-n", help="Print only these tables.")] = None,
) -> None:
    """Print the paper's tables of a study, from its store alone: errors and changes (1 to 4), tests (5), all methods (6).

    Example: headcount study tables paper --store results --format latex --number 6
    """
    from headcount.report import missing_of
    from headcount.report.tables import numbered_tables

    forms = ("text", "markdown", "latex", "html", "csv")
    if form not in forms:
        raise DataError(f"--format must be one of {', '.join(forms)}; got {form!r}.")
    by_number = numbered_tables(results)
    unknown = [n for n in number or () if n not in by_number]
    if unknown:
        raise DataError(f"There is no table {unknown[0]}; there are {', '.join(map(str, by_number))}.")
    echo("\n".join(getattr(by_number[n](), f"to_{form}")() for n in number or by_number), nl=False)
    _print_missing(missing_of(results), 3)


@app.command("claims")
@with_options_of(results_of)
def claims_(
    results: Any,
    figures: Annotated[
        bool, typer.Option("--figures", help="Show the rule and the figures of each claim, too.")
    ] = False,
) -> None:
    """Judge the paper's conclusions by a study's figures, from its store alone: holds, does not hold, cannot be judged here.

    Example: headcount study claims paper --store results --figures
    """
    from headcount.report import claims, missing_of

    for claim in claims(results):
        echo(f"{claim.verdict.upper():22}{claim.says}\n{'':22}{claim.why} (Published figures: {claim.published}.)")
        if figures:
            listed = "; ".join(f"{figure.label} {figure.text()}" for figure in claim.figures)
            echo(f"{'':22}Rule: {claim.rule}" + (f"\n{'':22}{listed}." if listed else ""))
    _print_missing(missing_of(results), 3)


@app.command()
def summary(
    plan: PLAN = "stand-ins",
    store: STORE = DEFAULT_STORE,
    only: ONLY = None,
    runs: RUNS = None,
    on: ON = None,
    output: Annotated[Path | None, option("--output", "-o", help="A file [default: the terminal].")] = None,
) -> None:
    """Write the summary of a study as Markdown: measured and published figures, claims, tables, provenance.

    Its pictures are SVG files in a folder beside it, NAME-pictures; the terminal gets none.

    Example: headcount study summary paper --store results -o studies/paper.md
    """
    from headcount._writing import check_outputs, write_all
    from headcount.report import gather, overview_plots, pictures
    from headcount.report import summary as summary_of

    results = results_of(plan, store, only, runs, on)
    options = [f"--{name} {','.join(values)}" for name, values in (("on", on), ("only", only)) if values]
    options += [f"--runs {runs}"] if runs is not None else []
    command = " ".join(["headcount study summary", plan, *options, f"--store {store}"])
    folder = Path() if output is None else output.parent / f"{output.stem}-pictures"
    if output is not None:
        check_outputs([output], [folder], _files_read(plan, results))
    contents = gather(results)
    if output is None:
        echo(summary_of(contents, command), nl=False)
    else:
        sections = overview_plots(contents)
        texts = {output: summary_of(contents, command, sections, folder.name)}
        write_all(texts | {folder / name: svg for name, svg in pictures(sections).items()}, [folder])
        echo(f"Summary: {output.resolve()}")


@app.command()
def report(
    plan: PLAN = "stand-ins",
    store: STORE = DEFAULT_STORE,
    only: ONLY = None,
    runs: RUNS = None,
    on: ON = None,
    output: Annotated[
        Path | None, option("--output", "-o", help="The page [default: report.html in the store].")
    ] = None,
    as_json: Annotated[
        Path | None, option("--json", help="Write all data of the page to this file as JSON; - is the terminal.")
    ] = None,
    as_csv: Annotated[
        Path | None, option("--csv", help="Write all data of the page to CSV files in this folder.")
    ] = None,
) -> None:
    """Write the page of a study: one HTML file with tables, plots, claims and provenance, from its store alone.

    Example: headcount study report paper --store results -o report.html --csv figures
    """
    from headcount._writing import check_outputs, write_all
    from headcount.report import gather, render, to_csv, to_json

    results = results_of(plan, store, only, runs, on)
    page, to_terminal = output or results.store.folder / "report.html", str(as_json) == "-"
    data = [] if as_json is None or to_terminal else [as_json]
    check_outputs([page, *data], [] if as_csv is None else [as_csv], _files_read(plan, results))
    contents = gather(results)
    texts = {page: render(contents)} | {file: to_json(contents) for file in data}
    if as_csv is not None:
        texts |= {as_csv / name: text for name, text in to_csv(contents).items()}
    write_all(texts, [] if as_csv is None else [as_csv])
    if to_terminal:
        echo(to_json(contents), nl=False)
    for figures in (as_csv, None if to_terminal else as_json):
        if figures is not None:
            echo(f"Figures: {figures.resolve()}", err=True)
    _print_missing(contents.missing, 5)
    echo(f"Page: {page.resolve()}", err=to_terminal)


def _files_read(plan: str, results: Any) -> list[Path]:
    """Return the files that a page or summary is made from: the plan and the results."""
    return [Path(plan), results.store.folder / "plan.result", *results.store.records()]


def _print_missing(sentences: list[str], most: int) -> None:
    for sentence in sentences[:most]:
        echo(f"Missing: {sentence}", err=True)
    if len(sentences) > most:
        echo(f"... and {len(sentences) - most} more like these.", err=True)
