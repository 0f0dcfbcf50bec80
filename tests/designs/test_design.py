"""Survey designs: what is refused, nesting, sizes of populations, parts of a design."""

import numpy as np
import pandas as pd
import pytest

from headcount.designs import SurveyDesign
from headcount.exceptions import DataError


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"weights": [1.0, -1.0]}, "Item 1 has the weight -1: weights must be finite and above 0"),
        ({"weights": [0.0, 1.0]}, "Item 0 has the weight 0"),
        ({"weights": [1.0, np.nan]}, "Item 1 has no weight"),
        ({"weights": ["a", "b"]}, "weights must be one number for each item"),
        ({"clusters": ["a", "a"]}, "All items are in one cluster"),
        ({"clusters": ["a", None]}, "Item 1 has no cluster"),
        ({"strata": ["n", None]}, "Item 1 has no stratum"),
        ({"clusters": ["a", "b", "a"], "strata": ["n", "n", "s"]}, "lies in several strata"),
        ({"weights": [1.0, 1.0], "strata": ["n", "n", "s"]}, "2 weights, 3 strata"),
        ({"weights": [1.0, 1.0], "population_size": 1}, "1 items, fewer than the 2 that were drawn"),
        ({"strata": ["n", "s"], "population_size": {"n": 5}}, "lacks the strata 's'"),
        ({"strata": ["n", "s", "s"], "population_size": {"n": 5, "s": 1}}, "population of stratum 's' has 1 items"),
        ({"weights": [1.0], "population_size": {"n": 5}}, "there are no strata"),
        ({}, "needs weights, strata or clusters"),
    ],
)
def test_what_makes_no_design_is_refused_in_a_sentence(given, message):
    with pytest.raises(DataError, match=message):
        SurveyDesign(**given)


def test_columns_of_data_frames_and_any_names_are_taken():
    frame = pd.DataFrame({"w": [1, 2, 3], "c": [7, 7, 9]})
    design = SurveyDesign(frame["w"], clusters=frame["c"])
    assert repr(design) == "SurveyDesign(3 items in 2 clusters, weighted)"
    assert design.n_clusters == 2


def test_a_part_keeps_clusters_strata_and_population():
    design = SurveyDesign([1.0, 2.0, 3.0], ["n", "s", "s"], ["a", "b", "c"], {"n": 10, "s": 20})
    part = design.take(np.array([2, 1]))
    assert part.item_weights.tolist() == [3.0, 2.0]
    assert part.item_strata.tolist() == [1, 1]
    assert part.population_size.tolist() == [10.0, 20.0]


def test_one_size_is_split_over_strata_as_the_items_are():
    design = SurveyDesign(strata=["n", "s", "s", "s"], population_size=100)
    assert design.population_size.tolist() == [25.0, 75.0]
