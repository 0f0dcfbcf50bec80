"""`JudgedShares`: shares corrected for the mistakes of judges, as text, records, data frames, JSON and a plot."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from headcount._escaping import json_text
from headcount._labels import class_positions
from headcount._typing import AnyArray, FloatArray
from headcount._validation import plain, quoted
from headcount._writing import html_frame, write_all
from headcount.exceptions import DataError
from headcount.judges.choice import KeptJudges
from headcount.judges.reports import Interval, JudgeReport
from headcount.model_assisted import AssistedShares

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CorrectedGroup", "JudgedShares"]

_GROUPS_SHOWN = 20
_PARTS = ("shares", "low", "high")


@dataclass(frozen=True, eq=False)
class CorrectedGroup:
    """Shares of one group of items, or of all: from its labels and the judges, from its labels alone, and under label shift.

    Attributes
    ----------
    name : object
        ``"all"``, or the value that the items are grouped by; None for items without one.
    n_items, n_labelled : int
    shares, low, high : arrays of shape (n_classes,)
        From the group's labels and the judges; NaN where it has too few labels.
    shares_alone, low_alone, high_alone : arrays of shape (n_classes,)
        From the group's labels alone.
    effective_labels : float
        How many labels drawn at random would be as precise without judges.
    shifted, shifted_low, shifted_high : arrays of shape (n_classes,) or None
        Under label shift: from the judges' answers, corrected by their error rates among the labelled items of all groups.
    """

    name: Any
    n_items: int
    n_labelled: int
    shares: FloatArray
    low: FloatArray
    high: FloatArray
    shares_alone: FloatArray
    low_alone: FloatArray
    high_alone: FloatArray
    effective_labels: float
    shifted: FloatArray | None = None
    shifted_low: FloatArray | None = None
    shifted_high: FloatArray | None = None

    @classmethod
    def of(
        cls,
        name: Any,
        answer: AssistedShares | None,
        shifted: Any = None,
        n_items: int = 0,
        n_labelled: int = 0,
        n_classes: int = 0,
    ) -> "CorrectedGroup":
        """Gather the answers of a group; without one from labels, sizes and number of classes are needed."""
        if answer is None:
            unknown = np.full(n_classes, np.nan)
            return cls(name, n_items, n_labelled, *(unknown,) * 6, float("nan"), *(shifted or (None,) * 3))
        parts: list[FloatArray] = [getattr(answer, f"{part}{which}") for which in ("", "_alone") for part in _PARTS]
        shares, low, high, alone, low_alone, high_alone = parts
        effective = answer.effective_labels
        sizes = answer.n_items, answer.n_labelled
        return cls(name, *sizes, shares, low, high, alone, low_alone, high_alone, effective, *(shifted or (None,) * 3))

    @property
    def label(self) -> str:
        """The name for people to read."""
        if isinstance(self.name, tuple):
            return " / ".join("(none)" if part is None else str(part) for part in self.name)
        return "(none)" if self.name is None else str(self.name)

    @property
    def answers_disagree(self) -> bool:
        """Whether the intervals of some class, from labels and under label shift, have no value in common."""
        if self.shifted_low is None or self.shifted_high is None or np.isnan(self.shares).any():
            return False
        return bool(((self.shifted_low > self.high) | (self.shifted_high < self.low)).any())


@dataclass(frozen=True, eq=False, repr=False)
class JudgedShares:
    """Class shares corrected for the mistakes of judges.

    Attributes
    ----------
    classes : array of shape (n_classes,)
    level : float
    estimand : {"sample", "population"}
    total : CorrectedGroup
        All items.
    groups : tuple of CorrectedGroup
        Empty without groups.
    judges : tuple of JudgeReport
    kept : KeptJudges
        Which judges are worth their cost, and why. The shares rest on all of them.
    half_width : float
    labels_needed, labels_needed_alone : int
        Human labels, those there are included, for intervals of that half-width, with the judges and without.
    warnings : tuple of str
    """

    classes: AnyArray
    level: float
    estimand: str
    total: CorrectedGroup
    groups: tuple[CorrectedGroup, ...]
    judges: tuple[JudgeReport, ...]
    kept: KeptJudges
    half_width: float
    labels_needed: int
    labels_needed_alone: int
    warnings: tuple[str, ...]

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.total.n_items

    @property
    def n_labelled(self) -> int:
        """Number of items with a human label."""
        return self.total.n_labelled

    @property
    def more_labels(self) -> int:
        """Human labels still to be made for intervals of the half-width."""
        return max(self.labels_needed - self.n_labelled, 0)

    def sentences(self) -> list[str]:
        """Return what to make of it: what the judges add, which to keep, how many more labels."""
        n, total = self.n_labelled, self.total
        if n == self.n_items:
            return [f"All {n:,} items have a human label: the shares are known."]
        gained = total.effective_labels - n
        subject, them = ("The judges add", "them") if len(self.judges) > 1 else (f"{self.judges[0].name} adds", "it")
        worth = (
            f"{subject} about {gained:,.0f} labels: with {them} the {n:,} human labels are as precise as "
            f"{total.effective_labels:,.0f} alone."
            if gained >= 0.5
            else f"{subject} nothing to the {n:,} human labels."
        )
        points = f"±{100 * self.half_width:g} points"
        more = (
            f"For {points}, label about {self.more_labels:,} more items at random ({self.labels_needed:,} in all; without judges "
            f"{self.labels_needed_alone:,})."
            if self.more_labels
            else f"The {n:,} labels are enough for {points}."
        )
        return [worth, self.kept.reason, more]

    def records(self) -> list[dict[str, Any]]:
        """Return a plain record for each group (first all items) and class; a number that is not known is None."""
        return [record for group in (self.total, *self.groups) for record in self._records_of(group)]

    def _records_of(self, group: CorrectedGroup) -> list[dict[str, Any]]:
        named: dict[str, FloatArray | None] = {
            "share": group.shares,
            "share_low": group.low,
            "share_high": group.high,
            "labels_alone": group.shares_alone,
            "labels_alone_low": group.low_alone,
            "labels_alone_high": group.high_alone,
        }
        if self.groups:
            named |= {
                "label_shift": group.shifted,
                "label_shift_low": group.shifted_low,
                "label_shift_high": group.shifted_high,
            }
        records = []
        for j, label in enumerate(self.classes):
            figures = {name: None if values is None else _number(values[j]) for name, values in named.items()}
            which = {"group": group.label} if self.groups else {}
            counts = {"n": group.n_items, "labelled": group.n_labelled}
            records.append(
                {
                    **which,
                    "class": plain(label),
                    **figures,
                    **counts,
                    "effective_labels": _number(group.effective_labels),
                }
            )
        return records

    def judge_records(self) -> list[dict[str, Any]]:
        """Return a plain record for each judge and class: its share, its bias with an interval, its agreement with humans."""
        return [
            {
                "judge": judge.name,
                "class": plain(label),
                "share": _number(judge.shares[j]),
                "bias": _number(judge.bias[j]),
                "bias_low": _number(judge.bias_low[j]),
                "bias_high": _number(judge.bias_high[j]),
                **_ends("accuracy", judge.accuracy),
                **_ends("kappa", judge.kappa),
                "effective_labels": _number(judge.effective_labels),
                "answered": judge.n_answered,
                "abstained": judge.n_abstained,
                "keep": judge.name in self.kept.names,
            }
            for judge in self.judges
            for j, label in enumerate(self.classes)
        ]

    def to_frame(self) -> "pd.DataFrame":
        """Return a data frame of the shares, with one row for each group and class."""
        import pandas as pd

        return pd.DataFrame(self.records())

    def judges_frame(self) -> "pd.DataFrame":
        """Return a data frame of the judges, with one row for each judge and class."""
        import pandas as pd

        return pd.DataFrame(self.judge_records())

    def confusion_frame(self, judge: str | None = None) -> "pd.DataFrame":
        """Return the confusion matrix of a judge (by default the first) as a data frame; rows are the humans' classes."""
        import pandas as pd

        report = self._judge(judge)
        columns = [*map(str, self.classes), "(no class)"]
        return pd.DataFrame(
            report.confusion, index=pd.Index(self.classes, name="human"), columns=pd.Index(columns, name=report.name)
        )

    def _judge(self, name: str | None) -> JudgeReport:
        by_name = {report.name: report for report in self.judges}
        if name is None:
            return self.judges[0]
        if name not in by_name:
            raise DataError(f"There is no judge {name!r}; the judges are {quoted(by_name, 20)}.")
        return by_name[name]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as the command writes it with ``--json``."""
        classes = [str(plain(label)) for label in self.classes]
        return {
            "classes": [plain(label) for label in self.classes],
            "level": self.level,
            "estimand": self.estimand,
            "n": self.n_items,
            "labelled": self.n_labelled,
            "all": self._group_dict(self.total, classes),
            "groups": {group.label: self._group_dict(group, classes) for group in self.groups},
            "judges": {report.name: self._judge_dict(report, classes) for report in self.judges},
            "keep": {
                "judges": list(self.kept.names),
                "effective_labels": _number(self.kept.effective_labels),
                "reason": self.kept.reason,
            },
            "half_width": self.half_width,
            "labels_needed": self.labels_needed,
            "labels_needed_alone": self.labels_needed_alone,
            "more_labels": self.more_labels,
            "warnings": list(self.warnings),
        }

    def _group_dict(self, group: CorrectedGroup, classes: list[str]) -> dict[str, Any]:
        def by_class(name: str, *parts: FloatArray | None) -> dict[str, Any]:
            return {
                label: dict(
                    zip((name, "low", "high"), (None if p is None else _number(p[j]) for p in parts), strict=True)
                )
                for j, label in enumerate(classes)
            }

        answer = {
            "n": group.n_items,
            "labelled": group.n_labelled,
            "effective_labels": _number(group.effective_labels),
            "shares": by_class("share", group.shares, group.low, group.high),
            "labels_alone": by_class("share", group.shares_alone, group.low_alone, group.high_alone),
        }
        if group.shifted is not None:
            answer["label_shift"] = by_class("share", group.shifted, group.shifted_low, group.shifted_high)
        return answer

    def _judge_dict(self, report: JudgeReport, classes: list[str]) -> dict[str, Any]:
        columns = [*classes, "(no class)"]
        return {
            "answered": report.n_answered,
            "abstained": report.n_abstained,
            "others": report.others,
            "shares": dict(zip(classes, map(_number, report.shares), strict=True)),
            "bias": {
                label: dict(zip(("bias", "low", "high"), map(_number, ends), strict=True))
                for label, *ends in zip(classes, report.bias, report.bias_low, report.bias_high, strict=True)
            },
            "confusion": {
                label: dict(zip(columns, row.tolist(), strict=True))
                for label, row in zip(classes, report.confusion, strict=True)
            },
            **_ends("accuracy", report.accuracy),
            **_ends("kappa", report.kappa),
            "effective_labels": _number(report.effective_labels),
            "keep": report.name in self.kept.names,
        }

    def to_json(self, path: str | Path | None = None) -> str:
        """Return everything as JSON, and write it to a file if one is named."""
        text = json_text(self.to_dict(), indent=1) + "\n"
        if path is not None:
            write_all({Path(path): text.encode()})
        return text

    def in_class_order(self, classes: Sequence[Any]) -> "JudgedShares":
        """Return the same with the classes in another order, all of them, each once."""
        positions, text = class_positions(self.classes)
        wanted = [text(label) for label in classes]
        if sorted(wanted) != sorted(positions):
            raise DataError(
                f"The order of the classes must name each once: {quoted(positions, 10)}; got {quoted(wanted, 10)}."
            )
        order = [positions[label] for label in wanted]

        def moved(thing: Any, names: Sequence[str]) -> Any:
            return replace(
                thing, **{name: None if getattr(thing, name) is None else getattr(thing, name)[order] for name in names}
            )

        of_groups = [f"{p}{end}" for end in ("", "_alone") for p in _PARTS] + ["shifted", "shifted_low", "shifted_high"]
        judges = tuple(
            replace(
                moved(report, ("shares", "bias", "bias_low", "bias_high")),
                confusion=report.confusion[np.ix_(order, [*order, -1])],
            )
            for report in self.judges
        )
        groups = tuple(moved(group, of_groups) for group in self.groups)
        return replace(
            self, classes=self.classes[order], total=moved(self.total, of_groups), groups=groups, judges=judges
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the shares with their intervals beside those of the labels alone and of each judge (`headcount.plots.judged`)."""
        from headcount.plots import judged

        return judged(self, ax=ax)

    def _repr_html_(self) -> str:
        return html_frame(repr(self).partition("\n")[0], self.to_frame()) + html_frame("Judges", self.judges_frame())

    def __repr__(self) -> str:
        head = (
            f"Shares of {self.n_items:,} items, {self.n_labelled:,} with a human label, with {self.level:.4g} intervals"
        )
        lines = []
        for group in (self.total, *self.groups[:_GROUPS_SHOWN]):
            for j, label in enumerate(self.classes):
                name = f"{group.label:<14} " if self.groups else ""
                alone = f"labels alone {group.low_alone[j]:7.2%} to {group.high_alone[j]:7.2%}"
                answer = f"{group.shares[j]:7.2%}   {group.low[j]:7.2%} to {group.high[j]:7.2%}   ({alone}"
                if np.isnan(group.shares[j]):
                    answer = f"too few labels ({group.n_labelled}"
                if group.shifted is not None and group.shifted_low is not None and group.shifted_high is not None:
                    answer += f"; label shift {group.shifted_low[j]:7.2%} to {group.shifted_high[j]:7.2%}"
                lines.append(f"  {name}{label!s:<16} {answer})")
        more = [f"  ... and {len(self.groups) - _GROUPS_SHOWN} more groups"] if len(self.groups) > _GROUPS_SHOWN else []
        return "\n".join([head, *lines, *more, *self.sentences(), *self.warnings])


def _number(value: Any) -> float | None:
    """Return a number as Python's own, None for NaN."""
    return None if value != value else float(value)


def _ends(name: str, values: Interval) -> dict[str, float | None]:
    return dict(zip((name, f"{name}_low", f"{name}_high"), map(_number, values), strict=True))
