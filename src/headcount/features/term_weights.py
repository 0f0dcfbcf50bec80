"""`TermWeights`: tf-idf weights of words and pairs of words, or of letters where a script has no spaces between words."""

import re
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

from headcount._typing import Items
from headcount._validation import StrOptions, integers_from
from headcount.exceptions import DataError
from headcount.features.terms import as_texts
from headcount.features.tfidf import LogTfidf

__all__ = ["TermWeights"]

_WORD = r"(?u)\b\w+\b"
"""Words of one letter count too: "I", "a", digits."""
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Letters of scripts that are written without spaces between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""
_SPACED_LETTER = re.compile(r"[^\W\d_]")


class TermWeights(LogTfidf):
    r"""Tf-idf weights of terms for texts in any language; no word is left out for being frequent.

    .. math:: (1 + \log \#(f, x)) \left(1 + \log \frac{1 + |L|}{1 + |\{x' \in L : \#(f, x') > 0\}|}\right)

    where #(f, x) is the number of times that term f occurs in text x and L are the training texts; then each text is scaled to
    length 1. Terms are words and pairs of neighbouring words, or, in scripts without spaces, one to three neighbouring letters.

    Parameters
    ----------
    min_count : int, default=2
        Terms in fewer training texts are dropped.
    unit : {"auto", "words", "letters"}, default="auto"
        What terms are made of; "auto": of letters if most letters of the training texts are of scripts without spaces.

    Attributes
    ----------
    vocabulary_ : dict of str to int
        The column of each term.
    idf_ : array of shape (n_terms,)
        The second factor of the weights, for each term.
    unit_ : {"words", "letters"}

    Examples
    --------
    >>> weights = TermWeights(min_count=1).fit(["it is good", "it is not good"])
    >>> weights.get_feature_names_out().tolist()
    ['good', 'is', 'is good', 'is not', 'it', 'it is', 'not', 'not good']
    """

    _parameter_constraints: dict[str, Any] = {  # noqa: RUF012
        "min_count": integers_from(1),
        "unit": [StrOptions({"auto", "words", "letters"})],
    }

    def __init__(self, min_count: int = 2, *, unit: str = "auto") -> None:
        self.min_count = min_count
        self.unit = unit

    def _vectorizer(self, vocabulary: dict[str, int] | None = None) -> CountVectorizer:
        if self.unit_ == "letters":
            return CountVectorizer(vocabulary=vocabulary, analyzer="char", ngram_range=(1, 3))
        return CountVectorizer(vocabulary=vocabulary, token_pattern=_WORD, ngram_range=(1, 2))

    def fit_transform(self, X: Items, y: Any = None) -> Any:  # noqa: ARG002
        """Learn from texts and weight their terms, reading the texts only once."""
        self._validate_params()
        texts = as_texts(X)
        self.unit_ = _unit_of(texts) if self.unit == "auto" else self.unit
        vectorizer = self._vectorizer()
        try:
            counts = vectorizer.fit_transform(texts)
        except ValueError as error:
            raise DataError("No words were found in the texts: they are empty, or have signs only.") from error
        frequency = np.bincount(counts.indices, minlength=counts.shape[1])
        kept = np.flatnonzero(frequency >= self.min_count)
        if kept.size == 0:
            raise DataError(
                f"No word occurs in {self.min_count} of the {len(texts)} texts: lower min_count, or add texts."
            )
        terms = vectorizer.get_feature_names_out()
        if not any(_SPACED_LETTER.search(terms[column]) for column in kept):
            raise DataError(
                "No words were found in the texts, only numbers: name columns of numbers as features (--features), not as text."
            )
        self.vocabulary_ = {terms[column]: i for i, column in enumerate(kept)}
        self.idf_ = 1.0 + np.log((1.0 + len(texts)) / (1.0 + frequency[kept]))
        return self._weights(counts[:, kept])

    def _weights(self, counts: Any) -> Any:
        weights = counts.astype(np.float64)
        weights.sort_indices()
        weights.data = (1.0 + np.log(weights.data)) * self.idf_[weights.indices]
        return normalize(weights, copy=False)


def _unit_of(texts: list[str]) -> str:
    """Return what terms are made of: letters if most are of scripts without spaces between words.

    >>> _unit_of(["很好", "not good"]), _unit_of(["很好的電影", "ok"])
    ('words', 'letters')
    """
    unspaced = sum(len(_UNSPACED.findall(text)) for text in texts)
    return "letters" if 2 * unspaced > sum(len(_SPACED_LETTER.findall(text)) for text in texts) else "words"
