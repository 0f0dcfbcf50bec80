"""Record warnings per thread. `warnings.catch_warnings` changes state of the whole process, so it can't tell threads apart."""

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["recorded_warnings"]

_lock = threading.Lock()
_thread = threading.local()
_recording: dict[str, Any] = {"blocks": 0, "context": None}
"""Number of ``with`` blocks now open in all threads, and the `catch_warnings` that the first of them entered."""


@contextmanager
def recorded_warnings() -> Iterator[list[Warning]]:
    """Collect the warnings that this thread raises inside the ``with`` block, instead of showing them."""
    outer = getattr(_thread, "caught", None)
    caught: list[Warning] = []
    _thread.caught = caught
    _enter()
    try:
        yield caught
    finally:
        _leave()
        _thread.caught = outer


def _enter() -> None:
    with _lock:
        if _recording["blocks"] == 0:
            context = warnings.catch_warnings()
            context.__enter__()
            warnings.simplefilter("always")
            show = warnings.showwarning

            def record(message: Any, category: type[Warning], *args: Any, **kwargs: Any) -> None:
                caught = getattr(_thread, "caught", None)
                if caught is None:  # raised in a thread that records nothing
                    show(message, category, *args, **kwargs)
                else:
                    caught.append(message if isinstance(message, Warning) else category(message))

            warnings.showwarning = record
            _recording["context"] = context
        _recording["blocks"] += 1


def _leave() -> None:
    with _lock:
        _recording["blocks"] -= 1
        if _recording["blocks"] == 0:
            _recording["context"].__exit__(None, None, None)
            _recording["context"] = None
