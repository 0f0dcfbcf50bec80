"""The page in headless Chromium: no errors on the console, sorting and filtering work, both themes and widths are sound.

Needs Debian's packages chromium and chromium-driver (`make browser` installs them); skipped, with this reason, without them.
"""

import json
import re

import pytest

from headcount.report import gather, render

pytest.importorskip("selenium", reason="the browser tests need selenium")
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.support.ui import WebDriverWait

from tests.report.chromium import MARKS, layout_faults, show, started

pytestmark = MARKS


@pytest.fixture(scope="module")
def page(study_results, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render(gather(study_results)), "utf-8")
    return path


@pytest.fixture(scope="module")
def browser():
    with started() as driver:
        yield driver


@pytest.fixture
def opened(browser, page):
    show(browser, page)
    return browser


def texts(browser, selector):
    return browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])].filter(e => e.offsetParent !== null).map(e => e.textContent.trim())",
        selector,
    )


def click(browser, selector, name):
    browser.execute_script(
        "[...document.querySelectorAll(arguments[0])].find(e => e.textContent.trim() === arguments[1]).click()",
        selector,
        name,
    )


def test_console_has_no_errors_and_nothing_is_fetched(opened):
    assert opened.get_log("browser") == []
    assert opened.execute_script("return performance.getEntriesByType('resource').map(e => e.name)") == []


def last_table(browser, column):
    return browser.execute_script(
        "const t = document.querySelector('#table-6 table');"
        "const shown = [...t.tBodies[0].rows].filter(r => r.offsetParent !== null).map(r => r.children[arguments[0]]);"
        "return shown.map(cell => cell.dataset.value || cell.innerText.trim())",
        column,
    )


def test_click_on_a_head_sorts_and_a_second_click_reverses(opened):
    before = last_table(opened, 3)
    figures = sorted(map(float, before))
    assert list(map(float, before)) != figures
    click(opened, "#table-6 thead button", "AE even")
    assert list(map(float, last_table(opened, 3))) == figures
    click(opened, "#table-6 thead button", "AE even")
    assert list(map(float, last_table(opened, 3))) == figures[::-1]
    assert opened.execute_script("return document.querySelectorAll('[aria-sort]').length") == 1
    click(opened, "#table-6 thead button", "method")
    names = last_table(opened, 0)
    assert names == sorted(names, key=str.lower)


def test_filters_by_data_set_learner_and_method(opened):
    tables = len(texts(opened, ".sortable table"))
    figures = len(texts(opened, "figure"))
    click(opened, "fieldset[data-filter=dataset] button", "uneven")
    assert all("even" not in head.split() for head in texts(opened, ".sortable thead th"))
    assert 0 < len(texts(opened, "figure")) < figures
    click(opened, "fieldset[data-filter=learner] button", "lr")
    assert set(last_table(opened, 1)) == {"lr"}
    click(opened, "fieldset[data-filter=method] button", "PACC")
    assert last_table(opened, 0) == ["PACC"]
    assert len(texts(opened, "#tables .sortable table")) == 4  # of PACC, of tests, of all methods, of settings
    shown = opened.execute_script(
        "const marks = [...document.querySelectorAll('figure:not(.out) [data-series-method]:not(.out)')];"
        "return [...new Set(marks.map(e => e.dataset.seriesMethod + ' ' + e.dataset.seriesLearner))]"
    )
    assert shown == ["PACC lr"]
    assert "uneven, lr, PACC" in texts(opened, "#shown")[0]
    click(opened, "#filters button", "Show all")
    assert len(texts(opened, ".sortable table")) == tables
    assert len(texts(opened, "figure")) == figures
    assert opened.get_log("browser") == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_both_themes_follow_the_system_and_the_button(opened, theme):
    opened.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": theme}]}
    )

    def lightness(what):
        colour = opened.execute_script(f"return getComputedStyle(document.body).{what}")
        return sum(int(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]) / 765

    dark = theme == "dark"
    assert (lightness("backgroundColor") < 0.2, lightness("color") > 0.8) == (dark, dark)
    click(opened, "#theme", "Theme: as the system")
    click(opened, "#theme", "Theme: light")
    assert lightness("backgroundColor") < 0.2
    # Plots are drawn in the page's text colour: no axes have a colour of their own.
    inks = opened.execute_script(
        "return [...new Set([...document.querySelectorAll('figure svg text')].map(e => getComputedStyle(e).fill))]"
    )
    assert inks == [opened.execute_script("return getComputedStyle(document.body).color")]


WIDTHS = (1920, 1300, 390)


def at_width(browser, page, width, theme="light"):
    """Show the page at a width and in a theme, everything unfolded."""
    show(browser, page, width, theme)
    browser.execute_script("document.querySelectorAll('details').forEach(d => { d.open = true; })")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_clipped_and_the_page_does_not_scroll_sideways(opened, page, width, theme):
    at_width(opened, page, width, theme)
    assert layout_faults(opened, width) == []


@pytest.mark.parametrize("width", [1920, 1300])
def test_tables_fit_a_wide_page(opened, page, width):
    at_width(opened, page, width)
    wider = opened.execute_script(
        "return [...document.querySelectorAll('.wide')].filter(e => e.scrollWidth > e.clientWidth)"
        ".map(e => e.textContent.slice(0, 40))"
    )
    assert wider == []


def test_on_a_phone_tables_scroll_inside_with_the_first_column_fixed(opened, page):
    at_width(opened, page, 390)
    script = """
        const box = document.querySelector("#table-6 .wide"), row = box.querySelector("tbody tr");
        box.scrollLeft = arguments[0];
        const rect = (e) => e.getBoundingClientRect();
        return [rect(row.cells[0]).left - rect(box).left, rect([...row.cells].at(-1)).right - rect(box).right, box.scrollLeft,
                row.cells[0].innerText];
        """
    start, beyond, _, name = opened.execute_script(script, 0)
    assert beyond > 0.0
    fixed, last, scrolled, _ = opened.execute_script(script, 10_000)
    assert scrolled > 0.0
    assert fixed == pytest.approx(start, abs=1.0)
    assert last <= 1.0  # the last column can be reached
    assert name.split() == ["CC", "svm,", "ae"]


def test_sections_are_folded_on_a_phone_and_links_open_them(opened, page):
    show(opened, page, 390)
    assert opened.execute_script("return document.querySelectorAll('details.fold[open]').length") == 0
    assert opened.execute_script("return document.documentElement.scrollHeight") < 4000
    opened.execute_script("location.hash = '#table-6'")
    assert WebDriverWait(opened, 5).until(
        lambda b: b.execute_script(
            "return document.querySelector('#table-6').open && document.querySelector('#tables details').open"
        )
    )
    opened.execute_script("location.hash = '#biases'")
    assert WebDriverWait(opened, 5).until(
        lambda b: b.execute_script("return document.querySelector('#biases details').open")
    )


def tip(browser):
    return browser.execute_script("const t = document.getElementById('tip'); return t.hidden ? '' : t.textContent")


def test_figures_of_tables_show_their_values_on_hover_and_by_keyboard(opened):
    cell = opened.find_element("css selector", "#table-6 td[data-hint]")
    ActionChains(opened).scroll_to_element(cell).move_to_element(cell).perform()
    WebDriverWait(opened, 10).until(
        lambda b: tip(b) or ActionChains(b).move_by_offset(1, 1).move_to_element(cell).perform()
    )
    assert re.match(r"CC svm, optimised for ae, on even: AE 0\.\d{4}", tip(opened))
    assert ".result" not in tip(opened)
    box = opened.execute_script("return document.getElementById('tip').getBoundingClientRect().toJSON()")
    assert box["left"] >= 0
    assert box["right"] <= opened.execute_script("return innerWidth")
    ActionChains(opened).send_keys(Keys.ESCAPE).perform()
    assert tip(opened) == ""
    # One cell of the table is in the tab order, and the arrow keys move on from it.
    assert opened.execute_script("return document.querySelectorAll('#table-6 td[tabindex=\"0\"]').length") == 1
    opened.execute_script("document.querySelector('#table-6 td[tabindex=\"0\"]').focus()")
    WebDriverWait(opened, 5).until(lambda b: "on even: AE" in tip(b))
    ActionChains(opened).send_keys(Keys.ARROW_RIGHT).perform()
    WebDriverWait(opened, 5).until(lambda b: "CC svm, optimised for ae, on uneven: AE" in tip(b))
    ActionChains(opened).send_keys(Keys.ARROW_DOWN).perform()
    WebDriverWait(opened, 5).until(lambda b: "CC lr, optimised for ae, on uneven: AE" in tip(b))
    assert "Setting: C = " in tip(opened)


def test_plots_show_their_values_on_hover_and_by_keyboard(opened):
    data = json.loads(opened.execute_script("return document.getElementById('points').textContent"))
    points = data["mean-errors-0"]["series"]
    plot = opened.find_element("css selector", "[data-plot='mean-errors-0']")
    x, y, text = points[3]["points"][0]
    opened.execute_script("arguments[0].scrollIntoView({block: 'center'})", plot)
    size = plot.size
    offsets = round((x - 0.5) * size["width"]), round((y - 0.5) * size["height"])

    def point(browser):
        ActionChains(browser).move_by_offset(1, 1).move_to_element_with_offset(plot, *offsets).perform()
        return text in tip(browser)

    WebDriverWait(opened, 10).until(point)
    ActionChains(opened).send_keys(Keys.ESCAPE).perform()
    opened.execute_script("document.getElementById('all').focus()")
    ActionChains(opened).send_keys(Keys.TAB).perform()  # the section's summary
    ActionChains(opened).send_keys(Keys.TAB).perform()
    WebDriverWait(opened, 5).until(lambda b: text in tip(b))  # where the pointer was last
    ActionChains(opened).send_keys(Keys.ARROW_RIGHT).perform()
    assert points[3]["points"][1][2] in tip(opened)
    ActionChains(opened).send_keys(Keys.ARROW_DOWN).perform()
    assert points[4]["name"] in tip(opened)
    figure = opened.find_element("css selector", "#diagonals figure")
    opened.execute_script("arguments[0].querySelector('details.values').open = true", figure)
    rows = WebDriverWait(opened, 5).until(lambda _: figure.find_elements("css selector", ".points tbody tr"))
    assert len(rows) == sum(len(series["points"]) for series in data["diagonals-0"]["series"])
    assert opened.get_log("browser") == []


def test_panels_of_a_kind_have_one_scale(opened):
    ticks = opened.execute_script(
        "return [...document.querySelectorAll('#shifts figure svg')].map(svg =>"
        " [...svg.querySelectorAll('g[id*=\"ytick\"] text')].map(t => t.textContent).join(' '))"
    )
    assert len(ticks) == 12
    assert len(set(ticks)) == 1
    assert ticks[0]


def test_print_is_light_and_without_buttons(opened):
    opened.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"media": "print", "features": [{"name": "prefers-color-scheme", "value": "dark"}]},
    )
    assert texts(opened, "#filters button, #theme") == []
    assert opened.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert len(opened.print_page()) > 10_000


def test_page_is_readable_without_script(page):
    text = page.read_text("utf-8")
    before = text[: text.index("<script>")]
    assert '<div id="filters" hidden>' in before
    assert before.count("<table") == 8
    assert '<details class="fold" open>' in before
