"""Labels of some items: the forms that they may have, and sentences for those that can't be used."""

import numpy as np
import pandas as pd
import pytest

from headcount.exceptions import DataError
from headcount.intervals.target_labels import target_labels

CLASSES = np.array(["neg", "pos"])
EXPECTED = [1, -1, 0, -1]


@pytest.mark.parametrize(
    "labels",
    [
        ["pos", None, "neg", ""],
        ["pos", float("nan"), "neg", None],
        np.array(["pos", None, "neg", np.nan], dtype=object),
        pd.Series(["pos", pd.NA, "neg", pd.NA], dtype="string"),
        pd.Series(["pos", None, "neg", None], dtype="category"),
        np.ma.array(["pos", "neg", "neg", "pos"], mask=[False, True, False, True]),
        ([2, 0], ["neg", "pos"]),
        {0: "pos", 2: "neg"},
    ],
)
def test_forms_of_labels_mean_the_same(labels):
    assert target_labels(labels, CLASSES, 4).codes.tolist() == EXPECTED


def test_whole_numbers_that_a_gap_turned_into_floats_are_labels():
    assert target_labels(np.array([3.0, np.nan, 1.0]), np.array([1, 3]), 3).codes.tolist() == [1, -1, 0]


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (["pos", "other", None, None], "'other' of item 1 is not among the classes"),
        (["pos", None], "2 labels for 4 items"),
        (([0, 0], ["pos", "neg"]), "labelled twice"),
        (([0, 4], ["pos", "neg"]), "not there: positions 4"),
        (([0, -1], ["pos", "neg"]), "not there: positions -1"),
        (([0.5], ["pos"]), "whole numbers"),
        (([0, 1], ["pos"]), "2 positions and 1 labels"),
        ("pos", "must be an array"),
    ],
)
def test_labels_that_cannot_be_used_are_refused_with_a_sentence(labels, words):
    with pytest.raises(DataError, match=words):
        target_labels(labels, CLASSES, 4)


@pytest.mark.parametrize(
    ("probabilities", "words"),
    [
        ([0.5, 0.5, 0.0, 0.5], "item 2 is 0"),
        ([1.5, 0.5, 0.5, 0.5], "item 0 is 1.5"),
        ([0.5, 0.5, None, 0.5], "item 2 is missing"),
        ([0.5, 0.5], "2 inclusion probabilities for 4 items"),
    ],
)
def test_probabilities_that_cannot_be_used_are_refused_with_a_sentence(probabilities, words):
    with pytest.raises(DataError, match=words):
        target_labels(["pos", None, "neg", None], CLASSES, 4, probabilities)


def test_probabilities_of_items_without_a_label_are_not_read():
    found = target_labels(["pos", None], CLASSES, 2, [0.5, None]).probabilities
    assert found[0] == 0.5
    assert np.isnan(found[1])
    by_label = target_labels(([1], ["pos"]), CLASSES, 3, [0.25]).probabilities
    assert by_label[1] == 0.25


def test_strata_name_each_item():
    assert target_labels(["pos", None], CLASSES, 2, strata=["b", "a"]).strata.tolist() == [0, 1]
    with pytest.raises(DataError, match="stratum of each of the 2 items"):
        target_labels(["pos", None], CLASSES, 2, strata=["b"])
