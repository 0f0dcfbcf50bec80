"""Compile kernels with numba, cached on disk where a folder is writable."""

from collections.abc import Callable
from typing import Any

from numba import njit

__all__ = ["kernel"]


def kernel(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that compiles a function at its first call, to run without the interpreter's lock.

    If neither the folder of the package nor the user's cache folder is writable (a read-only container), each process compiles
    it again.
    """

    def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
        try:
            return njit(function, cache=True, nogil=True, **options)  # type: ignore[no-any-return]
        except RuntimeError:  # numba: "cannot cache function: no locator available"
            return njit(function, nogil=True, **options)  # type: ignore[no-any-return]

    return compiled
