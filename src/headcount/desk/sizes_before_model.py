"""Sample sizes before there are a model and new items, from a guess of the AUC or from a pilot table."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from headcount._labels import label_text
from headcount._validation import quoted
from headcount.desk.black_box import scored_model
from headcount.desk.estimate import check_level
from headcount.exceptions import DataError
from headcount.planning import SampleSizes, binormal_scores, pilot_scores, sample_sizes
from headcount.planning.plan import check_half_width

__all__ = ["early_plan"]


def early_plan(
    half_width: float,
    *,
    auc: float | None = None,
    pilot: Any = None,
    columns: Mapping[str, str | None] | None = None,
    guesses: Sequence[float] = (),
    n_items: int | None = None,
    level: float = 0.95,
    estimand: str = "population",
) -> tuple[list[str], list[SampleSizes]]:
    """Return the names of the classes, and sample sizes for each guess of the shares.

    Parameters
    ----------
    half_width : float
        To reach.
    auc : float, optional
        A guess of a classifier's AUC, for two classes; or else
    pilot : path or table, optional
        a table of labelled items with the classifier's scores.
    columns : mapping, optional
        Of the pilot: its columns ``label``, ``scores`` and ``decisions``, as in `scored_model`.
    guesses : sequence of float
        Shares of the second class; by default those in the pilot.
    n_items : int, optional
        Number of new items; by default so many that they do not matter.
    level : float, default=0.95
    estimand : {"population", "sample"}, default="population"
        Whether the shares of the source of the new items are meant, or those of exactly these.

    Examples
    --------
    >>> names, sizes = early_plan(0.03, auc=0.85, guesses=[0.2])
    >>> names, sizes[0].labels_alone
    (['others', 'class'], 684)
    """
    check_level(level)
    check_half_width(half_width)
    wrong = [guess for guess in guesses if not 0.0 < guess < 1.0]
    if wrong:
        more = f" For {wrong[0]:g} % write {wrong[0] / 100:g}." if 1.0 < wrong[0] < 100.0 else ""
        raise DataError(f"A share must be above 0 and below 1, as in 0.2; got {wrong[0]:g}.{more}")
    if pilot is None:
        if auc is None:
            raise DataError("Name a guess of the AUC or a pilot.")
        if not guesses:
            raise DataError("Name a guess of the share of the class.")
        names, model = ["others", "class"], binormal_scores(auc)
        shares = [np.array([1.0 - guess, guess]) for guess in guesses]
    else:
        given = dict(columns or {})
        if given.get("label") is None:
            raise DataError("A pilot needs the column of its labels: --label NAME.")
        fitted = scored_model(
            pilot, label=str(given["label"]), scores=given.get("scores"), decisions=given.get("decisions")
        )
        held_out = fitted.held_out()
        if held_out is None:
            raise DataError("The pilot has no scores to plan by.")
        names, model = [label_text(name) for name in fitted.classes], pilot_scores(*held_out)
        if guesses and len(names) != 2:
            raise DataError(
                f"--share is the share of the second of two classes; the pilot has the classes {quoted(names, 10)}."
            )
        shares = [np.array([1.0 - guess, guess]) for guess in guesses] or [model.prior]
    finite = estimand == "sample" and n_items is not None
    sizes = [sample_sizes(model, p, half_width, n_items=n_items, finite_population=finite, level=level) for p in shares]
    return names, sizes
