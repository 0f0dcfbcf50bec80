"""Options that go together, as one parameter of each command that has them: rows, precision, labels, a classifier of one's own."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from typing import Any, Literal

from headcount.cli import options

__all__ = ["BlackBox", "Design", "Figures", "LaterLabels", "Precision", "Rows", "TargetLabels", "with_option_groups"]


@dataclass(frozen=True)
class Rows:
    """Which rows are read, and how they are grouped."""

    by: options.BY = None
    where: options.WHERE = None

    @property
    def grouping(self) -> str | None:
        """The columns of all --by as the one text that names them."""
        return ",".join(self.by) if self.by else None

    @property
    def conditions(self) -> list[str]:
        """The conditions of all --where."""
        return self.where or []


@dataclass(frozen=True)
class Precision:
    """What the intervals are about."""

    level: options.LEVEL = 0.95
    sample: options.SAMPLE = False
    pile: options.PILE = False

    @property
    def estimand(self) -> Literal["population", "sample"]:
        """Whose shares are estimated."""
        return "sample" if self.sample or self.pile else "population"


@dataclass(frozen=True)
class TargetLabels:
    """Where labels of new items are, and how these were drawn."""

    labels: options.LABELS = None
    labels_from: options.LABELS_FROM = None
    id: options.ID = None
    probability: options.PROBABILITY = None
    stratum: options.STRATUM = None

    @property
    def given(self) -> bool:
        """Whether there are labels."""
        return self.labels is not None or self.labels_from is not None

    def settings(self) -> dict[str, str | None]:
        """Return the settings of `headcount.desk.estimate_tables`; without labels, strata are those of the items."""
        return {
            "labels": self.labels,
            "labels_from": self.labels_from,
            "item": self.id,
            "probability": self.probability,
            "stratum": self.stratum if self.given else None,
        }


@dataclass(frozen=True)
class LaterLabels:
    """Where labels of items of batches are that arrive later."""

    labels: options.LABELS = None
    labels_from: options.LATER_LABELS_FROM = None
    id: options.LATER_ID = None


@dataclass(frozen=True)
class Design:
    """How rows were drawn."""

    weight: options.WEIGHT = None
    cluster: options.CLUSTER = None
    population_size: options.POPULATION = None

    def columns(self, stratum: str | None) -> Any:
        """Return the columns of the design, for `headcount.desk`."""
        from headcount.stream import DesignColumns

        size = None if self.population_size is None else population_asked(self.population_size)
        return DesignColumns(self.weight, stratum, self.cluster, size)


def population_asked(text: str) -> Any:
    """Return the number that is given for the whole population, or one for each stratum.

    >>> population_asked("9000"), population_asked("north=9000, south=4e3")
    (9000.0, {'north': 9000.0, 'south': 4000.0})
    """
    from headcount.exceptions import DataError

    parts = [part.rpartition("=") for part in text.split(",")] if "=" in text else [("", "", text)]
    try:
        sizes = {name.strip(): float(number) for name, _, number in parts}
    except ValueError as error:
        raise DataError(
            f"--population-size {text}: give a number of items, or one for each stratum, as in north=9000,south=4000."
        ) from error
    return sizes if "=" in text else sizes[""]


@dataclass(frozen=True)
class BlackBox:
    """What stands for a model file: scores, decisions or a confusion matrix of labelled items; and whether a file is trusted."""

    scored: options.SCORED = False
    confusion: options.CONFUSION = False
    label: options.LABEL = None
    scores: options.SCORES = None
    decisions: options.DECISIONS = None
    method: options.SCORED_METHOD = "auto"
    trust: options.TRUST = False

    @property
    def columns(self) -> dict[str, str | None]:
        """The columns of the labelled table."""
        return {"label": self.label, "scores": self.scores, "decisions": self.decisions}


@dataclass(frozen=True)
class Figures:
    """What is given beside the shares of classes, or compared instead of them; and the order of the classes."""

    value: options.VALUE = None
    at_least: options.AT_LEAST = None
    at_most: options.AT_MOST = None
    quantile: options.QUANTILE = None
    classes: options.CLASSES = None

    @property
    def asked(self) -> Any:
        """All of it, for `headcount.desk`."""
        from headcount.cli.model import class_names
        from headcount.desk import FiguresAsked

        order = None if self.classes is None else class_names(self.classes)
        return FiguresAsked(self.value, _names(self.at_least), _names(self.at_most), self.quantile or (), order)


def _names(given: list[str] | None) -> list[str]:
    """Return the classes that an option names, each time it is given or separated by commas."""
    return [name.strip() for text in given or () for name in text.split(",")]


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the options of each of its groups in place of the parameter that holds the group."""
    parameters = inspect.signature(command).parameters
    groups: dict[str, Any] = {
        name: parameter.annotation for name, parameter in parameters.items() if is_dataclass(parameter.annotation)
    }
    flat = []
    for name, parameter in parameters.items():
        own = [(field.name, field.type, field.default) for field in fields(groups[name])] if name in groups else []
        for part, annotation, default in own or [(name, parameter.annotation, parameter.default)]:
            flat.append(inspect.Parameter(part, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default))

    @wraps(command)
    def ungrouped(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    ungrouped.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]
    ungrouped.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    return ungrouped
