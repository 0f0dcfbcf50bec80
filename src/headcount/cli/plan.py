"""`headcount plan`: how many labels a half-width takes, which items to label next, and the file to be filled in."""

from typing import Annotated, Any

import typer

from headcount._escaping import printable
from headcount.cli import options
from headcount.cli.model import model_from
from headcount.cli.option_groups import BlackBox, Precision, Rows, with_option_groups
from headcount.cli.output import echo
from headcount.cli.progress import progress_bar
from headcount.exceptions import DataError

__all__ = ["plan"]

_SHARES_TRIED = (0.05, 0.1, 0.2, 0.5)
"""Shares that are tried where none is guessed."""


@with_option_groups
def plan(
    model: Annotated[
        str | None,
        typer.Argument(help="A model file; with --scored a labelled table. None with --auc or --pilot."),
    ] = None,
    files: Annotated[list[str] | None, typer.Argument(help="Tables of new items, as for headcount estimate.")] = None,
    *,
    half_width: Annotated[
        float | None,
        options.option("--half-width", help="The half-width of the interval to reach, as in 0.03 for 3 points."),
    ] = None,
    labels: Annotated[
        int | None,
        options.option("--labels", help="Label so many items (of each group) instead of asking for a half-width."),
    ] = None,
    rows: Rows,
    target: Annotated[
        str | None,
        options.option("--class", help="The class whose share matters [default: that with the widest interval]."),
    ] = None,
    uniform: Annotated[bool, typer.Option("--uniform", help="Draw all items with the same probability.")] = False,
    labels_from: Annotated[
        str | None,
        options.option("--labels-from", help="Items labelled already: the file that this command wrote, filled in."),
    ] = None,
    id_column: Annotated[
        str | None, options.option("--id", help="A column that identifies items [default: their row numbers do].")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the draw.", min=0)] = 0,
    output: Annotated[
        str | None,
        options.option("--output", "-o", help="Write the items to label: .csv, .tsv, .json, .parquet or .xlsx."),
    ] = None,
    as_json: options.JSON = False,
    precision: Precision,
    min_items: options.MIN_ITEMS = 30,
    black_box: BlackBox,
    auc: Annotated[
        float | None, options.option("--auc", help="Before there is a model: a guess of its AUC, as in 0.85.")
    ] = None,
    share: Annotated[
        list[float] | None,
        options.option("--share", help="With --auc: a guess of the share; may be given several times."),
    ] = None,
    items: Annotated[
        int | None, options.option("--items", help="With --auc or --pilot: how many new items there will be.", min=10)
    ] = None,
    pilot: Annotated[
        str | None,
        options.option(
            "--pilot", help="Before there is a model: a small table with labels (--label) and scores (--scores)."
        ),
    ] = None,
) -> None:
    """Plan how many items to label for shares within a half-width, choose which, and write the file to be filled in.

    Example: headcount plan stars.headcount new.csv --by date:month --half-width 0.03 -o to_label.csv

    Example: headcount plan stars.headcount new.csv --labels-from to_label.csv --half-width 0.02 -o more.csv

    Example: headcount plan --auc 0.85 --half-width 0.03 --share 0.2

    Example: headcount plan --pilot scored.csv --label y --scores neg=p0,pos=p1 --half-width 0.03
    """
    from headcount.planning.plan import check_half_width

    if half_width is not None:
        check_half_width(half_width)
    early = auc is not None or pilot is not None
    if not early and (model is None or not files):
        raise DataError(
            "Name a model and tables of new items; before there are any, a guess of the model's AUC (--auc 0.85) or a small table "
            "with scores and labels (--pilot)."
        )
    if not early and (share or items is not None):
        raise DataError(
            f"{'--share' if share else '--items'} goes with --auc or --pilot: a model estimates it of the new items."
        )
    if early:
        later = {"--labels": labels, "--labels-from": labels_from, "--id": id_column, "-o": output, "--by": rows.by}
        given = [name for name, value in later.items() if value is not None]
        if model is not None or given:
            raise DataError(
                f"{'A model' if model is not None else given[0]} goes without --auc and --pilot, which are for the time before "
                "there is a model."
            )
        if auc is not None and pilot is not None:
            raise DataError("Name either a guess of the AUC (--auc) or a pilot (--pilot), not both.")
        if half_width is None:
            raise DataError("Name the half-width to reach: --half-width 0.03 for 3 points.")
        _plan_early(auc, pilot, share, items, half_width, precision, black_box, as_json)
        return
    _plan_items(
        str(model),
        list(files or []),
        rows,
        half_width=half_width,
        labels=labels,
        target=target,
        uniform=uniform,
        labels_from=labels_from,
        id_column=id_column,
        seed=seed,
        output=output,
        as_json=as_json,
        precision=precision,
        min_items=min_items,
        black_box=black_box,
    )


def _plan_items(
    model: str,
    files: list[str],
    rows: Rows,
    *,
    seed: int,
    output: str | None,
    as_json: bool,
    precision: Precision,
    black_box: BlackBox,
    labels_from: str | None,
    **settings: Any,
) -> None:
    from pathlib import Path

    from headcount.cli.output import check_outputs, show_result
    from headcount.desk import plan_table
    from headcount.stream.groups import grouping_title

    if (settings["half_width"] is None) == (settings["labels"] is None):
        raise DataError(
            "Name either the half-width to reach (--half-width 0.03 for 3 points) or how many items to label (--labels 100)."
        )
    once = [name for name in (*files, labels_from or "") if name == "-" or (name and Path(name).is_fifo())]
    if once:
        raise DataError(f"{once[0]} can be read only once, and planning reads tables twice: name a file.")
    if black_box.confusion:
        raise DataError("--confusion is about counts, and a plan chooses items: name a table with a row for each item.")
    check_outputs((), (model, *files, *([labels_from] if labels_from else [])), table=output)
    loaded = model_from(model, files, black_box)
    with progress_bar("Reading") as progress:
        result = plan_table(
            loaded,
            files,
            by=rows.grouping,
            where=rows.conditions,
            labels_from=labels_from,
            level=precision.level,
            estimand=precision.estimand,
            random_state=seed,
            progress=progress,
            **settings,
        )
    title = grouping_title(rows.grouping)
    after = _next_command(model, files, rows, output, settings["id_column"], black_box, result.estimand)
    records = result.records()
    sentences = _sentences(result, settings["labels"])
    answer: dict[str, Any] = {
        "half_width": result.half_width,
        "level": result.level,
        "estimand": result.estimand,
        "seed": seed,
        "labels": result.n_labels,
        "groups": records,
        "sentences": sentences,
    }

    def print_plan() -> None:
        _print_groups(result, title)
        echo()
        for sentence in sentences:
            echo(sentence)
        if after:
            echo(f"\nNext: {after}")

    show_result(output, as_json, result.rows, answer, print_plan)


def _print_groups(result: Any, title: str) -> None:
    from headcount.cli.output import print_table

    asked = result.half_width is not None
    already = any(plan.n_labelled for _, plan in result.planned)
    route = asked and any(group.source is not None for group in result.groups)
    columns = [(title or "group", "left"), ("items", "right")]
    columns += [("labelled", "right")] if already else []
    columns += [("more to label" if already else "to label", "right")]
    columns += [("evenly drawn", "right"), ("without the model", "right")] if asked else []
    columns += [("half-width", "right"), ("evenly drawn", "right"), ("without the model", "right")]
    columns += [("label shift now", "right"), ("labelled items for it", "right")] if route else []
    table = []
    for group in result.groups:
        plan, source = group.plan, group.source
        row = [printable(group.name), f"{group.n_items:,}"]
        if plan is None:
            table.append(row + ["-"] * (len(columns) - 2))
            continue
        j = plan.widest
        row += [f"{plan.n_labelled:,}"] if already else []
        row += [f"{plan.n_labels:,}"]
        row += [f"{plan.labels_uniform:,}", f"{plan.labels_alone:,}"] if asked else []
        row += [_points(widths[j]) for widths in (plan.half_widths, plan.half_widths_uniform, plan.half_widths_alone)]
        if route:
            needed = "-" if source is None else "no number" if source.needed is None else f"{source.needed:,}"
            row += ["-" if source is None else _points(source.half_width), needed]
        table.append(row)
    print_table("", columns, table)


def _points(half_width: float) -> str:
    return f"± {100 * half_width:.1f}"


def _sentences(result: Any, labels_asked: int | None) -> list[str]:
    """Return what the table means, in words."""
    from headcount.cli.output import listed

    planned = result.planned
    several = len(result.groups) > 1
    n, level = result.n_labels, f"{100 * result.level:g} %"
    about = "exactly these items" if result.estimand == "sample" else "all items that their source might send"
    first = any(plan.n_labelled for _, plan in planned)
    count = f"{n:,} {'more ' if first else ''}item{'' if n == 1 else 's'}"
    if result.half_width is None:
        sentences = [
            f"Label the {count}: the half-widths, in points, are what to expect of {level} intervals for {about}."
        ]
    elif n == 0:
        sentences = [
            f"No more labels are needed for {level} intervals of ± {100 * result.half_width:g} points for {about}."
        ]
    else:
        reached = "in each group " if several else ""
        sentences = [
            f"Label {count}{' in all' if several else ''}, for {level} intervals of ± {100 * result.half_width:g} points {reached}"
            f"for {about}."
        ]
    even = sum(plan.labels_uniform or 0 for _, plan in planned)
    alone = sum(plan.labels_alone or 0 for _, plan in planned)
    if result.half_width is not None and n:
        sentences.append(
            f"Drawn evenly it would take {even:,}, and {alone:,} without the model's predictions. Items whose class is less "
            "certain are drawn more often; their probabilities are in the file, so that this does not bias the shares."
        )
    missed = [group.name for group, plan in planned if not plan.reached]
    if missed:
        sentences.append(
            f"Not reached even with all items labelled{': ' + listed(missed) if several else ''}. The items themselves are too few "
            "to tell the shares of their source; for exactly these items it is possible (--sample)."
        )
    fewer = [group.name for group, plan in planned if (labels_asked or 0) > plan.n_labels]
    if fewer:
        sentences.append(
            f"{labels_asked:,} labels are more than there are items{': ' + listed(fewer) if several else ''}. Label all of them."
        )
    everything = [
        group.name for group, plan in planned if plan.n_labels + plan.n_labelled == group.n_items and plan.reached
    ]
    if everything:
        sentences.append(f"All items are to be labelled{': ' + listed(everything) if several else ''}.")
    small = [group.name for group in result.groups if group.plan is None]
    if small:
        sentences.append(f"Left out, fewer than {result.min_items} items (--min-items): {listed(small)}.")
    if not all(group.from_labels for group, _ in planned):
        trusted = (
            "" if result.learnt else " The model has no labelled items to check its posteriors with: they are trusted."
        )
        sentences.append(
            "The half-widths are a forecast: they take the model to be as good on the new items as on the labelled ones. If it is "
            "not, the intervals still hold, but are wider. Label a part first (--labels 50), and plan the rest with "
            "--labels-from." + trusted
        )
    doubted = [group.name for group, _ in planned if group.verdict == "do not trust" and not group.from_labels]
    if doubted:
        sentences.append(
            f"The check says that the model does not fit{' ' + listed(doubted) if several else ' the new items'}: the forecast "
            "may be too good there, and the label-shift route is not to be trusted."
        )
    return sentences + _route_sentences(result, several)


def _route_sentences(result: Any, several: bool) -> list[str]:
    """Say what the label-shift route needs."""
    from headcount.cli.output import listed

    sources = [(group.name, group.source) for group in result.groups if group.source is not None]
    if not sources:
        return []
    needs = [source.needed for _, source in sources if source.needed is not None]
    sentences = []
    if needs:
        most, now = max(needs), sources[0][1].n_labelled
        enough = (
            f"the {now:,} labelled items that the model has suffice"
            if most <= now
            else (f"it takes {most:,} labelled items of the old kind, where the model has {now:,}")
        )
        sentences.append(
            f"Without labels of the new items{' (groups for which it is possible)' if len(needs) < len(sources) else ''}, {enough},"
            " if only the shares have changed."
        )
    for reason in dict.fromkeys(source.reason for _, source in sources if source.needed is None):
        names = [name for name, source in sources if source.reason == reason]
        sentences.append(
            f"Without labels of the new items no number of labelled items suffices{': ' + listed(names) if several else ''}, as "
            f"{reason}."
        )
    return sentences


def _next_command(
    model: str, files: list[str], rows: Rows, output: str | None, id_column: str | None, box: BlackBox, estimand: str
) -> str:
    """Return the command that reads the file back, filled in."""
    import shlex

    if output is None or output == "-":
        return ""
    parts = ["headcount", "estimate", *(["--scored"] if box.scored else []), model, *files]
    named = {
        "--label": box.label,
        "--scores": box.scores,
        "--decisions": box.decisions,
        "--by": rows.grouping,
        "--id": id_column,
    }
    for option, value in named.items():
        parts += [] if value is None else [option, value]
    for condition in rows.conditions:
        parts += ["--where", condition]
    parts += ["--sample"] if estimand == "sample" else []
    return f"fill in the column 'label' of {printable(output)}, then {shlex.join([*parts, '--labels-from', output])}"


def _plan_early(
    auc: float | None,
    pilot: str | None,
    share: list[float] | None,
    items: int | None,
    half_width: float,
    precision: Precision,
    black_box: BlackBox,
    as_json: bool,
) -> None:
    """Print sample sizes before there are a model or labels."""
    from headcount.cli.output import json_bytes, print_table, to_stdout
    from headcount.desk import early_plan

    classes, sizes = early_plan(
        half_width,
        auc=auc,
        pilot=pilot,
        columns=black_box.columns,
        guesses=share or (_SHARES_TRIED if auc is not None else ()),
        n_items=items,
        level=precision.level,
        estimand=precision.estimand,
    )
    records = [
        {
            "shares": dict(zip(classes, size.shares.tolist(), strict=True)),
            "labels_alone": size.labels_alone,
            "labels_with_model": size.labels_assisted,
            "source_labels": size.source_labels,
            "label_shift_limit": size.limit if size.limit < 1.0 else None,
        }
        for size in sizes
    ]
    if as_json:
        to_stdout(json_bytes({"half_width": half_width, "level": precision.level, "items": items, "plans": records}))
        return

    def number(value: int | None) -> str:
        return "no number" if value is None else f"{value:,}"

    columns = [("share" if len(classes) == 2 else "shares", "left")]
    columns += [
        (name, "right") for name in ("new items, labels alone", "new items, with the model", "old items, label shift")
    ]
    print_table(
        "",
        columns,
        [
            [
                f"{100 * size.shares[1]:g} %"
                if len(classes) == 2
                else ", ".join(f"{name} {100 * p:.0f} %" for name, p in zip(classes, size.shares, strict=True)),
                number(size.labels_alone),
                number(size.labels_assisted),
                number(size.source_labels),
            ]
            for size in sizes
        ],
    )
    many = "so many that their number does not matter" if items is None else f"{items:,}"
    echo(
        f"\nLabels for {100 * precision.level:g} % intervals of ± {100 * half_width:g} points, of new items that are {many}."
    )
    echo(
        "Labels of new items hold whatever has changed: alone, or with a model that predicts all of them. Labels of old items, as "
        "many of each class, serve every new group, if only the shares change (PACC)."
    )
    if any(size.source_labels is None for size in sizes):
        echo("No number: the new items themselves are too few, or the scores do not tell the classes apart.")
    if auc is not None:
        echo("Scores are taken to be normal in both classes and calibrated: a pilot says more (--pilot).")
    echo("\nNext: headcount fit LABELLED.csv, then headcount plan MODEL NEW.csv --half-width W -o to_label.csv")
