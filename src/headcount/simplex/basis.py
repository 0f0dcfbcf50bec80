"""An orthonormal basis of the directions in which shares can change."""

from functools import lru_cache

import numpy as np

from headcount._typing import FloatArray

__all__ = ["sum_zero_basis"]


@lru_cache
def sum_zero_basis(k: int) -> FloatArray:
    """Return an orthonormal basis, in columns, of the vectors of length k that sum to 0: the directions of the simplex."""
    full, _ = np.linalg.qr(np.column_stack([np.ones(k), np.eye(k)[:, : k - 1]]))
    return full[:, 1:]
