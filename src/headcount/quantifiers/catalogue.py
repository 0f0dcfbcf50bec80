"""The catalogue of quantification methods: filled by registration, extended by other packages through entry points.

A method registers itself with `register_method`. Other packages name their methods under the entry point group
``headcount.quantifiers``, so that a fresh process knows them and can read their model files.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Any, TypeVar

from headcount._imports import import_object
from headcount._validation import quoted
from headcount.exceptions import DataError, HeadcountWarning, UnknownNameError
from headcount.quantifiers.base import Quantifier

__all__ = ["ENTRY_POINTS", "Method", "list_methods", "method_named", "register_method", "registered_types"]

ENTRY_POINTS = "headcount.quantifiers"
GROUPS = (
    "baseline",
    "counting",
    "adjusting",
    "thresholds",
    "likelihood",
    "matching",
    "on features",
    "Bayesian",
    "explicit loss",
    "network",
    "meta",
    "other",
)
"""Order in which methods are listed."""

Q = TypeVar("Q", bound=type[Quantifier])


@dataclass(frozen=True)
class Method:
    """A method and what a user wants to know before choosing it.

    Attributes
    ----------
    name, title, reference : str
    quantifier : class
    group : str
        Kind of method, one of the catalogue's groups.
    needs : str
        What it needs of the data, in words.
    preset : callable, optional
        Makes the quantifier of a method that is a class with certain settings.
    table_preset : callable, optional
        Makes it with the settings that the commands over tables use, where these are not the defaults.
    suggested : bool
        Whether the automatic choice tries it by default.
    max_classes : int, optional
        The most classes of a preset, where its class takes more.
    aliases : tuple of str
        Other names of the same method in publications and libraries.
    """

    name: str
    quantifier: type[Quantifier]
    title: str
    reference: str
    group: str = "other"
    needs: str = ""
    preset: Callable[[], Quantifier] | None = None
    table_preset: Callable[[], Quantifier] | None = None
    suggested: bool = False
    max_classes: int | None = None
    aliases: tuple[str, ...] = ()

    @property
    def classes(self) -> str:
        """How many classes it takes, in words."""
        most = self.max_classes or self.quantifier.max_classes
        return "any" if most is None else "two" if most == 2 else f"up to {most}"

    @property
    def brings_learner(self) -> bool:
        """Whether it has a learner of its own, or takes no classifier, so that no other can be put in."""
        return self.quantifier.brings_learner

    @property
    def why_no_classifier(self) -> str:
        """Why no classifier can be chosen for it, in words that follow its name; empty if one can.

        >>> method_named("HDx").why_no_classifier, method_named("PACC").why_no_classifier
        ('works without a classifier', '')
        """
        if self.group == "meta":
            return "is made of other quantifiers"
        takes_one = "classifier" in self.for_tables().get_params(deep=False)
        if self.brings_learner and takes_one:
            return "trains a classifier of its own"
        return "" if takes_one else "works without a classifier"

    def make(self) -> Quantifier:
        """Return the quantifier, with its defaults."""
        return self.quantifier() if self.preset is None else self.preset()

    def for_tables(self) -> Quantifier:
        """Return the quantifier with the settings that the commands over tables use."""
        return self.make() if self.table_preset is None else self.table_preset()


_METHODS: dict[str, Method] = {}


def register_method(title: str, reference: str, **more: Any) -> Callable[[Q], Q]:
    """Return a decorator that enters a quantifier into the catalogue.

    Parameters
    ----------
    title : str
        What the method does, in a few words.
    reference : str
        Author and year.
    **more
        Further fields of `Method`: ``name`` (by default that of the class), ``group``, ``needs``, ``preset``,
        ``table_preset``, ``suggested``, ``max_classes``, ``aliases``.
    """

    def register(quantifier: Q) -> Q:
        name = more.pop("name", quantifier.__name__)
        method = Method(name, quantifier, title, reference, **more)
        _METHODS[method.name] = method
        return quantifier

    return register


@cache
def _entry_point_types() -> frozenset[type[Quantifier]]:
    """Load the quantifiers that installed packages name, once, and return them."""
    types = []
    for point in entry_points(group=ENTRY_POINTS):
        try:
            quantifier = _as_quantifier(point.load(), point.value)
        except Exception as error:
            warnings.warn(
                f"The method {point.name!r} of an installed package can't be loaded: {error}",
                HeadcountWarning,
                stacklevel=3,
            )
            continue
        types.append(quantifier)
        if not any(method.quantifier is quantifier for method in _METHODS.values()):
            _METHODS[point.name] = _undescribed(quantifier)
    return frozenset(types)


def _as_quantifier(made: Any, path: str) -> type[Quantifier]:
    if not (isinstance(made, type) and issubclass(made, Quantifier)):
        raise DataError(f"{path} is not a quantifier: a method must be a subclass of headcount.quantifiers.Quantifier.")
    return made


def _undescribed(quantifier: type[Quantifier]) -> Method:
    """Return the entry of a method that did not register itself: its title is the first line of its docstring."""
    title = (quantifier.__doc__ or "").strip().partition("\n")[0].rstrip(".")
    return Method(quantifier.__name__, quantifier, title or quantifier.__name__, "")


def registered_types() -> frozenset[type[Quantifier]]:
    """Return the classes that a model file may hold: those of this library, and those named by entry points."""
    built_in = {m.quantifier for m in _METHODS.values() if m.quantifier.__module__.startswith("headcount.")}
    return frozenset(built_in) | _entry_point_types()


def list_methods() -> tuple[Method, ...]:
    """List all quantification methods there are, those of installed packages included.

    >>> [method.name for method in list_methods()][:5]
    ['MLPE', 'CC', 'PCC', 'ACC', 'PACC']
    """
    _entry_point_types()
    return tuple(sorted(_METHODS.values(), key=lambda method: GROUPS.index(method.group)))


def method_named(name: str) -> Method:
    """Return the method of this name, as the paper or this library writes it, in any case; or of an alias or an import path.

    >>> method_named("EMQ").name, method_named("GPAC").name
    ('SLD', 'PACC')
    >>> method_named("svm(kld)").make()
    ELM(classifier=SVMperf(loss='kld'))
    >>> method_named("headcount.quantifiers:PACC").name
    'PACC'
    """
    methods = list_methods()
    for method in methods:
        if method.name.lower() == str(name).lower():
            return method
    for method in methods:
        if str(name).lower() in (alias.lower() for alias in method.aliases):
            return method
    if "." in str(name):
        quantifier = _as_quantifier(import_object(name, f"method {name!r}"), name)
        registered = [method for method in methods if method.quantifier is quantifier]
        return registered[0] if registered else _undescribed(quantifier)
    raise UnknownNameError(
        f"There is no method {name!r}. There are: {quoted([method.name for method in methods], 50)}; your own is named by its "
        "import path, as in package.module:Class."
    )
