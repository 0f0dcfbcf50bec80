"""`plan_labels`: how many items of a sample to label for a half-width, and which."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from headcount._typing import FloatArray, IntArray, RandomState
from headcount.exceptions import DataError
from headcount.model_assisted.assisted import FEWEST_LABELS
from headcount.planning.allocation import UNIFORM_PART, allocation_sizes, draw_items
from headcount.planning.half_width import expected_half_widths, fewest_labels
from headcount.planning.rounds import Design, FirstRound

__all__ = ["LabelPlan", "check_half_width", "plan_labels"]


@dataclass(frozen=True, eq=False)
class LabelPlan:
    """Items of one sample to label, and the half-widths to be expected.

    Attributes
    ----------
    n_items, n_labels : int
        Of the sample; to label now.
    n_labelled : int
        Items that are labelled already.
    rows : array of shape (n_labels,)
        Positions of the items to label, ascending.
    probabilities : array of shape (n_items,)
        Inclusion probabilities of all items; after a first round, one over the weight that an item gets, if it is labelled.
    half_widths : array of shape (K,)
        Expected for each class with the plan.
    half_widths_uniform, half_widths_alone : arrays of shape (K,)
        The same with as many labels of items drawn with equal probabilities; and of these labels without the predictions.
    labels_uniform, labels_alone : int or None
        Labels that reach the half-width asked for with equal probabilities; and without the predictions. Beside those there are.
    shares : array of shape (K,)
        Those the plan is made for.
    half_width : float or None
        Asked for.
    level : float
    target : int or None
        Position of the class that was asked for.
    """

    n_items: int
    n_labels: int
    n_labelled: int
    rows: IntArray
    probabilities: FloatArray
    half_widths: FloatArray
    half_widths_uniform: FloatArray
    half_widths_alone: FloatArray
    labels_uniform: int | None
    labels_alone: int | None
    shares: FloatArray
    half_width: float | None
    level: float
    target: int | None = None

    @property
    def widest(self) -> int:
        """Position of the class that the plan is made for: the one asked for, or that with the widest interval."""
        return int(self.half_widths.argmax()) if self.target is None else self.target

    @property
    def reached(self) -> bool:
        """Whether the half-width asked for is expected to be reached."""
        return self.half_width is None or float(self.half_widths[self.widest]) <= self.half_width


def plan_labels(
    variances: Any,
    shares: Any,
    *,
    half_width: float | None = None,
    labels: int | None = None,
    target: int | None = None,
    uniform: bool = False,
    uniform_part: float = UNIFORM_PART,
    first: FirstRound | None = None,
    finite_population: bool = True,
    level: float = 0.95,
    random_state: RandomState = None,
) -> LabelPlan:
    r"""Plan which of N items to label, so that shares from these labels and the predictions have a half-width.

    The half-width is that of the interval of `headcount.model_assisted.assisted_shares`, of the class with the widest one. The
    number of labels is found by bisection over Hajek's variance of the design,

    .. math:: V_k(n) = \frac{1}{N^2} \sum_i \frac{1 - \pi_i(n)}{\pi_i(n)} v_{ik}

    with inclusion probabilities :math:`\pi_i` proportional to :math:`\lambda + (1 - \lambda) \sqrt{v_i} / \overline{\sqrt{v}}`
    (Neyman 1934; `allocation_sizes`).

    Parameters
    ----------
    variances : array of shape (N, K)
        Expected squares of what the predictions leave of each class's indicator: `ResidualModel`.
    shares : array of shape (K,)
        Estimated or guessed.
    half_width : float, optional
        To reach, above 0 and below 0.5; or else
    labels : int, optional
        how many items to label.
    target : int, optional
        The class that matters; by default all, and the widest interval counts.
    uniform : bool, default=False
        Draw all items with the same probability.
    uniform_part : float, default=0.3
        :math:`\lambda`.
    first : FirstRound, optional
        Items that are labelled already: further ones are drawn out of the others. How both count is told in `Design`.
    finite_population : bool, default=True
        Whether the shares of these N items are meant, not those of what they were drawn from.
    level : float, default=0.95
    random_state : int or generator, optional

    Examples
    --------
    >>> m = np.linspace(0.01, 0.6, 2000)
    >>> variances = np.column_stack([m * (1 - m)] * 2)
    >>> plan = plan_labels(variances, [1 - m.mean(), m.mean()], half_width=0.05, random_state=0)
    >>> plan.n_labels < plan.labels_uniform < plan.labels_alone < 400, len(plan.rows) == plan.n_labels
    (True, True)
    """
    v, p = np.asarray(variances, dtype=np.float64), np.asarray(shares, dtype=np.float64)
    n_items = len(v)
    if (half_width is None) == (labels is None):
        raise DataError("Name either a half-width to reach or a number of labels.")
    chosen = slice(None) if target is None else slice(target, target + 1)
    sizes = allocation_sizes(v[:, chosen].sum(axis=1), 1.0 if uniform else uniform_part)
    even, spread = np.ones(n_items), np.broadcast_to(p * (1.0 - p), v.shape)
    design = Design(n_items, first)
    most = n_items - design.n_first
    least = max(FEWEST_LABELS - design.n_first, 0)

    def widths(n: int, sizes: FloatArray, v: FloatArray, predictors: float) -> FloatArray:
        V, effect = design.sampling_variances(v, design.chances(sizes, n), n)
        n_all = design.n_first + n
        if finite_population:
            return expected_half_widths(p, V, effect, n_all, n_items, predictors, level)
        V = V + p * (1.0 - p) / n_items
        return expected_half_widths(p, V, effect + n_all / n_items, n_all, np.inf, predictors, level)

    def needed(sizes: FloatArray, v: FloatArray, predictors: float) -> int | None:
        if half_width is None:
            return None
        asked = check_half_width(half_width)
        return fewest_labels(lambda n: float(widths(n, sizes, v, predictors)[chosen].max()), asked, least, most)

    n = check_labels(labels, least, most) if labels is not None else needed(sizes, v, 1.0) or 0
    chances = design.chances(sizes, n)
    return LabelPlan(
        n_items=n_items,
        n_labels=n,
        n_labelled=design.n_first,
        rows=design.rest[draw_items(chances, random_state)],
        probabilities=design.probabilities(chances, n),
        half_widths=widths(n, sizes, v, 1.0),
        half_widths_uniform=widths(n, even, v, 1.0),
        half_widths_alone=widths(n, even, spread, 0.0),
        labels_uniform=needed(even, v, 1.0),
        labels_alone=needed(even, spread, 0.0),
        shares=p,
        half_width=half_width,
        level=level,
        target=target,
    )


def check_half_width(half_width: float) -> float:
    """Return a half-width of a share, above 0 and below 0.5, or raise."""
    if 0.5 <= half_width < 50.0:
        raise DataError(
            f"A half-width of {half_width:g} is not below 0.5: for {half_width:g} % points write {half_width / 100:g}."
        )
    if not 0.0 < half_width < 0.5:
        raise DataError(f"The half-width must be above 0 and below 0.5, as in 0.03 for 3 % points; got {half_width:g}.")
    return half_width


def check_labels(n: int, least: int, most: int) -> int:
    """Return a number of labels, or raise if there are not so many items or they are too few."""
    if n > most:
        raise DataError(
            f"{n:,} labels are more than the {most:,} items to label: name at most as many, which labels all."
        )
    if n < min(least, most):
        raise DataError(f"{n:,} labels are too few: at least {min(least, most)} are needed.")
    return n
