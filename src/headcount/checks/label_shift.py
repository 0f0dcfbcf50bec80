"""Does the target look like a mixture of the training classes? Tests on the classifier's scores.

If only the shares of the classes have changed, the distribution of scores in the target is a mixture of those of the classes.
Cut into cells, q - H p has mean 0 for some shares p, where q are the cells' frequencies in the target and column j of H those
among labelled items of class j. Three tests go by that, and the level is divided among those that can be made:

- The least generalised distance of q from all mixtures is distributed as chi-squared, with one degree of freedom for each cell
  beyond the number of classes. It finds any kind of change, if there are enough items in enough cells.
- Items of a class never seen tend to be decided with low confidence. The frequency of the least sure items is compared with the one
  that the mixture gives (`low_confidence_test`): one number, so that few items are enough.
- Under a good classifier low-confidence cells are empty. A mixture puts no larger part of its items into them than the class that
  does so most; that is tested by Fisher's exact test.

With cross-fitting, frequencies are means over the folds' classifiers; the multinomial covariance is then larger than the true one.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import f, hypergeom
from sklearn.utils.validation import check_is_fitted

from headcount._typing import AnyArray, FloatArray, IntArray, Items
from headcount._validation import encode, labelled_items, quoted
from headcount.checks.low_confidence import low_confidence_test, mixture_inverse
from headcount.checks.score_cells import ScoreCells
from headcount.exceptions import DataError
from headcount.learners import Outputs
from headcount.protocols import as_samples
from headcount.quantifiers import Posteriors, Quantifier
from headcount.quantifiers.statistics import require_items
from headcount.simplex import mixture_least_squares

__all__ = ["LabelledCells", "ShiftTest", "label_shift_test"]

_MIN_EXPECTED, _MIN_EXPECTED_LABELLED = 10.0, 8.0
"""Expected items of the target, and effective labelled items of the same mixture, below which a cell is merged with its neighbour."""
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
    known = labelled_scores(quantifier, labelled)
    outputs, cells = quantifier.chosen.outputs(X, {"posteriors"}), known.cells()
    drawn = as_samples(samples, outputs.n_items)
    counts, sums = (rep.reduce(outputs, drawn).sums for rep in (cells.representation, Posteriors()))
    return cells.test(counts, drawn.effective_sizes(), sums)


@dataclass(frozen=True, eq=False)
class LabelledScores:
    """Labelled items that the classifier was not trained on: posteriors, classes, the fold of each, and the items themselves."""

    P: FloatArray
    codes: IntArray
    folds: IntArray | None = None
    items: Items | None = None

    def cells(self) -> "LabelledCells":
        """Return the items in cells of scores."""
        return LabelledCells(self.P, self.codes, folds=self.folds)


def labelled_scores(quantifier: Quantifier, labelled: Any) -> LabelledScores:
    """Return what is known of labelled items that the classifier was not trained on."""
    check_is_fitted(quantifier)
    held_out: Any = getattr(quantifier, "held_out_", None)
    quantifier = quantifier.chosen
    if labelled is not None:
        X, y = labelled_items(*labelled)
        codes = encode(y, quantifier.classes_)
        absent = np.flatnonzero(np.bincount(codes, minlength=len(quantifier.classes_)) == 0)
        if absent.size:
            raise DataError(f"The labelled items hold none of class {quoted(quantifier.classes_[absent])}.")
        P, folds = _one_fold_each(quantifier.outputs(X, {"posteriors"}))
        return LabelledScores(P, codes, folds, None if isinstance(X, Outputs) else X)
    if held_out is not None:
        P, folds = _one_fold_each(held_out[0])
        return LabelledScores(P, held_out[1], folds)
    kept = quantifier.validation_items()
    if kept is None or kept[0].posteriors is None:
        raise DataError(
            f"{type(quantifier).__name__} keeps no posteriors of labelled items to compare with: pass labelled=(X, y) with items "
            "that the classifier was not trained on, or use PACC."
        )
    if getattr(quantifier, "refit", False):
        raise DataError(
            f"{type(quantifier).__name__}(refit=True) has scores of labelled items by the folds' classifiers, and its own is another "
            "one: pass labelled=(X, y) with items that it was not trained on, or omit refit."
        )
    folds = getattr(quantifier, "validation_folds_", None)
    return LabelledScores(kept[0].posteriors, kept[1], folds, getattr(quantifier, "validation_items_", None))


def _one_fold_each(outputs: Outputs) -> tuple[FloatArray, IntArray | None]:
    """Return posteriors of one classifier for each item: of fold classifiers, each scores its part, as in cross-fitting."""
    folds = outputs.folds
    if folds is None:
        return outputs.need("posteriors"), None
    fold = np.arange(outputs.n_items) % len(folds)
    return np.stack([one.need("posteriors") for one in folds])[fold, np.arange(outputs.n_items)], fold


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
    """

    def __init__(self, P: FloatArray, codes: IntArray, decided: bool = False, folds: IntArray | None = None) -> None:
        self.k, self.decided = P.shape[1], decided
        self.codes, self.P = codes, P
        self.sizes = np.bincount(codes, minlength=self.k).astype(float)
        self.representation = ScoreCells.for_classes(self.k, decided)
        self.n_cells = self.representation.width(self.k)
        self.item_cells = self.representation.codes(Outputs(np.arange(self.k), len(P), P.argmax(axis=1), P))
        self.weights = _item_weights(codes, self.k, folds)
        self.means = self.class_means(P)
        self.H = np.column_stack(
            [
                np.bincount(self.item_cells[codes == j], self.weights[codes == j], minlength=self.n_cells)
                for j in range(self.k)
            ]
        )
        self.low = np.stack([self._least_sure(share) for share in _LOW_SHARES])

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
                mixture = merge @ (H @ shares[s])
                smooth = [
                    (merge @ H[:, j] * size + _PSEUDO_ITEMS * mixture) / (size + _PSEUDO_ITEMS)
                    for j, size in enumerate(self.sizes)
                ]
                statistic[s], shares[s], errors[s] = _distance(
                    merge @ H, smooth, self.sizes, merge @ q[s], n[s], shares[s], self.decided
                )
                degrees = k - 1 if self.decided else int(dof[s])
                distance[s] = _p_value(statistic[s], degrees, shares[s], self.sizes, n[s])
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
        return np.where(made > 0, np.minimum(np.nanmin(np.where(np.isnan(both), 2.0, both), axis=0) * made, 1.0), np.nan)

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
        return np.sqrt(np.maximum(np.einsum("ia,sab,ib->si", B, V, B), 0.0))

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
                hypergeom.sf(count - 1, items + size, count + low, items)
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


def _item_weights(codes: IntArray, k: int, folds: IntArray | None) -> FloatArray:
    """Return the weight of each labelled item in the mean of its class: 1 / n_j, or of a mean over folds of fold means."""
    fold = np.zeros_like(codes) if folds is None else folds
    sizes = np.zeros((k, int(fold.max(initial=0)) + 1))
    np.add.at(sizes, (codes, fold), 1.0)
    n_folds = (sizes > 0).sum(axis=1)
    return np.asarray(1.0 / (sizes[codes, fold] * n_folds[codes]), dtype=np.float64)


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


def _p_value(statistic: float, dof: int, shares: FloatArray, sizes: FloatArray, n: float) -> float:
    """Return the statistic's p-value, Hotelling's: covariances that were learnt from few items make large values likelier."""
    parts = np.append(shares**2 / sizes, 1.0 / n)
    items = parts.sum() ** 2 / (parts**2 / np.append(sizes, n)).sum()
    left = max(items - dof, 1.0)
    return float(f.sf(statistic * left / (dof * items), dof, left))


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
        spread = directions @ _inverse(information) @ directions.T
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


def _inverse(information: FloatArray) -> FloatArray:
    """Return the inverse, in which directions without information have a very large variance rather than none."""
    values, vectors = np.linalg.eigh(information)
    inverse: FloatArray = (vectors / np.maximum(values, 1e-6)) @ vectors.T
    return inverse


def _multinomial(shares: FloatArray) -> FloatArray:
    covariance: FloatArray = np.diag(shares) - np.outer(shares, shares)
    return covariance
