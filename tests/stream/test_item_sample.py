"""Samples of items: the same whatever the order and the batches, bounded, and with them files are checked as in Python."""

import numpy as np

from headcount.stream import item_sample
from headcount.stream.item_sample import ItemSample


def sample_of(batches):
    sample = ItemSample()
    for items, rows in batches:
        sample.add(items, np.ones((len(items), 2)), rows)
    return sample


def contents(sample, row, n_groups=2):
    return sorted(map(str, sample.items(row, n_groups)[0].tolist()))


def test_the_sample_depends_neither_on_order_nor_on_batches(monkeypatch):
    monkeypatch.setattr(item_sample, "_MOST_OF_A_GROUP", 40)
    generator = np.random.default_rng(0)
    for items in (np.array([f"text {i}" for i in range(300)], dtype=object), generator.standard_normal((300, 3))):
        rows = generator.integers(0, 2, 300)
        order = generator.permutation(300)
        one = sample_of([(items, rows)])
        parts = sample_of([(items[order[i : i + 50]], rows[order[i : i + 50]]) for i in range(0, 150, 50)])
        other = sample_of([(items[order[150:]], 1 - rows[order[150:]])])
        parts.merge(other, np.array([1, 0]))
        for row in (0, 1):
            assert len(contents(one, row)) == 40
            assert contents(one, row) == contents(parts, row)


def test_many_groups_have_fewer_items_each():
    sample = sample_of([(np.arange(2000.0)[:, None], np.zeros(2000, dtype=int))])
    assert [len(contents(sample, 0, n)) for n in (1, 20, 100, 10_000)] == [1000, 1000, 200, 50]


def test_weighted_items_are_kept_as_often_as_they_weigh():
    generator = np.random.default_rng(0)
    items, weights = generator.standard_normal((40_000, 2)), np.repeat([1.0, 4.0], 20_000)
    marks = np.column_stack([weights, weights])
    sample = ItemSample()
    for part in np.array_split(generator.permutation(40_000), 7):
        sample.add(items[part], marks[part], np.zeros(len(part), dtype=np.int64), weights=weights[part])
    _, kept = sample.items(0, 1)
    assert abs((kept[:, 0] == 4.0).mean() - 0.8) < 0.05  # 1,000 items: standard error 0.013
