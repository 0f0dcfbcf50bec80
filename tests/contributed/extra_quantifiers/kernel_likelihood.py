"""KernelLikelihood: maximum likelihood shares, with kernel densities of the posteriors of each class (as KDEy-ML)."""

import numpy as np
from scipy.special import logsumexp

from headcount.quantifiers import DensitiesQuantifier, register_method


@register_method("maximum likelihood over kernel densities of posteriors", "Moreo et al. 2024", group="likelihood")
class KernelLikelihood(DensitiesQuantifier):
    r"""Find the most likely shares, where the density of class j is a mean of Gaussian kernels about its validation items.

    .. math:: f_j(x) \propto \frac{1}{n_j} \sum_{i : y_i = j} \exp(-\lVert P(x) - P(x_i) \rVert^2 / 2 h^2)

    References
    ----------
    Moreo, González and del Coz (2024). Kernel density estimation for multiclass quantification. Machine Learning.
    """

    adjusts_for_shift = True

    def __init__(self, classifier=None, *, bandwidth=0.1, validation=0.4, random_state=None, classes=None):
        super().__init__(classifier, validation=validation, random_state=random_state, classes=classes)
        self.bandwidth = bandwidth

    def _learn_densities(self, outputs, codes):
        P = outputs.need("posteriors")
        self.points_ = [P[codes == j] for j in range(len(self.classes_))]

    def densities(self, outputs):
        P = outputs.need("posteriors")
        logs = np.column_stack([self._log_density(P, points) for points in self.points_])
        return np.exp(logs - logs.max(axis=1, keepdims=True))  # known up to a factor for each item

    def _log_density(self, P, points):
        squares = (P**2).sum(axis=1)[:, None] + (points**2).sum(axis=1) - 2 * P @ points.T
        return logsumexp(-squares / (2 * self.bandwidth**2), axis=1) - np.log(len(points))
