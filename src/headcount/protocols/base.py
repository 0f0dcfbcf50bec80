"""What all protocols share: from the labels of a pool and a seed to samples and their true shares."""

from abc import ABCMeta, abstractmethod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from headcount._threads import in_chunks
from headcount._typing import AnyArray, FloatArray, IntArray, Labels, RandomState
from headcount._validation import as_classes, class_codes, encode, integers_from, quoted, seed_sequence
from headcount.exceptions import DataError
from headcount.protocols.samples import Samples

__all__ = ["Protocol"]

_ITEMS_A_CHUNK = 1 << 16
"""Items drawn by one generator. Part of what a seed means: another value gives other samples."""


class Protocol(BaseEstimator, metaclass=ABCMeta):
    """Base of the protocols: a rule by which samples are drawn from a labelled pool.

    A protocol never sees the features. It is scikit-learn style: parameters are stored as given, checked when used, and
    ``clone``, ``get_params`` and ``set_params`` work.
    """

    sample_size: int
    random_state: RandomState

    _parameter_constraints: dict[str, Any] = {  # noqa: RUF012 (scikit-learn's name and form)
        "sample_size": integers_from(1),
        "random_state": "no_validation",  # worded by seed_sequence
    }

    def draw(self, y: Labels, classes: Any = None) -> tuple[Samples, FloatArray]:
        """Draw samples from a pool with these labels.

        Parameters
        ----------
        y : labels of the pool's items
        classes : sequence of labels, optional
            The classes whose shares are meant, in this order; by default the sorted distinct labels of ``y``.

        Returns
        -------
        samples : Samples
        true : array of shape (n_samples, n_classes)
            The shares of the classes in each sample.
        """
        self._validate_params()
        if classes is None:
            known, codes = class_codes(y)
        else:
            known = as_classes(classes)
            codes = encode(y, known)
        if len(known) < 2:
            raise DataError(f"The pool holds only one class, {quoted(known)}: pass classes=... to name the others.")
        counts_seed, items_seed = seed_sequence(self.random_state).spawn(2)
        return self._draw(codes, known, np.random.default_rng(counts_seed), items_seed)

    def _draw(
        self, codes: IntArray, classes: AnyArray, generator: np.random.Generator, seed: np.random.SeedSequence
    ) -> tuple[Samples, FloatArray]:
        counts = self._class_counts(len(classes), generator)
        held = np.bincount(codes, minlength=len(classes))
        lacking = (held == 0) & counts.any(axis=0)
        if lacking.any():
            raise DataError(
                f"{type(self).__name__} asks for items of class {quoted(classes[lacking])}, and the pool has none. "
                "Add labelled items of that class to the pool, or use NaturalPrevalence."
            )
        samples = draw_items(counts, Samples._grouped(codes, len(classes)), seed)
        return samples, counts / self.sample_size

    @abstractmethod
    def _class_counts(self, n_classes: int, generator: np.random.Generator) -> IntArray:
        """Say how many items of each class each sample gets, shape (n_samples, n_classes)."""


def draw_items(counts: IntArray, groups: Samples, seed: np.random.SeedSequence, replace: bool = False) -> Samples:
    """Draw ``counts[s, g]`` items of each group g into sample s; all samples must have the same size.

    Without replacement where a group has enough items, unless ``replace``.

    A chunk of samples has a generator of its own, so the draw has the same bits for any number of threads.
    """
    from headcount.protocols import _kernels

    n_samples, size = len(counts), int(counts[0].sum()) if len(counts) else 0
    indices = np.empty(n_samples * size, dtype=groups.indices.dtype)
    chunk = max(1, _ITEMS_A_CHUNK // max(1, size))

    def draw(start: int, stop: int) -> None:
        own = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, start // chunk))
        state = np.random.SFC64(own).state["state"]["state"]
        with np.errstate(over="ignore"):  # as plain Python, the generator's arithmetic warns of its overflows
            _kernels.draw(
                state, replace, counts[start:stop], groups.indices, groups.indptr, indices[start * size : stop * size]
            )

    in_chunks(draw, n_samples, chunk)
    return Samples._trusted(indices, np.arange(n_samples + 1) * size, groups.bound)
