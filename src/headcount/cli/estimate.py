"""`headcount estimate`: shares of new items by a model or by a black box's scores."""

from pathlib import Path
from typing import Annotated, Any

import typer

from headcount.cli.options import (
    BY,
    CONFUSION,
    DASK,
    DECISIONS,
    FILES,
    LABEL,
    LEAST,
    LEVEL,
    METHOD,
    MODEL,
    PILE,
    SCORED,
    SCORES,
)
from headcount.cli.request import Request, facts_of, told_progress
from headcount.exceptions import DataError

__all__ = ["estimate"]


def estimate(
    model: MODEL,
    files: FILES,
    by: BY = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="Write .csv, .tsv, .json or .parquet; - is CSV.", show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write a page to read and share.", show_default=False)
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Write a plot: .svg, .png or .pdf.", show_default=False)
    ] = None,
    level: LEVEL = 0.95,
    pile: PILE = False,
    no_shift: Annotated[
        bool, typer.Option("--assume-no-shift", help="Intervals for CC and PCC, if the shares can't have changed.")
    ] = False,
    min_items: LEAST = 30,
    scored: SCORED = False,
    confusion: CONFUSION = False,
    label: LABEL = None,
    scores: SCORES = None,
    decisions: DECISIONS = None,
    method: METHOD = "auto",
    dask: DASK = None,
) -> None:
    """Estimate the share of each class among new items, for each group, with intervals and a verdict.

    Files are read in batches: they may be larger than memory.

    Example: headcount estimate stars.headcount new.parquet --by date:month -o shares.csv --html shares.html

    Example: headcount estimate --scored labelled.csv new.parquet --label y --scores neg=p0,pos=p1 --by month
    """
    from headcount._writing import write_all
    from headcount.cli.output import as_json as json_of
    from headcount.cli.output import as_table, check_places, print_shares, to_stdout
    from headcount.stream.groups import worded

    if plot is not None and plot.suffix.lower() not in (".svg", ".png", ".pdf"):
        raise DataError(f"--plot {plot}: plots are written as .svg, .png or .pdf; name such a file.")
    if str(html) == "-":
        raise DataError("--html needs a file; -o - and --json write to standard output.")
    check_places((output, html, plot), (model, *files))
    if output is not None:
        as_table([], output)  # a name that can't be written as is told before the work
    request = Request(
        model,
        tuple(files),
        by,
        scored,
        confusion,
        label,
        scores,
        decisions,
        method,
        level,
        "pile" if pile else "population",
        "no-shift" if no_shift else None,
        min_items,
        dask,
    )
    known = request.made()
    with told_progress("Reading") as tell:
        tally = request.tally(known, tell)
    groups = request.groups(tally)
    contents: dict[Path, bytes] = {}
    if output is not None and output != "-":
        contents[Path(output)] = as_table(groups.records(), output)
    if html is not None:
        from headcount.report.shares_page import page_of_shares

        title = f"Shares of {known.columns.label or 'classes'}" + (f" by {worded(by)}" if by else "")
        contents[html] = page_of_shares(groups, title=title, by=worded(by), facts=facts_of(known, request)).encode()
    if plot is not None:
        from headcount.report.shares_plot import plot_shares

        contents[plot] = plot_shares(groups, plot.suffix.lower()[1:], x_label=worded(by))
    write_all(contents)
    if as_json:
        to_stdout(json_of(_answer(groups, known, request)))
    elif output == "-":
        to_stdout(as_table(groups.records(), "-"))
    else:
        print_shares(groups, by or "")
        _explain(groups)
    for path in contents:
        typer.echo(f"Written: {path}", err=True)


def _answer(groups: Any, model: Any, request: Request) -> dict[str, Any]:
    from headcount.stream.shares import shown

    by_group: dict[str, dict[str, Any]] = {
        shown(name): {"n": int(n), "verdict": verdict, "advice": advice, "shares": {}}
        for name, n, verdict, advice in zip(groups.names, groups.n_items, groups.verdicts, groups.advice, strict=True)
    }
    for one in groups.records():
        by_group[one["group"]]["shares"][str(one["class"])] = {name: one[name] for name in ("share", "low", "high")}
    return {
        "by": request.by,
        "level": groups.level,
        "estimand": groups.estimand,
        "method": groups.method,
        "note": groups.note,
        "from": facts_of(model, request),
        "groups": by_group,
    }


def _explain(groups: Any) -> None:
    """Print what must be known beside the table: why there are no intervals, and what the verdicts rest on."""
    from headcount.report.shares_page import summary
    from headcount.stream.shares import shown

    meant = "these very items" if groups.estimand == "pile" else "the process that the items came from"
    intervals = "" if groups.note else f", {100 * groups.level:g} % intervals"
    typer.echo(f"\n{groups.method}{intervals}, shares in {meant}. {summary(groups)}")
    if groups.note:
        typer.echo(f"No intervals: {groups.note}".replace("pass assume='no-shift'", "give --assume-no-shift"))
    elif groups.estimate is not None and groups.estimate.parts is None:
        typer.echo(
            "The intervals assume that the shares have not changed since training, and leave the classifier's own bias out."
        )
    told: dict[str, list[str]] = {}
    for name, verdict, advice in zip(groups.names, groups.verdicts, groups.advice, strict=True):
        if verdict not in ("trust", "not checked"):
            told.setdefault(" ".join(advice), []).append(shown(name))
    for advice, names in list(told.items())[:8]:
        typer.echo(f"  {', '.join(names[:6])}{' ...' if len(names) > 6 else ''}: {advice}")
    if len(told) > 8:
        typer.echo(f"  ... and advice on {len(told) - 8} more; see --json or --html.")
