"""From a model and tables of new items to shares of each group, changes between two groups, and checks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from headcount.exceptions import DataError
from headcount.intervals import Difference
from headcount.modelfile import Model, load_model
from headcount.stream import GroupShares, Reading, Recipe, Tally, compare_groups, estimate_groups, tally_files
from headcount.stream.group_shares import group_label, none_if_nan

__all__ = ["Comparison", "check_tables", "compare_tables", "estimate_tables", "provenance"]

_CHECK_FIGURES = ("p_label_shift", "p_items", "separation", "disagreement", "distance", "off")


def estimate_tables(
    model: Model | str | Path,
    files: str | Path | Sequence[str | Path],
    *,
    by: str | None = None,
    level: float = 0.95,
    estimand: Literal["population", "sample"] = "population",
    assume: Literal["no-shift"] | None = None,
    min_items: int = 30,
    counts: bool = False,
    cluster: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> GroupShares:
    r"""Estimate the share of each class in each group of tables, with intervals and verdicts.

    Tables are read in batches: they may be larger than memory.

    Parameters
    ----------
    model : Model or path of a model file
    files : path or sequence of paths
        CSV, TSV or Parquet files, folders of Parquet files, or ``-`` for standard input.
    by : str, optional
        A column to group by; for dates also ``column:day``, ``week``, ``month``, ``quarter`` or ``year``.
    level : float, default=0.95
        Confidence level of the intervals.
    estimand : {"population", "sample"}, default="population"
        Estimate the shares in the process that the items came from, or those among these items.
    assume : {"no-shift"}, optional
        Give intervals to methods that do not adjust for shift, for shares that can't have changed since training.
    min_items : int, default=30
        Groups of fewer items are reported as too small.
    counts : bool, default=False
        The tables hold counts of decisions (columns ``class`` and ``count``), for a model of decisions, rather than one item a row.
    cluster : str, optional
        The address of a Dask scheduler that reads the files.
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
    _check_level(level)
    tally = _tally(_loaded(model), _paths(files), by, counts, cluster, progress)
    return estimate_groups(tally, level=level, estimand=estimand, assume=assume, min_items=max(min_items, 1))


@dataclass(frozen=True, eq=False)
class Comparison:
    """Change of the shares from one group to another.

    Attributes
    ----------
    first, second : str
        Names of the groups.
    difference : Difference
        The change of each share, with its interval and p-value.
    groups : GroupShares
        The shares of both groups, with verdicts.
    """

    first: str
    second: str
    difference: Difference
    groups: GroupShares

    def records(self) -> list[dict[str, Any]]:
        """Plain record of each class: class, change, low, high and p_value."""
        columns = {"class": self.difference.classes} | {
            name: getattr(self.difference, name) for name in ("change", "low", "high", "p_value")
        }
        rows = zip(*(values.tolist() for values in columns.values()), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def verdicts(self) -> dict[str, dict[str, Any]]:
        """Verdict and advice for both groups, by name."""
        names = [group_label(name) for name in self.groups.names]
        rows = {name: names.index(name) for name in (self.first, self.second)}
        return {name: {"verdict": self.groups.verdicts[g], "advice": self.groups.advice[g]} for name, g in rows.items()}


def compare_tables(
    model: Model | str | Path,
    files: str | Path | Sequence[str | Path],
    *,
    by: str | None = None,
    first: str | None = None,
    second: str | None = None,
    level: float = 0.95,
    estimand: Literal["population", "sample"] = "population",
    min_items: int = 30,
    counts: bool = False,
) -> Comparison:
    r"""Compare the shares of two groups of a table, or of two files.

    Errors of the labelled side that both groups have in common cancel, so the interval of the difference is shorter than two
    intervals side by side suggest.

    Parameters
    ----------
    model, level, estimand, min_items, counts
        As in `estimate_tables`.
    files : path or sequence of paths
        Tables to group, or, without ``by``, the two files to compare.
    by : str, optional
        As in `estimate_tables`.
    first, second : str, optional
        With ``by``: the groups to compare.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import tempfile
    >>> from headcount.desk import confusion_model
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     matrix, may, june = (Path(folder, name) for name in ("confusion.csv", "may.csv", "june.csv"))
    ...     _ = matrix.write_text("true,neg,pos\nneg,80,20\npos,10,90\n")
    ...     _ = may.write_text("class,count\nneg,590\npos,410\n")
    ...     _ = june.write_text("class,count\nneg,200\npos,800\n")
    ...     comparison = compare_tables(confusion_model(matrix), [may, june], counts=True)
    >>> comparison.second, comparison.difference.change.round(2).tolist()
    ('june.csv', [-0.56, 0.56])
    """
    _check_level(level)
    model, paths = _loaded(model), _paths(files)
    if by is not None:
        if first is None or second is None:
            raise DataError("Name the two groups to compare: first and second (--from GROUP --to GROUP).")
        tally = _tally(model, paths, by, counts)
    else:
        if first is not None or second is not None:
            raise DataError("The groups to compare are values of a column: name it with by (--by COLUMN).")
        if len(paths) != 2:
            raise DataError("Name two files to compare, or a column to group by (--by COLUMN --from GROUP --to GROUP).")
        first, second = _file_titles(paths)
        tally, other = (_tally(model, [path], None, counts) for path in paths)
        tally.names[:], other.names[:] = [first], [second]
        tally = tally + other
    groups = estimate_groups(tally, level=level, estimand=estimand, min_items=max(min_items, 1))
    return Comparison(str(first), str(second), compare_groups(groups, first, second), groups)


def check_tables(
    model: Model | str | Path,
    files: str | Path | Sequence[str | Path],
    *,
    by: str | None = None,
    min_items: int = 30,
    counts: bool = False,
    progress: Callable[[int], None] | None = None,
) -> list[dict[str, Any]]:
    r"""Check, without labels, whether the shares of each group of tables can be trusted.

    Parameters
    ----------
    model, files, by, min_items, counts, progress
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
    groups = estimate_tables(model, files, by=by, min_items=min_items, counts=counts, progress=progress)
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
        "Method": f"{model.method} over {model.learner}" if model.learner else model.method,
        "Labelled items": f"{source.get('rows', 0):,} in {source.get('name', '')}",
        "Items estimated": ", ".join(map(_file_title, files)),
    }
    if model.written:
        facts["Model"] = f"{Path(model_file).name}, written {model.written}, seed {model.seed}"
    facts["Fingerprint of the labelled file"] = str(source.get("fingerprint", ""))[:16]
    return facts


def _check_level(level: float) -> None:
    """Check the level before files are read, which may take long."""
    if not 0.0 < level < 1.0:
        raise DataError(f"level must be between 0 and 1, such as 0.95; got {level:g}.")


def _loaded(model: Model | str | Path) -> Model:
    return model if isinstance(model, Model) else load_model(model)


def _paths(files: str | Path | Sequence[str | Path]) -> list[str | Path]:
    return [files] if isinstance(files, str | Path) else list(files)


def _tally(
    model: Model,
    files: Sequence[str | Path],
    by: str | None,
    counts: bool,
    cluster: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> Tally:
    recipe = Recipe(model.quantifier, model.held_out(), model.only_decides, model.labelled_items())
    columns = model.columns
    if counts and columns.kind != "decisions":
        raise DataError("Counts of decisions need a model of decisions.")
    reading = Reading(recipe, "counts" if counts else columns.kind, columns.names, by)
    return tally_files(files, reading, progress, cluster)


def _file_title(path: str | Path) -> str:
    return "standard input" if str(path) == "-" else Path(path).name


def _file_titles(paths: Sequence[str | Path]) -> tuple[str, str]:
    """Titles that tell two files apart."""
    first, second = map(_file_title, paths)
    return (first, second) if first != second else (str(paths[0]), f"{paths[1]} (second)")
