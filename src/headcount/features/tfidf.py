"""`LogTfidf`: the tf-idf weights of the paper."""

from typing import Any, Self

import numpy as np
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from headcount._typing import AnyArray, FloatArray, Items
from headcount.features.terms import TermTransformer, as_texts

__all__ = ["LogTfidf"]


class LogTfidf(TermTransformer, auto_wrap_output_keys=None):  # type: ignore[call-arg] # sparse output stays sparse
    r"""Tf-idf weights of terms, as in the paper.

    .. math:: \mathrm{tfidf}(f, x) = \log(\#(f, x) + 1) \cdot \log \frac{|L|}{|\{x' \in L : \#(f, x') > 0\}|}

    where #(f, x) is the number of times that term f occurs in text x and L are the training texts; then each text is scaled to
    length 1.
    Terms are scikit-learn's default tokens in lower case.

    Parameters
    ----------
    min_count : int, default=5
        Terms that occur fewer times in all training texts together are dropped.
    stop_words : "english", list of str or None, default="english"

    Attributes
    ----------
    vocabulary_ : dict of str to int
        The column of each term.
    idf_ : array of shape (n_terms,)
        The second factor of the weights, for each term.

    References
    ----------
    Moreo and Sebastiani (2021). Re-assessing the "classify and count" quantification method. ECIR.

    Examples
    --------
    >>> texts = ["good film", "bad film", "good good plot"]
    >>> LogTfidf(min_count=1).fit_transform(texts).toarray().round(3).tolist()
    [[0.0, 0.707, 0.707, 0.0], [0.938, 0.346, 0.0, 0.0], [0.0, 0.0, 0.505, 0.863]]
    """

    idf_: FloatArray

    def __init__(self, min_count: int = 5, *, stop_words: Any = "english") -> None:
        self.min_count = min_count
        self.stop_words = stop_words

    def fit(self, X: Items, y: Any = None) -> Self:  # noqa: ARG002
        """Learn the vocabulary and the weights of its terms from texts; y is ignored."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Items, y: Any = None) -> Any:  # noqa: ARG002
        """Learn from texts and weight their terms, reading the texts only once."""
        self._validate_params()
        counts = self._learn_terms(as_texts(X))
        self.idf_ = np.log(counts.shape[0] / np.bincount(counts.indices, minlength=counts.shape[1]))
        return self._weights(counts)

    def transform(self, X: Items) -> Any:
        """Weight the terms of texts that are in the vocabulary; returns a CSR matrix with one row a text."""
        check_is_fitted(self)
        return self._weights(self._counts(X))

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:  # noqa: ARG002
        """Return the terms in the order of the columns."""
        check_is_fitted(self)
        return np.array(list(self.vocabulary_), dtype=object)

    def _weights(self, counts: Any) -> Any:
        weights = counts.astype(np.float64)
        weights.sort_indices()
        weights.data = np.log1p(weights.data) * self.idf_[weights.indices]
        return normalize(weights, copy=False)
