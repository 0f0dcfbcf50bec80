"""Intervals on real text: reviews of reading devices, in "months" of 400 whose share of positive ones varies."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from headcount import CC, PACC, SLD, LogTfidf, Samples, estimate, read_corpus


def months(y, generator):
    """Forty samples of 400 reviews with a positive share between 0.3 and 0.98, and these shares."""
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
def test_four_hundred_months_of_real_reviews(data_dir):
    train, test = (read_corpus(data_dir / "kindle_devices" / f"{part}.txt.gz") for part in ("train", "test"))
    features = LogTfidf()
    X, X_test = features.fit_transform(train.items), features.transform(test.items)
    plain = {q: q(LogisticRegression()).fit(X, train.labels) for q in (CC, SLD)}
    outputs = {q: fitted.outputs(X_test) for q, fitted in plain.items()}
    errors = {CC: [], SLD: [], PACC: []}
    held = []
    for seed in range(10):
        samples, true = months(test.labels, np.random.default_rng(seed))
        for q, fitted in plain.items():
            errors[q].append(np.abs(fitted.aggregate(outputs[q], samples)[:, 1] - true))
        pacc = PACC(LogisticRegression(), random_state=seed).fit(X, train.labels)
        answer = estimate(pacc, X_test, samples)
        errors[PACC].append(np.abs(answer.shares[:, 1] - true))
        held.append((answer.low[:, 1] <= true) & (true <= answer.high[:, 1]))
    mean = {q: np.mean(values) for q, values in errors.items()}
    assert mean[PACC] <= mean[CC] / 2
    assert mean[SLD] <= mean[CC] / 2
    assert np.mean(held) >= 0.92
