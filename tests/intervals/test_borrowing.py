"""Shares of small groups, drawn towards the other groups: errors, intervals on average over groups, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.small_groups import Setting

from headcount import ACC, PACC, SLD, BayesianCC, Samples, estimate
from headcount.exceptions import DataError, IdentifiabilityWarning
from headcount.intervals import borrow_strength
from headcount.intervals.family import labelled_influence, weighted_influence
from tests.conftest import frozen, scored_items

K3 = np.array([0.5, 0.3, 0.2])


def groups_of(shares, sizes, k, seed=0, method=PACC, labelled=3000, parameters=None, **options):
    codes, P = scored_items(labelled, k, seed=seed)
    quantifier = method(frozen(range(k)), **(parameters or {})).fit(P, codes)
    parts = [
        scored_items(n, k, seed=1000 * seed + 7 * g + 1, shares=p)[1]
        for g, (n, p) in enumerate(zip(sizes, shares, strict=True))
    ]
    samples = Samples.from_groups(np.repeat(np.arange(len(sizes)), sizes))
    return estimate(quantifier, np.concatenate(parts), samples, **options)


@pytest.mark.parametrize("k", [2, 3])
def test_shares_stay_shares_and_in_their_intervals(k):
    shares = np.random.default_rng(0).dirichlet(np.full(k, 0.3), 12)  # many near 0 and 1
    plain = groups_of(shares, [20, 50, 300] * 4, k)
    drawn = borrow_strength(plain)
    assert drawn.shares.sum(axis=1) == pytest.approx(np.ones(12))
    assert (drawn.shares >= 0).all()
    assert ((drawn.low <= drawn.shares) & (drawn.shares <= drawn.high)).all()
    assert ((drawn.low >= 0) & (drawn.high <= 1)).all()
    assert ((drawn.drawn >= 0) & (drawn.drawn < 1)).all()
    assert np.linalg.eigvalsh(drawn.between).min() > -1e-12
    assert drawn.between.sum(axis=0) == pytest.approx(np.zeros(k), abs=1e-12)
    assert drawn.plain is plain


def test_no_share_is_moved_by_more_than_its_standard_error_and_small_groups_move_most():
    shares = np.tile([0.7, 0.3], (24, 1))
    shares[5] = [0.05, 0.95]
    plain = groups_of(shares, [50] * 24, 2)
    drawn = borrow_strength(plain)
    error = np.sqrt(plain.take(5).covariance()[1, 1])
    assert abs(drawn.shares[5, 1] - plain.shares[5, 1]) < 1.2 * error  # the standard error is taken at the drawn share
    assert drawn.shares[5, 1] < plain.shares[5, 1]
    sizes = [20, 400] * 12
    drawn = borrow_strength(groups_of(np.tile([0.7, 0.3], (24, 1)), sizes, 2))
    assert drawn.drawn[::2].min() > drawn.drawn[1::2].max()


def test_order_of_groups_and_names_of_classes_change_nothing():
    shares = np.random.default_rng(3).dirichlet(4 * K3, 8)
    codes, P = scored_items(2000, 3, seed=3)
    parts = [scored_items(60, 3, seed=50 + g, shares=p)[1] for g, p in enumerate(shares)]
    samples = Samples.from_groups(np.repeat(np.arange(8), 60))
    base = borrow_strength(estimate(PACC(frozen(range(3))).fit(P, codes), np.concatenate(parts), samples))
    reverse = borrow_strength(estimate(PACC(frozen(range(3))).fit(P, codes), np.concatenate(parts[::-1]), samples))
    assert reverse.shares[::-1] == pytest.approx(base.shares, abs=1e-9)
    assert reverse.high[::-1] == pytest.approx(base.high, abs=1e-6)
    turned = [2, 0, 1]  # class j is now turned.index(j)
    renamed = np.argsort(turned)[codes]
    other = borrow_strength(
        estimate(PACC(frozen(range(3))).fit(P[:, turned], renamed), np.concatenate(parts)[:, turned], samples)
    )
    assert other.shares == pytest.approx(base.shares[:, turned], abs=1e-9)
    assert other.low == pytest.approx(base.low[:, turned], abs=1e-6)


def test_very_different_large_groups_are_left_alone():
    shares = np.column_stack([np.linspace(0.1, 0.9, 10), np.linspace(0.9, 0.1, 10)])
    plain = groups_of(shares, [3000] * 10, 2)
    drawn = borrow_strength(plain)
    assert drawn.drawn.max() < 0.02
    assert drawn.shares == pytest.approx(plain.shares, abs=0.005)
    assert drawn.high - drawn.low == pytest.approx(plain.high - plain.low, rel=0.02)


def test_the_common_error_of_few_labelled_items_is_not_drawn_away():
    plain = groups_of(np.tile([0.7, 0.3], (24, 1)), [400] * 24, 2, labelled=100)
    drawn = borrow_strength(plain)
    one = plain.evidence.take(0)
    influence = weighted_influence(labelled_influence(one), one.vectors.codes, np.array([0.7, 0.3]))
    common = float(np.sqrt(np.square(influence).sum(axis=0))[1])
    assert drawn.drawn.mean() > 0.3
    assert (drawn.high - drawn.low)[:, 1].min() > 2 * 1.96 * common


def test_result_as_text_and_frame():
    drawn = borrow_strength(replace(groups_of(np.tile(K3, (6, 1)), [40] * 6, 3), names=tuple("uvwxyz")))
    assert repr(drawn).startswith(
        "Shares drawn towards the other groups, with 0.95 intervals that hold on average over groups"
    )
    assert "by itself" in repr(drawn)
    frame = drawn.to_frame()
    assert frame["sample"].tolist()[::3] == list("uvwxyz")
    assert frame[["drawn_share", "share", "drawn"]].notna().all(axis=None)
    assert frame["drawn_high"].to_numpy() == pytest.approx(drawn.high.ravel())
    assert drawn._repr_html_().startswith("<")


def test_what_gives_nothing_to_borrow_is_refused():
    shares = np.tile([0.7, 0.3], (6, 1))
    plain = groups_of(shares, [40] * 6, 2)
    with pytest.raises(DataError, match=r"at least 5 groups, .* there are 4"):
        borrow_strength(groups_of(shares[:4], [40] * 4, 2))
    with pytest.raises(DataError, match="there is one"):
        borrow_strength(plain.take(0))
    with pytest.raises(DataError, match="there is one"):
        borrow_strength("shares")
    with pytest.raises(DataError, match=r"analytic interval, .*SLD, likelihood ratio"):
        borrow_strength(
            groups_of(shares, [40] * 6, 2, method=SLD, parameters={"prior": "uniform"}, assume="calibrated")
        )
    with pytest.raises(DataError, match="BayesianCC, posterior"):
        borrow_strength(groups_of(shares, [40] * 6, 2, method=BayesianCC))
    with pytest.raises(DataError, match="estimand='population'"):
        borrow_strength(groups_of(shares, [40] * 6, 2, estimand="sample"))
    generator = np.random.default_rng(0)
    P = np.full((300, 2), 0.5)
    with pytest.warns(IdentifiabilityWarning):
        same = ACC(frozen(range(2))).fit(P, generator.integers(0, 2, 300))
    with pytest.raises(DataError, match="does not tell some classes apart"):
        borrow_strength(estimate(same, P, np.arange(300).reshape(6, 50)))


def simulated(n, **setting):
    """Return the ratio of squared errors and the share of intervals that held, by itself and drawn."""
    table = np.array([Setting(**setting).simulate(i) for i in range(n)])
    mean = table.mean(axis=0)
    return mean[3] / mean[0], mean[1], mean[4]


def test_groups_that_are_alike_err_less_and_others_hardly_more():
    ratio, _, held = simulated(25)
    assert ratio < 0.55
    assert 0.93 < held < 0.99
    ratio, _, held = simulated(25, groups="two clusters")
    assert ratio < 1.05
    assert 0.92 < held < 0.98


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("groups", ["alike", "spread .08", "spread .15", "one outlier", "two clusters", "heavy tails"])
def test_errors_and_average_coverage(k, groups):
    ratio, _, held = simulated(200, groups=groups, k=k)
    assert ratio < (0.7 if groups == "alike" else 1.05)
    assert 0.93 < held < 0.97


def test_many_classes_that_are_hardly_told_apart_are_not_harmed():
    """Free shares lie far outside the simplex there: the nearest point by their own distance had 1.4 times the plain error."""
    generator = np.random.default_rng(424242)
    shares = np.array([0.02, 0.08, 0.2, 0.3, 0.25, 0.15])

    def draw(n, p):
        y = generator.choice(6, n, p=p)
        return np.column_stack([1.1 * y + generator.standard_t(4, n), 0.4 * y + generator.standard_normal(n)]), y

    plain, drawn = [], []
    for _ in range(8):
        quantifier = PACC(random_state=0).fit(*draw(1500, np.full(6, 1 / 6)))
        answer = estimate(quantifier, draw(1200, shares)[0], np.arange(1200).reshape(24, 50))
        plain.append(np.square(answer.shares - shares).mean())
        drawn.append(np.square(borrow_strength(answer).shares - shares).mean())
    assert np.mean(drawn) < 1.05 * np.mean(plain)
