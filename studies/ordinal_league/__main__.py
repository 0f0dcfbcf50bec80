# ruff: noqa: T201
"""Compute the league on all tables of a folder, and write it beside the published figures.

    python -m studies.ordinal_league FOLDER [--sets A,B] [--jobs 2] [--store FOLDER] [--out studies/ordinal-league]

The folder holds tables (`SET.parquet` with columns x0.. and y) and, optionally, `published.csv` (columns set, method, score);
without it the figures of `studies/ordinal-published.csv` are taken. A run that was stopped goes on where it was. Writes OUT.md and
OUT.csv.
"""

import argparse
import sys
import time
from pathlib import Path

import joblib
import pandas as pd
from studies.ordinal_league.fits import LEAGUE, OTHER_SEED
from studies.ordinal_league.page import page
from studies.ordinal_league.recipe import BAGS, REPETITIONS, read_table
from studies.ordinal_league.store import repetition_scores

SHIPPED = Path(__file__).parent.parent / "ordinal-published.csv"


def main() -> int:
    """Compute what the store lacks, and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", default="", help="names of tables, separated by commas; by default all in the folder")
    parser.add_argument("--store", type=Path, default=Path("local/ordinal-league"), help="folder of what is kept")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--bags", type=int, default=BAGS)
    parser.add_argument("--other-seed", default="", help="tables whose forests are fitted with another seed too")
    parser.add_argument(
        "--cut", action="store_true", help="search the grid by cutting deep forests: faster, not quite the recipe"
    )
    parser.add_argument(
        "--skip", default="", help="methods that are not run, such as CvMy_Eu, which visits all pairs in each bag"
    )
    parser.add_argument("--out", type=Path, default=Path(__file__).parent.parent / "ordinal-league")
    asked = parser.parse_args()
    names = {name for name in asked.sets.split(",") if name}
    tables = [path for path in sorted(asked.folder.glob("*.parquet")) if not names or path.stem in names]
    if not tables:
        sys.exit(f"There are no such tables in {asked.folder}.")
    failed, sizes = [], {}
    for path in tables:
        try:
            sizes[path] = read_table(path)[0].size
        except (ValueError, OSError) as error:
            failed.append(str(error))
    again = {name for name in asked.other_seed.split(",") if name}
    began = time.monotonic()
    work = [
        (path, asked.store, repetition, learner, asked.bags, asked.cut, frozenset(asked.skip.split(",")))
        for path in sorted(sizes, key=lambda path: sizes[path])
        for learner in (LEAGUE, *([OTHER_SEED] if path.stem in again else []))
        for repetition in range(asked.repetitions)
    ]
    cells = []
    jobs = joblib.Parallel(asked.jobs, return_as="generator_unordered")
    for done, found in enumerate(jobs(joblib.delayed(repetition_scores)(*one) for one in work), 1):
        cells += found
        print(f"\r{done} of {len(work)} repetitions", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    if not cells:
        sys.exit("\n".join(failed))
    theirs = asked.folder / "published.csv"
    published = pd.read_csv(theirs if theirs.exists() else SHIPPED)
    table = pd.DataFrame(cells).sort_values(["set", "learner", "method", "repetition"])
    table.round(6).to_csv(f"{asked.out}.csv", index=False)
    text = page(table, published, failed, (time.monotonic() - began) / 60.0, asked.bags)
    Path(f"{asked.out}.md").write_text(text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
