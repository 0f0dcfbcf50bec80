"""`FoldsBesides`: validation items only among those that did not choose the quantifier."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from headcount._typing import IntArray
from headcount.learners.validation import Validation, validation_parts

__all__ = ["FoldsBesides"]


@dataclass(frozen=True)
class FoldsBesides:
    """Split labelled items such that those on which a choice was made train, and never validate.

    A fraction ``test_size`` of the items, stratified, judged the candidates; the split is that of `validation_parts` with the same
    fraction and seed. The other items are split into folds or into two parts. Each classifier is trained on the first part and on
    what its fold leaves of the others, and validated on its fold. The best of many candidates looks better on the items that chose
    it than it is, so its error rates are learnt on the others.

    Parameters
    ----------
    test_size : float
        Fraction of the items that the choice was made on.
    validation : int, float or splitter, default=5
        How the other items are split. Where a class has fewer items than there are folds, there are as many folds as it has items.
    random_state : int, default=0

    Examples
    --------
    >>> y = np.repeat([0, 1], 50)
    >>> splitter = FoldsBesides(0.4, 5)
    >>> [(len(train), len(held_out)) for train, held_out in splitter.split(y, y)]
    [(88, 12), (88, 12), (88, 12), (88, 12), (88, 12)]
    """

    test_size: float
    validation: Validation = 5
    random_state: int = 0

    def parts(self, y: Any) -> tuple[IntArray, IntArray]:
        """Return the rows of the items that validate, and of those that the choice was made on."""
        _, codes = np.unique(np.asarray(y), return_inverse=True)
        return next(validation_parts(float(self.test_size), codes, self.random_state, "test_size"))

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[IntArray, IntArray]]:  # noqa: ARG002
        """Yield pairs of row numbers: to train on, to validate on."""
        _, codes = np.unique(np.asarray(y), return_inverse=True)
        others, chosen_on = self.parts(codes)
        for train, held_out in validation_parts(self._inner(codes[others]), codes[others], self.random_state):
            yield np.sort(np.concatenate([others[train], chosen_on])), others[held_out]

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits."""
        return sum(1 for _ in self.split(X, y, groups))

    def _inner(self, codes: IntArray) -> Validation:
        if isinstance(self.validation, int | np.integer):
            return int(np.clip(np.bincount(codes).min(), 2, self.validation))
        return self.validation
