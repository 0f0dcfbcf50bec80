"""Samples at random class shares that follow a Dirichlet distribution."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from headcount._typing import IntArray, RandomState
from headcount._validation import integers_from
from headcount.exceptions import DataError
from headcount.protocols.base import Protocol
from headcount.simplex import apportion

__all__ = ["DirichletPrevalence"]


@dataclass(eq=False, repr=False)
class DirichletPrevalence(Protocol):
    r"""Draw samples whose class shares follow the Dirichlet distribution :math:`\mathrm{Dir}(\alpha)`.

    The density is proportional to :math:`\prod_y p_y^{\alpha_y - 1}`. With all alphas 1 it is that of `UniformPrevalence`; larger
    ones keep the shares near :math:`\alpha / \sum \alpha`, smaller ones make a few classes dominate. Shares are rounded to
    whole numbers of items by largest remainders. Items of a class are drawn without replacement if the pool has enough of them,
    with replacement otherwise.

    Parameters
    ----------
    alpha : float or sequence of float
        One for all classes, or one for each, in the order of the classes.
    n_samples : int, default=1000
    sample_size : int, default=500
    random_state : int, RandomState, Generator or None, default=None

    References
    ----------
    Esuli, Moreo and Sebastiani (2022). LeQua@CLEF2022: learning to quantify. ECIR.

    Examples
    --------
    >>> protocol = DirichletPrevalence([20, 10], n_samples=200, sample_size=100, random_state=0)
    >>> samples, true = protocol.draw(["a"] * 300 + ["b"] * 300)
    >>> true.mean(axis=0).round(1).tolist()
    [0.7, 0.3]
    """

    alpha: Any = 1.0
    _: KW_ONLY
    n_samples: int = 1000
    sample_size: int = 500
    random_state: RandomState = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Protocol._parameter_constraints,
        "alpha": "no_validation",  # checked when the number of classes is known
        "n_samples": integers_from(1),
    }

    def _class_counts(self, n_classes: int, generator: np.random.Generator) -> IntArray:
        try:
            alpha = np.asarray(self.alpha, dtype=np.float64)
        except (TypeError, ValueError):
            alpha = np.empty(0)
        if alpha.shape not in ((), (n_classes,)) or not (np.isfinite(alpha) & (alpha > 0.0)).all():
            raise DataError(
                f"alpha must be one number above 0, or one for each of the {n_classes} classes; got {self.alpha!r}."
            )
        # Gamma variables divided by their sum, as logarithms: with tiny alphas all may be 0 in doubles. A gamma variable of shape
        # a is one of shape a + 1 times a uniform number to the power of 1 / a.
        shape = np.broadcast_to(alpha, n_classes)
        size = (self.n_samples, n_classes)
        logs = np.log(generator.gamma(shape + 1.0, size=size)) + np.log1p(-generator.random(size)) / shape
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        return apportion(shares / shares.sum(axis=1, keepdims=True), self.sample_size)
