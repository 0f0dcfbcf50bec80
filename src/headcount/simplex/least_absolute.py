"""Least absolute differences over mixtures: the shares whose mixture of class profiles is nearest to a vector by the L1 norm."""

import numpy as np

from headcount._threads import in_chunks
from headcount._typing import FloatArray
from headcount.exceptions import DataError

__all__ = ["mixture_least_absolute"]

_CHUNK = 128
"""Samples solved by one thread at a time."""


def mixture_least_absolute(M: FloatArray, Q: FloatArray) -> FloatArray:
    r"""Solve :math:`\min_p \lVert M p - q \rVert_1` over the simplex, for all rows q of Q at once.

    A linear programme, solved exactly up to 1e-10 for each coordinate, by which targets are moved so that none of its corners is
    that of more planes than it has dimensions. Over cumulated frequencies the sum is the earth mover's distance.

    Parameters
    ----------
    M : array of shape (n_features, n_classes)
        Column j is the profile of class j.
    Q : array of shape (n_samples, n_features)

    Returns
    -------
    array of shape (n_samples, n_classes)
        Optimal shares; where several are, a corner of these.

    References
    ----------
    Barrodale and Roberts (1973). An improved algorithm for discrete L1 linear approximation. SIAM Journal on Numerical Analysis 10.

    Examples
    --------
    >>> M = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.2], [0.1, 0.1, 0.7]])
    >>> mixture_least_absolute(M, (M @ [0.5, 0.3, 0.2])[None, :]).round(6).tolist()
    [[0.5, 0.3, 0.2]]
    """
    from headcount.simplex import _absolute_kernels

    if M.ndim != 2 or Q.ndim != 2 or M.shape[0] != Q.shape[1]:
        raise DataError(
            f"M of shape {M.shape} and Q of shape {Q.shape} do not match: Q needs one column for each row of M."
        )
    if not (np.isfinite(M).all() and np.isfinite(Q).all()):
        raise DataError("M and Q must be finite.")
    scale = np.abs(M).max(initial=0.0) or 1.0
    M, Q = np.ascontiguousarray(M / scale), np.ascontiguousarray(Q / scale)
    P = np.empty((len(Q), M.shape[1]))
    in_chunks(lambda a, b: _absolute_kernels.nearest_by_absolute(M, Q[a:b], P[a:b]), len(Q), _CHUNK)
    return P
