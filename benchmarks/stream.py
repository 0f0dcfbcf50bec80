"""`headcount estimate --scored` from files, against pyarrow alone reading the same columns of them; and its peak memory.

Ten million rows of scores by month from Parquet, three million from CSV; PACC, HDy and SLD, by a column of months, and PACC by the
months of a column of times, no two of them alike. Times are of the work that the command does, labelled file and all, without
starting Python; memory is that of the command itself. Run by `make bench`.
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
from headcount.cli.request import Request

ROWS, ROWS_OF_TEXT, CHUNK = 10_000_000, 3_000_000, 1_000_000
ASKED = {"parquet": 1 / 3, "csv": 1 / 2}
MOST_MEBIBYTES = 1024
ROUNDS = 12


def scored(n: int, generator: np.random.Generator, labelled: bool = False) -> Any:
    y = generator.random(n) < 0.3
    p = 1.0 / (1.0 + np.exp(-(2.0 * generator.standard_normal(n) + 3.0 * y - 1.5)))
    months = np.array([f"2025-{m:02d}" for m in range(1, 13)])[generator.integers(0, 12, n)]
    times = months.astype("datetime64[M]") + generator.integers(0, 28 * 86_400_000, n).astype("timedelta64[ms]")
    columns = {"month": pa.array(months), "neg": 1.0 - p, "pos": p, "time": pa.array(np.datetime_as_string(times))}
    return pa.table({**columns, "y": np.where(y, "pos", "neg")} if labelled else columns)


def written(folder: Path) -> dict[str, Path]:
    generator = np.random.default_rng(SEED)
    files = {"labelled": folder / "labelled.csv", "parquet": folder / "new.parquet", "csv": folder / "new.csv"}
    csv.write_csv(scored(5_000, generator, labelled=True), files["labelled"])
    first = scored(CHUNK, generator)
    with parquet.ParquetWriter(files["parquet"], first.schema) as file:
        for _ in range(ROWS // CHUNK):
            file.write_table(scored(CHUNK, generator))
    with csv.CSVWriter(files["csv"], first.schema) as file:
        for _ in range(ROWS_OF_TEXT // CHUNK):
            file.write_table(scored(CHUNK, generator))
    return files


def ours(files: dict[str, Path], kind: str, method: str, by: str) -> Any:
    request = Request(
        str(files["labelled"]), (str(files[kind]),), by, True, label="y", scores="neg=neg,pos=pos", method=method
    )
    model = request.made()
    return request.groups(request.tally(model))


def alone(files: dict[str, Path], kind: str, by: str) -> Any:
    columns = [by.partition(":")[0], "neg", "pos"]
    if kind == "parquet":
        return parquet.read_table(files[kind], columns=columns)
    return csv.read_csv(files[kind], convert_options=csv.ConvertOptions(include_columns=columns))


def side_by_side(one: Callable[[], Any], other: Callable[[], Any]) -> tuple[float, float]:
    """Return the median seconds of both, measured in turns, so that what else the machine does falls upon both."""
    one()
    once = sys.float_info.min
    times = [(seconds(one, once), seconds(other, once)) for _ in range(ROUNDS)]
    return median(a for a, _ in times), median(b for _, b in times)


_MEASURED = """
import re, sys
from pathlib import Path
from headcount.cli import main
try:
    main()
except SystemExit as end:
    sys.stderr.write(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
    raise
"""


def peak(files: dict[str, Path], method: str) -> float:
    """Return the mebibytes that the command needs at most, in a process of its own."""
    arguments = ["estimate", "--scored", str(files["labelled"]), str(files["parquet"]), "--by", "month", "--label", "y"]
    command = [
        sys.executable,
        "-c",
        _MEASURED,
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
    print(f"\n## estimate --scored, {ROWS:,} rows of Parquet and {ROWS_OF_TEXT:,} of CSV, by month\n\n{versions}\n")
    print(
        "| method | by | file | million rows a second | pyarrow alone | ratio | asked |\n|---|---|---|---|---|---|---|"
    )
    fine = True
    with tempfile.TemporaryDirectory() as folder:
        files = written(Path(folder))
        for method, by in (("PACC", "month"), ("PACC", "time:month"), ("HDy", "month"), ("SLD", "month")):
            for kind, rows in (("parquet", ROWS), ("csv", ROWS_OF_TEXT)):
                us, them = side_by_side(partial(ours, files, kind, method, by), partial(alone, files, kind, by))
                fine &= them / us >= ASKED[kind]
                speeds = f"{rows / us / 1e6:.1f} | {rows / them / 1e6:.1f}"
                print(f"| {method} | {by} | {kind} | {speeds} | {them / us:.2f} | {ASKED[kind]:.2f} |", flush=True)
        for method in ("PACC", "SLD"):
            most = peak(files, method)
            fine &= most < MOST_MEBIBYTES
            print(
                f"\nPeak memory of the command, {method}, {ROWS:,} rows: {most:,.0f} MiB (at most {MOST_MEBIBYTES:,})."
            )
    return fine


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
