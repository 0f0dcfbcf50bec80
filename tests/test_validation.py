"""Checks of labels and classes."""

import numpy as np
import pytest

from headcount._validation import check_class_counts, learn_classes
from headcount.exceptions import DataError


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["low", "high", "mid", "low"], ["low", "mid", "high"]),
        ([3, 1, 2, 3], [3, 2, 1]),
        (np.array([True, False, True]), np.array([True, False])),
        ([1.0, 2.0], (2, 1)),
    ],
)
def test_codes_follow_the_given_order_of_classes(labels, classes):
    learned, codes = learn_classes(labels, classes=classes)
    assert learned.tolist() == list(classes)
    assert learned[codes].tolist() == list(labels)
    assert codes.dtype == np.int32


def test_classes_are_sorted_where_no_order_is_given():
    classes, codes = learn_classes(["b", "a", "b"])
    assert classes.tolist() == ["a", "b"]
    assert codes.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("labels", "classes", "words"),
    [
        (
            ["a", "b", "c", "d"],
            ["b", "a"],
            r"labels holds 'c', 'd', not among the classes \('b', 'a'\)\. .* drop or relabel",
        ),
        ([1, 2], ["1", "2"], r"holds 1, 2, not among the classes \('1', '2'\)\. Labels must be of the same type"),
        (
            ["a", "b"],
            ["b", "c", "a"],
            "labels holds no item of class 'c', which classes names: .* at least one labelled item",
        ),
        (["a", "b"], ["a"], "at least two classes"),
        (["a", "b"], ["a", "b", "a"], "each once"),
        (["a", "b"], "ab", "must be a list"),
        (["a", "a"], None, "only one class"),
        ([0.5, 1.5], [1.5, 0.5], "fractional"),
    ],
)
def test_labels_that_do_not_match_the_given_classes_are_refused(labels, classes, words):
    with pytest.raises(DataError, match=words):
        learn_classes(labels, "labels", classes)


def test_enough_items_of_few_classes_pass():
    check_class_counts(np.array(["a", "b"]), np.array([0, 0, 1, 1]), least=2)
    check_class_counts(np.arange(100), np.arange(100), least=1)


@pytest.mark.parametrize(
    ("classes", "codes", "options", "words"),
    [
        (
            np.arange(101),
            np.arange(101),
            {},
            "y holds 101 different labels, such as .*: that looks like .* At most 100 classes",
        ),
        (np.arange(4), np.arange(4), {"most": 3}, "y holds 4 different labels, such as .* At most 3 classes"),
        (["a"], [0, 0], {}, "y holds only one class, 'a': at least two"),
        (
            ["a", "b", "c"],
            [0, 0, 1, 2, 2],
            {"least": 2},
            r"y holds 1 item of class 'b' \(1 of 3 classes .* fewer than 2\)",
        ),
        (["a", "b", "c"], [0, 0, 2], {"least": 2}, r"y holds 0 items of class 'b' \(2 of 3 classes .* fewer than 2\)"),
        (
            ["a", "b"],
            [0, 1],
            {"least": 2, "where": "f.csv, column 'kind',"},
            "^f.csv, column 'kind', holds 1 item of class 'a'",
        ),
    ],
)
def test_too_many_classes_and_too_few_items_of_a_class_are_refused(classes, codes, options, words):
    with pytest.raises(DataError, match=words):
        check_class_counts(np.array(classes), np.array(codes), **({"least": 1} | options))
