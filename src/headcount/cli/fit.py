"""`headcount fit` and `headcount inspect`: fit a model on a labelled table, and show what a model file contains."""

from collections import Counter
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import typer

from headcount.cli.options import METHOD, option
from headcount.exceptions import DataError

__all__ = ["fit", "inspect"]

_MAX_COLUMNS = 8
"""Columns of a model that are named; more are counted."""


def fit(
    file: Annotated[
        str, typer.Argument(help="The labelled table: CSV or TSV, also gzipped, or Parquet; - is standard input.")
    ],
    label: Annotated[str, typer.Option("--label", help="The column of labels.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The model file to write.")],
    text: Annotated[str | None, option("--text", help="The column of texts.")] = None,
    features: Annotated[
        str | None,
        option(
            "--features",
            help="Columns of numbers or embeddings instead of texts: names and patterns, e.g. age,income or 'e*'.",
        ),
    ] = None,
    method: METHOD = "auto",
    learner: Annotated[str, typer.Option("--learner", help="auto, lr, nb, forest or svm.")] = "auto",
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
    seed: Annotated[int, typer.Option("--seed", help="Seed of everything random.", min=0)] = 0,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Jobs to run in parallel; -1: one for each core.")] = -1,
) -> None:
    """Fit a quantifier on a labelled table and write it to a model file.

    The methods and learners that suit the data are tried, each optimised for the error of the shares, and the best that has an
    interval is kept. The items that judged it do not validate it.

    Example: headcount fit reviews.csv --text review --label stars -o stars.headcount
    """
    from headcount.cli.output import check_outputs
    from headcount.desk import fit_table
    from headcount.modelfile import save_model

    check_outputs((output,), (file,))
    if jobs == 0:
        raise DataError("--jobs must not be 0: use 1 for one job at a time, -1 for one on each core.")
    if budget is not None and not isfinite(budget):
        raise DataError("--budget must be a finite number of seconds; omit it to try everything.")
    if output.is_dir() or not output.name:
        raise DataError(f"{output} is a folder: name a file to write the model to.")
    if not output.parent.is_dir():
        raise DataError(f"{output} can't be written: there is no folder {output.parent}.")
    model = fit_table(
        file,
        label=label,
        text=text,
        features=features,
        method=method,
        learner=learner,
        budget=budget,
        shift=shift,
        any_method=any_method,
        random_state=seed,
        n_jobs=jobs,
    )
    save_model(model, output)
    _print_model(model)
    typer.echo(f"\nWritten: {output}\nNext: headcount estimate {output} NEW.csv --by COLUMN")


def inspect(
    model: Annotated[Path, typer.Argument(help="A model file.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Show what is in a model file: method, learner, classes, the labelled file, what else was tried.

    No code of the file is run. Example: headcount inspect stars.headcount
    """
    from headcount.cli.output import json_bytes, to_stdout
    from headcount.modelfile import load_model
    from headcount.modelfile.manifest import described

    loaded = load_model(model)
    if as_json:
        versions = dict(loaded.versions)
        headcount_version = versions.pop("headcount", "")
        manifest = described(loaded, loaded.written)
        to_stdout(json_bytes(manifest | {"headcount": headcount_version, "libraries": versions}))
    else:
        _print_model(loaded)


def _print_model(model: Any) -> None:
    from headcount.cli.output import print_table

    source, names = model.source, model.columns.names
    shares = ", ".join(f"{label} {100 * share:.1f} %" for label, share in source.get("shares", {}).items())
    more = f" and {len(names) - _MAX_COLUMNS} more" if len(names) > _MAX_COLUMNS else ""
    lines = [
        f"Method     {model.method}" + (f" over {model.learner}" if model.learner else ""),
        f"Reads      {model.columns.kind}: {', '.join(names[:_MAX_COLUMNS])}{more}",
        f"Labels     {model.columns.label}: {shares}",
        f"Made from  {source.get('name', '')}, {source.get('rows', 0):,} rows, fingerprint "
        f"{source.get('fingerprint', '')[:16]}, seed {model.seed}",
    ]
    if model.written:
        versions = ", ".join(f"{name} {number}" for name, number in model.versions.items())
        lines.append(f"Written    {model.written}, {versions}")
    typer.echo("\n".join(lines) + "\n")
    columns = [("method", "left"), ("learner", "left")]
    columns += [(name, "right") for name in ("AE", "behind the best", "chance to be best")]
    rows = [
        [
            tried["method"] + ("" if tried["interval"] else " (no interval)"),
            tried["learner"],
            f"{tried['ae']:.4f}",
            f"{tried['behind']:.4f} (s.e. {tried['behind_se'] or 0:.4f})",
            f"{100 * tried['p_best']:.0f} %",
        ]
        for tried in model.ranking
    ]
    print_table("Tried, by the mean absolute error of the shares of drawn samples", columns, rows)
    skipped = Counter(
        f"{' '.join(str(entry[key]) for key in ('method', 'learner') if key in entry)}: {entry['reason']}"
        for entry in model.skipped
    )
    for sentence, times in skipped.items():
        typer.echo(f"Skipped {sentence}" + (f" ({times} settings)" if times > 1 else ""))
