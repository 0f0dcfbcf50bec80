"""Time of a look: `headcount inspect`, and `headcount estimate` of 1,000 rows by month, in a process each. Run by `make bench`.

The model is that of `headcount data example`, 2,000 labelled reviews. The first run of a command, which compiles kernels, is not
counted; the median of five others is printed, in seconds of wall time and of processor time.
"""

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

ROUNDS = 5
MAX_SECONDS = {"inspect": 0.5, "estimate": 1.5}


def times(arguments: list[str], folder: Path) -> tuple[float, float]:
    """Run a command; return its wall time and its processor time."""
    before, start = os.times(), time.perf_counter()
    subprocess.run([sys.executable, "-m", "headcount", *arguments], cwd=folder, capture_output=True, check=True)
    wall, after = time.perf_counter() - start, os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return wall, used


def main() -> None:
    print(machine())
    slow = []
    with tempfile.TemporaryDirectory() as name:
        folder, files = Path(name), example_files()
        labelled, new = (files[file].splitlines(keepends=True) for file in ("reviews.csv", "new.csv"))
        (folder / "reviews.csv").write_text("".join(labelled[:2001]))
        (folder / "new.csv").write_text("".join(new[:1] + new[1::6]))
        save_model(fit_table(folder / "reviews.csv", text="review", label="stars"), folder / "stars.headcount")
        commands = {
            "inspect": ["inspect", "stars.headcount"],
            "estimate": ["estimate", "stars.headcount", "new.csv", "--by", "date:month"],
        }
        for command, arguments in commands.items():
            times(arguments, folder)
            wall, used = (
                median(column) for column in zip(*(times(arguments, folder) for _ in range(ROUNDS)), strict=True)
            )
            print(f"| `{command}` | {wall:.2f} | {used:.2f} |")
            if wall > MAX_SECONDS[command]:
                slow.append(f"{command}: {wall:.2f} s, at most {MAX_SECONDS[command]} s was asked for")
    if slow:
        raise SystemExit("; ".join(slow))


if __name__ == "__main__":
    main()
