"""Tests of errors and coverage on real text: reviews of reading devices, in simulated months of 400 with varying shares."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from headcount import CC, PACC, SLD, LogTfidf, Samples, estimate, read_corpus


def draw_months(y, generator):
    """Draw forty samples of 400 reviews with a positive share between 0.3 and 0.98; return them with these shares."""
    by_class = [np.flatnonzero(y == c) for c in (0, 1)]
    counts = np.round(400 * generator.uniform(0.3, 0.98, 40)).astype(int)
    rows = [
        np.concatenate(
            [generator.choice(by_class[0], 400 - c, replace=False), generator.choice(by_class[1], c, replace=False)]
        )
        for c in counts
    ]
    return Samples.from_matrix(np.array(rows)), counts / 400


@pytest.mark.data
def test_pacc_and_sld_halve_the_error_of_cc_and_intervals_cover(data_dir):
    train, test = (read_corpus(data_dir / "kindle_devices" / f"{part}.txt.gz") for part in ("train", "test"))
    features = LogTfidf()
    X, X_test = features.fit_transform(train.items), features.transform(test.items)
    without_validation = {q: q(LogisticRegression()).fit(X, train.labels) for q in (CC, SLD)}
    outputs = {q: fitted.outputs(X_test) for q, fitted in without_validation.items()}
    errors = {CC: [], SLD: [], PACC: []}
    covers = []
    for seed in range(10):
        samples, true = draw_months(test.labels, np.random.default_rng(seed))
        for q, fitted in without_validation.items():
            errors[q].append(np.abs(fitted.aggregate(outputs[q], samples)[:, 1] - true))
        pacc = PACC(LogisticRegression(), random_state=seed).fit(X, train.labels)
        answer = estimate(pacc, X_test, samples)
        errors[PACC].append(np.abs(answer.shares[:, 1] - true))
        covers.append((answer.low[:, 1] <= true) & (true <= answer.high[:, 1]))
    mean = {q: np.mean(values) for q, values in errors.items()}
    assert mean[PACC] <= mean[CC] / 2
    assert mean[SLD] <= mean[CC] / 2
    assert np.mean(covers) >= 0.92
