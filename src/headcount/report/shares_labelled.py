"""What the page of an estimate shows beside design-based shares: those under label shift, and the test of both."""

from collections.abc import Callable
from typing import Any

from headcount.stream import GroupShares
from headcount.stream.groups import group_label

__all__ = ["labelled_contents"]

_WARNED = ("caution", "do not trust")


def labelled_contents(groups: GroupShares, texts: Callable[..., dict[str, str]]) -> dict[str, Any]:
    """Return the contents of the section about label shift; empty without labels of new items.

    Parameters
    ----------
    groups : GroupShares
    texts : callable
        Writes a share, the ends of its interval and a number of items for people.
    """
    labelled = groups.labelled
    if labelled is None:
        return {}
    shift = labelled.label_shift
    corrected = labelled.p_corrected
    rows = [
        {
            "name": group_label(name),
            "labels": f"{labelled.n_labels[g]:,}",
            "cells": [
                texts(share, low, high, int(groups.n_items[g]))
                for share, low, high in zip(shift.shares[g], shift.low[g], shift.high[g], strict=True)
            ],
            "verdict": shift.verdicts[g],
            "kind": shift.verdicts[g].replace(" ", "-"),
            "p": _p_text(labelled.p_value[g]),
            "corrected": _p_text(corrected[g]),
            "reach": _points(labelled.detectable[g].max()),
        }
        for g, name in enumerate(groups.names)
    ]
    reasons: dict[str, list[str]] = {}
    for g, verdict in enumerate(shift.verdicts):
        if verdict in _WARNED:
            for sentence in shift.advice[g]:
                if not getattr(sentence, "is_note", False):
                    reasons.setdefault(getattr(sentence, "reason", str(sentence)), []).append(
                        group_label(groups.names[g])
                    )
    gained = labelled.gained[labelled.gained == labelled.gained]
    return {
        "rows": rows,
        "note": shift.note,
        "sentences": labelled.sentences(groups.names),
        "notes": list(groups.notes),
        "n_labels": f"{int(labelled.n_labels.sum()):,}",
        "gained": f"{max(float(gained.sum()), 0.0):,.0f}" if gained.size else "",
        "several": sum(row["p"] != "" for row in rows) > 1,
        "reasons": [{"text": text, "names": ", ".join(names)} for text, names in reasons.items()],
    }


def _p_text(p: float) -> str:
    return "" if p != p else f"{p:.2g}" if p >= 0.001 else "< 0.001"


def _points(reach: float) -> str:
    return f"{100 * reach:.0f} points" if reach < 1.0 else ""
