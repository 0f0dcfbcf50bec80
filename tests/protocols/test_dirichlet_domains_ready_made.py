"""Samples at Dirichlet shares, mixtures of two domains, and samples that were drawn before."""

import numpy as np
import pytest
from scipy.stats import kstest
from sklearn.base import clone

from headcount import PACC, DirichletPrevalence, DomainMixture, ReadyMadeSamples, Samples, evaluate
from headcount.exceptions import DataError
from tests.conftest import frozen, scored_items


@pytest.mark.parametrize("alpha", [[4.0, 2.0, 0.5], 0.02])
def test_dirichlet_shares_have_the_distribution_of_the_formula(alpha):
    y = np.repeat([0, 1, 2], 1000)
    protocol = DirichletPrevalence(alpha, n_samples=4000, sample_size=1000, random_state=0)
    _, true = protocol.draw(y)
    a = np.broadcast_to(alpha, 3)
    mean, total = a / a.sum(), a.sum()
    np.testing.assert_allclose(true.mean(axis=0), mean, atol=0.025)
    np.testing.assert_allclose(true.var(axis=0), mean * (1 - mean) / (total + 1), atol=0.01)
    if total > 1:  # a share has a beta distribution; with tiny alphas most are 0 or 1 after rounding
        assert kstest(true[:, 0], "beta", args=(a[0], total - a[0])).pvalue > 1e-3


@pytest.mark.parametrize("alpha", [0, -1.0, [1.0, 2.0], [1.0, np.nan, 1.0], "even"])
def test_an_invalid_alpha_is_refused(alpha):
    with pytest.raises(DataError, match="one number above 0, or one for each of the 3 classes"):
        DirichletPrevalence(alpha).draw([0, 1, 2])


def two_domains():
    generator = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 200)
    domains = generator.choice(["new", "old"], 600)
    return y, domains


def test_mixtures_hold_the_asked_for_parts_of_both_domains_at_the_same_shares():
    y, domains = two_domains()
    protocol = DomainMixture(domains, 5, repeats=3, sample_size=40, prevalence=[0.5, 0.25, 0.25], random_state=0)
    samples, true = protocol.draw(y)
    assert len(samples) == 15
    np.testing.assert_allclose(true, np.tile([0.5, 0.25, 0.25], (15, 1)))
    for s, rows in enumerate(samples):
        part = 1 - (s // 3) / 4
        assert (domains[rows] == "new").sum() == 40 * part
        assert len(set(rows.tolist())) == 40
        for domain, size in (("new", 40 * part), ("old", 40 * (1 - part))):
            assert (y[rows][domains[rows] == domain] == "a").sum() == pytest.approx(size / 2, abs=0.5)
    again = clone(protocol).draw(y)[0]
    assert np.array_equal(again.indices, samples.indices)


def test_mixtures_take_the_first_domains_shares_and_given_parts():
    y, domains = two_domains()
    samples, true = DomainMixture(domains, [0.25], repeats=1, sample_size=400, random_state=0).draw(y)
    assert (domains[samples[0]] == "new").sum() == 100
    in_new = np.array([(y[domains == "new"] == c).mean() for c in "abc"])
    np.testing.assert_allclose(true[0], in_new, atol=0.005)


def test_mixtures_refuse_what_they_can_not_draw():
    y = ["a", "b", "a", "b"]
    for domains, words in (
        ([0, 1, 2, 0], "labels of 3 domains"),
        ([0, 1], "4 items of the pool"),
        ([0, 1, 1, 0], None),
        ([0, 0, 1, 0], "class 'b' of domain 1"),
    ):
        protocol = DomainMixture(domains, sample_size=10)
        if words is None:
            protocol.draw(y)
            continue
        with pytest.raises(DataError, match=words):
            protocol.draw(y)
    with pytest.raises(DataError, match="parts from 0 to 1"):
        DomainMixture([0, 1, 1, 0], [0.5, 1.5]).draw(y)
    with pytest.raises(DataError, match="a share for each of the 2 classes"):
        DomainMixture([0, 1, 1, 0], prevalence=[0.2, 0.3, 0.5]).draw(y)
    with pytest.raises(ValueError, match="'n_mixtures' parameter"):
        DomainMixture([0, 1, 1, 0], 1).draw(y)


def test_ready_made_samples_come_from_arrays_and_files(tmp_path):
    path = tmp_path / "samples.txt"
    path.write_text("# drawn on Monday\n0 1 2\n\n3,4, 5 6\n0 0 # twice\n")
    y = ["a", "a", "b", "b", "b", "a", "a"]
    for given in (
        path,
        str(path),
        [[0, 1, 2], [3, 4, 5, 6], [0, 0]],
        Samples([0, 1, 2, 3, 4, 5, 6, 0, 0], [0, 3, 7, 9]),
    ):
        samples, true = ReadyMadeSamples(given).draw(y)
        assert [rows.tolist() for rows in samples] == [[0, 1, 2], [3, 4, 5, 6], [0, 0]]
        np.testing.assert_allclose(true, [[2 / 3, 1 / 3], [0.5, 0.5], [1, 0]])
    assert clone(ReadyMadeSamples(str(path))).get_params() == {"samples": str(path)}
    codes, P = scored_items(300, 2, 0)
    q = PACC(frozen([0, 1])).fit(P, codes)
    rows = np.arange(60).reshape(3, 20)
    np.testing.assert_array_equal(
        evaluate(q, P, codes, ReadyMadeSamples(rows)).estimated, evaluate(q, P, codes, rows).estimated
    )


def test_unusable_ready_made_samples_are_refused(tmp_path):
    path = tmp_path / "samples.txt"
    path.write_text("0 1\n1 -2\n")
    with pytest.raises(DataError, match=r"samples.txt, line 2: '-2' is not a row number"):
        ReadyMadeSamples(path).draw([0, 1])
    with pytest.raises(DataError, match="can't be read as a text file"):
        ReadyMadeSamples(tmp_path / "missing.txt").draw([0, 1])
    with pytest.raises(DataError, match="the pool has 2 items"):
        ReadyMadeSamples([[0, 2]]).draw([0, 1])
    with pytest.raises(DataError, match="needs at least one item"):
        ReadyMadeSamples([[0], []]).draw([0, 1])
