"""Exceptions and warnings of Headcount. A message says what was given, what was expected and what to do."""

__all__ = [
    "ClassifierError",
    "DataError",
    "DeviceError",
    "FileFormatError",
    "HeadcountError",
    "HeadcountWarning",
    "IdentifiabilityWarning",
    "MissingPackageError",
    "PriorWarning",
    "SearchError",
    "SearchWarning",
    "StoreError",
    "TrainingError",
    "TrainingWarning",
    "UnknownNameError",
]


class HeadcountError(Exception):
    """Base class of all errors that Headcount raises for a user's mistake."""


class DataError(HeadcountError, ValueError):
    """Items, labels, posteriors, shares or samples that can't be used as given."""


class FileFormatError(DataError):
    """A file whose content does not match its name or the requested format."""


class ClassifierError(HeadcountError, TypeError):
    """A classifier that lacks a method the quantifier needs, or returns values that can't be used."""


class SearchError(HeadcountError, ValueError):
    """A search in which every candidate failed."""


class MissingPackageError(HeadcountError, ImportError):
    """A package of an optional extra is not installed."""


class DeviceError(HeadcountError, RuntimeError):
    """A device that does not exist, has too little memory or failed."""


class TrainingError(HeadcountError, ArithmeticError):
    """A network whose training diverged."""


class StoreError(HeadcountError, OSError):
    """A study's store that can't be used, or a damaged or altered file in it."""


class UnknownNameError(HeadcountError, LookupError):
    """A name that is not registered; the message lists the registered names."""


class HeadcountWarning(UserWarning):
    """Base class of all warnings of Headcount."""


class SearchWarning(HeadcountWarning):
    """Candidates of a search failed."""


class TrainingWarning(HeadcountWarning):
    """The training of a network stopped in another way than requested."""


class PriorWarning(HeadcountWarning):
    """The posteriors of a classifier hold under other shares than a method is told."""


class IdentifiabilityWarning(HeadcountWarning):
    """The classifier does not separate some classes, so their shares can't be separated either."""
