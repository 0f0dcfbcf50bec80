"""Compiled product of a Hessian with a vector, for sparse items and one score an item."""

from headcount._compile import kernel
from headcount._typing import FloatArray, IntArray


@kernel()
def curvature_product(
    indptr: IntArray, indices: IntArray, data: FloatArray, curvature: FloatArray, v: FloatArray, out: FloatArray
) -> None:
    """Write X' D X v to ``out``; the last entry of v and out belongs to a constant feature 1. Rows with curvature 0 are skipped.

    One pass over the rows: half the memory traffic of two sparse products.
    """
    last = v.size - 1
    out[:] = 0.0
    for i in range(curvature.size):
        if curvature[i] == 0.0:
            continue
        score = v[last]
        for j in range(indptr[i], indptr[i + 1]):
            score += data[j] * v[indices[j]]
        score *= curvature[i]
        out[last] += score
        for j in range(indptr[i], indptr[i + 1]):
            out[indices[j]] += score * data[j]
