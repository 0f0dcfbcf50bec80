"""What claims are judged by: the figures of a study, or the figures that the paper published, with one interface."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from headcount.data import PAPER_SETS
from headcount.report.published import published, published_keys, published_test
from headcount.report.scores import Errors, Key, Row, target_files, target_test
from headcount.report.series import majority
from headcount.study import Results

__all__ = ["Evidence", "Measured", "Published"]


class Evidence(ABC):
    """Mean errors, marks of paired tests, and training shares of the data sets."""

    data_sets: Sequence[str]

    @abstractmethod
    def rows(self) -> list[Row]:
        """Return the rows of table 6."""

    @abstractmethod
    def largest_share(self, data_set: str) -> float | None:
        """Return the training share of the more frequent of two classes; None with more classes, or if it is unknown."""

    @abstractmethod
    def mean(self, key: Key, measure: str) -> float | None:
        """Return a mean error."""

    @abstractmethod
    def mark(self, x: str, y: str, method: str, measure: str) -> str | None:
        """Return the mark of table 5."""

    def files_of_mark(self, x: str, y: str, method: str) -> list[str]:  # noqa: ARG002
        """Return the files of the store that a mark comes from; none without a store."""
        return []

    def bias(self, key: Key) -> float | None:  # noqa: ARG002
        """Return by how much the share of the most frequent class is overestimated on average, if that is known."""
        return None

    def files(self, key: Key) -> list[str]:  # noqa: ARG002
        """Return the files of the store that a figure comes from; none without a store."""
        return []


class Measured(Evidence):
    """The figures of a study."""

    def __init__(self, errors: Errors, results: Results) -> None:
        self.errors, self.results = errors, results
        self.data_sets = errors.plan.data_sets

    def rows(self) -> list[Row]:
        """Return the rows of the plan."""
        return self.errors.rows

    def largest_share(self, data_set: str) -> float | None:
        """Return the share in the training part, from the store."""
        truth = self.results.truth(data_set)
        return None if truth is None or len(truth["training"]) != 2 else float(max(truth["training"]))

    def mean(self, key: Key, measure: str) -> float | None:
        """Return the mean over samples and runs."""
        return self.errors.mean(key, measure)

    def mark(self, x: str, y: str, method: str, measure: str) -> str | None:
        """Return the mark of the paired t-test, without a correction."""
        test = target_test(self.errors, method, (x, y), measure)
        return None if test is None else test.mark()

    def files_of_mark(self, x: str, y: str, method: str) -> list[str]:
        """Return the files of all paired figures."""
        return target_files(self.errors, method, (x, y))

    def bias(self, key: Key) -> float | None:
        """Return the mean over samples and runs."""
        shares, truth = self.errors.shares(key), self.results.truth(key.data_set)
        if shares is None or truth is None:
            return None
        true, estimated = shares
        most = majority(truth)
        return float(np.mean(estimated[:, most] - true[:, most]))

    def files(self, key: Key) -> list[str]:
        """Return the files of all runs."""
        return self.errors.files.get(key, [])


_SPELLING = {"sld": "SLD", "hdy": "HDy", "quanet": "QuaNet"}
"""Methods that the paper's table 6 lists with one learner each; other names are written in capitals."""


class Published(Evidence):
    """The figures of the paper's tables."""

    data_sets = tuple(PAPER_SETS)

    def rows(self) -> list[Row]:
        """Return the rows of the paper's table 6."""
        rows: dict[Row, None] = {}
        for key, _ in published_keys():
            if key.target == "ae" or not key.learner or key.method in _SPELLING:
                rows[Row(_SPELLING.get(key.method, key.method.upper()), key.learner, key.target)] = None
        return list(rows)

    def largest_share(self, data_set: str) -> float | None:
        """Return the share in the paper's table of data sets."""
        share = PAPER_SETS[data_set].positive
        return max(share, 1.0 - share)

    def mean(self, key: Key, measure: str) -> float | None:
        """Return the published figure."""
        return published(key, measure)

    def mark(self, x: str, y: str, method: str, measure: str) -> str | None:
        """Return the published mark."""
        return published_test(x, y, method, measure)
