"""Does the target look like a mixture of the training classes? A goodness-of-fit test on the classifier's scores.

If only the shares of the classes have changed, the distribution of scores in the target is a mixture of those of the classes.
Cut into cells, q - H p has mean 0 for some shares p, where q are the cells' frequencies in the target and column j of H those
among labelled items of class j. The least generalised distance of q from all mixtures is then distributed as chi-squared, with one
degree of freedom for each cell beyond the number of classes. A class never seen, or features that have drifted, make it larger.

Under a good classifier the low-confidence cells, where items of a class never seen tend to fall, are too empty for that. A mixture
puts no larger part of its items into them than the class that does so most; that is tested by Fisher's exact test.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import f, hypergeom
from sklearn.utils.validation import check_is_fitted

from headcount._typing import AnyArray, FloatArray, IntArray, Items
from headcount._validation import encode, labelled_items, quoted
from headcount.checks.score_cells import MIN_ITEMS_OF_A_CLASS, ScoreCells
from headcount.exceptions import DataError
from headcount.learners import Outputs
from headcount.protocols import Samples, as_samples
from headcount.quantifiers import Quantifier
from headcount.quantifiers.statistics import require_items
from headcount.simplex import mixture_least_squares

__all__ = ["LabelledCells", "ShiftTest", "label_shift_test"]

_MIN_EXPECTED, _MIN_EXPECTED_LABELLED = 10.0, 8.0
"""Expected items of the target, and labelled items of the same mixture, below which a cell is merged with its neighbour."""
_LOW_CONFIDENCE_CELLS = 4
"""Number of cells of each decided class, from the lowest confidence up, that the exact test counts."""
_MIN_ITEMS_EXACT = 30
"""Smallest target that the exact test is made for."""
_EXACT_SHARE_OF_LEVEL = 0.05
"""Share of alpha spent on the exact test where the chi-squared test can be made too."""
_PSEUDO_ITEMS = 0.5
"""Items added to each cell when its variance is computed, so that no variance is 0."""


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


def label_shift_test(quantifier: Quantifier, X: Items, samples: Any = None, labelled: Any = None) -> ShiftTest:
    """Test whether samples look like mixtures of the training classes, by the classifier's posteriors alone.

    Parameters
    ----------
    quantifier : fitted quantifier over a classifier with posteriors
    X : items, or their `Outputs`
    samples : Samples or matrix of row numbers, optional
        By default all items are one sample.
    labelled : pair (X, y), optional
        Labelled items that the classifier was not trained on. Not needed for PACC, HDy and calibrated SLD, which keep theirs.

    Returns
    -------
    ShiftTest

    Notes
    -----
    The labelled items must have been unknown to everything that was fitted, text features included: a vocabulary learnt from them
    too makes their scores differ from the target's, and the test raises false alarms. Put the features into a Pipeline with the
    classifier. A class never seen whose scores fall among those of the known classes can't be found.

    False alarms at the 5 % level, by simulation of Gaussian classes (1,500 simulations each): 2.6 to 5.8 % with 250 to 1,000
    labelled items in equal parts, two or three classes; up to 7.3 % where one of two has only 30 to 50 and the target is all of it,
    9.8 % for such a class of five; fewer than 0.5 % where the classifier hardly errs.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from headcount import PACC
    >>> X, y = make_classification(4000, flip_y=0.1, random_state=0)
    >>> q = PACC(random_state=0).fit(X[:2000], y[:2000])
    >>> sample = np.flatnonzero(y[2000:] == 1)[:700] + 2000           # other shares, but nothing new
    >>> bool(label_shift_test(q, X[sample]).p_value[0] > 0.05)
    True
    """
    validation, codes = labelled_outputs(quantifier, labelled)
    outputs = quantifier.chosen.outputs(X, {"posteriors"})
    return _test(validation.need("posteriors"), codes, outputs, as_samples(samples, outputs.n_items))


def labelled_outputs(quantifier: Quantifier, labelled: Any) -> tuple[Outputs, IntArray]:
    """Return posteriors and classes of labelled items that the classifier was not trained on."""
    check_is_fitted(quantifier)
    held_out: Any = getattr(quantifier, "held_out_", None)
    quantifier = quantifier.chosen
    if labelled is not None:
        X, y = labelled_items(*labelled)
        codes = encode(y, quantifier.classes_)
        absent = np.flatnonzero(np.bincount(codes, minlength=len(quantifier.classes_)) == 0)
        if absent.size:
            raise DataError(f"The labelled items hold none of class {quoted(quantifier.classes_[absent])}.")
        return quantifier.outputs(X, {"posteriors"}), codes
    kept = quantifier.validation_items() if held_out is None else held_out
    if kept is None or kept[0].posteriors is None:
        raise DataError(
            f"{type(quantifier).__name__} keeps no posteriors of labelled items to compare with: pass labelled=(X, y) with items "
            "that the classifier was not trained on, or use PACC."
        )
    outputs: tuple[Outputs, IntArray] = kept
    return outputs


def _test(P_labelled: FloatArray, codes: IntArray, outputs: Outputs, samples: Samples) -> ShiftTest:
    cells = LabelledCells(P_labelled, codes)
    counts = cells.representation.reduce(outputs, samples).sums
    return cells.test(counts, samples.effective_sizes())


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
    """

    def __init__(self, P: FloatArray, codes: IntArray, decided: bool = False) -> None:
        self.k, self.decided = P.shape[1], decided
        self.codes = codes
        self.sizes = np.bincount(codes, minlength=self.k).astype(float)
        self.representation = ScoreCells.for_items(self.k, int(self.sizes.min()), decided)
        self.n_cells = self.representation.width(self.k)
        self.means = np.column_stack([P[codes == j].mean(axis=0) for j in range(self.k)])
        outputs = Outputs(np.arange(self.k), len(P), P.argmax(axis=1), P)
        by_class = self.representation.reduce(outputs, Samples._grouped(codes, self.k))
        self.H = by_class.means().T

    def test(self, counts: FloatArray, n: FloatArray) -> ShiftTest:
        """Test whether samples with these counts in the cells, and so many items each, are mixtures of the classes."""
        k, H, sizes = self.k, self.H, self.sizes
        if self.n_cells <= k and not self.decided:
            raise DataError(
                f"There are too few labelled items ({len(self.codes)}) to test with: at least {MIN_ITEMS_OF_A_CLASS} of each class "
                "are needed."
            )
        total = counts.sum(axis=1)
        require_items(total)
        q = counts / total[:, None]
        shares = mixture_least_squares(H, q)
        statistic, dof = np.zeros(len(q)), np.zeros(len(q), dtype=np.int64)
        p_value, errors = np.ones(len(q)), np.full(shares.shape, np.nan)
        blocks = np.repeat(np.arange(k), self.n_cells // k)
        for s in range(len(q)):
            merge = _merging_matrix(blocks, n[s] * (H @ shares[s]), (H * sizes) @ shares[s], self.decided)
            dof[s] = merge.shape[0] - k
            if dof[s] >= 1 or self.decided:
                smooth = [
                    (merge @ H[:, j] * sizes[j] + _PSEUDO_ITEMS) / (sizes[j] + _PSEUDO_ITEMS * len(merge))
                    for j in range(k)
                ]
                statistic[s], shares[s], errors[s] = _distance(
                    merge @ H, smooth, sizes, merge @ q[s], n[s], shares[s], self.decided
                )
                p_value[s] = _p_value(statistic[s], k - 1 if self.decided else int(dof[s]), shares[s], sizes, n[s])
        if self.decided:
            return ShiftTest(statistic, p_value, dof, shares, errors, np.ones(len(q), dtype=bool))
        exact = self._exact_p_value(q, n)
        both = np.minimum(p_value / (1.0 - _EXACT_SHARE_OF_LEVEL), exact / _EXACT_SHARE_OF_LEVEL)
        tested = (dof >= 1) | (exact < np.inf)
        p_value = np.where(exact == np.inf, p_value, np.where(dof >= 1, np.minimum(both, 1.0), exact))
        return ShiftTest(statistic, p_value, dof, shares, errors, tested)

    def _exact_p_value(self, q: FloatArray, n: FloatArray) -> FloatArray:
        """P-value for at least this many low-confidence items; infinity for too few items."""
        cells = np.tile(np.arange(self.n_cells // self.k) < _LOW_CONFIDENCE_CELLS, self.k)
        labelled, items = np.rint(self.H[cells].sum(axis=0) * self.sizes), np.rint(n)
        count = np.rint(q[:, cells].sum(axis=1) * n)
        p = np.stack(
            [
                hypergeom.sf(count - 1, items + size, count + low, items)
                for low, size in zip(labelled, self.sizes, strict=True)
            ]
        )
        return np.where(items >= _MIN_ITEMS_EXACT, p.max(axis=0), np.inf)


def _p_value(statistic: float, dof: int, shares: FloatArray, sizes: FloatArray, n: float) -> float:
    """Return the statistic's p-value, Hotelling's: covariances that were learnt from few items make large values likelier."""
    parts = np.append(shares**2 / sizes, 1.0 / n)
    items = parts.sum() ** 2 / (parts**2 / np.append(sizes, n)).sum()
    left = max(items - dof, 1.0)
    return float(f.sf(statistic * left / (dof * items), dof, left))


def _merging_matrix(blocks: IntArray, expected: FloatArray, labelled: FloatArray, decided: bool) -> FloatArray:
    """Return a matrix that merges cells until each is expected to hold enough items on both sides: neighbours of a block first.

    Blocks that are too small are merged with each other, except those of decisions.
    """

    def enough(cells: list[int]) -> bool:
        return bool(expected[cells].sum() >= _MIN_EXPECTED and labelled[cells].sum() >= _MIN_EXPECTED_LABELLED)

    groups: list[list[int]] = []
    few: list[int] = []
    for block in np.unique(blocks):
        merged: list[list[int]] = [[]]
        for cell in np.flatnonzero(blocks == block):
            merged[-1].append(int(cell))
            if enough(merged[-1]):
                merged.append([])
        last = merged.pop()
        if merged:
            merged[-1] += last
            groups += merged
        elif decided:
            groups.append(last)
        else:
            few += last
    if few and (enough(few) or not groups):
        groups.append(few)
    elif few:
        groups[-1] += few
    merge = np.zeros((len(groups), len(blocks)))
    for row, cells in enumerate(groups):
        merge[row, cells] = 1.0
    return merge


def _distance(
    H: FloatArray, smooth: list[FloatArray], sizes: FloatArray, q: FloatArray, n: float, p: FloatArray, decided: bool
) -> tuple[float, FloatArray, FloatArray]:
    """Return the least generalised distance of q from a mixture, its shares and their standard errors; weights follow the shares.

    Shares may leave the simplex, except with decisions, where nearly every q would be a mixture otherwise. At the true shares that
    distance is distributed as a mixture of chi-squared with up to k - 1 degrees of freedom, so with k - 1 false alarms are
    rarer than they may be.
    """
    k = H.shape[1]
    base = np.full(k, 1.0 / k)
    directions = np.linalg.svd(np.ones((1, k)))[2][1:].T
    A = (H @ directions)[:-1]  # the last cell follows from the others
    value, spread = 0.0, np.empty((k, k))
    for _ in range(4):
        inverse = _weights(smooth, sizes, n, p)
        information = A.T @ inverse @ A
        if decided:
            root = np.linalg.cholesky(inverse).T
            p = mixture_least_squares(root @ H[:-1], (root @ q[:-1])[None, :])[0]
        else:
            off = (q - H @ base)[:-1]
            p = base + directions @ np.linalg.lstsq(information, A.T @ inverse @ off, rcond=None)[0]
        residual = (q - H @ p)[:-1]
        value = float(residual @ inverse @ residual)
        spread = directions @ np.linalg.pinv(information) @ directions.T
    confined = np.clip(p, 0.0, 1.0)
    return value, confined / confined.sum(), np.sqrt(np.maximum(np.diag(spread), 0.0))


def _weights(smooth: list[FloatArray], sizes: FloatArray, n: float, p: FloatArray) -> FloatArray:
    """Return the inverse covariance of the frequencies of all cells but the last, at shares p."""
    weights = np.clip(p, 0.0, 1.0)
    weights = weights / weights.sum()
    S = _multinomial(np.column_stack(smooth) @ weights) / n
    for j, share in enumerate(weights):
        S = S + share**2 * _multinomial(smooth[j]) / sizes[j]
    return np.asarray(np.linalg.inv(S[:-1, :-1]), dtype=np.float64)


def _multinomial(shares: FloatArray) -> FloatArray:
    covariance: FloatArray = np.diag(shares) - np.outer(shares, shares)
    return covariance
