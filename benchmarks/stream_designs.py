"""Speed and memory of `headcount estimate --scored` with weights and clusters, against the same file without them.

Rows of scores of two classes by month from Parquet and CSV, the columns of the design in the file either way. Clusters hold five
rows of one month, or of any month, in random order; or there are 500 of them. Times of the ways to count are taken in turns. Run by
`make bench`.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

from benchmarks.setting import SEED
from benchmarks.stream import scored_table
from headcount.desk import estimate_tables, scored_model
from headcount.stream import DesignColumns

ROWS, CSV_ROWS, CHUNK = 8_000_000, 2_000_000, 1_000_000
ROUNDS = 5
LEAST = {"weight": 0.8, "stratum": 0.8, "few": 1 / 3, "own": 1 / 3, "named": 1 / 3, "any": 1 / 3, "all": 1 / 3}
DESIGNS = {
    "without": ("no design", None),
    "weight": ("weights", DesignColumns(weight="w")),
    "stratum": ("weights and 4 strata", DesignColumns(weight="w", stratum="region")),
    "few": ("500 clusters", DesignColumns(cluster="clinic")),
    "own": ("clusters of 5 rows of one month, numbers", DesignColumns(cluster="own")),
    "named": ("clusters of 5 rows of one month, texts", DesignColumns(cluster="author")),
    "any": ("clusters of 5 rows of any month", DesignColumns(cluster="any")),
    "all": ("weights, and clusters of 5 rows of one month", DesignColumns(weight="w", cluster="own")),
}


def table_with_design(n: int, first: int, generator: np.random.Generator) -> Any:
    """Return scored rows with weights, strata and clusters; ``first``: numbers of clusters begin there."""
    table = scored_table(n, generator).drop_columns(["time"])
    order = np.argsort(table["month"].to_numpy(), kind="stable")
    own = np.empty(n, dtype=np.int64)
    own[order] = first + np.arange(n) // 5
    columns = {
        "w": generator.choice([0.5, 1.0, 2.0], n) * generator.uniform(0.8, 1.2, n),
        "region": pa.array(np.array(["north", "south", "east", "west"])[generator.integers(0, 4, n)]),
        "clinic": pa.array(np.char.mod("clinic %d", generator.integers(0, 500, n))),
        "own": own,
        "author": pa.array(np.char.mod("author %d", own)),
        "any": first + generator.integers(0, n // 5, n),
    }
    for name, column in columns.items():
        table = table.append_column(name, pa.array(column))
    return table


def write_files(folder: Path) -> dict[str, Path]:
    generator = np.random.default_rng(SEED)
    files = {name: folder / name for name in ("labelled.csv", "new.parquet", "new.csv")}
    csv.write_csv(scored_table(5_000, generator, labelled=True), files["labelled.csv"])
    for name, rows in (("new.parquet", ROWS), ("new.csv", CSV_ROWS)):
        first = table_with_design(10, 0, generator)
        writer = parquet.ParquetWriter if name.endswith("parquet") else csv.CSVWriter
        with writer(files[name], first.schema) as file:
            for start in range(0, rows, CHUNK):
                file.write_table(table_with_design(CHUNK, start, generator))
    return files


def peak_mebibytes(files: dict[str, Path], *options: str) -> float:
    """Peak memory of the command, in its own process."""
    from benchmarks.stream import _MEASURE_PEAK

    arguments = ["estimate", "--scored", files["labelled.csv"], files["new.parquet"], "--by", "month", "--label", "y"]
    command = [
        sys.executable,
        "-c",
        _MEASURE_PEAK,
        *map(str, arguments),
        "--scores",
        "neg=neg,pos=pos",
        "-o",
        "-",
        *options,
    ]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(done.stderr.split()[-1]) / 1024


def main() -> bool:
    print(
        f"\n## Designs in streams: Python {sys.version.split()[0]}, pyarrow {pa.__version__}, numpy {np.__version__}; seed {SEED}\n"
    )
    print(
        "| method | file | design | million rows a second | of the speed without | at least |\n|---|---|---|---|---|---|"
    )
    passed = True
    with tempfile.TemporaryDirectory() as folder:
        files = write_files(Path(folder))
        for method in ("PACC", "HDy", "SLD"):
            model = scored_model(files["labelled.csv"], label="y", scores="neg=neg,pos=pos", method=method)
            for name, rows in (("new.parquet", ROWS), ("new.csv", CSV_ROWS)):
                asked = DESIGNS if method == "PACC" else {key: DESIGNS[key] for key in ("without", "weight", "own")}
                times: dict[str, list[float]] = {key: [] for key in asked}
                for turn in range(ROUNDS + 1):
                    for key, (_, design) in asked.items():
                        start = time.perf_counter()
                        estimate_tables(model, files[name], by="month", design=design)
                        if turn:  # the first turn compiles and reads into the page cache
                            times[key].append(time.perf_counter() - start)
                for key, seconds in times.items():
                    ratio = median(a / b for a, b in zip(times["without"], seconds, strict=True))
                    least = LEAST.get(key, 0.0)
                    passed &= ratio >= least
                    speed = rows / median(seconds) / 1e6
                    kind = name.rpartition(".")[2]
                    print(
                        f"| {method} | {kind} | {DESIGNS[key][0]} | {speed:.1f} | {ratio:.2f} | {least:.2f} |",
                        flush=True,
                    )
        base = peak_mebibytes(files)
        for options, clusters in ((("--cluster", "clinic"), 500 * 12), (("--cluster", "own"), ROWS // 5)):
            peak = peak_mebibytes(files, *options)
            each = (peak - base) * 2**20 / clusters
            print(
                f"\nPeak memory, PACC, {ROWS:,} rows, {' '.join(options)} ({clusters:,} clusters by month): {peak:,.0f} MiB; "
                "without "
            )
            print(f"clusters {base:,.0f} MiB; {each:,.0f} bytes for each cluster.")
    return passed


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
