"""`headcount compare`: changes of shares between two groups or files, or between many at once."""

from math import floor, log10
from typing import Annotated, Any

from headcount._escaping import printable
from headcount.cli import options
from headcount.cli.model import model_from
from headcount.cli.option_groups import BlackBox, Design, Figures, Precision, Rows, with_option_groups
from headcount.cli.output import echo

__all__ = ["compare", "json_of_changes", "print_comparisons"]


@with_option_groups
def compare(
    model: options.MODEL,
    files: options.FILES,
    *,
    rows: Rows,
    first: Annotated[
        str | None, options.option("--from", help="The first group; without --to, all others are compared with it.")
    ] = None,
    second: Annotated[str | None, options.option("--to", help="The second group.")] = None,
    against: Annotated[
        str | None,
        options.option(
            "--against",
            help="Compare all groups or files: each with the first, with the previous one, or all pairs (all).",
        ),
    ] = None,
    trend: Annotated[
        bool,
        options.option(
            "--trend", help="Test instead whether shares rise or fall over the groups: months, weeks, numbers."
        ),
    ] = False,
    figures: Figures,
    output: options.OUTPUT = None,
    as_json: options.JSON = False,
    precision: Precision,
    min_items: options.MIN_ITEMS = 30,
    stratum: options.STRATUM = None,
    design: Design,
    black_box: BlackBox,
    statistics: options.STATISTICS = False,
) -> None:
    """Compare groups, periods or files, two or all of them: by how much the share of each class differs, with an interval.

    With --value, --at-least or --at-most, means and cumulative shares are compared instead of the shares of classes.

    Errors of the labelled side that groups have in common cancel, which intervals side by side do not show. With --against,
    intervals and p-values hold for all comparisons together.

    Example: headcount compare stars.headcount new.csv --by date:quarter --from 2016-Q1 --to 2016-Q4

    Example: headcount compare stars.headcount new.csv --by date:month --against previous

    Example: headcount compare stars.headcount new.csv --by date:month --trend

    Example: headcount compare stars.headcount before.csv after.csv

    Example: headcount compare stars.headcount new.csv --by date:quarter --against previous --value stars --at-least 4
    """
    from headcount.cli.output import check_format, check_outputs, print_verdicts, show_result
    from headcount.desk import Comparison, compare_tables, trend_tables
    from headcount.exceptions import DataError
    from headcount.stream.groups import grouping_title

    check_outputs((), (model, *files), table=output)
    check_format(None, as_json, output)
    asked = figures.asked
    loaded = model_from(model, files, black_box)
    if first is not None and second is None and against is None:
        against = "first"
    by, level = rows.grouping, precision.level
    settings: dict[str, Any] = {
        "where": rows.conditions,
        "level": level,
        "estimand": precision.estimand,
        "min_items": min_items,
        "counts": black_box.confusion,
        "statistics": statistics,
        "design": design.columns(stratum),
        "figures": asked,
    }
    result: Any
    if trend:
        if by is None or against is not None or first is not None or second is not None:
            raise DataError(
                "--trend is over the groups of one column: give --by COLUMN, without --against, --from and --to."
            )
        result = trend_tables(loaded, files, by=by, **settings)
    else:
        chosen: Any = against  # compare_tables refuses other values
        result = compare_tables(loaded, files, by=by, first=first, second=second, against=chosen, **settings)
    if asked.order is not None:
        result = result.in_class_order(asked.order)
    records, verdicts = result.records(), result.verdicts()
    two = isinstance(result, Comparison)
    answer: dict[str, Any]
    if trend:
        answer = {"periods": result.names, "left_out": result.left_out, "per": result.unit}
    else:
        answer = {"from": result.first, "to": result.second} if two else json_of_changes(result)

    def print_comparison() -> None:
        if trend:
            _print_trend(result, records, level)
        elif two:
            _print_changes(f"Change from {result.first} to {result.second}", result.difference, records, level)
        else:
            print_comparisons(result)
        labels, found = list(verdicts), [checked["verdict"] for checked in verdicts.values()]
        advice = [checked["advice"] for checked in verdicts.values()]
        print_verdicts(labels, found, advice, grouping_title(by))

    answer |= {"level": level, "slopes" if trend else "changes": records, "verdicts": verdicts}
    show_result(output, as_json, records, answer, print_comparison)


def json_of_changes(result: Any) -> dict[str, Any]:
    """Return what is compared, for JSON, without the changes themselves."""
    answer = {"against": result.against, "groups": result.names, "left_out": result.left_out}
    return answer | {"comparisons": len(result)}


def print_comparisons(result: Any) -> None:
    """Print the comparisons of many groups."""
    _print_changes(_family_title(result), result.differences, result.records(), result.differences.level)
    if result.left_out:
        echo(_left_out_note(result))


def _family_title(result: Any) -> str:
    """Say what is compared, that the intervals hold together, and how many comparisons there are."""
    pairs = {"first": f"each with {result.names[0]}", "previous": "each with the previous one", "all": "all pairs"}
    return (
        f"Changes between {len(result.names)} groups, {pairs[result.against]}: {len(result):,} comparisons, with "
        f"intervals that hold together at {100 * result.differences.level:g} %"
    )


def _left_out_note(result: Any) -> str:
    """Name the groups with too few items."""
    from headcount.cli.output import listed

    return f"Left out, too few items (--min-items): {listed(result.left_out)}."


def _print_trend(result: Any, records: list[dict[str, Any]], level: float) -> None:
    """Print the slope of each class or figure, and what it means in words."""
    from headcount.cli.output import listed, p_text, print_table

    echo(f"Trend over {len(result.names)} periods, {result.names[0]} to {result.names[-1]}")
    shares = _titles_of_shares(result.trend)
    of = "figure" if result.trend.figures else "class"
    rows = [
        [
            printable(str(record[of])),
            *_change_texts(record["slope"], record["slope_low"], record["slope_high"], record[of] in shares, 2),
            p_text(record["p_value"]),
            "rises" if record["slope_low"] > 0 else "falls" if record["slope_high"] < 0 else "no clear trend",
        ]
        for record in records
    ]
    figures = f"change per {result.unit}", f"{100 * level:g} % interval", "p"
    print_table("", [(of, "left"), *((name, "right") for name in figures), ("trend", "left")], rows)
    if result.left_out:
        echo(f"Left out, too few items (--min-items) or no time: {listed(result.left_out)}.")


def _print_changes(title: str, changes: Any, records: list[dict[str, Any]], level: float) -> None:
    """Print changes, a row each class or figure, and with many groups each pair of groups."""
    from headcount.cli.output import p_text, print_table

    several, of, shares = "p_single" in records[0], "figure" if changes.figures else "class", _titles_of_shares(changes)
    names = ("first", "second", of) if several else (of,)
    figures = "change", f"{100 * level:g} % interval", "p (corrected)" if several else "p"
    rows = [
        [
            *(printable(str(record[name])) for name in names),
            *_change_texts(record["change"], record["change_low"], record["change_high"], record[of] in shares, 1),
            p_text(record["p_value"]),
        ]
        for record in records
    ]
    echo(printable(title))  # not the table's own title, which is wrapped to the width of the table
    print_table("", [*((name, "left") for name in names), *((name, "right") for name in figures)], rows)


def _titles_of_shares(changes: Any) -> list[Any]:
    """Return the classes, or the titles of those figures that are shares: their changes are in points."""
    return [figure.title for figure in changes.figures if figure.is_share] or (
        [] if changes.figures else changes.classes.tolist()
    )


def _change_texts(change: float, low: float, high: float, is_share: bool, digits: int) -> tuple[str, str]:
    """Return a change and its interval for people to read: of a share in points, of a mean as numbers.

    >>> _change_texts(0.051, -0.01, 0.12, True, 1), _change_texts(0.051, -0.01, 0.12, False, 1)
    (('+5.1 points', '-1.0 to +12.0'), ('+0.05', '-0.01 to +0.12'))
    """
    if is_share:
        shown = [f"{100 * value:+z.{digits}f}" for value in (change, low, high)]
        return f"{shown[0]} points", f"{shown[1]} to {shown[2]}"
    decimals = max(0, 1 - floor(log10(high - low))) if high > low else 2
    shown = [f"{value:+z,.{decimals}f}" for value in (change, low, high)]
    return shown[0], f"{shown[1]} to {shown[2]}"
