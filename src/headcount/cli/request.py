"""What the commands over a model and a pile have in common: which model, which rows, which groups; plain functions, no options."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from headcount.exceptions import DataError

__all__ = ["Request", "facts_of", "told_progress"]


@dataclass(frozen=True)
class Request:
    """A model, the files to estimate, and how.

    Attributes
    ----------
    model : str
        A model file; if ``scored``, a labelled table with scores or decisions; if ``confusion``, a confusion matrix.
    files : tuple of str
    by : str or None
    """

    model: str
    files: tuple[str, ...]
    by: str | None = None
    scored: bool = False
    confusion: bool = False
    label: str | None = None
    scores: str | None = None
    decisions: str | None = None
    method: str = "auto"
    level: float = 0.95
    estimand: Literal["population", "pile"] = "population"
    assume: Literal["no-shift"] | None = None
    min_items: int = 30
    cluster: str | None = None

    def __post_init__(self) -> None:
        if not 0.0 < self.level < 1.0:
            raise DataError(f"--level must be between 0 and 1, such as 0.95; got {self.level:g}.")
        once = [name for name in (self.model, *self.files) if name == "-" or Path(name).is_fifo()]
        if len(set(once)) < len(once):
            raise DataError("Standard input, or a pipe, can be read but once: name a file in one of its places.")

    def made(self) -> Any:
        """Return the `Model`: read from its file, or made of a labelled table."""
        from headcount.cli.scored import confusion_model, scored_model
        from headcount.modelfile import load_model

        if self.confusion:
            if self.scored or self.cluster or (self.label, self.scores, self.decisions) != (None, None, None):
                raise DataError(
                    "--confusion takes a matrix and counts: --scored, --label, --scores, --decisions and --dask do not go with it."
                )
            return confusion_model(self.model, self.method)
        if self.scored:
            if self.label is None:
                raise DataError("--scored needs the column of true labels of the labelled table: --label NAME.")
            return scored_model(
                self.model, label=self.label, scores=self.scores, decisions=self.decisions, method=self.method
            )
        if (self.label, self.scores, self.decisions, self.method) != (None, None, None, "auto"):
            raise DataError("--label, --scores, --decisions and --method go with --scored; a model file knows its own.")
        return load_model(self.model)

    def tally(self, model: Any, tell: Callable[[int], None] | None = None) -> Any:
        """Read the files, and add up what the model needs of each group."""
        from headcount.cli.scored import tally_counts
        from headcount.stream import Reading, Recipe, tally_files

        recipe = Recipe(model.quantifier, model.held_out(), model.only_decides)
        if self.confusion:
            whole = recipe.start()
            for file in self.files:
                whole.merge(tally_counts(file, recipe, self.by))
            return whole
        reading = Reading(recipe, model.columns.kind, model.columns.names, self.by)
        return tally_files(self.files, reading, tell, self.cluster)

    def groups(self, tally: Any) -> Any:
        """Estimate the shares of each group of a tally, and check them."""
        from headcount.stream import shares_of

        return shares_of(
            tally, level=self.level, estimand=self.estimand, assume=self.assume, min_items=max(self.min_items, 1)
        )


def facts_of(model: Any, request: Request) -> dict[str, str]:
    """Return where an answer comes from, for people to read."""
    learner = f" over {model.learner}" if model.learner else ""
    source = model.source
    facts = {
        "Method": f"{model.method}{learner}",
        "Labelled items": f"{source.get('rows', 0):,} in {source.get('name', '')}",
        "Items estimated": ", ".join(Path(file).name if file != "-" else "standard input" for file in request.files),
    }
    if model.written:
        facts["Model"] = f"{Path(request.model).name}, written {model.written}, seed {model.seed}"
    facts["Fingerprint of the labelled file"] = str(source.get("fingerprint", ""))[:16]
    return facts


@contextmanager
def told_progress(title: str) -> Iterator[Callable[[int], None] | None]:
    """Show how many rows were read, where a person is looking."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}: {task.completed:,} rows"), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda rows: bar.advance(task, rows)
