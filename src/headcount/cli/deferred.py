"""Put off what scikit-learn imports and a command hardly ever uses: ``scipy.stats`` until it is used, and pandas.

Both take longer to import than a thousand items take to estimate. The function below changes the modules of the process and its
garbage collection, which is why only the command line calls it, in a process of its own.
"""

import gc
import sys
from collections.abc import MutableSequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

__all__ = ["defer_slow_imports"]

_STATS = "scipy.stats"
_NAMES = ("chi2", "gmean", "rankdata", "spearmanr")
"""What modules of scikit-learn import by name from ``scipy.stats``, to use it later."""
_OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""Python's 700 make a tenth of a short command's time: each collection looks at modules, which are no garbage."""


def defer_slow_imports() -> None:
    """Import scikit-learn without pandas, and with a ``scipy.stats`` that is loaded when something of it is first used.

    A process that has imported one of them already is left as it is.
    """
    if {"pandas", "sklearn", _STATS} & set(sys.modules):
        return
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS, *gc.get_threshold()[1:])
    sys.modules[_STATS] = _DeferredStats(_STATS)
    sys.meta_path.insert(0, _PartsOfStats())
    sys.modules["pandas"] = None  # type: ignore[assignment]  # scikit-learn takes it for not installed
    try:
        import_module("sklearn.utils.fixes")
    finally:
        del sys.modules["pandas"]


class _DeferredStats(ModuleType):
    """Stands for ``scipy.stats`` until an attribute of it is needed."""

    __path__: MutableSequence[str] = []  # noqa: RUF012 (read as a module attribute)

    def __getattr__(self, name: str) -> Any:
        if name in _NAMES and sys.modules.get(_STATS) is self:
            return _Deferred(name)
        if name.startswith("__") and name != "__all__":
            raise AttributeError(
                name
            )  # whoever looks through all modules, as `inspect` does, needs nothing of this one
        return getattr(_loaded_stats(), name)


class _PartsOfStats(MetaPathFinder):
    """Loads ``scipy.stats`` when a module inside it is imported."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:  # noqa: ARG002
        if not fullname.startswith(f"{_STATS}.") or not isinstance(sys.modules.get(_STATS), _DeferredStats):
            return None
        _loaded_stats()
        loaded = sys.modules.get(fullname)
        return find_spec(fullname) if loaded is None else ModuleSpec(fullname, _Loaded(loaded))


class _Loaded(Loader):
    """Gives a module that was loaded while it was being looked for."""

    def __init__(self, module: ModuleType) -> None:
        self._module, self._spec = module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:  # noqa: ARG002
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec


def _loaded_stats() -> ModuleType:
    if isinstance(sys.modules.get(_STATS), _DeferredStats):
        del sys.modules[_STATS]
    return import_module(_STATS)


class _Deferred:
    """Stands for a function or a distribution of ``scipy.stats`` until it is used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return getattr(_loaded_stats(), self._name)(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(getattr(_loaded_stats(), self._name), name)
