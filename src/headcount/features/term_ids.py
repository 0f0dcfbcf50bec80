"""`TermIds`: texts as lists of term ids, the input of neural learners."""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from headcount._typing import IntArray, Items
from headcount._validation import integers_from
from headcount.features.terms import TermTransformer, as_texts

__all__ = ["TermIds"]


class TermIds(TermTransformer):
    """Texts to lists of term ids, cut or padded to one length, over the same vocabulary as `LogTfidf`.

    Parameters
    ----------
    length : int, default=300
        Number of terms kept of each text, from its beginning; shorter texts are padded at the end.
    min_count : int, default=5
        Terms that occur fewer times in all training texts together count as unknown.
    stop_words : "english", list of str or None, default="english"
        Words that are dropped (they do not count as unknown).

    Attributes
    ----------
    vocabulary_ : dict of str to int
        The position of each term; its id is the position plus 2.
    n_ids_ : int
        Number of ids, padding (0) and unknown (1) included.

    Examples
    --------
    >>> ids = TermIds(length=4, min_count=1).fit(["good film", "bad film"])
    >>> ids.vocabulary_
    {'bad': 0, 'film': 1, 'good': 2}
    >>> ids.transform(["a good plot"]).tolist()
    [[4, 1, 0, 0]]
    """

    PADDING = 0
    UNKNOWN = 1

    _parameter_constraints: dict[str, Any] = {  # noqa: RUF012
        **TermTransformer._parameter_constraints,
        "length": integers_from(1),
    }

    def __init__(self, length: int = 300, *, min_count: int = 5, stop_words: Any = "english") -> None:
        self.length = length
        self.min_count = min_count
        self.stop_words = stop_words

    def fit(self, X: Items, y: Any = None) -> Self:  # noqa: ARG002
        """Learn the vocabulary from texts; y is ignored."""
        self._validate_params()
        self._learn_terms(as_texts(X))
        self.n_ids_ = len(self.vocabulary_) + 2
        return self

    def transform(self, X: Items) -> IntArray:
        """Return the term ids of texts: an array of shape (n_texts, length)."""
        check_is_fitted(self)
        texts = as_texts(X)
        analyze = self._vectorizer().build_analyzer()
        ids = np.full((len(texts), self.length), self.PADDING, dtype=np.int32)
        for row, text in enumerate(texts):
            text_ids = [self.vocabulary_.get(term, -1) + 2 for term in analyze(text)[: self.length]]
            ids[row, : len(text_ids)] = text_ids
        return ids
