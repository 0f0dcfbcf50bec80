"""Work on the same items that several estimators need, done once."""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

__all__ = ["once", "shared_work"]

_results: ContextVar[dict[Hashable, Any] | None] = ContextVar("headcount_shared_work", default=None)


@contextmanager
def shared_work() -> Iterator[None]:
    """Keep the results of `once` until the block ends; in it items must stay as they are."""
    token = _results.set({})
    try:
        yield
    finally:
        _results.reset(token)


def once(X: Any, key: Hashable, make: Callable[[], Any]) -> Any:
    """Return ``make()``, called once for the same object X and key; None outside `shared_work`.

    Examples
    --------
    >>> X = [1, 2]
    >>> with shared_work():
    ...     first, second = (once(X, "sum", lambda: [sum(X)]) for _ in range(2))
    >>> first is second, once(X, "sum", lambda: [sum(X)])
    (True, None)
    """
    results = _results.get()
    if results is None:
        return None
    if (id(X), key) not in results:
        results[id(X), key] = X, make()  # X is kept, so that no other object gets its id
    return results[id(X), key][1]
