"""What claims are judged by: the figures of a study, or the figures that the paper published, with the same methods."""

from functools import cached_property

from headcount.data import PAPER_SETS
from headcount.report.published import published, published_keys, published_test
from headcount.report.scores import Errors, Key, Row

__all__ = ["Evidence", "Published"]

_SPELLING = {"sld": "SLD", "hdy": "HDy", "quanet": "QuaNet"}
"""Methods that the paper's table 6 lists with one learner each; other names are written in capitals."""


class Published:
    """The figures of the paper's tables."""

    data_sets = tuple(PAPER_SETS)
    mean = staticmethod(published)
    mark = staticmethod(published_test)

    @cached_property
    def rows(self) -> list[Row]:
        """The rows of the paper's table 6."""
        keys = (key for key, _ in published_keys() if key.target == "ae" or not key.learner or key.method in _SPELLING)
        return list(dict.fromkeys(Row(_SPELLING.get(m, m.upper()), learner, target) for _, m, learner, target in keys))

    def paired_mark(self, x: str, y: str, method: str, measure: str) -> str | None:  # noqa: ARG002
        """Return None: there are no runs, so that the published mark is that of the paired t-test already."""
        return None

    def largest_share(self, data_set: str) -> float | None:
        """Return the share in the paper's table of data sets."""
        share = PAPER_SETS[data_set].positive
        return max(share, 1.0 - share)

    def bias(self, key: Key) -> float | None:  # noqa: ARG002
        """Return None: the paper has no figures of it."""
        return None

    def files(self, *keys: Key) -> list[str]:  # noqa: ARG002
        """Return no files: there is no store."""
        return []

    def files_of_mark(self, x: str, y: str, method: str) -> list[str]:  # noqa: ARG002
        """Return no files: there is no store."""
        return []


Evidence = Errors | Published
