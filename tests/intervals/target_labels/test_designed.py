"""Labels of new items that were drawn by a survey design: coverage of both answers, false alarms of the test, agreement."""

import numpy as np
import pytest
from benchmarks.design_worlds import Side, draw

from headcount import CC, PACC, BayesianCC, SurveyDesign, estimate, survey_mean
from headcount.exceptions import DataError
from headcount.model_assisted import assisted_shares

LABELS = 120


def simulated(side, n, share=0.3, unequal=False):
    """Both answers, the test's p-value, and the plain answers, in n simulations."""
    generator = np.random.default_rng(5)
    held = {name: [] for name in ("design-based", "pooled", "plain design-based", "plain pooled")}
    alarms = []
    for _ in range(n):
        labelled = draw(generator, side, [0.5, 0.5], "labelled")
        new = draw(generator, side, [1 - share, share], "new")
        outputs, m = new.outputs(), len(new.y)
        more = {}
        if unequal:
            more["probabilities"] = np.where(new.X[:, 0] > 0, 0.3, 0.12)
            rows = np.flatnonzero(generator.random(m) < more["probabilities"])
        else:
            rows = generator.choice(m, LABELS, replace=False)
        labels = rows, new.y[rows]
        designed = PACC().fit(labelled.outputs(), labelled.y, design=labelled.design)
        answer = estimate(designed, outputs, labels=labels, design=new.design, **more)
        plain = estimate(PACC().fit(labelled.outputs(), labelled.y), outputs, labels=labels, **more)
        shown = answer.design_based, answer.label_shift, plain.design_based, plain.label_shift
        for name, one in zip(held, shown, strict=True):
            held[name].append(one.low[1] <= share <= one.high[1])
        alarms.append(answer.contradiction.p_value[0] < 0.05)
    return {name: np.mean(values) for name, values in held.items()}, np.mean(alarms)


@pytest.mark.parametrize(
    ("side", "unequal", "plain_at_most"),
    [(Side(60, 10, 0.5), False, 0.85), (Side(160, 5, 0.5, "informative"), False, 0.2), (Side(60, 10, 0.5), True, 0.9)],
)
def test_both_answers_hold_under_clusters_and_weights(side, unequal, plain_at_most):
    """60 simulations each, Monte Carlo error 3; `benchmarks.designs_labels` has more."""
    held, alarms = simulated(side, 60, unequal=unequal)
    assert held["design-based"] >= 0.88
    assert held["pooled"] >= 0.88
    assert held["plain pooled"] <= plain_at_most
    assert alarms <= 0.12


def test_without_predictions_the_answer_is_the_weighted_mean_of_the_labels():
    generator = np.random.default_rng(6)
    new = draw(generator, Side(60, 5, 0.5, "informative"), [0.6, 0.4], "new")
    # Every item is labelled, so that nothing is left to chance but the first phase.
    answer = assisted_shares(
        new.y, np.ones(len(new.y), dtype=bool), None, 2, survey=new.design, finite_population=False
    )
    expected = survey_mean(new.y, new.design)
    assert answer.shares[1] == pytest.approx(expected.mean[0])
    assert answer.standard_errors[1] == pytest.approx(expected.standard_error[0])
    known = assisted_shares(new.y, np.ones(len(new.y), dtype=bool), None, 2, survey=new.design)
    assert known.low[1] == known.high[1] == pytest.approx(expected.mean[0])


def test_a_finite_population_corrects_the_first_phase_only():
    generator = np.random.default_rng(7)
    new = draw(generator, Side(60, 5, 0.5), [0.6, 0.4], "new")
    rows = generator.choice(len(new.y), LABELS, replace=False)
    clusters = new.design.clusters
    given = new.y[rows], rows, np.column_stack([new.X, new.X**2]), 2

    def error(**more):
        survey = SurveyDesign(clusters=clusters, **more)
        return assisted_shares(*given, survey=survey, finite_population=False).standard_errors[1]

    second_phase = assisted_shares(*given, survey=SurveyDesign(clusters=clusters)).standard_errors[1]
    assert error(population_clusters=60) == pytest.approx(second_phase)
    assert second_phase < error(population_clusters=100) < error()


def test_methods_without_an_interval_have_the_design_based_answer():
    generator = np.random.default_rng(8)
    side = Side(60, 5, 0.5)
    labelled, new = draw(generator, side, [0.5, 0.5], "labelled"), draw(generator, side, [0.7, 0.3], "new")
    labels = {i: int(new.y[i]) for i in range(0, len(new.y), 2)}
    designed = estimate(CC().fit(labelled.outputs(), labelled.y), new.outputs(), labels=labels, design=new.design)
    plain = estimate(CC().fit(labelled.outputs(), labelled.y), new.outputs(), labels=labels)
    assert designed.label_shift is None
    assert designed.shares == pytest.approx(plain.shares)
    assert np.ptp([designed.low[1], designed.high[1]]) > 1.1 * np.ptp([plain.low[1], plain.high[1]])


def test_what_can_not_be_counted_is_refused():
    generator = np.random.default_rng(9)
    side = Side(60, 5, 0.5)
    labelled, new = draw(generator, side, [0.5, 0.5], "labelled"), draw(generator, side, [0.7, 0.3], "new")
    quantifier, labels = PACC().fit(labelled.outputs(), labelled.y), {i: int(new.y[i]) for i in range(50)}
    with pytest.raises(DataError, match="The design is of 300 items, but there are 299 items"):
        estimate(quantifier, new.outputs().take(np.arange(299)), labels=labels, design=new.design)
    with pytest.raises(DataError, match="shares of the population are estimated"):
        estimate(quantifier, new.outputs(), labels=labels, design=new.design, estimand="sample")
    bayesian = BayesianCC(random_state=0).fit(labelled.outputs(), labelled.y)
    with pytest.raises(DataError, match="Under a survey design there are the intervals of methods"):
        estimate(bayesian, new.outputs(), labels=labels, design=new.design)
