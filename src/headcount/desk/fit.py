"""`fit_table`: from a labelled table to a model; read items and labels, check them, choose a quantifier and fit it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from headcount._labels import label_text
from headcount._validation import MIN_ITEMS_OF_A_CLASS, quoted
from headcount.data.table_columns import names_asked, read_table
from headcount.desk.labels import check_labels, describe_source
from headcount.exceptions import DataError
from headcount.modelfile import Columns, Model
from headcount.protocols import NaturalPrevalence
from headcount.quantifiers import method_named
from headcount.stream import DesignColumns
from headcount.tables import TableFile

__all__ = ["fit_table"]


def fit_table(
    source: Any,
    *,
    label: str,
    text: str | Sequence[str] | None = None,
    features: str | Sequence[str] | None = None,
    drop: str | Sequence[str] | None = None,
    method: str = "auto",
    learner: str = "auto",
    budget: float | None = None,
    shift: str = "any",
    any_method: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
    classes: Sequence[Any] | None = None,
    design: DesignColumns | None = None,
) -> Model:
    """Choose and fit a quantifier on a labelled table.

    Parameters
    ----------
    source : str, Path or table
        A CSV, TSV or Parquet file, or ``-`` for standard input; or a table of pandas, polars or Arrow.
    label : str
        The column of labels.
    text : str or sequence of str, optional
        The columns of texts, in one string separated by commas. Default: ``text``, if there is such a column and neither features
        nor columns to drop are named.
    features : str or sequence of str, optional
        Other columns, of numbers, categories, dates or embeddings: names and patterns such as ``e*``, in one string separated by
        commas. What a column holds decides what it is; ``zip:category`` decides otherwise. Default: all columns but the label.
    drop : str or sequence of str, optional
        Columns to leave out: names and patterns.
    method : str, default="auto"
        ``"auto"`` or a method that `headcount.quantifiers.method_named` accepts.
    learner : str, default="auto"
        ``"auto"``, ``"lr"``, ``"nb"``, ``"forest"``, ``"boosting"``, ``"vote"`` or ``"svm"``.
    budget : float, optional
        Seconds to spend on the choice.
    shift : {"any", "mild"}, default="any"
        Judge methods on samples with all kinds of shares, or on samples with about the shares of the table, for data whose shares
        are known to change little.
    any_method : bool, default=False
        Keep the best method even if it has no interval. Without it only a method with an interval is kept, unless ``method`` names
        one.
    random_state : int, default=0
    n_jobs : int, optional
    classes : sequence of labels, optional
        The classes in order, where they have one; by default sorted.
    design : DesignColumns, optional
        Columns of weights, strata and clusters of the labelled rows, and the size of their population. Intervals of the model's
        estimates count them; the columns are not learnt from.

    Returns
    -------
    Model

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from headcount.data.examples.reviews import example_files
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "reviews.csv")
    ...     _ = file.write_text(example_files(n_labelled=200)["reviews.csv"])
    ...     fit_table(file, text="review", label="stars", method="PACC", learner="nb")
    Model(PACC over MultinomialNB, 3 classes, text)
    """
    from headcount.auto import AutoQuantifier  # slow to import, and estimates do without

    table = TableFile(source)
    asked = [names_asked(given, table.columns) for given in (text, features, drop)]
    if design is not None and label in (design.weight, design.cluster):
        what = "weights" if label == design.weight else "clusters"
        raise DataError(
            f"{table.name}: column {label!r} holds the labels and can't hold the {what} too: name another column."
        )
    drawn = None if design is None else design.read(table)
    reads_all = asked[0] is None and asked[1] is None and (asked[2] is not None or "text" not in table.columns)
    if design is not None and design.names and reads_all:
        asked[2] = [*(asked[2] or ()), *design.names]
    read = read_table(table, label, *asked)
    labels = check_labels(table, read.labels, label, MIN_ITEMS_OF_A_CLASS)
    if shift not in ("any", "mild"):
        raise DataError(f"shift must be 'any' or 'mild'; got {shift!r}.")
    automatic = method.lower() == "auto"
    has_interval = automatic or method_named(method).for_tables().has_interval
    mild = NaturalPrevalence(25, sample_size=int(np.clip(len(labels) // 5, 50, 500)), random_state=random_state)
    choice = AutoQuantifier(
        None if automatic else [method],
        None if learner.lower() == "auto" else [learner],
        budget=budget,
        intervals=has_interval and not any_method,
        protocol=mild if shift == "mild" else None,
        n_jobs=n_jobs,
        random_state=random_state,
        classes=classes,
    )
    if classes is not None:
        _check_order(table, label, labels, classes)
    try:
        auto = choice.fit(read.items, labels, design=drawn)
    except DataError as error:
        columns = f"column{'s' if len(read.names) > 1 else ''} {quoted(read.names, 3)}"
        raise DataError(f"{table.name}, {columns}: {error}") from error
    reference, codes = auto.held_out_ or (None, None)
    return Model(
        auto.best_estimator_,
        Columns(read.kind, tuple(read.names), label, read.roles, read.notes),
        reference,
        codes,
        describe_source(table, labels),
        random_state,
        _json_values(auto.ranking_.drop(columns=["seconds"]).to_dict("records")),
        _json_values(auto.skipped_),
    )


def _check_order(table: TableFile, label: str, labels: Any, classes: Sequence[Any]) -> None:
    """Raise unless an order names each class of a table once, and nothing else."""
    given, known = list(map(label_text, classes)), sorted(set(map(label_text, labels)))
    if sorted(given) == known:
        return
    faults = {
        "misses": sorted(set(known) - set(given)),
        "names twice": sorted({name for name in given if given.count(name) > 1}),
        "names, but no row has,": sorted(set(given) - set(known)),
    }
    wrong = "; ".join(f"it {fault} {quoted(names, 5)}" for fault, names in faults.items() if names)
    raise DataError(
        f"{table.name}, column {label!r}: the order of the classes (--ordered) must name each class once; {wrong}. The classes are "
        f"{quoted(known, 10)}, and each needs labelled rows."
    )


def _json_values(value: Any) -> Any:
    """Nested records with numpy's numbers as Python's own, and NaN as None."""
    if isinstance(value, dict):
        return {str(key): _json_values(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json_values(item) for item in value]
    number = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(number, float) and number != number else number
