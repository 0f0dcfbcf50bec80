"""`LabelledEstimate`: the design-based answer and the one under label shift, side by side."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from headcount._typing import AnyArray, FloatArray, IntArray
from headcount._writing import html_frame
from headcount.intervals.result import Estimate
from headcount.intervals.target_labels.contradiction import Contradiction
from headcount.model_assisted import AssistedShares

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["LabelledEstimate"]

_ROWS_SHOWN = 20


@dataclass(frozen=True, eq=False, repr=False)
class LabelledEstimate:
    """Shares of samples of which some items are labelled: two answers that are never mixed.

    ``shares``, ``low`` and ``high`` are those of the design-based answer, which holds whatever has changed since the model was
    made.

    Attributes
    ----------
    design_based : Estimate
        From the labels of the target and the model's predictions for all of its items; NaN for samples with fewer than 10 labels.
    label_shift : Estimate or None
        From the labels of source and target together, if only shares have changed; None for methods without an interval.
    source_only : Estimate or None
        The same without the target's labels.
    contradiction : Contradiction or None
        A test whether the design-based shares and those of the source labels contradict each other. It chooses no interval: one
        that is chosen by a test does not hold as often as it says.
    n_labels : array of int, shape (n_samples,)
    notes : tuple of list of str
        Sentences about each sample.
    why_no_label_shift : str
        Why there is no answer under label shift; empty if there is one.
    assisted : tuple of AssistedShares or None
        Details of the design-based answer of each sample, such as how many further labels the predictions are worth.
    """

    design_based: Estimate
    label_shift: Estimate | None
    source_only: Estimate | None
    contradiction: Contradiction | None
    n_labels: IntArray
    notes: tuple[list[str], ...]
    why_no_label_shift: str = ""
    assisted: tuple[AssistedShares | None, ...] = field(default=(), repr=False)

    @property
    def classes(self) -> AnyArray:
        """The classes, in the order of all shares."""
        return self.design_based.classes

    @property
    def shares(self) -> FloatArray:
        """Design-based shares."""
        return self.design_based.shares

    @property
    def low(self) -> FloatArray:
        """Lower ends of the design-based intervals."""
        return self.design_based.low

    @property
    def high(self) -> FloatArray:
        """Upper ends of the design-based intervals."""
        return self.design_based.high

    @property
    def level(self) -> float:
        """Confidence level of all intervals."""
        return self.design_based.level

    def plot(self, labels: Any = None, *, names: Any = None, ax: Any = None) -> Any:
        """Draw the design-based shares with their intervals (`headcount.plots.intervals`)."""
        return self.design_based.plot(labels, names=names, ax=ax)

    def to_frame(self) -> "pd.DataFrame":
        """Return a data frame with one row for each sample and class: design-based columns first, then those under label shift."""
        frame = self.design_based.to_frame()
        k = len(self.classes)
        frame.insert(len(frame.columns), "labels", np.repeat(self.n_labels, k))
        for prefix, one in (("label_shift", self.label_shift), ("source_only", self.source_only)):
            for name in ("shares", "low", "high"):
                column = prefix if name == "shares" else f"{prefix}_{name}"
                frame[column] = np.full(len(frame), np.nan) if one is None else np.ravel(getattr(one, name))
        p = np.full(len(self.n_labels), np.nan) if self.contradiction is None else self.contradiction.p_value
        frame["p_contradiction"] = np.repeat(p, k)
        return frame

    def _repr_html_(self) -> str:
        return html_frame(repr(self).partition("\n")[0], self.to_frame())

    def __repr__(self) -> str:
        one = self.shares.ndim == 1
        whose = {"population": "in the population", "sample": "among these items"}[self.design_based.estimand]
        lines = [f"Shares {whose}, with {self.level:.4g} intervals: design-based | under label shift"]
        for row in list(self.to_frame().itertuples(index=False))[:_ROWS_SHOWN]:
            name, label, share, low, high, n, labels, shift, shift_low, shift_high = row[:10]
            which = "" if one else f"{name!s:<12} "
            lines.append(
                f"  {which}{label!s:<16} {_text(share, low, high)} | {_text(shift, shift_low, shift_high)}   "
                f"({labels:,} of {n:,} items labelled)"
            )
        more = len(self.n_labels) * len(self.classes) - _ROWS_SHOWN
        if more > 0:
            lines.append(f"  ... and {more} more rows")
        if self.contradiction is not None and one and self.contradiction.p_value[0] == self.contradiction.p_value[0]:
            lines.append(f"  Do the two contradict each other? p = {self.contradiction.p_value[0]:.3g}")
        return "\n".join(lines)


def _text(share: float, low: float, high: float) -> str:
    return f"{'-':>26}" if share != share else f"{share:7.2%} {low:8.2%} to {high:7.2%}"
