"""Statistics by a query in DuckDB and PostgreSQL, against our own reader of a Parquet file of the same rows: rows a second.

Run ``python -m benchmarks.warehouse [million rows]`` in the root of the repository. Scores of 2 and 10 classes, 100 groups.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from tests.warehouse.databases import DuckDB, Postgres, postgres_server

from headcount.desk import estimate_tables, scored_model, statistics_sql
from headcount.desk.estimate import tally_of


def scored(n, k, rng):
    codes = rng.integers(0, k, n)
    logits = rng.normal(size=(n, k))
    logits[np.arange(n), codes] += 1.5
    P = np.exp(logits)
    return codes, pd.DataFrame(P / P.sum(axis=1, keepdims=True), columns=[f"score_{j}" for j in range(k)])


def fill_postgres(database, csv, names):
    columns = ", ".join(f"{name} double precision" for name in names)
    database.execute("DROP TABLE IF EXISTS scores")
    database.execute(f"CREATE TABLE scores ({columns}, shop bigint)")
    with Path(csv).open("rb") as file, database.connection.cursor().copy("COPY scores FROM STDIN CSV") as copy:
        while part := file.read(1 << 20):
            copy.write(part)
    database.execute("ANALYZE scores")


def seconds(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def main():
    n = int(float(sys.argv[1] if len(sys.argv) > 1 else 1) * 1e6)
    rng = np.random.default_rng(0)
    print(f"{n:,} rows, 100 groups, seed 0; million rows a second")
    print("classes  method   reader   DuckDB   PostgreSQL   rows returned   MB   then s   equal")
    with postgres_server() as port, tempfile.TemporaryDirectory() as folder:
        for k in (2, 10):
            codes, labelled = scored(1000, k, rng)
            labelled.assign(y=codes).to_csv(f"{folder}/labelled.csv", index=False)
            frame = scored(n, k, rng)[1].assign(shop=rng.integers(0, 100, n))
            frame.to_parquet(f"{folder}/items.parquet", index=False)
            duck, postgres = DuckDB(), Postgres(port)
            duck.execute(f"CREATE TABLE scores AS FROM '{folder}/items.parquet'")
            duck.execute(f"COPY scores TO '{folder}/items.csv' (HEADER false)")
            fill_postgres(postgres, f"{folder}/items.csv", list(labelled.columns))
            for method in ("PACC", "HDy", "SLD") if k == 2 else ("PACC",):
                model = scored_model(f"{folder}/labelled.csv", label="y", method=method)
                tally_of(model, [f"{folder}/items.parquet"], "shop", False)  # kernels are compiled
                own, _ = seconds(lambda m=model: tally_of(m, [f"{folder}/items.parquet"], "shop", False))
                from_file = estimate_tables(model, f"{folder}/items.parquet", by="shop")
                times = []
                for database in (duck, postgres):
                    query = statistics_sql(model, "scores", by="shop", dialect=database.dialect)
                    taken, result = seconds(lambda d=database, q=query: d.frame(q))
                    times.append(taken)
                result.to_csv(f"{folder}/result.csv", index=False)
                rest, computed = seconds(
                    lambda m=model: estimate_tables(m, f"{folder}/result.csv", by="shop", statistics=True)
                )
                megabytes = Path(folder, "result.csv").stat().st_size / 1e6
                speeds = "   ".join(f"{n / t / 1e6:6.3f}" for t in (own, *times))
                equal = computed.records() == from_file.records()
                print(
                    f"{k:7}  {method:5}   {speeds}   {len(result):9,}   {megabytes:.1f}   {rest:.1f}   {equal}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
