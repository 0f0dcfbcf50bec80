"""`headcount compare`: the change of shares between two groups or two files."""

from typing import Annotated

import typer

from headcount.cli import options
from headcount.cli.model import model_from

__all__ = ["compare"]


def compare(
    model: options.MODEL,
    files: options.FILES,
    by: options.BY = None,
    first: Annotated[str | None, options.option("--from", help="The first group.")] = None,
    second: Annotated[str | None, options.option("--to", help="The second group.")] = None,
    output: options.OUTPUT = None,
    as_json: options.JSON = False,
    level: options.LEVEL = 0.95,
    sample: options.SAMPLE = False,
    min_items: options.MIN_ITEMS = 30,
    scored: options.SCORED = False,
    confusion: options.CONFUSION = False,
    label: options.LABEL = None,
    scores: options.SCORES = None,
    decisions: options.DECISIONS = None,
    method: options.SCORED_METHOD = "auto",
    pile: options.PILE = False,
) -> None:
    """Compare two groups, two periods or two files: by how much the share of each class differs, with an interval.

    Errors of the labelled side that both have in common cancel, which two intervals side by side do not show.

    Example: headcount compare stars.headcount new.csv --by date:quarter --from 2016-Q1 --to 2016-Q4

    Example: headcount compare stars.headcount before.csv after.csv
    """
    from headcount.cli.output import check_outputs, print_table, show_result
    from headcount.desk import compare_tables

    check_outputs((), (model, *files), table=output)
    loaded = model_from(model, files, scored, confusion, label, scores, decisions, method)
    comparison = compare_tables(
        loaded,
        files,
        by=by,
        first=first,
        second=second,
        level=level,
        estimand="sample" if sample or pile else "population",
        min_items=min_items,
        counts=confusion,
    )
    records, verdicts = comparison.records(), comparison.verdicts()

    def print_comparison() -> None:
        columns = ("class", "left"), ("change", "right"), (f"{100 * level:g} % interval", "right"), ("p", "right")
        rows = [
            [
                str(record["class"]),
                f"{100 * record['change']:+.1f} points",
                f"{100 * record['low']:+.1f} to {100 * record['high']:+.1f}",
                f"{record['p_value']:.3g}",
            ]
            for record in records
        ]
        print_table(f"Change from {comparison.first} to {comparison.second}", columns, rows)
        for name, checked in verdicts.items():
            if checked["verdict"] != "trust":
                typer.echo(f"{name}: {checked['verdict']}. {' '.join(checked['advice'])}")

    names = {"from": comparison.first, "to": comparison.second}
    answer = {**names, "level": level, "changes": records, "verdicts": verdicts}
    show_result(output, as_json, records, answer, print_comparison)
