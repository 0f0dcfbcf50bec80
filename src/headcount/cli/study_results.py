"""`headcount study overview`, `tables`, `claims`, `summary` and `report`: the results of a study, from its store alone."""

from collections.abc import Callable
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

    if results.plan.league:
        _league_overview(results, method, target)
        return
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

    _refuse_league(results, "tables")
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

    _refuse_league(results, "claims")
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
    """Write the summary of a study or a league as Markdown: figures, tables, provenance; of a study also the paper's claims.

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
    shown = "" if output is None else folder.name
    if results.plan.league:
        from headcount.report import league

        league_contents = league.gather_league(results)
        text = league.league_summary(league_contents, command, shown)
        drawn = league.league_pictures(league_contents) if shown else {}
    else:
        contents = gather(results)
        sections = overview_plots(contents) if shown else []
        text, drawn = summary_of(contents, command, sections, shown), pictures(sections)
    if output is None:
        echo(text, nl=False)
    else:
        write_all({output: text} | {folder / name: svg for name, svg in drawn.items()}, [folder])
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
    as_latex: Annotated[
        Path | None, option("--latex", help="Write all tables of the page to LaTeX files in this folder.")
    ] = None,
) -> None:
    """Write the page of a study or a league: one HTML file with tables, plots and provenance, from its store alone.

    Example: headcount study report paper --store results -o report.html --csv figures
    """
    from headcount._writing import check_outputs, write_all

    results = results_of(plan, store, only, runs, on)
    page, to_terminal = output or results.store.folder / "report.html", str(as_json) == "-"
    data = [] if as_json is None or to_terminal else [as_json]
    folders = [folder for folder in (as_csv, as_latex) if folder is not None]
    check_outputs([page, *data], folders, _files_read(plan, results))
    contents, forms = _page_of(results)
    json_of = forms["json"]
    texts = {page: forms["html"]()} | {file: json_of() for file in data}
    for folder, form in ((as_csv, "csv"), (as_latex, "tex")):
        if folder is not None:
            texts |= {folder / name: text for name, text in forms[form]().items()}
    write_all(texts, folders)
    if to_terminal:
        echo(json_of(), nl=False)
    for figures in (as_csv, as_latex, None if to_terminal else as_json):
        if figures is not None:
            echo(f"Figures: {figures.resolve()}", err=True)
    _print_missing(contents.missing, 5)
    echo(f"Page: {page.resolve()}", err=to_terminal)


def _page_of(results: Any) -> tuple[Any, dict[str, Callable[[], Any]]]:
    """Return what the page of a study or a league shows, and what makes it, by ending: html and json a text, csv and tex files."""
    if results.plan.league:
        from headcount.report import league

        contents: Any = league.gather_league(results)
        return contents, {
            "html": lambda: league.render_league(contents),
            "json": lambda: league.league_to_json(contents),
            "csv": lambda: league.league_to_csv(contents),
            "tex": lambda: league.league_to_latex(contents),
        }
    from headcount.report import gather, render, to_csv, to_json, to_latex

    contents = gather(results)
    return contents, {
        "html": lambda: render(contents),
        "json": lambda: to_json(contents),
        "csv": lambda: to_csv(contents),
        "tex": lambda: {"tables.tex": to_latex(contents)},
    }


def _league_overview(results: Any, methods: list[str] | None, targets: list[str] | None) -> None:
    """Print the ranking of a league: the methods of the first classifier, and how sure it is."""
    from headcount.errors import get_error
    from headcount.report import missing_of
    from headcount.report.league import overview_of

    shown = overview_of(results, methods, targets)
    measures = [f"mean {get_error(name).label}" for name in results.plan.measures]
    names = ["method", "mean rank", *measures, "best on", "against the first"]
    print_table(
        results.plan.title,
        [(name, "right" if 0 < i < len(names) - 1 else "left") for i, name in enumerate(names)],
        shown.rows,
    )
    echo("\n" + "\n".join(shown.sentences))
    _print_missing(missing_of(results), 10)


def _refuse_league(results: Any, command: str) -> None:
    if results.plan.league:
        raise DataError(
            f"'headcount study {command}' is about the paper's tables and conclusions, and {results.plan.name} is a league: see "
            f"its ranking with 'headcount study overview {results.plan.name}', and all of it with 'headcount study report "
            f"{results.plan.name}'."
        )


def _files_read(plan: str, results: Any) -> list[Path]:
    """Return the files that a page or summary is made from: the plan and the results."""
    return [Path(plan), results.store.folder / "plan.result", *results.store.records()]


def _print_missing(sentences: list[str], most: int) -> None:
    for sentence in sentences[:most]:
        echo(f"Missing: {sentence}", err=True)
    if len(sentences) > most:
        echo(f"... and {len(sentences) - most} more like these.", err=True)
