"""`ColumnRole`: what a column is to a model."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

__all__ = ["MONTH_FIRST", "ROLE_KINDS", "ColumnRole", "RoleKind"]

RoleKind: TypeAlias = Literal["text", "number", "category", "date", "embedding"]
MONTH_FIRST = "month-first date"
"""How a user says that 07/09/2016 is the ninth of July."""
ROLE_KINDS: tuple[str, ...] = (*get_args(RoleKind), MONTH_FIRST)


@dataclass(frozen=True)
class ColumnRole:
    """What a column is to a model.

    Attributes
    ----------
    kind : {"text", "number", "category", "date", "embedding"}
    complete : bool
        Of numbers: whether none was missing in the labelled rows.
    n_values : int
        Of categories: how many there were.
    month_first : bool
        Of dates: whether 07/09/2016 is the ninth of July.
    size : int
        Of embeddings: the number of coordinates.
    """

    kind: RoleKind
    complete: bool = True
    n_values: int = 0
    month_first: bool = False
    size: int = 0
