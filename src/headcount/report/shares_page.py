"""The page of shares for people who did not run the estimate: what was found, how sure it is, how it was found."""

from typing import Any

from headcount._validation import plain
from headcount.report.shares_plot import plot_shares
from headcount.stream import GroupShares
from headcount.stream.shares import NOT_CHECKED, TOO_FEW, shown

__all__ = ["page_of_shares", "summary"]


_WHOSE = {
    "population": "The shares are those of all that the items stand for, of which these are but some: other items of the same kind "
    "would give slightly other shares.",
    "pile": "The shares are those of these very items.",
}


def summary(groups: GroupShares) -> str:
    """Say in a sentence or two how far the shares can be trusted.

    A count of the verdicts, in words.
    """
    count = {verdict: groups.verdicts.count(verdict) for verdict in dict.fromkeys(groups.verdicts)}
    judged = len(groups) - count.get(TOO_FEW, 0) - count.get(NOT_CHECKED, 0)
    if judged == 0:
        reasons = dict.fromkeys(a[-1] for a, v in zip(groups.advice, groups.verdicts, strict=True) if v == NOT_CHECKED)
        said = f"Whether the shares can be trusted was not checked. {next(iter(reasons), '')}".rstrip()
        if count.get(TOO_FEW, 0) == len(groups):
            said = "All groups are too small for shares."
        return said
    good, bad = count.get("trust", 0), count.get("do not trust", 0)
    whole = f"{good} of {judged} groups" if judged > 1 else "The group"
    said = f"{whole} passed all checks." if good else "No group passed all checks."
    if count.get("caution", 0):
        said += f" {count['caution']} call{'s' if count['caution'] == 1 else ''} for caution."
    if bad:
        said += f" {bad} should not be trusted: see the advice."
    if count.get(TOO_FEW, 0):
        said += f" {count[TOO_FEW]} too small for shares."
    return said


def page_of_shares(groups: GroupShares, *, title: str, by: str = "", facts: dict[str, Any] | None = None) -> str:
    """Return a page of HTML that needs nothing beside it: the plot inside, light and dark.

    Parameters
    ----------
    groups : GroupShares
    title : str
    by : str, optional
        What the groups are.
    facts : dict, optional
        Shown at the end: where model and data come from.
    """
    from jinja2 import Environment, PackageLoader
    from markupsafe import Markup

    picture = plot_shares(groups, "svg", x_label=by).decode()
    environment = Environment(loader=PackageLoader("headcount.report"), autoescape=True, trim_blocks=True)
    return environment.get_template("shares.html").render(
        title=title,
        by=by or "group",
        summary=summary(groups),
        plot=Markup(picture[picture.index("<svg") :]),  # made here, its texts escaped by matplotlib
        classes=[str(plain(label)) for label in groups.classes],
        rows=[_row(groups, g) for g in range(len(groups))],
        level=f"{100 * groups.level:g} %",
        whose=_WHOSE[groups.estimand],
        method=groups.method,
        corrects=groups.method not in ("CC", "PCC", "MLPE"),
        no_shift=not groups.note and groups.estimate is not None and groups.estimate.parts is None,
        checked=any(verdict not in (NOT_CHECKED, TOO_FEW) for verdict in groups.verdicts),
        note=groups.note,
        n_items=f"{int(groups.n_items.sum()):,}",
        facts=facts or {},
    )


def _row(groups: GroupShares, g: int) -> dict[str, Any]:
    shares = []
    for share, low, high in zip(groups.shares[g], groups.low[g], groups.high[g], strict=True):
        known = share == share
        between = f"{100 * low:.1f} to {100 * high:.1f}" if low == low else ""
        shares.append(
            {"share": f"{100 * share:.1f} %" if known else "", "between": between, "width": share if known else 0}
        )
    return {
        "name": shown(groups.names[g]),
        "n": f"{int(groups.n_items[g]):,}",
        "shares": shares,
        "verdict": groups.verdicts[g],
        "kind": groups.verdicts[g].replace(" ", "-"),
        "advice": groups.advice[g],
    }
