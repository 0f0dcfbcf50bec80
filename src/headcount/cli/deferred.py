"""Put off what scikit-learn and numba import and a command hardly ever uses, until it is used.

These imports take longer than a thousand items take to estimate. The function below changes how the process imports and collects
garbage, which is why only the command line calls it, in a process of its own.
"""

import gc
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from threading import RLock
from types import ModuleType
from typing import Any

__all__ = ["defer_slow_imports"]

_DEFERRED: Mapping[str, Sequence[str]] = {
    "asyncio": (),
    "narwhals": (),
    "narwhals.stable": (),
    "narwhals.stable.v2": (),
    "numpy.f2py": (),
    "numpy.testing": (),
    "psutil": (),
    "scipy.integrate": (),
    "scipy.interpolate": ("BSpline",),
    "scipy.linalg": (),
    "scipy.optimize": ("brentq",),
    "scipy.sparse.csgraph": (),
    "scipy.sparse.linalg": ("cg", "lsqr"),
    "scipy.spatial": (),
    "scipy.special": ("boxcox", "comb", "inv_boxcox"),
    "scipy.stats": ("chi2", "gmean", "rankdata", "spearmanr"),
    "sklearn.callback": (),
    "sklearn.linear_model": (),
    "yaml": (),
}
"""Modules that are run when something of them is used, and the names that others import from them to use later."""
_PARTS: Mapping[str, Sequence[str]] = {
    "narwhals.stable.v2": ("dependencies",),
    "scipy.special": ("_ufuncs", "_logsumexp"),
    "sklearn.callback": ("_callback_support",),
}
"""Modules inside a deferred one that its names are looked for in, before all of it is run."""
_OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""Python's 700 make a tenth of a short command's time: each collection looks at modules, which are no garbage."""


def defer_slow_imports() -> None:
    """Import scikit-learn without pandas, and the modules above such that they are run when something of them is first used.

    A process that has imported pandas, scikit-learn or ``scipy.stats`` already is left as it is.
    """
    if {"pandas", "sklearn", "scipy.stats"} & set(sys.modules):
        return
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS, *gc.get_threshold()[1:])
    sys.meta_path.insert(0, _DeferringFinder())
    sys.modules.setdefault("coverage", None)  # type: ignore[arg-type]  # numba would import it to see whether it is running
    sys.modules["pandas"] = None  # type: ignore[assignment]  # scikit-learn takes it for not installed
    try:
        import_module("sklearn.utils.fixes")
    finally:
        del sys.modules["pandas"]


class _DeferringFinder(MetaPathFinder):
    """Finds the modules that are deferred."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname not in _DEFERRED:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _DeferringLoader(spec.loader)
        return spec


class _DeferringLoader(Loader):
    """Makes a module that is run later, by its own loader."""

    def __init__(self, loader: Loader) -> None:
        self.loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _DeferredModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["__deferred__"] = RLock()


class _DeferredModule(ModuleType):
    """A module that is run when an attribute is needed that is not there; modules inside it may be imported before."""

    def __getattr__(self, name: str) -> Any:
        values = self.__dict__
        lock = values.get("__deferred__")
        if lock is None or (name.startswith("__") and name != "__all__"):  # whoever looks through all modules needs nothing
            raise AttributeError(f"module {values['__name__']!r} has no attribute {name!r}")
        full_name = values["__name__"]
        if name in _DEFERRED[full_name]:
            return _DeferredName(self, name)
        for part in _PARTS.get(full_name, ()):
            if part == name:
                return import_module(f"{full_name}.{name}")
            found = getattr(import_module(f"{full_name}.{part}"), name, None)
            if found is not None:
                return found
        _run(self, lock)
        return getattr(self, name)


def _run(module: ModuleType, lock: Any) -> None:
    """Run a deferred module, unless another thread has."""
    with lock:
        if module.__dict__.pop("__deferred__", None) is None:
            return
        spec: Any = module.__spec__
        spec.loader = module.__loader__ = spec.loader.loader
        spec.loader.exec_module(module)


class _DeferredName:
    """Stands for a function or a class of a deferred module until it is used."""

    def __init__(self, module: ModuleType, name: str) -> None:
        self._module, self._name = module, name

    def _value(self) -> Any:
        lock = self._module.__dict__.get("__deferred__")
        if lock is not None:
            _run(self._module, lock)
        return getattr(self._module, self._name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._value()(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._value(), name)
