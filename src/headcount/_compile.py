"""Compile kernels with numba, cached on disk where a folder is writable; what the cache holds is checked before it is used."""

import contextlib
import gc
import hashlib
import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit
from numba.core import event
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.runtime.nrt import rtsys

__all__ = ["kernel"]

_DIGEST_BYTES = 32
_OPTIONS: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True}
"""Of every kernel; no wrapper for calls from C is made, because they are called from Python or from other kernels."""


class _CheckedFiles(IndexDataCacheFile):
    """Cache files that begin with the SHA-256 of the rest: a damaged one counts as missing.

    Numba itself unpickles whatever a file holds: a truncated one raises an error of any kind, and changed machine code is run.
    Each compiled kernel is kept with its key, because two processes that save at once may give two kernels one file name.
    """

    def _load_index(self) -> dict[Any, str]:
        match self._read(self._index_name):  # another version of this library may have written something else
            case (self._version, self._source_stamp, dict(names)):
                return names
        return {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._write(self._index_name, (self._version, self._source_stamp, overloads))

    def save(self, key: Any, data: Any) -> None:
        super().save(key, (key, data))  # type: ignore[no-untyped-call]

    def load(self, key: Any) -> Any:
        saved_key, data = super().load(key) or (None, None)  # type: ignore[no-untyped-call]
        return data if saved_key == key else None

    def _load_data(self, name: str) -> Any:
        return self._read(name)

    def _save_data(self, name: str, data: Any) -> None:
        self._write(name, data)

    def _read(self, name: str) -> Any:
        """Content of a file, or None if it is missing, damaged or can't be unpickled by these versions of Python and numba."""
        with contextlib.suppress(Exception):
            content = Path(self._cache_path, name).read_bytes()
            digest, packed = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
            if hashlib.sha256(packed).digest() == digest:
                return pickle.loads(packed)
        return None

    def _write(self, name: str, content: Any) -> None:
        packed = self._dump(content)  # type: ignore[no-untyped-call]
        with self._open_for_write(str(Path(self._cache_path, name))) as file:
            file.write(hashlib.sha256(packed).digest() + packed)


class _CompiledKernels(FunctionCache):
    """Loads compiled kernels without what only the compiler needs, and never fails: what can't be loaded is compiled.

    Numba's own cache prepares the compiler first, which takes longer than to load ten kernels; where one must be compiled, the
    compiler prepares itself. Kernels must not hash texts or use numba's threads, which need more than the runtime.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._cache_file = _CheckedFiles(  # type: ignore[no-untyped-call]
            cache_path=self._cache_path,
            filename_base=f"{self._impl.filename_base}.checked",  # plain numba must not find these files
            source_stamp=(self._impl.locator.get_source_stamp(), _stamps_of_globals(function)),
        )

    @property
    def is_filled(self) -> bool:
        """Whether the cache holds the kernel for any types of arguments."""
        return bool(self._cache_file._load_index())  # type: ignore[no-untyped-call]

    @property
    def source_stamp(self) -> Any:
        """What changes with the code of the kernel, or of those that it calls."""
        return self._cache_file._source_stamp

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        rtsys.initialize(target_context)  # by which kernels allocate arrays
        try:
            return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except Exception:  # whatever code of another version of llvmlite, or for another processor, may raise
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with contextlib.suppress(
            OSError
        ):  # a full disk, a folder that has become read-only: the next process compiles again
            self._save_overload(sig, data)  # type: ignore[no-untyped-call]


def _stamps_of_globals(function: Callable[..., Any]) -> tuple[tuple[str, Any], ...]:
    """Kernels and numbers of other modules that are compiled into a function: numba looks at the function's own file only."""
    code, names = function.__code__, function.__globals__
    stamps = []
    for name in sorted(set(code.co_names)):
        value = names.get(name)
        cache = getattr(value, "_cache", None)
        if isinstance(cache, _CompiledKernels):
            stamps.append((name, cache.source_stamp))
        elif isinstance(value, int | float):
            stamps.append((name, value))
    return tuple(stamps)


class _PauseCollection(event.Listener):
    """Collects no garbage while kernels of this library are compiled.

    The compiler makes millions of small objects, and each full collection visits all that a process holds: 0.75 of 3.3 s in a fit.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_compiling = 0
        self._was_enabled = False

    def on_start(self, event: Any) -> None:
        if _is_ours(event):
            with self._lock:
                if self._n_compiling == 0:
                    self._was_enabled = gc.isenabled()
                    gc.disable()
                self._n_compiling += 1

    def on_end(self, event: Any) -> None:  # numba calls it also where the compiler fails
        if _is_ours(event):
            with self._lock:
                self._n_compiling -= 1
                if self._n_compiling == 0 and self._was_enabled:
                    gc.enable()


def _is_ours(event: Any) -> bool:
    return isinstance(getattr(event.data["dispatcher"], "_cache", None), _CompiledKernels)


event.register("numba:compile", _PauseCollection())  # type: ignore[no-untyped-call]


def kernel(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that compiles a function at its first call, to run without the interpreter's lock.

    If neither the folder of the package nor the user's cache folder is writable (a read-only container), each process compiles
    it again.
    """

    def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
        dispatcher = njit(function, **_OPTIONS, **options)
        if hasattr(dispatcher, "_cache"):  # no more than the function where numba is switched off
            with contextlib.suppress(
                OSError, RuntimeError, ValueError
            ):  # numba: "no locator available" and what locators raise
                dispatcher._cache = _CompiledKernels(function)
        return dispatcher  # type: ignore[no-any-return]

    return compiled
