"""Base class of the protocols: from the labels of a pool and a seed to samples and their true shares."""

from abc import ABCMeta, abstractmethod
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from headcount._interpreted import run
from headcount._threads import in_chunks
from headcount._typing import AnyArray, FloatArray, IntArray, Labels, RandomState
from headcount._validation import as_classes, class_codes, encode, integers_from, quoted, seed_sequence
from headcount._writing import html_table
from headcount.exceptions import DataError
from headcount.protocols.samples import Samples

__all__ = ["Protocol", "RandomProtocol", "draw_items"]

_ITEMS_PER_CHUNK = 1 << 16
"""Items drawn by one generator. Changing it changes the samples of every seed."""


class Protocol(BaseEstimator, metaclass=ABCMeta):
    """Base of the protocols: a rule by which samples are drawn from a labelled pool.

    A protocol sees only labels, never features. As in scikit-learn, parameters are stored as given and checked when used, and
    ``clone``, ``get_params`` and ``set_params`` work.

    A subclass implements ``_class_counts``. A protocol that does not draw by class overrides ``_draw``, as `NaturalPrevalence`
    does.
    """

    sample_size: int
    random_state: RandomState

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "sample_size": integers_from(1),
        "random_state": "no_validation",  # checked by seed_sequence, which also takes a Generator
    }

    def draw(self, y: Labels, classes: Any = None) -> tuple[Samples, FloatArray]:
        """Draw samples from a pool with these labels.

        Parameters
        ----------
        y : labels of the pool's items
        classes : sequence of labels, optional
            The classes, in the order of the columns of ``true``; by default the sorted distinct labels of ``y``.

        Returns
        -------
        samples : Samples
        true : array of shape (n_samples, n_classes)
            Shares of the classes in each sample.
        """
        self._validate_params()
        if classes is None:
            classes, codes = class_codes(y)
        else:
            classes = as_classes(classes)
            codes = encode(y, classes)
        if len(classes) < 2:
            raise DataError(f"The pool holds only one class, {quoted(classes)}: pass classes=... to name the others.")
        counts_seed, items_seed = seed_sequence(self.random_state).spawn(2)
        return self._draw(codes, classes, np.random.default_rng(counts_seed), items_seed)

    def _draw(
        self, codes: IntArray, classes: AnyArray, generator: np.random.Generator, seed: np.random.SeedSequence
    ) -> tuple[Samples, FloatArray]:
        return self._drawn(self._class_counts(len(classes), generator), codes, classes, seed)

    def _drawn(
        self, counts: IntArray, codes: IntArray, classes: AnyArray, seed: np.random.SeedSequence
    ) -> tuple[Samples, FloatArray]:
        """Draw so many items of each class into each sample, and return the samples with their shares."""
        missing = (np.bincount(codes, minlength=len(classes)) == 0) & counts.any(axis=0)
        if missing.any():
            raise DataError(
                f"{type(self).__name__} asks for items of class {quoted(classes[missing])}, and the pool has none. "
                "Add labelled items of that class to the pool, or use NaturalPrevalence."
            )
        samples = draw_items(counts, Samples._grouped(codes, len(classes)), seed)
        return samples, counts / self.sample_size

    @abstractmethod
    def _class_counts(self, n_classes: int, generator: np.random.Generator) -> IntArray:
        """Return the number of items of each class in each sample, shape (n_samples, n_classes)."""

    def _html_repr(self) -> str:
        """Table of the parameters for notebooks; scikit-learn's diagram would say "Not fitted", but a protocol is never fitted."""
        return html_table(type(self).__name__, self.get_params(deep=False))


class RandomProtocol(Protocol):
    """Base of the protocols that draw a given number of samples, each at random shares."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Protocol._parameter_constraints,
        "n_samples": integers_from(1),
    }

    def __init__(self, n_samples: int = 1000, *, sample_size: int = 500, random_state: RandomState = None) -> None:
        self.n_samples = n_samples
        self.sample_size = sample_size
        self.random_state = random_state


def draw_items(counts: IntArray, groups: Samples, seed: np.random.SeedSequence, replace: bool = False) -> Samples:
    """Draw ``counts[s, g]`` items of each group g into sample s; all samples must have the same size.

    Items are drawn without replacement where a group has enough of them, unless ``replace``. Each chunk of samples has its own
    generator, so the draw has the same bits for any number of threads.
    """
    from headcount.protocols import _kernels

    n_samples, size = len(counts), int(counts[0].sum()) if len(counts) else 0
    indices = np.empty(n_samples * size, dtype=groups.indices.dtype)
    chunk = max(1, _ITEMS_PER_CHUNK // max(1, size))

    def draw(start: int, stop: int) -> None:
        chunk_seed = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, start // chunk))
        state = np.random.SFC64(chunk_seed).state["state"]["state"]
        with np.errstate(over="ignore"):  # uncompiled, the generator's modular arithmetic would warn of overflow
            run(
                _kernels.draw,
                10.0 * (stop - start) * size,
                state,
                replace,
                counts[start:stop],
                groups.indices,
                groups.indptr,
                indices[start * size : stop * size],
            )

    in_chunks(draw, n_samples, chunk)
    return Samples._trusted(indices, np.arange(n_samples + 1) * size, groups.bound)
