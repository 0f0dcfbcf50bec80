"""The data of the plots are computed from the estimates of the cells."""

import numpy as np
import pytest

from headcount.report import series
from headcount.report.scores import Errors
from headcount.report.series import _binned


@pytest.fixture(scope="module")
def errors(study_results):
    return Errors(study_results)


def cells_of(results, data_set, method, learner, target="ae"):
    return [
        c for c in results.cells if (c.data_set, c.method, c.learner, c.target) == (data_set, method, learner, target)
    ]


def test_diagonals_are_means_at_true_shares_over_runs(errors, study_results):
    (curve,) = (c for c in series.diagonals(errors) if (c.data_set, c.method, c.learner) == ("uneven", "PACC", "lr"))
    cells = cells_of(study_results, "uneven", "PACC", "lr")
    assert len(cells) == 2
    assert curve.at == [0.0, 0.25, 0.5, 0.75, 1.0]
    estimated = np.concatenate([c.estimated[:, 1][np.isclose(c.true[:, 1], 0.25)] for c in cells])
    assert curve.mean[1] == pytest.approx(estimated.mean())
    assert (curve.low[1], curve.high[1]) == pytest.approx(tuple(np.quantile(estimated, (0.1, 0.9))))
    assert curve.n == [8] * 5


def test_shift_is_the_distance_to_the_training_shares(errors, study_results):
    (curve,) = (c for c in series.shifts(errors) if (c.data_set, c.method) == ("uneven", "MLPE"))
    np.testing.assert_allclose(
        curve.mean, curve.at, atol=1e-9
    )  # MLPE answers with the training shares: its error is the shift


def test_bias_is_of_the_class_most_frequent_in_training(errors, study_results):
    (entry,) = (e for e in series.biases(errors) if (e.data_set, e.method, e.learner) == ("uneven", "CC", "mnb"))
    (cell,) = cells_of(study_results, "uneven", "CC", "mnb")
    assert entry.of == "1"
    assert entry.mean == pytest.approx((cell.estimated[:, 1] - cell.true[:, 1]).mean())
    assert entry.quantiles == sorted(entry.quantiles)


def test_ranks_are_those_of_table_6(errors):
    ranks = series.rank_chart(errors)
    assert [entry.mean for entry in ranks] == sorted(entry.mean for entry in ranks)
    assert ranks[0].columns == ["AE even", "AE uneven", "RAE even", "RAE uneven"]
    for column in range(4):
        assert min(entry.ranks[column] for entry in ranks) == 1.0
    mlpe = next(entry for entry in ranks if entry.method == "MLPE")
    assert mlpe.mean == pytest.approx(np.mean(mlpe.ranks))


def test_time_is_counted_by_data_set_and_learner(study_results):
    spent = {(entry.data_set, entry.learner): entry for entry in series.times(study_results)}
    assert set(spent) == {(d, name) for d in ("even", "uneven") for name in ("svm", "lr", "mnb", "own")}
    assert all(entry.choosing > 0.0 and entry.testing > 0.0 for entry in spent.values())


def test_values_off_the_grid_are_binned():
    x = np.random.default_rng(0).random(1000)
    binned = _binned(x, x)
    assert len(binned["at"]) == 20
    np.testing.assert_allclose(binned["mean"], binned["at"])
    assert all(k * 0.05 <= at < (k + 1) * 0.05 for k, at in enumerate(binned["at"]))


def test_values_on_a_grid_are_not_binned_despite_rounding_errors():
    shift = np.abs(np.repeat(np.arange(21) / 20, 100) - 0.5)
    binned = _binned(shift, shift)
    assert binned["at"] == pytest.approx(np.arange(11) / 20)
    assert binned["n"] == [100, *[200] * 10]


def test_majority_class_of_a_tie_is_the_last():
    assert series.majority({"training": [0.5, 0.5]}) == 1
    assert series.majority({"training": [0.6, 0.2, 0.2]}) == 0
