"""Options that the commands over a model and a pile have in common."""

from typing import Annotated

import typer

__all__ = [
    "BY",
    "CONFUSION",
    "DASK",
    "DECISIONS",
    "FILES",
    "LABEL",
    "LEAST",
    "LEVEL",
    "METHOD",
    "MODEL",
    "PILE",
    "SCORED",
    "SCORES",
]

MODEL = Annotated[
    str,
    typer.Argument(
        help="A model file; with --scored a labelled table with scores; with --confusion a confusion matrix."
    ),
]
FILES = Annotated[
    list[str],
    typer.Argument(
        help="The items: CSV or TSV (also gzipped), Parquet, a folder of Parquet files, or - for standard input."
    ),
]
BY = Annotated[
    str | None,
    typer.Option(
        "--by",
        help="A column to group by; of dates also COLUMN:day, week, month, quarter or year.",
        show_default=False,
    ),
]
SCORED = Annotated[
    bool, typer.Option("--scored", help="Scores are ready: MODEL is a labelled table with the same score columns.")
]
CONFUSION = Annotated[
    bool,
    typer.Option("--confusion", help="MODEL is a confusion matrix (rows: true), the items a table of class and count."),
]
LABEL = Annotated[
    str | None, typer.Option("--label", help="With --scored: the column of true labels.", show_default=False)
]
SCORES = Annotated[
    str | None,
    typer.Option(
        "--scores",
        help="With --scored: the score columns, as neg=p_neg,pos=p_pos, or 'p_*', or in the order of the classes "
        "[default: score_*].",
        show_default=False,
    ),
]
DECISIONS = Annotated[
    str | None,
    typer.Option("--decisions", help="With --scored: a column of decided labels instead.", show_default=False),
]
METHOD = Annotated[
    str, typer.Option("--method", help="With --scored: auto, CC, PCC, ACC, PACC, SLD or HDy.", show_default="auto")
]
LEVEL = Annotated[float, typer.Option("--level", help="Of the intervals.")]
PILE = Annotated[
    bool, typer.Option("--pile", help="The shares among these very items, not in the process they came from.")
]
LEAST = Annotated[int, typer.Option("--min-items", help="Smaller groups are reported as too small.", min=1)]
DASK = Annotated[str | None, typer.Option("--dask", help="Address of a Dask scheduler to read on.", show_default=False)]
