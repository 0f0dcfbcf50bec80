"""The HTML page of a watched stream: what is known now, alarms, and the history of each class with its confidence sequence."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from headcount._escaping import page_text
from headcount._validation import plain
from headcount.monitor import Monitor, WatchResult
from headcount.monitor.alarms import share_text

__all__ = ["page_of_watch"]

_MOST_ROWS = 200
"""Batches in the table: the last ones."""
_MOST_FIGURES = 10
_LABELS = 5
"""Names of batches below a figure."""
_STATUS = {"alarm": "do-not-trust", "too early": "caution", "quiet": "trust"}
"""CSS class of each status."""
_KINDS = {"moved": "moved", "band": "left its band", "items": "items have changed", "labels": "labels contradict"}


def page_of_watch(monitor: Monitor, last: WatchResult, *, title: str, facts: Mapping[str, Any] | None = None) -> str:
    """Make a self-contained HTML page of a stream, for light and dark screens of any width.

    Parameters
    ----------
    monitor : Monitor
    last : WatchResult
        Of the last batch.
    title : str
    facts : dict, optional
        Shown at the end, e.g. `headcount.desk.provenance`.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("headcount.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=page_text,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    classes = [str(plain(label)) for label in monitor.classes]
    results = monitor.results
    status = "alarm" if any(alarm.batch == last.batch for alarm in monitor.alarms) else last.status
    page = environment.get_template("watch.html").render(
        title=title,
        status=status,
        status_kind=_STATUS[status],
        lead=_lead(monitor, last, status),
        alarms=[
            {"kind": _KINDS[alarm.kind], "text": alarm.text, "batch": alarm.batch} for alarm in reversed(monitor.alarms)
        ],
        answer=[
            {
                "label": label,
                "share": share_text(share),
                "interval": _interval(low, high),
                "bar": f"--s:{share:.4f};--l:{low:.4f};--h:{high:.4f}",
            }
            for label, share, low, high in zip(classes, last.cumulative, last.low, last.high, strict=True)
            if share == share
        ],
        n_cumulative=f"{last.n_cumulative:,}",
        evidence=[
            {"kind": _KINDS[kind], "value": _number(value), "threshold": _number(last.thresholds[kind])}
            for kind, value in last.evidence.items()
        ],
        figures=[_figure(monitor, j, label) for j, label in enumerate(classes)][:_MOST_FIGURES],
        n_undrawn=max(0, len(classes) - _MOST_FIGURES),
        classes=classes,
        rows=[_row(entry) for entry in reversed(results[-_MOST_ROWS:])],
        n_batches=f"{monitor.n_batches:,}",
        n_items=f"{monitor.n_items:,}",
        n_shown=len(results[-_MOST_ROWS:]),
        level=f"{100 * monitor.level:g} %",
        questions=_questions(monitor, classes),
        note=last.note,
        labelled=_labelled(monitor, classes),
        facts=facts or {},
    )
    return page.encode("utf-8", "replace").decode()  # a name may hold half a surrogate pair, which no file can


def _lead(monitor: Monitor, last: WatchResult, status: str) -> str:
    if status == "alarm":
        return next((alarm.text for alarm in reversed(monitor.alarms) if alarm.batch == last.batch), last.note)
    if status == "too early":
        return last.note
    return (
        "Nothing to report: nothing speaks for a change since the last alarm."
        if monitor.alarms
        else "Nothing to report."
    )


def _questions(monitor: Monitor, classes: list[str]) -> list[str]:
    """Say what is asked of the stream."""
    settings, texts = monitor.settings, []
    if settings["first"]:
        texts.append(f"Shares are compared with those of {settings['reference_title']}.")
    elif settings["reference"] is not None:
        shares = ", ".join(f"{name} {share_text(p)}" for name, p in zip(classes, settings["reference"], strict=True))
        texts.append(f"Shares are compared with {settings['reference_title']}: {shares}.")
    for j, (low, high) in sorted(monitor.bands.items()):
        texts.append(f"The share of {classes[j]} is to stay between {share_text(low)} and {share_text(high)}.")
    if settings["checked"]:
        texts.append("The items are checked for being a mixture of the labelled classes.")
    return texts


def _labelled(monitor: Monitor, classes: list[str]) -> dict[str, Any]:
    found = monitor.labelled
    if found is None:
        return {}
    rows = [
        {"label": name, "share": share_text(p), "interval": _interval(low, high), "corrected": share_text(scored)}
        for name, p, low, high, scored in zip(
            classes, found.shares, found.low, found.high, found.corrected, strict=True
        )
    ]
    return {"n": f"{found.n_labels:,}", "rows": rows}


def _interval(low: float, high: float) -> str:
    return f"{100 * low:.1f} to {100 * high:.1f}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _row(entry: dict[str, Any]) -> dict[str, Any]:
    cells = [
        {"share": share_text(share), "so_far": share_text(mean), "interval": _interval(low, high)}
        for share, mean, low, high in zip(
            entry["shares"], entry["cumulative"], entry["low"], entry["high"], strict=True
        )
    ]
    return {
        "name": entry["batch"],
        "time": entry["time"] or "",
        "n": f"{entry['n']:,}",
        "cells": cells,
        "status": entry["status"],
        "kind": _STATUS[entry["status"]],
    }


def _figure(monitor: Monitor, j: int, label: str) -> dict[str, Any]:
    """Return the shapes of a class's figure, on a plane of width 1000 and height 100 that is stretched to the page."""
    results = monitor.results
    n = len(results)
    x = [1000.0 * (i + 0.5) / n for i in range(n)]
    names = ("shares", "cumulative", "low", "high")
    shares, means, low, high = (np.array([entry[name][j] for entry in results]) for name in names)
    known = monitor.reference_shares
    reference = None if known is None else float(known[j])
    band = monitor.bands.get(j)
    marks = [value for value in (reference, *(band or ())) if value is not None]
    # Intervals of the first batches are as wide as the plane, which shows nothing.
    narrow = high - low <= max(0.4, 1.5 * float((high - low).min()))
    sizes = np.array([entry["n"] for entry in results])
    large = sizes >= 0.1 * np.median(sizes)  # shares of a handful of items lie anywhere, and are drawn at the edge
    seen = np.concatenate([shares[large], means[large], low[narrow], high[narrow], marks])
    bottom, top = _axis(float(seen.min()), float(seen.max()))

    def y(value: float) -> float:
        return round(float(100.0 * (top - min(max(value, bottom), top)) / (top - bottom)), 2)

    periods: list[list[int]] = []
    for i, entry in enumerate(results):
        if entry["begins"] or not periods:
            periods.append([])
        periods[-1].append(i)
    areas, lines = [], []
    for period in periods:
        there = [f"{x[i]:.1f},{y(high[i])}" for i in period]
        back = [f"{x[i]:.1f},{y(low[i])}" for i in reversed(period)]
        areas.append(" ".join(there + back))
        lines.append(" ".join(f"{x[i]:.1f},{y(means[i])}" for i in period))
    alarmed = {alarm.batch for alarm in monitor.alarms if alarm.label in ("", label)}
    if len(monitor.classes) == 2:
        alarmed |= {alarm.batch for alarm in monitor.alarms}
    ticks = np.linspace(bottom, top, round((top - bottom) / _step(top - bottom)) + 1)
    at = sorted({round(i) for i in np.linspace(0, n - 1, min(_LABELS, n))})
    return {
        "label": label,
        "j": j,
        "areas": areas,
        "lines": lines,
        "points": [
            {
                "x": round(x[i], 1),
                "y": y(shares[i]),
                "text": f"{entry['batch']}: {share_text(shares[i])}, {entry['n']:,} items",
            }
            for i, entry in enumerate(results)
        ],
        "alarms": [
            {"x": round(x[i], 1), "text": entry["batch"]}
            for i, entry in enumerate(results)
            if entry["batch"] in alarmed
        ],
        "reference": None if reference is None else y(reference),
        "band": None if band is None else (y(band[1]), y(band[0])),
        "ticks": [{"y": y(float(tick)), "text": f"{100 * tick:.0f} %"} for tick in ticks],
        "names": [{"x": round(x[i] / 10.0, 2), "text": results[i]["batch"]} for i in at],
        "summary": f"{label}: {n} batches, the last at {share_text(shares[-1])}; so far {share_text(means[-1])}, "
        f"{_interval(low[-1], high[-1])}.",
    }


def _axis(least: float, most: float) -> tuple[float, float]:
    """Return the ends of the axis of shares: multiples of a round step around the values."""
    step = _step(max(most - least, 0.05))
    bottom, top = step * np.floor(least / step + 1e-9), step * np.ceil(most / step - 1e-9)
    return max(0.0, float(bottom)), min(1.0, float(top)) if top > bottom else float(bottom + step)


def _step(span: float) -> float:
    """Return a round distance of ticks, two to five of which make the span.

    >>> _step(1.0), _step(0.4), _step(0.1)
    (0.2, 0.1, 0.02)
    """
    return next(step for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.25) if span <= 5.0 * step or step == 0.25)
