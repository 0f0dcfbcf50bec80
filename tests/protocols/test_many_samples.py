"""Slow tests: memory used by very many samples, and finer tests that items are drawn uniformly."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chisquare

from headcount import ArtificialPrevalence, NaturalPrevalence

pytestmark = pytest.mark.slow


def test_100_000_samples_of_500_items_take_less_than_700_megabytes():
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "benchmarks.memory"]
    peak = float(subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout)
    assert peak < 700


def test_sets_of_three_of_eight_are_drawn_equally_often():
    """All 56 sets, 2 million draws: enough to detect a relative deviation of 3 % of any set."""
    samples, _ = NaturalPrevalence(2_000_000, sample_size=3, random_state=11).draw([0, 1] * 4)
    sets = (1 << samples.indices.reshape(-1, 3).astype(np.int64)).sum(axis=1)
    _, counts = np.unique(sets, return_counts=True)
    assert len(counts) == 56
    assert chisquare(counts).pvalue > 1e-3


def test_pairs_of_consecutive_samples_are_drawn_equally_often():
    samples, _ = ArtificialPrevalence(2, repeats=500_000, sample_size=2, random_state=12).draw([0] * 5 + [1] * 5)
    codes = samples.indices.reshape(-1, 2).astype(np.int64) @ [10, 1]
    for half in np.split(codes, 2):  # all of one class, then all of the other
        _, pair_codes = np.unique(half, return_inverse=True)
        counts = np.zeros((20, 20))
        np.add.at(counts, (pair_codes[:-1], pair_codes[1:]), 1)
        assert chisquare(counts.ravel()).pvalue > 1e-3
