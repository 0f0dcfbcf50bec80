"""Settings before the import of torch; kernels are compiled; examples that need torch; coverage of parallel test processes."""

import os
import sys
from importlib.util import find_spec

import pytest

# oneDNN (inside torch) uses AMX instructions for bfloat16 where the CPU reports them. Some virtual machines report them without
# permitting them, which ends the process with "Illegal instruction". The tests do not need AMX.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")

collect_ignore_glob = (
    [] if find_spec("torch") else ["src/headcount/learners/neural/*", "src/headcount/quantifiers/quanet/*"]
)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Save the coverage of a worker of pytest-xdist now: xdist kills a worker that takes more than ten seconds to exit."""
    if hasattr(session.config, "workerinput") and "coverage" in sys.modules:
        measurement = sys.modules["coverage"].Coverage.current()
        if measurement is not None:
            measurement.save()


def pytest_configure() -> None:
    """Compile all kernels: what they compute as plain Python is tested beside (tests/test_interpreted.py)."""
    from headcount import _interpreted

    _interpreted.MOST_STEPS = 0
