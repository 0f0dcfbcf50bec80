"""`PriorCorrectedClassifier`: a classifier whose posteriors and decisions hold under the class shares of the items it is given."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import column_or_1d, get_tags
from sklearn.utils.validation import check_is_fitted

from headcount._typing import AnyArray, FloatArray, Items, Labels
from headcount._validation import HasMethods, as_shares, encode, labelled_items, quoted
from headcount.exceptions import DataError
from headcount.learners import Outputs
from headcount.quantifiers import SLD, DensitiesQuantifier, Quantifier
from headcount.quantifiers.moved_posteriors import item_densities, moved_posteriors
from headcount.quantifiers.prior import PRIOR_CONSTRAINT, known_prior

__all__ = ["PriorCorrectedClassifier"]


class PriorCorrectedClassifier(ClassifierMixin, BaseEstimator):
    r"""A classifier whose posteriors are moved to the class shares that a quantifier estimates among the very items.

    .. math:: P'(j \mid x) = \frac{\hat p_j \, P(j \mid x) / \pi_j}{\sum_l \hat p_l \, P(l \mid x) / \pi_l}

    where P are the posteriors of the quantifier's classifier, :math:`\pi` the shares under which they hold, and :math:`\hat p` the
    shares that the quantifier estimates. A method over densities, such as SLD, has :math:`P(j \mid x) / \pi_j` of its own,
    calibrated if it calibrates. With folds, P' is the mean over the fold classifiers. The decision is the class of the largest P'.

    If only the shares of the classes have changed since training, and P are calibrated, P' are the posteriors among the new
    items, and no decisions are right more often. The posteriors of an item depend on what it is scored together with: give all
    items of a sample at once, or say the shares.

    *When not*: where the items within classes have changed too; for single items whose sample is not known.

    Parameters
    ----------
    quantifier : quantifier, default=None
        Over a classifier with posteriors; None means ``SLD(calibration="bcts")``.
    prior : {"train", "uniform"} or array of shape (n_classes,), default="train"
        Shares under which the posteriors hold, for quantifiers that do not say it themselves as SLD does: "uniform" for a
        classifier with balanced class weights. With a ``FrozenEstimator`` it must be given.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    quantifier_ : fitted quantifier
    prior_ : array of shape (n_classes,)
        Those shares; of a method over densities, equal ones.

    References
    ----------
    Saerens, Latinne and Decaestecker (2002). Adjusting the outputs of a classifier to new a priori probabilities: a simple
    procedure. Neural Computation 14.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.arange(4000) % 2
    >>> X = y[:, None] + np.random.default_rng(0).standard_normal((4000, 1))
    >>> rare = np.flatnonzero((y == 0) | (np.arange(4000) % 19 == 0))[1000:]    # 5 % positives
    >>> corrected = PriorCorrectedClassifier().fit(X[:1000], y[:1000])
    >>> plain = corrected.quantifier_.classifier_
    >>> bool(corrected.score(X[rare], y[rare]) > plain.score(X[rare], y[rare]) + 0.15)
    True
    """

    quantifier_: Quantifier
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "quantifier": [HasMethods(["fit", "aggregate"]), None],
        "prior": PRIOR_CONSTRAINT,
    }

    def __init__(self, quantifier: Any = None, *, prior: Any = "train") -> None:
        self.quantifier = quantifier
        self.prior = prior

    def fit(self, X: Items, y: Labels, **fit_params: Any) -> Self:
        """Fit the quantifier, and with it the classifier.

        Parameters
        ----------
        X, y, **fit_params
            As for the quantifier.
        """
        self._validate_params()
        quantifier = self._quantifier()
        X, labels = labelled_items(X, column_or_1d(y, warn=True) if getattr(y, "ndim", 1) == 2 else y)
        self.quantifier_ = quantifier.fit(X, labels, **fit_params)
        self.classes_ = self.quantifier_.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(self.quantifier_, name):
                setattr(self, name, getattr(self.quantifier_, name))
        if isinstance(self.quantifier_.chosen, DensitiesQuantifier):
            self.prior_ = np.full(len(self.classes_), 1.0 / len(self.classes_))
        else:
            frozen = quantifier._is_frozen() or isinstance(X, Outputs)
            self.prior_ = known_prior(
                self.prior, encode(labels, self.classes_), self.classes_, frozen, type(self).__name__
            )
        return self

    def _quantifier(self) -> Quantifier:
        quantifier: Quantifier = SLD(calibration="bcts") if self.quantifier is None else clone(self.quantifier)
        return quantifier

    def _outputs(self, X: Items) -> Outputs:
        check_is_fitted(self)
        outputs = self.quantifier_.outputs(X, self.quantifier_.needs | {"posteriors"})
        if outputs.posteriors is None:
            raise DataError(
                f"{type(self.quantifier_).__name__} has no classifier of its own whose posteriors could be moved: pass a method "
                "over one, such as PACC or SLD."
            )
        return outputs

    def shares(self, X: Items) -> FloatArray:
        """Estimate the class shares among these items, in the order of ``classes_``."""
        shares: FloatArray = self.quantifier_.aggregate(self._outputs(X))[0]
        return shares

    def predict_proba(self, X: Items, shares: Any = None) -> FloatArray:
        """Return the posteriors of items under the shares that are estimated among them.

        Parameters
        ----------
        X : items, or their `Outputs`
        shares : array of shape (n_classes,), optional
            The shares to take instead, in the order of ``classes_``.
        """
        outputs = self._outputs(X)
        if shares is None:
            p: FloatArray = self.quantifier_.aggregate(outputs)[0]
        else:
            p = as_shares(shares, "shares")
            if p.shape != (len(self.classes_),):
                raise DataError(
                    f"shares must hold one share for each of the {len(self.classes_)} classes ({quoted(self.classes_)}); got "
                    f"{p.tolist()}."
                )
        return moved_posteriors(item_densities(self.quantifier_.chosen, outputs, self.prior_), p)

    def predict(self, X: Items, shares: Any = None) -> AnyArray:
        """Return the class of the largest posterior of each item; ``shares`` as for `predict_proba`."""
        best = self.predict_proba(X, shares).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._quantifier())
        tags.input_tags = inner.input_tags
        tags.classifier_tags.multi_class = inner.classifier_tags is None or inner.classifier_tags.multi_class
        return tags
