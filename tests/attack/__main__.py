"""Run the attack and print what came of it: ``python -m tests.attack``, or a part of it, or a single trial.

A trial that went wrong is run again by its kind and number: ``python -m tests.attack models --seed 0 --trial 17 --keep folder``.
"""

import argparse
import io
import os
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

from headcount.cli.app import main as headcount  # noqa: E402
from tests.attack.models import forged_model, plain_models  # noqa: E402
from tests.attack.plans import mutated_matrix, mutated_plan  # noqa: E402
from tests.attack.tables import mutated_table  # noqa: E402
from tests.attack.trial import Trial  # noqa: E402
from tests.attack.watch import run_trials  # noqa: E402

COUNTS = {"models": 2000, "tables": 3000, "plans": 500, "matrices": 500}

_MOST_LINES = 14
"""Lines of a traceback that are printed."""
WARM_UP = {"tables": 12, "plans": 1, "matrices": 3}
"""Trials that are run first in the process that all others are forked from, so that what they import and load is shared."""


def makers(seed: int, n_models: int) -> dict[str, Callable[[int], Trial]]:
    """Return what makes the trial of a number, by kind."""
    return {
        "models": lambda number: forged_model(number, seed, n_models),
        "tables": lambda number: mutated_table(number, seed),
        "plans": lambda number: mutated_plan(number, seed),
        "matrices": lambda number: mutated_matrix(number, seed),
    }


def warm_up(make: Callable[[int], Trial], numbers: range) -> None:
    """Run a few trials in this process, so that what the commands import and load is shared by all that are forked from it."""
    import tempfile

    argv = sys.argv
    for number in numbers:
        trial = make(number)
        with tempfile.TemporaryDirectory() as folder:
            before = Path.cwd()
            os.chdir(folder)
            for name, content in trial.files.items():
                Path(name).parent.mkdir(parents=True, exist_ok=True)
                Path(name).write_bytes(content)
            for command in trial.commands:
                sys.argv = ["headcount", *command]
                with suppress(SystemExit), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                    headcount()
            os.chdir(before)
    sys.argv = argv


def main() -> None:
    """Run the trials that are asked for; exit with 1 if one went wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("kinds", nargs="*", help=f"{', '.join(COUNTS)}; by default all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--share", type=float, default=1.0, help="share of the trials to run")
    parser.add_argument("--models", type=int, default=99, help="kinds of models to forge")
    parser.add_argument("--jobs", type=int, default=2, help="trials at a time")
    parser.add_argument("--trial", type=int, help="run one trial alone")
    parser.add_argument("--keep", type=Path, help="write the files of the trial to this folder, and its commands")
    parser.add_argument("--verbose", action="store_true")
    asked = parser.parse_args()
    n_models = len(plain_models(asked.models))
    failures = 0
    for kind in asked.kinds or COUNTS:
        make = makers(asked.seed, n_models)[kind]
        if asked.keep is not None:
            _keep(make(asked.trial), asked.keep)
            continue
        numbers = range(max(1, round(asked.share * COUNTS[kind]))) if asked.trial is None else [asked.trial]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warm_up(make, range(WARM_UP.get(kind, n_models)))
        failures += _run(kind, make, numbers, asked)
    sys.exit(failures > 0)


def _run(kind: str, make: Callable[[int], Trial], numbers: object, asked: argparse.Namespace) -> int:
    began, answers, wrong = time.monotonic(), Counter[str](), Counter[str]()
    n = failed = 0
    longest = peak = 0.0
    for number, trial, result in run_trials(numbers, make, asked.jobs):  # type: ignore[arg-type]
        n += 1
        answers.update(result.answers)
        longest, peak = max(longest, result.seconds), max(peak, result.peak_bytes)
        wrong.update({what.partition(":")[0].partition(" ")[0] for what in result.wrong})
        failed += bool(result.wrong)
        for what in result.wrong:
            print(f"--- {kind} {number} ({trial.what}): {shortened(what)}", flush=True)
        if asked.verbose:
            print(f"{kind} {number} ({trial.what}): {result.answers} {result.said} {result.seconds:.2f} s", flush=True)
    seconds = time.monotonic() - began
    print(
        f"{kind}: {n:,} trials, seed {asked.seed}: {answers['answered']:,} commands answered, {answers['refused']:,} refused; "
        f"{failed} trials went wrong{f' ({dict(wrong)})' if wrong else ''}; at most {longest:.1f} s of CPU and "
        f"{peak / 2**20:,.0f} MiB a trial; {seconds:.0f} s",
        flush=True,
    )
    return failed


def shortened(what: str) -> str:
    """Return what went wrong with the end of a traceback only."""
    head, line, trace = what.partition("\nTraceback (most recent call last):\n")
    return "\n".join([head, *trace.splitlines()[-_MOST_LINES:]]) if line else what[:1000]


def _keep(trial: Trial, folder: Path) -> None:
    for name, content in trial.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    print(trial.what)
    for command in trial.commands:
        print("headcount", *command)


if __name__ == "__main__":
    main()
