"""`headcount estimate`, `compare` and `check`: shares of new items by a model or by a black box's scores."""

from pathlib import Path
from typing import Annotated, Any

import typer

from headcount.cli.request import Request, facts_of, told_progress
from headcount.exceptions import DataError

__all__ = ["check", "compare", "estimate"]

_MODEL = Annotated[
    str,
    typer.Argument(
        help="A model file; with --scored a labelled table with scores; with --confusion a confusion matrix."
    ),
]
_FILES = Annotated[
    list[str],
    typer.Argument(
        help="The items: CSV or TSV (also gzipped), Parquet, a folder of Parquet files, or - for standard input."
    ),
]
_BY = Annotated[
    str | None,
    typer.Option(
        "--by",
        help="A column to group by; of dates also COLUMN:day, week, month, quarter or year.",
        show_default=False,
    ),
]
_SCORED = Annotated[
    bool, typer.Option("--scored", help="Scores are ready: MODEL is a labelled table with the same score columns.")
]
_CONFUSION = Annotated[
    bool,
    typer.Option("--confusion", help="MODEL is a confusion matrix (rows: true), the items a table of class and count."),
]
_LABEL = Annotated[
    str | None, typer.Option("--label", help="With --scored: the column of true labels.", show_default=False)
]
_SCORES = Annotated[
    str | None,
    typer.Option(
        "--scores",
        help="With --scored: the score columns, as neg=p_neg,pos=p_pos, or 'p_*', or in the order of the classes "
        "[default: score_*].",
        show_default=False,
    ),
]
_DECISIONS = Annotated[
    str | None,
    typer.Option("--decisions", help="With --scored: a column of decided labels instead.", show_default=False),
]
_METHOD = Annotated[
    str, typer.Option("--method", help="With --scored: auto, CC, PCC, ACC, PACC, SLD or HDy.", show_default="auto")
]
_LEVEL = Annotated[float, typer.Option("--level", help="Of the intervals.")]
_PILE = Annotated[
    bool, typer.Option("--pile", help="The shares among these very items, not in the process they came from.")
]
_LEAST = Annotated[int, typer.Option("--min-items", help="Smaller groups are reported as too small.", min=1)]
_DASK = Annotated[
    str | None, typer.Option("--dask", help="Address of a Dask scheduler to read on.", show_default=False)
]


def estimate(
    model: _MODEL,
    files: _FILES,
    by: _BY = None,
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
    level: _LEVEL = 0.95,
    pile: _PILE = False,
    no_shift: Annotated[
        bool, typer.Option("--assume-no-shift", help="Intervals for CC and PCC, if the shares can't have changed.")
    ] = False,
    min_items: _LEAST = 30,
    scored: _SCORED = False,
    confusion: _CONFUSION = False,
    label: _LABEL = None,
    scores: _SCORES = None,
    decisions: _DECISIONS = None,
    method: _METHOD = "auto",
    dask: _DASK = None,
) -> None:
    """Estimate the share of each class among new items, for each group, with intervals and a verdict.

    Files are read in batches: they may be larger than memory.

    Example: headcount estimate stars.headcount new.parquet --by date:month -o shares.csv --html shares.html

    Example: headcount estimate --scored labelled.csv new.parquet --label y --scores neg=p0,pos=p1 --by month
    """
    from headcount._writing import write_all
    from headcount.cli.output import as_json as json_of
    from headcount.cli.output import as_table, print_shares, to_stdout

    if plot is not None and plot.suffix.lower() not in (".svg", ".png", ".pdf"):
        raise DataError(f"--plot {plot}: plots are written as .svg, .png or .pdf; name such a file.")
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

        column, _, unit = (by or "").partition(":")
        grouped = f" by {unit} of {column}" if unit else f" by {by}" if by else ""
        title = f"Shares of {known.columns.label or 'classes'}{grouped}"
        contents[html] = page_of_shares(groups, title=title, by=by or "", facts=facts_of(known, request)).encode()
    if plot is not None:
        from headcount.report.shares_plot import plot_shares

        contents[plot] = plot_shares(groups, plot.suffix.lower()[1:], x_label=by or "")
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
        typer.echo(f"No intervals: {groups.note}")
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


def compare(
    model: _MODEL,
    files: _FILES,
    by: _BY = None,
    first: Annotated[str | None, typer.Option("--from", help="The first group.", show_default=False)] = None,
    second: Annotated[str | None, typer.Option("--to", help="The second group.", show_default=False)] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="Write .csv, .tsv, .json or .parquet; - is CSV.", show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    level: _LEVEL = 0.95,
    pile: _PILE = False,
    min_items: _LEAST = 30,
    scored: _SCORED = False,
    confusion: _CONFUSION = False,
    label: _LABEL = None,
    scores: _SCORES = None,
    decisions: _DECISIONS = None,
    method: _METHOD = "auto",
) -> None:
    """Compare two groups, two periods or two files: by how much the share of each class differs, with an interval.

    Errors of the labelled side that both have in common cancel, which two intervals side by side do not show.

    Example: headcount compare stars.headcount new.csv --by date:quarter --from 2016-Q1 --to 2016-Q4

    Example: headcount compare stars.headcount before.csv after.csv
    """
    from headcount._writing import write_all
    from headcount.cli.output import as_json as json_of
    from headcount.cli.output import as_table, print_table, to_stdout
    from headcount.stream import compared

    estimand: Any = "pile" if pile else "population"
    common = (scored, confusion, label, scores, decisions, method, level, estimand, None, min_items)
    request = Request(model, tuple(files), by, *common)
    known = request.made()
    if by is None:
        if len(files) != 2:
            raise DataError("Name two files to compare, or one with --by COLUMN --from GROUP --to GROUP.")
        first, second = _two_names(files)
        tally = Request(model, (files[0],), None, *common).tally(known)
        tally.names[:] = [first]
        other = Request(model, (files[1],), None, *common).tally(known)
        other.names[:] = [second]
        tally = tally + other
    elif first is None or second is None:
        raise DataError("--by needs the two groups to compare: --from GROUP --to GROUP.")
    else:
        tally = request.tally(known)
    groups = request.groups(tally)
    found = compared(groups, first, second)
    verdicts = _verdicts(groups, (first, second))
    records = [
        {"class": label, "change": change, "low": low, "high": high, "p_value": p}
        for label, change, low, high, p in zip(
            found.classes.tolist(),
            found.change.tolist(),
            found.low.tolist(),
            found.high.tolist(),
            found.p_value.tolist(),
            strict=True,
        )
    ]
    if output is not None and output != "-":
        write_all({Path(output): as_table(records, output)})
    if as_json:
        to_stdout(json_of({"from": first, "to": second, "level": level, "changes": records, "verdicts": verdicts}))
    elif output == "-":
        to_stdout(as_table(records, "-"))
    else:
        columns = ("class", "left"), ("change", "right"), (f"{100 * level:g} % interval", "right"), ("p", "right")
        rows = [
            [
                str(one["class"]),
                f"{100 * one['change']:+.1f} points",
                f"{100 * one['low']:+.1f} to {100 * one['high']:+.1f}",
                f"{one['p_value']:.3g}",
            ]
            for one in records
        ]
        print_table(f"Change from {first} to {second}", columns, rows)
        for name, own in verdicts.items():
            if own["verdict"] != "trust":
                typer.echo(f"{name}: {own['verdict']}. {' '.join(own['advice'])}")


def _verdicts(groups: Any, names: tuple[Any, Any]) -> dict[str, dict[str, Any]]:
    from headcount.stream.shares import shown

    known = [shown(name) for name in groups.names]
    return {
        str(name): {"verdict": groups.verdicts[known.index(str(name))], "advice": groups.advice[known.index(str(name))]}
        for name in names
    }


def _two_names(files: list[str]) -> tuple[str, str]:
    names = [Path(file).name if file != "-" else "standard input" for file in files]
    return (names[0], names[1]) if names[0] != names[1] else (files[0], f"{files[1]} (second)")


def check(
    model: _MODEL,
    files: _FILES,
    by: _BY = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    min_items: _LEAST = 30,
    scored: _SCORED = False,
    label: _LABEL = None,
    scores: _SCORES = None,
) -> None:
    """Check, without labels, whether the shares of new items can be trusted, group by group.

    Example: headcount check stars.headcount new.csv --by date:month
    """
    from headcount.cli.output import as_json as json_of
    from headcount.cli.output import to_stdout
    from headcount.report.shares_page import summary
    from headcount.stream.shares import or_none, shown

    request = Request(model, tuple(files), by, scored, label=label, scores=scores, min_items=min_items)
    known = request.made()
    with told_progress("Reading") as tell:
        groups = request.groups(request.tally(known, tell))
    found = []
    for name, n, verdict, advice, report in zip(
        groups.names, groups.n_items, groups.verdicts, groups.advice, groups.reports, strict=True
    ):
        figures = ("p_label_shift", "separation", "disagreement", "distance", "off")
        measured = {what: None if report is None else or_none(getattr(report, what)) for what in figures}
        found.append({"group": shown(name), "n": int(n), "verdict": verdict, "advice": advice, **measured})
    if as_json:
        to_stdout(json_of(found))
        return
    for one in found:
        typer.echo(f"{one['group']} ({one['n']:,} items): {one['verdict']}")
        for sentence in one["advice"]:
            typer.echo(f"  - {sentence}")
    typer.echo(f"\n{summary(groups)}")
