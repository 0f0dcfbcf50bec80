"""What Headcount raises and warns with: every message says what was found, what was expected and what to do."""

__all__ = [
    "ClassifierError",
    "DataError",
    "DeviceError",
    "FileFormatError",
    "HeadcountError",
    "HeadcountWarning",
    "IdentifiabilityWarning",
    "MissingPackageError",
    "SearchError",
    "SearchWarning",
    "StoreError",
    "TrainingError",
    "TrainingWarning",
    "UnknownNameError",
]


class HeadcountError(Exception):
    """Base of all errors that Headcount raises for a user's mistake."""


class DataError(HeadcountError, ValueError):
    """Items, labels, posteriors, shares or samples that can't be used as given."""


class FileFormatError(DataError):
    """A file that is not what its name, or the request, says it is."""


class ClassifierError(HeadcountError, TypeError):
    """A classifier that lacks a method the quantifier needs, or answers in a form that can't be used."""


class SearchError(HeadcountError, ValueError):
    """A search of which every candidate failed."""


class MissingPackageError(HeadcountError, ImportError):
    """A package of an extra that is not installed."""


class DeviceError(HeadcountError, RuntimeError):
    """A device that is not there, or has too little memory."""


class TrainingError(HeadcountError, ArithmeticError):
    """A network whose training has diverged."""


class StoreError(HeadcountError, OSError):
    """A study's store that can't be used, or a file of it that can't be trusted."""


class UnknownNameError(HeadcountError, LookupError):
    """A name that is not in a registry; the message lists those that are."""


class HeadcountWarning(UserWarning):
    """Base of all warnings of Headcount."""


class SearchWarning(HeadcountWarning):
    """Some candidates of a search failed."""


class TrainingWarning(HeadcountWarning):
    """The training of a network ended otherwise than asked for."""


class IdentifiabilityWarning(HeadcountWarning):
    """The classifier does not tell some classes apart, so their shares can't be told apart either."""
