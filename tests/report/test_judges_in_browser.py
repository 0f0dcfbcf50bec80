"""The page of corrected judges in headless Chromium: nothing is wider than the screen, no errors, both themes."""

import numpy as np
import pytest

from headcount import JudgeCorrection
from headcount.report.judges_page import page_of_judges

pytest.importorskip("selenium", reason="the browser tests need selenium")

from tests.report import chromium

pytestmark = chromium.MARKS
NASTY = "</script><b>a very long name of a class, or of a judge, that goes on and on</b>"


@pytest.fixture(scope="module")
def browser():
    with chromium.started() as driver:
        yield driver


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    generator = np.random.default_rng(0)
    truth = generator.choice(["no", "yes", NASTY], 400)
    judges = {f"{NASTY} {j}": np.where(generator.random(400) < 0.7, truth, None) for j in range(8)}
    human = np.where(generator.random(400) < 0.4, truth, None)
    groups = np.where(np.arange(400) < 10, NASTY, "b")
    result = JudgeCorrection().fit(judges, human, by=groups).result_
    path = tmp_path_factory.mktemp("page") / "judges.html"
    path.write_text(page_of_judges(result, label=NASTY, by="group", files=["a.csv"]), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [390, 1300])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_fits_the_screen(browser, page, width, theme):
    chromium.show(browser, page, width, theme)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.get_log("browser") == []
    assert not browser.execute_script("return document.querySelector('main b')")
    paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (theme == "light")


def test_the_button_changes_the_theme(browser, page):
    chromium.show(browser, page, 1300, "light")
    button = browser.find_element("id", "theme")
    button.click()
    button.click()
    assert button.text == "Theme: dark"
    assert browser.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 31)"
