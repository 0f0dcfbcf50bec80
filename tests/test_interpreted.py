"""Kernels give the same bits compiled and as plain Python; only little work is run as plain Python."""

import os
import subprocess
import sys

import numba
import numpy as np
import pytest

from headcount import PACC, UniformPrevalence, _interpreted, difference, estimate
from headcount._compile import kernel
from headcount.intervals.likelihood import moments
from headcount.protocols import Samples
from headcount.protocols.exact import to_units
from headcount.simplex import mixture_least_squares
from headcount.stream import Sketch
from headcount.tables.tablefile import TableFile
from tests.conftest import frozen, scored_items

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="numba is switched off: nothing is compiled")


def fitted(k, n=60, absent=False):
    codes, P = scored_items(n, k, seed=k, separation=1.0)
    P[:k] = np.eye(k)  # posteriors of 0 and 1
    if absent:
        P[:, -1] = 0.0
        P /= P.sum(axis=1, keepdims=True)
    return PACC(frozen(range(k))).fit(P, codes)


def intervals(k, **options):
    model, shares = fitted(k, **options), np.arange(1.0, k + 1.0) ** 2
    few, many = (scored_items(n, k, seed=n, shares=shares / shares.sum())[1] for n in (k + 1, 80))
    before, after = estimate(model, few), estimate(model, many)
    gap = difference(before, after)
    results = [before, after, estimate(model, many, estimand="sample"), gap]
    return [*(end for result in results for end in (result.low, result.high)), gap.p_value]


def means(k):
    result = estimate(fitted(k), scored_items(80, k, seed=1)[1])
    return list(result.mean(np.arange(k)))


def samples(k):
    codes, P = scored_items(300, k, seed=0)
    drawn, _ = UniformPrevalence(20, sample_size=30, random_state=0).draw(codes)
    weighted = Samples(drawn.indices, drawn.indptr, counts=np.linspace(0.5, 3.0, drawn.indices.size))
    first = [drawn.indices]
    for each in (drawn, weighted):
        first += [each.count(codes, k), each.count(np.column_stack([codes, codes]), k)]
        first += [each.sum_exact(to_units(P)).values(), *moments(P, each, np.full((20, k), 1.0 / k))]
    return first


def cells(k):
    sketch, generator = Sketch(k, cells_per_group=40), np.random.default_rng(0)
    for seed in range(3):
        sketch.add(scored_items(900, k, seed)[1].T, generator.integers(0, 2, 900).astype(np.int32))
    return list(sketch.cells())


def mixtures(k):
    generator = np.random.default_rng(k)
    M, Q = generator.dirichlet(np.ones(k), (6, k)), generator.dirichlet(np.full(k, 0.3), 6)
    return [mixture_least_squares(M[0], Q), mixture_least_squares(M, Q)]


@pytest.mark.parametrize("compute", [intervals, means, samples, cells, mixtures])
@pytest.mark.parametrize("k", [2, 3, 7])
def test_same_bits_compiled_and_as_plain_python(compute, k, monkeypatch):
    compiled, interpreted = compute(k), set()

    def interpret(use, steps):
        interpreted.add(use.dispatcher.__name__)
        return True

    monkeypatch.setattr(_interpreted._Use, "may_interpret", interpret)
    plain = compute(k)
    assert interpreted or (compute, k) == (mixtures, 2)  # a closed form
    for value, expected in zip(plain, compiled, strict=True):
        np.testing.assert_array_equal(value, expected)


def test_same_rows_of_a_table_compiled_and_as_plain_python(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    path.write_bytes(b'a,b\r\n"x, ""y""",1\n"two\nlines",2\r3,3\n\n"z",4\n' * 50)

    def texts():
        return [text for batch in TableFile(path).batches({"a": "text", "b": "text"}) for text in batch.texts("a")]

    compiled = texts()
    monkeypatch.setattr(_interpreted._Use, "may_interpret", lambda *_: True)
    assert texts() == compiled


def test_much_work_and_what_has_been_compiled_is_run_compiled(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(_interpreted, "MOST_STEPS", 100)

    def new():
        return kernel()(second)

    little = new()
    assert [_interpreted.run(little, 40, 1.0) for _ in range(2)] == [2.0, 2.0]
    assert not little.overloads
    assert _interpreted.run(little, 40, 1.0) == 2.0  # the 120th step
    assert little.overloads
    found_in_cache = new()
    assert _interpreted.run(found_in_cache, 1, 1.0) == 2.0
    assert sum(found_in_cache.stats.cache_hits.values()) == 1


@kernel()
def first(x):
    return x / 0.5


def second(x):
    return first(x)


MAIN = """
import sys
from headcount.cli import main
from numba.core import event

compiled = event.RecordingListener()
event.register("numba:compile", compiled)
try:
    main()
finally:
    print(*(e.data["dispatcher"].__name__ for _, e in compiled.buffer if e.is_start), file=sys.stderr)
"""


@pytest.fixture
def headcount(tmp_path):
    """Run a command, in an empty folder and with an empty cache of kernels at first; return the names of what it compiled."""
    (tmp_path / "main.py").write_text(MAIN)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "NUMBA_DISABLE_JIT": "0"}

    def run(*arguments):
        command = [sys.executable, "main.py", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path, env=environment)
        return done.stderr.split()

    return run


def test_little_is_compiled_by_a_fit_and_nothing_by_a_comparison_of_little_data(headcount):
    headcount("data", "example", ".")
    fit = "fit", "reviews.csv", "--text", "review", "--label", "stars", "-o", "m.headcount"
    ours = {name for name in headcount(*fit) if name != "impl"}  # numba's own
    assert ours <= {"most_likely_many", "_weigh", "_curvature", "_quadratic", "ratio_means"}
    headcount(*fit, "--method", "PACC")
    assert not headcount("compare", "m.headcount", "new.csv", "--by", "date:month", "--against", "previous")


def test_many_items_of_one_code_are_counted_as_plain_python():
    # 32-bit codes added up stay 32-bit numbers in plain Python: 4,096 of them, times a unit of 2^19, overflowed.
    from headcount.protocols import _kernels
    from headcount.protocols.exact import LIMB_BITS

    codes, counts = np.ones(10_000, dtype=np.int32), np.zeros((1, 2), dtype=np.int64)
    with np.errstate(over="raise"):
        _interpreted._as_python(_kernels.count_codes)(
            codes, np.arange(10_000, dtype=np.int32), np.array([0, 10_000]), 1 << LIMB_BITS, counts
        )
    assert (counts >> LIMB_BITS).tolist() == [[0, 10_000]]
