import importlib.util
import shutil

import pytest

from tests.warehouse.databases import DuckDB, Postgres, Spark, SQLite, postgres_server


@pytest.fixture(scope="session")
def postgres_port():
    with postgres_server() as port:
        yield port


@pytest.fixture
def spark(tmp_path):
    if importlib.util.find_spec("pyspark") is None or shutil.which("java") is None:
        pytest.skip("Spark needs the package pyspark and the program java: one of them is not installed.")
    opened = Spark(tmp_path)
    yield opened
    opened.session.stop()


@pytest.fixture(params=["duckdb", "sqlite", "postgres"])
def database(request):
    """A database that a test may fill."""
    if request.param == "postgres":
        opened = Postgres(request.getfixturevalue("postgres_port"))
    else:
        opened = {"duckdb": DuckDB, "sqlite": SQLite}[request.param]()
    yield opened
    opened.connection.close()
