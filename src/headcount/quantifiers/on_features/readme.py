"""ReadMe: least squares over the patterns of random subsets of words, averaged over the subsets."""

from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from headcount._typing import AnyArray, FloatArray, IntArray, RandomState
from headcount._validation import integers_from, seed_sequence
from headcount.exceptions import DataError
from headcount.learners import Need, Outputs
from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.on_features.affinities import least_quadratic
from headcount.quantifiers.on_features.base import FeaturesQuantifier, dense_blocks, feature_ranges
from headcount.quantifiers.on_features.matching import warn_of_alike
from headcount.quantifiers.representations import Vectors
from headcount.quantifiers.solvers import Solver
from headcount.simplex import sum_zero_basis

__all__ = ["ReadMe"]

_MOST_WORDS = 50
"""Words of a subset at most: a pattern is a whole number that a double holds exactly."""


class WordPatterns(Vectors):
    """An item is, for each subset of words, the share of each class's labelled items that have the same pattern of words.

    Its mean over a sample is M'q, where q are the shares of the patterns in the sample and M those in the classes: all that least
    squares need. A pattern that no labelled item has counts for no class.

    Parameters
    ----------
    words : array of int, shape (n_words,)
        The features that are in a subset.
    means : array of shape (n_words,)
        A word is present where its feature is above this.
    subsets : array of int, shape (n_subsets, subset_size)
        Positions in ``words`` of the words of each subset.
    patterns : tuple of arrays
        The patterns of each subset among labelled items, as sorted numbers.
    tables : tuple of arrays of shape (n_patterns, n_classes)
    """

    needs: Need = "features"
    adds_products = False

    def __init__(
        self,
        words: IntArray,
        means: FloatArray,
        subsets: IntArray,
        patterns: tuple[FloatArray, ...],
        tables: tuple[FloatArray, ...],
    ) -> None:
        self.words, self.means, self.subsets, self.patterns, self.tables = words, means, subsets, patterns, tables

    def width(self, n_classes: int) -> int:
        return len(self.subsets) * n_classes

    def cells(self, features: Any) -> IntArray:
        """Return the position of each item's pattern among those of labelled items, in each subset; -1 for others."""
        cells = np.full((features.shape[0], len(self.subsets)), -1, dtype=np.int64)
        for rows, X in dense_blocks(features, self.words):
            numbers = pattern_numbers(self.means < X, self.subsets)
            for s, known in enumerate(self.patterns):
                place = np.minimum(np.searchsorted(known, numbers[:, s]), len(known) - 1)
                cells[rows, s] = np.where(known[place] == numbers[:, s], place, -1)
        return cells

    def vectors(self, outputs: Outputs) -> FloatArray:
        k = len(outputs.classes)
        cells = self.cells(outputs.need(self.needs))
        vectors = np.empty((len(cells), len(self.subsets), k))
        for s, table in enumerate(self.tables):
            vectors[:, s] = np.where(cells[:, s, None] >= 0, table[cells[:, s]], 0.0)
        return vectors.reshape(len(cells), -1)


def pattern_numbers(present: AnyArray, subsets: IntArray) -> FloatArray:
    """Return the pattern of each item in each subset as a number: bit i says whether the i-th word of the subset is present.

    >>> pattern_numbers(np.array([[True, False, True]]), np.array([[0, 1], [2, 0]])).tolist()
    [[1.0, 3.0]]
    """
    n_subsets, n_words = subsets.shape
    bits = np.tile(2.0 ** np.arange(n_words), n_subsets)
    of_subset = np.repeat(np.arange(n_subsets), n_words)
    weights: Any = csr_array((bits, (of_subset, subsets.ravel())), shape=(n_subsets, present.shape[1]))
    numbers: FloatArray = np.ascontiguousarray((weights @ present.T.astype(np.float64)).T)
    return numbers


class _MeanOfSubsets(Solver):
    """Least squares in each subset of words, from M'q and M'M; the mean of the shares."""

    has_equation = True

    def solve(self, q: FloatArray, M: FloatArray) -> FloatArray:
        k = M.shape[1]
        shares = np.zeros((len(q), k))
        for start in range(0, len(M), k):
            part = slice(start, start + k)
            shares += least_quadratic(M[part], q[:, part])
        mean: FloatArray = shares / shares.sum(axis=1, keepdims=True)
        return mean

    def estimating_matrix(self, M: FloatArray) -> FloatArray:
        """Return the sum over subsets of the derivatives of their sums of squares, in directions of the simplex."""
        k = M.shape[1]
        n_subsets = len(M) // k
        derivatives: FloatArray = np.tile(sum_zero_basis(k).T, n_subsets) / n_subsets
        return derivatives

    def check_profiles(self, M: FloatArray, classes: AnyArray, name: str) -> None:
        k = M.shape[1]
        D, total = sum_zero_basis(k), M.reshape(-1, k, k).sum(axis=0)
        if np.linalg.eigvalsh(D.T @ total @ D)[0] <= 1e-12 * len(M):
            warn_of_alike(classes, name)


@register_method(
    "least squares over patterns of words, averaged over subsets",
    "Hopkins and King 2010",
    group="on features",
    needs="features (words), many labelled items",
)
class ReadMe(FeaturesQuantifier):
    r"""Explain the patterns of words in a sample by those of the classes, in many random subsets of words.

    For each subset of words, q are the shares of its patterns (which of the words an item has) in the sample, column j of M
    those among the labelled items of class j, and p on the simplex minimises

    .. math:: \lVert M p - q \rVert^2.

    The answer is the mean of p over the subsets. A feature stands for a present word where it is above its mean among the
    labelled items: for features of 0 and 1 where it is 1, for counts of words that are in few items where it is not 0. No
    classifier is trained, and nothing is assumed of how words depend on each other. (Hopkins and King bootstrap the labelled
    items too; that smooths the answer little.)

    When to use it: texts by their words, a thousand labelled items or more, few classes, and a wish for no classifier. Where a
    classifier can be trained, methods over its outputs are nearly always better. Items in few labelled patterns say nothing:
    with rare words nearly all items have the pattern without any; leave rare words out (``min_df`` of the vectorizer).

    The interval is that of the sum over subsets of the derivatives of their sums of squares, each labelled item left out of its
    own vector; it is widened to hold the estimate where that lies outside. With few labelled items an item's own pattern counts
    for its class in M, so that the estimate is drawn to equal shares while the interval is not.

    Memory: ``n_subsets * n_classes`` numbers for each item and sample.

    Parameters
    ----------
    n_subsets : int, default=100
        Where there are no more words than a subset takes, there is one subset.
    subset_size : int, default=15
        Words of a subset, at most 50; all of them where there are fewer.
    transformer : transformer, optional
        Makes words of the items, such as ``CountVectorizer(min_df=0.01)``; fitted on the labelled items. By default items are
        vectors of numbers, dense or sparse. Features that are constant among labelled items are left out.
    random_state : int, RandomState, Generator or None, default=None
        For the subsets.
    classes : sequence of labels, optional
        The classes in order, where they have one; by default sorted.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    words_ : array of int, shape (n_words,)
        The features that are in a subset.
    subsets_ : array of int, shape (n_subsets, subset_size)
        The words of each subset, as positions in ``words_``.
    M_ : array of shape (n_subsets * n_classes, n_classes)
        M'M of each subset.

    References
    ----------
    Hopkins and King (2010). A method of automated nonparametric content analysis for social science. American Journal of Political
    Science 54.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> texts = ["good film", "bad film", "good plot", "bad plot"] * 10
    >>> readme = ReadMe(transformer=CountVectorizer(), random_state=0).fit(texts, ["pos", "neg"] * 20)
    >>> readme.predict(["good film", "a good plot", "good film", "a bad film"]).round(2).tolist()
    [0.25, 0.75]
    """

    solver = _MeanOfSubsets()
    words_: IntArray
    means_: FloatArray
    subsets_: IntArray
    patterns_: tuple[FloatArray, ...]
    tables_: tuple[FloatArray, ...]
    learnt_shapes: ClassVar[dict[str, tuple[str | int | None, ...]]] = {
        "words_": ("words",),
        "means_": ("words",),
        "subsets_": ("subsets", None),
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **FeaturesQuantifier._parameter_constraints,
        "n_subsets": integers_from(1),
        "subset_size": integers_from(1),
        "random_state": "no_validation",
    }

    def __init__(
        self,
        n_subsets: int = 100,
        *,
        subset_size: int = 15,
        transformer: Any = None,
        random_state: RandomState = None,
        classes: Any = None,
    ) -> None:
        super().__init__(transformer, classes=classes)
        self.n_subsets = n_subsets
        self.subset_size = subset_size
        self.random_state = random_state

    @property
    def representation(self) -> WordPatterns:  # type: ignore[override]
        """The likeness of items to the classes by their patterns of words."""
        return WordPatterns(
            getattr(self, "words_", np.empty(0, dtype=np.int64)),
            getattr(self, "means_", np.empty(0)),
            getattr(self, "subsets_", np.empty((0, 1), dtype=np.int64)),
            getattr(self, "patterns_", ()),
            getattr(self, "tables_", ()),
        )

    def _learn(self, fits: Any, codes: IntArray) -> None:
        if self.subset_size > _MOST_WORDS:
            raise DataError(f"subset_size must be at most {_MOST_WORDS}; got {self.subset_size}.")
        self.__dict__.pop("subsets_", None)
        super()._learn(fits, codes)

    def _learn_features(self, outputs: Outputs, codes: IntArray) -> None:
        features, k = outputs.need("features"), len(self.classes_)
        if not hasattr(self, "subsets_"):  # a bootstrap of the labelled items keeps them
            self._draw_subsets(features)
        numbers = np.concatenate(
            [pattern_numbers(self.means_ < X, self.subsets_) for _, X in dense_blocks(features, self.words_)]
        )
        sizes = np.bincount(codes, minlength=k)
        patterns, tables = [], []
        for column in numbers.T:
            known, cell = np.unique(column, return_inverse=True)
            counts = np.bincount(cell * k + codes, minlength=len(known) * k).reshape(-1, k)
            patterns.append(known)
            tables.append(counts / sizes)
        self.patterns_, self.tables_ = tuple(patterns), tuple(tables)

    def _draw_subsets(self, features: Any) -> None:
        varying, _, _ = feature_ranges(features, type(self).__name__)
        generator = np.random.default_rng(seed_sequence(self.random_state))
        size = min(self.subset_size, len(varying))
        n_subsets = self.n_subsets if size < len(varying) else 1
        drawn = np.stack([np.sort(generator.choice(varying, size, replace=False)) for _ in range(n_subsets)])
        self.words_, places = np.unique(drawn, return_inverse=True)
        self.subsets_ = places.reshape(drawn.shape)
        self.means_ = np.asarray(features.mean(axis=0), dtype=np.float64).ravel()[self.words_]

    def projected_validation(self, A: FloatArray) -> FloatArray:
        """Return A times the vector of each labelled item, made with the others."""
        outputs, codes = self.validation_outputs_, self.validation_codes_
        sizes = np.bincount(codes, minlength=len(self.classes_))[codes]
        vectors = self.representation.vectors(outputs).reshape(len(codes), len(self.subsets_), -1)
        rows = np.arange(len(codes))
        # The share n_c / n of the own class becomes (n_c - 1) / (n - 1); an only item of its class stays.
        own = (vectors[rows, :, codes] * sizes[:, None] - 1.0) / np.maximum(sizes - 1, 1)[:, None]
        vectors[rows, :, codes] = np.where(sizes[:, None] > 1, own, vectors[rows, :, codes])
        projected: FloatArray = vectors.reshape(len(codes), -1) @ A.T
        return projected
