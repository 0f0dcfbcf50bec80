"""The plot and the page of shares."""

import numpy as np
import pytest

from headcount.report.shares_page import page_of_shares, verdict_summary
from headcount.report.shares_plot import plot_shares
from headcount.stream import GroupShares


def groups(verdicts, k=2, intervals=True, note="", estimand="population"):
    n = len(verdicts)
    shares = np.full((n, k), 1.0 / k)
    low, high = (shares - 0.05, shares + 0.05) if intervals else (np.full((n, k), np.nan),) * 2
    for g, verdict in enumerate(verdicts):
        if verdict == "too few items":
            shares[g] = np.nan
    names = [f"2016-{g + 1:02d}" for g in range(n - 1)] + [None]
    classes = np.array([f"<class {j}>" for j in range(k)])
    advice = [[f"Advice on {name}."] for name in names]
    return GroupShares(
        classes, names, np.full(n, 100), shares, low, high, list(verdicts), advice, 0.9, estimand, "PACC", note
    )


@pytest.mark.parametrize(("ending", "mark"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_plots_are_reproducible_in_every_format(ending, mark):
    found = groups(["trust", "do not trust", "do not trust", "too few items"], 3)
    picture = plot_shares(found, ending, "Title", "month")
    assert picture.startswith(mark)
    assert plot_shares(found, ending, "Title", "month") == picture


def test_many_groups_no_intervals_and_one_group():
    for found in (
        groups(["trust"] * 30),
        groups(["trust"] * 3, intervals=False),
        groups(["trust"]),
        groups(["too few items"]),
    ):
        text = plot_shares(found).decode()
        assert "&lt;class 1&gt;" in text
        assert "(none)" in text


def test_plotting_leaves_rcparams_unchanged():
    import matplotlib

    before = dict(matplotlib.rcParams)
    plot_shares(groups(["trust"]))
    assert dict(matplotlib.rcParams) == before


def test_the_page_shows_shares_verdicts_advice_and_facts():
    page = page_of_shares(
        groups(["trust", "caution", "do not trust", "too few items"], estimand="sample"),
        title="Shares <of> stars",
        by="month",
        facts={"Model": "m.headcount"},
    )
    for words in (
        "Shares &lt;of&gt; stars",
        "&lt;class 0&gt;",
        "45.0 to 55.0",
        "90 % of the time",
        "among exactly these items",
        "Advice on 2016-02.",
        "m.headcount",
        "1 of 3 groups passed all checks. 1 calls for caution. 1 should not be trusted: see the advice. 1 too small for shares.",
    ):
        assert words in page, words
    assert "Advice on 2016-01." not in page
    assert "<script" not in page
    assert "src=" not in page


def test_the_page_without_intervals():
    page = page_of_shares(groups(["trust"], intervals=False, note="CC is biased."), title="t")
    assert "There are no intervals: CC is biased." in page
    assert "Nothing speaks against the shares of any group" in page


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        (["not checked"], "was not checked"),
        (["too few items"], "All groups are too small"),
        (["caution", "caution"], "No group passed all checks. 2 call for caution."),
        (["trust"], "The group passed all checks."),
    ],
)
def test_verdicts_are_summarised(verdicts, words):
    found = groups(verdicts)
    assert words in verdict_summary(found.verdicts, found.advice)
