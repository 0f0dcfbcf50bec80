"""What figures were computed from, and with, in words: parameters, runs, versions."""

from collections import Counter
from pathlib import Path

from headcount._version import __version__
from headcount.study import Results
from headcount.study.plan import LearnerPlan, MethodPlan

__all__ = ["describe_parameters", "describe_runs", "describe_software"]


def describe_parameters(part: LearnerPlan | MethodPlan) -> str:
    """Describe the fixed parameters of a learner or method, and the values to choose from."""
    fixed = "; ".join(f"{name} = {value}" for name, value in part.parameters.items())
    grid = "; ".join(f"{name} in {', '.join(map(str, values))}" for name, values in part.grid.items())
    once = isinstance(part, LearnerPlan) and part.choose_once
    chosen = "chosen in the first run, for all runs," if once else "chosen"
    return (f"; with {fixed}" if fixed else "") + (f"; {chosen} from {grid}" if grid else "")


def describe_runs(results: Results) -> str:
    """Say how many runs of each method the plan has, and how many of them the store has on each data set."""
    done: dict[str, Counter[tuple[str, str, str]]] = {method.name: Counter() for method in results.plan.methods}
    for cell in results.cells:
        done[cell.method][cell.data_set, cell.learner, cell.target] += cell.estimated is not None
    texts = []
    for method in results.plan.methods:
        counts = sorted({n for n in done[method.name].values() if n})
        in_store = "none" if not counts else f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        texts.append(f"{method.name} {in_store} of {method.runs}")
    return ", ".join(texts)


def describe_software(results: Results) -> list[tuple[str, str]]:
    """Say which versions of libraries the results were computed with, and what the page was made by."""
    entries = [
        (f"computed with, {n:,} results", ", ".join(f"{name} {number}" for name, number in versions.items()))
        for versions, n in results.versions
    ]
    page = f"headcount {__version__}, from the store {Path(results.store.folder).name}"
    return [*entries, ("page made by", page)]
