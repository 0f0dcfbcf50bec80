"""Record warnings per thread. `warnings.catch_warnings` changes state of the whole process, so it can't tell threads apart."""

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from headcount._threads import SharedContext

__all__ = ["recorded_warnings"]

_thread = threading.local()


@contextmanager
def recorded_warnings() -> Iterator[list[Warning]]:
    """Collect the warnings that this thread raises inside the ``with`` block, instead of showing them."""
    outer = getattr(_thread, "caught", None)
    caught: list[Warning] = []
    _thread.caught = caught
    try:
        with _recording:
            yield caught
    finally:
        _thread.caught = outer


@contextmanager
def _recording_by_thread() -> Iterator[None]:
    """Give each warning to the list of the thread that raises it; a thread that records nothing shows it."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        show = warnings.showwarning

        def record(message: Any, category: type[Warning], *args: Any, **kwargs: Any) -> None:
            caught = getattr(_thread, "caught", None)
            if caught is None:
                show(message, category, *args, **kwargs)
            else:
                caught.append(message if isinstance(message, Warning) else category(message))

        warnings.showwarning = record
        yield


_recording = SharedContext(_recording_by_thread)
