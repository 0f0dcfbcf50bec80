"""Version of the code that a task runs: a hash of the compiled modules that its classes import, directly or indirectly.

Comments, docstrings, line numbers and file names do not count. Only bytecode is read, nothing is imported, and Python's own cache
of compiled modules makes that fast. Bytecode differs between minor versions of Python; `restamp` takes results over.
"""

import dis
import hashlib
import inspect
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import PackageNotFoundError, version
from types import CodeType
from typing import Any, NamedTuple

__all__ = ["code_version", "modules_of"]

_LIBRARIES = ("numpy", "scipy", "sklearn", "numba", "joblib", "pandas", "torch")
"""Packages that results name by version."""
_DESCRIBED_ELSEWHERE = (
    "headcount.data",  # data count by their fingerprint, however they were read
    "headcount.tables",
    "headcount.study.plan",  # what these make of a plan is the task's description
    "headcount.study.tasks",
    "headcount.quantifiers.catalogue",
    "headcount.study.store",  # how results are kept
    "headcount.selection.candidates",  # what is fitted together, which changes no figure
    "headcount.exceptions",
    "headcount._imports",
    "headcount._renamed",
    "headcount._typing",
    "headcount._version",
    "headcount._writing",
)
"""Modules that are not followed: results do not depend on them, or say otherwise what they depend on."""
_HAS_DOCSTRING = getattr(inspect, "CO_HAS_DOCSTRING", 0)
_IMPORT = dis.opmap["IMPORT_NAME"]


class _Module(NamedTuple):
    """The hash of a module's code, and what it imports as pairs of module and name ("" for the module itself)."""

    digest: str
    imports: tuple[tuple[str, str], ...]
    is_package: bool


def code_version(roots: Iterable[str]) -> str:
    """Return a hash of the code of these modules and of all that they import from their own packages.

    Parameters
    ----------
    roots : iterable of str
        Modules by name. One of an installed package other than Headcount counts by the package's version.

    Examples
    --------
    >>> code_version(["headcount.simplex"]) == code_version(["headcount.simplex"])
    True
    """
    return _version_of(frozenset(roots))


@cache
def _version_of(roots: frozenset[str]) -> str:
    lines = [f"{name} {_digest_of(name)}" for name in modules_of(roots)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def modules_of(roots: Iterable[str]) -> list[str]:
    """Return the modules that count for the code version of these roots, sorted by name."""
    found: set[str] = set()
    waiting = [root for root in roots if root.partition(".")[0] not in _LIBRARIES]
    while waiting:
        name = waiting.pop()
        if name in found or _is_described_elsewhere(name):
            continue
        found.add(name)
        package = name.partition(".")[0]
        module = None if _distribution(package) else _module(name)
        for source, attribute in module.imports if module else ():
            # A package of the user's may import Headcount: its bases matter as well.
            if source.partition(".")[0] in (package, "headcount"):
                waiting.append(_defining_module(source, attribute))
    return sorted(found)


def _is_described_elsewhere(name: str) -> bool:
    return any(name == module or name.startswith(f"{module}.") for module in _DESCRIBED_ELSEWHERE)


def _digest_of(name: str) -> str:
    installed = _distribution(name.partition(".")[0])
    if installed:
        return installed
    module = _module(name)
    return "unknown" if module is None else module.digest


@cache
def _distribution(package: str) -> str:
    """Return the version of an installed package; empty for Headcount, and for packages and modules of the user's own."""
    spec = _spec(package)
    if package == "headcount" or spec is None or not spec.origin:
        return ""
    if not spec.origin.startswith((sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))):
        return ""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


@cache
def _spec(name: str) -> ModuleSpec | None:
    """Find a module without importing it or the packages around it."""
    parent = name.rpartition(".")[0]
    path = None
    if parent:
        above = _spec(parent)
        if above is None or above.submodule_search_locations is None:
            return None
        path = list(above.submodule_search_locations)
    spec = PathFinder.find_spec(name, path)
    if spec is None and name in sys.modules:  # an editable installation, or a module that was loaded from a file
        spec = getattr(sys.modules[name], "__spec__", None)
    return spec


@cache
def _module(name: str) -> _Module | None:
    spec = _spec(name)
    get_code = getattr(getattr(spec, "loader", None), "get_code", None)
    code = None if spec is None or get_code is None else get_code(name)
    if spec is None or code is None:
        return None
    is_package = spec.submodule_search_locations is not None
    package = name if is_package else name.rpartition(".")[0]
    reader = _Reader(package)
    return _Module(reader.digest(code), tuple(reader.imports), is_package)


def _defining_module(source: str, attribute: str) -> str:
    """Return the module that ``from source import attribute`` reads: a package may only pass a name on."""
    module = _module(source)
    if not attribute or module is None or not module.is_package:
        return source
    if _spec(f"{source}.{attribute}") is not None:
        return f"{source}.{attribute}"
    for inner, name in module.imports:
        if name == attribute and inner != source:
            return _defining_module(inner, name)
    return source


class _Reader:
    """Hashes what code objects do, without docstrings and places in the source, and collects what they import.

    Parameters
    ----------
    package : str
        The package that relative imports start from.
    """

    def __init__(self, package: str) -> None:
        self.package = package
        self.imports: dict[tuple[str, str], None] = {}

    def digest(self, code: CodeType) -> str:
        """Return the hash of a code object and of those inside it."""
        is_function = bool(code.co_flags & inspect.CO_NEWLOCALS) and bool(code.co_flags & inspect.CO_OPTIMIZED)
        content = self._function(code) if is_function else self._body(code)
        names = (code.co_name, code.co_varnames, code.co_freevars, code.co_cellvars)
        counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags & ~_HAS_DOCSTRING)
        return hashlib.sha256(repr((names, counts, content)).encode()).hexdigest()

    def _function(self, code: CodeType) -> Any:
        """Return instructions and constants of a function, these numbered by first use: a docstring shifts their positions."""
        if _IMPORT in code.co_code[::2]:
            self._add_imports(list(dis.get_instructions(code)))
        instructions = bytearray(code.co_code)
        numbers: dict[int, int] = {}
        high = 0
        for i in range(0, len(instructions), 2):
            operation, argument = instructions[i], instructions[i + 1]
            if operation in _TAKES_CONSTANT:
                instructions[i + 1] = numbers.setdefault(high | argument, len(numbers)) & 0xFF
            high = (high | argument) << 8 if operation == dis.EXTENDED_ARG else 0
        constants = [self._plain(code.co_consts[number]) for number in numbers]
        return bytes(instructions), code.co_exceptiontable, code.co_names, constants

    def _body(self, code: CodeType) -> Any:
        """Return the instructions of the body of a module or class, without those that store its docstring."""
        instructions = list(dis.get_instructions(code))
        self._add_imports(instructions)
        content: list[Any] = []
        for instruction in instructions:
            if instruction.argval == "__doc__" and instruction.opname == "STORE_NAME":
                content.pop()
            else:
                by_value = instruction.opcode in _TAKES_VALUE
                content.append((instruction.opname, self._plain(instruction.argval) if by_value else instruction.arg))
        return content

    def _plain(self, constant: Any) -> Any:
        """Return a constant with a text that is the same in every process: sets have no order."""
        if isinstance(constant, CodeType):
            return self.digest(constant)
        if isinstance(constant, tuple):
            return [self._plain(entry) for entry in constant]
        if isinstance(constant, frozenset):
            return {"set": sorted(repr(self._plain(entry)) for entry in constant)}
        return constant

    def _add_imports(self, instructions: Sequence[dis.Instruction]) -> None:
        """Add what is imported, except for the type checker."""
        unused = -1
        for i, instruction in enumerate(instructions):
            if instruction.opcode == _IMPORT and instruction.offset >= unused:
                level, names = instructions[i - 2].argval, instructions[i - 1].argval
                source = instruction.argval
                if level:
                    above = self.package.split(".")[: self.package.count(".") + 2 - level]
                    source = ".".join([*above, *([source] if source else [])])
                self.imports.update(dict.fromkeys((source, name) for name in names or ("",)))
            elif instruction.argval == "TYPE_CHECKING" and instruction.opname.startswith("LOAD"):
                jumps = (later.argval for later in instructions[i + 1 : i + 4] if "IF_FALSE" in later.opname)
                unused = next(jumps, unused)


_TAKES_CONSTANT = frozenset(dis.hasconst)
_TAKES_VALUE = frozenset([*dis.hasconst, *dis.hasname, *dis.haslocal, *dis.hasfree])
