"""A league that is computed once for all tests."""

import pytest

from headcount.report.league import gather_league, render_league
from headcount.study import Results
from tests.report.league.leagues import WithItems, computed_league


@pytest.fixture(scope="session")
def league(tmp_path_factory):
    return computed_league(tmp_path_factory.mktemp("league"))


@pytest.fixture(scope="session")
def results(league):
    return Results(*league)


@pytest.fixture(scope="session")
def contents(league):
    return gather_league(WithItems(*league))


@pytest.fixture(scope="session")
def page_text(contents):
    return render_league(contents)
