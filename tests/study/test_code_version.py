"""The version of the code of a task: changes with what the code does, not with how it is written down."""

import os
import subprocess
import sys

import pytest

from headcount.study import code_version as module
from headcount.study import read_plan
from headcount.study.code_version import code_version, modules_of
from headcount.study.tasks import select_tasks

METHOD = '''"""A method."""

from typing import TYPE_CHECKING

from mypackage import helper

if TYPE_CHECKING:
    from mypackage.types_only import T


class Method:
    """A class."""

    names = frozenset({"a", "b", "c"})

    def fit(self, x: int = 1) -> int:
        """Fit."""
        if x in {"p", "q", "r"}:
            return None
        return helper(x) + 2  # two


def lazily():
    from . import kernels

    return kernels
'''
FILES = {
    "__init__": "from mypackage.inner import helper\nfrom mypackage.unused import thing\n",
    "inner": "import mypackage.deep\n\ndef helper(x):\n    return mypackage.deep.constant * x\n",
    "deep": "constant = 3\n",
    "kernels": "def kernel(x):\n    return x + 1\n",
    "unused": "thing = 1\n",
    "types_only": "T = int\n",
    "method": METHOD,
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return a function that writes the package with changes to its files and returns its version."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "mypackage").mkdir()

    def version(**changes):
        for name, text in (FILES | changes).items():
            (tmp_path / "mypackage" / f"{name}.py").write_text(text)
        for cached in (module._spec, module._module, module._distribution, module._version_of):
            cached.cache_clear()
        return code_version(["mypackage.method"])

    yield version
    for cached in (module._spec, module._module, module._distribution, module._version_of):
        cached.cache_clear()


def test_modules_that_a_module_imports_count_and_no_others(package):
    package()
    modules = ["mypackage.deep", "mypackage.inner", "mypackage.kernels", "mypackage.method"]
    assert modules_of(["mypackage.method"]) == modules


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("method", "helper(x) + 2", "helper(x) + 3"),
        ("method", "helper(x) + 2", "helper(x) - 2"),
        ("method", "x: int = 1", "x: int = 2"),
        ("method", '"c"})', '"d"})'),
        ("method", '"r"}', '"s"}'),
        ("method", "return helper(x)", "return abs(x)"),
        ("inner", "* x", "* (x or 1)"),
        ("deep", "3", "3.0"),
        ("kernels", "+ 1", "+ 2"),
    ],
)
def test_changes_that_count(package, name, old, new):
    before = package()
    assert old in FILES[name]
    assert package(**{name: FILES[name].replace(old, new)}) != before
    assert package() == before


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("method", "  # two", ""),
        ("method", '"""A method."""\n', ""),
        ("method", '"""A method."""\n', '"""Another."""\n\n\n# and a comment\n'),
        ("method", '    """A class."""\n\n', ""),
        ("method", '"""A class."""', '"""Another class."""'),
        ("method", '        """Fit."""\n', ""),
        ("method", '"""Fit."""', '"""Fit.\n\n        At length.\n        """'),
        ("deep", "constant", '"""It has one now."""\nconstant'),
        ("kernels", "    return", '    """Its docstring."""\n    return'),
        ("unused", "1", "2"),
        ("types_only", "int", "str"),
        ("__init__", "from mypackage.unused import thing\n", ""),
    ],
)
def test_changes_that_do_not_count(package, name, old, new):
    before = package()
    assert old in FILES[name]
    assert package(**{name: FILES[name].replace(old, new)}) == before


def test_version_does_not_depend_on_the_process():
    code = "from headcount.study.code_version import code_version; print(code_version(['headcount.quantifiers.sld']))"
    environment = os.environ | {"PYTHONHASHSEED": "7"}
    printed = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment
    ).stdout
    assert printed == code_version(["headcount.quantifiers.sld"]) + "\n"


def test_libraries_count_by_their_version_and_unknown_modules_by_name():
    assert modules_of(["sklearn.svm._classes", "numpy"]) == []
    assert modules_of(["pytest", "no.such.module"]) == ["no.such.module", "pytest"]
    assert module._digest_of("pytest") == pytest.__version__
    assert module._digest_of("no.such.module") == "unknown"


def test_tasks_have_the_code_of_their_methods_and_learners():
    tasks = {
        (task.learner, *task.methods): task.code for task in select_tasks(read_plan("stand-ins").with_runs(1), "x")
    }
    assert tasks["lr", "ACC", "PACC", "HDy"] != tasks["svm", "ACC", "PACC"]
    assert tasks["svm", "CC", "PCC"] == tasks["rf", "CC", "PCC"]  # scikit-learn's learners count by version
    modules = modules_of(["headcount.quantifiers.cc"])
    assert "headcount.quantifiers.sums" in modules
    assert not {"headcount.quantifiers.hdy", "headcount.quantifiers", "headcount._version"} & set(modules)
