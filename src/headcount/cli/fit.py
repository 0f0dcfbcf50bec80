"""`headcount fit` and `headcount inspect`: from a labelled file to a model, and what is in one."""

from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = ["fit", "inspect"]


def fit(
    file: Annotated[
        str, typer.Argument(help="The labelled table: CSV or TSV, also gzipped, or Parquet; - is standard input.")
    ],
    label: Annotated[str, typer.Option("--label", help="The column of labels.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The model file to write.")],
    text: Annotated[str | None, typer.Option("--text", help="The column of texts.", show_default=False)] = None,
    features: Annotated[
        str | None,
        typer.Option(
            "--features",
            help="Columns of numbers or embeddings instead of texts: names and patterns, e.g. age,income or 'e*'.",
            show_default=False,
        ),
    ] = None,
    method: Annotated[str, typer.Option("--method", help="auto, CC, PCC, ACC, PACC, SLD or HDy.")] = "auto",
    learner: Annotated[str, typer.Option("--learner", help="auto, lr, nb, forest or svm.")] = "auto",
    budget: Annotated[
        float | None, typer.Option("--budget", help="Seconds to spend on choosing.", show_default=False, min=0.001)
    ] = None,
    shift: Annotated[
        str,
        typer.Option(
            "--shift",
            help="any: choose what does well whatever the new shares; mild: if they are known to move little.",
        ),
    ] = "any",
    seed: Annotated[int, typer.Option("--seed", help="Of all that is random.", min=0)] = 0,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Jobs at a time; -1: as many as there are cores.")] = -1,
) -> None:
    """Fit a quantifier on a labelled table and write it to a model file.

    The methods and learners that suit the data are tried, each optimised for the error of the shares, and the best is kept.

    Example: headcount fit reviews.csv --text review --label stars -o stars.headcount
    """
    from headcount.cli.labelled import fit_table
    from headcount.cli.output import check_places
    from headcount.exceptions import DataError
    from headcount.modelfile import save_model

    check_places((output,), (file,))
    if jobs == 0:
        raise DataError("--jobs must not be 0: say 1 for one at a time, -1 for as many as there are cores.")
    if budget is not None and not isfinite(budget):
        raise DataError("--budget is a number of seconds; leave it out to try everything.")
    if output.is_dir() or not output.name:
        raise DataError(f"{output} is a folder: name a file to write the model to.")
    if not output.parent.is_dir():
        raise DataError(f"{output} can't be written: there is no folder {output.parent}.")
    options: dict[str, Any] = {"text": text, "features": features, "method": method, "learner": learner}
    model = fit_table(file, label=label, budget=budget, shift=shift, seed=seed, jobs=jobs, **options)
    save_model(model, output)
    _tell(model)
    typer.echo(f"\nWritten: {output}\nNext: headcount estimate {output} NEW.csv --by COLUMN")


def inspect(
    model: Annotated[Path, typer.Argument(help="A model file.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Show what is in a model file: method, learner, classes, where it comes from, what else was tried.

    Nothing of the file is run. Example: headcount inspect stars.headcount
    """
    from headcount.cli.output import as_json as json_of
    from headcount.cli.output import to_stdout
    from headcount.modelfile import load_model
    from headcount.modelfile.manifest import described

    known = load_model(model)
    if as_json:
        facts = described(known, known.written) | {"headcount": known.versions.get("headcount", "")}
        to_stdout(json_of(facts | {"libraries": {k: v for k, v in known.versions.items() if k != "headcount"}}))
    else:
        _tell(known)


def _tell(model: Any) -> None:
    from headcount.cli.output import print_table

    source = model.source
    shares = ", ".join(f"{name} {100 * share:.1f} %" for name, share in source.get("shares", {}).items())
    names = model.columns.names
    columns = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    lines = [
        f"Method     {model.method}" + (f" over {model.learner}" if model.learner else ""),
        f"Reads      {model.columns.kind}: {columns}",
        f"Labels     {model.columns.label}: {shares}",
        f"Made from  {source.get('name', '')}, {source.get('rows', 0):,} rows, fingerprint "
        f"{source.get('fingerprint', '')[:16]}, seed {model.seed}",
    ]
    if model.written:
        versions = ", ".join(f"{name} {number}" for name, number in model.versions.items())
        lines.append(f"Written    {model.written}, {versions}")
    typer.echo("\n".join(lines) + "\n")
    heads = (
        ("method", "left"),
        ("learner", "left"),
        ("AE", "right"),
        ("behind the best", "right"),
        ("chance to be best", "right"),
    )
    rows = [
        [
            one["method"] + ("" if one["interval"] else " (no interval)"),
            one["learner"],
            f"{one['ae']:.4f}",
            f"{one['behind']:.4f} (s.e. {one['behind_se'] or 0:.4f})",
            f"{100 * one['p_best']:.0f} %",
        ]
        for one in model.ranking
    ]
    print_table("Tried, by the mean absolute error of the shares of drawn samples", heads, rows)
    reasons: dict[str, int] = {}
    for one in model.skipped:
        what = " ".join(str(one[key]) for key in ("method", "learner") if key in one)
        told = f"{what}: {one['reason']}"
        reasons[told] = reasons.get(told, 0) + 1
    for told, times in reasons.items():
        typer.echo(f"Skipped {told}" + (f" ({times} settings)" if times > 1 else ""))
