"""The HTML page of an estimate: the answer, what to make of it, warnings, and the shares of each group to sort and filter."""

from collections import Counter
from typing import Any

import numpy as np

from headcount._escaping import json_text, page_text
from headcount._typing import FloatArray
from headcount._validation import plain
from headcount.report.ordered_colours import is_scale
from headcount.report.shares_labelled import labelled_contents
from headcount.report.shares_order import Order, order_of, top_moves
from headcount.report.shares_reasons import Reason, warnings_by_reason
from headcount.report.shares_stacked import stacked_contents
from headcount.stream import GroupShares
from headcount.stream.groups import group_label
from headcount.stream.verdicts import DO_NOT_TRUST, LABELLED, NOT_CHECKED, TOO_FEW, TOO_FEW_LABELS, verdict_summary

__all__ = ["page_of_shares", "page_title"]

_ESTIMANDS = {
    "population": "These items are taken as a sample: the intervals allow for the fact that other items from the same source would "
    "have slightly different shares.",
    "sample": "The shares are those among exactly these items.",
}
_UNCHECKED = (NOT_CHECKED, TOO_FEW, TOO_FEW_LABELS, LABELLED)
"""Verdicts that no check of the items stands behind."""
_MOST_CELLS_WITH_COUNTS = 600
"""Cells of the table up to which counts stand below the shares from the start; beyond, the reader chooses."""
_SCALE = 1_000_000
"""Shares are whole millionths in the page's data: exact enough for its downloads, and short."""
_PALETTE = 10
"""Colours of classes without an order."""
_SHORT_NAME = 14
"""Characters up to which names of groups stand in one line."""
_MOST_NAMES = 40
"""Groups named below a warning; all of them can be shown in the table."""


def page_title(label: str | None, by: str) -> str:
    """Return the title of a page: what the shares are of, and how items are grouped.

    >>> page_title("stars", "shop, month of sold"), page_title(None, "")
    ('Shares of stars by shop and month of sold', 'Shares of classes')
    """
    return f"Shares of {label or 'classes'}" + (f" by {by.replace(', ', ' and ')}" if by else "")


def page_of_shares(groups: GroupShares, *, title: str, by: str = "", facts: dict[str, Any] | None = None) -> str:
    """Make a self-contained HTML page to read, sort, filter, print and save from, for light and dark screens of any width.

    Parameters
    ----------
    groups : GroupShares
    title : str
    by : str, optional
        Title of the column of groups.
    facts : dict, optional
        Shown at the end, e.g. `headcount.desk.provenance`.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    order, reasons = order_of(groups), warnings_by_reason(groups.verdicts, groups.advice)
    moves = _move_rows(groups, order)
    ends = {(move["first"]["step"], move["last"]["step"]) for move in moves}
    with_counts = groups.shares.size <= _MOST_CELLS_WITH_COUNTS
    estimated = int((~np.isnan(groups.shares[:, 0])).sum())
    n_tested = int((~np.isnan(groups.p_corrected)).sum())
    environment = Environment(
        loader=PackageLoader("headcount.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=page_text,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template("shares.html").render(
        title=title,
        by=by or "group",
        summary=verdict_summary(groups.verdicts, groups.advice),
        answer=_answer(groups),
        reasons=[_reason_entry(reason, groups) for reason in reasons],
        moves=moves,
        n_moves=sum(len(members) > 1 for members in order.members) * len(groups.classes),
        move_titles=next(iter(ends)) if len(ends) == 1 else ("first", "last"),
        by_series=len(order.series) > 1,
        estimated=estimated,
        plotted=estimated > (2 if order.kind else 12),
        classes=[str(plain(label)) for label in groups.classes],
        rows=_rows(groups, with_counts),
        total=_rows(groups.total, with_counts) if groups.total is not None else [],
        with_counts=with_counts,
        drawn=_drawn_rows(groups),
        drawn_mean=[] if groups.drawn is None else [f"{100 * share:z.1f} %" for share in groups.drawn.mean],
        short_names=max(len(group_label(name)) for name in groups.names) <= _SHORT_NAME,
        verdicts=Counter(groups.verdicts),
        figures=[figure.title for figure in groups.figures],
        no_figures=groups.why_no_figures,
        stacked=stacked_contents(groups),
        palette=len(groups.classes) if is_scale(groups) else _PALETTE,
        level=f"{100 * groups.level:g} %",
        estimand=_ESTIMANDS[groups.estimand],
        method=groups.method,
        adjusts=groups.adjusts_for_shift,
        calibrated=groups.assume == "calibrated",
        checked=any(verdict not in _UNCHECKED for verdict in groups.verdicts),
        labelled=labelled_contents(groups, _texts),
        note=groups.note,
        corrected=f"p, corrected for {n_tested} groups" if n_tested > 1 else "",
        n_items=f"{int(groups.n_items.sum()):,}",
        facts=facts or {},
        data=Markup(_data(groups, order, reasons, by or "group")),  # safe: "<" is escaped in it
    )
    return page.encode("utf-8", "replace").decode()  # a name may hold half a surrogate pair, which no file can


def _answer(groups: GroupShares) -> dict[str, Any]:
    """Return the answer for all items: of the only group, of the total, or summed over groups, which gives no intervals."""
    whole = groups if len(groups) == 1 else groups.total
    if whole is not None:
        shares, low, high, n = whole.shares[0], whole.low[0], whole.high[0], int(whole.n_items[0])
    else:
        estimated = ~np.isnan(groups.shares[:, 0])
        weights = groups.n_items[estimated]
        n = int(weights.sum())
        shares = weights @ groups.shares[estimated] / n if n else np.full(len(groups.classes), np.nan)
        low = high = np.full(len(groups.classes), np.nan)
    if np.isnan(shares).any():
        return {}
    rows = [
        {"label": str(plain(label)), **_texts(share, start, end, n), "bar": _bar(share, start, end)}
        for label, share, start, end in zip(groups.classes, shares, low, high, strict=True)
    ]
    figures = [] if whole is None else [(figure.title, *figure.text(0)) for figure in whole.figures]
    return {
        "rows": rows,
        "n": f"{n:,}",
        "summed": whole is None,
        "n_left_out": "" if n == (total := int(groups.n_items.sum())) else f"{total - n:,}",
        "n_unusable": groups.verdicts.count(DO_NOT_TRUST),
        "figures": figures,
        "largest": rows[int(shares.argmax())],
    }


def _texts(share: float, low: float, high: float, n: int) -> dict[str, str]:
    """Return a share and a count with their intervals for people to read; empty where there are none."""
    if np.isnan(share):
        return dict.fromkeys(("share", "interval", "count", "count_interval"), "")
    share, low, high = round(float(share), 6), round(float(low), 6), round(float(high), 6)
    known = low == low  # not NaN
    return {
        "share": f"{100 * share:z.1f} %",
        "interval": f"{100 * low:z.1f} to {100 * high:z.1f}" if known else "",
        "count": f"{round(n * share):,}",
        "count_interval": f"{round(n * low):,} to {round(n * high):,}" if known else "",
    }


def _bar(share: float, low: float, high: float) -> str:
    """Return CSS properties that place a share and its interval on a scale from 0 to 1."""
    interval = f";--l:{low:.4f};--h:{high:.4f}" if low == low else ""
    return f"--s:{share:.4f}{interval}"


def _reason_entry(reason: Reason, groups: GroupShares) -> dict[str, Any]:
    names = [group_label(groups.names[g]) for g in reason.groups]
    return {
        "text": reason.text,
        "verdicts": [{"name": verdict, "kind": _kind(verdict), "n": n} for verdict, n in reason.verdicts.items()],
        "names": names[:_MOST_NAMES],
        "n": len(names),
    }


def _move_rows(groups: GroupShares, order: Order) -> list[dict[str, Any]]:
    rows = []
    for move in top_moves(groups, order):
        first, last = (
            {
                "step": order.steps[g],
                **_texts(groups.shares[g, move.j], groups.low[g, move.j], groups.high[g, move.j], 0),
            }
            for g in (move.first, move.last)
        )
        change = f"{100 * move.change:+z.1f}".replace("-", "\u2212")
        rows.append(
            {
                "series": move.series,
                "label": move.label,
                "first": first,
                "last": last,
                "change": change,
                "apart": move.apart,
            }
        )
    return rows


def _kind(verdict: str) -> str:
    """Return the CSS class of a verdict."""
    return verdict.replace(" ", "-")


def _rows(groups: GroupShares, with_counts: bool) -> list[dict[str, Any]]:
    corrected = groups.p_corrected
    return [_row(groups, g, corrected, with_counts) for g in range(len(groups))]


def _row(groups: GroupShares, g: int, corrected: FloatArray, with_counts: bool) -> dict[str, Any]:
    n = int(groups.n_items[g])
    cells = [
        _texts(share, low, high, n)
        for share, low, high in zip(groups.shares[g], groups.low[g], groups.high[g], strict=True)
    ]
    return {
        "name": group_label(groups.names[g]),
        "n": f"{n:,}",
        "cells": cells,
        "with_counts": with_counts,
        "figures": [figure.text(g) for figure in groups.figures],
        "verdict": groups.verdicts[g],
        "kind": _kind(groups.verdicts[g]),
        "corrected": f"{corrected[g]:.2g}" if corrected[g] == corrected[g] else "",
    }


def _drawn_rows(groups: GroupShares) -> list[dict[str, Any]]:
    """Return the shares drawn towards the other groups, beside those of each group by itself."""
    drawn = groups.drawn
    if drawn is None:
        return []
    return [
        {
            "name": group_label(groups.names[g]),
            "n": f"{int(groups.n_items[g]):,}",
            "cells": [
                _texts(drawn.shares[g, j], drawn.low[g, j], drawn.high[g, j], 0)
                | {"own": _texts(groups.shares[g, j], np.nan, np.nan, 0)["share"]}
                for j in range(len(groups.classes))
            ],
            "part": f"{100 * drawn.part[g]:.0f} %",
        }
        for g in range(len(groups))
        if drawn.part[g] == drawn.part[g]
    ]


def _data(groups: GroupShares, order: Order, reasons: list[Reason], by: str) -> str:
    """Return what the page's script needs as JSON that can stand in a script element."""
    position = {verdict: i for i, verdict in enumerate(dict.fromkeys(groups.verdicts))}
    ends = np.stack([groups.shares, groups.low, groups.high], axis=2).reshape(len(groups), -1)
    data = {
        "by": by,
        "columns": groups.part_columns,
        "classes": [str(plain(label)) for label in groups.classes],
        "names": [
            list(map(group_label, name)) if isinstance(name, tuple) else [group_label(name)] for name in groups.names
        ],
        "n": groups.n_items.tolist(),
        "shares": [[None if value != value else round(value * _SCALE) for value in row] for row in ends.tolist()],
        "figures": [{"title": figure.title, "key": figure.key, "kind": figure.kind} for figure in groups.figures],
        "values": [list(groups.figures_of(g).values()) for g in range(len(groups))],
        "palette": len(groups.classes) if is_scale(groups) else _PALETTE,
        "p": [None if p != p else float(f"{p:.3g}") for p in groups.p_corrected.tolist()],
        "verdicts": list(position),
        "verdict": [position[verdict] for verdict in groups.verdicts],
        "reasons": [{"text": reason.text, "groups": reason.groups} for reason in reasons],
        "order": order.kind,
        "series": order.series,
        "members": order.members,
        "steps": order.steps,
    }
    text = json_text(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")
