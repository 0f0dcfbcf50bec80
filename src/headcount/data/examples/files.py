"""Tables and true shares of an example, as the text of CSV files."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence

__all__ = ["csv_text", "truth_text"]


def csv_text(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    r"""Return a table as CSV.

    >>> csv_text(["a", "b"], [(1, "x, y")])
    'a,b\n1,"x, y"\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return text.getvalue()


def truth_text(groups: Iterable[tuple[str, str]], classes: Sequence[str]) -> str:
    r"""Return the true shares and counts as CSV, a row for each group and class, named as those of `headcount estimate -o`.

    Parameters
    ----------
    groups : iterable of (group, class)
        One for each item, and for each grouping that it belongs to.
    classes : sequence of str
        The classes that each group is listed with; others are listed where they occur.

    Examples
    --------
    >>> truth_text([("May", "yes"), ("May", "no"), ("May", "no")], ["no", "yes"])
    'group,class,true_share,true_count\nMay,no,0.6667,2\nMay,yes,0.3333,1\n'
    """
    counts = Counter(groups)
    sizes: Counter[str] = Counter()
    for (group, _), count in counts.items():
        sizes[group] += count
    further = sorted({label for _, label in counts} - set(classes))
    rows = [
        (group, label, round(counts[group, label] / size, 4), counts[group, label])
        for group, size in sizes.items()
        for label in (*classes, *further)
        if label in classes or counts[group, label]
    ]
    return csv_text(("group", "class", "true_share", "true_count"), rows)
