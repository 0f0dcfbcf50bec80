"""`WatchResult`: what a monitor says after a batch, and `Alarm`."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headcount._typing import AnyArray, FloatArray
from headcount._validation import plain

__all__ = ["ALARM", "QUIET", "TOO_EARLY", "Alarm", "WatchResult"]

ALARM, QUIET, TOO_EARLY = "alarm", "quiet", "too early"


@dataclass(frozen=True)
class Alarm:
    """Something has changed.

    Attributes
    ----------
    kind : {"moved", "band", "items", "labels"}
        A share moved from the reference or left its band; the items are of no mixture of the labelled classes; labels that
        arrived later contradict the shares.
    label : str
        The class that it is about; empty if all.
    batch : str
        The batch at which it was raised.
    since : str
        The first batch after the change, as far as can be told; empty if unknown.
    evidence : float
        The e-value.
    text : str
    items_p : float or None
        Of an alarm of a share: the p-value of the test that the items since then are a mixture of the labelled classes. A small one
        says that the items have changed, with or without their shares.
    """

    kind: str
    label: str
    batch: str
    since: str
    evidence: float
    text: str
    items_p: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class WatchResult:
    """The state of a stream after a batch.

    Attributes
    ----------
    batch : str
        Its name.
    n : int
        Its items.
    counted : bool
        False if the batch had been seen before: it changes nothing then, and the other attributes are those after the last batch.
    shares : array of shape (n_classes,)
        Of the batch alone.
    cumulative, low, high : arrays of shape (n_classes,)
        Mean shares of all items since the beginning or the last alarm, and a confidence sequence: each class's interval holds the
        mean share of its items after any number of batches, with the probability ``level`` for all of these together.
    n_cumulative : int
    evidence : dict of str to float
        E-values by kind of alarm; each kind is raised where its value reaches its threshold.
    thresholds : dict of str to float
    alarms : tuple of Alarm
        Raised by this batch.
    status : {"alarm", "quiet", "too early"}
        An alarm of a share is that of its batch; one of the items or of later labels lasts.
    resolution : float
        The move from the reference that would have been found by now; NaN without a reference.
    note : str
        Why nothing can be said yet, or what can't be found with so few labelled items.
    """

    batch: str
    n: int
    counted: bool
    classes: AnyArray
    shares: FloatArray
    cumulative: FloatArray
    low: FloatArray
    high: FloatArray
    n_cumulative: int
    level: float
    evidence: dict[str, float] = field(default_factory=dict)
    thresholds: dict[str, float] = field(default_factory=dict)
    alarms: tuple[Alarm, ...] = ()
    status: str = QUIET
    resolution: float = float("nan")
    note: str = ""

    def record(self) -> dict[str, Any]:
        """Return the result as plain values."""
        classes = [str(plain(label)) for label in self.classes]

        def by_class(values: FloatArray) -> dict[str, float | None]:
            return {name: None if np.isnan(v) else float(v) for name, v in zip(classes, values, strict=True)}

        return {
            "batch": self.batch,
            "n": self.n,
            "counted": self.counted,
            "status": self.status,
            "shares": by_class(self.shares),
            "n_cumulative": self.n_cumulative,
            "cumulative": by_class(self.cumulative),
            "low": by_class(self.low),
            "high": by_class(self.high),
            "evidence": self.evidence,
            "thresholds": self.thresholds,
            "resolution": None if np.isnan(self.resolution) or np.isinf(self.resolution) else self.resolution,
            "alarms": [vars(alarm) for alarm in self.alarms],
            "note": self.note,
        }

    def __repr__(self) -> str:
        rows = zip(self.classes, self.shares, self.cumulative, self.low, self.high, strict=True)
        lines = [
            f"  {plain(label)!s:<16} {share:7.2%}   since the last alarm {mean:7.2%} ({low:.2%} to {high:.2%})"
            for label, share, mean, low, high in rows
        ]
        texts = [f"  {alarm.text}" for alarm in self.alarms] + ([f"  {self.note}"] if self.note else [])
        return "\n".join([f"{self.batch}: {self.status} ({self.n:,} items)", *lines, *texts])
