"""A page is looked at only when all of it is there: `complete` is also what a browser calls a document whose load was stopped."""

import pytest

pytest.importorskip("selenium", reason="the browser tests need selenium")

from tests.report.chromium import MARKS, load, show, started

pytestmark = MARKS

STOPPED = """<!DOCTYPE html><html><head><link rel="icon" href="data:,"></head><body><p id="start">start</p>
<script>%s</script>
%s
<p id="end">end</p><script>"use strict";</script></body></html>
"""
FILLER = "<p>text</p>\n" * 20_000


@pytest.fixture(scope="module")
def browser():
    with started() as driver:
        yield driver


def ends(browser):
    return browser.execute_script("return [document.readyState, document.getElementById('end') !== null]")


def test_a_page_whose_load_was_stopped_is_loaded_again(browser, tmp_path):
    page = tmp_path / "stopped.html"
    first_time = "if (!window.name) { window.name = 'again'; window.stop(); }"
    page.write_text(STOPPED % (first_time, FILLER), "utf-8")
    browser.get("about:blank")
    browser.execute_script("window.name = ''")
    browser.get(page.as_uri())
    assert ends(browser) == ["complete", False]  # what a test would see
    browser.execute_script("window.name = ''")
    show(browser, page)
    assert ends(browser) == ["complete", True]


def test_a_page_that_never_loads_to_its_end_is_an_error(browser, tmp_path):
    page = tmp_path / "never.html"
    page.write_text(STOPPED % ("window.stop();", FILLER), "utf-8")
    with pytest.raises(AssertionError, match="all were stopped before the end"):
        show(browser, page)


def test_the_document_that_was_there_before_is_not_taken_for_the_new_one(browser, tmp_path):
    page = tmp_path / "twice.html"
    page.write_text(STOPPED % ("", "<p>first</p>"), "utf-8")
    show(browser, page)
    address = browser.execute_script("return location.href")
    browser.execute_script("document.getElementById('end').remove()")
    show(browser, page)
    assert browser.execute_script("return location.href") != address
    assert ends(browser) == ["complete", True]
    load(browser, address + "#start", page)
    assert browser.execute_script("return location.hash") == "#start"
