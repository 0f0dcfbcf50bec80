"""How much a plan has to compute: cells, and fits, as they are shared here and as one fit for each use would be."""

from collections import Counter
from dataclasses import dataclass

from headcount.learners.forests import size_of_forest
from headcount.learners.paths import on_path
from headcount.study.choice import grid_size
from headcount.study.plan import DEFAULT, OWN, Plan
from headcount.study.tasks import Task, select_tasks

__all__ = ["LearnerCount", "count"]


@dataclass(frozen=True)
class LearnerCount:
    """What a plan asks of one learner, over all data sets.

    Attributes
    ----------
    learner : str
    cells : int
        Method, target, run and data set: a figure each.
    fits : int
        Fits for choosing settings, each made once.
    refits : int
        At most so many more: each distinct chosen setting is fitted once on all labelled items.
    each_use : int
        What one fit for each use would be: for every cell its whole grid, and the refit. A learner that is calibrated for its
        posteriors counts as one fit, here and above.
    """

    learner: str
    cells: int
    fits: int
    refits: int
    each_use: int


def count(plan: Plan) -> list[LearnerCount]:
    """Count cells and fits of each learner of a plan."""
    cells: Counter[str] = Counter()
    each_use: Counter[str] = Counter()
    refits: Counter[str] = Counter()
    for method, learner in plan.rows():
        name = learner.name if learner else OWN
        times = method.runs if "classifier" in method.make().get_params(deep=False) else 0
        for target in method.targets:
            cells[name] += method.runs
            each_use[name] += times * (1 if target == DEFAULT else grid_size(method, learner) + 1)
            refits[name] += times
    fits: Counter[str] = Counter()
    for task in select_tasks(plan, plan.data_sets[0]):
        fits[task.learner or OWN] += _fits_of(task)
    n = len(plan.data_sets)
    return [LearnerCount(name, n * cells[name], n * fits[name], n * refits[name], n * each_use[name]) for name in cells]


def _fits_of(task: Task) -> int:
    """Return the number of fits of a task: forests of one family and values of one path are one."""
    distinct = set()
    for member in task.members:
        classifier = getattr(member.quantifier, "classifier", None)
        if classifier is not None:
            calibrated = "posteriors" in member.quantifier.needs and not hasattr(classifier, "predict_proba")
            together = bool(size_of_forest(classifier)) or on_path(classifier)
            distinct.add((calibrated, "" if together else repr(sorted(member.params.items(), key=str))))
    return len(distinct)
