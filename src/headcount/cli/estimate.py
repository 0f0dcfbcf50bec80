"""`headcount estimate`: shares of new items, by a model or by the scores of a black box."""

from pathlib import Path
from typing import Any, cast

from headcount.cli import options
from headcount.cli.model import model_from, models_in
from headcount.cli.option_groups import BlackBox, Design, Figures, Precision, Rows, TargetLabels, with_option_groups
from headcount.cli.output import echo
from headcount.cli.progress import progress_bar
from headcount.exceptions import DataError

__all__ = ["estimate"]


@with_option_groups
def estimate(
    model: options.MODEL,
    files: options.FILES,
    *,
    rows: Rows,
    total: options.TOTAL = False,
    borrow: options.BORROW = False,
    figures: Figures,
    against: options.COMPARE = None,
    output: options.OUTPUT = None,
    as_json: options.JSON = False,
    form: options.FORMAT = None,
    html: options.HTML = None,
    plot: options.PLOT = None,
    precision: Precision,
    calibrated: options.CALIBRATED = False,
    min_items: options.MIN_ITEMS = 30,
    target: TargetLabels,
    design: Design,
    black_box: BlackBox,
    dask: options.DASK = None,
    statistics: options.STATISTICS = False,
) -> None:
    """Estimate the share of each class among new items, for each group, with intervals and a verdict.

    Files are read in batches: they may be larger than memory. With labels of some of the new items (--labels, --labels-from), the
    answer holds whatever has changed since the model was made; what it would be if only shares have changed stands beside it.

    Example: headcount estimate stars.headcount new.parquet --by date:month -o shares.csv --html shares.html

    Example: headcount estimate --scored labelled.csv new.parquet --label y --scores neg=p0,pos=p1 --by month

    Example: headcount estimate stars.headcount new.csv --by shop,date:year --where 'country=DE,AT' --value stars --total

    Example: headcount estimate stars.headcount new.csv --by date:month --at-least 4 --at-most 2 --quantile 0.5

    Example: headcount estimate models new.csv --by date:month -o shares.csv

    Example: headcount estimate stars.headcount new.csv --by date:quarter --labels checked --html shares.html

    Example: headcount estimate stars.headcount new.csv --by date:quarter --labels-from plan.csv

    Example: headcount estimate stars.headcount new.csv --by date:quarter --cluster author --weight w --stratum country

    Example: headcount estimate --scored labelled.csv --label y --scores neg=p0,pos=p1 --by month --statistics result.csv
    """
    from headcount.cli.compare import print_comparisons
    from headcount.cli.labelled import print_labelled
    from headcount.cli.output import check_format, check_outputs, print_drawn, print_shares, print_verdicts, show_result
    from headcount.desk import estimate_tables, provenance
    from headcount.desk.compare import check_against, compared
    from headcount.stream.groups import group_label, grouping_title

    by, asked = rows.grouping, figures.asked
    if plot is not None and plot.suffix.lower() not in (".svg", ".png", ".pdf"):
        raise DataError(f"--plot {plot}: plots are written as .svg, .png or .pdf; name such a file.")
    if str(html) == "-":
        raise DataError("--html needs a file; -o - and --json write to standard output.")
    read = (model, *files, *([target.labels_from] if target.labels_from else []))
    check_outputs((html, plot), read, table=output)
    check_format(form, as_json, output)
    if against is not None:
        check_against(against)
    if by is None and (total or borrow or against is not None):
        option = "--total" if total else "--compare" if against is not None else "--borrow-strength"
        raise DataError(f"{option} is about groups: name a column to group by with --by.")
    if target.given and against is not None:
        raise DataError(
            "--compare takes no labels of new items: it compares shares under label shift. Omit one of them."
        )
    if borrow and against is not None:
        raise DataError(
            "--borrow-strength draws groups towards each other, which would hide how they differ: omit it or --compare."
        )
    several = Path(model).is_dir() and not (black_box.scored or black_box.confusion)
    if several and (html is not None or plot is not None):
        raise DataError(f"{'--html' if html is not None else '--plot'} takes one model; {model} is a folder of models.")
    if several and target.given:
        raise DataError(f"Labels of new items are of one model's classes; {model} is a folder of models: name one.")
    models = models_in(model, black_box) if several else {"": model_from(model, files, black_box, dask)}
    for loaded in models.values():
        asked.check(loaded.classes, loaded.ordered)
    answers: dict[str, tuple[Any, Any]] = {}
    for title, loaded in models.items():
        with progress_bar(f"Reading {title}".strip()) as progress:
            groups = estimate_tables(
                loaded,
                files,
                by=by,
                where=rows.conditions,
                total=total,
                level=precision.level,
                estimand=precision.estimand,
                assume="calibrated" if calibrated else None,
                min_items=min_items,
                counts=black_box.confusion,
                cluster=dask,
                statistics=statistics,
                **target.settings(),
                design=design.columns(None if target.given else target.stratum),
                borrow_strength=borrow,
                progress=progress,
            )
        comparisons = None if against is None else compared(groups, cast("Any", against))
        groups = asked.of_groups(groups)
        if asked.order is not None:
            comparisons = comparisons and comparisons.in_class_order(asked.order)
        answers[title] = groups, comparisons
    by_title = grouping_title(by)
    facts = {title: provenance(loaded, files, model) for title, loaded in models.items()}
    contents: dict[Path, bytes] = {}
    if html is not None:
        from headcount.report.shares_page import page_of_shares, page_title

        title = page_title(models[""].columns.label, by_title)
        contents[html] = page_of_shares(answers[""][0], title=title, by=by_title, facts=facts[""]).encode()
    if plot is not None:
        from headcount.report.shares_plot import plot_shares

        contents[plot] = plot_shares(answers[""][0], plot.suffix.lower()[1:], x_label=by_title)

    def print_estimates() -> None:
        for i, (title, (groups, comparisons)) in enumerate(answers.items()):
            if several:
                echo(f"\n{title}" if i else title)
            if groups.labelled is not None:
                print_labelled(groups, by_title, models[title].columns.label or "")
                continue
            print_shares(groups, by_title, models[title].columns.label or "")
            if groups.drawn is not None:
                echo()
                print_drawn(groups, by_title, models[title].columns.label or "")
            labels = [group_label(name) for name in groups.names]
            print_verdicts(labels, groups.verdicts, groups.advice, by_title, _notes(groups))
            if comparisons is not None:
                echo()
                print_comparisons(comparisons)

    by_label = {title: _json_answer(*answer, by, facts[title]) for title, answer in answers.items()}
    records = [
        ({"label": title} if several else {}) | record
        for title, (groups, _) in answers.items()
        for record in groups.records()
    ]
    answer = {"labels": by_label} if several else by_label[""]
    show_result(output, as_json, records, answer, print_estimates, contents, form)


def _json_answer(groups: Any, comparisons: Any, by: str | None, facts: dict[str, str]) -> dict[str, Any]:
    from headcount._validation import plain
    from headcount.cli.compare import json_of_changes
    from headcount.cli.labelled import labelled_answer
    from headcount.cli.output import in_command_words
    from headcount.stream.group_shares import none_if_nan, whole_number
    from headcount.stream.groups import group_label

    counts = dict(zip(("count", "count_low", "count_high"), groups.counts, strict=True))

    def ends(g: int, j: int) -> dict[str, float | None]:
        numbers = {"share": groups.shares, "share_low": groups.low, "share_high": groups.high}
        shares = {name: none_if_nan(values[g, j]) for name, values in numbers.items()}
        drawn: dict[str, float | None] = groups.drawn_of(g, j)
        return shares | {name: whole_number(values[g, j]) for name, values in counts.items()} | drawn

    classes = [str(plain(label)) for label in groups.classes]
    by_group: dict[str, dict[str, Any]] = {
        group_label(name): {
            "n": int(groups.n_items[g]),
            "verdict": groups.verdicts[g],
            "advice": groups.advice[g],
            "shares": {label: ends(g, j) for j, label in enumerate(classes)},
            **_design_effects_of(groups, g, classes),
            "covariance": groups.covariance_of(g),
            **groups.figures_of(g),
            **labelled_answer(groups, g),
        }
        for g, name in enumerate(groups.names)
    }
    if groups.total is not None:
        by_group |= _json_answer(groups.total, None, None, {})["groups"]
    settings = {name: getattr(groups, name) for name in ("level", "estimand", "method", "assume")}
    settings["note"] = in_command_words(groups.note)
    settings |= {"classes": classes, "ordered": groups.ordered}
    if groups.why_no_figures:
        settings["figures_note"] = in_command_words(groups.why_no_figures)
    if groups.drawn is not None:
        settings["drawn_towards"] = dict(zip(classes, groups.drawn.mean.tolist(), strict=True))
    answer = {"by": by, **settings, "from": facts, "groups": by_group}
    if groups.labelled is not None:
        answer |= {"answer": "design-based", "notes": [*groups.notes, *groups.labelled.sentences(groups.names)]}
    if comparisons is not None:
        answer["compared"] = json_of_changes(comparisons) | {"changes": comparisons.records()}
    return answer


def _design_effects_of(groups: Any, g: int, classes: list[str]) -> dict[str, Any]:
    """Return the design effect of each share of a group, and its clusters; empty without a design."""
    from headcount.stream.group_shares import none_if_nan

    effects = groups.design_effects
    if effects is None:
        return {}
    return {"design_effect": {label: none_if_nan(effects[g, j]) for j, label in enumerate(classes)}}


def _design_note(effects: Any) -> str:
    """Say what clusters, weights and strata make of the number of items."""
    known = effects[effects == effects]
    if not known.size:
        return ""
    least, most = float(known.min()), float(known.max())
    times = f"{most:.1f}" if most - least < 0.05 else f"{least:.1f} to {most:.1f}"
    return (
        f"Counted for how the rows were drawn, variances are {times} times those of as many independent rows of equal weight (the "
        "design effect)."
    )


def _notes(groups: Any) -> list[str]:
    """Say what the intervals mean, or why there are none."""
    from headcount.cli.output import in_command_words

    if groups.note:
        return [f"There are no intervals, so how sure the shares are is not known: {in_command_words(groups.note)}"]
    about = (
        "It is about exactly these items."
        if groups.estimand == "sample"
        else "It is about all items that their source might send; for exactly these items it is narrower (--sample)."
    )
    notes = [
        f"The interval holds the true value in about {100 * groups.level:g} of 100 cases. {about} Method: {groups.method}."
    ]
    if groups.why_no_figures:
        notes.append(in_command_words(groups.why_no_figures))
    effects = groups.design_effects
    if effects is not None:
        notes.append(_design_note(effects))
    if groups.assume == "calibrated":
        notes.append(
            "The intervals assume that the classifier's probabilities are calibrated: where they are not, intervals are too "
            "short."
        )
    if groups.drawn is not None:
        notes.append(
            f"Intervals of shares drawn towards the other groups hold the true value in about {100 * groups.level:g} of 100 "
            "groups, on average over these, not in each: a group unlike all others is better judged by itself."
        )
    return notes
