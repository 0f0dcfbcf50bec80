"""From a model and tables of new items to the rise or fall of shares over periods."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from headcount._validation import quoted
from headcount.desk.changes import TrendOfGroups
from headcount.desk.estimate import check_level, estimate_tables, loaded_model
from headcount.desk.figures import FiguresAsked
from headcount.exceptions import DataError
from headcount.modelfile import Model
from headcount.stream import DesignColumns
from headcount.stream.group_changes import trend_of_groups
from headcount.stream.groups import group_label, period_numbers, period_unit

__all__ = ["trend_tables"]

_SHARES = FiguresAsked()


def trend_tables(
    model: Model | str | Path,
    files: str | Path | Sequence[str | Path],
    *,
    by: str,
    where: Sequence[str] = (),
    level: float = 0.95,
    estimand: Literal["population", "sample"] = "population",
    min_items: int = 30,
    counts: bool = False,
    statistics: bool = False,
    design: DesignColumns | None = None,
    figures: FiguresAsked = _SHARES,
) -> TrendOfGroups:
    r"""Test whether the share of each class rises or falls over the groups of a table, and by how much from one to the next.

    Parameters
    ----------
    model, files, where, level, estimand, min_items, counts, statistics, design
        As in `estimate_tables`.
    by : str
        The column to group by: dates (``date:month``), or numbers. A period without items leaves a gap.
    figures : FiguresAsked, optional
        Means and cumulative shares to follow instead of the shares of classes.

    Returns
    -------
    TrendOfGroups

    Examples
    --------
    >>> import tempfile
    >>> from headcount.desk import confusion_model
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     matrix, months = Path(folder, "confusion.csv"), Path(folder, "counts.csv")
    ...     _ = matrix.write_text("true,neg,pos\nneg,80,20\npos,10,90\n")
    ...     rows = [f"2025-0{m},{name},{n}\n" for m in (1, 2, 3) for name, n in (("neg", 700 - 100 * m), ("pos", 300 + 100 * m))]
    ...     _ = months.write_text("month,class,count\n" + "".join(rows))
    ...     found = trend_tables(confusion_model(matrix), months, by="month", counts=True)
    >>> found.trend.slope.round(3).tolist(), found.unit
    ([-0.143, 0.143], 'month')
    """
    check_level(level)
    model = loaded_model(model)
    asked = figures.to_compare(model.classes, model.quantifier.is_ordered)
    groups = estimate_tables(
        model,
        files,
        by=by,
        where=where,
        level=level,
        estimand=estimand,
        min_items=min_items,
        counts=counts,
        statistics=statistics,
        design=design,
    )
    if any(isinstance(name, tuple) for name in groups.names):
        raise DataError("A trend is over one column, such as date:month: name only that with by (--by COLUMN).")
    enough = groups.comparable
    names = [group_label(name) for name in groups.names if name is not None and group_label(name) in enough]
    numbers = period_numbers(names)
    if numbers is None:
        raise DataError(
            f"A trend is over time: group by dates (--by date:month) or by a column of numbers; {quoted(names, 3)} are neither."
        )
    order = sorted(range(len(names)), key=lambda i: numbers[i])
    names = [names[i] for i in order]
    left_out = [group_label(name) for name in groups.names if group_label(name) not in names]
    found = trend_of_groups(groups, names, [numbers[i] for i in order], asked)
    return TrendOfGroups(names, left_out, period_unit(names, by), found, groups)
