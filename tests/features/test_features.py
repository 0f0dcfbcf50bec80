import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from headcount import LogTfidf, TermIds, TermWeights
from headcount.exceptions import DataError
from headcount.learners import FoldClassifiers, score

TEXTS = ["Good film, good plot!", "Bad film.", "The plot: so bad, so bad", "film and Film and film"]


def test_weights_equal_the_papers_formula():
    features = LogTfidf(min_count=1).fit(TEXTS)
    assert features.get_feature_names_out().tolist() == ["bad", "film", "good", "plot"]
    weights = np.zeros((4, 4))
    counts = np.array([[0, 1, 2, 1], [1, 1, 0, 0], [2, 0, 0, 1], [0, 3, 0, 0]])
    for d in range(4):
        for f in range(4):
            weights[d, f] = np.log(counts[d, f] + 1) * np.log(4 / (counts[:, f] > 0).sum())
    weights /= np.linalg.norm(weights, axis=1, keepdims=True)
    np.testing.assert_allclose(features.transform(TEXTS).toarray(), weights, atol=1e-12)


def test_rare_terms_are_dropped_by_occurrences_not_by_texts():
    features = LogTfidf(min_count=4).fit(TEXTS)
    assert list(features.vocabulary_) == ["film"]
    counts = CountVectorizer(stop_words="english").fit_transform(TEXTS)
    assert (counts > 0).sum(axis=0).max() == 3


def test_fit_then_transform_equals_fit_transform_and_new_terms_are_ignored():
    features = LogTfidf(min_count=1)
    together = features.fit_transform(TEXTS)
    np.testing.assert_array_equal(features.transform(TEXTS).toarray(), together.toarray())
    assert features.transform(["entirely unknown words"]).nnz == 0
    assert (together.has_sorted_indices, together.format) == (True, "csr")


def test_a_term_in_every_text_weighs_nothing_and_an_empty_text_is_a_zero_row():
    X = LogTfidf(min_count=1).fit_transform(["film good", "film bad", "film"])
    assert X.toarray()[2].tolist() == [0, 0, 0]
    assert np.isfinite(X.data).all()


def test_stop_words_can_be_chosen():
    assert "the" in LogTfidf(min_count=1, stop_words=None).fit(TEXTS).vocabulary_
    assert "film" not in LogTfidf(min_count=1, stop_words=["film"]).fit(TEXTS).vocabulary_


def test_term_ids_share_the_vocabulary_and_cut_and_pad():
    ids = TermIds(length=3, min_count=2).fit(TEXTS)
    assert ids.vocabulary_ == LogTfidf(min_count=2).fit(TEXTS).vocabulary_
    assert ids.n_ids_ == len(ids.vocabulary_) + 2
    bad, film, good, plot = (ids.vocabulary_[term] + 2 for term in ("bad", "film", "good", "plot"))
    expected = [[good, film, good], [bad, film, 0], [plot, bad, bad], [film, film, film]]
    assert ids.transform(TEXTS).tolist() == expected
    assert ids.transform(["the unheard plot", ""]).tolist() == [[1, plot, 0], [0, 0, 0]]
    assert ids.transform(TEXTS).dtype == np.int32


@pytest.mark.parametrize("features", [LogTfidf(min_count=1), TermIds(length=4, min_count=1)], ids=["tfidf", "ids"])
def test_transformers_clone_pickle_and_take_any_sequence_of_texts(features):
    import pandas as pd

    fitted = clone(features).fit(TEXTS)
    expected = np.asarray(fitted.transform(TEXTS).sum(axis=1)).ravel()
    assert len(set(expected.tolist())) > 1
    again = pickle.loads(pickle.dumps(fitted))
    for form in (TEXTS, np.array(TEXTS), np.array(TEXTS, dtype=object), pd.Series(TEXTS), tuple(TEXTS), iter(TEXTS)):
        np.testing.assert_array_equal(np.asarray(again.transform(form).sum(axis=1)).ravel(), expected)
    with sklearn.config_context(transform_output="pandas"):
        assert clone(features).fit(TEXTS).transform(TEXTS).shape == fitted.transform(TEXTS).shape


def test_a_pipeline_from_texts_to_decisions():
    texts, y = ["good film", "bad film"] * 10, [1, 0] * 10
    assert make_pipeline(LogTfidf(min_count=1), LogisticRegression()).fit(texts, y).score(texts, y) == 1


@pytest.mark.parametrize("features", [LogTfidf(), TermIds()], ids=["tfidf", "ids"])
@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["good film"], "No term occurs 5 times in the 1 texts"),
        (["", "a"], "No terms were found"),
        ("one text", "is one string"),
        ([], "is empty"),
        (["good", 5], "item 1 is int"),
        (np.eye(3), "got a table of shape"),
    ],
)
def test_items_that_are_not_texts_are_an_error(features, texts, words):
    with pytest.raises(DataError, match=words):
        clone(features).fit(texts)


def test_parameters_out_of_range_are_an_error():
    with pytest.raises(ValueError, match="'min_count' parameter of LogTfidf"):
        LogTfidf(min_count=0).fit(TEXTS)
    with pytest.raises(ValueError, match="'length' parameter of TermIds"):
        TermIds(length=0).fit(TEXTS)
    with pytest.raises(ValueError, match="'stop_words' parameter"):
        LogTfidf(stop_words="french").fit(TEXTS)


def test_words_of_any_language_and_none_left_out():
    weights = TermWeights(min_count=1)
    X = weights.fit_transform(["it is good", "it is not good"])
    assert "not" in weights.vocabulary_
    assert "not good" in weights.vocabulary_
    assert (X[0] != X[1]).nnz > 0
    np.testing.assert_allclose(np.asarray(X.multiply(X).sum(axis=1)).ravel(), 1.0)
    assert TermWeights(min_count=1).fit(["хороший фильм", "плохой фильм"]).unit_ == "words"
    letters = TermWeights(min_count=1).fit(["这部电影很好", "这部电影不好"])
    assert letters.unit_ == "letters"
    assert "不好" in letters.vocabulary_
    assert letters.transform(["不好"]).nnz > 0


def test_terms_in_few_texts_are_dropped_and_texts_without_words_refused():
    assert list(TermWeights(min_count=2).fit(["good film", "good plot plot"]).vocabulary_) == ["good"]
    with pytest.raises(DataError, match="No words were found"):
        TermWeights().fit(["...", "!"])
    with pytest.raises(DataError, match="No word occurs in 3 of the 2 texts"):
        TermWeights(min_count=3).fit(["a b", "a c"])


@pytest.mark.parametrize("features", [LogTfidf(min_count=1), TermIds(min_count=1), TermWeights(min_count=1)])
def test_the_vocabulary_is_kept_as_one_text_and_as_earlier_versions_kept_it(features):
    fitted = features.fit([*TEXTS, 'a "quoted" \n名前'])
    state = fitted.__getstate__()
    assert isinstance(state["vocabulary_"], str)
    for kept in (state, state | {"vocabulary_": dict(fitted.vocabulary_)}):
        again = type(features).__new__(type(features))
        again.__setstate__(kept)
        assert list(again.vocabulary_.items()) == list(fitted.vocabulary_.items())
    assert pickle.loads(pickle.dumps(clone(features))).get_params() == features.get_params()  # not fitted yet


@pytest.mark.parametrize("features", [LogTfidf(min_count=1, stop_words=None), TermWeights(min_count=1)])
@pytest.mark.parametrize("texts", [TEXTS, ["only unseen words", "", "bad"], ["!", "?"]])
def test_classifiers_of_folds_read_texts_once_with_the_same_answer(features, texts, monkeypatch):
    labels = np.array([0, 1, 1, 0])
    parts = [[0, 1, 2], [1, 2, 3], [0, 2, 3]]
    folds = FoldClassifiers(
        [
            make_pipeline(clone(features), LogisticRegression()).fit(np.array(TEXTS, object)[rows], labels[rows])
            for rows in parts
        ]
    )
    texts = np.array(texts, dtype=object)
    alone = [classifier.predict_proba(texts) for classifier in folds.classifiers]
    read = []
    analyzer = CountVectorizer.build_analyzer
    monkeypatch.setattr(CountVectorizer, "build_analyzer", lambda self: read.append(1) or analyzer(self))
    together = score(folds, texts, "posteriors", np.array([0, 1]))
    assert len(read) == 1
    for one, posteriors in zip(together.folds, alone, strict=True):
        np.testing.assert_array_equal(one.posteriors, posteriors)


def test_folds_with_other_stop_words_read_texts_themselves():
    words = [f"word{i}" for i in range(300)]
    texts = np.array([" ".join(words[i : i + 20]) for i in range(280)], dtype=object)
    labels = np.arange(280) % 2
    learners = [LogTfidf(min_count=1, stop_words=words[:n]) for n in (251, 250)]
    folds = FoldClassifiers([make_pipeline(one, LogisticRegression()).fit(texts, labels) for one in learners])
    together = score(folds, texts, "posteriors", np.array([0, 1]))
    for one, classifier in zip(together.folds, folds.classifiers, strict=True):
        np.testing.assert_array_equal(one.posteriors, classifier.predict_proba(texts))
