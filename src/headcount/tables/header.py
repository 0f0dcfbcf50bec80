"""Names of the columns of a table whose first row holds them."""

from collections.abc import Sequence

from headcount.exceptions import FileFormatError

__all__ = ["column_names"]


def column_names(names: Sequence[str], place: str) -> list[str]:
    """Return the names of all columns; those of an unnamed index, which pandas writes first, are as pandas names them in Parquet.

    Parameters
    ----------
    names : sequence of str
        What stands in the first row.
    place : str
        Where that is, for messages.

    Examples
    --------
    >>> column_names(["", "text", "stars"], "t.csv, line 1")
    ['__index_level_0__', 'text', 'stars']
    """
    blank = [number for number, name in enumerate(names, start=1) if not name.strip()]
    if len(blank) == len(names):
        raise FileFormatError(f"{place} is blank: there must be the names of the columns. Remove the line.")
    n_index = next(number for number, name in enumerate(names) if name.strip())
    if len(blank) > n_index:
        raise FileFormatError(f"{place}: column {blank[n_index]} has no name. Give it one, or remove the column.")
    return [*(f"__index_level_{level}__" for level in range(n_index)), *names[n_index:]]
