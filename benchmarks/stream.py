"""Speed and peak memory of `headcount estimate --scored`, against pyarrow alone reading the same columns.

Twenty million rows of scores by month from Parquet, three million from CSV, six million of ten classes from Parquet; PACC, HDy and
SLD by a column of months, and PACC by the months of a column of distinct times. Times are those of the work that the command does,
labelled file included, without the start of Python; memory is that of the command itself. Run by `make bench`.
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

from benchmarks.setting import SEED, seconds
from headcount.desk import estimate_tables, scored_model

ROWS, CSV_ROWS, TEN_ROWS, CHUNK = 20_000_000, 3_000_000, 6_000_000, 1_000_000
MIN_RATIO = {"parquet": 0.5, "csv": 0.5, "ten": 0.2}
MIN_RATIO_OF_TIMES = 0.4
MAX_MEBIBYTES = 800
ROUNDS = 12


def scored_table(n: int, generator: np.random.Generator, labelled: bool = False) -> Any:
    y = generator.random(n) < 0.3
    p = 1.0 / (1.0 + np.exp(-(2.0 * generator.standard_normal(n) + 3.0 * y - 1.5)))
    months = np.array([f"2025-{m:02d}" for m in range(1, 13)])[generator.integers(0, 12, n)]
    times = months.astype("datetime64[M]") + generator.integers(0, 28 * 86_400_000, n).astype("timedelta64[ms]")
    columns = {"month": pa.array(months), "neg": 1.0 - p, "pos": p, "time": pa.array(np.datetime_as_string(times))}
    return pa.table({**columns, "y": np.where(y, "pos", "neg")} if labelled else columns)


def table_of_ten(n: int, generator: np.random.Generator) -> Any:
    """Scores of ten classes."""
    y = generator.integers(0, 10, n)
    P = np.exp(generator.standard_normal((n, 10)) + 2.0 * (y[:, None] == np.arange(10)))
    P /= P.sum(axis=1, keepdims=True)
    months = np.array([f"2025-{m:02d}" for m in range(1, 13)])[generator.integers(0, 12, n)]
    return pa.table({"month": pa.array(months), **{f"c{j}": P[:, j] for j in range(10)}, "y": np.char.mod("c%d", y)})


def write_files(folder: Path) -> dict[str, Path]:
    generator = np.random.default_rng(SEED)
    files = {"labelled": folder / "labelled.csv", "parquet": folder / "new.parquet", "csv": folder / "new.csv"}
    files |= {"labelled_ten": folder / "labelled_ten.csv", "ten": folder / "ten.parquet"}
    csv.write_csv(table_of_ten(5_000, generator), files["labelled_ten"])
    parquet.write_table(table_of_ten(TEN_ROWS, generator), files["ten"])
    csv.write_csv(scored_table(5_000, generator, labelled=True), files["labelled"])
    first = scored_table(CHUNK, generator)
    with parquet.ParquetWriter(files["parquet"], first.schema) as file:
        for _ in range(ROWS // CHUNK):
            file.write_table(scored_table(CHUNK, generator))
    with csv.CSVWriter(files["csv"], first.schema) as file:
        for _ in range(CSV_ROWS // CHUNK):
            file.write_table(scored_table(CHUNK, generator))
    return files


def score_columns(kind: str) -> list[str]:
    return [f"c{j}" for j in range(10)] if kind == "ten" else ["neg", "pos"]


def headcount_shares(files: dict[str, Path], kind: str, method: str, by: str) -> Any:
    labelled = files["labelled_ten" if kind == "ten" else "labelled"]
    scores = ",".join(f"{name}={name}" for name in score_columns(kind))
    model = scored_model(labelled, label="y", scores=scores, method=method)
    return estimate_tables(model, files[kind], by=by)


def pyarrow_table(files: dict[str, Path], kind: str, by: str) -> Any:
    columns = [by.partition(":")[0], *score_columns(kind)]
    if kind != "csv":
        return parquet.read_table(files[kind], columns=columns)
    return csv.read_csv(files[kind], convert_options=csv.ConvertOptions(include_columns=columns))


def median_seconds(first: Callable[[], Any], second: Callable[[], Any]) -> tuple[float, float]:
    """Median seconds of both, measured in turns, so that other load on the machine affects both alike."""
    first()
    once = sys.float_info.min
    times = [(seconds(first, once), seconds(second, once)) for _ in range(ROUNDS)]
    return median(a for a, _ in times), median(b for _, b in times)


_MEASURE_PEAK = """
import re, sys
from pathlib import Path
from headcount.cli import main
try:
    main()
except SystemExit as end:
    sys.stderr.write(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
    raise
"""


def peak_mebibytes(files: dict[str, Path], method: str) -> float:
    """Peak memory of the command, in its own process."""
    arguments = ["estimate", "--scored", str(files["labelled"]), str(files["parquet"]), "--by", "month", "--label", "y"]
    command = [
        sys.executable,
        "-c",
        _MEASURE_PEAK,
        *arguments,
        "--scores",
        "neg=neg,pos=pos",
        "--method",
        method,
        "-o",
        "-",
    ]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(done.stderr) / 1024


def main() -> bool:
    versions = f"Python {sys.version.split()[0]}, pyarrow {pa.__version__}, numpy {np.__version__}; seed {SEED}"
    print(
        f"\n## estimate --scored, {ROWS:,} rows of Parquet, {CSV_ROWS:,} of CSV, {TEN_ROWS:,} of ten classes\n\n{versions}\n"
    )
    print(
        "| method | by | file | million rows a second | pyarrow alone | ratio | at least |\n|---|---|---|---|---|---|---|"
    )
    passed = True
    with tempfile.TemporaryDirectory() as folder:
        files = write_files(Path(folder))
        for method, by in (("PACC", "month"), ("PACC", "time:month"), ("HDy", "month"), ("SLD", "month")):
            for kind, rows in (("parquet", ROWS), ("csv", CSV_ROWS), ("ten", TEN_ROWS)):
                if kind == "ten" and (
                    method == "HDy" or by != "month"
                ):  # HDy is for two classes, times are in the other files
                    continue
                ours, theirs = median_seconds(
                    partial(headcount_shares, files, kind, method, by), partial(pyarrow_table, files, kind, by)
                )
                least = MIN_RATIO_OF_TIMES if by != "month" else MIN_RATIO[kind]
                passed &= theirs / ours >= least
                speeds = f"{rows / ours / 1e6:.1f} | {rows / theirs / 1e6:.1f}"
                print(f"| {method} | {by} | {kind} | {speeds} | {theirs / ours:.2f} | {least:.2f} |", flush=True)
        for method in ("PACC", "SLD"):
            peak = peak_mebibytes(files, method)
            passed &= peak < MAX_MEBIBYTES
            print(
                f"\nPeak memory of the command, {method}, {ROWS:,} rows: {peak:,.0f} MiB (at most {MAX_MEBIBYTES:,})."
            )
    return passed


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
