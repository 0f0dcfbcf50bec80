"""`LabelledCells`: labelled items in cells of scores, and the tests of other items in the same cells."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from headcount._distributions import hypergeometric_tail
from headcount._typing import AnyArray, FloatArray, IntArray
from headcount.checks.distance import distance_from_mixtures, hotelling_p_value
from headcount.checks.low_confidence import low_confidence_test, mixture_inverse
from headcount.checks.score_cells import ScoreCells
from headcount.designs import SurveyDesign, mean_design_effect
from headcount.learners import Outputs
from headcount.protocols import Samples
from headcount.quantifiers import Quantifier
from headcount.quantifiers.statistics import require_items
from headcount.simplex import mixture_least_squares

__all__ = ["LabelledCells", "ShiftTest"]

_MIN_EXPECTED, _MIN_EXPECTED_LABELLED = 10.0, 8.0
"""Expected items of the target, and effective labelled items of the same mixture, below which a cell is merged."""
_PARTS_OF_A_BLOCK = 5
"""Cells of one decided class are merged into about this many at most: more degrees of freedom would cost power."""
_LOW_SHARES = (0.1, 0.3)
"""Of the labelled items, the parts that are called the least sure."""
_MIN_ITEMS_EXACT = 30
"""Smallest target that the exact test is made for."""
_PARTS_OF_LEVEL = {"distance": 0.45, "low": 0.45, "exact": 0.1}
"""How the level is divided among the tests; the part of one that can't be made goes to the others."""
_PSEUDO_ITEMS = 1.0
"""Items of the mixture that are added to each class when variances are computed, so that no variance is 0."""


@dataclass(frozen=True, eq=False, repr=False)
class ShiftTest:
    """The outcome of the test for each sample.

    Attributes
    ----------
    statistic, p_value : arrays of shape (n_samples,)
        A sample of too few items to tell anything has the p-value 1, and no degrees of freedom.
    dof : array of int, shape (n_samples,)
        Degrees of freedom.
    shares, errors : arrays of shape (n_samples, n_classes)
        The shares of the nearest mixture, and their standard errors; NaN if these are not known.
    tested : array of bool, shape (n_samples,)
    """

    statistic: FloatArray
    p_value: FloatArray
    dof: IntArray
    shares: FloatArray
    errors: FloatArray
    tested: AnyArray

    def __repr__(self) -> str:
        low = int((self.p_value < 0.05).sum())
        return f"ShiftTest({len(self.p_value):,} samples, {low:,} with p < 0.05)"


class LabelledCells:
    """Labelled items in cells of scores, and the test of other items' counts in the same cells.

    Parameters
    ----------
    P : array of shape (n_items, n_classes)
        Posteriors of labelled items that the classifier was not trained on.
    codes : array of int, shape (n_items,)
        Their classes, as positions.
    decided : bool, default=False
        Whether the posteriors are decisions only, 0 or 1. There are as many cells then as there are shares to be found, so that
        most counts are those of some mixture. The test is whether they are: that they are says little.
    folds : array of int, shape (n_items,), optional
        The fold of each item: a class is then the mean over folds of their means, as with cross-fitting.
    design : SurveyDesign, optional
        How the items were drawn: their weights are counted, and clusters make the sizes of classes effective ones.

    Attributes
    ----------
    sizes : array of shape (n_classes,)
        Effective numbers of labelled items; without a design the numbers of items.
    counts : array of shape (n_classes,)
        Numbers of labelled items.
    """

    def __init__(
        self,
        P: FloatArray,
        codes: IntArray,
        decided: bool = False,
        folds: IntArray | None = None,
        design: SurveyDesign | None = None,
    ) -> None:
        self.k, self.decided = P.shape[1], decided
        self.codes, self.P = codes, P
        self.counts = np.bincount(codes, minlength=self.k).astype(float)
        self.sizes = self.counts
        self.representation = ScoreCells.for_classes(self.k, decided)
        self.n_cells = self.representation.width(self.k)
        self.item_cells = self.representation.codes(Outputs(np.arange(self.k), len(P), P.argmax(axis=1), P))
        self.weights = _item_weights(codes, self.k, folds, None if design is None else design.weights)
        self.means = self.class_means(P)
        columns = [
            np.bincount(self.item_cells[codes == j], self.weights[codes == j], minlength=self.n_cells)
            for j in range(self.k)
        ]
        self.H = np.column_stack(columns).astype(np.float64)
        self.low = np.stack([self._least_sure(share) for share in _LOW_SHARES])
        if design is not None:
            self.sizes = np.maximum(self.counts / self.design_effect(self.item_cells, P, design, codes), 1.0)

    def design_effect(
        self, cells: IntArray, P: FloatArray, design: SurveyDesign, classes: IntArray | None = None
    ) -> float:
        """Return the largest design effect of what is tested: frequencies of cells, mean posteriors, low-confidence items."""
        low = self.low[:, cells].T.astype(np.float64)
        tested = np.eye(self.n_cells)[cells], P, low[:, :1], low[:, 1:]
        return max(mean_design_effect(values, design, classes) for values in tested)

    @property
    def low_cuts(self) -> FloatArray:
        """The largest posteriors below which items are the least sure, one for each share of them that is tested."""
        cuts = np.append(self.representation.cuts, np.inf)
        last: FloatArray = cuts[self.low.reshape(len(self.low), self.k, -1)[:, 0].sum(axis=1) - 1]
        return last

    def class_means(self, vectors: FloatArray) -> FloatArray:
        """Return the mean vector of each class, in columns."""
        return np.column_stack(
            [self.weights[self.codes == j] @ vectors[self.codes == j] for j in range(self.k)],
        )

    def _least_sure(self, share: float) -> AnyArray:
        """Return which cells hold the least sure items: about this share of the labelled ones, by one cut for all classes.

        A cut for each class would be fitted to its few items, and fewer of them than of new ones would lie below it.
        """
        counts = np.bincount(self.item_cells, minlength=self.n_cells).reshape(self.k, -1)
        below = np.cumsum(counts.sum(axis=0))[:-1] / len(self.codes)
        last = int(np.abs(below - share).argmin())
        return np.tile(np.arange(counts.shape[1]) <= last, self.k)

    def test(self, counts: FloatArray, n: FloatArray, sums: FloatArray | None = None) -> ShiftTest:
        """Test whether samples are mixtures of the classes.

        Parameters
        ----------
        counts : array of shape (n_samples, n_cells)
        n : array of shape (n_samples,)
            Effective numbers of items.
        sums : array of shape (n_samples, n_classes), optional
            Of the posteriors; without them the test of low-confidence items is not made.
        """
        k, H = self.k, self.H
        total = counts.sum(axis=1)
        require_items(total)
        q = counts / total[:, None]
        shares = mixture_least_squares(H, q)
        statistic, dof = np.zeros(len(q)), np.zeros(len(q), dtype=np.int64)
        distance, errors = np.full(len(q), np.nan), np.full(shares.shape, np.nan)
        for s in range(len(q)):
            merge = self._merging_matrix(n[s] * (H @ shares[s]), shares[s])
            dof[s] = max(len(merge) - k, 0)
            if dof[s] or self.decided:
                mixture = self._without_zeros(merge @ (H @ shares[s]))
                smooth = [
                    (merge @ H[:, j] * size + _PSEUDO_ITEMS * mixture) / (size + _PSEUDO_ITEMS)
                    for j, size in enumerate(self.sizes)
                ]
                statistic[s], shares[s], errors[s] = distance_from_mixtures(
                    merge @ H, smooth, self.sizes, merge @ q[s], n[s], shares[s], self.decided
                )
                degrees = k - 1 if self.decided else int(dof[s])
                distance[s] = hotelling_p_value(statistic[s], degrees, shares[s], self.sizes, n[s])
        if self.decided:
            return ShiftTest(statistic, distance, dof, shares, errors, np.ones(len(q), dtype=bool))
        p_values = {"distance": distance, "exact": self._exact_p_value(q, n)}
        if sums is not None:
            p_values["low"] = self._low_p_value(q, sums / total[:, None], n)
            self._matched_where_unknown(shares, errors, sums / total[:, None], n)
        combined = _combined(p_values)
        return ShiftTest(
            statistic, np.where(np.isnan(combined), 1.0, combined), dof, shares, errors, ~np.isnan(combined)
        )

    def _without_zeros(self, mixture: FloatArray) -> FloatArray:
        """Return frequencies in which a class that is never decided has that of half a labelled item: zeros have no inverse."""
        if mixture.min() > 0:
            return mixture
        items = self.sizes.sum()
        smoothed: FloatArray = (items * mixture + 0.5) / (items + 0.5 * len(mixture))
        return smoothed

    def _low_p_value(self, q: FloatArray, means: FloatArray, n: FloatArray) -> FloatArray:
        """P-value for more low-confidence items than the mixture gives, the best of the shares tried; NaN for too few items."""
        p_values = []
        for low in self.low:
            vectors = np.column_stack([self.P, low[self.item_cells]])
            p_values.append(
                low_confidence_test(
                    self.class_means(vectors),
                    np.stack([_spread(vectors[self.codes == j]) for j in range(self.k)]),
                    self.sizes,
                    np.column_stack([means, q @ low]),
                    n,
                )
            )
        both = np.stack(p_values)
        made = (~np.isnan(both)).sum(axis=0)
        return np.where(
            made > 0, np.minimum(np.nanmin(np.where(np.isnan(both), 2.0, both), axis=0) * made, 1.0), np.nan
        )

    def matched_errors(self, shares: FloatArray, n: FloatArray, decisions: bool = False) -> FloatArray:
        """Return standard errors of shares that match mean posteriors (PACC) or decisions (ACC), both sides' noise counted."""
        vectors = np.eye(self.k)[self.P.argmax(axis=1)] if decisions else self.P
        M = self.class_means(vectors)
        S = np.stack([_spread(vectors[self.codes == j]) for j in range(self.k)])
        B = mixture_inverse(M)
        inside = np.einsum("sj,jab->sab", shares, S + np.einsum("aj,bj->jab", M, M))
        mean = shares @ M.T
        C = inside - mean[:, :, None] * mean[:, None, :]
        V = C / n[:, None, None] + np.einsum("sj,jab->sab", shares**2, S / self.sizes[:, None, None])
        errors: FloatArray = np.sqrt(np.maximum(np.einsum("ia,sab,ib->si", B, V, B), 0.0))
        return errors

    def calibration_errors(self) -> float:
        """Return by how many standard errors the posteriors are too sure (below 0) or not sure enough.

        If posteriors are right, the log posterior of an item's class has the mean sum_c P_c log P_c, over the classes that it may
        have. This is the score test of a temperature of 1.
        """
        logs = np.log(np.maximum(self.P, 1e-12))
        mean = (self.P * logs).sum(axis=1)
        variance = (self.P * logs**2).sum(axis=1) - mean**2
        difference = logs[np.arange(len(self.codes)), self.codes] - mean
        return float(difference.sum() / np.sqrt(max(variance.sum(), 1e-12)))

    def answers(self, quantifier: Quantifier, shares: FloatArray) -> FloatArray:
        """Return a method's estimates for the labelled items themselves, weighted to these shares, one row for each."""
        outputs = Outputs(quantifier.classes_, len(self.codes), self.P.argmax(axis=1), self.P)
        everything = np.tile(np.arange(len(self.codes)), len(shares))
        starts = np.arange(len(shares) + 1) * len(self.codes)
        weights = np.maximum(shares, 1e-6)[:, self.codes] * self.weights * len(self.codes)
        return quantifier.aggregate(outputs, Samples(everything, starts, weights=weights.ravel()))

    def _matched_where_unknown(self, shares: FloatArray, errors: FloatArray, means: FloatArray, n: FloatArray) -> None:
        """Where there are too few cells for a distance, the shares are those that match mean posteriors."""
        rows = np.flatnonzero(np.isnan(errors).any(axis=1))
        if rows.size:
            shares[rows] = mixture_least_squares(self.means, means[rows])
            errors[rows] = self.matched_errors(shares[rows], n[rows])

    def _exact_p_value(self, q: FloatArray, n: FloatArray) -> FloatArray:
        """P-value for at least this many low-confidence items; NaN for too few items."""
        cells = self.low[0]
        labelled, items = np.rint(self.H[cells].sum(axis=0) * self.sizes), np.rint(n)
        count = np.rint(q[:, cells].sum(axis=1) * n)
        p = np.stack(
            [
                hypergeometric_tail(count - 1, items + size, count + low, items)
                for low, size in zip(labelled, self.sizes, strict=True)
            ]
        )
        return np.where(items >= _MIN_ITEMS_EXACT, p.max(axis=0), np.nan)

    def _merging_matrix(self, expected: FloatArray, shares: FloatArray) -> FloatArray:
        """Return a matrix that merges cells until each is expected to hold enough items on both sides: neighbours of a block first.

        Of labelled items the effective number is counted: that of a sample of the same mixture whose frequency in the cell is as
        noisy. Blocks that are too small are merged with each other, except those of decisions.
        """
        noise = self.H * (shares**2 / self.sizes)
        mixture = self.H @ shares
        blocks = np.arange(self.n_cells).reshape(self.k, -1)

        def enough(cells: Any, least: float = 0.0) -> bool:
            labelled = mixture[cells].sum() ** 2 / max(noise[cells].sum(), 1e-300)
            return bool(expected[cells].sum() >= max(_MIN_EXPECTED, least) and labelled >= _MIN_EXPECTED_LABELLED)

        groups: list[list[int]] = []
        few: list[int] = []
        for block in blocks.tolist():
            least = float(expected[block].sum()) / _PARTS_OF_A_BLOCK
            merged: list[list[int]] = [[]]
            for cell in block:
                merged[-1].append(cell)
                if enough(merged[-1], least):
                    merged.append([])
            last = merged.pop()
            if merged:
                merged[-1] += last
                groups += merged
            elif self.decided:
                groups.append(last)
            else:
                few += last
        if few and (enough(few) or not groups):
            groups.append(few)
        elif few:
            groups[-1] += few
        merge = np.zeros((len(groups), self.n_cells))
        for row, cells in enumerate(groups):
            merge[row, cells] = 1.0
        return merge


def _item_weights(codes: IntArray, k: int, folds: IntArray | None, weights: FloatArray | None = None) -> FloatArray:
    """Return the weight of each labelled item in the mean of its class: 1 / n_j, or of a mean over folds of fold means."""
    fold = np.zeros_like(codes) if folds is None else folds
    each = np.ones(len(codes)) if weights is None else weights
    sizes = np.zeros((k, int(fold.max(initial=0)) + 1))
    np.add.at(sizes, (codes, fold), each)
    n_folds = (sizes > 0).sum(axis=1)
    return np.asarray(each / (sizes[codes, fold] * n_folds[codes]), dtype=np.float64)


def _spread(vectors: FloatArray) -> FloatArray:
    return np.atleast_2d(np.cov(vectors, rowvar=False, ddof=min(1, len(vectors) - 1)))


def _combined(p_values: dict[str, FloatArray]) -> FloatArray:
    """Return the p-value of several tests by Bonferroni's inequality, weighted; NaN where none could be made."""
    names = list(p_values)
    p = np.stack([p_values[name] for name in names])
    parts = np.array([_PARTS_OF_LEVEL[name] for name in names])[:, None] * ~np.isnan(p)
    with np.errstate(divide="ignore", invalid="ignore"):
        spent = p * parts.sum(axis=0) / parts
    made = parts.sum(axis=0) > 0
    return np.where(made, np.minimum(np.nanmin(np.where(np.isnan(spent), 2.0, spent), axis=0), 1.0), np.nan)
