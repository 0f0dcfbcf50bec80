"""A cell of the table: one setting, and what intervals, regions and comparisons must meet there."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.coverage.worlds import World

SUMS = ("ACC", "PACC")
ALL = (*SUMS, "SLD bcts")
WITH_PLAIN = (*ALL, "SLD plain")
BINARY = (*ALL, "HDy")
BINARY_WITH_PLAIN = (*BINARY, "SLD plain")
MANY, FEW = 2000, 400
"""Simulations of cells that are quick (Gaussian classes, logistic regression), and of forests and texts."""


@dataclass(frozen=True)
class Cell:
    """A setting: where items come from, how many are labelled, what the target is, and what is asked.

    Attributes
    ----------
    name, group : str
        The group is a section of the page.
    shares : tuple
        Shares of the population that the target is drawn from.
    labelled_shares : tuple or None
        Shares of the classes among labelled items; None means equal ones.
    validation : float, int or None
        As the quantifier takes it. A scorer that comes with the world is frozen, and all labelled items are validation items.
    kind : {"estimate", "difference", "family", "stability", "rename"}
    second : tuple or None
        Shares of the second target of a difference; None means the same shares.
    family_kind : {"first", "previous"}
        What each of twelve months is compared with.
    check : bool
        Whether to ask for a verdict too, in the first simulations.
    auc : float
        Above this AUC at most 5 % of intervals may be vacuous; 0 where that is not asked.
    identified : bool
        Whether the classifier tells all classes apart; elsewhere intervals of everything are right, and no coverage is too high.
    reported : tuple of str
        Methods that are shown and not judged.
    """

    name: str
    group: str
    world: World
    shares: tuple[float, ...]
    labelled: int
    target: int
    learner: str = "LR"
    methods: tuple[str, ...] = ALL
    labelled_shares: tuple[float, ...] | None = None
    validation: Any = 0.4
    level: float = 0.95
    estimand: str = "population"
    interval: str = "auto"
    kind: str = "estimate"
    second: tuple[float, ...] | None = None
    family_kind: str = "first"
    check: bool = False
    auc: float = 0.0
    identified: bool = True
    simulations: int = MANY
    reported: tuple[str, ...] = ("SLD plain",)

    @property
    def setting(self) -> str:
        """All that figures depend on, and nothing that only judges them."""
        return repr(replace(self, simulations=0, reported=(), identified=True))

    @property
    def scored(self) -> bool:
        """Whether items come with their scores, so that no classifier is fitted."""
        return self.world.scorer() is not None

    @property
    def labelled_counts(self) -> Any:
        """Number of labelled items of each class, at least two."""
        k = len(self.shares)
        shares = np.full(k, 1 / k) if self.labelled_shares is None else np.array(self.labelled_shares)
        return np.maximum(np.round(shares * self.labelled), 2).astype(int)

    @property
    def floor(self) -> float:
        """Lowest coverage that is accepted."""
        if self.level == 0.99:
            return 0.98
        folds_on_few = isinstance(self.validation, int) and self.labelled <= 200 and not self.scored
        return 0.92 if 0.0 in self.shares or folds_on_few else 0.93

    def can_cover_too_often(self, c: int) -> bool:
        """Whether coverage of class c may not exceed 99 %: where its share is above 0 and at least 10 items are expected."""
        return self.identified and self.level < 0.99 and self.shares[c] * self.target >= 10
