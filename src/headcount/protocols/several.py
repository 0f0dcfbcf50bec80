"""Several protocols as one: the samples of each, one after another."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from headcount._typing import AnyArray, FloatArray, IntArray
from headcount.exceptions import DataError
from headcount.protocols.base import Protocol
from headcount.protocols.samples import Samples

__all__ = ["SeveralProtocols"]


@dataclass(eq=False, repr=False)
class SeveralProtocols(Protocol):
    """Draw the samples of several protocols, so that a classifier scores the pool once for all of them.

    Parameters
    ----------
    protocols : dict of name to protocol
        Each sample has the name of its protocol (`Samples.names`).

    Examples
    --------
    >>> from headcount import ArtificialPrevalence, NaturalPrevalence
    >>> protocol = SeveralProtocols({
    ...     "shifted": ArtificialPrevalence(3, repeats=1, sample_size=10, random_state=0),
    ...     "as it is": NaturalPrevalence(2, sample_size=30, random_state=0),
    ... })
    >>> samples, true = protocol.draw([0] * 60 + [1] * 40)
    >>> samples.names
    ('shifted', 'shifted', 'shifted', 'as it is', 'as it is')
    >>> samples.sizes.tolist()
    [10, 10, 10, 30, 30]
    """

    protocols: dict[str, Protocol]

    sample_size: ClassVar[None] = None  # type: ignore[misc,assignment]
    random_state: ClassVar[None] = None  # type: ignore[misc]
    _parameter_constraints: ClassVar[dict[str, Any]] = {"protocols": [dict]}

    def _draw(
        self,
        codes: IntArray,
        classes: AnyArray,
        generator: np.random.Generator,  # noqa: ARG002
        seed: np.random.SeedSequence,  # noqa: ARG002
    ) -> tuple[Samples, FloatArray]:
        if not self.protocols:
            raise DataError("protocols must name at least one protocol.")
        labels = classes[codes]
        drawn = [protocol.draw(labels, classes) for protocol in self.protocols.values()]
        if any(samples.weights is not None or samples.counts is not None for samples, _ in drawn):
            raise DataError("Samples with weights can't be joined with others.")
        names = np.repeat(list(self.protocols), [len(samples) for samples, _ in drawn])
        indices = np.concatenate([samples.indices for samples, _ in drawn])
        sizes = np.concatenate([np.diff(samples.indptr) for samples, _ in drawn])
        joined = Samples(indices, np.concatenate([[0], np.cumsum(sizes)]), names=names.tolist())
        return joined, np.concatenate([true for _, true in drawn])

    def _class_counts(self, n_classes: int, generator: np.random.Generator) -> IntArray:
        raise NotImplementedError("Each protocol draws its own samples.")
