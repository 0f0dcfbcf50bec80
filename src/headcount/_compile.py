"""Compile kernels with numba, cached on disk where a folder is writable."""

from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core.caching import FunctionCache
from numba.core.runtime.nrt import rtsys

__all__ = ["kernel"]


class _CompiledKernels(FunctionCache):
    """Loads compiled kernels without what only the compiler needs.

    Numba's own cache prepares the compiler first, which takes longer than to load ten kernels; where one must be compiled, the
    compiler prepares itself. Kernels must not hash texts or use numba's threads, which need more than the runtime.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        rtsys.initialize(target_context)  # by which kernels allocate arrays
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]


def kernel(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that compiles a function at its first call, to run without the interpreter's lock.

    If neither the folder of the package nor the user's cache folder is writable (a read-only container), each process compiles
    it again.
    """

    def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
        try:
            dispatcher = njit(function, cache=True, nogil=True, **options)
        except RuntimeError:  # numba: "cannot cache function: no locator available"
            return njit(function, nogil=True, **options)  # type: ignore[no-any-return]
        if isinstance(getattr(dispatcher, "_cache", None), FunctionCache):
            dispatcher._cache = _CompiledKernels(function)  # type: ignore[no-untyped-call]
        return dispatcher  # type: ignore[no-any-return]

    return compiled
