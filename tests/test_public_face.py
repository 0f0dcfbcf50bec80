"""Tests of the public names and of the cost of importing them."""

import subprocess
import sys

import pytest

import headcount


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
