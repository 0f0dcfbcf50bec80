"""`Run`: a method, its learner, a setting of their parameters, and the number of the run."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

__all__ = ["Run"]


@dataclass(frozen=True, eq=False)
class Run:
    """A method over a learner with one setting of its parameters: what a search or a study fits.

    Attributes
    ----------
    method, learner : str
        Names; the learner is empty for a method that has its own, or needs none.
    params : dict of str to value
        The setting: only the parameters that were chosen, not those at their defaults.
    run : int
        Number of the run, from 0; runs of one method differ only in their seed.

    Examples
    --------
    >>> Run("CC", "lr", {"C": 1.0, "tol": 0.1}).key == Run("CC", "lr", {"tol": 0.1, "C": 1.0}).key
    True
    """

    method: str
    learner: str
    params: dict[str, Any]
    run: int = 0

    @property
    def setting(self) -> str:
        """The parameters as text, the same in whatever order they were given."""
        return repr(sorted(self.params.items(), key=str))

    @property
    def key(self) -> Hashable:
        """What to look the run up by: runs of equal keys are fitted once."""
        return self.method, self.learner, self.run, self.setting
