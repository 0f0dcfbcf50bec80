"""`Columns`: which columns of a table a model reads."""

from dataclasses import dataclass
from typing import Literal

from headcount._roles import ColumnRole

__all__ = ["Columns"]


@dataclass(frozen=True)
class Columns:
    """Which columns of a table a model reads.

    Attributes
    ----------
    kind : {"text", "numbers", "mixed", "scores", "decisions"}
    names : tuple of str
        The text column, or those of the features, in the order of training; of scores, one for each class.
    label : str
        The column of labels that it was trained on.
    roles : tuple of ColumnRole
        Of mixed columns: what each of them is.
    notes : tuple of str
        Sentences on columns that were left out, or that seem to copy the label.
    """

    kind: Literal["text", "numbers", "mixed", "scores", "decisions"]
    names: tuple[str, ...]
    label: str = ""
    roles: tuple[ColumnRole, ...] = ()
    notes: tuple[str, ...] = ()
