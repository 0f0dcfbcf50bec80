"""What a league knows of its data sets: kind, size, imbalance, and which of them are made of the same items."""

from dataclasses import dataclass
from typing import Any

from headcount.study import Results

__all__ = ["IMBALANCES", "SIZES", "SetFacts", "facts_of"]

SIZES = ((0, "up to 500"), (500, "501 to 2,000"), (2000, "over 2,000"))
"""Groups of data sets by labelled items: more than so many, and the group's name."""
IMBALANCES = ((0.0, "under 10 %"), (0.1, "10 to 30 %"), (0.3, "over 30 %"))
"""Groups of data sets by the share of the rarest class: at least so much, and the group's name."""


@dataclass(frozen=True)
class SetFacts:
    """A data set of a league.

    Attributes
    ----------
    name, kind : str
        The kind is "tables" or "texts".
    classes : tuple of str
    n_train, n_test : int
    rarest : float
        Share of the rarest class in the training part, times half the number of classes: 0.5 where all classes are alike.
    training : tuple of float
        Class shares in the training part.
    unit : str
        The first data set that is made of the same items, or this one: such sets count once.
    """

    name: str
    kind: str
    classes: tuple[str, ...]
    n_train: int
    n_test: int
    rarest: float
    training: tuple[float, ...]
    unit: str

    @property
    def size(self) -> str:
        """The group by labelled items."""
        return next(name for least, name in reversed(SIZES) if self.n_train > least)

    @property
    def imbalance(self) -> str:
        """The group by the share of the rarest class."""
        return next(name for least, name in reversed(IMBALANCES) if self.rarest >= least)


def facts_of(results: Results) -> list[SetFacts]:
    """Return what the store says of each data set that it has results of."""
    truths = {name: truth for name in results.plan.data_sets if (truth := results.truth(name)) is not None}
    units = _units(truths)
    return [
        SetFacts(
            name=name,
            kind=truth["kind"],
            classes=tuple(truth["classes"]),
            n_train=truth["n_train"],
            n_test=truth["n_test"],
            rarest=min(truth["training"]) * len(truth["classes"]) / 2.0,
            training=tuple(truth["training"]),
            unit=units[name],
        )
        for name, truth in truths.items()
    ]


def _units(truths: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Return the first set made of the same items as each: by the hash of its items, or as a file beside it says."""
    unit = {name: name for name in truths}

    def root(name: str) -> str:
        while unit[name] != name:
            name = unit[name]
        return name

    def join(a: str, b: str) -> None:
        first, second = sorted((root(a), root(b)), key=order.__getitem__)
        unit[second] = first

    order = {name: i for i, name in enumerate(truths)}
    first_with: dict[str, str] = {}
    for name, truth in truths.items():
        items = truth.get("items")
        if items:
            join(first_with.setdefault(str(items), name), name)
        folder = name.rpartition("/")[0]
        for other in str(truth.get("same_items_as") or "").split():
            for known in (other, f"{folder}/{other}"):
                if known in order:
                    join(known, name)
    return {name: root(name) for name in truths}
