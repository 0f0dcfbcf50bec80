"""`headcount watch`: shares of batch after batch, with alarms that hold at all looks together."""

from pathlib import Path
from typing import Annotated, Any

from headcount._escaping import printable
from headcount.cli import options
from headcount.cli.model import model_from
from headcount.cli.option_groups import BlackBox, LaterLabels, Rows, with_option_groups
from headcount.cli.output import echo
from headcount.cli.progress import progress_bar

__all__ = ["EXIT_ALARM", "EXIT_TOO_EARLY", "watch"]

EXIT_ALARM, EXIT_TOO_EARLY = 3, 4
"""Exit codes beside 0 (nothing to report) and 2 (a user's mistake); 1 is left to crashes."""
_MOST_ROWS = 40
"""Batches that are printed: the last ones."""


@with_option_groups
def watch(
    model: options.MODEL,
    files: options.FILES,
    *,
    state: Annotated[
        Path, options.option("--state", help="The state of the stream: made by the first run, then replaced.")
    ],
    rows: Rows,
    batch_id: Annotated[
        str | None,
        options.option("--batch", help="The name of the batch, which is counted once [default: by its content]."),
    ] = None,
    reference: Annotated[
        str | None,
        options.option(
            "--reference",
            help="Shares that are not to move: positive=0.3 (all classes but one), labelled, or first:2000 (items).",
        ),
    ] = None,
    band: Annotated[
        list[str] | None, options.option("--band", help="Shares that a class is to stay between: positive=0.2:0.4.")
    ] = None,
    move: Annotated[
        float | None, options.option("--move", help="Size of a move that is to be found fastest [default: 0.05].")
    ] = None,
    level: Annotated[
        float | None, options.option("--level", help="Probability of no false alarm at any look [default: 0.95].")
    ] = None,
    later: LaterLabels,
    html: options.HTML = None,
    as_json: options.JSON = False,
    black_box: BlackBox,
    statistics: options.STATISTICS = False,
) -> None:
    """Watch shares batch by batch: corrected, with intervals and alarms that hold at all looks together.

    Exit codes: 0 nothing to report, 3 an alarm, 4 nothing can be said yet, 2 a mistake in the command or its files.

    Labels of some items, drawn at random, may be added when they arrive: pass the batches again, with --labels or --labels-from.
    Neither a batch nor a label is counted twice.

    Example: headcount watch stars.headcount monday.csv --state stars.json --reference first:2000

    Example: headcount watch stars.headcount reviews.csv --by date:week --state stars.json --band good=0.6:0.8 --html watch.html

    Example: headcount watch stars.headcount reviews.csv --by date:week --state stars.json --labels-from checked.csv --id review
    """
    from headcount._writing import write_all
    from headcount.cli.output import check_outputs, json_bytes, to_stdout
    from headcount.desk import provenance, watch_tables
    from headcount.exceptions import DataError
    from headcount.monitor.questions import bands_from_text
    from headcount.monitor.result import ALARM, TOO_EARLY

    if str(state) == "-" or str(html) == "-":
        raise DataError(f"{'--state' if str(state) == '-' else '--html'} needs a file.")
    check_outputs((state, html), (model, *files, *([later.labels_from] if later.labels_from else [])))
    loaded = model_from(model, files, black_box)
    with progress_bar("Reading") as progress:
        found = watch_tables(
            loaded,
            files,
            state,
            by=rows.grouping,
            where=rows.conditions,
            batch_id=batch_id,
            level=level,
            reference=reference,
            band=bands_from_text(band) if band else None,
            move=move,
            counts=black_box.confusion,
            statistics=statistics,
            labels=later.labels,
            labels_from=later.labels_from,
            item=later.id,
            progress=progress,
        )
    facts = provenance(loaded, files, model)
    if html is not None:
        from headcount.report.watch_page import page_of_watch

        label = loaded.columns.label
        title = f"Shares of {label or 'classes'}, watched"
        write_all({html: page_of_watch(found.monitor, found.results[-1], title=title, facts=facts).encode()})
    status = ALARM if found.alarms else found.last.status
    if as_json:
        answer = {
            "status": status,
            "alarms": [vars(alarm) for alarm in found.alarms],
            "batches": [result.record() for result in found.results],
            "n_batches": found.monitor.n_batches,
            "n_items": found.monitor.n_items,
            "labelled": None if found.monitor.labelled is None else found.monitor.labelled.record(),
            "settings": found.monitor.settings,
            "from": facts,
        }
        to_stdout(json_bytes(answer))
    else:
        _print(found, status)
    if html is not None:
        echo(f"Written: {html}", err=True)
    code = {ALARM: EXIT_ALARM, TOO_EARLY: EXIT_TOO_EARLY}.get(status, 0)
    if code:
        import typer

        raise typer.Exit(code)


def _print(found: Any, status: str) -> None:
    """Print the batches, alarms, and what the intervals are."""
    from headcount.cli.output import listed, print_table
    from headcount.monitor.alarms import DOUBTFUL, share_text
    from headcount.monitor.result import ALARM

    new = [result for result in found.results if result.counted]
    classes = [printable(str(name)) for name in found.monitor.classes]
    columns: list[tuple[str, str]] = [("batch", "left"), ("items", "right")]
    columns += [(name, "right") for name in classes]
    columns += [(f"{name} so far", "right") for name in classes] + [("status", "left")]
    table = []
    for result in new[-_MOST_ROWS:]:
        ends = zip(result.cumulative, result.low, result.high, strict=True)
        table.append(
            [
                result.batch,
                f"{result.n:,}",
                *map(share_text, result.shares),
                *(f"{share_text(p)} ({100 * low:.1f}-{100 * high:.1f})" for p, low, high in ends),
                result.status,
            ]
        )
    if table:
        if len(new) > len(table):
            echo(f"The last {len(table)} of {len(new):,} batches:")
        print_table("", columns, table)
    n_again = len(found.results) - len(new)
    if n_again:
        echo(f"{n_again:,} batch{'' if n_again == 1 else 'es'} seen before: not counted again.")
    _print_labelled(found)
    by_kind: dict[tuple[str, str], list[Any]] = {}
    for alarm in found.alarms:
        by_kind.setdefault((alarm.kind, alarm.label), []).append(alarm)
    for alarms in by_kind.values():
        again = f" Again at {listed([alarm.batch for alarm in alarms[1:]])}." if len(alarms) > 1 else ""
        doubted = [alarm.batch for alarm in alarms[1:] if alarm.items_p is not None and alarm.items_p < DOUBTFUL]
        doubt = f" At {listed(doubted)} the items may have changed rather than their shares." if doubted else ""
        echo(f"ALARM at {alarms[0].batch}: {alarms[0].text}{again}{doubt}")
    if found.last.note:
        echo(found.last.note)
    elif status != ALARM:
        echo("Nothing to report.")
    echo(
        f"So far: mean shares since the last alarm. Over all looks together, intervals are right and alarms are not false with a "
        f"probability of {found.monitor.level:g} each."
    )


def _print_labelled(found: Any) -> None:
    """Print what labels say of the shares of their batches."""
    from headcount.monitor.alarms import share_text

    labelled = found.monitor.labelled
    if labelled is None:
        return
    new = f" ({found.n_labels:,} new)" if found.n_labels else ""
    rows = zip(labelled.classes, labelled.shares, labelled.low, labelled.high, labelled.corrected, strict=True)
    shares = ", ".join(
        f"{printable(str(name))} {share_text(p)} ({100 * low:.1f}-{100 * high:.1f}; by scores {share_text(score)})"
        for name, p, low, high, score in rows
    )
    echo(f"By {labelled.n_labels:,} labels{new} of batches with {labelled.n_items:,} items: {shares}.")
