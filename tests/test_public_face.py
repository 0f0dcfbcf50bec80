"""The public names, and what importing them costs."""

import subprocess
import sys

import pytest

import headcount


def test_every_public_name_is_there_and_listed():
    for name in headcount.__all__:
        assert getattr(headcount, name) is not None
    assert set(headcount.__all__) <= set(dir(headcount))
    assert headcount.errors.ae([0.5, 0.5], [0.5, 0.5]) == 0
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = headcount.nothing


def in_a_fresh_python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_slow_libraries_are_imported_only_when_used():
    slow = {"numba", "typer", "matplotlib", "jinja2", "torch", "dask"}  # scikit-learn itself imports pandas where it is
    code = f"import sys; from headcount import *; print(sorted({slow} & set(sys.modules)))"
    assert in_a_fresh_python(code) == "[]"


def test_the_command_starts_without_what_it_may_not_need():
    slow = {"numpy", "sklearn", "scipy", "pandas", "pyarrow", "rich"}
    code = f"import sys, headcount.cli; print(sorted({slow} & set(sys.modules)))"
    assert in_a_fresh_python(code) == "[]"


def test_importing_adds_little_to_scikit_learn():
    code = "import time, sklearn.base; t = time.perf_counter(); import headcount; print(time.perf_counter() - t)"
    assert min(float(in_a_fresh_python(code)) for _ in range(3)) < 0.2


def test_importing_changes_nothing_global():
    code = (
        "import warnings, numpy as np, sklearn.feature_extraction.text; "
        "f = list(warnings.filters); s = np.random.get_state()[1].tolist(); "
        "from headcount import *; print(f == list(warnings.filters), s == np.random.get_state()[1].tolist())"
    )
    assert in_a_fresh_python(code) == "True True"
