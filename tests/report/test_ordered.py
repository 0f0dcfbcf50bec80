"""Pages and plots of ordered classes: a scale of colours, bars in the order of the classes, figures with their intervals."""

import re
from dataclasses import replace

import numpy as np
import pytest

from headcount.intervals import at_least, mean_of
from headcount.report.ordered_colours import colour_rules, is_scale, ordered_colours
from headcount.report.shares_page import page_of_shares
from headcount.report.shares_plot import COLOURS, plot_shares
from headcount.stream import GroupShares

STARS = np.arange(1, 6)


def grouped(n=4, classes=STARS, ordered=True, intervals=True):
    shares = np.random.default_rng(0).dirichlet(np.ones(len(classes)), n)
    low, high = (0.8 * shares, np.minimum(1.2 * shares, 1.0)) if intervals else (np.full_like(shares, np.nan),) * 2
    names = [f"2025-{g + 1:02d}" for g in range(n)]
    groups = GroupShares(
        *(classes, names, np.full(n, 200), shares, low, high, ["trust"] * n, [[]] * n, 0.95, "population", "PACC"),
        ordered=ordered,
    )
    return groups


def with_figures(groups):
    figures = [mean_of(groups.classes, title="stars"), at_least(groups.classes, 4)]
    return groups.with_figures(figures, [0.5])


def luminance(colour):
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("k", [2, 3, 5, 7, 11])
def test_colours_of_a_scale_go_one_way_and_their_texts_can_be_read(theme, k):
    colours = ordered_colours(k, theme)
    heights = np.array([luminance(colour) for colour in colours])
    assert (np.diff(heights) < 0).all() if theme == "light" else (np.diff(heights) > 0).all()
    rules = dict(re.findall(r"--(\w+):(#\w{6})", colour_rules(k)[theme]))
    for j in range(k):
        light, dark = sorted([luminance(rules[f"c{j}"]), luminance(rules[f"t{j}"])], reverse=True)
        assert (light + 0.05) / (dark + 0.05) > 3.5


def test_only_three_or_more_ordered_classes_have_a_scale():
    assert is_scale(grouped())
    assert not is_scale(grouped(ordered=False))
    assert not is_scale(grouped(classes=STARS[:2]))
    nominal = page_of_shares(grouped(ordered=False), title="x")
    assert 'id="order"' not in nominal
    assert '"palette":10' in nominal


def test_bars_stack_the_classes_in_their_order_to_the_whole():
    groups = grouped()
    page = page_of_shares(groups, title="x", by="month")
    bars = re.findall(r'<div class="stack" role="img" aria-label="([^"]*)">(.*?)</div>', page)
    assert len(bars) == 4
    for g, (said, body) in enumerate(bars):
        widths = [float(width) for width in re.findall(r"width:([\d.]+)%", body)]
        np.testing.assert_allclose(widths, 100 * groups.shares[g], atol=0.001)
        assert re.findall(r"var\(--c(\d)\)", body) == list("01234")
        assert said.startswith("1: ")
    assert re.findall(r"<bdi>(\d)</bdi>", page)[:5] == list("12345")  # the legend, in order
    assert '"palette":5' in page
    backwards = page_of_shares(groups.in_class_order([5, 4, 3, 2, 1]), title="x")
    assert re.findall(r"<bdi>(\d)</bdi>", backwards)[:5] == list("54321")


def test_figures_stand_in_the_answer_the_table_and_the_data():
    groups = with_figures(grouped(1))
    page = page_of_shares(groups, title="x")
    mean = float(groups.shares[0] @ STARS)
    assert re.search(rf"<dt>mean stars</dt><dd>{mean:.3g}</dd>", page)  # without an estimate there is no interval
    assert "<dt>at least 4</dt>" in page
    assert "<dt>median</dt>" in page
    table = page_of_shares(with_figures(grouped(3)), title="x", by="month")
    for title in ("mean stars", "at least 4", "median"):
        assert f'<th scope="col">{title}</th>' in table
    assert '"key":"quantile_0.5"' in table


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_plots_have_a_panel_for_stacked_shares_and_for_each_figure(ending):
    groups = with_figures(grouped())
    content = plot_shares(groups, ending)
    assert content == plot_shares(groups, ending)
    if ending == "svg":
        text = content.decode()
        for words in ("in the order of the classes", "mean stars", "at least 4", "median"):
            assert words in text
        assert all(colour in text for colour in ordered_colours(5, "both"))
        nominal = plot_shares(grouped(ordered=False), "svg").decode()
        assert COLOURS[0] in nominal
        assert "in the order of the classes" not in nominal


def test_plots_and_pages_of_ordered_classes_without_intervals_or_shares():
    groups = with_figures(grouped(intervals=False))
    assert plot_shares(groups, "svg")
    empty = replace(groups, shares=np.full((4, 5), np.nan), verdicts=["too few items"] * 4)
    assert plot_shares(with_figures(empty), "svg")
    assert 'class="stack"' not in page_of_shares(with_figures(empty), title="x")
    many = with_figures(grouped(80))
    assert "20 more groups" in page_of_shares(many, title="x", by="month")
    assert plot_shares(many, "svg")
