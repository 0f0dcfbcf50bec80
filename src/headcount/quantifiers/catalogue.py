"""The list of all methods, as `headcount methods` shows it and as the laws of the tests run over it."""

from dataclasses import dataclass

from headcount.quantifiers.adjusted import ACC, PACC
from headcount.quantifiers.base import Quantifier
from headcount.quantifiers.counting import CC, PCC
from headcount.quantifiers.hdy import HDy
from headcount.quantifiers.mlpe import MLPE
from headcount.quantifiers.sld import SLD

__all__ = ["Method", "list_methods"]


@dataclass(frozen=True)
class Method:
    """A method and what a user wants to know before choosing it."""

    quantifier: type[Quantifier]
    title: str
    classes: str
    needs: str
    reference: str

    @property
    def name(self) -> str:
        """The name of its class."""
        return self.quantifier.__name__


_METHODS = (
    Method(MLPE, "the training shares, as a baseline", "any", "labels", "Barranquero et al. 2013"),
    Method(CC, "classify and count", "any", "decisions", "Forman 2008"),
    Method(PCC, "probabilistic classify and count", "any", "posteriors", "Bella et al. 2010"),
    Method(ACC, "adjusted classify and count", "any", "decisions, validation part", "Forman 2008"),
    Method(
        PACC, "probabilistic adjusted classify and count", "any", "posteriors, validation part", "Bella et al. 2010"
    ),
    Method(SLD, "maximum likelihood shares (EM)", "any", "posteriors, prior", "Saerens et al. 2002"),
    Method(HDy, "nearest mixture of histograms", "two", "posteriors, validation part", "González-Castro et al. 2013"),
)


def list_methods() -> tuple[Method, ...]:
    """List all quantification methods there are.

    >>> [method.name for method in list_methods()]
    ['MLPE', 'CC', 'PCC', 'ACC', 'PACC', 'SLD', 'HDy']
    """
    return _METHODS
