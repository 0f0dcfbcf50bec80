"""Law: a stream with weights, strata and clusters gives the shares and design effects that all items at hand give."""

import numpy as np
import pandas as pd
import pytest

from headcount import Outputs, SurveyDesign, estimate
from headcount.quantifiers import DensitiesQuantifier, SumsQuantifier, list_methods
from headcount.stream import DesignColumns, Reading, Recipe, estimate_groups, tally_files

FEW_DRAWN = {"n_points": 200, "n_features": 50}
"""Settings with which KDEyHD and MMDy are fast."""


COUNTS_ITEMS = {"SELSE": 1e-3}
"""Weights in memory are worth fewer items, in a stream as many as there are: its penalty depends on that a little."""


def fitted(method, y, P):
    options = {name: value for name, value in FEW_DRAWN.items() if name in method._get_param_names()}
    if "calibration" in method._get_param_names():
        options["calibration"] = "bcts"
    return method(**options).fit(Outputs.from_posteriors(P, [0, 1]), y)


METHODS = [
    method
    for method in dict.fromkeys(one.quantifier for one in list_methods())
    if issubclass(method, SumsQuantifier | DensitiesQuantifier) and "features" not in method().needs
]


@pytest.mark.parametrize("method", METHODS)
def test_a_stream_gives_the_shares_and_design_effects_of_all_items(method):
    generator = np.random.default_rng(3)

    def draw(n, share, n_clusters):
        clusters = generator.integers(0, n_clusters, n)
        typical = generator.random(n_clusters) < share
        y = np.where(generator.random(n) < 0.6, typical[clusters], generator.random(n) < share).astype(int)
        p = 1.0 / (1.0 + np.exp(-(1.5 * generator.standard_normal(n) + 3.0 * y - 1.5)))
        return y, np.column_stack([1.0 - p, p]), clusters

    y, P, _ = draw(600, 0.4, 60)
    _, Q, clusters = draw(1200, 0.6, 150)
    weights, strata = generator.choice([0.5, 1.0, 2.0], 1200), clusters % 2
    quantifier = fitted(method, y, P)
    if not quantifier.has_interval or quantifier.has_posterior or not quantifier.can_stream:
        pytest.skip("it has no interval that counts a design, or can't be added up")
    table = pd.DataFrame({"neg": Q[:, 0], "pos": Q[:, 1], "w": weights, "c": clusters, "s": strata})
    columns = DesignColumns(weight="w", stratum="s", cluster="c")
    reading = Reading(Recipe(quantifier, (P, y), design=columns), "scores", ("neg", "pos"))
    groups = estimate_groups(tally_files([table], reading))
    design = SurveyDesign(weights=weights, strata=strata, clusters=clusters)
    expected = estimate(quantifier, Outputs.from_posteriors(Q, [0, 1]), design=design)
    np.testing.assert_allclose(groups.shares[0], expected.shares, atol=COUNTS_ITEMS.get(method.__name__, 1e-4))
    np.testing.assert_allclose(groups.design_effects[0], expected.design.effects[0], rtol=0.1)
    np.testing.assert_allclose(groups.low[0], expected.low, atol=0.01)
    np.testing.assert_allclose(groups.high[0], expected.high, atol=0.01)
