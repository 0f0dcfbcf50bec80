"""Tests of the public names and of the cost of importing them."""

import ast
import builtins
import doctest
import inspect
import re
import subprocess
import sys

import pytest

import headcount
from headcount.quantifiers import list_methods


def test_every_public_name_is_importable_and_listed():
    for name in headcount.__all__:
        assert getattr(headcount, name) is not None
    assert set(headcount.__all__) <= set(dir(headcount))
    assert headcount.errors.ae([0.5, 0.5], [0.5, 0.5]) == 0
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = headcount.nothing


def run_in_new_process(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_slow_libraries_are_imported_only_when_used():
    slow = {
        "numba",
        "duckdb",
        "typer",
        "matplotlib",
        "jinja2",
        "torch",
        "dask",
    }  # not pandas: scikit-learn imports it if it is installed
    code = f"import sys; from headcount import *; print(sorted({slow} & set(sys.modules)))"
    assert run_in_new_process(code) == "[]"


def test_command_line_starts_without_importing_slow_libraries():
    slow = {"numpy", "sklearn", "scipy", "pandas", "pyarrow", "duckdb", "rich"}
    code = f"import sys, headcount.cli; print(sorted({slow} & set(sys.modules)))"
    assert run_in_new_process(code) == "[]"


def test_importing_adds_little_to_scikit_learn():
    # CPU time, not wall time: other tests may run at the same moment.
    code = "import time, sklearn.base; t = time.process_time(); import headcount; print(time.process_time() - t)"
    assert min(float(run_in_new_process(code)) for _ in range(3)) < 0.2


def test_importing_changes_nothing_global():
    code = (
        "import warnings, numpy as np, sklearn.feature_extraction.text; "
        "f = list(warnings.filters); s = np.random.get_state()[1].tolist(); "
        "from headcount import *; print(f == list(warnings.filters), s == np.random.get_state()[1].tolist())"
    )
    assert run_in_new_process(code) == "True True"


def undefined_names(example, own):
    """Names that an example reads and neither imports nor defines, builtins and the documented object apart."""
    tree, known = ast.parse(example), {own, *dir(builtins)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            known |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            known.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            known.add(node.name)
        elif isinstance(node, ast.arg):
            known.add(node.arg)
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - known


@pytest.mark.parametrize("name", [n for n in headcount.__all__ if inspect.getdoc(getattr(headcount, n))])
def test_examples_run_when_they_are_pasted(name):
    """Doctest gives an example the names of its module, which a reader of the page does not have."""
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(getattr(headcount, name)))
    assert undefined_names("".join(example.source for example in examples), name) == set()


@pytest.mark.parametrize("quantifier", {method.quantifier: None for method in list_methods()}, ids=lambda q: q.__name__)
def test_a_method_says_its_formula_reference_and_use(quantifier):
    text = inspect.getdoc(quantifier)
    _, _, references = text.partition("\nReferences\n----------\n")
    assert re.search(r"\((19|20)\d\d\)", references.partition("\nExamples\n--------\n")[0])
    assert ".. math::" in text or ":math:`" in text
    assert "\nExamples\n--------\n" in text
    assert re.search(r"when (not )?to use", text, re.IGNORECASE)
