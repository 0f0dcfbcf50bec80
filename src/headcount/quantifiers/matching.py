"""What the methods that match distributions share: learning how each class is represented, on a validation part.

Such a method is composed of a representation of items (what is added up) and a way to find the shares of the mixture of
class profiles that is nearest to a sample. ACC, PACC and HDy are presets; others need only name their two parts.
"""

from abc import abstractmethod
from typing import Any

from headcount._typing import IntArray, RandomState
from headcount.learners import Fits, Validation
from headcount.protocols import Samples
from headcount.quantifiers.statistics import Statistics
from headcount.quantifiers.validated import DEFAULT_VALIDATION, ValidatedQuantifier

__all__ = ["MatchingQuantifier"]


class MatchingQuantifier(ValidatedQuantifier):
    """Base of the methods that explain a sample as a mixture of the profiles of its classes.

    A subclass sets the representation, keeps the profiles in ``_learn_profiles``, and finds the shares in ``solve``.
    """

    def __init__(
        self, classifier: Any = None, *, validation: Validation = DEFAULT_VALIDATION, random_state: RandomState = None
    ) -> None:
        self.classifier = classifier
        self.validation = validation
        self.random_state = random_state

    @abstractmethod
    def _learn_profiles(self, by_class: Statistics) -> None:
        """Keep what is known of each class: row j of the statistics belongs to the validation items of class j."""

    def _learn(self, fits: Fits, codes: IntArray) -> None:
        """Fit the classifier on one part of the labelled items, and learn the profiles of the classes on the other."""
        self._learn_validated(fits, codes)
        groups = Samples._grouped(self.validation_codes_, len(self.classes_))
        self._learn_profiles(self.representation.reduce(self.validation_outputs_, groups))
