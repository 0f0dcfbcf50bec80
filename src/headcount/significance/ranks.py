"""Compare methods over data sets by their ranks: Friedman's test, then Nemenyi's, or Wilcoxon's with Holm's correction."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np

from headcount._typing import FloatArray
from headcount.exceptions import DataError
from headcount.significance.paired import holm

__all__ = ["RankComparison", "compare_ranks"]

_MOST_EXACT = 50
"""Data sets up to which the distribution of the sum of ranks is computed exactly."""


@dataclass(frozen=True, eq=False)
class RankComparison:
    """Mean ranks of methods over data sets, and which of them differ.

    Attributes
    ----------
    names : list of str
        Of the methods.
    mean_ranks : array of shape (n_methods,)
        1 is the best; ties share their ranks.
    n_sets : int
    statistic, p_value : float
        Of Friedman's test by the F distribution (Iman and Davenport 1980): that all methods are alike.
    critical_difference : float
        Of mean ranks, by Nemenyi's test.
    p_pairs : array of shape (n_methods, n_methods)
        P-values of each pair: Wilcoxon's signed rank test corrected by Holm's method, or Nemenyi's test.
    test : {"wilcoxon", "nemenyi"}
    alpha : float
    """

    names: list[str]
    mean_ranks: FloatArray
    n_sets: int
    statistic: float
    p_value: float
    critical_difference: float
    p_pairs: FloatArray
    test: str
    alpha: float

    def groups(self) -> list[list[str]]:
        """Return the largest sets of methods, neighbours by rank, in which no pair differs significantly; the best first."""
        order = np.argsort(self.mean_ranks, kind="stable")
        alike = self.p_pairs[np.ix_(order, order)] >= self.alpha
        found: list[list[str]] = []
        reached = 0
        for start in range(len(order)):
            stop = start + 1
            while stop < len(order) and alike[start : stop + 1, start : stop + 1].all():
                stop += 1
            if stop - start > 1 and stop > reached:
                found.append([self.names[i] for i in order[start:stop]])
                reached = stop
        return found

    def summary(self) -> str:
        """Return the result in words."""
        order = np.argsort(self.mean_ranks, kind="stable")
        best = self.names[order[0]]
        ranked = ", ".join(f"{self.names[i]} {self.mean_ranks[i]:.2f}" for i in order)
        p = "p < 0.001" if self.p_value < 0.001 else f"p = {self.p_value:.3f}"
        if self.p_value >= self.alpha:
            return (
                f"Over {self.n_sets} data sets Friedman's test does not tell the {len(order)} methods apart ({p}). "
                f"Mean ranks: {ranked}."
            )
        equals = [self.names[i] for i in order[1:] if self.p_pairs[order[0], i] >= self.alpha]
        test = "Wilcoxon's test with Holm's correction" if self.test == "wilcoxon" else "Nemenyi's test"
        rest = (
            f"The best by mean rank is {best}; {test} does not tell it from {_listed(equals)}"
            if equals
            else f"{best} is better than every other method by {test}"
        )
        return (
            f"Over {self.n_sets} data sets the {len(order)} methods differ (Friedman's test, {p}). {rest} (alpha {self.alpha:g}). "
            f"Mean ranks: {ranked}."
        )

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the critical difference diagram (`headcount.plots.critical_difference`)."""
        from headcount.plots import critical_difference

        return critical_difference(self, ax=ax)


def compare_ranks(
    errors: Any,
    names: Sequence[str] | None = None,
    *,
    test: Literal["wilcoxon", "nemenyi"] = "wilcoxon",
    alpha: float = 0.05,
) -> RankComparison:
    r"""Compare methods by their ranks over data sets; a data set counts once, whatever number of samples it has.

    .. math:: F = \frac{(N - 1) \chi^2}{N (k - 1) - \chi^2}, \qquad \chi^2 = \frac{12 N}{k (k + 1)} \sum_j (R_j - (k + 1) / 2)^2

    with the mean ranks R of k methods over N data sets; ties correct the statistic. Nemenyi's critical difference is
    :math:`q_\alpha \sqrt{k (k + 1) / 6 N}`. Wilcoxon's test compares the errors of two methods alone, so that its answer does
    not depend on which other methods are in the comparison (Benavoli, Corani and Mangili 2016), and is the default.

    Parameters
    ----------
    errors : array of shape (n_sets, n_methods), or data frame with a column each method
        Mean errors: lower is better. Sets made of the same items should stand for one row.
    names : sequence of str, optional
        Of the methods; by default the columns of the data frame.
    test : {"wilcoxon", "nemenyi"}, default="wilcoxon"
        Of pairs.
    alpha : float, default=0.05

    References
    ----------
    Demšar (2006). Statistical comparisons of classifiers over multiple data sets. Journal of Machine Learning Research 7.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> errors = generator.random((30, 1)) + [0.0, 0.1, 0.12] + 0.05 * generator.random((30, 3))
    >>> result = compare_ranks(errors, ["A", "B", "C"])
    >>> result.mean_ranks.round(2).tolist(), round(result.critical_difference, 2)
    ([1.0, 2.23, 2.77], 0.61)
    >>> result.summary().partition(". ")[2]
    "A is better than every other method by Wilcoxon's test with Holm's correction (alpha 0.05).
     Mean ranks: A 1.00, B 2.23, C 2.77."
    """
    from scipy.stats import f, rankdata, studentized_range

    given = getattr(errors, "columns", None)
    names = [str(name) for name in (given if names is None and given is not None else names or ())]
    E = np.asarray(errors, dtype=np.float64)
    if E.ndim != 2 or E.shape[1] < 2 or E.shape[0] < 2:
        raise DataError(
            f"Expected errors of at least two methods on at least two data sets, a row each set; got shape {E.shape}."
        )
    if not np.isfinite(E).all():
        raise DataError("The errors must be finite numbers: leave out data sets on which a method has none.")
    names = names or [f"method {j + 1}" for j in range(E.shape[1])]
    if len(names) != E.shape[1] or len({*names}) != len(names):
        raise DataError(
            f"There are {E.shape[1]} methods and {len({*names})} different names: each needs one of its own."
        )
    if test not in ("wilcoxon", "nemenyi"):
        raise DataError(f"test must be 'wilcoxon' or 'nemenyi'; got {test!r}.")
    n, k = E.shape
    ranks = rankdata(E, axis=1)
    means = ranks.mean(axis=0)
    spread = ((ranks - (k + 1) / 2.0) ** 2).sum() / (n * (k - 1))  # k (k + 1) / 12 without ties
    chi2 = 0.0 if spread == 0.0 else float(n * ((means - (k + 1) / 2.0) ** 2).sum() / spread)
    left = n * (k - 1) - chi2
    statistic = np.inf if left <= 0.0 else (n - 1) * chi2 / left
    p_value = 0.0 if left <= 0.0 else float(f.sf(statistic, k - 1, (k - 1) * (n - 1)))
    unit = np.sqrt(k * (k + 1) / (6.0 * n))
    difference = float(studentized_range.ppf(1.0 - alpha, k, np.inf) / np.sqrt(2.0) * unit)
    pairs = list(combinations(range(k), 2))
    if test == "wilcoxon":
        p_values = holm([_signed_rank(E[:, a] - E[:, b]) for a, b in pairs])
    else:
        p_values = np.array(
            [float(studentized_range.sf(abs(means[a] - means[b]) / unit * np.sqrt(2.0), k, np.inf)) for a, b in pairs]
        )
    p_pairs = np.ones((k, k))
    for (a, b), value in zip(pairs, p_values, strict=True):
        p_pairs[a, b] = p_pairs[b, a] = value
    return RankComparison(names, means, n, float(statistic), p_value, difference, p_pairs, test, alpha)


def _signed_rank(differences: FloatArray) -> float:
    """Return the p-value of Wilcoxon's signed rank test; differences of 0 share their ranks between the signs (Pratt 1959).

    It is exact for up to 50 sets, with ties and zeros too, for which scipy draws all signs of up to 13 sets, a second each, or
    takes the normal distribution.
    """
    from scipy.stats import rankdata, wilcoxon

    if not differences.any():
        return 1.0
    if len(differences) > _MOST_EXACT:
        return float(wilcoxon(differences, zero_method="zsplit").pvalue)
    doubled = (2.0 * rankdata(np.abs(differences))).astype(np.int64)  # ranks of ties may be halves
    chances = np.ones(1)
    for rank in doubled[differences != 0.0]:
        chances = 0.5 * (np.pad(chances, (0, rank)) + np.pad(chances, (rank, 0)))
    at = int(doubled[differences > 0.0].sum())
    return float(min(1.0, 2.0 * min(chances[: at + 1].sum(), chances[at:].sum())))


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
