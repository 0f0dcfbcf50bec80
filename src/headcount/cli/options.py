"""Arguments and options that commands have in common, one by one; `option_groups` has those that go together."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

option = partial(typer.Option, show_default=False)
"""An option without a default to show."""


MODEL = Annotated[
    str,
    typer.Argument(
        help="A model file, or (estimate) a folder of them; with --scored a labelled table; with --confusion a confusion matrix."
    ),
]
FILES = Annotated[
    list[str],
    typer.Argument(
        help="Tables: CSV, TSV or JSON lines (also packed), Parquet, Excel, a folder, file.db::table, or - for standard input."
    ),
]
BY = Annotated[
    list[str] | None,
    option(
        "--by",
        help="A column to group by; for dates also COLUMN:day, week, month, quarter or year. Several: --by a --by b, or --by a,b.",
    ),
]
CLASSES = Annotated[
    str | None,
    option(
        "--ordered",
        "--classes",
        help="The classes from the lowest to the highest, as in bad,fair,good [default: sorted; numbers and dates are in order].",
    ),
]
WHERE = Annotated[
    list[str] | None,
    option(
        "--where",
        help="Read only rows that meet a condition: 'country=DE,AT', 'price>=10', 'sold<2024-07-01'. Given several times, all "
        "must be met.",
    ),
]
TOTAL = Annotated[bool, typer.Option("--total", help="Add a row of all groups together, as without --by.")]
BORROW = Annotated[
    bool,
    typer.Option(
        "--borrow-strength",
        help="For many small groups: also give each group's shares drawn towards the other groups, as far as these are alike.",
    ),
]
VALUE = Annotated[
    str | None,
    option(
        "--value",
        help="Add the mean over classes with its interval: a name for it where the classes are numbers (stars), or the value of "
        "each class (neg=0,pos=1).",
    ),
]
AT_LEAST = Annotated[
    list[str] | None,
    option(
        "--at-least", help="Add the share of a class and all above it, as in --at-least 4; several times for several."
    ),
]
AT_MOST = Annotated[
    list[str] | None,
    option(
        "--at-most", help="Add the share of a class and all below it, as in --at-most 2; several times for several."
    ),
]
QUANTILE = Annotated[
    list[float] | None,
    option("--quantile", help="Add a quantile of ordered classes: 0.5 is the median; several times for several."),
]
COMPARE = Annotated[
    str | None,
    option("--compare", help="Compare the groups too: each with the first, with the previous one, or all pairs (all)."),
]
FORMAT = Annotated[
    str | None, option("--format", help="Print the table as csv, tsv, json or markdown instead of text.")
]
OUTPUT = Annotated[
    str | None, option("--output", "-o", help="Write .csv, .tsv, .json, .parquet or .xlsx; - prints CSV.")
]
HTML = Annotated[Path | None, option("--html", help="Write a page to read and share.")]
PLOT = Annotated[Path | None, option("--plot", help="Write a plot: .svg, .png or .pdf.")]
JSON = Annotated[bool, typer.Option("--json", help="Print JSON.")]
LEVEL = Annotated[float, typer.Option("--level", help="Confidence level of the intervals.")]
SAMPLE = Annotated[
    bool,
    typer.Option(
        "--sample", help="Estimate the shares among exactly these items, not those of the source that they came from."
    ),
]
CALIBRATED = Annotated[
    bool,
    typer.Option(
        "--assume-calibrated",
        help="Intervals of the likelihood (SLD) that take the classifier's posteriors for calibrated.",
    ),
]
PILE = Annotated[bool, typer.Option("--pile", hidden=True)]  # the former name of --sample
MIN_ITEMS = Annotated[int, typer.Option("--min-items", help="Smaller groups are reported as too small.", min=1)]
DASK = Annotated[str | None, option("--dask", help="Address of a Dask scheduler that reads the files.")]

STATISTICS = Annotated[
    bool,
    typer.Option("--statistics", help="FILES are results of the query that headcount sql prints, not items."),
]

LABELS = Annotated[
    str | None,
    option(
        "--labels", help="A column of the new table with labels of some items, drawn at random; empty: not labelled."
    ),
]
LABELS_FROM = Annotated[
    str | None,
    option(
        "--labels-from",
        help="Labels in a file of their own: columns headcount_item (or --id), label, headcount_probability.",
    ),
]
ID = Annotated[
    str | None, option("--id", help="With --labels-from: the column of both tables that identifies an item.")
]
LATER_LABELS_FROM = Annotated[
    str | None, option("--labels-from", help="Labels in a file of their own: columns headcount_item (or --id), label.")
]
LATER_ID = Annotated[
    str | None,
    option("--id", help="With labels: the column that identifies an item, of both tables with --labels-from."),
]
PROBABILITY = Annotated[
    str | None,
    option("--probability", help="With labels: the column of the chances with which items were drawn to be labelled."),
]
STRATUM = Annotated[
    str | None,
    option("--stratum", help="The column of strata that rows, or with labels the labelled ones, were drawn from."),
]

WEIGHT = Annotated[
    str | None,
    option("--weight", help="The column of sampling weights: how many items of the population a row stands for."),
]
CLUSTER = Annotated[
    str | None,
    option(
        "--cluster",
        help="The column of clusters: rows that were drawn together and are alike, such as those of one author.",
    ),
]
POPULATION = Annotated[
    str | None,
    option(
        "--population-size", help="Number of items in the population; or of each stratum, as in north=9000,south=4000."
    ),
]

SCORED = Annotated[
    bool, typer.Option("--scored", help="Scores are ready: MODEL is a labelled table with the same score columns.")
]
CONFUSION = Annotated[
    bool,
    typer.Option("--confusion", help="MODEL is a confusion matrix (rows: true), the items a table of class and count."),
]
LABEL = Annotated[str | None, option("--label", help="With --scored: the column of true labels.")]
SCORES = Annotated[
    str | None,
    option(
        "--scores",
        help="With --scored: the score columns, as neg=p_neg,pos=p_pos, or 'p_*', or in the order of the classes "
        "[default: score_*].",
    ),
]
DECISIONS = Annotated[str | None, option("--decisions", help="With --scored: a column of decided labels instead.")]
_METHOD_HELP = "auto, a method from 'headcount methods', or your own as package.module:Class."
METHOD = Annotated[str, typer.Option("--method", help=_METHOD_HELP)]
TRUST = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Also read (fit: write) a model with objects of other packages, whose code is run: only files that you made yourself.",
    ),
]
SCORED_METHOD = Annotated[str, typer.Option("--method", help=f"With --scored or --confusion: {_METHOD_HELP}")]
