"""The list of all methods, as `headcount methods` shows it and as the laws of the tests run over it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from headcount._validation import quoted
from headcount.exceptions import UnknownNameError
from headcount.learners import SVMperf
from headcount.quantifiers.adjusted import ACC, PACC
from headcount.quantifiers.base import Quantifier
from headcount.quantifiers.counting import CC, PCC
from headcount.quantifiers.elm import ELM
from headcount.quantifiers.hdy import HDy
from headcount.quantifiers.mlpe import MLPE
from headcount.quantifiers.quanet import QuaNet
from headcount.quantifiers.sld import SLD

__all__ = ["Method", "list_methods", "method_named"]


@dataclass(frozen=True)
class Method:
    """A method and what a user wants to know before choosing it."""

    quantifier: type[Quantifier]
    title: str
    classes: str
    needs: str
    reference: str
    preset: Callable[[], Quantifier] | None = None
    """Makes the quantifier of a method that is a class with certain settings."""
    preset_name: str = ""

    @property
    def name(self) -> str:
        """The name of its class, or that of the preset."""
        return self.preset_name or self.quantifier.__name__

    def make(self) -> Quantifier:
        """Return the quantifier, with its defaults."""
        return self.quantifier() if self.preset is None else self.preset()


def _svm(loss: str) -> Quantifier:
    return ELM(SVMperf(loss=loss))


def _explicit(loss: str, title: str, reference: str) -> Method:
    name = f"SVM({loss.upper()})"
    return Method(ELM, f"linear SVM trained for {title}", "two", "labels", reference, partial(_svm, loss), name)


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
    Method(ELM, "classify and count over a learner trained for it", "any", "decisions", "Esuli and Sebastiani 2015"),
    _explicit("kld", "Kullback-Leibler divergence", "Esuli and Sebastiani 2015"),
    _explicit("nkld", "normalised KLD", "Esuli and Sebastiani 2014"),
    _explicit("q", "recall and shares together", "Barranquero et al. 2015"),
    _explicit("ae", "absolute error", "Moreo and Sebastiani 2021"),
    _explicit("rae", "relative absolute error", "Moreo and Sebastiani 2021"),
    Method(QuaNet, "a network that reads the sample", "any", "posteriors, embeddings, two parts", "Esuli et al. 2018"),
)


def list_methods() -> tuple[Method, ...]:
    """List all quantification methods there are.

    >>> [method.name for method in list_methods()]
    ['MLPE', 'CC', 'PCC', 'ACC', 'PACC', 'SLD', 'HDy', 'ELM', 'SVM(KLD)', 'SVM(NKLD)', 'SVM(Q)', 'SVM(AE)', 'SVM(RAE)',
     'QuaNet']
    """
    return _METHODS


def method_named(name: str) -> Method:
    """Return the method of this name, as the paper or this library writes it, in any case.

    >>> method_named("svm(kld)").make()
    ELM(classifier=SVMperf(loss='kld'))
    """
    for method in _METHODS:
        if method.name.lower() == str(name).lower():
            return method
    raise UnknownNameError(
        f"There is no method {name!r}. There are: {quoted([method.name for method in _METHODS], 50)}."
    )
