"""Run the cells in processes, go on from a file of figures where there is one, and write the page."""

import argparse
import hashlib
import json
import re
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import joblib

import headcount as hc
from benchmarks.coverage import learners, real, simulate, worlds
from benchmarks.coverage.cell import Cell
from benchmarks.coverage.cells import all_cells
from benchmarks.coverage.figures import Figures, failures, merged
from benchmarks.coverage.page import text_table, write_page

SEED = 96502091
"""Drawn when the code was final, and not changed after the run."""
Blocks = dict[str, list[dict[str, Any]]]


def code_fingerprint() -> str:
    """Return a digest of headcount's source and of the simulation's, so that figures of other code are not taken over."""
    root = Path(str(hc.__file__)).parent
    files = [
        *sorted(root.rglob("*.py")),
        *(Path(str(module.__file__)) for module in (learners, real, simulate, worlds)),
    ]
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def run(cells: list[Cell], arguments: argparse.Namespace) -> dict[str, Figures]:
    """Return the figures of all cells; blocks in the file of figures are taken from there, the others are added to it."""
    code = arguments.code or code_fingerprint()
    done: Blocks = {}
    if arguments.cells and arguments.cells.is_file():
        for line in arguments.cells.read_text().splitlines():
            row = json.loads(line)
            if (row["code"], row["seed"]) == (code, arguments.seed):
                done.setdefault(row["cell"], []).append(row)
    settings = {cell.name: cell.setting for cell in cells}
    for name in list(done):
        done[name] = [row for row in done[name] if row["setting"] == settings.get(name)]
    missing = [] if arguments.page_only else list(_missing(cells, done, arguments))
    total, start = sum(n for _, _, n in missing), time.time()
    parallel = joblib.Parallel(n_jobs=arguments.jobs, return_as="generator_unordered")
    finished = 0
    jobs = (joblib.delayed(_one)(cell, arguments.seed, first, n) for cell, first, n in missing)
    for name, first, figures in parallel(jobs):
        described = {"cell": name, "setting": settings[name], "code": code, "seed": arguments.seed, "first": first}
        row = described | figures
        done.setdefault(name, []).append(row)
        finished += figures["simulations"]
        if arguments.cells:
            with arguments.cells.open("a") as file:
                file.write(json.dumps(row) + "\n")
        if sys.stderr.isatty():
            message = f"\r{finished:,} of {total:,} simulations, {time.time() - start:.0f} s"
            print(message, end="", file=sys.stderr, flush=True)
    return {name: merged(blocks) for name, blocks in done.items() if blocks}


def _one(cell: Cell, seed: int, first: int, n: int) -> tuple[str, int, dict[str, Any]]:
    return cell.name, first, simulate.block(cell, seed, first, n)


def _missing(cells: list[Cell], done: Blocks, arguments: argparse.Namespace) -> Iterable[tuple[Cell, int, int]]:
    """Yield blocks of simulations that are not done; blocks start at fixed numbers, so that they can be recognised."""
    for cell in cells:
        n = _simulations(cell, arguments)
        size = 100 if cell.simulations >= 1000 else 20
        starts = {row["first"] for row in done.get(cell.name, []) if row["simulations"] == min(size, n - row["first"])}
        done[cell.name] = [row for row in done.get(cell.name, []) if row["first"] in starts and row["first"] < n]
        for first in range(0, n, size):
            if first not in starts:
                yield cell, first, min(size, n - first)


def _simulations(cell: Cell, arguments: argparse.Namespace) -> int:
    return cell.simulations if arguments.simulations is None else min(arguments.simulations, cell.simulations)


def dry_run(cells: list[Cell], arguments: argparse.Namespace) -> None:
    """Measure a few simulations of each cell and print how long all would take."""
    total = 0.0
    for cell in cells:
        simulate.block(cell, arguments.seed, 0, 1)
        seconds = simulate.block(cell, arguments.seed, 1, 3)["seconds"] / 3
        needed = seconds * _simulations(cell, arguments)
        total += needed
        print(f"{1000 * seconds:8.0f} ms a simulation, {needed:7.0f} s  {cell.name}", flush=True)
    print(f"{total / 60:.0f} minutes on one core, {total / 60 / arguments.jobs:.0f} on {arguments.jobs}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="a regular expression to be found in 'section | name'")
    parser.add_argument(
        "--simulations", type=int, help="at most so many a cell; by default 2,000, of forests and texts 400"
    )
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cells", type=Path, help="a JSON-lines file to keep figures in, and to go on from")
    parser.add_argument(
        "--code", help="take figures of this code for valid, instead of the digest of the source at hand"
    )
    parser.add_argument(
        "--before", type=Path, default=Path(__file__).parent / "before.json", help="figures of an earlier version"
    )
    parser.add_argument(
        "--keep-as-before", type=Path, help="write coverage and width of each cell to this file, for --before"
    )
    parser.add_argument("--out", type=Path, help="write the page here; by default only a short table is printed")
    parser.add_argument(
        "--dry-run", action="store_true", help="measure a few simulations a cell and print how long all would take"
    )
    parser.add_argument(
        "--page-only", action="store_true", help="simulate nothing: show the figures that --cells has, however many"
    )
    parser.add_argument("--list", action="store_true", help="print the names of the cells")
    arguments = parser.parse_args()
    cells = [cell for cell in all_cells() if re.search(arguments.only, f"{cell.group} | {cell.name}")]
    absent = sorted({repr(cell.world) for cell in cells if not real.has_data(cell.world)})
    cells = [cell for cell in cells if real.has_data(cell.world)]
    if absent:
        print(f"NOTE: no files for {', '.join(absent)}: set HEADCOUNT_DATA. Their cells are left out.", file=sys.stderr)
    if arguments.list:
        print("\n".join(f"{cell.group} | {cell.name}" for cell in cells))
    elif arguments.dry_run:
        dry_run(cells, arguments)
    else:
        figures = run(cells, arguments)
        before = json.loads(arguments.before.read_text()) if arguments.before.is_file() else {}
        failed = failures(cells, figures, before)
        print(text_table(cells, figures))
        if arguments.keep_as_before:
            lines = [f"{json.dumps(name)}: {json.dumps(f.kept())}" for name, f in figures.items()]
            arguments.keep_as_before.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        if arguments.out:
            write_page(arguments.out, cells, figures, before, arguments.seed, arguments.code or code_fingerprint())
        if failed:
            print("\n".join([f"{len(failed)} requirements are not met:", *failed]))
            sys.exit(1)


if __name__ == "__main__":
    main()
