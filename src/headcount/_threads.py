"""Run a compiled kernel over chunks of samples: in threads in the main program, in sequence inside a worker.

The kernels release the interpreter's lock and each thread writes the results of its samples only, so the result has the same
bits for any number of threads. Threads live for one call: a pool that stays would be broken in a forked child.
"""

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import lru_cache
from multiprocessing import parent_process
from typing import Any

__all__ = ["SharedContext", "in_chunks", "one_blas_thread", "thread_count"]


@lru_cache(maxsize=1)
def _cores() -> int:
    from joblib import cpu_count  # respects affinity masks and container limits

    return int(cpu_count())


def thread_count() -> int:
    """Return the number of threads for a kernel: 1 inside a worker, else the cores, or fewer if ``OMP_NUM_THREADS`` is set."""
    in_worker = threading.current_thread() is not threading.main_thread() or parent_process() is not None
    if in_worker:
        return 1
    limit = os.environ.get("OMP_NUM_THREADS", "")  # joblib sets it in its process workers
    return max(1, min(_cores(), int(limit))) if limit.isdigit() else _cores()


def in_chunks(work: Callable[[int, int], None], n: int, chunk: int) -> None:
    """Call ``work(start, stop)`` for the consecutive chunks of ``range(n)``."""
    starts = iter(range(0, n, chunk))
    helpers = min(thread_count(), -(-n // chunk)) - 1

    def take_chunks() -> None:
        for start in starts:  # shared by the threads: taking the next start is atomic under the interpreter's lock
            work(start, min(start + chunk, n))

    if helpers <= 0:
        take_chunks()
        return
    with ThreadPoolExecutor(helpers) as pool:
        pending = [pool.submit(take_chunks) for _ in range(helpers)]
        take_chunks()
        for future in pending:
            future.result()


@lru_cache(maxsize=1)
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()  # kept, because finding the libraries takes milliseconds


class SharedContext:
    """A context of the whole process: the first thread that comes into the ``with`` block enters it, the last one leaves it.

    Parameters
    ----------
    make : callable
        Returns the context manager that is entered.
    """

    def __init__(self, make: Callable[[], AbstractContextManager[Any]]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._inside = 0

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._context = self._make()
                self._context.__enter__()
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._context.__exit__(None, None, None)


_blas = SharedContext(lambda: _controller().limit(limits=1, user_api="blas"))


def one_blas_thread() -> AbstractContextManager[None]:
    """Limit BLAS to one thread inside the ``with`` block: fits are faster, and have the same bits for any ``n_jobs``."""
    return _blas
