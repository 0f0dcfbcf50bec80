"""Tests of known errors on the real IMDB reviews: logistic regression at its defaults, the paper's text features and protocol."""

import pytest
from sklearn.linear_model import LogisticRegression

from headcount import ACC, CC, PACC, PCC, ArtificialPrevalence, LogTfidf, evaluate, read_corpus

# Mean AE on 2,100 samples, measured once by an independent script; the paper has 0.059, 0.122, 0.017, 0.017.
EXPECTED = {CC: 0.060, PCC: 0.130, ACC: 0.017, PACC: 0.021}


@pytest.mark.data
def test_logistic_regression_at_defaults_has_the_expected_errors(data_dir):
    train, test = (read_corpus(data_dir / "imdb" / f"{part}.txt.gz") for part in ("train", "test"))
    features = LogTfidf()
    X, X_test = features.fit_transform(train.items), features.transform(test.items)
    protocol = ArtificialPrevalence(21, repeats=100, sample_size=500, random_state=0)
    for quantifier, expected in EXPECTED.items():
        options = {} if quantifier in (CC, PCC) else {"random_state": 0}
        q = quantifier(LogisticRegression(), **options).fit(X, train.labels)
        table = evaluate(q, X_test, test.labels, protocol)
        assert len(table) == 2100
        assert table.ae.mean() == pytest.approx(expected, abs=0.01), quantifier.__name__
