"""How much a plan has to compute: its cells, its fits as they are shared, and its fits if each use had its own."""

from collections import Counter, defaultdict
from dataclasses import dataclass

from headcount.learners.forests import size_of_forest
from headcount.learners.paths import on_path
from headcount.study.plan import DEFAULT, OWN, Plan
from headcount.study.tasks import Task, select_tasks

__all__ = ["LearnerCount", "count"]


@dataclass(frozen=True)
class LearnerCount:
    """What a plan computes with one learner, over all data sets.

    Attributes
    ----------
    learner : str
    cells : int
        Combinations of method, target, run and data set: one figure each.
    fits : int
        Fits for choosing settings, each made once.
    refits : int
        Upper bound of the further fits: each distinct chosen setting is fitted once on all labelled items.
    each_use : int
        Fits if nothing was shared: for every cell its whole grid, and the refit. A learner that is calibrated for its posteriors
        counts as one fit, here and above.
    """

    learner: str
    cells: int
    fits: int
    refits: int
    each_use: int


def count(plan: Plan) -> list[LearnerCount]:
    """Count cells and fits of each learner of a plan."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in plan.rows():
        runs = row.method.runs if "classifier" in row.method.make().get_params(deep=False) else 0
        choosing = min(runs, row.runs_that_choose)
        for target in row.method.targets:
            each_use = runs + (0 if target == DEFAULT else choosing * len(row.settings()))
            counts[row.learner_name or OWN].update(cells=row.method.runs, refits=runs, each_use=each_use)
    for task in select_tasks(plan, plan.data_sets[0]):
        counts[task.learner or OWN]["fits"] += _n_fits(task)
    n, names = len(plan.data_sets), ("cells", "fits", "refits", "each_use")
    return [LearnerCount(learner, *(n * counter[name] for name in names)) for learner, counter in counts.items()]


def _n_fits(task: Task) -> int:
    """Return the number of fits of a task: forests that differ only in size are one fit, and so is a path."""
    distinct = set()
    for member in task.members:
        classifier = getattr(member.quantifier, "classifier", None)
        if classifier is not None:
            calibrated = "posteriors" in member.quantifier.needs and not hasattr(classifier, "predict_proba")
            one_fit = bool(size_of_forest(classifier)) or on_path(classifier)
            distinct.add((calibrated, "" if one_fit else member.setting))
    return len(distinct)
