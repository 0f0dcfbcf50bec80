"""The vocabulary of the training texts, which `LogTfidf` and `TermIds` share."""

import json
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import CountVectorizer

from headcount._shared_work import once
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

    def _counts(self, X: Items) -> Any:
        """Count the terms of the vocabulary in texts; of the same texts, estimators of several folds look for terms once."""
        whole = self._vectorizer()
        seen = once(X, repr(whole.get_params()), lambda: _all_counts(whole, as_texts(X)))
        if seen is None:
            return self._vectorizer(self.vocabulary_).transform(as_texts(X))
        terms, counts = seen
        columns = np.array([self.vocabulary_.get(term, -1) for term in terms], dtype=counts.indices.dtype)[
            counts.indices
        ]
        kept = columns >= 0
        ends = np.concatenate([[0], np.cumsum(kept)])[counts.indptr].astype(counts.indptr.dtype)
        return csr_matrix((counts.data[kept], columns[kept], ends), shape=(counts.shape[0], len(self.vocabulary_)))

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes, the vocabulary as one text: a model file would describe each of its terms as an object."""
        state: dict[str, Any] = dict(super().__getstate__())
        if "vocabulary_" in state:
            state["vocabulary_"] = json.dumps(list(state["vocabulary_"]))
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        vocabulary = state.get("vocabulary_")
        if isinstance(vocabulary, str):  # in files of earlier versions it is a dict
            state = state | {"vocabulary_": {term: column for column, term in enumerate(json.loads(vocabulary))}}
        super().__setstate__(state)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags


def _all_counts(vectorizer: CountVectorizer, texts: list[str]) -> tuple[list[str], Any]:
    """Return the terms of texts, and the matrix of their counts."""
    try:
        counts = vectorizer.fit_transform(texts)
    except ValueError:  # scikit-learn: "empty vocabulary"
        return [], csr_matrix(np.zeros((len(texts), 0), dtype=np.int64))
    return list(vectorizer.get_feature_names_out()), counts


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
