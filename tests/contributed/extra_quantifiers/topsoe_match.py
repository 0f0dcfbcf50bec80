"""TopsoeMatch: the mixture of the classes' histograms of posteriors that is nearest to a sample's in Topsøe distance."""

import numpy as np

from headcount.quantifiers import Histograms, Solver, SumsQuantifier, register_method


class NearestByTopsoe(Solver):
    """The share whose mixture of histograms has the least Topsøe distance, by ternary search for all samples at once."""

    def __init__(self, tol=1e-6):
        self.tol = tol

    def solve(self, q, M):
        low, high = np.zeros(len(q)), np.ones(len(q))
        while (high - low).max() > self.tol:
            third = (high - low) / 3
            left, right = low + third, high - third
            nearer = topsoe(q, mixture(M, left)) <= topsoe(q, mixture(M, right))
            low, high = np.where(nearer, low, left), np.where(nearer, right, high)
        positive = (low + high) / 2
        return np.column_stack([1 - positive, positive])


def mixture(M, positive):
    return (1 - positive)[:, None] * M[:, 0] + positive[:, None] * M[:, 1]


def topsoe(p, q):
    """sum_b p_b log(2 p_b / (p_b + q_b)) + q_b log(2 q_b / (p_b + q_b))"""
    with np.errstate(divide="ignore", invalid="ignore"):
        both = p + q
        return (np.where(p > 0, p * np.log(2 * p / both), 0) + np.where(q > 0, q * np.log(2 * q / both), 0)).sum(axis=1)


@register_method("nearest mixture of histograms, by the Topsøe distance", "Maletzke et al. 2019", group="matching")
class TopsoeMatch(SumsQuantifier):
    r"""Match a sample's histogram of posteriors with a mixture of the two classes' histograms (Topsøe distance).

    References
    ----------
    Maletzke, dos Reis, Cherman and Batista (2019). DyS: a framework for mixture models in quantification. AAAI.
    """

    adjusts_for_shift = True
    max_classes = 2

    def __init__(self, classifier=None, *, n_bins=8, validation=0.4, random_state=None, classes=None):
        super().__init__(classifier, validation=validation, random_state=random_state, classes=classes)
        self.n_bins = n_bins

    @property
    def representation(self):
        return Histograms((self.n_bins,))

    @property
    def solver(self):
        return NearestByTopsoe()
