"""Databases that tests run queries in: DuckDB and SQLite in this process, a server of PostgreSQL, Spark in local mode."""

import os
import pwd
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pandas as pd
import pytest


class DuckDB:
    dialect = "duckdb"

    def __init__(self):
        self.connection = duckdb.connect()

    def load(self, name, frame):
        self.connection.register("frame", frame)
        self.connection.execute(f'CREATE OR REPLACE TABLE "{name}" AS SELECT * FROM frame')
        self.connection.unregister("frame")

    def execute(self, statement):
        self.connection.execute(statement)

    def frame(self, query):
        cursor = self.connection.execute(query)
        return pd.DataFrame(cursor.fetchall(), columns=[column[0] for column in cursor.description], dtype=object)


class SQLite:
    dialect = "sqlite"

    def __init__(self):
        self.connection = sqlite3.connect(":memory:")

    def load(self, name, frame):
        times = {column: frame[column].dt.strftime("%Y-%m-%d") for column in frame.select_dtypes("datetime")}
        with_text = frame.assign(**times)
        with_text.to_sql(name, self.connection, index=False, if_exists="replace")

    def execute(self, statement):
        self.connection.execute(statement)

    def frame(self, query):
        cursor = self.connection.execute(query)
        return pd.DataFrame(cursor.fetchall(), columns=[column[0] for column in cursor.description], dtype=object)


_TYPES = {
    "float64": "double precision",
    "Float64": "double precision",
    "float32": "real",
    "int64": "bigint",
    "object": "text",
    "str": "text",
}


class Postgres:
    dialect = "postgres"

    def __init__(self, port):
        import psycopg

        self.connection = psycopg.connect(f"host=127.0.0.1 port={port} user=headcount dbname=postgres", autocommit=True)

    def load(self, name, frame):
        types = [_TYPES.get(str(kind), "timestamp") for kind in frame.dtypes]
        columns = ", ".join(f'"{column}" {kind}' for column, kind in zip(frame.columns, types, strict=True))
        cursor = self.connection.cursor()
        cursor.execute(f'DROP TABLE IF EXISTS "{name}" CASCADE')
        cursor.execute(f'CREATE TABLE "{name}" ({columns})')
        with cursor.copy(f'COPY "{name}" FROM STDIN') as copy:
            for row in frame.itertuples(index=False):
                copy.write_row(
                    [None if value is None or value is pd.NaT or value is pd.NA else _plain(value) for value in row]
                )

    def execute(self, statement):
        self.connection.execute(statement)

    def frame(self, query):
        cursor = self.connection.execute(query)
        return pd.DataFrame(cursor.fetchall(), columns=[column[0] for column in cursor.description], dtype=object)


def _plain(value):
    return str(value) if type(value).__module__ == "numpy" else value


class Spark:
    dialect = "spark"

    def __init__(self, folder):
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.sql.shuffle.partitions", "2").config("spark.driver.bindAddress", "127.0.0.1")
        builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.sql.warehouse.dir", str(folder))
        self.session, self.folder = builder.getOrCreate(), Path(folder)
        self.session.sparkContext.setLogLevel("ERROR")

    def load(self, name, frame):
        path = self.folder / f"{name}.parquet"
        frame.to_parquet(path, index=False)
        self.session.read.parquet(str(path)).createOrReplaceTempView(name)

    def execute(self, statement):
        self.session.sql(statement.replace("CREATE VIEW", "CREATE OR REPLACE TEMPORARY VIEW").replace('"', "`"))

    def frame(self, query):
        result = self.session.sql(query)
        return pd.DataFrame([tuple(row) for row in result.collect()], columns=result.columns, dtype=object)


def postgres_programs() -> Path | None:
    """Return the folder of PostgreSQL's programs: that on the path, or Debian's latest."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "postgres").exists()), None)


@contextmanager
def postgres_server() -> Iterator[int]:
    """Start a PostgreSQL server in a temporary folder on a free port of this machine alone, and stop it at the end."""
    programs = postgres_programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed: its programs initdb and postgres are not on the path.")
    pytest.importorskip("psycopg", reason="The package psycopg, with which PostgreSQL is asked, is not installed.")
    with tempfile.TemporaryDirectory(prefix="headcount-postgres-", ignore_cleanup_errors=True) as folder:
        as_user = {}
        if os.getuid() == 0:  # PostgreSQL refuses to run as root
            user = next(
                (name for name in ("postgres", "nobody") if name in {entry.pw_name for entry in pwd.getpwall()}), None
            )
            if user is None:
                pytest.skip("PostgreSQL does not run as root, and there is no user postgres or nobody.")
            entry = pwd.getpwnam(user)
            os.chown(folder, entry.pw_uid, entry.pw_gid)
            as_user = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
        data = f"{folder}/data"
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
        make = [str(programs / "initdb"), "-D", data, "-A", "trust", "-U", "headcount", "-E", "UTF8", "--no-sync"]
        subprocess.run(make, cwd=folder, env=environment, check=True, capture_output=True, **as_user)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        settings = {"listen_addresses": "127.0.0.1", "unix_socket_directories": folder, "fsync": "off"}
        arguments = [item for name, value in settings.items() for item in ("-c", f"{name}={value}")]
        with Path(folder, "log").open("wb") as log:
            server = subprocess.Popen(
                [str(programs / "postgres"), "-D", data, "-p", str(port), *arguments],
                cwd=folder,
                env=environment,
                stdout=log,
                stderr=log,
                **as_user,
            )
        try:
            _wait_for(server, port, Path(folder, "log"))
            yield port
        finally:
            server.send_signal(signal.SIGINT)  # a fast shutdown
            server.wait(20)


def _wait_for(server, port, log, seconds=20.0):
    import psycopg

    end = time.monotonic() + seconds
    while True:
        try:
            psycopg.connect(f"host=127.0.0.1 port={port} user=headcount dbname=postgres").close()
            return
        except psycopg.OperationalError:
            if server.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"PostgreSQL did not start: {log.read_text()[-2000:]}") from None
            time.sleep(0.1)
