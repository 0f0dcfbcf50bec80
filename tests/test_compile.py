import os
import subprocess
import sys

import numba
import pytest

from headcount import _compile


def double(x):
    return 2 * x


@pytest.mark.parametrize("writable", [True, False])
def test_kernels_compile_with_and_without_a_writable_cache(monkeypatch, writable):
    def njit(function, cache=False, **options):
        if cache and not writable:
            raise RuntimeError("cannot cache function: no locator available")
        return numba.njit(function, **options)

    monkeypatch.setattr(_compile, "njit", njit)
    assert _compile.kernel()(double)(21) == 42


KERNEL = """
import numpy as np
from headcount._compile import kernel


@kernel()
def solved(A, b):
    return np.linalg.solve(A, np.exp(b)) + np.ones(b.size)
"""
LOAD = """
import sys
import numpy as np
from kernels import solved

print(solved(np.diag([2.0, 4.0]), np.zeros(2)).tolist(), "numba.np.polynomial.polynomial_core" in sys.modules)
"""


def test_a_compiled_kernel_is_loaded_without_the_compiler(tmp_path):
    (tmp_path / "kernels.py").write_text(KERNEL)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "NUMBA_DISABLE_JIT": "0"}
    printed = [
        subprocess.run(
            [sys.executable, "-c", LOAD], capture_output=True, text=True, check=True, cwd=tmp_path, env=environment
        ).stdout.strip()
        for _ in range(2)
    ]
    assert printed == ["[1.5, 1.25] True", "[1.5, 1.25] False"]
