"""Evaluate fitted quantifiers on samples of a labelled pool: score it once, estimate all samples together, one row per sample."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from headcount._typing import AnyArray, FloatArray, IntArray, Items, Labels
from headcount._validation import as_items, encode, quoted
from headcount._writing import html_table
from headcount.errors import ErrorMeasure, check_order, get_error
from headcount.exceptions import DataError
from headcount.learners import Outputs
from headcount.protocols import Protocol, Samples, as_samples
from headcount.quantifiers import Quantifier

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Evaluation", "evaluate"]


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """True and estimated shares of each sample, and the errors computed from them.

    Attributes
    ----------
    name : str
        Name of the quantifier.
    classes : array of shape (n_classes,)
    true, estimated : arrays of shape (n_samples, n_classes)
    sizes : array of shape (n_samples,)
        Number of items of each sample.
    ordered : bool
        Whether the order of the classes has a meaning: the user gave it to the quantifier, or the classes are numbers or dates.
        Measures such as NMD need it.
    """

    name: str
    classes: AnyArray
    true: FloatArray
    estimated: FloatArray
    sizes: IntArray
    ordered: bool = False

    def error(self, name: str | ErrorMeasure, training: Any = None) -> FloatArray:
        """Return the error of each sample by a measure of shares, given by its registered name or as an `ErrorMeasure`.

        ``training`` are the class shares in training, for measures that are relative to them, such as "sre".
        """
        measure = get_error(name)
        if measure.of != "shares":
            raise DataError(
                f"{measure.label} is an error of decisions about items; an evaluation holds shares of samples."
            )
        check_order(measure, self.classes, self.ordered)
        return measure(self.true, self.estimated, self.sizes, training=training)

    @property
    def ae(self) -> FloatArray:
        """Absolute error of each sample."""
        return self.error("ae")

    @property
    def rae(self) -> FloatArray:
        """Relative absolute error of each sample, smoothed by its size."""
        return self.error("rae")

    def to_frame(self, errors: Sequence[str] = ("ae", "rae")) -> "pd.DataFrame":
        """Return a data frame with one row per sample: size, true and estimated shares, errors."""
        import pandas as pd

        columns: dict[str, Any] = {"size": self.sizes}
        for kind, shares in (("true", self.true), ("estimated", self.estimated)):
            columns |= {f"{kind}_{label}": shares[:, j] for j, label in enumerate(self.classes)}
        return pd.DataFrame(columns | {name: self.error(name) for name in errors})

    def plot(self, label: Any = None, *, ax: Any = None) -> Any:
        """Draw estimated against true shares of a class (`headcount.plots.diagonal`)."""
        from headcount.plots import diagonal

        return diagonal(self, label, ax=ax)

    def __len__(self) -> int:
        return len(self.true)

    def __repr__(self) -> str:
        return (
            f"Evaluation of {self.name} on {len(self):,} samples, classes {quoted(self.classes)}: "
            f"mean AE {self.ae.mean():.4f}, mean RAE {self.rae.mean():.3f}"
        )

    def _repr_html_(self) -> str:
        """Summary for notebooks. Samples of a pool share items, which the standard errors ignore: they are too small."""
        rows = {"samples": f"{len(self):,}", "classes": ", ".join(map(str, self.classes))}
        for measure in map(get_error, ("ae", "rae")):
            errors = self.error(measure)
            rows[f"mean {measure.label}"] = f"{errors.mean():.4f}"
            if len(errors) > 1:
                standard_error = errors.std(ddof=1) / np.sqrt(len(errors))
                rows[f"mean {measure.label}"] += f" (standard error {standard_error:.4f})"
        for label, bias in zip(self.classes, (self.estimated - self.true).mean(axis=0), strict=True):
            rows[f"bias of {label}"] = f"{bias:+z.4f}"
        return html_table(self.name, rows)


@overload
def evaluate(quantifier: Quantifier, X: Items, y: Labels, protocol: Any) -> Evaluation: ...
@overload
def evaluate(quantifier: Mapping[Any, Quantifier], X: Items, y: Labels, protocol: Any) -> dict[Any, Evaluation]: ...
@overload
def evaluate(quantifier: Sequence[Any], X: Items, y: Labels, protocol: Any) -> list[Evaluation]: ...
def evaluate(
    quantifier: Quantifier | Mapping[Any, Quantifier] | Sequence[Any], X: Items, y: Labels, protocol: Any
) -> Evaluation | dict[Any, Evaluation] | list[Evaluation]:
    """Estimate the shares of samples of a labelled pool, and compare them with the true shares.

    A classifier that several of the quantifiers share (the same object: pass it to each as a ``FrozenEstimator``) scores the
    pool once.

    Parameters
    ----------
    quantifier : fitted quantifier, list of them, list of pairs (name, quantifier), or dict of name to quantifier
        All with the same classes in the same order. Without names, quantifiers are named by their Python class, numbered from
        the second one of a class: "PACC", "PACC (2)".
    X : items of the pool, or their `Outputs`
    y : labels of the pool
        Encoded against the quantifier's classes: a class that the pool lacks keeps its column, an unknown label is an error.
    protocol : Protocol, Samples, or matrix of row numbers with one row per sample
        A protocol such as `ArtificialPrevalence` draws the samples. The true shares of ready-made samples are counted from ``y``.

    Returns
    -------
    Evaluation, list of them, or dict of name to Evaluation
        As the quantifiers were given.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from headcount import CC, PACC, ArtificialPrevalence
    >>> X, y = make_classification(4000, flip_y=0.1, random_state=0)
    >>> cc, pacc = CC().fit(X[:2000], y[:2000]), PACC(random_state=0).fit(X[:2000], y[:2000])
    >>> protocol = ArtificialPrevalence(5, sample_size=100, random_state=0)
    >>> evaluate(cc, X[2000:], y[2000:], protocol)
    Evaluation of CC on 50 samples, classes 0, 1: mean AE 0.0..., mean RAE ...
    >>> results = evaluate({"counted": cc, "adjusted": pacc}, X[2000:], y[2000:], protocol)
    >>> bool(results["adjusted"].ae.mean() < results["counted"].ae.mean())
    True
    """
    names, quantifiers = _named_quantifiers(quantifier)
    classes = _common_classes(quantifiers)
    samples, true = _samples_and_shares(protocol, y, classes)
    # Items are read here and not only by `outputs`, since several classifiers may score them: a generator can be read only once.
    X, n_items = (X, X.n_items) if isinstance(X, Outputs) else as_items(X)
    if n_items != len(y):
        raise DataError(f"X has {n_items} items and y {len(y)} labels: they must be of the same items.")
    results = [
        Evaluation(str(name), classes, true, q.aggregate(outputs, samples), samples.sizes, q.is_ordered)
        for name, q, outputs in zip(names, quantifiers, _score_once(quantifiers, X), strict=True)
    ]
    if isinstance(quantifier, Mapping):
        return dict(zip(names, results, strict=True))
    return results if isinstance(quantifier, list | tuple) else results[0]


def _named_quantifiers(quantifier: Any) -> tuple[list[Any], list[Quantifier]]:
    """Return the names and the quantifiers, in whichever form they are given."""
    given = quantifier.items() if isinstance(quantifier, Mapping) else quantifier
    entries = list(given) if isinstance(quantifier, Mapping | list | tuple) else [quantifier]
    if all(isinstance(entry, tuple) and len(entry) == 2 for entry in entries):
        names, quantifiers = [name for name, _ in entries], [q for _, q in entries]
    else:
        names, quantifiers = _number_repeated([type(q).__name__ for q in entries]), entries
    if not entries or not all(isinstance(q, Quantifier) for q in quantifiers):
        raise DataError(
            "Expected a fitted quantifier, a list of them, a list of pairs (name, quantifier) or a dict of name to quantifier, "
            f"got {quantifier!r}."
        )
    for name, count in Counter(map(str, names)).items():
        if count > 1:
            raise DataError(f"{name!r} names two quantifiers: give each a different name.")
    return names, quantifiers


def _number_repeated(names: Sequence[str]) -> list[str]:
    """Append a number to the second and later occurrence of a name."""
    earlier = [names[:i].count(name) for i, name in enumerate(names)]
    return [f"{name} ({n + 1})" if n else name for name, n in zip(names, earlier, strict=True)]


def _samples_and_shares(protocol: Any, y: Labels, classes: AnyArray) -> tuple[Samples, FloatArray]:
    """Draw samples of a pool with these labels, or take ready-made ones; return them and their true shares."""
    if isinstance(protocol, Protocol):
        return protocol.draw(y, classes)
    if isinstance(protocol, str) or not hasattr(protocol, "__len__"):
        raise DataError(
            f"Expected a protocol such as ArtificialPrevalence(), Samples or a matrix of row numbers, got {protocol!r}."
        )
    codes = encode(y, classes)
    samples = as_samples(protocol, len(codes))
    counts = samples.count(codes, len(classes))
    totals = counts.sum(axis=1, keepdims=True)
    if not totals.all():
        raise DataError(f"Sample {int(totals.argmin())} is empty, so it has no shares: omit it.")
    return samples, counts / totals


def _common_classes(quantifiers: Sequence[Quantifier]) -> AnyArray:
    from sklearn.utils.validation import check_is_fitted

    for q in quantifiers:
        check_is_fitted(q)
        classes = quantifiers[0].classes_
        if not np.array_equal(q.classes_, classes):
            raise DataError(
                f"The quantifiers were fitted for different classes, or for classes in different orders ({quoted(classes)}; "
                f"{quoted(q.classes_)}): evaluate them one by one."
            )
    return classes


def _score_once(quantifiers: Sequence[Quantifier], X: Items) -> list[Outputs]:
    """Score the pool once per distinct classifier, for everything that the quantifiers over it need."""
    if isinstance(X, Outputs):
        return [X] * len(quantifiers)
    keys = [id(getattr(q, "classifier_", q)) for q in quantifiers]
    groups: dict[int, list[Quantifier]] = {}
    for key, q in zip(keys, quantifiers, strict=True):
        groups.setdefault(key, []).append(q)
    outputs = {key: group[0].outputs(X, frozenset().union(*(q.needs for q in group))) for key, group in groups.items()}
    return [outputs[key] for key in keys]
