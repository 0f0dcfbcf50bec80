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
        ({"weights": [1.0, None]}, "Item 1 has no weight"),
        ({"weights": [1.0, pd.NA]}, "Item 1 has no weight"),
        ({"weights": [1.0, np.inf]}, "Item 1 has the weight inf"),
        ({"weights": [1.0, "much"]}, "weights must be one number for each item"),
        ({"weights": np.array([1.0, "much"], dtype=object)}, "Item 1 has the weight 'much': weights must be numbers"),
        ({"weights": [[1.0], [2.0]]}, r"one number for each item; got values of type float64, shape \(2, 1\)"),
        ({"clusters": ["a", "b"], "strata": ["n", "s"]}, "Each of the 2 strata has one cluster only"),
        ({"strata": ["n", "s"]}, "Each of the 2 strata has one item only"),
        ({"strata": ["n", "s", "s"], "population_size": {"n": 5}}, "population_size lacks the strata 's'"),
        (
            {"strata": ["n", "s", "s"], "population_size": {"n": 5, "s": 9, "e": 1}},
            "population_size gives the size of 'e', and no item is of such a stratum: the strata are 'n', 's'",
        ),
        ({"weights": [1.0], "population_size": -3}, "population_size is -3: give the number of all in the population"),
        ({"weights": [1.0], "population_size": np.nan}, "population_size is nan"),
        ({"weights": [1.0], "population_size": "many"}, "population_size is 'many'"),
        ({"strata": ["n", "s", "s"], "population_size": {"n": 5, "s": None}}, "population_size of stratum 's' is None"),
        ({"weights": [1.0], "population_clusters": 5}, "but the design has no clusters"),
        ({"clusters": [1, 2, 3], "population_clusters": 2}, "has 2 clusters, fewer than the 3 that were drawn"),
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


def test_a_group_is_the_same_part_of_its_population_and_a_random_part_a_smaller_one():
    design = SurveyDesign(strata=["n"] * 4 + ["s"] * 4, population_size={"n": 8, "s": 16})
    assert design.take(np.array([0, 4])).fractions.tolist() == [0.5, 0.25]
    assert design.random_part(np.array([0, 1, 4, 5])).fractions.tolist() == [0.25, 0.125]


def test_a_population_of_clusters_is_corrected_for_rather_than_one_of_items():
    clusters = ["a", "a", "b", "b", "c"]
    design = SurveyDesign(clusters=clusters, population_size=100, population_clusters=6)
    assert design.fractions.tolist() == [0.5]
    assert SurveyDesign(clusters=clusters, population_size=100).fractions.tolist() == [0.05]


def test_one_size_is_split_over_strata_as_the_items_are():
    design = SurveyDesign(strata=["n", "s", "s", "s"], population_size=100)
    assert design.population_size.tolist() == [25.0, 75.0]
