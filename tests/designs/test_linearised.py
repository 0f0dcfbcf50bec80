"""Linearised covariance of weighted means: textbook formulas, and agreement with simulation."""

import numpy as np
import pytest

from headcount.designs import SurveyDesign, linearised_covariance, mean_design_effect


def contributions(values, design):
    weights = design.item_weights / design.item_weights.sum()
    return (weights * (values - weights @ values))[:, None]


def test_without_clusters_it_is_the_variance_of_a_mean():
    values = np.random.default_rng(0).standard_normal(50)
    design = SurveyDesign(weights=np.ones(50))
    found = linearised_covariance(contributions(values, design), design)
    assert found.covariance[0, 0] == pytest.approx(values.var(ddof=1) / 50)
    assert (found.n_clusters, found.degrees) == (50, 49)


def test_strata_and_finite_populations_are_those_of_the_textbook():
    """Cochran (1977), 5.3: sum of W_h^2 (1 - f_h) s_h^2 / n_h."""
    generator = np.random.default_rng(1)
    sizes, drawn = np.array([100.0, 300.0]), np.array([20, 30])
    strata = np.repeat([0, 1], drawn)
    values = generator.standard_normal(50) + 3.0 * strata
    design = SurveyDesign(weights=(sizes / drawn)[strata], strata=strata, population_size={0: 100, 1: 300})
    expected = sum(
        (sizes[h] / 400) ** 2 * (1 - drawn[h] / sizes[h]) * values[strata == h].var(ddof=1) / drawn[h] for h in (0, 1)
    )
    assert linearised_covariance(contributions(values, design), design).covariance[0, 0] == pytest.approx(expected)


def test_equal_clusters_give_the_variance_of_the_mean_of_cluster_means():
    generator = np.random.default_rng(2)
    clusters = np.repeat(np.arange(12), 5)
    values = generator.standard_normal(60) + generator.standard_normal(12)[clusters]
    design = SurveyDesign(clusters=clusters)
    means = values.reshape(12, 5).mean(axis=1)
    assert linearised_covariance(contributions(values, design), design).covariance[0, 0] == pytest.approx(
        means.var(ddof=1) / 12
    )


def test_a_stratum_of_one_cluster_is_centred_at_all_clusters():
    design = SurveyDesign(strata=[0, 0, 1], clusters=[0, 1, 2])
    found = linearised_covariance(contributions(np.array([1.0, 2.0, 6.0]), design), design)
    assert found.covariance[0, 0] > 0.0


def test_the_mean_design_effect_is_that_of_clusters():
    """1 + (m - 1) rho, for clusters of m items with intra-class correlation rho (Kish 1965)."""
    generator = np.random.default_rng(3)
    effects = []
    for _ in range(60):
        clusters = np.repeat(np.arange(100), 5)
        values = generator.standard_normal((500, 1)) + generator.standard_normal((100, 1))[clusters]
        effects.append(mean_design_effect(values, SurveyDesign(clusters=clusters)))
    assert np.mean(effects) == pytest.approx(1 + 4 * 0.5, abs=0.15)


def test_class_means_of_independent_items_have_no_design_effect():
    values = np.random.default_rng(4).standard_normal((400, 2))
    classes = np.arange(400) % 2
    assert mean_design_effect(values, SurveyDesign(weights=np.ones(400)), classes) == pytest.approx(1.0, abs=0.01)
