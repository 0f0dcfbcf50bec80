"""Looking up, registering and describing error measures."""

import numpy as np
import pytest

from headcount.errors import ErrorMeasure, ae, check_order, get_error, list_errors, register_error
from headcount.exceptions import DataError, UnknownNameError


@pytest.fixture
def registry(monkeypatch):
    """The registry, restored after the test."""
    from headcount.errors import registry

    monkeypatch.setattr(registry, "_REGISTRY", dict(registry._REGISTRY))


def largest_error(true, estimated):
    return np.abs(np.subtract(true, estimated)).max(axis=-1)


def test_lookup_by_name_suggests_the_closest_name():
    assert get_error("ae").label == "AE"
    assert get_error(get_error("ae")) is get_error("ae")
    with pytest.raises(UnknownNameError, match="Did you mean 'nkld'"):
        get_error("nkdl")
    with pytest.raises(UnknownNameError, match="Known: ae, rae"):
        get_error("zzz")


def test_measures_state_label_direction_and_needs():
    assert all(measure.label and measure.title and measure.lower_is_better for measure in list_errors())
    assert [m.name for m in list_errors() if m.needs_sample_size] == ["rae", "nrae", "kld", "nkld", "aqe"]
    assert [m.name for m in list_errors() if m.needs_training] == ["sre"]
    assert [m.name for m in list_errors() if m.signed] == ["bias"]
    assert [m.name for m in list_errors() if m.needs_minority] == ["f1"]
    assert [m.name for m in list_errors() if m.ordered] == ["md", "nmd", "nemd", "rnod"]


@pytest.mark.usefixtures("registry")
def test_a_registered_measure_is_available_by_name():
    measure = register_error(ErrorMeasure("worst", "worst", "largest error", largest_error))
    assert get_error("worst") is measure
    assert measure(np.array([0.5, 0.5]), np.array([0.1, 0.9])) == pytest.approx(0.4)


@pytest.mark.usefixtures("registry")
def test_registering_a_measure_again_replaces_it():
    register_error(ErrorMeasure("worst", "worst", "largest error", largest_error))
    second = register_error(ErrorMeasure("worst", "max", "largest error", largest_error))
    assert get_error("worst") is second
    assert [measure.name for measure in list_errors()].count("worst") == 1


@pytest.mark.usefixtures("registry")
def test_a_built_in_measure_can_not_be_replaced():
    built_in = get_error("ae")
    for measure in (ErrorMeasure("ae", "mine", "another error", largest_error), built_in):
        with pytest.raises(DataError, match="'ae' is a built-in error measure: choose another name"):
            register_error(measure)
    assert get_error("ae") is built_in
    assert built_in.function is ae


@pytest.mark.parametrize(
    "classes", [[1, 2, 3], [0.0, 1.0, 2.0], [False, True], np.array(["2020", "2021"], "datetime64[Y]")]
)
def test_numbers_and_dates_are_ordered_by_value(classes):
    check_order(get_error("nmd"), np.asarray(classes), ordered=False)


def test_text_classes_need_an_order_for_measures_of_ordered_classes():
    classes = np.array(["good", "poor", "very good"])
    check_order(get_error("nmd"), classes, ordered=True)
    check_order(get_error("ae"), classes, ordered=False)
    with pytest.raises(
        DataError, match=r"NMD depends on the order .* 'good', 'poor', 'very good' .* classes=\[\.\.\.\]"
    ):
        check_order(get_error("nmd"), classes, ordered=False)
    with pytest.raises(DataError, match="NMD depends on the order"):
        check_order(get_error("nmd"), classes.astype(object), ordered=False)
