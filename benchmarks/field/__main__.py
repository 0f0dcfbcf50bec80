"""Print the table of all cases; exit with 1 if a bound or a target is missed."""

import argparse
import importlib
import pkgutil
import sys
import warnings

import benchmarks.field
from benchmarks.field.case import FEW, MANY, Case, run
from benchmarks.setting import machine


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="names of methods, separated by commas")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    cases: list[Case] = []
    for module in pkgutil.iter_modules(benchmarks.field.__path__):
        if module.name not in ("__main__", "case"):
            cases += importlib.import_module(f"benchmarks.field.{module.name}").CASES
    names = {name for name in asked.only.split(",") if name}
    print(f"# Methods of the field against QuaPy: 2,100 samples of 500 items from 25,000\n\n{machine()}\n")
    print(
        "Milliseconds of processor time for all samples: drawn by each side's own protocol (whose ratio is judged), and given."
    )
    print(f"Theirs is measured on {MANY} of the samples, on {FEW} where it is slow.\n")
    print(
        "| method | classes | ours, drawn | theirs | ratio | target | ours, given | theirs | ratio | largest difference | bound "
        "| AE ours / theirs | |"
    )
    print("|" + "---|" * 13)
    missed = []
    for case in cases:
        if names and case.name not in names:
            continue
        row, met = run(case)
        missed += [] if met else [f"{case.name} ({case.n_classes} classes)"]
        print(row, flush=True)
    print(f"\nMissed: {', '.join(missed) or 'none'}.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
