"""Headless Chromium for the tests of pages: one that is started, and a page that is there to its last line."""

import contextlib
import itertools
import shutil
from pathlib import Path

import pytest

selenium = pytest.importorskip("selenium", reason="the browser tests need selenium")
from selenium.common.exceptions import TimeoutException  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
MARKS = [
    pytest.mark.skipif(
        CHROMIUM is None or DRIVER is None, reason="chromium and chromedriver are not installed: `make browser`"
    ),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@contextlib.contextmanager
def started(downloads: Path | None = None):
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
    if downloads is not None:
        driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads)})
    yield driver
    driver.quit()


def show(browser, page: Path, width: int | None = None, theme: str = "", media: str = "") -> None:
    """Open this page anew, at a width and in a theme, and wait until all of it is there."""
    if width is None:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    else:
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": theme}] if theme else []
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})
    browser.get("about:blank")
    browser.get_log("browser")
    load(browser, f"{page.as_uri()}?{next(_CALLS)}", page)


_CALLS = itertools.count(1)
_LOADS = 5  # at most, of one page
_END = """
    const scripts = document.scripts, last = scripts.length ? scripts[scripts.length - 1].textContent : null;
    if (location.href !== arguments[0] || document.readyState !== "complete") return null;
    return last === arguments[1];
"""


def load(browser, address: str, page: Path) -> None:
    """Go to an address of this page and wait until its document is there to the last script; load it again where it is not.

    A load that is stopped half-way, as a busy browser may do, ends in a document that has lost its end and calls itself complete.
    `show` gives each call an address of its own, so that no earlier document of the page can be taken for this one.
    """
    text = page.read_text("utf-8")
    last = text[text.rindex("<script") : text.rindex("</script>")].partition(">")[2]
    for _ in range(_LOADS):
        browser.get(address)
        with contextlib.suppress(TimeoutException):  # a load may be stopped before there is a document
            if WebDriverWait(browser, 30).until(lambda b: _is_whole(b, address, last)) == "whole":
                return
        browser.get("about:blank")
    raise AssertionError(f"of {_LOADS} loads of {page} all were stopped before the end of the document")


def _is_whole(browser, address: str, last: str) -> str:
    return {None: "", False: "cut", True: "whole"}[browser.execute_script(_END, address, last)]


_FAULTS = """
    const shown = (e) => e.getClientRects().length > 0;
    const scrolls = (e) => e && (["auto", "scroll"].includes(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
    const beyond = [...document.querySelectorAll("main *")]
      .filter(e => shown(e) && !e.closest("svg") && !scrolls(e))
      .filter(e => e.getBoundingClientRect().right > innerWidth + 0.5)
      .map(e => "beyond the window: " + e.tagName + " " + e.className + " " + e.textContent.slice(0, 40));
    const cut = [...document.querySelectorAll("figure svg")].flatMap(svg => {
      const box = svg.getBoundingClientRect();
      return [...svg.querySelectorAll("text")].filter(text => {
        const own = text.getBoundingClientRect();
        const across = own.left < box.left - 1 || own.right > box.right + 1;
        return own.width > 0 && (across || own.top < box.top - 1 || own.bottom > box.bottom + 1);
      }).map(text => "cut in a picture: " + svg.getAttribute("aria-label") + ": " + text.textContent);
    });
    const overfull = [...document.querySelectorAll("th, td")].filter(e => shown(e) && e.scrollWidth > e.clientWidth + 1)
      .map(e => "wider than its cell: " + e.textContent);
    return [...beyond, ...cut, ...overfull];
"""


def layout_faults(browser, width: int) -> list[str]:
    """Return what is wider than the window, outside a box that scrolls by itself; texts cut in pictures; and overfull cells."""
    wide = browser.execute_script("return document.documentElement.scrollWidth")
    return ([f"the page is {wide} wide"] if wide > width else []) + browser.execute_script(_FAULTS)
