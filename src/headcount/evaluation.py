"""Evaluation of quantifiers under a protocol: score the pool once, estimate all samples at once, keep one row a sample."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from headcount._typing import AnyArray, FloatArray, IntArray, Items, Labels
from headcount._validation import as_items, quoted
from headcount.errors import get_error
from headcount.exceptions import DataError
from headcount.learners import Outputs
from headcount.protocols import Protocol
from headcount.quantifiers import Quantifier

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Evaluation", "evaluate"]


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """True and estimated shares of each sample, and every error that can be computed from them.

    Attributes
    ----------
    name : str
        Of the quantifier.
    classes : array of shape (n_classes,)
    true, estimated : arrays of shape (n_samples, n_classes)
    sizes : array of shape (n_samples,)
        Number of items of each sample.
    """

    name: str
    classes: AnyArray
    true: FloatArray
    estimated: FloatArray
    sizes: IntArray

    def error(self, name: str) -> FloatArray:
        """Return the error of each sample, by the name of any registered measure of shares."""
        measure = get_error(name)
        if measure.of != "shares":
            raise DataError(
                f"{measure.label} is an error of decisions about items; an evaluation holds shares of samples."
            )
        return measure(self.true, self.estimated, self.sizes)

    @property
    def ae(self) -> FloatArray:
        """Absolute error of each sample."""
        return self.error("ae")

    @property
    def rae(self) -> FloatArray:
        """Relative absolute error of each sample, smoothed by its size."""
        return self.error("rae")

    def to_frame(self, errors: Sequence[str] = ("ae", "rae")) -> "pd.DataFrame":
        """Return a data frame with one row a sample: size, true and estimated shares, errors."""
        import pandas as pd

        columns: dict[str, Any] = {"size": self.sizes}
        for j, label in enumerate(self.classes):
            columns[f"true_{label}"] = self.true[:, j]
        for j, label in enumerate(self.classes):
            columns[f"estimated_{label}"] = self.estimated[:, j]
        return pd.DataFrame(columns | {name: self.error(name) for name in errors})

    def __len__(self) -> int:
        return len(self.true)

    def __repr__(self) -> str:
        return (
            f"Evaluation of {self.name} on {len(self):,} samples, classes {quoted(self.classes)}: "
            f"mean AE {self.ae.mean():.4f}, mean RAE {self.rae.mean():.3f}"
        )


@overload
def evaluate(quantifier: Quantifier, X: Items, y: Labels, protocol: Protocol) -> Evaluation: ...
@overload
def evaluate(quantifier: Sequence[Quantifier], X: Items, y: Labels, protocol: Protocol) -> list[Evaluation]: ...
def evaluate(
    quantifier: Quantifier | Sequence[Quantifier], X: Items, y: Labels, protocol: Protocol
) -> Evaluation | list[Evaluation]:
    """Evaluate one or several fitted quantifiers on the samples that a protocol draws from a labelled pool.

    The protocol draws once, all quantifiers see the same samples, and a classifier that several of them share (the same
    object: pass it to each as a ``FrozenEstimator``) scores the pool once.

    Parameters
    ----------
    quantifier : fitted quantifier, or a list of them with the same classes
    X : items of the pool, or their `Outputs`
    y : labels of the pool
        Encoded against the quantifier's classes: a class that the pool lacks keeps its column, an unknown label is an error.
    protocol : ArtificialPrevalence, UniformPrevalence, NaturalPrevalence or another `Protocol`

    Returns
    -------
    Evaluation, or a list of them

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from headcount import CC, ArtificialPrevalence
    >>> X, y = make_classification(4000, flip_y=0.1, random_state=0)
    >>> cc = CC().fit(X[:2000], y[:2000])
    >>> evaluate(cc, X[2000:], y[2000:], ArtificialPrevalence(5, sample_size=100, random_state=0))
    Evaluation of CC on 50 samples, classes 0, 1: mean AE 0.0..., mean RAE ...
    """
    many: list[Any] = list(quantifier) if isinstance(quantifier, list | tuple) else [quantifier]
    if not isinstance(protocol, Protocol):
        raise DataError(f"Expected a protocol such as ArtificialPrevalence(), got {protocol!r}.")
    if not many or not all(isinstance(q, Quantifier) for q in many):
        raise DataError(f"Expected a fitted quantifier or a list of them, got {quantifier!r}.")
    classes = _common_classes(many)
    samples, true = protocol.draw(y, classes)
    X, n_items = (X, X.n_items) if isinstance(X, Outputs) else as_items(X)
    if n_items != len(y):
        raise DataError(f"X has {n_items} items and y {len(y)} labels: they must be of the same items.")
    tables = [
        Evaluation(type(q).__name__, classes, true, q.aggregate(outputs, samples), samples.sizes)
        for q, outputs in zip(many, _scored_once(many, X), strict=True)
    ]
    return tables if isinstance(quantifier, list | tuple) else tables[0]


def _common_classes(quantifiers: Sequence[Quantifier]) -> AnyArray:
    from sklearn.utils.validation import check_is_fitted

    for q in quantifiers:
        check_is_fitted(q)
    classes = quantifiers[0].classes_
    for q in quantifiers[1:]:
        if len(q.classes_) != len(classes) or not np.all(q.classes_ == classes):
            raise DataError(
                f"The quantifiers were fitted for different classes ({quoted(classes)}; {quoted(q.classes_)}): evaluate them "
                "one by one."
            )
    return classes


def _scored_once(quantifiers: Sequence[Quantifier], X: Items) -> list[Outputs]:
    """Score the pool once for each distinct classifier, for all that is needed of it."""
    if isinstance(X, Outputs):
        return [X] * len(quantifiers)
    sharing: dict[int, list[Quantifier]] = {}
    for q in quantifiers:
        sharing.setdefault(id(getattr(q, "classifier_", q)), []).append(q)
    scored = {key: group[0].outputs(X, frozenset().union(*(q.needs for q in group))) for key, group in sharing.items()}
    return [scored[id(getattr(q, "classifier_", q))] for q in quantifiers]
