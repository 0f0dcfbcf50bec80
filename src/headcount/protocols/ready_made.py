"""Samples that were drawn before: given as row numbers, or read from a file of them."""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from headcount._typing import AnyArray, FloatArray, IntArray
from headcount._validation import quoted
from headcount.exceptions import DataError
from headcount.protocols.base import Protocol
from headcount.protocols.samples import Samples

__all__ = ["ReadyMadeSamples"]


@dataclass(eq=False, repr=False)
class ReadyMadeSamples(Protocol):
    """Samples that were drawn before, as those of a shared task or of another library: the true shares are counted.

    Parameters
    ----------
    samples : Samples, matrix or list of lists of row numbers, or path
        A file is text with one sample a line: row numbers of the pool, from 0, separated by blanks or commas. Empty lines and what
        follows ``#`` are left out.

    Examples
    --------
    >>> samples, true = ReadyMadeSamples([[0, 1, 2, 3], [2, 3]]).draw(["a", "a", "a", "b"])
    >>> true.tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """

    samples: Any

    sample_size: ClassVar[None] = None  # type: ignore[misc,assignment]
    random_state: ClassVar[None] = None  # type: ignore[misc]
    _parameter_constraints: ClassVar[dict[str, Any]] = {"samples": "no_validation"}

    def _draw(
        self,
        codes: IntArray,
        classes: AnyArray,
        generator: np.random.Generator,  # noqa: ARG002
        seed: np.random.SeedSequence,  # noqa: ARG002
    ) -> tuple[Samples, FloatArray]:
        samples = _as_samples(self.samples)
        samples.check_pool(len(codes))
        weights = samples.total_weights()
        if not len(samples) or not (weights > 0.0).all():
            raise DataError(f"Each sample needs at least one item; of {len(samples)} samples some have none.")
        return samples, samples.count(codes, len(classes)) / weights[:, None]

    def _class_counts(self, n_classes: int, generator: np.random.Generator) -> IntArray:
        raise NotImplementedError("Nothing is drawn.")


def _as_samples(given: Any) -> Samples:
    if isinstance(given, Samples):
        return given
    if isinstance(given, str | PathLike):
        return Samples.from_lists(_read(Path(given)))
    return Samples.from_lists([np.atleast_1d(np.asarray(rows)) for rows in given])


def _read(path: Path) -> list[IntArray]:
    """Read row numbers, one sample a line."""
    lists = []
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} can't be read as a text file of row numbers: {error}.") from error
    for number, line in enumerate(text.splitlines(), start=1):
        fields = line.partition("#")[0].replace(",", " ").split()
        if not fields:
            continue
        wrong = [field for field in fields if not (field.isascii() and field.isdigit() and len(field) < 19)]
        if wrong:
            raise DataError(f"{path}, line {number}: {quoted(wrong)} is not a row number (0, 1, ..).")
        lists.append(np.array(fields, dtype=np.int64))
    return lists
