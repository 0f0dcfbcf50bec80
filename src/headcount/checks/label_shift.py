"""Does the target look like a mixture of the training classes? A goodness-of-fit test on the classifier's scores.

If only the shares of the classes have changed, the distribution of scores in the target is a mixture of those of the classes.
Cut into cells, q - H p has mean 0 for some shares p, where q are the cells' frequencies in the target and column j of H those
among labelled items of class j. The least generalised distance of q from all mixtures is then distributed as chi-squared, with one
degree of freedom for each cell beyond the number of classes. A class never seen, or features that have drifted, make it larger.

Under a good classifier the cells of middling scores, where items of a class never seen tend to fall, are too empty for that. Of a
mixture no larger part falls into them than of the class that does so most; that is tested by Fisher's exact test.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import f, hypergeom
from sklearn.utils.validation import check_is_fitted

from headcount._typing import AnyArray, FloatArray, IntArray, Items
from headcount.exceptions import DataError
from headcount.learners import Outputs
from headcount.protocols import Samples, as_samples
from headcount.quantifiers import Quantifier
from headcount.quantifiers.statistics import require_items
from headcount.simplex import mixture_least_squares

__all__ = ["LabelledCells", "ShiftTest", "label_shift_test"]

_ITEMS_A_CELL = 12
"""Labelled items of each class that a cell must hold on average, so that the statistic is distributed as it should be."""
_CUTS = (0.25, 0.5, 0.7, 0.85, 0.95)
_EXPECTED, _EXPECTED_LABELLED = 10.0, 8.0
"""Items of the target, and labelled ones of a like mixture, that a cell must be expected to hold; else it joins its neighbour."""
_MIDDLING, _LEAST_ITEMS = 4, 30
"""Cells of middling scores for each decided class, the lowest ones, and the items of a target that these are looked at for."""
_PART_OF_MIDDLING = 0.05
"""Of the level, spent on middling scores where the other test can be made too."""
_PSEUDO = 0.5
"""Items added to each cell when its variance is reckoned, so that none is without."""


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
    labelled items in equal parts, two or three classes; up to 7.3 % where one of two has but 30 to 50 and the target is all of it,
    9.8 % for such a one of five; fewer than 0.5 % where the classifier hardly errs.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from headcount import PACC
    >>> X, y = make_classification(4000, flip_y=0.1, random_state=0)
    >>> q = PACC(random_state=0).fit(X[:2000], y[:2000])
    >>> pile = np.flatnonzero(y[2000:] == 1)[:700] + 2000           # other shares, but nothing new
    >>> bool(label_shift_test(q, X[pile]).p_value[0] > 0.05)
    True
    """
    known, codes = labelled_outputs(quantifier, labelled)
    quantifier = unwrapped(quantifier)
    outputs = X if isinstance(X, Outputs) else quantifier.outputs(X, {"posteriors"})
    outputs = outputs.aligned_to(quantifier.classes_)
    drawn = as_samples(samples, outputs.n_items)
    return _test(known.need("posteriors"), codes, outputs.need("posteriors"), drawn)


def unwrapped(quantifier: Any) -> Quantifier:
    """Return the best quantifier of a search, or the quantifier itself."""
    best: Any = getattr(quantifier, "best_estimator_", None)
    inner: Quantifier = quantifier if best is None else best
    return inner


def labelled_outputs(quantifier: Quantifier, labelled: Any) -> tuple[Outputs, IntArray]:
    """Return posteriors and classes of labelled items that the classifier was not trained on."""
    from headcount._validation import encode, labelled_items, quoted

    check_is_fitted(quantifier)
    held_out: Any = getattr(quantifier, "held_out_", None)
    quantifier = unwrapped(quantifier)
    if labelled is not None:
        X, y = labelled_items(*labelled)
        codes = encode(y, quantifier.classes_)
        absent = np.flatnonzero(np.bincount(codes, minlength=len(quantifier.classes_)) == 0)
        if absent.size:
            raise DataError(f"The labelled items hold none of class {quoted(quantifier.classes_[absent])}.")
        return quantifier.outputs(X, {"posteriors"}), codes
    if held_out is not None:
        own: tuple[Outputs, IntArray] = held_out
        return own
    kept: Any = getattr(quantifier, "validation_outputs_", None)
    if kept is not None and kept.posteriors is not None:
        return kept, quantifier.validation_codes_
    raise DataError(
        f"{type(quantifier).__name__} keeps no posteriors of labelled items to compare with: pass labelled=(X, y) with items "
        "that the classifier was not trained on, or use PACC."
    )


def _test(P_labelled: FloatArray, codes: IntArray, P: FloatArray, samples: Samples) -> ShiftTest:
    known = LabelledCells(P_labelled, codes)
    counts = samples.count(known.cells(P), known.n_cells)
    return known.test(counts, samples.effective_sizes())


class LabelledCells:
    """Labelled items in cells of scores, and the test of other items' counts in the same cells.

    Parameters
    ----------
    P : array of shape (n_items, n_classes)
        Posteriors of labelled items that the classifier was not trained on.
    codes : array of int, shape (n_items,)
        Their classes, as positions.
    decided : bool, default=False
        Whether the posteriors are but decisions, 0 or 1. There are as many cells then as there are shares to be found, so that
        most counts are those of some mixture. The test is whether they are: that they are says little.
    """

    def __init__(self, P: FloatArray, codes: IntArray, decided: bool = False) -> None:
        self.k, self.decided = P.shape[1], decided
        self.codes = codes
        self.edges = _edges(P, codes)
        self.n_cells = sum(len(e) + 1 for e in self.edges)
        self.sizes = np.bincount(codes, minlength=self.k).astype(float)
        self.means = np.column_stack([P[codes == j].mean(axis=0) for j in range(self.k)])
        own = _cells(P, self.edges)
        self.H = np.column_stack(
            [np.bincount(own[codes == j], minlength=self.n_cells) / self.sizes[j] for j in range(self.k)]
        )

    def cells(self, P: FloatArray) -> AnyArray:
        """Return the cell of each item: by the class decided for, and by how sure the decision is."""
        return _cells(P, self.edges)

    def test(self, counts: FloatArray, n: FloatArray) -> ShiftTest:
        """Test whether samples with these counts in the cells, and so many items each, are mixtures of the classes."""
        k, H, sizes = self.k, self.H, self.sizes
        if self.n_cells <= k and not self.decided:
            raise DataError(
                f"There are too few labelled items ({len(self.codes)}) to test with: at least {2 * _ITEMS_A_CELL} of each class "
                "are needed."
            )
        total = counts.sum(axis=1)
        require_items(total)
        q = counts / total[:, None]
        shares = mixture_least_squares(H, q)
        statistic, dof = np.zeros(len(q)), np.zeros(len(q), dtype=np.int64)
        p_value, errors = np.ones(len(q)), np.full(shares.shape, np.nan)
        blocks = np.repeat(np.arange(k), [len(e) + 1 for e in self.edges])
        for s in range(len(q)):
            merge = _merged(blocks, n[s] * (H @ shares[s]), (H * sizes) @ shares[s], self.decided)
            dof[s] = merge.shape[0] - k
            if dof[s] >= 1 or self.decided:
                smooth = [(merge @ H[:, j] * sizes[j] + _PSEUDO) / (sizes[j] + _PSEUDO * len(merge)) for j in range(k)]
                statistic[s], shares[s], errors[s] = _distance(
                    merge @ H, smooth, sizes, merge @ q[s], n[s], shares[s], self.decided
                )
                p_value[s] = _p_value(statistic[s], k - 1 if self.decided else int(dof[s]), shares[s], sizes, n[s])
        if self.decided:
            return ShiftTest(statistic, p_value, dof, shares, errors, np.ones(len(q), dtype=bool))
        middling = self._middling(q, n)
        both = np.minimum(np.minimum(p_value / (1.0 - _PART_OF_MIDDLING), middling / _PART_OF_MIDDLING), 1.0)
        tested = (dof >= 1) | (middling < np.inf)
        p_value = np.where(middling == np.inf, p_value, np.where(dof >= 1, both, middling))
        return ShiftTest(statistic, p_value, dof, shares, errors, tested)

    def _middling(self, q: FloatArray, n: FloatArray) -> FloatArray:
        """Return the p-value of as many items with middling scores; infinity for too few items."""
        cells = np.concatenate([np.arange(len(edges) + 1) < _MIDDLING for edges in self.edges])
        known, items = np.rint(self.H[cells].sum(axis=0) * self.sizes), np.rint(n)
        found = np.rint(q[:, cells].sum(axis=1) * n)
        p = np.stack(
            [
                hypergeom.sf(found - 1, items + size, found + own, items)
                for own, size in zip(known, self.sizes, strict=True)
            ]
        )
        return np.where(items >= _LEAST_ITEMS, p.max(axis=0), np.inf)


def _p_value(statistic: float, dof: int, shares: FloatArray, sizes: FloatArray, n: float) -> float:
    """Return the statistic's p-value, Hotelling's: covariances that were learnt from few items make large values likelier."""
    parts = np.append(shares**2 / sizes, 1.0 / n)
    items = parts.sum() ** 2 / (parts**2 / np.append(sizes, n)).sum()
    left = max(items - dof, 1.0)
    return float(f.sf(statistic * left / (dof * items), dof, left))


def _merged(blocks: IntArray, expected: FloatArray, labelled: FloatArray, decided: bool) -> FloatArray:
    """Return a matrix that adds cells up until each is expected to hold enough items on both sides: neighbours of a block first.

    Blocks that are not enough are added up with each other, but for those of decisions.
    """

    def enough(cells: list[int]) -> bool:
        return bool(expected[cells].sum() >= _EXPECTED and labelled[cells].sum() >= _EXPECTED_LABELLED)

    groups: list[list[int]] = []
    few: list[int] = []
    for block in np.unique(blocks):
        own: list[list[int]] = [[]]
        for cell in np.flatnonzero(blocks == block):
            own[-1].append(int(cell))
            if enough(own[-1]):
                own.append([])
        rest = own.pop()
        if own:
            own[-1] += rest
            groups += own
        elif decided:
            groups.append(rest)
        else:
            few += rest
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

    Shares may leave the simplex meanwhile, but for those of decisions: there, all but few q would be mixtures else. At the true
    shares the latter distance is distributed as a mixture of chi-squared with up to k - 1 degrees of freedom, so that with k - 1
    false alarms are rarer than they may be.
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
        rest = (q - H @ p)[:-1]
        value = float(rest @ inverse @ rest)
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


def _edges(P: FloatArray, codes: IntArray) -> list[FloatArray]:
    """Cut the items decided for each class by their largest posterior, at fixed places between 1 / k, unsure, and 1, sure.

    Were the places quantiles of the labelled items, these would vary less from cell to cell than the test reckons with.
    """
    k = P.shape[1]
    if int(np.bincount(codes, minlength=k).min()) < 2 * _ITEMS_A_CELL:
        return [np.empty(0)] * k
    return [1.0 / k + (1.0 - 1.0 / k) * np.array(_CUTS)] * k


def _cells(P: FloatArray, edges: list[FloatArray]) -> AnyArray:
    """Return the cell of each item: by the class decided for, and by how sure the decision is."""
    decided, largest = P.argmax(axis=1), P.max(axis=1)
    cells = np.empty(len(P), dtype=np.int32)
    start = 0
    for j, cuts in enumerate(edges):
        here = decided == j
        cells[here] = start + np.searchsorted(cuts, largest[here], side="right")
        start += len(cuts) + 1
    return cells
