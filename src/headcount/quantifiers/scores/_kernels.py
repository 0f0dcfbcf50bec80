"""Compiled: mean ratios of the items of many samples, each at weights of its own."""

from headcount._compile import kernel
from headcount._typing import FloatArray, IntArray


@kernel(error_model="numpy")
def ratio_means(
    F: FloatArray, indices: IntArray, indptr: IntArray, factors: FloatArray, weights: FloatArray, means: FloatArray
) -> None:
    """Write to ``means[s]`` the mean of f / (w_s . f) over the items of sample s, where f are the densities of an item."""
    k = F.shape[1]
    for s in range(means.shape[0]):
        total = 0.0
        for c in range(k):
            means[s, c] = 0.0
        for t in range(indptr[s], indptr[s + 1]):
            factor = factors[t] if factors.size else 1.0
            if factor == 0.0:
                continue
            i = indices[t]
            mixed = 0.0
            for c in range(k):
                mixed += weights[s, c] * F[i, c]
            for c in range(k):
                means[s, c] += factor * F[i, c] / mixed
            total += factor
        for c in range(k):
            means[s, c] /= total
