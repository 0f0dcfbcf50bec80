"""From a model and tables of new items to shares of each group, and checks of them."""

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from headcount._validation import quoted
from headcount.desk.label_file import LabelSource, labels_of_items, read_label_file
from headcount.exceptions import DataError, HeadcountWarning
from headcount.modelfile import Columns, Model, load_model
from headcount.modelfile.titles import learner_title
from headcount.stream import DesignColumns, GroupShares, Reading, Recipe, Tally, estimate_groups, tally_files
from headcount.stream.design_columns import DesignParts
from headcount.stream.group_estimates import check_assumption, check_borrowing
from headcount.stream.group_shares import none_if_nan
from headcount.stream.groups import group_label, grouping_title, parse_groupings
from headcount.stream.kept_items import KeptItems
from headcount.stream.labelled_groups import estimate_labelled_groups
from headcount.stream.scan import further_answers

__all__ = [
    "check_design_is_read",
    "check_level",
    "check_tables",
    "database_recipe",
    "estimate_tables",
    "file_title",
    "listed_paths",
    "loaded_model",
    "provenance",
    "tally_of",
]

_CHECK_FIGURES = ("p_label_shift", "p_items", "separation", "disagreement", "distance", "off")


def estimate_tables(
    model: Model | str | Path,
    files: str | Path | Sequence[str | Path],
    *,
    by: str | None = None,
    where: Sequence[str] = (),
    total: bool = False,
    level: float = 0.95,
    estimand: Literal["population", "sample"] = "population",
    assume: Literal["calibrated"] | None = None,
    min_items: int = 30,
    counts: bool = False,
    cluster: str | None = None,
    statistics: bool = False,
    borrow_strength: bool = False,
    labels: str | None = None,
    labels_from: Any = None,
    item: str | None = None,
    probability: str | None = None,
    stratum: str | None = None,
    design: DesignColumns | None = None,
    progress: Callable[[int], None] | None = None,
) -> GroupShares:
    r"""Estimate the share of each class in each group of tables, with intervals and verdicts.

    Tables are read in batches: they may be larger than memory. With labels of some of the new items, the answer is design-based:
    it holds whatever has changed since the model was made; that under label shift stands beside it (``labelled``). The posteriors
    of all items are then kept in memory, items times classes numbers for each fold classifier.

    Parameters
    ----------
    model : Model or path of a model file
    files : path or sequence of paths
        CSV, TSV, JSON lines, Parquet or Excel files, folders or patterns of them, ``file.db::table`` (SQLite, DuckDB), ``-`` for
        standard input; or tables of pandas, polars or Arrow.
    by : str, optional
        A column to group by; for dates also ``column:day``, ``week``, ``month``, ``quarter`` or ``year``. Several columns are
        separated by commas.
    where : sequence of str
        Conditions that rows must meet, all of them, such as ``price>=10``, ``country=DE,AT`` or ``sold<2024-07-01``.
    total : bool, default=False
        Estimate the shares of all items together too, as without groups.
    level : float, default=0.95
        Confidence level of the intervals.
    estimand : {"population", "sample"}, default="population"
        Estimate the shares of the source that the items came from, or those among exactly these items.
    assume : {"calibrated"}, optional
        Take the classifier's posteriors for calibrated: methods that maximise a likelihood, such as SLD, then have intervals also
        where they learn nothing from validation items.
    min_items : int, default=30
        Groups of fewer items are reported as too small.
    counts : bool, default=False
        The tables hold counts of decisions (columns ``class`` and ``count``), for a model of decisions, rather than one item a row.
    cluster : str, optional
        The address of a Dask scheduler that reads the files.
    statistics : bool, default=False
        The files are results of the query that `statistics_sql` returns for the same model, ``by`` and ``where``, rather than
        items.
    borrow_strength : bool, default=False
        Give shares drawn towards the other groups beside those of each group by itself: `headcount.intervals.borrow_strength`.
    labels : str, optional
        A column of the new tables with labels of some items, drawn at random in each group; empty where an item has none.
    labels_from : path or table, optional
        Labels in a file of their own instead, as ``headcount plan`` writes it: see `headcount.desk.label_file`.
    item : str, optional
        With ``labels_from``: the column of both tables that identifies an item, instead of its row number.
    probability, stratum : str, optional
        With labels: the columns of inclusion probabilities and of strata, in the table that holds the labels. By default labels are
        drawn with equal chances.
    design : DesignColumns, optional
        Columns of weights, strata and clusters of the new items, and the size of their population: shares are weighted, and
        intervals and checks count clusters. Of each cluster and group a few numbers are kept in memory.
    progress : callable, optional
        Called with the number of rows of each batch after it was read.

    Returns
    -------
    GroupShares

    Examples
    --------
    >>> import tempfile
    >>> from headcount.desk import confusion_model
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     matrix, months = Path(folder, "confusion.csv"), Path(folder, "counts.csv")
    ...     _ = matrix.write_text("true,neg,pos\nneg,80,20\npos,10,90\n")
    ...     _ = months.write_text("month,class,count\nJune,neg,200\nJune,pos,800\nMay,neg,590\nMay,pos,410\n")
    ...     groups = estimate_tables(confusion_model(matrix), months, by="month", counts=True)
    >>> groups.names, groups.shares.round(2).tolist()
    (['June', 'May'], [[0.14, 0.86], [0.7, 0.3]])
    """
    check_level(level)
    model = loaded_model(model)
    check_assumption(model.quantifier, assume)
    source = LabelSource(labels, labels_from, item, probability, stratum)
    source.check()
    kept, label_file = None, None
    if design is not None and design.given:
        check_design_is_read(counts, statistics, assume)
    if source.given:
        _check_items_are_read(counts, statistics, cluster, assume)
        label_file = None if source.file is None else read_label_file(source)
        if design is not None and source.column is not None and source.column in (design.weight, design.cluster):
            what = "weights" if source.column == design.weight else "clusters"
            raise DataError(
                f"Column {source.column!r} holds the labels and can't hold the {what} too: name another column."
            )
        parts = DesignParts(design) if design is not None and design.given else None
        kept = KeptItems(source.table_columns(), model.quantifier.classes_, parts)
    if borrow_strength:
        if by is None:
            raise DataError(
                "Strength is borrowed from other groups: name a column to group by with --by, or omit --borrow-strength."
            )
        if kept is not None or (design is not None and design.given):
            raise DataError(
                "Strength is borrowed between shares under label shift of rows that count alike: omit --borrow-strength, or the "
                "labels, weights and clusters of new items."
            )
        check_borrowing(model.quantifier, estimand, assume)
    tally = tally_of(model, listed_paths(files), by, counts, cluster, progress, where, statistics, kept, design)
    titles = grouping_title(by).split(", ") if any(isinstance(name, tuple) for name in tally.names) else []
    groups = estimate_groups(
        tally,
        level=level,
        estimand=estimand,
        assume=assume,
        min_items=max(min_items, 1),
        by=titles,
        total=total and by is not None,
        borrow=borrow_strength,
    )
    if kept is None:
        return groups
    codes = kept.group_codes(groups.names)
    given, notes = labels_of_items(source, kept, label_file)
    survey = None if kept.design is None else kept.design.design(kept.design.n_rows)
    return estimate_labelled_groups(groups, model.quantifier, kept.outputs(), codes, given, notes, survey)


def check_design_is_read(counts: bool, statistics: bool, assume: str | None) -> None:
    """Raise if weights, strata or clusters are given for tables that do not hold one item a row."""
    _check_items_are_read(counts, statistics, None, assume, "Weights, strata and clusters")


def _check_items_are_read(
    counts: bool, statistics: bool, cluster: str | None, assume: str | None, what_is_given: str = "Labels"
) -> None:
    """Raise if labels or designs of items are given for tables that do not hold one item a row, or that are not read here."""
    refused = {
        "counts of decisions (--confusion)": counts,
        "statistics of items (--statistics)": statistics,
        "files that a cluster reads (--dask)": cluster is not None,
    }
    for what, given in refused.items():
        if given:
            raise DataError(
                f"{what_is_given} are of single items: they can't be used with {what}. Pass the rows themselves."
            )
    if assume is not None:
        raise DataError(
            f"{what_is_given} of new items make intervals that assume nothing of the classifier: omit assume='calibrated' "
            "(--assume-calibrated)."
        )


def check_tables(
    model: Model | str | Path,
    files: str | Path | Sequence[str | Path],
    *,
    by: str | None = None,
    where: Sequence[str] = (),
    min_items: int = 30,
    counts: bool = False,
    statistics: bool = False,
    design: DesignColumns | None = None,
    progress: Callable[[int], None] | None = None,
) -> list[dict[str, Any]]:
    r"""Check, without labels, whether the shares of each group of tables can be trusted.

    Parameters
    ----------
    model, files, by, where, min_items, counts, statistics, design, progress
        As in `estimate_tables`.

    Returns
    -------
    list of dict
        For each group its name, number of items, verdict, advice, and the figures of the check (None if it was not checked); what
        differs in the items; and the p-value of the group's tests corrected for the number of groups, on which no verdict depends.

    Examples
    --------
    >>> import tempfile
    >>> from headcount.desk import scored_model
    >>> rows = ["neg,0.9,0.1", "neg,0.6,0.4", "pos,0.3,0.7", "pos,0.2,0.8"] * 25
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "labelled.csv")
    ...     _ = file.write_text("\n".join(["y,score_neg,score_pos", *rows]))
    ...     records = check_tables(scored_model(file, label="y"), file)
    >>> [(record["group"], record["n"], record["verdict"]) for record in records]
    [('all', 100, 'trust')]
    """
    groups = estimate_tables(
        model,
        files,
        by=by,
        where=where,
        min_items=min_items,
        counts=counts,
        statistics=statistics,
        design=design,
        progress=progress,
    )
    corrected = groups.p_corrected
    return [
        {"group": group_label(name), "n": int(n), "verdict": verdict, "advice": advice}
        | {figure: None if report is None else none_if_nan(getattr(report, figure)) for figure in _CHECK_FIGURES}
        | {"differs": [] if report is None else list(report.differs), "p_corrected": none_if_nan(corrected[g])}
        for g, (name, n, verdict, advice, report) in enumerate(
            zip(groups.names, groups.n_items, groups.verdicts, groups.advice, groups.reports, strict=True)
        )
    ]


def provenance(model: Model, files: Sequence[str | Path], model_file: str | Path = "") -> dict[str, str]:
    """Where an estimate comes from, by title: method, labelled items, files, model file.

    >>> from headcount import PACC
    >>> from headcount.modelfile import Columns
    >>> quantifier = PACC(random_state=0).fit([[0.0], [1.0]] * 20, [0, 1] * 20)
    >>> model = Model(quantifier, Columns("numbers", ("x",), "y"), source={"name": "labelled.csv", "rows": 40})
    >>> provenance(model, ["data/new.csv"])["Items estimated"]
    'new.csv'
    """
    source = model.source
    facts = {
        "Method": f"{model.method} over {learner_title(model.learner)}" if model.learner else model.method,
        "Labelled items": f"{source.get('rows', 0):,} in {source.get('name', '')}",
        "Items estimated": ", ".join(map(file_title, files)),
    }
    if model.written:
        facts["Model"] = f"{Path(model_file).name}, written {model.written}, seed {model.seed}"
    facts["Fingerprint of the labelled file"] = str(source.get("fingerprint", ""))[:16]
    return facts


def check_level(level: float) -> None:
    """Check the level before files are read, which may take long."""
    if not 0.0 < level < 1.0:
        raise DataError(f"level must be between 0 and 1, such as 0.95; got {level:g}.")


def loaded_model(model: Model | str | Path) -> Model:
    """Return a model, or read it from its file."""
    return model if isinstance(model, Model) else load_model(model)


def listed_paths(files: Any) -> list[Any]:
    """Return one path or table, or several, as a list."""
    return [files] if isinstance(files, str | Path) or hasattr(files, "__arrow_c_stream__") else list(files)


def tally_of(
    model: Model,
    files: Sequence[str | Path],
    by: str | None,
    counts: bool,
    cluster: str | None = None,
    progress: Callable[[int], None] | None = None,
    where: Sequence[str] = (),
    statistics: bool = False,
    kept: KeptItems | None = None,
    design: DesignColumns | None = None,
) -> Tally:
    """Add up what the model's quantifier and the check need of each group of tables."""
    columns = model.columns
    if statistics:
        if cluster is not None:
            raise DataError("Statistics are few rows, which no cluster needs to read: omit --dask.")
        if counts:
            raise DataError("--statistics are of items in a database, not of counts: omit --confusion.")
        from headcount.warehouse import tally_statistics

        return tally_statistics(files, database_recipe(model), columns.kind, columns.names, by, where)
    recipe = Recipe(model.quantifier, model.held_out(), model.only_decides, model.labelled_items(), design)
    if kept is not None and model.learner and columns.kind not in ("scores", "decisions"):
        classifier = getattr(model.quantifier, "classifier_", None)
        if hasattr(
            classifier, "predict_proba"
        ):  # for the design-based answer, also where the method needs only decisions
            recipe.needs = recipe.needs | {"posteriors"}
    if counts and columns.kind != "decisions" and not further_answers(model.quantifier):
        raise DataError("Counts of decisions need a model of decisions.")
    _warn_of_features_in(by, columns)
    kind = "counts" if counts else columns.kind
    reading = Reading(recipe, kind, columns.names, by, where=tuple(where), roles=columns.roles, kept=kept)
    return tally_files(files, reading, progress, cluster)


def _warn_of_features_in(by: str | None, columns: Columns) -> None:
    """Warn if rows are grouped by a category or number that the model learnt from, unlike in the groups by the date of a row."""
    kinds = {name: role.kind for name, role in zip(columns.names, columns.roles, strict=False)}
    grouped = [grouping.column for grouping in parse_groupings(by, columns.names)] if kinds else []
    learnt = [name for name in grouped if kinds.get(name) in ("category", "number")]
    if learnt:
        warnings.warn(
            f"Rows are grouped by {quoted(learnt)}, which the model also learnt from: its answers lean towards the shares that the "
            f"labelled rows have there. For groups by it, make a model without it (headcount fit --drop {','.join(learnt)}).",
            HeadcountWarning,
            stacklevel=2,
        )


def database_recipe(model: Model) -> Recipe:
    """Return what is added up in a database: all but samples of the items themselves."""
    return Recipe(model.quantifier, model.held_out(), model.only_decides)


def file_title(path: str | Path) -> str:
    """Return the name of a file for people to read."""
    return "standard input" if str(path) == "-" else Path(path).name
