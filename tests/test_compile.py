"""The cache of compiled kernels, also damaged, full or changed."""

import errno
import gc
import hashlib
import os
import pickle
import runpy
import subprocess
import sys

import numba
import pytest
from numba.core import event

from headcount._compile import kernel


def double(x):
    return 2 * x


helper, OFFSET = double, 0  # replaced by a test


compiled = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="numba is switched off: nothing is compiled")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The folder of compiled kernels of this module, empty."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def n_compiled(function, *arguments):
    """Call a function as a new process would; return its result, and how many signatures had to be compiled."""
    dispatcher = kernel()(function)
    result = dispatcher(*arguments)
    return result, sum(dispatcher.stats.cache_misses.values())


def change_byte(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


DAMAGE = {
    "empty": lambda content: b"",
    "truncated": lambda content: content[:-100],
    "garbage": lambda content: b"garbage" * 50,
    "changed": change_byte,
    "of another program": lambda content: pickle.dumps("0.1") + pickle.dumps(("stamp", {})),
}


@compiled
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_a_damaged_cache_file_is_written_again(cache, ending):
    assert n_compiled(double, 21) == (42, 1)
    (path,) = cache.rglob(f"*.{ending}")
    whole = path.read_bytes()
    for damage in DAMAGE.values():
        path.write_bytes(damage(whole))
        assert n_compiled(double, 21) == (42, 1)
        assert n_compiled(double, 21) == (42, 0)
    path.unlink()
    path.mkdir()  # which can be neither read nor replaced
    assert n_compiled(double, 21) == (42, 1)


@compiled
def test_an_index_that_holds_something_else_is_written_again(cache):
    """As another version of this library may write it, with a checksum that fits."""
    assert n_compiled(double, 21) == (42, 1)
    (path,) = cache.rglob("*.nbi")
    for content in (None, (), ("x",), ("a", "b", {}), (numba.__version__, "stamp", 7), {"a": 1}, 7):
        packed = pickle.dumps(content)
        path.write_bytes(hashlib.sha256(packed).digest() + packed)
        assert n_compiled(double, 21) == (42, 1)
        assert n_compiled(double, 21) == (42, 0)


@compiled
def test_a_kernel_under_the_name_of_another_is_not_loaded(cache):
    n_compiled(double, 21)
    n_compiled(double, 0.25)
    whole, fraction = sorted(cache.rglob("*.nbc"))
    whole.write_bytes(fraction.read_bytes())
    assert n_compiled(double, 21) == (42, 1)


@compiled
def test_a_kernel_is_compiled_again_when_one_that_it_calls_or_a_constant_has_changed(cache, tmp_path, monkeypatch):
    def caller(x):
        return helper(x) + OFFSET

    def load_helper(factor):
        (tmp_path / "helper.py").write_text(f"def helper(x):\n    return {factor} * x\n")
        monkeypatch.setitem(globals(), "helper", kernel()(runpy.run_path(str(tmp_path / "helper.py"))["helper"]))

    load_helper(2)
    monkeypatch.setitem(globals(), "OFFSET", 1)
    assert n_compiled(caller, 21) == (43, 1)
    assert n_compiled(caller, 21) == (43, 0)
    monkeypatch.setitem(globals(), "OFFSET", 2)
    assert n_compiled(caller, 21) == (44, 1)
    load_helper(30)
    assert n_compiled(caller, 21) == (632, 1)


@compiled
def test_a_full_disk_and_a_folder_that_is_none_are_bypassed(cache, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("numba.core.caching.IndexDataCacheFile._open_for_write", full)
        assert n_compiled(double, 21) == (42, 1)
    cache_file = cache.with_name("file")
    cache_file.write_text("")
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(cache_file))
    assert n_compiled(double, 21)[0] == 42


@compiled
@pytest.mark.parametrize(
    "error", [RuntimeError("no locator available"), ValueError("No zip file found in path"), OSError()]
)
def test_kernels_compile_without_a_cache(monkeypatch, error):
    def no_locator(*_):
        raise error

    monkeypatch.setattr("numba.core.caching.CompileResultCacheImpl.__init__", no_locator)
    assert n_compiled(double, 21)[0] == 42


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


class Recorded(event.Listener):
    """Whether garbage is collected while each kernel is compiled."""

    def __init__(self):
        self.collects = []

    def on_start(self, _):
        self.collects.append(gc.isenabled())

    def on_end(self, _):
        pass


@compiled
def test_no_garbage_is_collected_while_a_kernel_is_compiled(cache):
    def fails(x):
        return x.no_such_attribute

    with event.install_listener("numba:compile", recorded := Recorded()):
        assert kernel()(double)(21) == 42
        with pytest.raises(numba.TypingError):
            kernel()(fails)(1)
        assert recorded.collects == [False, False]
        assert gc.isenabled()
        numba.njit(double)(21)  # not one of ours
        assert recorded.collects[2:] == [True]
        gc.disable()
        try:
            kernel()(double)(0.5)
            assert not gc.isenabled()
        finally:
            gc.enable()
