"""Kernels work after a fork, in threads and in process workers, with the same bits; inside a worker they use one thread."""

import multiprocessing
import os
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest

from headcount import PACC, ArtificialPrevalence, UniformPrevalence
from headcount._threads import in_chunks, thread_count
from tests.conftest import frozen, scored_items


def draw_and_estimate(seed=0):
    """Draw and estimate with three classes, which runs every kind of kernel; return shares and the number of threads."""
    codes, P = scored_items(3000, 3, seed=0)
    q = PACC(frozen(range(3))).fit(P[:1000], codes[:1000])
    samples, _ = UniformPrevalence(500, sample_size=200, random_state=seed).draw(codes)
    return q.aggregate(q.outputs(P), samples), thread_count()


def put_shares_in_queue(queue):
    queue.put(draw_and_estimate())


def test_kernels_give_the_same_bits_in_threads():
    expected, _ = draw_and_estimate()
    with ThreadPoolExecutor(4) as pool:
        for shares, threads in pool.map(draw_and_estimate, [0] * 8):
            assert np.array_equal(shares, expected)
            assert threads == 1


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_kernels_give_the_same_bits_in_a_child_process(method):
    expected, _ = draw_and_estimate()  # the parent has used its threads before it forks
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    child = context.Process(target=put_shares_in_queue, args=(queue,))
    child.start()
    shares, threads = queue.get(timeout=120)
    child.join()
    assert np.array_equal(shares, expected)
    assert threads == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_kernels_give_the_same_bits_after_a_fork():
    expected, _ = draw_and_estimate()
    pid = os.fork()
    if pid == 0:
        same = np.array_equal(draw_and_estimate()[0], expected)
        os._exit(0 if same else 1)
    assert os.waitpid(pid, 0)[1] == 0


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing", "sequential"])
def test_kernels_give_the_same_bits_in_joblib_workers(backend):
    expected, _ = draw_and_estimate()
    with joblib.parallel_config(backend=backend, n_jobs=2):
        for shares, threads in joblib.Parallel()(joblib.delayed(draw_and_estimate)() for _ in range(4)):
            assert np.array_equal(shares, expected)
            if backend != "sequential":
                assert threads == 1


def test_omp_num_threads_limits_the_number_of_threads(monkeypatch):
    monkeypatch.setattr("headcount._threads._cores", lambda: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert thread_count() == 8
    for value, expected in (("3", 3), ("1", 1), ("99", 8), ("many", 8), ("0", 1)):
        monkeypatch.setenv("OMP_NUM_THREADS", value)
        assert thread_count() == expected


def test_every_chunk_is_processed_once_and_an_error_is_raised(monkeypatch):
    for threads in (1, 3):
        monkeypatch.setattr("headcount._threads.thread_count", lambda threads=threads: threads)
        seen = np.zeros(100, dtype=int)

        def mark(start, stop, seen=seen):
            seen[start:stop] += 1

        in_chunks(mark, 100, 7)
        assert (seen == 1).all()
        in_chunks(mark, 0, 7)

        def fail(start, stop):
            if start >= 50:
                raise RuntimeError("in the second half")

        with pytest.raises(RuntimeError, match="second half"):
            in_chunks(fail, 100, 10)


def test_protocols_draw_the_same_samples_in_a_worker():
    protocol = ArtificialPrevalence(5, repeats=50, sample_size=400, random_state=3)
    y = np.arange(2000) % 2
    expected = protocol.draw(y)[0].indices
    drawn = joblib.Parallel(n_jobs=2)(joblib.delayed(protocol.draw)(y) for _ in range(2))
    assert all(np.array_equal(samples.indices, expected) for samples, _ in drawn)
