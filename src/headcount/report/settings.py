"""The table of the settings that model selection chose."""

from headcount.report.scores import Errors, Key, settings_text
from headcount.report.table import Cell, Column, Table

__all__ = ["settings_table"]


def settings_table(errors: Errors) -> Table:
    """Return the settings that each method, learner and target chose on each data set, with the number of runs that chose each."""
    table = Table(
        "Chosen settings",
        "A cell has the setting with which the method was tested, chosen on the held-out labelled documents. Where runs chose "
        "different settings, the most frequent comes first, each with its number of runs. Methods at their defaults are left out.",
        ["method", "learner", "optimised for"],
        [Column(name) for name in errors.data_sets],
    )
    for row in errors.plan.rows():
        for target in row.method.targets:
            keys = [Key(name, row.method.name, row.learner_name, target) for name in errors.data_sets]
            chosen = [errors.settings(key) for key in keys]
            if any(chosen):
                cells = [Cell(settings_text(s) if s else None, details={"settings": s}) for s in chosen]
                table.rows.append((list(keys[0][1:]), cells))
    return table
