"""Least squares over mixtures: the shares whose mixture of class profiles is nearest to an observed vector."""

import numpy as np

from headcount._interpreted import run
from headcount._threads import in_chunks
from headcount._typing import FloatArray
from headcount.exceptions import DataError

__all__ = ["mixture_least_squares"]

_CHUNK = 128
"""Samples solved by one thread at a time."""
_DEPENDENT, _PENALTY = 1e-10, 1e-10
"""Singular value of the scaled M below which its columns are dependent, and the weight of the sum of squares then."""
_GAP = 1e-14
"""Duality gap at which the algorithm stops; M is scaled to entries of at most 1 first."""
_STEPS_OF_WOLFE = 70.0
"""Steps that the algorithm takes for a sample, for each pair of classes."""


def mixture_least_squares(M: FloatArray, Q: FloatArray) -> FloatArray:
    r"""Solve :math:`\min_p \lVert M p - q \rVert^2` over the simplex, for all rows q of Q at once.

    Parameters
    ----------
    M : array of shape (n_features, n_classes)
        Column j is the profile of class j: the expected vector of its items. A stack of such matrices, of shape
        (n_samples, n_features, n_classes), gives each sample its own.
    Q : array of shape (n_samples, n_features)
        Mean vector of each sample.

    Returns
    -------
    array of shape (n_samples, n_classes)
        Optimal shares; where several are optimal (dependent columns), those with the least sum of squares: nothing is claimed of
        classes whose shares the profiles do not determine, which then share equally as far as the rest allows.

    References
    ----------
    Wolfe (1976). Finding the nearest point in a polytope. Mathematical Programming 11.

    Examples
    --------
    >>> M = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.2], [0.1, 0.1, 0.7]])
    >>> mixture_least_squares(M, (M @ [0.5, 0.3, 0.2])[None, :]).round(9).tolist()
    [[0.5, 0.3, 0.2]]
    """
    from headcount.simplex import _kernels

    if M.ndim not in (2, 3) or Q.ndim != 2 or M.shape[-2] != Q.shape[1] or (M.ndim == 3 and len(M) != len(Q)):
        raise DataError(
            f"M of shape {M.shape} and Q of shape {Q.shape} do not match: Q needs one column for each row of M, and a stack one "
            "matrix for each row of Q."
        )
    if not (np.isfinite(M).all() and np.isfinite(Q).all()):
        raise DataError("M and Q must be finite.")
    k = M.shape[-1]
    # Since p sums to 1, shifting or scaling M and Q together changes nothing, and only the part in the span of the columns of the
    # centred M matters. These coordinates keep profiles that differ by little (1e-10) as well conditioned as others.
    centre = M.mean(axis=-1)
    M, Q = M - centre[..., None], Q - centre
    rotation, M = np.linalg.qr(M)
    scale = np.abs(M).max(axis=(-2, -1))
    scale = np.where(scale > 0.0, scale, 1.0)
    Q = Q @ rotation if M.ndim == 2 else (Q[:, None, :] @ rotation)[:, 0, :]
    M, Q = M / scale[..., None, None], Q / scale[..., None]
    if k > 1:
        dependent = np.linalg.svd(M, compute_uv=False)[..., k - 2 :].max(axis=-1, initial=0.0) <= _DEPENDENT
        if dependent.any():
            # A small penalty on the sum of squares decides between shares that fit equally well; it moves others by about its size.
            penalty = np.where(dependent, np.sqrt(_PENALTY), 0.0)[..., None, None] * np.eye(k)
            M = np.concatenate([M, penalty], axis=-2)
            Q = np.column_stack([Q, np.zeros((len(Q), k))])
    if k == 2:
        return _of_two_classes(M, Q)
    M, Q = np.ascontiguousarray(M), np.ascontiguousarray(Q)
    P = np.empty((len(Q), k))

    def solve(start: int, stop: int) -> None:
        part = slice(start, stop)
        steps = (stop - start) * _STEPS_OF_WOLFE * k * k
        if M.ndim == 2:
            run(_kernels.nearest_mixtures, steps, M, Q[part], _GAP, P[part])
        else:
            run(_kernels.nearest_mixtures_of_each, steps, M[part], Q[part], _GAP, P[part])

    in_chunks(solve, len(Q), _CHUNK)
    return P


def _of_two_classes(M: FloatArray, Q: FloatArray) -> FloatArray:
    """Return the shares of two classes: the point of the segment between the columns of M that is nearest to each row of Q."""
    across = M[..., 1] - M[..., 0]
    length = (across * across).sum(axis=-1)
    second = ((Q - M[..., 0]) * across).sum(axis=-1) / np.where(length > 0.0, length, 1.0)
    second = np.clip(second, 0.0, 1.0)
    return np.column_stack([1.0 - second, second])
