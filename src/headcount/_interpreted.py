"""Run a kernel that was never compiled on this machine as plain Python where there is little work: the same bits, sooner.

Most kernels take longer to compile than a small table takes in plain Python.
"""

from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

__all__ = ["run"]

MOST_STEPS = 4_000_000
"""Steps of inner loops that a process runs of a kernel as plain Python before it compiles it: 0.2 to 0.5 s."""


class _Use:
    """How a process uses a kernel: the steps it has run as plain Python, until the kernel is compiled or found in the cache."""

    def __init__(self, dispatcher: Any) -> None:
        self.dispatcher = dispatcher
        self.steps = 0.0
        self.is_compiled = getattr(dispatcher._cache, "is_filled", False)

    def may_interpret(self, steps: float) -> bool:
        """Whether so many more steps are to be run as plain Python."""
        if self.is_compiled or self.dispatcher.overloads or self.steps + steps > MOST_STEPS:
            self.is_compiled = True
            return False
        self.steps += steps
        return True


_use = cache(_Use)


@cache
def _as_python(dispatcher: Any) -> Callable[..., Any]:
    """Return a kernel's Python function, which calls the Python functions of other kernels."""
    function = dispatcher.py_func
    names = dict(function.__globals__)
    for name in function.__code__.co_names:
        if hasattr(names.get(name), "py_func"):
            names[name] = _as_python(names[name])
    return FunctionType(function.__code__, names, function.__name__, function.__defaults__)


def run(function: Callable[..., Any], steps: float, *arguments: Any) -> Any:
    """Call a kernel; as plain Python if it would have to be compiled for little work.

    Only for kernels whose bits do not depend on it, that is without ``fastmath``, BLAS, and powers and
    logarithms of numpy (tests/test_interpreted.py).

    Parameters
    ----------
    function : kernel
    steps : float
        About how often the statements of its innermost loops are executed.
    """
    if hasattr(function, "py_func") and _use(function).may_interpret(steps):
        with np.errstate(all="ignore"):  # compiled code divides by zero and overflows silently
            return _as_python(function)(*arguments)
    return function(*arguments)
