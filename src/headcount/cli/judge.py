"""`headcount judge`: shares from the answers of judges, such as language models, and human labels of some rows."""

from pathlib import Path
from typing import Annotated, Any

from headcount._escaping import printable
from headcount.cli import options
from headcount.cli.model import class_names
from headcount.cli.option_groups import Rows, with_option_groups
from headcount.cli.output import echo
from headcount.cli.progress import progress_bar
from headcount.exceptions import DataError

__all__ = ["judge"]

_MOST_CONFUSION = 8
"""Classes up to which confusion matrices are printed."""
_MOST_JUDGES_CONFUSED = 3
"""Judges whose confusion matrices are printed: those to keep, or else the best."""


@with_option_groups
def judge(
    files: options.FILES,
    *,
    human: Annotated[
        str, options.option("--human", help="The column of human labels: of rows drawn at random, empty in the others.")
    ],
    judges: Annotated[
        list[str] | None,
        options.option(
            "--judge", help="Columns of the judges' answers: a,b,c, or 'judge_*'; may be given several times."
        ),
    ] = None,
    scores: Annotated[
        list[str] | None,
        options.option("--scores", help="A judge that gives scores: neg=p0,pos=p1 (once for each such judge)."),
    ] = None,
    rows: Rows,
    ids: Annotated[str | None, options.option("--id", help="A column that names each item, each of them once.")] = None,
    classes: Annotated[
        str | None,
        options.option("--classes", help="All classes, in order [default: those of the human labels, sorted]."),
    ] = None,
    mapping: Annotated[
        str | None,
        options.option("--map", help="A table of free texts and the class of each: columns answer and class."),
    ] = None,
    level: options.LEVEL = 0.95,
    half_width: Annotated[
        float, options.option("--half-width", help="For how many human labels: 0.03 is ±3 points [default: 0.05].")
    ] = 0.05,
    population: Annotated[
        bool,
        options.option(
            "--population", help="Estimate the shares of the source that the rows are a random sample of, not theirs."
        ),
    ] = False,
    output: options.OUTPUT = None,
    as_json: options.JSON = False,
    form: options.FORMAT = None,
    html: options.HTML = None,
    plot: options.PLOT = None,
) -> None:
    """Correct what judges say, such as language models, by human labels of some rows, and tell which judges help.

    Every row has the judges' answers, and some rows, drawn at random, a human label. 50 to 200 of these are useful.

    Example: headcount judge answers.csv --human gold --judge gpt,llama

    Example: headcount judge answers.csv --human gold --judge 'judge_*' --by date:month -o shares.csv --html judges.html

    Example: headcount judge answers.csv --human gold --judge gpt --map phrases.csv --half-width 0.03
    """
    from headcount.cli.output import check_format, check_outputs, show_result
    from headcount.desk import judge_tables, read_answer_map
    from headcount.stream.groups import grouping_title

    if plot is not None and plot.suffix.lower() not in (".svg", ".png", ".pdf"):
        raise DataError(f"--plot {plot}: plots are written as .svg, .png or .pdf; name such a file.")
    if str(html) == "-":
        raise DataError("--html needs a file; -o - and --json write to standard output.")
    check_outputs((html, plot), (*files, *([mapping] if mapping else [])), table=output)
    check_format(form, as_json, output)
    names = [name.strip() for given in judges or [] for name in given.split(",") if name.strip()]
    with progress_bar("Reading") as progress:
        result = judge_tables(
            files,
            human=human,
            judges=names,
            scores=scores or [],
            by=rows.grouping,
            where=rows.conditions,
            ids=ids,
            classes=None if classes is None else class_names(classes),
            mapping=None if mapping is None else read_answer_map(mapping),
            level=level,
            half_width=half_width,
            estimand="population" if population else "sample",
            progress=progress,
        )
    by = grouping_title(rows.grouping)
    contents: dict[Path, bytes] = {}
    if html is not None:
        from headcount.report.judges_page import page_of_judges

        contents[html] = page_of_judges(result, label=human, by=by, files=files).encode()
    if plot is not None:
        from headcount.report.judges_page import plot_of_judges

        contents[plot] = plot_of_judges(result, plot.suffix.lower()[1:])
    answer = {"human": human, "by": rows.grouping, **result.to_dict()}
    show_result(output, as_json, result.records(), answer, lambda: _print(result, by), contents, form)


def _print(result: Any, by: str) -> None:
    """Print the answer, what to make of it, the judges, and warnings."""
    from headcount.cli.output import print_table

    total = result.total
    interval = f"{100 * result.level:g} % interval"
    echo(f"{result.n_items:,} items, {result.n_labelled:,} with a human label")
    rows = [
        [
            str(label),
            *_share(total.shares[j], total.low[j], total.high[j]),
            *_share(total.shares_alone[j], total.low_alone[j], total.high_alone[j]),
        ]
        for j, label in enumerate(result.classes)
    ]
    columns = [("share", "right"), (interval, "right"), ("labels alone", "right"), (interval, "right")]
    print_table("", [("class", "left"), *columns], rows)
    echo()
    for sentence in result.sentences():
        echo(sentence)
    if result.groups:
        _print_groups(result, by)
    _print_judges(result)
    if result.warnings:
        echo()
    for warning in result.warnings:
        echo(f"- {warning}")


def _print_groups(result: Any, by: str) -> None:
    from headcount.cli.output import print_table

    rows = []
    for group in result.groups:
        for j, label in enumerate(result.classes):
            head = [printable(group.label), f"{group.n_items:,}", f"{group.n_labelled:,}"] if j == 0 else ["", "", ""]
            shifted = (
                ("", "")
                if group.shifted is None
                else _share(group.shifted[j], group.shifted_low[j], group.shifted_high[j])
            )
            rows.append([*head, str(label), *_share(group.shares[j], group.low[j], group.high[j]), *shifted])
    interval = f"{100 * result.level:g} % interval"
    heads = [(by or "group", "left"), ("items", "right"), ("labels", "right"), ("class", "left")]
    figures = [("from labels", "right"), (interval, "right"), ("label shift", "right"), (interval, "right")]
    echo()
    print_table("", [*heads, *figures], rows)
    echo(
        "\nFrom labels: holds whatever the judges are worth in the group. Label shift: takes the judges to err in all groups "
        "alike, and needs no label of the group."
    )


def _print_judges(result: Any) -> None:
    from headcount.cli.output import print_table

    rows = []
    for report in sorted(result.judges, key=lambda one: -one.effective_labels):
        worst = max(range(len(result.classes)), key=lambda j: abs(report.bias[j]))
        bias = f"{100 * report.bias[worst]:+.1f} ({100 * report.bias_low[worst]:+.1f} to {100 * report.bias_high[worst]:+.1f})"
        rows.append(
            [
                report.name,
                "keep" if report.name in result.kept.names else "",
                *(_ends(report.accuracy, 100.0, " %"), _ends(report.kappa, 1.0, "")),
                f"{result.classes[worst]} {bias}",
                f"{report.n_abstained:,}",
                f"{report.effective_labels:,.0f}",
            ]
        )
    names = ("agrees with humans", "kappa", "largest bias, points", "no class", "worth, labels")
    echo()
    print_table("", [("judge", "left"), ("", "left"), *((name, "right") for name in names)], rows)
    if len(result.classes) > _MOST_CONFUSION:
        return
    by_worth = sorted(result.judges, key=lambda one: -one.effective_labels)
    shown = [one for one in by_worth if one.name in result.kept.names] or by_worth[:1]
    for report in shown[:_MOST_JUDGES_CONFUSED]:
        some = report.confusion[:, -1].any()
        heads = [*map(str, result.classes), *(["no class"] if some else [])]
        table = [
            [str(label), *(f"{n:,}" for n in row[: len(heads)])]
            for label, row in zip(result.classes, report.confusion, strict=True)
        ]
        echo(f"\nItems with a human label (rows) by the answer of {report.name}")
        print_table("", [("human", "left"), *((name, "right") for name in heads)], table)


def _share(share: float, low: float, high: float) -> tuple[str, str]:
    if share != share:
        return "-", ""
    return f"{100 * share:z.1f} %", f"{100 * low:z.1f} to {100 * high:z.1f}"


def _ends(values: Any, scale: float, unit: str) -> str:
    digits = 0 if scale == 100.0 else 2
    value, low, high = (f"{scale * v:z.{digits}f}" for v in values)
    return f"{value}{unit} ({low} to {high})"
