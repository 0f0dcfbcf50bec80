"""What the methods with a validation part share: outputs of labelled items that the classifier was not trained on."""

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any

import numpy as np

from headcount._typing import IntArray, RandomState
from headcount._validation import quoted
from headcount.exceptions import DataError
from headcount.learners import VALIDATION_CONSTRAINTS, Fits, Outputs, Validation, score
from headcount.quantifiers.aggregative import AggregativeQuantifier

__all__ = ["DEFAULT_VALIDATION", "ValidatedQuantifier"]

DEFAULT_VALIDATION = 0.4


class ValidatedQuantifier(AggregativeQuantifier):
    """Base of the methods that learn how the classifier behaves on items of each class.

    Attributes
    ----------
    validation_outputs_ : Outputs
        Of the items of the validation part.
    validation_codes_ : array of int
        The classes of these items, as positions in ``classes_``.
    """

    validation: Validation
    random_state: RandomState
    validation_outputs_: Outputs
    validation_codes_: IntArray

    _parameter_constraints: dict[str, Any] = {  # noqa: RUF012
        **AggregativeQuantifier._parameter_constraints,
        "validation": VALIDATION_CONSTRAINTS,
        "random_state": "no_validation",
    }

    @property
    def uses_validation(self) -> bool:
        """Whether a part of the labelled items is held out, or scored in folds."""
        return True

    def _learn_validated(self, fits: Fits, codes: IntArray) -> None:
        """Fit the classifier on one part of the labelled items, and keep its outputs on the other."""
        parts = list(self._validated(fits, codes))
        self.validation_outputs_ = Outputs.concatenated([outputs for outputs, _ in parts])
        self.validation_codes_ = np.concatenate([own for _, own in parts])
        if not self._holds_out() and not self._is_frozen():
            self.classifier_ = fits.fit(self._learner(codes))
        absent = np.bincount(self.validation_codes_, minlength=len(self.classes_)) == 0
        if absent.any():
            raise DataError(
                f"The validation part has no items of class {quoted(self.classes_[absent])}: {type(self).__name__} must "
                "see every class there. Label more items, or use another validation split."
            )

    def _validated(self, fits: Fits, codes: IntArray) -> Iterator[tuple[Outputs, IntArray]]:
        """Yield the outputs and the codes of each validation part."""
        for train, held_out in self._parts(fits, codes):
            lost = np.setdiff1d(codes, codes[train])
            if lost.size:
                raise DataError(
                    f"validation={self.validation!r} leaves no items of class {quoted(self.classes_[lost])} to train on: use a "
                    "stratified split, or label more items."
                )
            self.classifier_ = fits.fit(self._learner(codes[train]), train)
            yield score(self.classifier_, fits.part(held_out)[0], self.needs, self.classes_), codes[held_out]

    def _parts(self, fits: Fits, codes: IntArray) -> list[tuple[Any, Any]]:
        """Return pairs of rows: to train on, to validate on."""
        if not self._is_frozen():
            return fits.splits(self.validation, codes, self.random_state)
        if self.validation != DEFAULT_VALIDATION:
            raise DataError(
                "With a frozen classifier all data given to fit is the validation part: "
                f"leave validation at its default (got {self.validation!r})."
            )
        everything = np.arange(len(codes))
        return [(everything, everything)]

    def _holds_out(self) -> bool:
        """Whether validation is a fraction, so that the classifier stays the one fitted on the rest."""
        return isinstance(self.validation, Real) and not isinstance(self.validation, Integral)
