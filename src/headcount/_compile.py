"""Compiling kernels: numba, with what it compiled kept on disk where there is a place for that."""

from collections.abc import Callable
from typing import Any

from numba import njit

__all__ = ["kernel"]


def kernel(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function when it is first called; it runs without the interpreter's lock.

    Where neither the package's folder nor the user's cache folder can be written to (a read-only container), it is compiled anew in
    each process.
    """

    def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
        try:
            return njit(function, cache=True, nogil=True, **options)  # type: ignore[no-any-return]
        except RuntimeError:  # numba: "cannot cache function: no locator available"
            return njit(function, nogil=True, **options)  # type: ignore[no-any-return]

    return compiled
