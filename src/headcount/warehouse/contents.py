"""`Contents`: what a query must compute for a recipe, as each representation declares it, and what its columns are called."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from headcount._validation import plain
from headcount.exceptions import DataError
from headcount.stream import Recipe

__all__ = ["FORMAT", "Contents", "group_columns"]

FORMAT = 2
"""Version of the columns of a result; results of another one are refused."""


def group_columns(n_columns: int) -> list[str]:
    """Return what the columns that name a group are called in a result.

    >>> group_columns(2)
    ['group_name', 'group_name_2']
    """
    return ["group_name", *(f"group_name_{i}" for i in range(2, n_columns + 1))][:n_columns]


@dataclass(frozen=True)
class Contents:
    """The columns of the result of a query.

    Attributes
    ----------
    codes : dict of name to expressions
        Cells of a reduction: rows are grouped by their codes.
    sums : dict of name to expressions
        Coordinates of a reduction, and products of two, that are added up.
    sketched : expressions
        Coordinates that are sorted into the cells of a sketch.
    stamp : str
        Tells results for different methods, classes, columns and groupings apart.
    """

    codes: dict[str, tuple[str, ...]]
    sums: dict[str, tuple[str, ...]]
    sketched: tuple[str, ...]
    stamp: str

    @classmethod
    def of(
        cls, recipe: Recipe, kind: str, names: tuple[str, ...], by: str | None, where: Sequence[str] = ()
    ) -> "Contents":
        """Collect what the representations of a recipe declare, for columns of numbers, scores or decisions of these names."""
        if kind in ("text", "mixed"):
            raise DataError(
                "A database can't score texts, categories or dates: score the items elsewhere and use --scored with the columns of "
                "scores, or estimate from files."
            )
        if kind == "numbers" and recipe.n_folds > 1:
            raise DataError(
                f"The model has {recipe.n_folds} fold classifiers, whose statistics no query adds up: print their mean scores with "
                "--scoring, or estimate from files."
            )
        codes: dict[str, tuple[str, ...]] = {}
        sums: dict[str, tuple[str, ...]] = {}
        sketched: tuple[str, ...] = ()
        method = type(recipe.quantifier).__name__
        if kind != "decisions":
            for name, (representation, products) in recipe.reductions.items():
                expressions = _declared(representation.sql(recipe.k), method)
                if representation.has_vectors:
                    pairs = [f"{a} * {b}" for i, a in enumerate(expressions) for b in expressions[: i + 1]]
                    sums[name] = (*expressions, *(pairs if products else ()))
                else:
                    codes[name] = expressions
            if recipe.sketched:
                sketched = _declared(recipe.quantifier.sketched_sql(), method)
        scores: tuple[str, ...] = ()
        if kind == "numbers":
            from headcount.warehouse.linear import posterior_sql  # slow to import, and mostly not needed

            scores = posterior_sql(recipe.quantifier.classifier_, names, recipe.quantifier.classes_)
        meaning = [
            FORMAT,
            kind,
            list(names),
            [str(plain(label)) for label in recipe.quantifier.classes_],
            by or "",
            codes,
            sums,
            sketched,
            scores,
            sorted(condition.strip() for condition in where),
        ]
        digest = hashlib.sha256(json.dumps(meaning).encode()).hexdigest()[:16]
        return cls(codes, sums, sketched, f"headcount {FORMAT} {method} {digest} {by or ''}".strip())

    def code_columns(self) -> dict[str, str]:
        """Return the expression of each column of codes."""
        return {f"{name}_cell_{i}": e for name, expressions in self.codes.items() for i, e in enumerate(expressions)}

    def sum_columns(self) -> dict[str, str]:
        """Return the expression of each coordinate that is added up; the result has two columns of it, the limbs of the sum."""
        sums = {f"{name}_{i}": e for name, expressions in self.sums.items() for i, e in enumerate(expressions)}
        return sums | {f"sketch_{i}": e for i, e in enumerate(self.sketched)}


def _declared(expressions: tuple[str, ...] | None, method: str) -> tuple[str, ...]:
    if expressions is None:
        raise DataError(
            f"{method} can't be computed in a database: it declares no SQL for what it adds up. Use a method that does, such as "
            "PACC or SLD, or estimate from files."
        )
    return expressions
