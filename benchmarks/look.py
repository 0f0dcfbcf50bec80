"""Time of a look: `headcount inspect`, `headcount estimate` of 1,000 rows by month, and `headcount fit` of 2,000 short texts.

Each runs in a process of its own. The model of the first two is that of `headcount data example`, 2,000 labelled reviews; `fit`
reads the first 15 words of these. The first run of a command, which compiles kernels, is not counted; the median of five others
(of `fit`: two) is printed, in seconds of wall time and of processor time. `floor` is a process that only imports what `estimate`
can't do without: numpy, scipy.sparse, scikit-learn, numba and pyarrow.
"""

import csv
import io
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.setting import machine
from headcount.data.examples.reviews import example_files
from headcount.desk import fit_table
from headcount.modelfile import save_model

ROUNDS = {"floor": 5, "inspect": 5, "estimate": 5, "fit": 2}
MAX_SECONDS = {"inspect": 0.5, "estimate": 1.5, "fit": 15.0}
WORDS = 15


def times(arguments: list[str], folder: Path) -> tuple[float, float]:
    """Run Python with these arguments; return its wall time and its processor time."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before, start = os.times(), time.perf_counter()
    subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, check=True, env=environment)
    wall, after = time.perf_counter() - start, os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return wall, used


def shortened(lines: list[str]) -> str:
    """Return a table of reviews with only the first words of each."""
    table = io.StringIO()
    writer = csv.DictWriter(table, ["review", "stars"], extrasaction="ignore")
    writer.writeheader()
    for row in csv.DictReader(lines):
        writer.writerow(row | {"review": " ".join(row["review"].split()[:WORDS])})
    return table.getvalue()


def main() -> None:
    print(machine())
    slow = []
    with tempfile.TemporaryDirectory() as name:
        folder, files = Path(name), example_files()
        labelled, new = (files[file].splitlines(keepends=True) for file in ("reviews.csv", "new.csv"))
        (folder / "reviews.csv").write_text("".join(labelled[:2001]))
        (folder / "short.csv").write_text(shortened(labelled[:2001]))
        (folder / "new.csv").write_text("".join(new[:1] + new[1::6]))
        save_model(fit_table(folder / "reviews.csv", text="review", label="stars"), folder / "stars.headcount")
        headcount = ["-m", "headcount"]
        commands = {
            "floor": ["-c", "import numpy, scipy.sparse, sklearn.base, numba, pyarrow"],
            "inspect": [*headcount, "inspect", "stars.headcount"],
            "estimate": [*headcount, "estimate", "stars.headcount", "new.csv", "--by", "date:month"],
            "fit": [*headcount, "fit", "short.csv", "--text", "review", "--label", "stars", "-o", "short.headcount"],
        }
        for command, arguments in commands.items():
            times(arguments, folder)
            rounds = [times(arguments, folder) for _ in range(ROUNDS[command])]
            wall, used = (median(column) for column in zip(*rounds, strict=True))
            print(f"| `{command}` | {wall:.2f} | {used:.2f} |")
            if wall > MAX_SECONDS.get(command, wall):
                slow.append(f"{command}: {wall:.2f} s, at most {MAX_SECONDS[command]} s was asked for")
    if slow:
        raise SystemExit("; ".join(slow))


if __name__ == "__main__":
    main()
