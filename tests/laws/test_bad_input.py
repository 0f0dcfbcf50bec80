"""Laws of bad input: every method answers with shares or with a sentence. What is only refused is in `test_quantifiers.py`."""

import warnings
from numbers import Integral, Real

import numpy as np
import pytest
from sklearn.utils._param_validation import Interval, InvalidParameterError, make_constraint

from headcount import Outputs
from headcount.exceptions import DataError
from tests.conftest import blobs, frozen, scored_items
from tests.laws.test_quantifiers import METHODS, every_method, limit_classes, make

NEEDS_TWO = {"CvMy", "EDy", "EDyMAP", "MMDy", "KDEyCS", "QuaNet", "QuantifierSearch"}
"""The first five compare the labelled items of a class with each other, the others divide them; they say so of a single one."""


def shares_or_sentence(quantifier, X, y, new):
    """Fit and predict; return the shares, or None where a sentence says why there are none."""
    sentence = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            shares = quantifier.fit(X, y).predict(new)
    except DataError as error:
        sentence = str(error)
    if sentence is not None:
        assert len(sentence.split()) >= 8, sentence
        return None
    assert np.isfinite(shares).all()
    assert (shares >= 0.0).all()
    assert shares.sum() == pytest.approx(1.0, abs=1e-9)
    return shares


def values_out_of_range(constraints):
    """Values beyond the ends of each interval that is allowed, which no other constraint allows."""
    allowed = [make_constraint(one) for one in constraints]
    for one in constraints:
        if isinstance(one, Interval) and one.type in (Integral, Real):
            ends = [(one.left, -1), (one.right, 1)]
            beyond = [end + sign * (1 if one.type is Integral else 1e-6) for end, sign in ends if end is not None]
            for value in [*beyond, float("nan")]:
                number = int(value) if one.type is Integral and np.isfinite(value) else value
                if not any(constraint.is_satisfied_by(number) for constraint in allowed):
                    yield number


CASES = [
    pytest.param(method, name, value, id=f"{method.__name__}-{name}-{value:g}")
    for method in METHODS
    for name, constraints in method._parameter_constraints.items()
    if not isinstance(constraints, str) and name in method._get_param_names()
    for value in values_out_of_range(constraints)
]


@pytest.mark.parametrize(("quantifier", "name", "value"), CASES)
def test_a_parameter_out_of_range_raises_a_sentence(quantifier, name, value):
    X, y = blobs(60, 2, seed=0)
    with pytest.raises(InvalidParameterError, match=f"The '{name}' parameter of {quantifier.__name__} must be"):
        make(quantifier).set_params(**{name: value}).fit(X, y)


def test_ranges_are_found():
    tried = {(case.values[0].__name__, case.values[1]) for case in CASES}
    assert {("KDEyML", "bandwidth"), ("SORD", "steps"), ("MS", "thresholds"), ("Ensemble", "n_members")} <= tried


@every_method
@pytest.mark.parametrize("all_of_them", [True, False], ids=["all", "one"])
def test_constant_features_give_shares_or_a_sentence(quantifier, all_of_them):
    X, y = blobs(120, limit_classes(quantifier, 3), seed=0)
    X[:, slice(None) if all_of_them else 0] = 2.5
    shares = shares_or_sentence(make(quantifier), X, y, X[:40])
    assert all_of_them or shares is not None


@every_method
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_class_with_one_item_gives_shares_or_a_sentence(quantifier, n_classes):
    k = limit_classes(quantifier, n_classes)
    X, y = blobs(90, k, seed=1)
    keep = np.r_[np.flatnonzero(y != k - 1), np.flatnonzero(y == k - 1)[:1]]
    shares_or_sentence(make(quantifier), X[keep], y[keep], X)
    if "classifier" in quantifier._get_param_names():
        codes, P = scored_items(60, k, seed=2)
        keep = np.r_[np.flatnonzero(codes != k - 1), np.flatnonzero(codes == k - 1)[:1]]
        shares = shares_or_sentence(make(quantifier, frozen(range(k))), P[keep], codes[keep], P)
        assert shares is not None or quantifier.__name__ in NEEDS_TWO


@every_method
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_posteriors_of_0_and_1_that_contradict_labels_give_shares(quantifier, n_classes):
    if "classifier" not in quantifier._get_param_names():
        return  # it reads features
    k = limit_classes(quantifier, n_classes)
    codes, P = scored_items(200, k, seed=3, separation=0.8)
    P = np.eye(k)[P.argmax(axis=1)]
    q = make(quantifier, frozen(range(k)))
    assert shares_or_sentence(q, P, codes, P[:50]) is not None
    for sample in (P[:1], np.eye(k)[[0] * 3], np.eye(k)[[k - 1] * 30]):
        shares = q.aggregate(Outputs.from_posteriors(sample, range(k), embeddings=sample))
        assert np.isfinite(shares).all()
        assert shares.sum() == pytest.approx(1.0, abs=1e-9)
