"""`headcount estimate`: shares of new items, by a model or by the scores of a black box."""

from pathlib import Path
from typing import Any

import typer

from headcount.cli import options
from headcount.cli.model import model_from
from headcount.cli.progress import progress_bar
from headcount.exceptions import DataError

__all__ = ["estimate"]

_MAX_ADVICE = 8
"""Pieces of advice printed below the table."""
_MAX_NAMES = 6
"""Groups named before each piece of advice."""


def estimate(
    model: options.MODEL,
    files: options.FILES,
    by: options.BY = None,
    output: options.OUTPUT = None,
    as_json: options.JSON = False,
    html: options.HTML = None,
    plot: options.PLOT = None,
    level: options.LEVEL = 0.95,
    sample: options.SAMPLE = False,
    calibrated: options.CALIBRATED = False,
    min_items: options.MIN_ITEMS = 30,
    scored: options.SCORED = False,
    confusion: options.CONFUSION = False,
    label: options.LABEL = None,
    scores: options.SCORES = None,
    decisions: options.DECISIONS = None,
    method: options.SCORED_METHOD = "auto",
    dask: options.DASK = None,
    statistics: options.STATISTICS = False,
    pile: options.PILE = False,
) -> None:
    """Estimate the share of each class among new items, for each group, with intervals and a verdict.

    Files are read in batches: they may be larger than memory.

    Example: headcount estimate stars.headcount new.parquet --by date:month -o shares.csv --html shares.html

    Example: headcount estimate --scored labelled.csv new.parquet --label y --scores neg=p0,pos=p1 --by month

    Example: headcount estimate --scored labelled.csv --label y --scores neg=p0,pos=p1 --by month --statistics result.csv
    """
    from headcount.cli.output import check_outputs, print_shares, show_result
    from headcount.desk import estimate_tables, provenance
    from headcount.stream.groups import grouping_title

    if plot is not None and plot.suffix.lower() not in (".svg", ".png", ".pdf"):
        raise DataError(f"--plot {plot}: plots are written as .svg, .png or .pdf; name such a file.")
    if str(html) == "-":
        raise DataError("--html needs a file; -o - and --json write to standard output.")
    check_outputs((html, plot), (model, *files), table=output)
    loaded = model_from(model, files, scored, confusion, label, scores, decisions, method, dask)
    with progress_bar("Reading") as progress:
        groups = estimate_tables(
            loaded,
            files,
            by=by,
            level=level,
            estimand="sample" if sample or pile else "population",
            assume="calibrated" if calibrated else None,
            min_items=min_items,
            counts=confusion,
            cluster=dask,
            statistics=statistics,
            progress=progress,
        )
    facts, by_title = provenance(loaded, files, model), grouping_title(by)
    contents: dict[Path, bytes] = {}
    if html is not None:
        from headcount.report.shares_page import page_of_shares

        title = f"Shares of {loaded.columns.label or 'classes'}" + (f" by {by_title}" if by else "")
        contents[html] = page_of_shares(groups, title=title, by=by_title, facts=facts).encode()
    if plot is not None:
        from headcount.report.shares_plot import plot_shares

        contents[plot] = plot_shares(groups, plot.suffix.lower()[1:], x_label=by_title)

    def print_estimate() -> None:
        print_shares(groups, by or "")
        _print_explanation(groups)

    show_result(output, as_json, groups.records(), _json_answer(groups, by, facts), print_estimate, contents)


def _json_answer(groups: Any, by: str | None, facts: dict[str, str]) -> dict[str, Any]:
    from headcount.stream.group_shares import group_label

    by_group: dict[str, dict[str, Any]] = {
        group_label(name): {"n": int(n), "verdict": verdict, "advice": advice, "shares": {}}
        for name, n, verdict, advice in zip(groups.names, groups.n_items, groups.verdicts, groups.advice, strict=True)
    }
    for record in groups.records():
        share = {name: record[name] for name in ("share", "low", "high")}
        by_group[record["group"]]["shares"][str(record["class"])] = share
    settings = {name: getattr(groups, name) for name in ("level", "estimand", "method", "assume", "note")}
    return {"by": by, **settings, "from": facts, "groups": by_group}


def _print_explanation(groups: Any) -> None:
    """Print what a reader of the table needs besides: whose shares, why no intervals, advice on verdicts."""
    from headcount.report.shares_page import verdict_summary
    from headcount.stream.group_shares import group_label

    whose = "these items" if groups.estimand == "sample" else "the process that the items came from"
    intervals = "" if groups.note else f", {100 * groups.level:g} % intervals"
    typer.echo(f"\n{groups.method}{intervals}, shares in {whose}. {verdict_summary(groups.verdicts, groups.advice)}")
    if groups.note:
        typer.echo(f"No intervals: {groups.note}".replace("assume='calibrated'", "--assume-calibrated"))
    elif groups.assume == "calibrated":
        typer.echo(
            "The intervals assume that the classifier's posteriors are calibrated: where they are not, intervals are too short."
        )
    names_by_advice: dict[str, list[str]] = {}
    for name, verdict, advice in zip(groups.names, groups.verdicts, groups.advice, strict=True):
        if verdict not in ("trust", "not checked"):
            names_by_advice.setdefault(" ".join(advice), []).append(group_label(name))
    for advice, names in list(names_by_advice.items())[:_MAX_ADVICE]:
        typer.echo(f"  {', '.join(names[:_MAX_NAMES])}{' ...' if len(names) > _MAX_NAMES else ''}: {advice}")
    if len(names_by_advice) > _MAX_ADVICE:
        typer.echo(f"  ... and advice on {len(names_by_advice) - _MAX_ADVICE} more; see --json or --html.")
