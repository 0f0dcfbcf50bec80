"""`tally_statistics`: turn the rows that a database returned for `statistics_query` into a tally."""

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from headcount._typing import AnyArray, IntArray
from headcount.exceptions import DataError
from headcount.learners import Outputs
from headcount.protocols.exact import ExactSums
from headcount.quantifiers import Statistics
from headcount.stream import Recipe, Tally
from headcount.stream._kernels import COARSEST
from headcount.stream.groups import parse_groupings
from headcount.stream.scan import decision_codes, group_codes
from headcount.stream.sketch import FINEST, Sketch
from headcount.tables import Batch, TableFile
from headcount.warehouse.contents import FORMAT, Contents, group_columns

__all__ = ["tally_statistics"]

_LARGEST = 2**63 - 1


def tally_statistics(
    sources: Sequence[str | Path],
    recipe: Recipe,
    kind: str,
    names: tuple[str, ...],
    by: str | None = None,
    where: Sequence[str] = (),
) -> Tally:
    """Add up results of `statistics_query`, whose arguments are the same here; several results are of parts of a table."""
    if not sources:
        raise DataError("There are no files to read.")
    contents = Contents.of(recipe, kind, names, by, where)
    tallies = (_tally(TableFile(source), recipe, kind, contents, by) for source in sources)
    return reduce(Tally.merge, tallies, recipe.start())


def _tally(table: TableFile, recipe: Recipe, kind: str, contents: Contents, by: str | None) -> Tally:
    column_of = {column.lower(): column for column in table.columns}  # some databases write names in capitals
    if "recipe" not in column_of or "group_name" not in column_of:
        raise DataError(
            f"{table.name} does not hold statistics: it must be the result of the query that headcount sql prints, with the names "
            "of its columns. Omit --statistics to read items."
        )
    for batch in table.batches({column_of["recipe"]: "group"}):
        for stamp in batch.groups(column_of["recipe"])[1]:
            _check_stamp(table.name, str(stamp), contents.stamp, by)
    limbs = [f"{name}_{limb}" for name in contents.sum_columns() for limb in ("high", "low")]
    counted = ["n", "bad_dates", "invalid", *contents.code_columns(), *limbs]
    counted += ["sketch_step", "sketch_kept"] if contents.sketched else []
    groupings = parse_groupings(by, [])
    read = [*(group_columns(len(groupings)) or ["group_name"]), *(["class"] if kind == "decisions" else []), *counted]
    table.require(
        [column_of.get(name, name) for name in read], " of statistics: save all columns of the query's result"
    )
    tally = recipe.start()
    for batch in table.batches({column_of[name]: "group" for name in read}):
        numbers = {name: _whole_numbers(batch, column_of[name]) for name in counted}
        _check_rows(batch, numbers, kind, by)
        groups, values = group_codes(batch, groupings, [column_of[name] for name in group_columns(len(groupings))])
        groups = np.zeros(len(batch), dtype=np.int32) if groups is None else groups
        if kind == "decisions":
            classes = recipe.quantifier.classes_
            codes = decision_codes(batch, column_of["class"], classes, "the labelled items")
            tally.add(Outputs(classes, len(codes), codes), groups, values, numbers["n"].astype(np.float64))
        else:
            tally.merge(_summed(batch, recipe, contents, numbers, groups, values))
    return tally


def _check_stamp(file: str, stamp: str, expected: str, by: str | None) -> None:
    """Refuse statistics of another model, other columns or another grouping."""
    if stamp == expected:
        return
    parts, wanted = stamp.split(" ", 4), expected.split(" ", 4)
    if parts[0] != wanted[0] or len(parts) < 4:
        raise DataError(f"{file}, column 'recipe': {stamp[:40]!r} is not written by headcount sql.")
    if parts[1] != wanted[1]:
        raise DataError(
            f"{file} holds statistics of format {parts[1][:10]}; this version reads format {FORMAT}: print the query again."
        )
    found_by = parts[4] if len(parts) > 4 else ""
    if found_by != (by or ""):
        raise DataError(
            f"{file} holds statistics {f'by {found_by}' if found_by else 'of all rows together'}: "
            + (f"add --by {found_by}." if found_by else f"omit --by {by}, or print the query again with it.")
        )
    raise DataError(
        f"{file} holds statistics for {parts[2]} of another model or of other rows (other method, classes, columns of scores or "
        f"conditions of --where than for this {wanted[2]}): print the query again with the same arguments."
    )


def _whole_numbers(batch: Batch, column: str) -> IntArray:
    codes, values = batch.groups(column)
    numbers = np.empty(len(values), dtype=np.int64)
    for i, value in enumerate(values):
        try:
            number = Decimal(str(value))
            whole = int(number) if number == number.to_integral_value() else -1
        except (InvalidOperation, ValueError, OverflowError):
            whole = -1
        if not 0 <= whole <= _LARGEST:
            row = int(np.flatnonzero(codes == i)[0])
            raise DataError(
                f"{batch.place(row, column)}: {value!r} is not a whole number. Save the query's result without rounding or formats."
            )
        numbers[i] = whole
    return numbers[codes]


def _check_rows(batch: Batch, numbers: dict[str, IntArray], kind: str, by: str | None) -> None:
    """Refuse statistics of a table with rows that can't be used."""
    problem = (
        "decision is missing"
        if kind == "decisions"
        else "scores are missing or are not probabilities, which must be at least 0 and sum to 1 over the classes"
    )
    bad, invalid, total = (int(numbers[name].sum()) for name in ("bad_dates", "invalid", "n"))
    if bad:
        raise DataError(
            f"{batch.file}: {bad:,} of {total:,} rows of the table have values in the column of --by {by} that are not dates. "
            "Write dates as 2016-07-09."
        )
    if invalid:
        raise DataError(
            f"{batch.file}: in {invalid:,} of {total:,} rows of the table the {problem}. Correct them, or query a view without "
            "them."
        )


def _summed(
    batch: Batch,
    recipe: Recipe,
    contents: Contents,
    numbers: dict[str, IntArray],
    groups: IntArray,
    names: Sequence[Any],
) -> Tally:
    """Return the tally of one classifier's scores, out of sums and of counts in cells."""
    n_groups = len(names)

    def added(column: AnyArray) -> IntArray:
        total = np.zeros(n_groups, dtype=np.int64)
        np.add.at(total, groups, column)
        return total

    def limbs(columns: Sequence[str]) -> ExactSums:
        high, low = (
            np.stack([added(numbers[f"{c}_{limb}"]) for c in columns], axis=1).reshape(n_groups, len(columns))
            for limb in ("high", "low")
        )
        return ExactSums(high, low)

    sizes = ExactSums.from_counts(added(numbers["n"]))
    sums = recipe.zeros(n_groups)
    for name, (representation, _) in recipe.reductions.items():
        width = representation.width(recipe.k)
        if name in contents.codes:
            counts = np.zeros((n_groups, width), dtype=np.int64)
            for i in range(len(contents.codes[name])):
                codes = numbers[f"{name}_cell_{i}"]
                if codes.max() >= width:
                    row = int(codes.argmax())
                    raise DataError(f"{batch.place(row)}: {codes[row]} is not a cell of {name}: was the file changed?")
                np.add.at(counts, (groups, codes), numbers["n"])
            statistics = Statistics(ExactSums.from_counts(counts), sizes)
            if sums[name].has_products:
                statistics = statistics.with_products(representation.second_moments(statistics))
        else:
            columns = [f"{name}_{i}" for i in range(len(contents.sums[name]))]
            products = limbs(columns[width:]) if columns[width:] else None
            statistics = Statistics(limbs(columns[:width]), sizes, products)
        sums[name].add_at(np.arange(n_groups), statistics)
    sketch = None
    if recipe.sketched:
        sketch = Sketch(recipe.k)
        columns = ["n", *(f"sketch_{i}_{limb}" for i in range(recipe.k) for limb in ("high", "low"))]
        cells = np.stack([numbers[column] for column in columns], axis=1) * recipe.n_folds
        step, rest = np.zeros(n_groups, dtype=np.int64), np.zeros((n_groups, cells.shape[1]), dtype=np.int64)
        np.maximum.at(step, groups, numbers["sketch_step"])
        kept = numbers["sketch_kept"] == 1
        np.add.at(rest, groups[~kept], cells[~kept])
        bits = np.maximum(FINEST - step, COARSEST)
        rows, halvings = np.arange(n_groups), np.maximum(step - (FINEST - COARSEST), 0)
        sketch.merge_cells(rows, bits, halvings, rest, groups[kept], cells[kept, 0], cells[kept, 1:])
    return Tally(recipe, list(names), sums, sketch)
