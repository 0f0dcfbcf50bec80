# ruff: noqa: ARG002, D102
"""Text features between those of the paper's text (`LogTfidf`) and of its published scripts (`PublishedTfidf`), one change each.

The plan gap-features.toml names them; put this folder on the path:
``PYTHONPATH=studies headcount study run studies/gap-features.toml``.
"""

import re
from typing import Any

import numpy as np
from sklearn.preprocessing import normalize

from headcount import LogTfidf, TermIds
from headcount.features.published import PublishedTfidf


class SmoothedIdf(LogTfidf):
    """The text's features with scikit-learn's idf, 1 + log((1 + n) / (1 + df)): rare terms weigh less."""

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        super().fit_transform(X)
        counts = self._vectorizer(self.vocabulary_).transform(list(X))
        df = np.bincount(counts.indices, minlength=counts.shape[1])
        self.idf_ = 1 + np.log((1 + counts.shape[0]) / (1 + df))
        return self._weights(counts)


class OnePlusLogTf(LogTfidf):
    """The text's features with 1 + log(tf) instead of log(1 + tf)."""

    def _weights(self, counts: Any) -> Any:
        weights = counts.astype(np.float64)
        weights.sort_indices()
        weights.data = (1 + np.log(weights.data)) * self.idf_[weights.indices]
        return normalize(weights, copy=False)


class NoTags(LogTfidf):
    """The text's features of texts without line-break tags, which are terms otherwise."""

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        return super().fit_transform(_without_tags(X))

    def transform(self, X: Any) -> Any:
        return super().transform(_without_tags(X))


def with_stop_words() -> LogTfidf:
    """Return the text's features with stop words kept."""
    return LogTfidf(stop_words=None)


def ids_with_stop_words() -> TermIds:
    """Return the text's lists of terms with stop words kept, of terms that occur three times."""
    return TermIds(stop_words=None, min_count=3)


def with_rare_terms() -> LogTfidf:
    """Return the text's features of all terms that occur three times, not five."""
    return LogTfidf(min_count=3)


def published_without_stop_words() -> PublishedTfidf:
    """Return the features of the published scripts, without English stop words."""
    return PublishedTfidf(stop_words="english")


def _without_tags(texts: Any) -> list[str]:
    return [re.sub(r"<br\s*/?>", " ", text) for text in texts]
