"""`headcount fit` and `headcount inspect`: fit a model on a labelled table, and show what a model file contains."""

from collections import Counter
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import typer

from headcount._escaping import printable
from headcount.cli.option_groups import Design, with_option_groups
from headcount.cli.options import CLASSES, METHOD, TRUST, option
from headcount.cli.output import echo
from headcount.exceptions import DataError
from headcount.modelfile.titles import LEARNER_TITLES, learner_title

__all__ = ["fit", "inspect"]

_KINDS = {"text": "text", "number": "numbers", "category": "categories", "date": "dates", "embedding": "embeddings"}
"""Kinds of mixed columns, and how they are called together."""
_FEWEST_IN_ORDER = 3
"""Classes whose order is shown: two have no order that matters."""
_MAX_COLUMNS = 8
"""Columns of a model that are named; more are counted."""


@with_option_groups
def fit(
    file: Annotated[
        str, typer.Argument(help="The labelled table: CSV or TSV, also gzipped, or Parquet; - is standard input.")
    ],
    label: Annotated[
        str, typer.Option("--label", help="The column of labels; several, separated by commas, make a model each.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The model file to write; with several labels, a folder.")
    ],
    text: Annotated[
        list[str] | None, option("--text", help="A column of texts; several, separated by commas or in turn.")
    ] = None,
    features: Annotated[
        list[str] | None,
        option(
            "--features",
            help="Other columns, of numbers, categories, dates or embeddings: names and patterns, e.g. age,region or 'e*'; "
            "zip:category says what a column is.",
        ),
    ] = None,
    drop: Annotated[
        list[str] | None, option("--drop", help="Columns to leave out: names and patterns, e.g. id,'note*'.")
    ] = None,
    method: METHOD = "auto",
    learner: Annotated[
        str,
        typer.Option(
            "--learner",
            help="auto, lr (logistic regression), nb (naive Bayes), forest, boosting, vote (of the three) or svm.",
        ),
    ] = "auto",
    budget: Annotated[
        float | None, option("--budget", help="Seconds to spend on choosing the model.", min=0.001)
    ] = None,
    shift: Annotated[
        str,
        typer.Option(
            "--shift",
            help="any: choose what is accurate whatever the new shares are; mild: if they are known to change little.",
        ),
    ] = "any",
    any_method: Annotated[
        bool, typer.Option("--any-method", help="Keep the best method even if it has no interval, such as CC or PCC.")
    ] = False,
    classes: CLASSES = None,
    stratum: Annotated[str | None, option("--stratum", help="The column of strata that rows were drawn from.")] = None,
    design: Design = Design(),  # noqa: B008 (never used: the options of the group have defaults of their own)
    seed: Annotated[int, typer.Option("--seed", help="Seed of everything random.", min=0)] = 0,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Jobs to run in parallel; -1: one for each core.")] = -1,
    trust: TRUST = False,
) -> None:
    """Fit a quantifier on a labelled table and write it to a model file.

    The methods and learners that suit the data are tried, each optimised for the error of the shares, and the best that has an
    interval is kept.

    Example: headcount fit reviews.csv --text review --label stars -o stars.headcount

    Example: headcount fit tickets.csv --text subject,body --features 'price,region,opened' --label team -o team.headcount

    Example: headcount fit survey.csv --text answer --label topic,tone,urgent -o models

    Example: headcount fit survey.csv --text answer --label topic --weight w --stratum region --cluster household -o topic.headcount
    """
    from headcount.cli.model import class_names
    from headcount.cli.output import check_outputs
    from headcount.desk import fit_table
    from headcount.modelfile import save_model

    _check_method(method)
    labels = _labels_asked(file, label)
    if len(labels) > 1 and not text and not features:
        raise DataError(
            "With several labels, name the texts (--text COLUMN) or the columns of numbers (--features COLUMNS)."
        )
    targets = [output / f"{name}.headcount" for name in labels] if len(labels) > 1 else [output]
    if len(labels) > 1 and output.is_file():
        raise DataError(f"{output} is a file: name a folder to write the models of {len(labels)} labels to.")
    if not output.parent.is_dir():
        raise DataError(f"{output} can't be written: there is no folder {output.parent}.")
    check_outputs(targets, (file,), folders=[output] if len(labels) > 1 else [])
    if jobs == 0:
        raise DataError("--jobs must not be 0: use 1 for one job at a time, -1 for one on each core.")
    if budget is not None and not isfinite(budget):
        raise DataError("--budget must be a finite number of seconds; omit it to try everything.")
    for name, target in zip(labels, targets, strict=True):
        model = fit_table(
            file,
            label=name,
            text=text or None,
            features=features or None,
            drop=[*(drop or ()), *(other for other in labels if other != name)] or None,
            method=method,
            learner=learner,
            budget=budget,
            shift=shift,
            any_method=any_method,
            classes=None if classes is None else class_names(classes),
            design=design.columns(stratum),
            random_state=seed,
            n_jobs=jobs,
        )
        target.parent.mkdir(exist_ok=True)
        save_model(model, target, trust=trust)
        _print_model(model)
        echo(f"\nWritten: {target}\n" if len(labels) > 1 else f"\nWritten: {target}")
    echo(f"Next: headcount estimate {output} NEW.csv --by COLUMN")


def _check_method(name: str) -> None:
    """Raise if there is no such method, under its own name or another one, naming only those that are fitted over a learner."""
    from headcount._validation import quoted
    from headcount.quantifiers import list_methods

    methods = list_methods()
    names = {name.lower() for method in methods for name in (method.name, *method.aliases)}
    if name.lower() == "auto" or "." in name or name.lower() in names:
        return
    fitted = [method.name for method in methods if not method.brings_learner and method.group != "baseline"]
    raise DataError(
        f"There is no method {name!r}. fit takes auto, {quoted(fitted, 50)}, or your own as package.module:Class."
    )


def _labels_asked(file: str, label: str) -> list[str]:
    """Return the columns of labels that are asked for; a column whose name contains a comma takes precedence."""
    names = [name.strip() for name in label.split(",") if name.strip()]
    if len(names) < 2:
        return [label]
    from headcount._validation import quoted
    from headcount.tables import TableFile

    if file == "-" or Path(file).is_fifo():
        raise DataError("Models of several labels read the table several times: give a file, not standard input.")
    table = TableFile(file)
    if label in table.columns:
        return [label]
    table.require(names, ", named by --label")
    twice = sorted({name for name in names if names.count(name) > 1 or "/" in name})
    if twice:
        raise DataError(
            f"--label must name columns once each, without a slash in the name; not so for {quoted(twice)}."
        )
    return names


def inspect(
    model: Annotated[Path, typer.Argument(help="A model file.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Show what is in a model file: method, learner, classes, the labelled file, what else was tried.

    No code of the file is run. Example: headcount inspect stars.headcount
    """
    from headcount.cli.output import json_bytes, to_stdout
    from headcount.modelfile import read_summary

    summary = read_summary(model)
    if as_json:
        to_stdout(json_bytes(summary.description))
    else:
        _print_model(summary)
        if trusted := summary.description.get("trusted"):
            echo(
                f"\nIt holds {', '.join(map(printable, trusted))}: reading it runs code of other packages, and needs --trust. "
                "Trust only files that you made yourself."
            )


def _why_kept(ranking: Sequence[dict[str, Any]], kept: int) -> str:
    """Say why a row of the ranking was kept, and what to expect of it.

    >>> pacc = {"method": "PACC", "ae": 0.03, "expected": 0.034, "interval": True}
    >>> _why_kept([{"method": "CC", "ae": 0.02, "interval": False}, pacc], 1)
    'Kept: the best that can say how sure it is (an interval). Expect shares to be off by about 3.4 points in samples like these.'
    """
    if kept == 0:
        reason = "the least error"
    elif not any(tried["interval"] for tried in ranking[:kept]):
        reason = "the best that can say how sure it is (an interval)"
    else:
        reason = "the best that tells all classes apart"
    expected = ranking[kept].get("expected") or ranking[kept]["ae"]
    return f"Kept: {reason}. Expect shares to be off by about {100 * expected:.1f} points in samples like these."


def _columns_read(columns: Any) -> str:
    """Say which columns a model reads, and what they are to it.

    >>> from headcount.modelfile import Columns
    >>> from headcount.tables import ColumnRole
    >>> roles = ColumnRole("text"), ColumnRole("text"), ColumnRole("category", n_values=7)
    >>> _columns_read(Columns("mixed", ("subject", "body", "region"), "team", roles))
    'text: subject, body; categories: region (7 values)'
    """
    if columns.kind != "mixed":
        return f"{columns.kind}: {_listed(columns.names)}"
    parts = []
    for kind, title in _KINDS.items():
        roles = {name: role for name, role in zip(columns.names, columns.roles, strict=True) if role.kind == kind}
        sizes = {
            name: f"{role.n_values} values" if role.n_values else f"{role.size} numbers" if role.size else ""
            for name, role in roles.items()
        }
        if roles:
            parts.append(f"{title}: {_listed([f'{name} ({size})' if size else name for name, size in sizes.items()])}")
    return "; ".join(parts)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MAX_COLUMNS} more" if len(names) > _MAX_COLUMNS else ""
    return ", ".join(map(printable, names[:_MAX_COLUMNS])) + more


def _print_model(model: Any) -> None:
    from headcount.cli.output import print_table

    source = model.source
    order = {str(label): place for place, label in enumerate(model.classes)}
    known = sorted(source.get("shares", {}).items(), key=lambda pair: order.get(pair[0], len(order)))
    shares = ", ".join(f"{printable(label)} {100 * share:z.1f} %" for label, share in known)
    lines = [
        f"Method     {model.method}" + (f" over {learner_title(model.learner)}" if model.learner else ""),
        f"Reads      {_columns_read(model.columns)}",
        f"Labels     {printable(str(model.columns.label))}: {shares}",
        f"Made from  {source.get('name', '')}, {source.get('rows', 0):,} rows, fingerprint "
        f"{source.get('fingerprint', '')[:16]}, seed {model.seed}",
    ]
    if model.ordered and len(model.classes) >= _FEWEST_IN_ORDER:
        names = " < ".join(printable(str(label)) for label in model.classes)
        lines.insert(3, f"Order      {names}")
    if model.written:
        versions = ", ".join(f"{name} {number}" for name, number in model.versions.items())
        lines.append(f"Written    {model.written}, {versions}")
    echo("\n".join(lines) + "\n")
    if model.columns.notes:
        echo("\n".join(model.columns.notes) + "\n")
    columns = [("", "left"), ("method", "left"), ("learner", "left")]
    columns += [(name, "right") for name in ("shares off by", "more than the best", "chance to be best")]
    kept = next((place for place, tried in enumerate(model.ranking) if tried.get("kept")), None)
    rows = [
        [
            "kept" if place == kept else "",
            tried["method"] + ("" if tried["interval"] else " (no interval)"),
            LEARNER_TITLES.get(tried["learner"], tried["learner"]),
            f"{100 * tried['ae']:.2f} points",
            f"{100 * tried['behind']:.2f} (± {100 * (tried['behind_se'] or 0):.2f})",
            f"{100 * (tried['p_best'] or 0):.0f} %",
        ]
        for place, tried in enumerate(model.ranking)
    ]
    print_table("Tried on samples of labelled items with other shares", columns, rows)
    if kept is not None:
        echo(_why_kept(model.ranking, kept))
    for sentence in _not_tried(model.skipped):
        echo(sentence)


def _not_tried(skipped: Sequence[dict[str, Any]]) -> list[str]:
    """Say what was not tried, all of one reason together.

    >>> _not_tried([{"learner": "nb", "reason": "not for numbers"}, {"learner": "svm", "reason": "not for numbers"}])
    ['Not tried, not for numbers: naive Bayes, support vector machine']
    """
    by_reason: dict[str, Counter[str]] = {}
    for entry in skipped:
        learner = str(entry.get("learner", ""))
        title = LEARNER_TITLES.get(learner, learner)
        what = " over ".join(filter(None, (str(entry.get("method", "")), title)))
        by_reason.setdefault(str(entry["reason"]), Counter())[what] += 1
    return [
        f"Not tried, {reason}: "
        + _listed([f"{what} ({times} settings)" if times > 1 else what for what, times in names.items()])
        for reason, names in by_reason.items()
    ]
