"""The page of a league in headless Chromium: what it ranks by itself, filters, links, both widths; skipped without Chromium."""

from dataclasses import replace

import numpy as np
import pytest

from headcount.report.league import View, rank, render_league
from headcount.report.league.tables import ranking_table

pytest.importorskip("selenium", reason="the browser tests need selenium")
from selenium.webdriver.support.ui import WebDriverWait

from tests.report.chromium import MARKS, layout_faults, load, show, started
from tests.report.league.leagues import contents_of, made_up

pytestmark = MARKS
TWO = View("lr", "none", "ae")


@pytest.fixture(scope="module")
def browser():
    with started() as driver:
        yield driver


@pytest.fixture(scope="module")
def page(page_text, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "league.html"
    path.write_text(page_text, "utf-8")
    return path


@pytest.fixture
def opened(browser, page):
    show(browser, page)
    return browser


def choose(browser, **values):
    for name, value in values.items():
        browser.execute_script(
            "const list = document.querySelector(`select[data-choice=${arguments[0]}]`); list.value = arguments[1];"
            "list.dispatchEvent(new Event('change'))",
            name,
            value,
        )


def press(browser, *names):
    for name in names:
        browser.execute_script(
            "[...document.querySelectorAll('fieldset button')].find(b => b.dataset.name === arguments[0]).click()", name
        )


def board(browser, table="leaderboard"):
    """Return the rows of a table: texts of heads, values or texts of figures."""
    return browser.execute_script(
        "return [...document.querySelectorAll(`#${arguments[0]} tbody tr`)].map(row => [...row.cells].map(cell =>"
        " cell.dataset.value !== undefined ? Number(cell.dataset.value) : cell.firstChild ? cell.firstChild.textContent : ''))",
        table,
    )


def text(browser, name):
    return browser.execute_script("return document.getElementById(arguments[0]).textContent", name)


def check_board(browser, standings, ranking):
    """The table of the page has the figures that Python computes."""
    expected = ranking_table(standings, ranking).rows
    shown = board(browser)
    assert [row[0] for row in shown] == [labels[0] for labels, _ in expected]
    for row, (_, cells) in zip(shown, expected, strict=True):
        figures = [float(cell.value) for cell in cells[:-1]]
        assert row[3:-1] == pytest.approx(figures, rel=1e-6, abs=2e-5)
        assert row[3] == pytest.approx(figures[0], abs=1e-9)
        assert row[-1] == cells[-1].value


def test_console_has_no_errors_and_nothing_is_fetched(opened):
    assert opened.get_log("browser") == []
    assert opened.execute_script("return performance.getEntriesByType('resource').map(e => e.name)") == []


def test_the_page_ranks_as_python_does(opened, contents):
    table = contents.standings
    check_board(opened, table, contents.first.ranking)
    for view in (
        replace(TWO, classes="any"),
        replace(TWO, target="ae"),
        replace(TWO, target=""),
        replace(TWO, part="grid, 80 items"),
        replace(TWO, measure="rae"),
        replace(TWO, imbalance="over 30 %"),
    ):
        choose(opened, **{name: getattr(view, name) for name in ("target", "classes", "part", "measure", "imbalance")})
        check_board(opened, table, rank(table, view))
    choose(opened, imbalance="", classes="any")
    assert "HDy lr (suits 4 of 5 data sets)" in text(opened, "left-out")


def test_its_tests_are_those_of_python_by_wilcoxon_too(browser, tmp_path, monkeypatch):
    monkeypatch.setattr("headcount.report.league.page.view_pictures", lambda _: [])
    rng = np.random.default_rng(9)
    for n, k, ties in ((9, 4, True), (40, 7, False), (40, 7, True), (60, 7, False)):
        errors = 0.1 + 0.05 * rng.random((n, k)) + [0.0, 0.0, 0.1, 0.15, 0.03, 0.05, 0.01][:k]
        table = made_up(errors.round(2) if ties else errors)
        if ties:  # means of several sets are rarely equal
            table = replace(table, errors={"ae": table.errors["ae"].round(2), "rae": table.errors["rae"]})
        page = tmp_path / f"{n}-{ties}.html"
        page.write_text(render_league(contents_of(table)), "utf-8")
        show(browser, page)
        ranking = rank(table, TWO)
        assert ranking.test == "wilcoxon"
        against = [row[-1] for row in board(browser)]
        assert {"can't be told apart", "worse"} < {*against}
        check_board(browser, table, ranking)
        for part in table.parts[-2:]:
            choose(browser, part=part)
            check_board(browser, table, rank(table, replace(TWO, part=part)))
        press(browser, "M0", "M1", "M2")
        assert {row[0] for row in board(browser)} == {"M0", "M1", "M2"}
        assert f"of 3 methods: {_best_of_three(table):.1f}" in text(browser, "verdict")
        assert browser.get_log("browser") == []


def _best_of_three(table):
    from scipy.stats import rankdata

    return rankdata(table.errors["ae"][:, :3, -1].round(7), axis=1).mean(axis=0).min()


def test_words_of_a_filter_say_how_sure_that_is(opened):
    assert text(opened, "verdict") == ""  # the first view stands at the top
    choose(opened, part="grid, 80 items")
    said = text(opened, "verdict")
    assert said.startswith("Over 3 data sets, ")
    assert "best mean rank of 5 methods" in said
    assert "shown: grid, 80 items" in text(opened, "shown")
    press(opened, "CC", "MLPE")
    assert {row[0] for row in board(opened)} == {"CC", "MLPE"}
    assert "of 2 methods" in text(opened, "verdict")
    visible = opened.execute_script(
        "return [...new Set([...document.querySelectorAll('figure:not(.out) [data-series-method]:not(.out)')]"
        ".map(e => e.dataset.seriesMethod))].sort()"
    )
    assert visible == ["CC", "MLPE"]
    opened.execute_script("document.getElementById('all').click()")
    assert len(board(opened)) == 5
    assert text(opened, "shown") == ""


def test_pictures_follow_classifier_settings_and_classes(opened):
    shown = "return [...document.querySelectorAll('figure')].filter(f => f.offsetParent).map(f => f.dataset.view)"
    first = opened.execute_script(shown)
    assert {*first} == {"view-0"}
    choose(opened, target="ae")
    assert len({*opened.execute_script(shown)}) == 1
    assert {*opened.execute_script(shown)} != {*first}
    choose(opened, target="")
    assert opened.execute_script(shown) == []
    assert "choose one of each" in text(opened, "pictures-note")


def test_tables_sort_by_a_click_on_a_head(opened):
    click = "[...document.querySelectorAll('#set-errors thead button')].find(b => b.textContent === 'MLPE').click()"
    column = ["data set", *[row[0] for row in board(opened)]].index("MLPE")
    opened.execute_script(click)
    values = [row[column] for row in board(opened, "set-errors")]
    assert values == sorted(values)
    opened.execute_script(click)
    assert [row[column] for row in board(opened, "set-errors")] == values[::-1]


def test_a_link_keeps_the_filters_and_the_open_section(browser, page):
    show(browser, page, 390)
    assert browser.execute_script("return document.querySelectorAll('details.fold[open]').length") == 0
    choose(browser, target="ae", part="as they are, 40 items")
    press(browser, "CC", "PACC")
    browser.execute_script("document.querySelector('#by-set summary').click()")
    link = browser.execute_script("return location.href")
    rows = board(browser)
    show(browser, page, 390)
    assert board(browser) != rows
    browser.get("about:blank")
    load(browser, link, page)
    assert board(browser) == rows
    assert browser.execute_script("return document.querySelector('#by-set details').open")
    assert not browser.execute_script("return document.querySelector('#pictures details').open")
    browser.execute_script("location.hash = '#pictures'")  # a plain link to a section
    WebDriverWait(browser, 5).until(
        lambda b: b.execute_script("return document.querySelector('#pictures details').open")
    )
    assert browser.get_log("browser") == []


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    """A page of 36 methods with long names over 12 sets."""
    rng = np.random.default_rng(10)
    names = [f"Method {j}, held-out part" if j % 5 == 0 else f"Method{j}" for j in range(36)]
    errors = 0.02 + 0.05 * rng.random((12, 36)) + 0.003 * np.arange(36)
    path = tmp_path_factory.mktemp("crowded") / "league.html"
    path.write_text(render_league(contents_of(made_up(errors, names=names))), "utf-8")
    return path


_OVERLAPS = """
    const texts = [...document.querySelectorAll("figure:not(.out) svg")].map(svg => [...svg.querySelectorAll("text")]
      .map(e => [e.textContent, e.getBoundingClientRect()]).filter(([, box]) => box.width > 0));
    return texts.flatMap(own => own.flatMap(([a, x], i) => own.slice(0, i)
      .filter(([, y]) => x.left < y.right - 1 && y.left < x.right - 1 && x.top < y.bottom - 2 && y.top < x.bottom - 2)
      .map(([b]) => `${a} | ${b}`)));
"""


@pytest.mark.parametrize("width", [1300, 390])
def test_nothing_is_clipped_with_many_methods(browser, crowded, width):
    show(browser, crowded, width)
    browser.execute_script("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert layout_faults(browser, width) == []
    assert browser.execute_script(_OVERLAPS) == []
    smallest = browser.execute_script(
        "return Math.min(...[...document.querySelectorAll('figure:not(.out) svg text')].map(e => e.getBoundingClientRect().height))"
    )
    assert smallest > 8.0  # pixels


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pictures_are_drawn_in_the_colour_of_the_page(browser, page, theme):
    show(browser, page, 1300, theme)
    inks, body = browser.execute_script(
        "return [[...new Set([...document.querySelectorAll('figure:not(.out) svg text')].map(e => getComputedStyle(e).fill))],"
        " getComputedStyle(document.body).color]"
    )
    assert inks == [body]


def test_print_is_light_and_without_buttons(browser, page):
    show(browser, page, 1300, "dark", "print")
    assert browser.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    buttons = (
        "return [...document.querySelectorAll('#filters, #theme, .needs-script')].filter(e => e.offsetParent).length"
    )
    assert browser.execute_script(buttons) == 0
    assert len(browser.print_page()) > 10_000


def test_values_of_pictures_and_tables_as_shown_can_be_read(opened):
    opened.execute_script("document.querySelector('#ranking figure:not(.out) details.values').open = true")
    rows = WebDriverWait(opened, 5).until(
        lambda b: b.execute_script("return [...document.querySelectorAll('.points tbody tr')].map(r => r.textContent)")
    )
    assert len(rows) == 5
    saved = opened.execute_async_script(
        "const done = arguments[0]; URL.createObjectURL = (blob) => { blob.text().then(done); return 'data:,'; };"
        "document.querySelector('[data-download=leaderboard] [data-form=csv]').click()"
    )
    lines = saved.splitlines()
    assert lines[0].startswith("method,learner,settings,mean rank,mean AE,mean RAE,bias")
    assert [float(line.split(",")[3]) for line in lines[1:]] == [row[3] for row in board(opened)]
