"""From a model and tables of new items to changes of shares: between two groups or files, or between many of them."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Literal, TypedDict, Unpack, get_args, overload

from headcount.desk.changes import Against, Comparison, Comparisons
from headcount.desk.estimate import check_design_is_read, check_level, file_title, listed_paths, loaded_model, tally_of
from headcount.desk.figures import FiguresAsked
from headcount.exceptions import DataError
from headcount.intervals import Figure
from headcount.modelfile import Model
from headcount.stream import DesignColumns, GroupShares, Tally, compare_all_groups, compare_groups, estimate_groups
from headcount.stream.groups import group_label

__all__ = ["check_against", "compare_tables", "compared"]

_SHARES = FiguresAsked()
"""No figures: the shares of classes are compared."""


class _Settings(TypedDict, total=False):
    """What may be given besides, with either result."""

    by: str | None
    where: Sequence[str]
    first: str | None
    second: str | None
    level: float
    estimand: Literal["population", "sample"]
    min_items: int
    counts: bool
    statistics: bool
    design: DesignColumns | None
    figures: FiguresAsked


@overload
def compare_tables(
    model: Model | str | Path,
    files: str | Path | Sequence[str | Path],
    *,
    against: None = None,
    **settings: Unpack[_Settings],
) -> Comparison: ...


@overload
def compare_tables(
    model: Model | str | Path,
    files: str | Path | Sequence[str | Path],
    *,
    against: Against,
    **settings: Unpack[_Settings],
) -> Comparisons: ...


def compare_tables(
    model: Model | str | Path,
    files: str | Path | Sequence[str | Path],
    *,
    by: str | None = None,
    where: Sequence[str] = (),
    first: str | None = None,
    second: str | None = None,
    against: Against | None = None,
    level: float = 0.95,
    estimand: Literal["population", "sample"] = "population",
    min_items: int = 30,
    counts: bool = False,
    statistics: bool = False,
    design: DesignColumns | None = None,
    figures: FiguresAsked = _SHARES,
) -> Comparison | Comparisons:
    r"""Compare the shares of two groups of a table or two files, or of many groups or files at once.

    Errors of the labelled side that groups have in common cancel, so the interval of a difference is shorter than two intervals
    side by side suggest. Of many comparisons some look like a change by chance: with ``against``, intervals and p-values hold for
    all of them together (`headcount.differences`).

    Parameters
    ----------
    model, level, estimand, min_items, counts, statistics, design
        As in `estimate_tables`. Clusters may have items in several groups or files: the errors of these are then alike.
    files : path or sequence of paths
        Tables to group, or, without ``by``, the files to compare: two, or with ``against`` two or more.
    by, where
        As in `estimate_tables`.
    first, second : str, optional
        With ``by``: the groups to compare. With ``against="first"``, ``first`` names the group that all others are compared with.
    against : {"first", "previous", "all"}, optional
        Compare each group with the first, with the one before it, or each pair. Groups are in the order of `estimate_tables`, files
        as they are given; groups with too few items are left out.
    figures : FiguresAsked, optional
        Means and cumulative shares to compare instead of the shares of classes.

    Returns
    -------
    Comparison, or with ``against`` Comparisons

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
    ...     many = compare_tables(confusion_model(matrix), [may, june, may], counts=True, against="previous")
    >>> comparison.second, comparison.difference.change.round(2).tolist()
    ('june.csv', [-0.56, 0.56])
    >>> many.differences.change.round(2).tolist()
    [[-0.56, 0.56], [0.56, -0.56]]
    """
    check_level(level)
    paths = listed_paths(files)
    _check_asked(paths, by, first, second, against)
    model = loaded_model(model)
    asked = figures.to_compare(model.classes, model.quantifier.is_ordered)
    if design is not None and design.given:
        check_design_is_read(counts, statistics, None)
    if by is None:
        titles = _file_titles(paths)
        tally = _tally_of_files(model, paths, titles, counts, where, statistics, design)
    else:
        titles, tally = [], tally_of(model, paths, by, counts, where=where, statistics=statistics, design=design)
    estimated = partial(estimate_groups, tally, level=level, estimand=estimand, min_items=max(min_items, 1))
    if against is not None:
        return compared(estimated(), against, titles, first, asked)
    one, other = titles if by is None else (str(first), str(second))
    there = {one, other} <= {group_label(name) for name in tally.names}
    groups = estimated(labels=[one, other] if there else None)  # all, to name them in a message, where one is missing
    return Comparison(one, other, compare_groups(groups, one, other, asked), groups)


def compared(
    groups: GroupShares,
    against: Against,
    ordered: Sequence[str] = (),
    first: str | None = None,
    figures: Sequence[Figure] | None = None,
) -> Comparisons:
    """Compare all groups that have enough items, in their order or in this one; ``first`` comes first."""
    check_against(against)
    ordered = ordered or [group_label(name) for name in groups.names]
    enough = groups.comparable
    names = [name for name in ordered if name in enough]
    left_out = [name for name in ordered if name not in enough]
    if first is not None:
        names = [first, *(name for name in names if name != first)]
    return Comparisons(against, names, left_out, compare_all_groups(groups, against, names, figures), groups)


def check_against(against: str) -> None:
    """Raise unless this says which groups are compared."""
    if against not in get_args(Against):
        raise DataError(f"against (--against, --compare) must be 'first', 'previous' or 'all'; got {against!r}.")


def _check_asked(
    paths: Sequence[str | Path], by: str | None, first: str | None, second: str | None, against: str | None
) -> None:
    """Raise if it is not clear what to compare, before files are read, which may take long."""
    if against is not None:
        check_against(against)
    if against is not None and second is not None:
        raise DataError("A second group (--to) is for comparing two groups; against (--against) compares all of them.")
    if against in ("previous", "all") and first is not None:
        raise DataError(
            "A first group (--from) that all others are compared with needs against='first' (--against first)."
        )
    if by is None and (first is not None or second is not None):
        raise DataError("The groups to compare are values of a column: name it with by (--by COLUMN).")
    if by is None and (len(paths) < 2 or (len(paths) > 2 and against is None)):
        raise DataError(
            "Name two files to compare, several with --against first, previous or all, or a column to group by (--by COLUMN)."
        )
    if by is not None and against is None and (first is None or second is None):
        raise DataError(
            "Name the two groups to compare (--from GROUP --to GROUP), or compare all groups (--against first, previous or all)."
        )


def _tally_of_files(
    model: Model,
    paths: Sequence[str | Path],
    titles: Sequence[str],
    counts: bool,
    where: Sequence[str],
    statistics: bool,
    design: DesignColumns | None,
) -> Tally:
    """Return a tally with one group for each file."""
    tallies = []
    for path, title in zip(paths, titles, strict=True):
        tally = tally_of(model, [path], None, counts, where=where, statistics=statistics, design=design)
        tally.names[:] = [title]
        tallies.append(tally)
    return sum(tallies[1:], tallies[0])


def _file_titles(paths: Sequence[str | Path]) -> list[str]:
    """Titles that tell files apart: names, or paths where two names are equal, numbered where a path comes again."""
    titles = [file_title(path) for path in paths]
    if len(set(titles)) == len(titles):
        return titles
    texts = [str(path) for path in paths]
    ordinals = ["", " (second)", " (third)"]
    times = [texts[:i].count(text) for i, text in enumerate(texts)]
    return [text + (ordinals[n] if n < 3 else f" ({n + 1}th)") for text, n in zip(texts, times, strict=True)]
