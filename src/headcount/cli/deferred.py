"""Put off what scikit-learn and numba import and a command hardly ever uses, until it is used.

These imports take longer than a thousand items take to estimate. The function below changes how the process imports and collects
garbage, which is why only the command line calls it, in a process of its own.
"""

import gc
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from threading import RLock
from types import ModuleType
from typing import Any

__all__ = ["defer_slow_imports"]

_DEFERRED: Mapping[str, Sequence[str]] = {
    "asyncio": (),
    "http.client": (),
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
    "sklearn.ensemble": (),
    "sklearn.linear_model": (),
    "sklearn.metrics": ("accuracy_score", "r2_score"),
    "sklearn.neighbors": (),
    "urllib.request": (),
    "yaml": (),
}
"""Modules that are run when something of them is used, and the names that others import from them to use later."""
_ALL = ("*",)
_OPEN: Mapping[str, Sequence[str]] = {
    "narwhals": _ALL,
    "narwhals.stable": _ALL,
    "narwhals.stable.v2": _ALL,
    "scipy.linalg": ("cython_blas", "cython_lapack"),
    "scipy.special": _ALL,
    "sklearn.callback": _ALL,
    "sklearn.ensemble": ("_base", "_bootstrap", "_forest"),
    "sklearn.linear_model": ("_base",),
    "sklearn.neighbors": ("_quad_tree",),
}
"""Deferred packages, and modules inside that can be imported before the package is run, since they need nothing of it."""
_PARTS: Mapping[str, Sequence[str]] = {
    "scipy.special": ("_ufuncs", "_logsumexp"),
    "sklearn.callback": ("_callback_support",),
}
"""Modules inside a deferred package that its names are looked for in, before all of it is run."""
_LOCK, _RUNNING = "__deferred__", "__running__"
"""Attributes of a deferred module: the lock of the thread that runs it, and whether it is or was run."""
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
    """Finds the modules that are deferred, and runs them before modules inside that need them."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        package, _, name = fullname.rpartition(".")
        if package in _DEFERRED and _OPEN.get(package, ()) is not _ALL and name not in _OPEN.get(package, ()):
            _run(sys.modules[package])
            if fullname in sys.modules:
                return ModuleSpec(fullname, _Imported(sys.modules[fullname]))
        if fullname not in _DEFERRED:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _DeferringLoader(spec.loader)
        return spec


class _Imported(Loader):
    """Gives a module that was imported while it was being looked for."""

    def __init__(self, module: ModuleType) -> None:
        self._module, self._spec = module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:  # noqa: ARG002
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec


class _DeferringLoader(Loader):
    """Makes a module that is run later, by its own loader."""

    def __init__(self, loader: Loader) -> None:
        self.loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _DeferredModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__[_LOCK] = RLock()


class _DeferredModule(ModuleType):
    """A module that is run when an attribute is needed that is not there; modules inside it may be imported before."""

    def __getattr__(self, name: str) -> Any:
        values = self.__dict__
        is_special = (
            name.startswith("__") and name != "__all__"
        )  # whoever looks through all modules needs nothing of this one
        if not is_special:
            with values[_LOCK]:  # another thread may be running it
                if not values.get(_RUNNING):
                    found = _found_before(self, name)
                    if found is not None:
                        return found
                    _run(self)
        if type(self) is ModuleType:  # it was run
            return getattr(self, name)
        raise AttributeError(f"module {values['__name__']!r} has no attribute {name!r}")


def _found_before(module: ModuleType, name: str) -> Any:
    """Return what a name stands for before the module is run; None if it must be run to know."""
    package = module.__name__
    if name in _OPEN.get(package, ()) or (_OPEN.get(package) is _ALL and find_spec(f"{package}.{name}") is not None):
        return import_module(f"{package}.{name}")
    for part in _PARTS.get(package, ()):
        found = getattr(import_module(f"{package}.{part}"), name, None)
        if found is not None:
            return found
    return _DeferredName(module, name) if name in _DEFERRED[package] else None


def _run(module: ModuleType) -> None:
    """Run a deferred module, unless it was run or is being run by this thread."""
    values = module.__dict__
    with values.get(_LOCK, nullcontext()):
        if _LOCK not in values or values.get(_RUNNING):
            return
        values[_RUNNING] = True
        spec: Any = module.__spec__
        deferring, spec.loader = spec.loader, spec.loader.loader
        try:
            spec.loader.exec_module(module)
        except BaseException:
            values[_RUNNING], spec.loader = False, deferring
            raise
        module.__loader__, module.__class__ = spec.loader, ModuleType


class _DeferredName:
    """Stands for a function or a class of a deferred module until it is used."""

    def __init__(self, module: ModuleType, name: str) -> None:
        self._module, self._name = module, name

    def _value(self) -> Any:
        _run(self._module)
        return getattr(self._module, self._name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._value()(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._value(), name)
