"""Error measures against values computed by hand, by scipy and scikit-learn, and against the paper's table."""

import numpy as np
import pytest
from scipy.stats import entropy, wasserstein_distance
from sklearn.metrics import accuracy_score, f1_score

from headcount.errors import (
    accuracy_error,
    ae,
    aqe,
    bias,
    f1_error,
    get_error,
    kld,
    md,
    minority_class,
    nae,
    nemd,
    nkld,
    nmd,
    nrae,
    rae,
    rnod,
    se,
    smooth,
    sre,
)
from headcount.exceptions import DataError


def test_measures_equal_hand_computed_values():
    p, p_hat = [0.1, 0.2, 0.7], [0.3, 0.3, 0.4]
    assert ae(p, p_hat) == pytest.approx((0.2 + 0.1 + 0.3) / 3)
    assert nae(p, p_hat) == pytest.approx(0.6 / (2 * 0.9))
    assert se(p, p_hat) == pytest.approx((0.04 + 0.01 + 0.09) / 3)
    assert rae(p, p_hat, np.inf) == pytest.approx((0.2 / 0.1 + 0.1 / 0.2 + 0.3 / 0.7) / 3)
    assert nrae(p, p_hat, np.inf) == pytest.approx((2 + 0.5 + 3 / 7) / (2 + 0.9 / 0.1))
    assert nmd(p, p_hat) == pytest.approx((0.2 + 0.3) / 2)
    assert md(p, p_hat) == pytest.approx(0.2 + 0.3)
    assert sre(p, p_hat, [0.2, 0.3, 0.5]) == pytest.approx((1.0 + (0.1 / 0.3) ** 2 + (0.3 / 0.5) ** 2) / 3)
    assert bias([0.3, 0.7], [0.4, 0.6]) == pytest.approx(-0.1)


def test_measures_of_ordered_classes_equal_hand_computed_values():
    p, p_hat = [0.5, 0.0, 0.3, 0.2], [0.2, 0.4, 0.0, 0.4]
    # Cumulative shares .5, .5, .8 and .2, .6, .6: distances .3, .1, .2.
    assert md(p, p_hat) == pytest.approx(0.6)
    assert nmd(p, p_hat) == pytest.approx(0.6 / 3)
    # To all items in the highest class .5 + .5 + .8 = 1.8, in the lowest .5 + .5 + .2 = 1.2.
    assert nemd(p, p_hat) == pytest.approx(0.6 / 1.8)
    # Squared errors .09, .16, .09, .04; the second class has no share.
    first = 1 * 0.16 + 2 * 0.09 + 3 * 0.04
    third = 2 * 0.09 + 1 * 0.16 + 1 * 0.04
    fourth = 3 * 0.09 + 2 * 0.16 + 1 * 0.09
    assert rnod(p, p_hat) == pytest.approx(np.sqrt((first + third + fourth) / 3 / 3))
    assert rnod(p_hat, p) == pytest.approx(np.sqrt((first + 0.09 + 0.09 + 2 * 0.04 + fourth) / 3 / 3))
    # An error farther away is worse, though the same shares are wrong.
    truth = [1.0, 0.0, 0.0, 0.0, 0.0]
    near, far = [0.6, 0.4, 0.0, 0.0, 0.0], [0.6, 0.0, 0.0, 0.0, 0.4]
    assert all(measure(truth, near) < measure(truth, far) for measure in (md, nmd, nemd, rnod))
    assert ae(truth, near) == ae(truth, far)


def test_the_match_distance_over_its_largest_reaches_one_at_an_end_and_nowhere_else():
    true, estimated = np.random.default_rng(1).dirichlet(np.ones(5), size=(2, 500))
    assert nemd(true, estimated).max() < 1.0
    ends = np.maximum(nemd(true, np.tile(np.eye(5)[0], (500, 1))), nemd(true, np.tile(np.eye(5)[4], (500, 1))))
    np.testing.assert_allclose(ends, 1.0)
    assert (nemd(true, estimated) >= nmd(true, estimated)).all()


def test_the_aitchison_distance_is_that_of_all_log_ratios_of_two_classes():
    p, p_hat = np.random.default_rng(0).dirichlet(np.ones(4), size=(2, 20))
    a, b = smooth(p, 50), smooth(p_hat, 50)
    for x, y, distance in zip(a, b, aqe(p, p_hat, 50), strict=True):
        squares = sum((np.log(x[i] / x[j]) - np.log(y[i] / y[j])) ** 2 for i in range(4) for j in range(4))
        assert distance == pytest.approx(np.sqrt(squares / 8))
    assert aqe([0.0, 0.4, 0.6], [0.0, 0.6, 0.4], np.inf) == pytest.approx(np.sqrt(2) * np.log(1.5))
    assert aqe([0.0, 1.0], [0.1, 0.9], np.inf) == np.inf


def test_errors_relative_to_training_shares_say_what_they_need():
    p = np.array([[0.2, 0.8], [0.5, 0.5]])
    np.testing.assert_allclose(get_error("sre")(p, p[::-1], training=[[0.5, 0.5], [0.3, 0.7]])[0], 0.36)
    with pytest.raises(DataError, match="pass training="):
        get_error("sre")(p, p)
    with pytest.raises(DataError, match="above 0 for each class"):
        sre(p, p, [0.0, 1.0])
    with pytest.raises(DataError, match="one vector of 2 shares"):
        sre(p, p, [0.2, 0.3, 0.5])
    with pytest.raises(DataError, match="two classes; the shares are of 3"):
        bias([0.2, 0.3, 0.5], [0.2, 0.3, 0.5])


def test_smoothing_adds_half_an_item_to_each_class():
    np.testing.assert_allclose(smooth([0.0, 1.0], 10), [0.05 / 1.1, 1.05 / 1.1])
    np.testing.assert_allclose(smooth([[0, 1], [0, 1]], [10, 1]), [[0.05 / 1.1, 1.05 / 1.1], [0.25, 0.75]])


@pytest.mark.parametrize(
    ("prevalence", "expected_ae", "expected_rae"),
    [(0.5, 0.262, 24.874), (0.982, 0.484, 25.447), (0.9186, 0.429, 25.266)],
    ids=["IMDB", "HP", "Kindle"],
)
def test_the_mlpe_rows_of_the_paper_are_reproduced(prevalence, expected_ae, expected_rae):
    p = np.arange(21) / 20
    true = np.column_stack([1 - p, p])
    estimated = np.tile([1 - prevalence, prevalence], (21, 1))
    assert ae(true, estimated).mean() == pytest.approx(expected_ae, abs=0.0005)
    assert rae(true, estimated, 500).mean() == pytest.approx(expected_rae, abs=0.0006)


def test_kld_and_nkld_agree_with_scipy():
    generator = np.random.default_rng(0)
    p, p_hat = generator.dirichlet(np.ones(4), size=(2, 30))
    a, b = smooth(p, 77), smooth(p_hat, 77)
    np.testing.assert_allclose(kld(p, p_hat, 77), entropy(a, b, axis=1), rtol=1e-10)
    k = np.exp(kld(p, p_hat, 77))
    np.testing.assert_allclose(nkld(p, p_hat, 77), 2 * k / (k + 1) - 1, rtol=1e-10)


def test_match_distance_equals_the_normalised_earth_movers_distance():
    generator = np.random.default_rng(0)
    for p, p_hat in zip(*generator.dirichlet(np.ones(5), size=(2, 20)), strict=True):
        expected = wasserstein_distance(range(5), range(5), p, p_hat) / 4
        assert nmd(p, p_hat) == pytest.approx(expected)


def test_errors_of_decisions_agree_with_scikit_learn():
    generator = np.random.default_rng(0)
    y, decided = generator.choice(["a", "b", "c"], p=[0.2, 0.5, 0.3], size=(2, 200))
    assert accuracy_error(y, decided) == pytest.approx(1 - accuracy_score(y, decided))
    rarest = minority_class(y)
    assert rarest == "a"
    assert f1_error(y, decided) == pytest.approx(1 - f1_score(y, decided, labels=["a"], average=None)[0])
    assert f1_error(y, decided, "b") == pytest.approx(1 - f1_score(y, decided, labels=["b"], average=None)[0])


def test_errors_of_decisions_with_mixed_types_rare_classes_and_wrong_input():
    with pytest.raises(DataError, match="The class 'spamm' is neither a true nor a decided label"):
        f1_error(["spam", "ham"], ["ham", "ham"], positive="spamm")
    assert accuracy_error([0, 1, 1], [0.0, 2.0, 1.0]) == pytest.approx(1 / 3)
    assert accuracy_error(np.array([0, 1], dtype=np.uint8), [True, True]) == 0.5
    days = np.array(["2020-01-01", "2020-01-02", "2020-01-02"], dtype="datetime64[ns]")
    assert f1_error(days, days[[1, 1, 1]]) == 1
    assert f1_error([0, 0, 1], [0, 0, 0]) == 1
    assert minority_class([1, 1, 0, 0]) == 0
    with pytest.raises(DataError, match="same items"):
        accuracy_error([0, 1], [0])
    with pytest.raises(DataError, match="not among the classes"):
        accuracy_error([0, 1], ["0", "1"])
