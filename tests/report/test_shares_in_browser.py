"""The page of shares in headless Chromium: sorting, filters, keyboard, downloads, ticks, both themes, widths and print.

Needs Debian's packages chromium and chromium-driver (`make browser` installs them); skipped, with this reason, without them.
"""

import base64
import io
import time
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib.image import imread

from headcount.intervals import at_least, mean_of
from headcount.report.shares_page import page_of_shares
from headcount.stream import GroupShares

pytest.importorskip("selenium", reason="the browser tests need selenium")
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.support.ui import WebDriverWait

from tests.report import chromium

pytestmark = chromium.MARKS
NASTY = '</script><b>"x", y'


def estimated(names, k):
    rng = np.random.default_rng(1)
    n = len(names)
    shares = rng.dirichlet(np.arange(1.0, k + 1), n)
    shares[:, 0] *= 0.02  # ticks below 1 %
    shares[:, -1] = 1.0 - shares[:, :-1].sum(axis=1)
    low, high = 0.9 * shares, np.minimum(1.1 * shares, 1.0)
    verdicts = [("trust", "trust", "caution", "do not trust", "too few items")[g % 5] for g in range(n)]
    for ends in (shares, low, high):
        ends[np.array(verdicts) == "too few items"] = np.nan
    reasons = {
        "caution": "Shares are far off.",
        "do not trust": "There may be a new class.",
        "too few items": "Too few.",
    }
    advice = [[reasons[verdict]] if verdict in reasons else [] for verdict in verdicts]
    classes = np.array([NASTY, *(f"class {j}" for j in range(1, k))])
    items = rng.integers(100, 3000, n)
    return GroupShares(classes, names, items, shares, low, high, verdicts, advice, 0.95, "population", "PACC")


MONTHS = estimated([f"{2015 + g // 12}-{g % 12 + 1:02d}" for g in range(14)], 3)
WEEKS = estimated([(site, f"2025-W{week:02d}") for site in ("airport", "clinic", "school") for week in range(1, 17)], 2)
AGES = estimated([(str(wave), age) for wave in range(1, 5) for age in ("18-34", "55+")], 3)
LONG_CLASSES = [
    *("low", "Delivery was late or never arrived", "Question about an invoice (2nd reminder)", "other", "praise"),
    *(
        "Account, password and two-factor log-in",
        "Donaudampfschifffahrtsgesellschaftskapit",
        "high",
        "share",
        "returns",
    ),
]
LONG_NAMES = estimated([f"2025-{month:02d}" for month in range(1, 13)], 10)
TESTED = SimpleNamespace(p_label_shift=0.31, p_items=0.42)  # the figures of a report that make the last column
LONG_NAMES = replace(LONG_NAMES, classes=np.array(LONG_CLASSES), reports=(TESTED,) * 12)
LONG_SHOPS = estimated([f"Shop {g} near the main station" for g in range(300)], 10)
LONG_SHOPS = replace(LONG_SHOPS, classes=np.array(LONG_CLASSES), reports=(TESTED,) * 300)
STARS = replace(estimated([f"2025-{g + 1:02d}" for g in range(9)], 5), classes=np.arange(1, 6), ordered=True)
STARS = STARS.with_figures([mean_of(STARS.classes, title="stars"), at_least(STARS.classes, 4)], [0.5])
SHOPS = estimated([f"shop {g} <i>&" for g in range(300)], 10)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    for name, groups, by in (
        ("months", MONTHS, "month of day"),
        ("weeks", WEEKS, "site, week"),
        ("ages", AGES, "wave, age"),
        ("shops", SHOPS, "shop"),
        ("long", LONG_NAMES, "month of day"),
        ("stars", STARS, "month of day"),
        ("shops with long names", LONG_SHOPS, "shop"),
    ):
        (folder / f"{name}.html").write_text(page_of_shares(groups, title=f"Shares {NASTY}", by=by), "utf-8")
    return folder


@pytest.fixture(scope="module")
def browser(pages):
    with chromium.started(downloads=pages) as driver:
        yield driver


@pytest.fixture
def months(browser, pages):
    return show(browser, pages / "months.html")


@pytest.fixture
def shops(browser, pages):
    return show(browser, pages / "shops.html")


def show(browser, page, width=1300, theme="light", media=""):
    chromium.show(browser, page, width, theme, media)
    return browser


def column(browser, position):
    """Texts of a column of the rows that are shown."""
    return browser.execute_script(
        "return [...document.querySelectorAll('#groups tbody tr')].filter(r => r.offsetParent !== null)"
        ".map(r => r.cells[arguments[0]].innerText.split('\\n')[0].trim())",
        position,
    )


def choose(browser, name, value):
    browser.execute_script(
        "const e = document.getElementById(arguments[0]); e.value = arguments[1];"
        "e.dispatchEvent(new Event('input')); e.dispatchEvent(new Event('change'));",
        name,
        value,
    )


def click(browser, selector):
    browser.execute_script("document.querySelector(arguments[0]).click()", selector)


def tip(browser):
    return browser.execute_script("const t = document.getElementById('tip'); return t.hidden ? '' : t.textContent")


def shown_tip(browser, words, act):
    """Act until the tip shows these words, for ten seconds: a pointer that moves while the page still scrolls meets nothing."""
    deadline = time.monotonic() + 10
    while True:
        act()
        for _ in range(10):
            if words in tip(browser):
                return tip(browser)
            time.sleep(0.05)
        assert time.monotonic() < deadline, f"the tip shows {tip(browser)!r}"


def saved(browser, pages, button):
    path = pages / "shares.csv"
    path.unlink(missing_ok=True)
    click(browser, button)
    deadline = time.monotonic() + 10
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    return pd.read_csv(io.BytesIO(path.read_bytes()))


def test_heads_sort_and_groups_without_shares_come_last(months):
    head = "#groups thead th:nth-child(4) button"
    click(months, head)
    shown = column(months, 3)
    figures = [float(text.removesuffix(" %")) for text in shown if text]
    assert figures == sorted(figures, reverse=True)
    assert shown[-2:] == ["", ""]
    assert months.execute_script("return [...document.querySelectorAll('[aria-sort]')].map(e => e.ariaSort)") == [
        "descending"
    ]
    click(months, head)
    assert column(months, 3)[0] == f"{figures[-1]} %"
    assert column(months, 3)[-2:] == ["", ""]
    click(months, "#groups thead th:first-child button")
    assert [name[-7:] for name in column(months, 0)] == MONTHS.names
    assert months.get_log("browser") == []
    assert months.execute_script("return performance.getEntriesByType('resource').length") == 0


def test_groups_are_found_by_name_verdict_and_reason_and_classes_are_chosen(months):
    choose(months, "find", "2016")
    assert [name[-7:] for name in column(months, 0)] == ["2016-01", "2016-02"]
    assert months.execute_script("return document.getElementById('shown').textContent") == "Shown: 2 of 14 groups."
    click(months, "#show-all")
    choose(months, "verdict", "1")
    assert set(column(months, 5)) == {"caution"}
    click(months, "#show-all")
    click(months, "[data-reason='0']")
    assert set(column(months, 5)) == {"do not trust"}
    click(months, "#show-all")
    assert len(column(months, 0)) == 14
    click(months, "#classes input[value='1']")
    heads = (
        "return [...document.querySelectorAll('#groups thead th')].filter(e => e.offsetParent).map(e => e.textContent)"
    )
    assert months.execute_script(heads) == ["month of day", "items", NASTY, "class 2", "verdict"]
    assert months.execute_script("return document.querySelectorAll('#plots figure').length") == 2


def test_the_view_switches_between_shares_and_counts(months):
    first = round(MONTHS.n_items[0] * MONTHS.shares[0, 1])
    choose(months, "view", "counts")
    assert column(months, 3)[0] == f"{first:,}"
    choose(months, "view", "shares")
    assert column(months, 3)[0] == f"{100 * MONTHS.shares[0, 1]:.1f} %"


def test_values_are_read_by_pointer_and_keyboard(months):
    cell = months.find_element("css selector", "#groups tbody td[tabindex='0']")
    months.execute_script("arguments[0].scrollIntoView({block: 'center'})", cell)

    def point():
        ActionChains(months).move_by_offset(1, 1).move_to_element(cell).perform()

    assert f"2015-01\n{NASTY}: " in shown_tip(months, f"{100 * MONTHS.shares[0, 0]:.2f} %", point)
    ActionChains(months).send_keys(Keys.ESCAPE).perform()
    WebDriverWait(months, 10).until(lambda b: tip(b) == "")
    months.execute_script("arguments[0].focus()", cell)
    ActionChains(months).send_keys(Keys.ARROW_RIGHT, Keys.ARROW_DOWN).perform()
    WebDriverWait(months, 10).until(lambda b: f"2015-02\nclass 1: {100 * MONTHS.shares[1, 1]:.2f} %" in tip(b))
    assert f"of {MONTHS.n_items[1]:,} items" in tip(months)
    assert months.execute_script("return document.querySelectorAll('#groups td[tabindex]').length") == 1
    months.execute_script("document.querySelector('#plots svg').focus()")
    ActionChains(months).send_keys(Keys.END, Keys.ARROW_LEFT, Keys.ARROW_DOWN).perform()
    WebDriverWait(months, 10).until(lambda b: "2015-01\nclass 1: " in tip(b))  # the next plot, at its start
    ActionChains(months).send_keys(Keys.ARROW_RIGHT).perform()
    WebDriverWait(months, 10).until(lambda b: "2015-02\nclass 1: " in tip(b))


def test_downloads_hold_all_groups_or_those_shown_in_their_order(months, pages):
    everything = saved(months, pages, "#save-all")
    assert everything["group"].tolist() == [name for name in MONTHS.names for _ in range(3)]
    assert everything["class"].tolist()[:3] == MONTHS.classes.tolist()
    for name, values in (("share", MONTHS.shares), ("share_low", MONTHS.low), ("share_high", MONTHS.high)):
        np.testing.assert_allclose(everything[name], values.ravel(), atol=5e-7)
    counts = everything["n"] * everything["share"]
    assert (everything["count"] - counts).abs().max() <= 0.5
    choose(months, "find", "2016")
    click(months, "#groups thead th:first-child button")
    click(months, "#groups thead th:first-child button")
    click(months, "#classes input[value='0']")
    shown = saved(months, pages, "#save-shown")
    assert shown["group"].tolist() == ["2016-02", "2016-02", "2016-01", "2016-01"]
    assert set(shown["class"]) == {"class 1", "class 2"}


def test_figures_are_sorted_and_saved_and_bars_stack_in_order(browser, pages):
    show(browser, pages / "stars.html")
    position = 2 + 5  # after the group, the number of items and the classes
    for figure, values in enumerate(STARS.figures):
        click(browser, f"#groups thead th:nth-child({position + figure + 1}) button")
        shown = [text.removesuffix(" %") for text in column(browser, position + figure) if text]
        assert [float(text) for text in shown] == sorted(map(float, shown), reverse=True), values.title
    everything = saved(browser, pages, "#save-all")
    for figure in STARS.figures:
        expected = np.repeat(np.array([np.nan if v is None else v for v in figure.value], dtype=float), 5)
        np.testing.assert_allclose(everything[figure.key], expected, atol=1e-6)
        assert f"{figure.key}_low" in everything
    ends = browser.execute_script(
        "return [...document.querySelectorAll('.stack')].map(stack => [...stack.children].map(part => "
        "[part.getBoundingClientRect().left, part.getBoundingClientRect().right, getComputedStyle(part).backgroundColor]))"
    )
    assert len(ends) == (~np.isnan(STARS.shares[:, 0])).sum()
    for bar in ends:
        assert all(abs(one[1] - other[0]) < 0.1 for one, other in pairwise(bar))
        assert len({colour for *_, colour in bar}) == 5


def test_ticks_of_plots_stand_where_their_labels_say(months):
    for one_scale in (True, False):
        if not one_scale:
            click(months, "#one-scale")
        plots = months.execute_script(
            "const heights = (svg, what, name) => [...svg.querySelectorAll(what)].map(e => +e.getAttribute(name));"
            "return [...document.querySelectorAll('#plots svg')].map(svg => [[...svg.querySelectorAll('text.y')].map("
            "t => t.textContent), heights(svg, '.grid', 'y1'), heights(svg, '.point', 'cy')])"
        )
        assert len(plots) == 3
        for j, (labels, ticks, points) in enumerate(plots):
            figures = [float(label.removesuffix(" %")) / 100 for label in labels]
            slope, origin = np.polyfit(ticks, figures, 1)
            assert slope * np.array(ticks) + origin == pytest.approx(figures, abs=1e-9)
            shares = MONTHS.shares[~np.isnan(MONTHS.shares[:, j]), j]
            assert slope * np.array(points) + origin == pytest.approx(shares, abs=2e-6)
            assert len(labels) >= 3
    assert "0.2 %" in plots[0][0]


def test_many_groups_are_shown_in_part_until_all_are_asked_for(shops):
    assert len(column(shops, 0)) == 200
    assert shops.execute_script("return document.querySelectorAll('#plots figure').length") == 10
    click(shops, "#groups thead th:nth-child(5) button")
    first = f"{100 * np.nanmax(SHOPS.shares[:, 2]):.1f} %"
    assert column(shops, 4)[0] == first
    choose(shops, "find", "shop 29")
    assert len(column(shops, 0)) == 11
    click(shops, "#show-all")
    click(shops, "#no-class")
    click(shops, "#classes input[value='3']")
    assert shops.execute_script("return document.querySelectorAll('#plots figure').length") == 1
    click(shops, "#show-all")
    click(shops, "#more")
    assert len(column(shops, 0)) == 300
    assert shops.get_log("browser") == []


@pytest.mark.parametrize(("width", "theme"), [(1330, "light"), (1300, "light"), (390, "dark")])
@pytest.mark.parametrize("page", ["months", "weeks", "shops", "long", "stars"])
def test_nothing_is_clipped_and_the_page_does_not_scroll_sideways(browser, pages, page, width, theme):
    show(browser, pages / f"{page}.html", width, theme)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    beyond = browser.execute_script(
        """
        const scrolls = (e) => e && (["auto", "scroll"].includes(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
        return [...document.querySelectorAll("body *")]
          .filter(e => e.getClientRects().length && !e.closest("svg, #groups") && !scrolls(e))
          .filter(e => e.getBoundingClientRect().right > innerWidth + 0.5).map(e => e.tagName + " " + e.textContent.slice(0, 40));
        """
    )
    assert beyond == []
    cut = browser.execute_script(
        """
        return [...document.querySelectorAll("figure svg")].flatMap(svg => {
          const box = svg.getBoundingClientRect(), labels = [...svg.querySelectorAll("text")];
          const at = (text) => text.getBoundingClientRect();
          const out = labels.filter(t => at(t).left < box.left - 1 || at(t).right > box.right + 1 || at(t).bottom > box.bottom + 1);
          const below = [...svg.querySelectorAll("text.x")];
          const near = below.slice(1).filter((text, i) => at(text).left < at(below[i]).right + 4);
          return [...out, ...near].map(text => text.textContent);
        });
        """
    )
    assert cut == []
    ground = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(255, 255, 255)" if theme == "light" else "rgb(20, 24, 31)")


def test_print_is_light_complete_and_without_controls(browser, pages):
    show(browser, pages / "shops.html", theme="dark", media="print")
    assert browser.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert browser.execute_script("return document.getElementById('controls').offsetParent") is None
    assert len(column(browser, 0)) == 300


def test_intervals_are_said_to_be_shaded_only_where_they_are(browser, pages):
    for page, shaded in (("months", True), ("weeks", True), ("ages", False)):
        show(browser, pages / f"{page}.html")
        assert (
            browser.execute_script("return document.querySelectorAll('#plots .band, #plots .range').length > 0")
            == shaded
        )
        assert ("Shaded" in browser.find_element("id", "plots-box").text) == shaded


def test_hollow_points_are_spoken_of_only_where_there_are_some(browser, pages):
    for page in ("months", "shops"):
        show(browser, pages / f"{page}.html")
        hollow = browser.execute_script("return document.querySelectorAll('#plots .point.warned').length > 0")
        assert hollow == (page == "months")
        assert ("Hollow" in browser.find_element("id", "plots-box").text) == hollow


def hidden_part(browser, selector):
    """Pixels of the content of an element that one must scroll to, sideways and down."""
    return browser.execute_script(
        "const e = document.querySelector(arguments[0]);"
        "return [e.scrollWidth - e.clientWidth, e.scrollHeight - e.clientHeight]",
        selector,
    )


def test_long_names_of_classes_hide_no_figures_and_no_choices(browser, pages):
    show(browser, pages / "long.html", 390)
    assert hidden_part(browser, "#moves .wide") == [0, 0]
    assert hidden_part(browser, "#classes") == [0, 0]
    for page in ("long", "shops with long names"):
        show(browser, pages / f"{page}.html", 1300)
        assert hidden_part(browser, "#groups-section .rows")[0] == 0


def test_strips_stand_below_their_figures_where_names_take_several_lines(browser, pages):
    show(browser, pages / "shops with long names.html", 390)
    box = browser.execute_script(
        """
        const cell = document.querySelector("#groups tbody tr").cells[11];
        cell.scrollIntoView({ block: "center", inline: "center" });
        const { left, top, width, height } = cell.getBoundingClientRect();
        return [left + scrollX, top + scrollY, width, height, cell.querySelector("small").getBoundingClientRect().bottom - top];
        """
    )
    x, y, width, height, figures_end = box
    assert height > figures_end + 30  # the name takes more lines than the figures
    clip = {"x": x, "y": y, "width": width, "height": height, "scale": 1}
    shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "clip": clip})
    pixels = imread(io.BytesIO(base64.b64decode(shot["data"])))[:, :, :3]
    accent = np.array([0x1F, 0x5F, 0x99]) / 255
    rows = np.flatnonzero((np.abs(pixels - accent).max(axis=2) < 0.02).any(axis=1))
    assert len(rows)
    assert rows.min() >= figures_end - 1
    assert rows.max() <= figures_end + 14
