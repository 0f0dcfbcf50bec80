"""scikit-learn's estimator checks; each exemption with its reason."""

from importlib.util import find_spec

import pytest
import sklearn
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version

from headcount import PACC, AutoQuantifier, QuaNet, QuantifierSearch
from headcount.quantifiers import list_methods
from tests.conftest import Linear
from tests.laws.test_quantifiers import SMALL

ONE_VECTOR = "predict gives one vector of class shares for all items together, not one value for each item"
EXEMPT = {
    "check_methods_sample_order_invariance": ONE_VECTOR,
    "check_methods_subset_invariance": ONE_VECTOR,
    "check_estimator_sparse_array": ONE_VECTOR + " (sparse input itself is in our laws)",
    "check_estimator_sparse_matrix": ONE_VECTOR + " (sparse input itself is in our laws)",
}
NO_FEATURES = "MLPE ignores the features: it only counts labels"
EXEMPT_MLPE = dict.fromkeys(
    (
        "check_complex_data",
        "check_dtype_object",
        "check_estimators_empty_data_messages",
        "check_estimators_nan_inf",
        "check_fit1d",
    ),
    NO_FEATURES,
)


EXEMPT_AUTO = dict.fromkeys(
    ("check_complex_data", "check_fit2d_1feature"),
    "classes of fewer than 5 items are refused first, with an error of its own",
)
if parse_version(sklearn.__version__) < parse_version("1.8"):  # which has 5 items of each class there
    EXEMPT_AUTO["check_n_features_in_after_fitting"] = EXEMPT_AUTO["check_complex_data"]
EXEMPT_SEARCH = {"check_dtype_object": "the failure of a candidate is raised as the search's own error, a SearchError"}


FEW_MEMBERS = {
    "Ensemble": {"n_members": 2, "random_state": 0},
    "MedianQuantifier": {"quantifier": PACC(), "grid": {"classifier__C": [0.1, 1.0]}},
}
"""Settings with which methods of several quantifiers are fast; without a seed members may miss the one item that a check spoils."""


def exemptions(estimator):
    by_estimator = {"MLPE": EXEMPT_MLPE, "QuantifierSearch": EXEMPT_SEARCH, "AutoQuantifier": EXEMPT_AUTO}
    return EXEMPT | by_estimator.get(type(estimator).__name__, {})


def instances():
    """Yield one of each method; QuaNet over a classifier of features, and only if torch is installed."""
    for quantifier in dict.fromkeys(method.quantifier for method in list_methods()):
        if quantifier is not QuaNet:
            yield quantifier(**FEW_MEMBERS.get(quantifier.__name__, {}))
        elif find_spec("torch") is not None:
            yield QuaNet(Linear(), device="cpu", **SMALL)


SEARCH = QuantifierSearch(PACC(), {"classifier__C": [1.0]})
AUTO = AutoQuantifier(["PACC"], ["lr"], random_state=0)


@pytest.mark.filterwarnings("ignore::headcount.exceptions.IdentifiabilityWarning")  # their labels are random
@parametrize_with_checks(
    [*instances(), SEARCH, AUTO],
    expected_failed_checks=exemptions,
)
def test_estimators_pass_the_checks_of_scikit_learn(estimator, check):
    check(estimator)
