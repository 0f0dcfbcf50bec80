"""What a method declares of itself, and that nothing is promised which it did not declare."""

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from headcount import ACC, CC, PACC, PCC, SLD, HDy, Outputs, QuantifierSearch, estimate
from headcount.checks import check
from headcount.exceptions import ClassifierError, DataError
from headcount.quantifiers import (
    LeastSquares,
    MeanVector,
    Posteriors,
    Quantifier,
    Statistics,
    SumsQuantifier,
    Vectors,
    list_methods,
)
from headcount.stream import Recipe, estimate_groups
from tests.conftest import blobs, frozen, scored_items


class RootOfPACC(PACC):
    """Another estimator than PACC, though it is written as a subclass of it."""

    def solve(self, statistics):
        shares = np.sqrt(super().solve(statistics))
        return shares / shares.sum(axis=1, keepdims=True)


class ClonedPCC(SumsQuantifier):
    """PCC, as somebody would write it who declares nothing."""

    representation = Posteriors()
    solver = MeanVector()


class Squares(Vectors):
    needs = "posteriors"

    def width(self, n_classes):
        return n_classes

    def vectors(self, outputs):
        return outputs.need("posteriors") ** 2


class BySquares(SumsQuantifier):
    """Own vectors, without a kernel for streaming."""

    representation = Squares()
    solver = LeastSquares()
    adjusts_for_shift = True


class SharpenedSLD(SLD):
    def densities(self, outputs):
        return super().densities(outputs) ** 2


class Neither(Quantifier):
    """A method of no family."""

    @property
    def needs(self):
        return frozenset({"decisions"})

    def _learn(self, fits, codes):
        self.classifier_ = fits.fit(LogisticRegression())

    def reduce(self, outputs, samples=None):
        outputs, samples = self._ready(outputs, samples)
        return Statistics(samples.count(outputs.need("decisions"), len(self.classes_)), samples.total_weights())

    def solve(self, statistics):
        return statistics.means()


def fitted(quantifier, k=2, n=2000, seed=0, **more):
    codes, P = scored_items(n, k, seed)
    return quantifier(frozen(range(k)), **more).fit(P, codes)


def all_positive(n=500):
    return scored_items(n, 2, 3, shares=[0.0, 1.0])[1]


def test_an_overridden_solve_does_not_inherit_the_interval():
    q = fitted(RootOfPACC)
    assert not q.has_interval
    assert not q.adjusts_for_shift
    with pytest.raises(
        DataError, match=r"No interval for RootOfPACC: RootOfPACC declares no estimating equation.*PACC"
    ):
        estimate(q, all_positive())


def test_a_mixin_that_overrides_solve_does_not_inherit_the_interval():
    class Half:
        def solve(self, statistics):
            return (super().solve(statistics) + 0.5) / 2

    class Shrunk(Half, PACC):
        """PACC, half way to equal shares."""

    class Declared(Half, PACC):
        adjusts_for_shift = True

    assert not Shrunk().has_interval
    assert not Shrunk().adjusts_for_shift
    assert Declared().adjusts_for_shift
    assert not Declared().has_interval


def test_a_subclass_that_overrides_nothing_inherits_everything():
    class Renamed(PACC):
        """PACC under another name."""

    q = fitted(Renamed)
    assert q.has_interval
    assert q.adjusts_for_shift
    assert q.can_stream


def test_overridden_densities_do_not_inherit_the_likelihood_interval():
    q = fitted(SharpenedSLD, prior="uniform")
    assert not q.has_interval
    assert not q.adjusts_for_shift


def test_a_clone_of_pcc_that_declares_nothing_is_not_trusted():
    codes, P = scored_items(2000, 2, 0, separation=1.0)
    target = scored_items(1000, 2, 3, separation=1.0, shares=[0.01, 0.99])[1]
    for quantifier in (PCC, ClonedPCC):
        q = quantifier(frozen([0, 1])).fit(P, codes)
        report = check(q, target, labelled=(P, codes))
        assert report.verdict != "trust"
        assert any("does not allow for that" in sentence for sentence in report.advice)


@pytest.mark.parametrize("k", [2, 3])
def test_own_vectors_are_streamed_as_they_are(k):
    q = fitted(BySquares, k)
    P = scored_items(3000, k, 5)[1]
    tally = Recipe(q).start()
    for start in range(0, 3000, 700):
        tally.add_columns(np.ascontiguousarray(P[start : start + 700].T))
    found = estimate_groups(tally)
    np.testing.assert_array_equal(found.shares, q.aggregate(Outputs.from_posteriors(P, range(k))))
    whole = estimate(q, P)
    np.testing.assert_array_equal(found.low[0], whole.low)
    np.testing.assert_array_equal(found.high[0], whole.high)


def test_a_method_of_no_family_is_refused_by_a_stream_with_a_sentence():
    q = Neither().fit(*blobs(200, 2, 0))
    with pytest.raises(DataError, match=r"Neither can't be added up batch by batch.*PACC or SLD"):
        Recipe(q)
    with pytest.raises(DataError, match=r"No interval for Neither: .* declares no estimating equation"):
        estimate(q, blobs(50, 2, 1)[0])
    with pytest.raises(DataError, match="No interval for Neither"):
        estimate(q, blobs(50, 2, 1)[0], method="bootstrap")


def test_an_overridden_reduce_is_refused_by_a_stream():
    class Odd(PACC):
        def reduce(self, outputs, samples=None, products=False):
            return super().reduce(outputs, samples, products)

    with pytest.raises(DataError, match="Odd can't be added up batch by batch"):
        Recipe(fitted(Odd))


def test_hdy_with_another_solver_has_a_bootstrap_only_on_request():
    class Other(HDy):
        def solve(self, statistics):
            return super().solve(statistics)

    q = fitted(Other)
    with pytest.raises(DataError, match="No interval for Other: Other declares no estimating equation"):
        estimate(q, all_positive())
    answer = estimate(q, all_positive(), method="bootstrap", n_replicates=100, random_state=0)
    assert "not measured" in answer.method
    assert "not measured" in repr(answer)
    assert estimate(fitted(HDy), all_positive()).method == "delta"


def test_every_method_is_at_most_three_classes_below_the_base():
    for method in list_methods():
        below = [base for base in method.quantifier.__mro__ if issubclass(base, Quantifier) and base is not Quantifier]
        assert len(below) <= 3, method.name  # the method, what its group has in common, its family


@pytest.mark.parametrize("quantifier", [CC, PCC, ACC, PACC, HDy])
def test_fit_takes_ready_made_outputs(quantifier):
    X, y = blobs(600, 2, 0)
    box = LogisticRegression().fit(X[:200], y[:200])
    P, target = box.predict_proba(X[200:400]), box.predict_proba(X[400:])
    q = quantifier().fit(Outputs.from_posteriors(P, [0, 1]), y[200:400])
    expected = quantifier(frozen([0, 1])).fit(P, y[200:400]).predict(target)
    np.testing.assert_array_equal(q.aggregate(Outputs.from_posteriors(target, [0, 1]))[0], expected)
    np.testing.assert_array_equal(q.predict(Outputs.from_posteriors(target, [0, 1])), expected)
    np.testing.assert_array_equal(q.predict(target), expected)
    with pytest.raises(DataError, match="leave classifier=None"):
        quantifier(LogisticRegression()).fit(Outputs.from_posteriors(P, [0, 1]), y[200:400])


def test_sld_over_ready_made_outputs_must_be_told_their_prior():
    codes, P = scored_items(300, 2, 0)
    out = Outputs.from_posteriors(P, [0, 1])
    with pytest.raises(DataError, match="can't know the class shares"):
        SLD().fit(out, codes)
    assert SLD(prior="uniform").fit(out, codes).predict(out)[0] == pytest.approx(0.5, abs=0.1)
    assert SLD(calibration="bcts").fit(out, codes).predict(out).shape == (2,)


@pytest.mark.parametrize("quantifier", [CC, PACC, SLD])
def test_sample_weights_reach_the_classifier(quantifier):
    X, y = blobs(300, 2, 0)
    weights = np.where(y == 1, 20.0, 1.0)
    q = quantifier().fit(X, y, sample_weight=weights) if quantifier is not PACC else None
    if q is None:
        q = PACC(validation=0.4, random_state=0).fit(X, y, sample_weight=weights)
        plain = PACC(validation=0.4, random_state=0).fit(X, y)
        folds = PACC(random_state=0).fit(X, y, sample_weight=weights).classifier_.classifiers_
        assert all(one.intercept_[0] > plain.classifier_.intercept_[0] + 0.5 for one in folds)
    else:
        plain = quantifier().fit(X, y)
    assert q.classifier_.intercept_[0] > plain.classifier_.intercept_[0] + 0.5
    search = QuantifierSearch(CC(LogisticRegression()), {"classifier__C": [1.0]}, random_state=0)
    assert (
        search.fit(X, y, sample_weight=weights).classifier_.intercept_[0]
        > 0.5 + CC().fit(X, y).classifier_.intercept_[0]
    )


def test_fit_parameters_that_the_classifier_does_not_take():
    X, y = blobs(100, 2, 0)
    with pytest.raises(ClassifierError, match="takes no 'offset'"):
        CC().fit(X, y, offset=3)


def test_metadata_routing_is_followed():
    from sklearn import config_context
    from sklearn.exceptions import UnsetMetadataPassedError

    X, y = blobs(200, 2, 0)
    weights = np.where(y == 1, 20.0, 1.0)
    with config_context(enable_metadata_routing=True):
        with pytest.raises(UnsetMetadataPassedError):
            CC(LogisticRegression()).fit(X, y, sample_weight=weights)
        routed = CC(LogisticRegression().set_fit_request(sample_weight=True)).fit(X, y, sample_weight=weights)
        ignored = CC(LogisticRegression().set_fit_request(sample_weight=False))
        with pytest.raises(TypeError):
            ignored.fit(X, y, sample_weight=weights)
    assert routed.classifier_.intercept_[0] > CC().fit(X, y).classifier_.intercept_[0] + 0.5


@pytest.mark.parametrize("quantifier", [CC, PCC, ACC, PACC, SLD])
def test_classes_keep_the_order_that_is_given(quantifier):
    X, codes = blobs(400, 3, 0)
    names = np.array(["low", "middle", "high"])
    classifier = FrozenEstimator(LogisticRegression().fit(X[:200], names[codes[:200]]))
    more = {"prior": "uniform"} if quantifier is SLD else {}
    q = quantifier(classifier, classes=names.tolist(), **more).fit(X, names[codes])
    assert q.classes_.tolist() == names.tolist()
    unordered = quantifier(classifier, **more).fit(X, names[codes])
    assert unordered.classes_.tolist() == ["high", "low", "middle"]
    np.testing.assert_allclose(q.predict(X), unordered.predict(X)[[1, 2, 0]], atol=1e-6)
    with pytest.raises(DataError, match="'middle'"):
        quantifier(classifier, classes=["low", "high"], **more).fit(X, names[codes])


def test_a_search_keeps_the_order_and_judges_by_it():
    X, codes = blobs(400, 3, 0)
    labels = np.array(["low", "middle", "high"])[codes]
    ordered = PACC(LogisticRegression(), classes=["low", "middle", "high"])
    search = QuantifierSearch(ordered, {"classifier__C": [0.1, 1.0]}, scoring="nmd", random_state=0).fit(X, labels)
    assert search.classes_.tolist() == ["low", "middle", "high"]
    with pytest.raises(DataError, match="order"):
        QuantifierSearch(PACC(LogisticRegression()), {}, scoring="nmd").fit(X, labels)
