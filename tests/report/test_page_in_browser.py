"""The page in headless Chromium: no errors on the console, sorting and filtering work, both themes and widths are sound.

Needs Debian's packages chromium and chromium-driver (`make browser` installs them); skipped, with this reason, without them.
"""

import shutil

import pytest

from headcount.report import gather, render

selenium = pytest.importorskip("selenium", reason="the browser tests need selenium")
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = [
    pytest.mark.skipif(
        CHROMIUM is None or DRIVER is None, reason="chromium and chromedriver are not installed: `make browser`"
    ),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def page(study_results, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render(gather(study_results)), "utf-8")
    return path


@pytest.fixture(scope="module")
def browser():
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--window-size=1300,900",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def opened(browser, page):
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    browser.get_log("browser")
    browser.get(page.as_uri())
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
        "const t = [...document.querySelectorAll('.sortable table')].at(-1);"
        "const shown = [...t.tBodies[0].rows].filter(r => r.offsetParent !== null).map(r => r.children[arguments[0]]);"
        "return shown.map(cell => cell.dataset.value || cell.textContent.trim())",
        column,
    )


def test_click_on_a_head_sorts_and_a_second_click_reverses(opened):
    before = last_table(opened, 3)
    figures = sorted(map(float, before))
    assert list(map(float, before)) != figures
    click(opened, "#tables .wide:last-child thead button", "AE even")
    assert list(map(float, last_table(opened, 3))) == figures
    click(opened, "#tables .wide:last-child thead button", "AE even")
    assert list(map(float, last_table(opened, 3))) == figures[::-1]
    assert opened.execute_script("return document.querySelectorAll('[aria-sort]').length") == 1
    click(opened, "#tables .wide:last-child thead button", "method")
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
    assert len(texts(opened, ".sortable table")) == 3  # of PACC, of tests, of all methods
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


def test_page_does_not_scroll_sideways_on_a_phone(opened):
    opened.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
    )
    assert opened.execute_script("return document.documentElement.scrollWidth") <= 390
    assert (
        opened.execute_script(
            "return Math.max(...[...document.querySelectorAll('figure')].map(f => f.getBoundingClientRect().right))"
        )
        <= 390
    )


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
    assert before.count("<table") == 7
