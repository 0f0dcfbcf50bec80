"""Samples that mix the items of two domains, such as two sources or years, in varying parts at the same class shares."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from headcount._typing import AnyArray, FloatArray, IntArray, RandomState
from headcount._validation import as_shares, class_codes, integers_from, quoted
from headcount.exceptions import DataError
from headcount.protocols.base import Protocol, draw_items
from headcount.protocols.samples import Samples
from headcount.simplex import apportion

__all__ = ["DomainMixture"]


@dataclass(eq=False, repr=False)
class DomainMixture(Protocol):
    r"""Draw samples that mix two domains: a part of the items comes from one, the rest from the other.

    The class shares are the same in all samples, and in both parts of each up to rounding, so that errors show what a change
    within the classes does to a method, apart from a change of shares. Items are drawn without replacement if a class has enough
    of them in the domain, with replacement otherwise.

    Parameters
    ----------
    domains : sequence of labels, one for each item of the pool
        Which of two domains each item belongs to. The pool holds both: stack their items. The first domain is the one whose label
        is sorted first.
    n_mixtures : int or sequence of float, default=11
        Number of parts of the first domain, from 1 to 0 in equal steps, or the parts themselves.
    repeats : int, default=10
        Samples at each part.
    prevalence : sequence of float, optional
        The class shares of each sample, in the order of the classes; by default those of the first domain.
    sample_size : int, default=500
    random_state : int, RandomState, Generator or None, default=None

    Examples
    --------
    >>> y, domains = ["neg", "pos"] * 50, ["before"] * 60 + ["since"] * 40
    >>> protocol = DomainMixture(domains, 3, repeats=1, sample_size=10, random_state=0)
    >>> samples, true = protocol.draw(y)
    >>> true[:, 1].tolist()
    [0.5, 0.5, 0.5]
    >>> [int((rows < 60).sum()) for rows in samples]                # items from the first domain
    [10, 5, 0]
    """

    domains: Any
    n_mixtures: Any = 11
    _: KW_ONLY
    repeats: int = 10
    prevalence: Any = None
    sample_size: int = 500
    random_state: RandomState = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Protocol._parameter_constraints,
        "domains": ["array-like"],
        "n_mixtures": [*integers_from(2), "array-like"],
        "repeats": integers_from(1),
        "prevalence": ["array-like", None],
    }

    def _draw(
        self,
        codes: IntArray,
        classes: AnyArray,
        generator: np.random.Generator,  # noqa: ARG002
        seed: np.random.SeedSequence,
    ) -> tuple[Samples, FloatArray]:
        names, domains = class_codes(self.domains, "domains")
        if len(names) != 2 or len(domains) != len(codes):
            raise DataError(
                f"domains must tell for each of the {len(codes)} items of the pool to which of two domains it belongs; got "
                f"{len(domains)} labels of {len(names)} domains ({quoted(names)})."
            )
        k = len(classes)
        group = domains * k + codes
        available = np.bincount(group, minlength=2 * k)
        shares = available[:k] / available[:k].sum() if self.prevalence is None else self._prevalence(k)
        totals = apportion(shares[None, :], self.sample_size)[0]
        sizes = np.rint(self._parts() * self.sample_size).astype(np.int64)
        first = np.concatenate([apportion(totals[None, :], int(size), unit=self.sample_size) for size in sizes])
        counts = np.column_stack([first, totals - first])
        missing = (available == 0) & counts.any(axis=0)
        if missing.any():
            domain, absent = divmod(int(np.flatnonzero(missing)[0]), k)
            raise DataError(
                f"{type(self).__name__} asks for items of class {quoted(classes[[absent]])} of domain {quoted(names[[domain]])}, "
                "and the pool has none. Add labelled items of that class, or give a prevalence without it."
            )
        counts = np.repeat(counts, self.repeats, axis=0)
        samples = draw_items(counts, Samples._grouped(group, 2 * k), seed)
        return samples, (counts[:, :k] + counts[:, k:]) / self.sample_size

    def _parts(self) -> FloatArray:
        """Return the part of the first domain at each mixture."""
        if np.ndim(self.n_mixtures) == 0:
            return np.linspace(1.0, 0.0, self.n_mixtures)
        parts = np.asarray(self.n_mixtures, dtype=np.float64)
        if parts.ndim != 1 or parts.size == 0 or not ((parts >= 0.0) & (parts <= 1.0)).all():
            raise DataError(
                f"n_mixtures must be a whole number of at least 2, or parts from 0 to 1; got {self.n_mixtures!r}."
            )
        return parts

    def _prevalence(self, k: int) -> FloatArray:
        shares = as_shares(self.prevalence, "prevalence")
        if shares.shape != (k,):
            raise DataError(f"prevalence must hold a share for each of the {k} classes; its shape is {shares.shape}.")
        return shares

    def _class_counts(self, n_classes: int, generator: np.random.Generator) -> IntArray:
        raise NotImplementedError("Samples are drawn by class and domain.")
