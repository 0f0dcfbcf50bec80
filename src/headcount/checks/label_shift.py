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
from sklearn.utils.validation import check_is_fitted

from headcount._typing import FloatArray, IntArray, Items
from headcount._validation import encode, labelled_items, quoted
from headcount.checks.labelled_cells import LabelledCells, ShiftTest
from headcount.designs import SurveyDesign
from headcount.exceptions import DataError
from headcount.learners import Outputs
from headcount.protocols import as_samples
from headcount.quantifiers import Posteriors, Quantifier

__all__ = ["LabelledScores", "label_shift_test", "labelled_scores"]


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

    False alarms are measured by ``python -m benchmarks.check_table``.

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
    design: SurveyDesign | None = None

    def cells(self) -> LabelledCells:
        """Return the items in cells of scores."""
        return LabelledCells(self.P, self.codes, folds=self.folds, design=self.design)


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
            f"{type(quantifier).__name__}(refit=True) has scores of labelled items by the folds' classifiers, and its own is "
            "another one: pass labelled=(X, y) with items that it was not trained on, or omit refit."
        )
    folds = getattr(quantifier, "validation_folds_", None)
    items = getattr(quantifier, "validation_items_", None)
    return LabelledScores(kept[0].posteriors, kept[1], folds, items, quantifier.validation_design_)


def _one_fold_each(outputs: Outputs) -> tuple[FloatArray, IntArray | None]:
    """Return posteriors of one classifier for each item: of fold classifiers, each scores its part, as in cross-fitting."""
    folds = outputs.folds
    if folds is None:
        return outputs.need("posteriors"), None
    fold = np.arange(outputs.n_items) % len(folds)
    return np.stack([one.need("posteriors") for one in folds])[fold, np.arange(outputs.n_items)], fold
