"""`headcount compare` and `check`: what has changed between two groups, and whether shares can be trusted."""

from pathlib import Path
from typing import Annotated, Any

import typer

from headcount.cli.options import (
    BY,
    CONFUSION,
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
from headcount.cli.request import Request, told_progress
from headcount.exceptions import DataError

__all__ = ["check", "compare"]


def compare(
    model: MODEL,
    files: FILES,
    by: BY = None,
    first: Annotated[str | None, typer.Option("--from", help="The first group.", show_default=False)] = None,
    second: Annotated[str | None, typer.Option("--to", help="The second group.", show_default=False)] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="Write .csv, .tsv, .json or .parquet; - is CSV.", show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    level: LEVEL = 0.95,
    pile: PILE = False,
    min_items: LEAST = 30,
    scored: SCORED = False,
    confusion: CONFUSION = False,
    label: LABEL = None,
    scores: SCORES = None,
    decisions: DECISIONS = None,
    method: METHOD = "auto",
) -> None:
    """Compare two groups, two periods or two files: by how much the share of each class differs, with an interval.

    Errors of the labelled side that both have in common cancel, which two intervals side by side do not show.

    Example: headcount compare stars.headcount new.csv --by date:quarter --from 2016-Q1 --to 2016-Q4

    Example: headcount compare stars.headcount before.csv after.csv
    """
    from headcount._writing import write_all
    from headcount.cli.output import as_json as json_of
    from headcount.cli.output import as_table, check_places, print_table, to_stdout
    from headcount.stream import compared

    check_places((output,), (model, *files))
    if output is not None:
        as_table([], output)  # a name that can't be written as is told before the work
    estimand: Any = "pile" if pile else "population"
    common = (scored, confusion, label, scores, decisions, method, level, estimand, None, min_items)
    request = Request(model, tuple(files), by, *common)
    known = request.made()
    if by is None:
        if first is not None or second is not None:
            raise DataError("--from and --to name groups: say by what, --by COLUMN.")
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
    if output is not None and output != "-":
        typer.echo(f"Written: {output}", err=True)


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
    model: MODEL,
    files: FILES,
    by: BY = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    min_items: LEAST = 30,
    scored: SCORED = False,
    confusion: CONFUSION = False,
    label: LABEL = None,
    scores: SCORES = None,
    decisions: DECISIONS = None,
    method: METHOD = "auto",
) -> None:
    """Check, without labels, whether the shares of new items can be trusted, group by group.

    Example: headcount check stars.headcount new.csv --by date:month
    """
    from headcount.cli.output import as_json as json_of
    from headcount.cli.output import to_stdout
    from headcount.report.shares_page import summary
    from headcount.stream.shares import or_none, shown

    asked = (scored, confusion, label, scores, decisions, method)
    request = Request(model, tuple(files), by, *asked, min_items=min_items)
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
