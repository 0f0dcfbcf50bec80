"""The plot and the page of shares."""

import json
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from headcount.checks.verdict import Advice
from headcount.report.shares_order import order_of, top_moves
from headcount.report.shares_page import page_of_shares
from headcount.report.shares_plot import _draw, plot_shares
from headcount.report.shares_reasons import warnings_by_reason
from headcount.stream import GroupShares
from headcount.stream.group_shares import DrawnShares


def groups(verdicts, k=2, intervals=True, note="", estimand="population"):
    n = len(verdicts)
    shares = np.full((n, k), 1.0 / k)
    low, high = (shares - 0.05, shares + 0.05) if intervals else (np.full((n, k), np.nan),) * 2
    for g, verdict in enumerate(verdicts):
        if verdict == "too few items":
            shares[g] = np.nan
    names = [f"2016-{g + 1:02d}" for g in range(n - 1)] + [None]
    classes = np.array([f"<class {j}>" for j in range(k)])
    advice = [[f"Advice on {'abcdefghijklmnopqrstuvwxyz'[g % 26]}."] for g in range(n)]
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


@pytest.mark.parametrize("names", [[f"{2000 + g}" for g in range(80)], [f"shop {g}" for g in range(80)]])
def test_many_groups_have_a_panel_for_each_class(names):
    found = replace(groups(["trust"] * 80, 3), names=names)
    text = plot_shares(found).decode()
    assert text.count('id="axes_') == 3
    assert ("smallest share" in text) == names[0].startswith("shop")
    assert (">2000<" in text) == names[0].startswith("2")


@pytest.mark.parametrize("top", [0.0012, 0.004, 0.013, 0.09, 0.11, 0.32, 0.6, 1.0])
def test_ticks_stand_where_their_labels_say(top):
    found = replace(groups(["trust"] * 3), shares=np.full((3, 2), top), low=np.zeros((3, 2)), high=np.full((3, 2), top))
    axes = Figure().add_subplot()
    _draw(axes, found)
    axes.figure.canvas.draw()
    labels = [float(label.get_text().removesuffix(" %")) / 100 for label in axes.get_yticklabels()]
    assert labels == pytest.approx(axes.get_yticks().tolist(), abs=1e-12)
    assert len(labels) >= 3


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
        "Advice on b.",
        "m.headcount",
        "1 of 4 groups looks fine. 1 of 4 needs a look before its shares are used (caution).",
    ):
        assert words in page, words
    assert "Advice on a." not in page
    assert "src=" not in page


def test_the_page_without_intervals():
    page = page_of_shares(groups(["trust"], intervals=False, note="CC is biased."), title="t")
    assert "There are no intervals: CC is biased." in page
    assert "nothing speaks against these shares" in page
    page = page_of_shares(groups(["trust"] * 3, intervals=False, note="CC is biased."), title="t")
    assert 'id="reading">Below each share the number of items. <' in page


def data_of(page):
    return json.loads(page.split('<script type="application/json" id="data">')[1].split("</script>")[0])


def test_the_answer_comes_first_with_counts_and_is_the_totals_where_there_is_one():
    found = groups(["trust", "trust"])
    page = page_of_shares(found, title="t")
    assert page.index("about 100 of 200 items, 50.0 %.") < page.index("What to make of it")
    total = replace(groups(["trust"]), names=["(all)"], n_items=np.array([200]))
    page = page_of_shares(replace(found, total=total), title="t")
    assert "about 100 of 200 items, 50.0 % (45.0 to 55.0)." in page
    assert "90 to 110" in page
    page = page_of_shares(groups(["too few items"] * 4), title="t")
    assert "too few items to estimate" in page
    assert "of the time" not in page  # nothing on intervals
    assert 'id="plots"' not in page


def test_names_can_not_break_out_of_the_page():
    nasty = ["</script><script>alert(1)</script>", "a\"b'c<!--", "\x00\x1f\u202e", "\ud800 half", "]]>&amp;"]
    found = replace(groups(["trust", "caution"] + ["trust"] * 3), names=nasty, classes=np.array(nasty[:2]))
    page = page_of_shares(found, title=nasty[0], by=nasty[1], facts={nasty[0]: nasty[3]})
    page.encode()
    assert page.count("<script") == 3
    assert "<!--" not in page
    assert [name for [name] in data_of(page)["names"]] == nasty


def test_a_thousand_groups_of_ten_classes_are_less_than_a_megabyte():
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(10), 1000)
    found = groups(["trust", "caution"] * 500, 10)
    found = replace(
        found, shares=shares, low=shares * 0.9, high=shares * 1.05, names=[f"group number {g}" for g in range(1000)]
    )
    page = page_of_shares(found, title="t", by="shop")
    assert len(page.encode()) < 1_000_000
    assert data_of(page)["shares"][7][3 * 4] == round(1e6 * shares[7, 4])


def test_groups_are_in_order_by_periods_or_numbers_in_one_of_the_columns():
    found = groups(["trust"] * 4)
    assert order_of(found).kind == "periods"
    assert order_of(found).members == [[0, 1, 2]]
    assert order_of(replace(found, names=["1", "2.5", "-3", "40"])).kind == "numbers"
    assert order_of(replace(found, names=["a", "b", "c", "2016"])).kind == ""
    names = [("x", "2016-Q1"), ("x", "2016-Q2"), ("y", "2016-Q1"), ("y", None)]
    order = order_of(replace(found, names=names))
    assert (order.kind, order.series, order.members) == ("periods", ["x", "y"], [[0, 1], [2]])


def test_the_largest_changes_from_first_to_last_period_come_first():
    shares = np.array([[0.2, 0.5, 0.3], [0.9, 0.0, 0.1], [0.25, 0.2, 0.55], [np.nan] * 3])
    found = replace(groups(["trust"] * 4, 3), names=["2014", "2015", "2016", "2017"])
    found = replace(found, shares=shares, low=shares - 0.1, high=shares + 0.1)
    moves = top_moves(found, order_of(found))
    assert [(move.label, move.apart) for move in moves] == [
        ("<class 1>", True),
        ("<class 2>", True),
        ("<class 0>", False),
    ]
    assert [move.change for move in moves] == pytest.approx([-0.3, 0.25, 0.05])
    assert (moves[0].first, moves[0].last) == (0, 2)
    assert "\u221230.0<small>clear</small>" in page_of_shares(found, title="t")
    assert top_moves(found, order_of(replace(found, names=list("abcd")))) == []
    wider = np.array([0.0, 0.2, 0.0])
    unsure = replace(found, low=found.low - wider, high=found.high + wider)
    assert [move.j for move in top_moves(unsure, order_of(unsure))] == [2, 1, 0]  # the clear one first


def test_of_two_classes_one_change_is_named_where_there_are_several_series():
    found = replace(groups(["trust"] * 4), names=[("x", "2015"), ("x", "2016"), ("y", "2015"), ("y", "2016")])
    assert [(move.series, move.label) for move in top_moves(found, order_of(found))] == [
        ("x", "<class 1>"),
        ("y", "<class 1>"),
    ]


def test_warnings_that_differ_in_figures_are_one_reason():
    off = [Advice("Shares are off{}: label more.", f"{points} points") for points in (12, 7, 40)]
    advice = [[off[0]], [off[1], Advice("Few items{}.", "20")], ["Fine."], [off[2]]]
    reasons = warnings_by_reason(["caution", "do not trust", "trust", "caution"], advice)
    assert [tuple(reason) for reason in reasons] == [
        ("Shares are off: label more.", [0, 1, 3], {"do not trust": 1, "caution": 2}),
        ("Few items (20).", [1], {"do not trust": 1}),
    ]
    assert warnings_by_reason(["not checked", "trust"], [["x"], ["y"]]) == []
    assert warnings_by_reason(["do not trust"], [[Advice("Worth knowing{}.", is_note=True)]]) == []


def test_groups_that_should_not_be_used_are_named_in_the_sum_and_left_out_of_changes():
    found = replace(groups(["trust", "trust", "do not trust"]), names=["2014", "2015", "2016"])
    page = page_of_shares(found, title="t")
    assert "All groups added up, including 1 whose shares should not be used;" in page
    assert {(move.first, move.last) for move in top_moves(found, order_of(found))} == {(0, 1)}
    assert "left out here" in page
    assert "including" not in page_of_shares(replace(found, verdicts=["trust"] * 3), title="t")


def test_items_of_groups_that_are_too_small_are_not_lost_without_a_word():
    page = page_of_shares(groups(["trust", "trust", "too few items", "too few items"]), title="t")
    assert "about 100 of 200 items" in page
    assert '<p class="soft">400 items in 4 groups</p>' in page
    assert "All groups added up, without the 200 items of groups that are too small;" in page
    assert "without the" not in page_of_shares(groups(["trust", "trust"]), title="t")


def test_numbers_of_groups_have_separators_in_sentences_too():
    page = page_of_shares(groups(["trust"] * 1100 + ["caution"]), title="t")
    assert "1,100 of 1,101 groups look fine. 1 of 1,101 needs a look" in page
    assert "All 1,100 groups look fine" in page_of_shares(groups(["trust"] * 1100), title="t")


@pytest.mark.parametrize("n", [6, 80])
def test_shares_drawn_towards_the_other_groups_are_marked_beside_the_plain_ones(n):
    found = groups([*["trust"] * (n - 1), "too few items"])
    shares = np.where(np.isnan(found.shares), np.nan, 0.4)
    part = np.where(np.isnan(shares[:, 0]), np.nan, 0.37)
    found = replace(found, drawn=DrawnShares(shares, shares - 0.01, shares + 0.02, part, np.array([0.45, 0.55])))
    assert plot_shares(found).decode().count("drawn towards the other groups") >= 1
    assert "drawn towards" not in plot_shares(replace(found, drawn=None)).decode()
    page = page_of_shares(found, title="T", by="month")
    drawn = page[page.index('<section id="drawn">') : page.index('<section id="method">')]
    assert drawn.count("39.0 to 42.0") == drawn.count("by itself 50.0 %") == 2 * (n - 1)
    assert drawn.count("37 %") == n - 1
    assert "on average over groups, not in each" in drawn
    assert "45.0 %" in drawn
    assert 'id="drawn"' not in page_of_shares(replace(found, drawn=None), title="T", by="month")
