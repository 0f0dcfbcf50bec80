"""`Corpus`: immutable, with classes, prevalence and a fingerprint."""

import copy
import pickle

import numpy as np
import pytest

from headcount import Corpus
from headcount.exceptions import DataError


def test_a_corpus_is_immutable_and_has_a_fingerprint_of_its_content():
    texts = ["a", "b"]
    corpus = Corpus(texts, [0, 1])
    texts[0] = "changed"
    assert corpus.items[0] == "a"
    for array in (corpus.items, corpus.labels):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert corpus.fingerprint == Corpus(["a", "b"], [0, 1], source="elsewhere").fingerprint
    different = [
        Corpus(["ab", ""], [0, 1]),
        Corpus(["a", "b"], [0, 2]),
        Corpus(["a", "b"]),
        Corpus([[0.0], [1.0]], [0, 1]),
    ]
    assert len({c.fingerprint for c in [corpus, *different]}) == 5
    for copied in (copy.deepcopy(corpus), pickle.loads(pickle.dumps(corpus))):
        assert copied.fingerprint == corpus.fingerprint
        with pytest.raises(ValueError, match="read-only"):
            copied.labels[0] = 5
    assert corpus.select(1).items.tolist() == ["b"]
    for items, words in (("abc", "a single string"), (["a", 5], "item 1 is 5"), ([["a"], ["b"]], "must be numbers")):
        with pytest.raises(DataError, match=words):
            Corpus(items)


def test_sparse_corpora_are_immutable_too():
    from scipy.sparse import csr_array

    matrix = csr_array(np.eye(3))
    corpus = Corpus(matrix, ["x", "y", "x"])
    with pytest.raises(ValueError, match="read-only"):
        corpus.items.data[0] = 5
    matrix.data[0] = 5
    assert corpus.items.toarray()[0, 0] == 1
    assert corpus.select([0, 2]).labels.tolist() == ["x", "x"]
    assert len(corpus.fingerprint) == 64


def test_classes_prevalence_and_repr():
    corpus = Corpus(["a", "b", "c", "d"], ["x", "y", "x", "x"])
    assert corpus.classes.tolist() == ["x", "y"]
    assert corpus.prevalence.tolist() == [0.75, 0.25]
    assert repr(corpus.select(corpus.labels == "x")) == "Corpus(3 texts, classes 'x' 1.000)"
    assert repr(Corpus(np.eye(2))) == "Corpus(2 items of 2 features, no labels)"
    assert repr(Corpus(np.eye(8), range(8))) == "Corpus(8 items of 8 features, 8 classes)"
    with pytest.raises(DataError, match="no labels"):
        _ = Corpus(["a"]).classes
    with pytest.raises(DataError, match="2 items and 1 labels"):
        Corpus(["a", "b"], [0])
