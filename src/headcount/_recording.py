"""Recording the warnings of work that runs in several threads at once, which `warnings.catch_warnings` can't do."""

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["recorded_warnings"]

_lock = threading.Lock()
_here = threading.local()
_open: dict[str, Any] = {"count": 0, "context": None}


@contextmanager
def recorded_warnings() -> Iterator[list[Warning]]:
    """Collect the warnings that this thread gives inside the ``with`` block, instead of showing them."""
    before = getattr(_here, "caught", None)
    caught: list[Warning] = []
    _here.caught = caught
    _enter()
    try:
        yield caught
    finally:
        _leave()
        _here.caught = before


def _enter() -> None:
    with _lock:
        if _open["count"] == 0:
            context = warnings.catch_warnings()
            context.__enter__()
            warnings.simplefilter("always")
            shown = warnings.showwarning

            def note(message: Any, category: type[Warning], *place: Any, **more: Any) -> None:
                caught = getattr(_here, "caught", None)
                if caught is None:  # of a thread that is none of ours
                    shown(message, category, *place, **more)
                else:
                    caught.append(message if isinstance(message, Warning) else category(message))

            warnings.showwarning = note
            _open["context"] = context
        _open["count"] += 1


def _leave() -> None:
    with _lock:
        _open["count"] -= 1
        if _open["count"] == 0:
            _open["context"].__exit__(None, None, None)
            _open["context"] = None
