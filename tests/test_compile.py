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
