"""Do the items themselves look like a mixture of the labelled ones? A classifier that tells one side from the other, and its test.

A classifier is trained to tell target items from labelled ones that are weighted to the estimated shares; its score of an item
that it was not trained on is g(x). Under label shift the mean of g over the target is sum_j p_j mean_j(g). The statistic is the
sums family's, mean_target(g) - sum_j p^_j mean_j(g); its standard error counts target items, labelled items of each class, and the
estimation of p^. One-sided: where something differs, target items score higher (Lopez-Paz and Oquab 2017).

Texts are told apart by logistic regression over their terms; numbers by that and by nearest neighbours, since a class in the middle
of others can't be found by a straight line. Of mixed columns both are used, with categories and days of the week as terms.

Items may be repeated: draws with replacement, retweets, equal answers to a survey. Equal items of both sides are one group. A group
lies in one fold, so that no item is scored by a classifier that has seen a copy of it; and the error of the statistic is that of
sums over groups. That is right both for copies, which are not independent, and for independent items that happen to be equal, since
the latter occur on both sides and cancel within their group. Leaving repeats out would be wrong for these: of 1,000 answers to a
survey more kinds are distinct than of 200. Where most items have one of a few values, each item is a group of its own: groups would
be too few to find anything.

Equal means equal features: texts up to case, white space, punctuation, one-letter words and order of words; numbers in single
precision. Copies with a word or digit changed ("RT @name", a link, jitter) are taken for independent items: unify them beforehand.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headcount._distributions import student_tail
from headcount._threads import one_blas_thread
from headcount._typing import AnyArray, FloatArray, IntArray, Items
from headcount.checks.fold_logistic import fold_scores, logistic_weights
from headcount.checks.item_features import ItemFeatures, equal_items, fill_missing, item_features, term_names
from headcount.checks.low_confidence import mixture_inverse, student_dof
from headcount.simplex import mixture_least_squares

__all__ = ["MOST_ITEMS", "ItemFindings", "ItemTest", "LabelledItems", "chosen_items", "item_test"]

MOST_ITEMS = 2_000
"""Items of each side that are used at most: more cost time, and 1,000 find what matters."""
_MIN_TARGET, _MIN_LABELLED = 50, 40
"""Fewest items of each side that the test is made for."""
_FOLDS = 5
_NEIGHBOURS = 60
_COMMON, _FEW_VALUES = 3, 0.8
"""Items have few values if this share of the labelled ones has a value that occurs so often, or more, on each side."""
_NAMED = 5
"""Terms or columns that are named as differing."""
_MIN_DOCUMENTS = 3
"""Items that must hold a term for it to be used."""


@dataclass(frozen=True, eq=False)
class LabelledItems:
    """Labelled items that the classifier was not trained on: features, classes as positions, and posteriors."""

    features: ItemFeatures
    codes: IntArray
    P: FloatArray
    clusters: IntArray | None = None

    def check(
        self, items: Items, P: FloatArray, level: float = 0.05, clusters: IntArray | None = None
    ) -> "ItemFindings":
        """Test other items with these posteriors and, if they have some, clusters; name what differs if the test rejects."""
        target = item_features(items)
        every_class = np.unique(self.codes).size == self.P.shape[1]
        if target is None or not every_class:
            return ItemFindings()
        both = None if self.clusters is None and clusters is None else (self.clusters, clusters)
        test = item_test(self.features, self.codes, self.P, target, P, level, clusters=both)
        if not test.p_value < level:
            return ItemFindings(test.p_value, copies=test.copies)
        return ItemFindings(test.p_value, self._named(test.differs, target, items), test.copies)

    def _named(self, columns: list[int], target: ItemFeatures, items: Items) -> tuple[str, ...]:
        """Name columns of the features: terms as the items have them, numbers by their columns."""
        names = self.features.names
        if not target.is_texts:
            return tuple(names[j] if names else f"column {j + 1}" for j in columns)
        n_terms = target.X.shape[1] - target.n_numbers
        numbers = [names[j - n_terms] for j in columns if j >= n_terms]
        terms = term_names(np.array([j for j in columns if j < n_terms], dtype=np.int64), items)
        return tuple(dict.fromkeys([*numbers, *terms]))


@dataclass(frozen=True)
class ItemFindings:
    """What the check of the items themselves found: a p-value, NaN if it was not made, and what differs most.

    ``copies`` is the share of pairs of target items that are equal, beyond what independent items would have.
    """

    p_value: float = float("nan")
    differs: tuple[str, ...] = ()
    copies: float = 0.0

    def effective_size(self, n: float) -> float:
        """Return the number of independent items whose mean is as noisy as that of n items with so many copies (Kish 1965)."""
        return n / (1.0 + (n - 1.0) * self.copies)


@dataclass(frozen=True)
class ItemTest:
    """The outcome: a p-value (NaN if the test could not be made), the columns that differ most, by position, and copies."""

    p_value: float = float("nan")
    statistic: float = float("nan")
    differs: list[int] = field(default_factory=list)
    copies: float = 0.0


def chosen_items(
    n: int, weights: FloatArray | None, generator: np.random.Generator, most: int = MOST_ITEMS
) -> IntArray:
    """Return which of n items are tested, in order: at random, so many at most.

    Where they have weights, an item of weight w is kept with chance w / max w: those that are kept stand for equal parts of the
    population, as the test takes them to.
    """
    rows = generator.permutation(n)
    if weights is not None:
        rows = rows[generator.random(n) < weights[rows] / weights.max()]
    return np.sort(rows[:most])


def item_test(
    labelled: ItemFeatures,
    codes: IntArray,
    phi_labelled: FloatArray,
    target: ItemFeatures,
    phi_target: FloatArray,
    level: float = 0.05,
    seed: int = 0,
    clusters: tuple[IntArray | None, IntArray | None] | None = None,
) -> ItemTest:
    """Test whether target items look like a mixture of labelled ones of the classes.

    Parameters
    ----------
    labelled, target : ItemFeatures
    codes : array of int
        Classes of the labelled items.
    phi_labelled, phi_target : arrays of shape (n_items, n_coordinates)
        Vectors by which shares are found, such as posteriors of a classifier that was trained on neither side.
    level : float, default=0.05
        Columns that differ are looked for only if the p-value is below it.
    seed : int
        Of the folds.
    clusters : pair of arrays of int, optional
        Clusters of the labelled and of the target items, None for a side without: items of a cluster lie in one fold, and the error
        of the statistic is that of sums over clusters.
    """
    k = int(codes.max()) + 1
    sizes = np.bincount(codes, minlength=k)
    n = len(target)
    if n < _MIN_TARGET or len(codes) < _MIN_LABELLED or sizes.min() < 2 or not labelled.fits(target):
        return ItemTest()
    group = _copies(equal_items(labelled, target), len(codes))
    if min(np.unique(group[: len(codes)][codes == j]).size for j in range(k)) < 2:
        return ItemTest()
    M = np.column_stack([phi_labelled[codes == j].mean(axis=0) for j in range(k)])
    B = mixture_inverse(M)
    p = mixture_least_squares(M, phi_target.mean(axis=0)[None])[0]
    X, columns, near = _stacked(labelled, target, group)
    copies = _share_of_copies(group, p[codes] / sizes[codes])
    if columns.size == 0:
        return ItemTest(copies=copies)
    is_target = np.repeat([False, True], [len(codes), n])
    strata = np.concatenate([codes, np.full(n, k)])
    if clusters is not None:
        group = _with_clusters(group, clusters, len(codes))
    fold = _folds(strata, group, np.random.default_rng(seed))
    sides = np.zeros((_FOLDS, 2))
    np.add.at(sides, (fold, is_target.astype(int)), 1.0)
    if (sides == sides.sum(axis=0)).any():  # all items of a side, or all but none, are copies of each other
        return ItemTest(copies=copies)
    phi = np.vstack([phi_labelled, phi_target])
    with one_blas_thread():
        g = _scores(X, near, is_target, strata, p, fold)
    # The scores less what phi says of them: then an error of p^, to which the classifier adapts, is no difference. The class means
    # are those of the other folds, so that they and the means of phi in this one are not of the same items.
    for f in range(_FOLDS):
        others = (fold != f) & ~is_target
        class_means = np.array([_mean(g[others & (strata == j)], g[others].mean()) for j in range(k)])
        r = class_means @ B
        here = fold == f
        g[here] -= phi[here] @ r + (p @ class_means - r @ M @ p)
    within = _variances(g[~is_target], codes, k)
    means = np.array([g[strata == j].mean() for j in range(k)])
    parts = np.append(p**2 * within / sizes, g[is_target].var(ddof=1) / n)
    excess, dof = _repeats(
        (g - np.append(means, g[is_target].mean())[strata]) * np.append(-p / sizes, 1.0 / n)[strata], group
    )
    error = float(np.sqrt(parts.sum() + excess))
    if not error > 0.0:
        return ItemTest(copies=copies)
    z = float(g[is_target].mean() - p @ means) / error
    p_value = float(student_tail(z, min(dof, float(student_dof(parts, np.append(sizes, n))))))
    if not p_value < level:
        return ItemTest(p_value, z, copies=copies)
    different = _most_different(X, is_target, _weights(strata, np.ones(len(strata), dtype=bool), p))
    return ItemTest(p_value, z, columns[different].tolist(), copies)


def _copies(group: IntArray, n_labelled: int) -> IntArray:
    """Return groups of copies, given those of equal items: each item is a group of its own if the items have few values.

    Equal items are independent then, such as answers to a survey of two questions, and can be tested as any others.
    """
    by_side = np.stack([np.bincount(side, minlength=group.max() + 1) for side in np.split(group, [n_labelled])])
    common = by_side.min(axis=0) >= _COMMON
    if by_side[0, common].sum() < _FEW_VALUES * n_labelled:
        return group
    return np.arange(len(group))


def _with_clusters(group: IntArray, clusters: tuple[IntArray | None, IntArray | None], n_labelled: int) -> IntArray:
    """Return groups in which items that are equal, or of one cluster of a side, are together."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    n, n_groups = len(group), int(group.max()) + 1
    each = np.arange(n)
    of_items = [
        each[:n_labelled] if clusters[0] is None else clusters[0],
        each[n_labelled:] if clusters[1] is None else clusters[1],
    ]
    labelled, target = (np.unique(side, return_inverse=True)[1] for side in of_items)
    node = np.concatenate([labelled, labelled.max() + 1 + target]) + n_groups
    size = int(node.max()) + 1
    _, component = connected_components(coo_matrix((np.ones(n), (group, node)), shape=(size, size)), directed=False)
    return np.unique(component[group], return_inverse=True)[1].astype(np.int64)


def _share_of_copies(group: IntArray, weights: FloatArray) -> float:
    """Return the share of pairs of target items that are equal, less that of pairs of a target item and a labelled one.

    Independent items are as often equal to labelled ones, with these weights, as to each other; copies are not. Of the latter share
    two standard errors are added, so that noise is not taken for copies.
    """
    target = np.bincount(group[len(weights) :], minlength=group.max() + 1).astype(float)
    n = float(target.sum())
    equal = target[group[: len(weights)]] / n
    across = float(weights @ equal)
    error = float(np.sqrt(weights**2 @ (equal - across) ** 2))
    within = float(target @ (target - 1.0)) / (n * (n - 1.0))
    return max(within - across - 2.0 * error, 0.0)


def _folds(strata: IntArray, group: IntArray, rng: np.random.Generator) -> IntArray:
    """Return the fold of each item: that of its group. Strata are spread evenly over the folds, and so are large groups."""
    copies = np.bincount(group)
    first = np.unique(group, return_index=True)[1]
    fold = np.empty(len(first), dtype=np.int64)
    fold[np.lexsort((rng.random(len(first)), strata[first], -copies))] = np.arange(len(first)) % _FOLDS
    spread: IntArray = fold[group]
    return spread


def _repeats(influence: FloatArray, group: IntArray) -> tuple[float, float]:
    """Return what repeats add to the variance of a sum of these influences of items, and the degrees of freedom of that variance.

    The influences of equal items are added up before they are squared; without repeats nothing is added.
    """
    sums = np.bincount(group, weights=influence)
    variance = float((sums**2).sum())
    excess = variance - float((influence**2).sum())
    if len(sums) == len(influence) or excess <= 0.0:
        return 0.0, np.inf
    return excess, max(variance**2 / float((sums**4).sum()), 1.0)


def _mean(values: FloatArray, otherwise: float) -> float:
    return float(values.mean()) if len(values) else otherwise


def _variances(g: FloatArray, codes: IntArray, k: int) -> FloatArray:
    """Return the variance within each class; that of few items is not taken to be smaller than half of all classes'."""
    sizes = np.bincount(codes, minlength=k)
    observed = np.array([g[codes == j].var(ddof=1) for j in range(k)])
    pooled = float(observed @ sizes / sizes.sum())
    variances: FloatArray = np.maximum(observed, np.where(sizes < 10, pooled, 0.5 * pooled))
    return variances


def _weights(strata: IntArray, rows: AnyArray, p: FloatArray) -> FloatArray:
    """Return the weights of these rows: labelled items stand for the estimated shares, and both sides weigh the same."""
    k = len(p)
    counts = np.maximum(np.bincount(strata[rows], minlength=k + 1), 1)
    each = np.append(p, 1.0) * counts[k] / counts
    weights: FloatArray = np.maximum(each, 1e-6)[strata[rows]]
    return weights


def _stacked(labelled: ItemFeatures, target: ItemFeatures, group: IntArray) -> tuple[Any, IntArray, FloatArray | None]:
    """Return the features of both sides, which columns they are, and those by which neighbours are found.

    Terms are weighted by rarity, numbers are on a common scale. Copies count as one item for the frequency of a term: else the rare
    terms of copied items alone would be kept.
    """
    if not labelled.is_sparse:
        X = _on_common_scale(np.vstack([labelled.X, target.X]))
        return X, np.arange(X.shape[1]), X
    from scipy.sparse import csr_matrix, hstack, vstack
    from sklearn.feature_extraction.text import TfidfTransformer

    X = vstack([labelled.X, target.X]).tocsr()
    n_terms = X.shape[1] - labelled.n_numbers
    counts, numbers = X[:, :n_terms], X[:, n_terms:]
    distinct = np.unique(group, return_index=True)[1]
    columns = np.flatnonzero(np.bincount(counts[distinct].indices, minlength=n_terms) >= _MIN_DOCUMENTS)
    counts = counts[:, columns]
    signed = counts.data.size and counts.data.min() < 0
    terms = (
        counts
        if signed or not columns.size
        else TfidfTransformer(sublinear_tf=True).fit(counts[distinct]).transform(counts)
    )
    if labelled.n_numbers == 0:
        return terms, columns, None
    near = _on_common_scale(numbers.toarray())
    both = hstack([terms, csr_matrix(near)], format="csr")
    return both, np.concatenate([columns, np.arange(n_terms, X.shape[1])]), near


def _on_common_scale(numbers: AnyArray) -> FloatArray:
    X = fill_missing(numbers.astype(np.float64))
    spread = X.std(axis=0)
    scaled: FloatArray = np.clip((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), -6.0, 6.0)
    return scaled


def _penalty(X: Any) -> tuple[float, bool]:
    """Return C of the logistic regression, and whether its intercept is penalised like a coefficient."""
    return (1.0, True) if hasattr(X, "tocsr") else (0.1, False)


def _scores(
    X: Any, numbers: FloatArray | None, y: AnyArray, strata: IntArray, p: FloatArray, fold: IntArray
) -> FloatArray:
    """Return scores of all items, those of a fold by a classifier of the others, and by their neighbours if there are numbers."""
    weights = np.zeros((len(fold), _FOLDS))
    for f in range(_FOLDS):
        weights[fold != f, f] = _weights(strata, fold != f, p)
    scores = fold_scores(X, y, weights, fold, *_penalty(X))
    if numbers is None:
        return scores
    for f in range(_FOLDS):
        train, test = fold != f, fold == f
        near = min(_NEIGHBOURS, int(train.sum()) - 1)
        squares = (numbers[train] ** 2).sum(axis=1) - 2.0 * numbers[test] @ numbers[train].T
        neighbours = np.argpartition(squares, near, axis=1)[:, :near]
        w = weights[train, f][neighbours]
        scores[test] += (w * y[train][neighbours]).sum(axis=1) / w.sum(axis=1)
    return scores


def _most_different(X: Any, is_target: AnyArray, weights: FloatArray) -> list[int]:
    """Return the columns that differ most between target and weighted labelled items, the most different first.

    Terms by difference of means times coefficient; numbers by difference of means or of spreads, on the common scale.
    """
    mean = [_weighted_mean(X, np.where(is_target == side, weights, 0.0)) for side in (False, True)]
    if hasattr(X, "tocsr"):
        coefficients, _ = logistic_weights(X, is_target, weights[:, None], *_penalty(X))
        size = np.abs(mean[1] - mean[0]) * np.abs(coefficients[:, 0])
    else:
        square = [_weighted_mean(X**2, np.where(is_target == side, weights, 0.0)) for side in (False, True)]
        spread = [np.sqrt(np.maximum(s - m**2, 0.0)) for s, m in zip(square, mean, strict=True)]
        size = np.maximum(np.abs(mean[1] - mean[0]), np.abs(spread[1] - spread[0]))
    order = np.argsort(-size, kind="stable")[:_NAMED]
    return [int(j) for j in order if size[j] > 0]


def _weighted_mean(X: Any, weights: FloatArray) -> FloatArray:
    mean: FloatArray = np.asarray(X.T @ weights).ravel() / weights.sum()
    return mean
