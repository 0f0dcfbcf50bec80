"""`Columns`: which columns of a table a model reads."""

from dataclasses import dataclass
from typing import Literal

__all__ = ["Columns"]


@dataclass(frozen=True)
class Columns:
    """Which columns of a table a model reads.

    Attributes
    ----------
    kind : {"text", "numbers", "scores", "decisions"}
    names : tuple of str
        The text column, or those of the features, in the order of training; of scores, one for each class.
    label : str
        The column of labels that it was trained on.
    """

    kind: Literal["text", "numbers", "scores", "decisions"]
    names: tuple[str, ...]
    label: str = ""
