"""The vocabulary of the training texts, which `LogTfidf` and `TermIds` share."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import CountVectorizer

from headcount._typing import Items
from headcount._validation import StrOptions, as_items, integers_from
from headcount.exceptions import DataError

__all__ = ["TermTransformer", "as_texts"]


class TermTransformer(TransformerMixin, BaseEstimator):
    """Base of the text transformers: lower case, scikit-learn's default tokens, stop words and rare terms dropped."""

    min_count: int
    stop_words: Any
    vocabulary_: dict[str, int]

    _parameter_constraints: dict[str, Any] = {  # noqa: RUF012
        "min_count": integers_from(1),
        "stop_words": [StrOptions({"english"}), list, None],
    }

    def _vectorizer(self, vocabulary: dict[str, int] | None = None) -> CountVectorizer:
        return CountVectorizer(stop_words=self.stop_words, vocabulary=vocabulary)

    def _learn_terms(self, texts: list[str]) -> Any:
        """Learn the vocabulary, in alphabetical order, and return the matrix of its counts in the texts."""
        vectorizer = self._vectorizer()
        try:
            counts = vectorizer.fit_transform(texts)
        except ValueError as error:
            raise DataError(
                "No terms were found in the texts: they are empty, or have only stop words and single letters."
            ) from error
        kept = np.flatnonzero(np.asarray(counts.sum(axis=0)).ravel() >= self.min_count)
        if kept.size == 0:
            raise DataError(
                f"No term occurs {self.min_count} times in the {len(texts)} texts: lower min_count or add texts."
            )
        terms = vectorizer.get_feature_names_out()
        self.vocabulary_ = {terms[column]: i for i, column in enumerate(kept)}
        return counts[:, kept]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags


def as_texts(X: Items) -> list[str]:
    """Return items as a list of texts; raise an error that names the first item that is not a text."""
    X, _ = as_items(X)
    if getattr(X, "ndim", 1) != 1:
        raise DataError(
            f"Expected texts, one string an item; got a table of shape {X.shape}. Pass its column of texts."
        )
    texts = list(X)
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise DataError(f"Expected texts, one string an item; item {row} is {type(text).__name__} ({text!r}).")
    return texts
