"""The HTML page of an estimate: shares of each group, verdicts, advice, and how they were obtained."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from headcount._typing import FloatArray
from headcount._validation import plain
from headcount.report.shares_plot import plot_shares
from headcount.stream import GroupShares
from headcount.stream.group_shares import NOT_CHECKED, TOO_FEW, group_label, mean_text

__all__ = ["page_of_shares", "verdict_summary"]

_ESTIMANDS = {
    "population": "The shares are those in the process that the items came from: other items of the same process would give "
    "slightly different shares.",
    "sample": "The shares are those among exactly these items.",
}


def verdict_summary(verdicts: Sequence[str], advice: Sequence[Sequence[str]]) -> str:
    """Count the verdicts of groups in a sentence or two.

    >>> verdict_summary(["trust", "trust", "caution"], [[], [], ["Few items."]])
    '2 of 3 groups passed all checks. 1 calls for caution.'
    """
    count = Counter(verdicts)
    n_checked = len(verdicts) - count[TOO_FEW] - count[NOT_CHECKED]
    if count[TOO_FEW] == len(verdicts):
        return "All groups are too small for shares."
    if n_checked == 0:
        reason = next(sentences[-1] for sentences, v in zip(advice, verdicts, strict=True) if v == NOT_CHECKED)
        return f"Whether the shares can be trusted was not checked. {reason}".rstrip()
    passed = f"{count['trust']} of {n_checked} groups" if n_checked > 1 else "The group"
    text = f"{passed} passed all checks." if count["trust"] else "No group passed all checks."
    if count["caution"]:
        text += f" {count['caution']} call{'s' if count['caution'] == 1 else ''} for caution."
    if count["do not trust"]:
        text += f" {count['do not trust']} should not be trusted: see the advice."
    if count[TOO_FEW]:
        text += f" {count[TOO_FEW]} too small for shares."
    return text


def page_of_shares(groups: GroupShares, *, title: str, by: str = "", facts: dict[str, Any] | None = None) -> str:
    """Make a self-contained HTML page, with the plot inside, for light and dark screens.

    Parameters
    ----------
    groups : GroupShares
    title : str
    by : str, optional
        Title of the column of groups.
    facts : dict, optional
        Shown at the end, e.g. `headcount.desk.provenance`.
    """
    from jinja2 import Environment, PackageLoader
    from markupsafe import Markup

    picture = plot_shares(groups, "svg", x_label=by).decode()
    environment = Environment(loader=PackageLoader("headcount.report"), autoescape=True, trim_blocks=True)
    return environment.get_template("shares.html").render(
        title=title,
        by=by or "group",
        summary=verdict_summary(groups.verdicts, groups.advice),
        plot=Markup(picture[picture.index("<svg") :]),  # safe: matplotlib has escaped its texts
        classes=[str(plain(label)) for label in groups.classes],
        rows=_rows(groups),
        total=_rows(groups.total) if groups.total is not None else [],
        mean="" if groups.averages is None else f"mean {groups.averages[0]}".strip(),
        level=f"{100 * groups.level:g} %",
        estimand=_ESTIMANDS[groups.estimand],
        method=groups.method,
        adjusts=groups.adjusts_for_shift,
        calibrated=groups.assume == "calibrated",
        checked=any(verdict not in (NOT_CHECKED, TOO_FEW) for verdict in groups.verdicts),
        note=groups.note,
        corrected=_corrected_title(groups),
        n_items=f"{int(groups.n_items.sum()):,}",
        facts=facts or {},
    )


def _corrected_title(groups: GroupShares) -> str:
    """Title of the column of p-values that are corrected for many groups; empty where there are not several."""
    n_tested = sum(p == p for p in groups.p_corrected)
    return f"p, corrected for {n_tested} groups" if n_tested > 1 else ""


def _rows(groups: GroupShares) -> list[dict[str, Any]]:
    corrected = groups.p_corrected
    return [_row(groups, g, corrected) for g in range(len(groups))]


def _row(groups: GroupShares, g: int, corrected: FloatArray) -> dict[str, Any]:
    shares = []
    for share, low, high in zip(groups.shares[g], groups.low[g], groups.high[g], strict=True):
        estimated = share == share  # not NaN
        interval = f"{100 * low:.1f} to {100 * high:.1f}" if low == low else ""
        text, width = (f"{100 * share:.1f} %", share) if estimated else ("", 0)
        shares.append({"share": text, "interval": interval, "width": width})
    return {
        "name": group_label(groups.names[g]),
        "n": f"{int(groups.n_items[g]):,}",
        "shares": shares,
        "mean": mean_text(groups, g),
        "verdict": groups.verdicts[g],
        "kind": groups.verdicts[g].replace(" ", "-"),
        "advice": groups.advice[g],
        "corrected": f"{corrected[g]:.2g}" if corrected[g] == corrected[g] else "",
    }
