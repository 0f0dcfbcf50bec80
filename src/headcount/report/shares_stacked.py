"""The part of the page of an estimate that stacks the shares of ordered classes: one bar a group, in the order of the classes."""

from typing import Any

import numpy as np

from headcount._validation import plain
from headcount.report.ordered_colours import colour_rules, is_scale
from headcount.stream import GroupShares
from headcount.stream.groups import group_label

__all__ = ["stacked_contents"]

_MOST_BARS = 60
_SHOWN_FROM = 0.08
"""Share from which a part of a bar has its number written in it."""


def stacked_contents(groups: GroupShares) -> dict[str, Any]:
    """Return the bars of all groups with shares, and the colours of the classes; empty unless classes are ordered."""
    if not is_scale(groups):
        return {}
    estimated = np.flatnonzero(~np.isnan(groups.shares[:, 0])).tolist()
    bars = [_bar(groups, g) for g in estimated[:_MOST_BARS]]
    if groups.total is not None and not np.isnan(groups.total.shares[0, 0]):
        bars.append(_bar(groups.total, 0))
    return {"bars": bars, "n_more": max(len(estimated) - _MOST_BARS, 0), "rules": colour_rules(len(groups.classes))}


def _bar(groups: GroupShares, g: int) -> dict[str, Any]:
    shares = groups.shares[g]
    parts = [
        {
            "label": str(plain(label)),
            "j": j,
            "width": f"{100 * share:.3f}",
            "share": f"{100 * share:z.1f} %",
            "written": f"{100 * share:.0f}" if share >= _SHOWN_FROM else "",
        }
        for j, (label, share) in enumerate(zip(groups.classes, shares.tolist(), strict=True))
    ]
    said = ", ".join(f"{part['label']}: {part['share']}" for part in parts)
    return {"name": group_label(groups.names[g]), "parts": parts, "said": said}
