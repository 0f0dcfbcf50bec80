"""QuaNet: it learns to quantify over any classifier with embeddings, and raises clear errors for bad input."""

import pickle

import joblib
import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from headcount import (
    ACC,
    CC,
    PACC,
    PCC,
    SLD,
    ArtificialPrevalence,
    CNNClassifier,
    Outputs,
    QuaNet,
    Samples,
    TermIds,
    UniformPrevalence,
    evaluate,
)
from headcount._validation import seed_sequence
from headcount.data import SyntheticReviews
from headcount.exceptions import (
    ClassifierError,
    DataError,
    DeviceError,
    MissingPackageError,
    TrainingError,
    TrainingWarning,
)
from headcount.learners import Fits
from headcount.quantifiers.quanet.item_order import reading_order
from tests.conftest import Linear, blobs, frozen, scored_items
from tests.learners.neural.test_classifier import phrases

torch = pytest.importorskip("torch", reason="needs the package torch, of the extra 'neural'")

SMALL = {"lstm_size": 6, "layers": (12,), "sample_size": 40, "samples_per_epoch": 30, "max_epochs": 3, "device": "cpu"}
SMALL |= {"random_state": 0}


@pytest.mark.slow
def test_it_halves_the_error_of_counting_over_the_same_network():
    train, test = SyntheticReviews("reviews", 2400, 1500, positive=0.7, strength=1.0, median_length=40, seed=2).draw()
    terms = TermIds()
    X, X_test = terms.fit_transform(train.items), terms.transform(test.items)
    cnn = CNNClassifier(24, 32, document_size=16, max_epochs=8, device="cpu", random_state=0)
    quanet = QuaNet(
        cnn, lstm_size=16, layers=(64, 32), sample_size=100, max_epochs=40, device="cpu", random_state=0
    ).fit(X, train.labels)
    counting = CC(FrozenEstimator(quanet.classifier_)).fit(X, train.labels)
    protocol = ArtificialPrevalence(11, repeats=10, sample_size=100, random_state=0)
    learnt, counted = evaluate([quanet, counting], X_test, test.labels, protocol)
    assert learnt.ae.mean() <= 0.5 * counted.ae.mean()
    assert quanet.validation_losses_[quanet.best_epoch_ - 1] == quanet.validation_losses_.min()


def test_it_learns_three_classes():
    X, y = blobs(3000, 3, seed=1)
    q = QuaNet(Linear(), **SMALL | {"max_epochs": 30, "samples_per_epoch": 100, "layers": (32,)}).fit(
        X[:2000], y[:2000]
    )
    protocol = UniformPrevalence(50, sample_size=40, random_state=0)
    assert evaluate(q, X[2000:], y[2000:], protocol).ae.mean() < 0.08


def test_the_same_seed_gives_the_same_bits_here_and_in_worker_processes():
    X, y = blobs(200, 2, seed=0)
    first = QuaNet(Linear(), **SMALL).fit(X, y)
    jobs = (joblib.delayed(QuaNet(Linear(), **SMALL).fit)(X, y) for _ in range(2))
    for q in (QuaNet(Linear(), **SMALL).fit(X, y), *joblib.Parallel(n_jobs=2)(jobs)):
        assert np.array_equal(q.predict(X), first.predict(X))
    assert not np.array_equal(QuaNet(Linear(), **SMALL | {"random_state": 1}).fit(X, y).predict(X), first.predict(X))
    assert np.array_equal(pickle.loads(pickle.dumps(first)).predict(X), first.predict(X))


def test_torchs_generator_and_threads_stay_unchanged():
    X, y = blobs(200, 2, seed=0)
    torch.set_num_threads(2)
    before = torch.get_rng_state()
    QuaNet(Linear(), **SMALL).fit(X, y).predict(X)
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.get_num_threads() == 2


def test_the_items_are_split_into_three_parts():
    X, y = blobs(500, 2, seed=0)
    sizes = []

    class Counting(Linear):
        def fit(self, X, y):
            sizes.append(len(X))
            return super().fit(X, y)

        def transform(self, X):
            sizes.append(len(X))
            return X

    QuaNet(Counting(), **SMALL).fit(X, y)
    assert sizes == [200, 200, 100]
    sizes.clear()
    QuaNet(Counting(), split=(0.5, 0.25, 0.25), **SMALL).fit(X, y)
    assert sizes == [250, 125, 125]


def test_samples_of_different_sizes_are_read_together(monkeypatch):
    from headcount.quantifiers.quanet import sample_tensors

    q = QuaNet(frozen([0, 1]), prior="uniform", **SMALL)
    codes, P = scored_items(600, 2, seed=0)
    q.fit(P, codes)
    generator = np.random.default_rng(0)
    samples = Samples.from_lists([generator.integers(0, 600, size) for size in (1, 300, 7, 2, 300, 50)])
    outputs = q.outputs(P)
    together = q.aggregate(outputs, samples)
    monkeypatch.setattr(sample_tensors, "_ITEMS_A_CHUNK", 400)
    np.testing.assert_allclose(q.aggregate(outputs, samples), together, atol=1e-5)


def test_items_with_equal_posteriors_are_ordered_by_their_embeddings():
    """So that the order of the items in the pool does not matter, even among items of equal posteriors."""
    q = QuaNet(frozen([0, 1]), prior="uniform", **SMALL)
    codes, P = scored_items(300, 2, seed=0)
    q.fit(P, codes)
    E = np.random.default_rng(0).standard_normal((50, 2))
    same = np.full((50, 2), 0.5)
    permutation = np.random.default_rng(1).permutation(50)
    estimates = [q.aggregate(Outputs.from_posteriors(same, [0, 1], embeddings=e)) for e in (E, E[permutation])]
    assert np.array_equal(estimates[0], estimates[1])


def test_a_pipeline_over_texts_works():
    texts, y = ["good film", "bad film", "good plot", "bad plot"] * 20, ["pos", "neg"] * 40
    small = CNNClassifier(8, 8, document_size=4, max_epochs=20, device="cpu", random_state=0)
    q = QuaNet(make_pipeline(TermIds(length=5), small), **SMALL).fit(texts, y)
    assert q.predict(texts).sum() == pytest.approx(1)


def test_the_default_classifier_is_the_convolutional_network():
    assert isinstance(QuaNet.default_classifier(), CNNClassifier)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"split": (0.5, 0.5)}, "split must hold three positive shares"),
        ({"split": (0.5, 0.6, -0.1)}, "split must hold three positive shares"),
        ({"layers": (0,)}, "layers must name the widths"),
        ({"prior": [0.2, 0.2, 0.6]}, "a positive share for each of the 2 classes"),
        ({"dropout": 1.5}, "The 'dropout' parameter of QuaNet"),
        ({"split": (0.98, 0.01, 0.01)}, "leaves one part|can't split|at least 2|split"),
    ],
)
def test_invalid_parameters_are_an_error(settings, words):
    X, y = blobs(60, 2, seed=0)
    with pytest.raises(ValueError, match=words):
        QuaNet(Linear(), **SMALL | settings).fit(X, y)


def test_a_given_prior_is_used_and_needed_with_a_frozen_classifier():
    X, y = blobs(200, 2, seed=0)
    answers = [
        QuaNet(Linear(), prior=prior, **SMALL).fit(X, y).predict(X) for prior in ([0.5, 0.5], "uniform", [0.1, 0.9])
    ]
    assert np.array_equal(answers[0], answers[1])
    assert not np.array_equal(answers[0], answers[2])
    with pytest.raises(DataError, match="frozen classifier QuaNet can't know the class shares"):
        QuaNet(frozen([0, 1]), **SMALL).fit(*reversed(scored_items(50, 2, seed=0)))


def test_a_classifier_without_embeddings_is_an_error():
    X, y = blobs(60, 2, seed=0)
    with pytest.raises(ClassifierError, match=r"LogisticRegression has no 'transform'"):
        QuaNet(LogisticRegression(), **SMALL).fit(X, y)


def test_invalid_outputs_are_an_error():
    q = QuaNet(frozen([0, 1]), prior="uniform", **SMALL)
    codes, P = scored_items(200, 2, seed=0)
    q.fit(P, codes)
    with pytest.raises(DataError, match="hold no embeddings"):
        q.aggregate(Outputs.from_posteriors(P, [0, 1]))
    with pytest.raises(DataError, match="have 3 features, and QuaNet was fitted on 2"):
        q.aggregate(Outputs.from_posteriors(P, [0, 1], embeddings=np.ones((200, 3))))
    with pytest.raises(DataError, match="NaN or infinite"):
        Outputs.from_posteriors(P, [0, 1], embeddings=np.full((200, 2), np.nan))
    with pytest.raises(DataError, match="numbers in a matrix"):
        Outputs.from_posteriors(P, [0, 1], embeddings=[["a", "b"]] * 200)
    with pytest.raises(DataError, match="199 embeddings for 200 items"):
        Outputs.from_posteriors(P, [0, 1], embeddings=np.ones((199, 2)))
    with pytest.raises(DataError, match="weights must be whole numbers"):
        q.aggregate(q.outputs(P), Samples([0, 1], [0, 2], weights=[0.5, 1.0]))
    one = q.reduce(q.outputs(P), Samples([0, 1], [0, 2]))
    with pytest.raises(DataError, match="can't be merged"):
        _ = one + q.reduce(q.outputs(P), Samples([0, 1], [0, 1, 2]))
    assert repr(one) == "SampleItems(Samples(1 sample of 2 items))"


def test_divergence_is_an_error():
    X, y = blobs(200, 2, seed=0)
    with pytest.raises(TrainingError, match=r"diverged. Lower learning_rate \(it is 1e\+38\)"):
        QuaNet(Linear(), **SMALL | {"max_epochs": 20}, learning_rate=1e38).fit(X, y)


def interrupted(monkeypatch, error, after=1):
    from headcount.quantifiers.quanet import training

    epoch, calls = training.Trainer.epoch, []

    def stopping(self):
        calls.append(1)
        if len(calls) > after:
            raise error
        return epoch(self)

    monkeypatch.setattr(training.Trainer, "epoch", stopping)


def test_an_interruption_keeps_the_best_network_when_asked(monkeypatch):
    X, y = blobs(200, 2, seed=0)
    interrupted(monkeypatch, KeyboardInterrupt)
    with pytest.warns(TrainingWarning, match="interrupted after 1 epochs"):
        q = QuaNet(Linear(), **SMALL, keep_when_interrupted=True).fit(X, y)
    assert np.isfinite(q.predict(X)).all()
    with pytest.raises(KeyboardInterrupt):
        QuaNet(Linear(), **SMALL).fit(X, y)


def test_out_of_memory_names_the_parameters_to_lower(monkeypatch):
    interrupted(monkeypatch, torch.OutOfMemoryError("CUDA out of memory. Tried"), after=0)
    with pytest.raises(DeviceError, match="lower samples_per_step, sample_size or lstm_size"):
        QuaNet(Linear(), **SMALL).fit(*blobs(200, 2, seed=0))


def test_progress_is_written_and_a_missing_torch_is_an_error(monkeypatch, capfd):
    X, y = blobs(200, 2, seed=0)
    QuaNet(Linear(), **SMALL, verbose=True).fit(X, y)
    assert "epoch 3: loss" in capfd.readouterr().err
    monkeypatch.setattr("headcount.learners.neural.torch_options.find_spec", lambda _: None)
    with pytest.raises(MissingPackageError, match="QuaNet needs the package torch"):
        QuaNet(Linear(), **SMALL).fit(X, y)


def labelled(n):
    return blobs(n, 2, 0)


def test_the_estimates_equal_those_of_methods_fitted_on_the_third_part():
    X, y = labelled(600)
    quanet = QuaNet(Linear(), **SMALL).fit(X, y)
    fits = Fits(X, y)
    _, codes = np.unique(y, return_inverse=True)
    seeds = [int(sequence.generate_state(1)[0]) for sequence in seed_sequence(SMALL["random_state"]).spawn(4)]
    parts = quanet._parts(fits, codes, seeds)
    assert [len(part) for part in parts] == [240, 240, 120]
    assert len(set(np.concatenate(parts))) == 600
    frozen = FrozenEstimator(quanet.classifier_)
    prior = np.bincount(codes[parts[0]]) / len(parts[0])
    methods = [CC(frozen), ACC(frozen), PCC(frozen), PACC(frozen), SLD(frozen, prior=prior)]
    rows = parts[2]
    samples, _ = ArtificialPrevalence(5, repeats=2, sample_size=40, random_state=0).draw(y)
    outputs = quanet.outputs(X)
    side_by_side = np.hstack([m.fit(X[rows], y[rows]).aggregate(outputs, samples) for m in methods])
    np.testing.assert_allclose(quanet.estimates_(outputs, samples), side_by_side, atol=1e-12)


def test_the_best_network_is_kept():
    X, y = labelled(600)
    settings = SMALL | {"max_epochs": 15, "patience": 15, "learning_rate": 0.05}
    longer = QuaNet(Linear(), **settings).fit(X, y)
    assert longer.best_epoch_ < 15
    shorter = QuaNet(Linear(), **settings | {"max_epochs": longer.best_epoch_}).fit(X, y)
    for name, value in longer.parameters_.items():
        np.testing.assert_array_equal(value, shorter.parameters_[name])


def test_dropout_changes_training_and_shares_are_stretched():
    from headcount.quantifiers.quanet.network import Network

    X, y = labelled(400)
    with_dropout, without = (QuaNet(Linear(), **SMALL, dropout=d).fit(X, y).parameters_ for d in (0.5, 0.0))
    assert any((with_dropout[name] != without[name]).any() for name in with_dropout)
    network = Network(3, 2, lstm_size=2, lstm_layers=1, layers=(), device=torch.device("cpu"))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
        network.layers[0].bias.copy_(torch.tensor([50.0, -50.0]))
        shares = network(torch.zeros(1, 5, 3), torch.zeros(1, 10))
    np.testing.assert_allclose(shares.numpy(), [[1.1, -0.1]], atol=1e-6)


HARDLY_TRAINED = pytest.mark.filterwarnings("ignore::headcount.exceptions.IdentifiabilityWarning")


@HARDLY_TRAINED
def test_its_seed_decides_the_classifier_too():
    ids, y = phrases(300)
    small = {"embedding_size": 4, "channels": 4, "document_size": 3, "max_epochs": 2, "device": "cpu"}
    one, other = (QuaNet(CNNClassifier(**small), **SMALL).fit(ids, y) for _ in range(2))
    np.testing.assert_array_equal(one.predict(ids), other.predict(ids))
    assert one.classifier_.random_state is not None


@HARDLY_TRAINED
def test_the_default_classifier_takes_its_device(monkeypatch):
    small = CNNClassifier(4, 4, document_size=3, max_epochs=1)
    monkeypatch.setattr(QuaNet, "default_classifier", staticmethod(lambda: small))
    fitted = QuaNet(**SMALL).fit(*phrases(300))
    assert fitted.classifier_.device == "cpu"


def test_ties_in_the_first_features_are_broken_by_all_features():
    rng = np.random.default_rng(0)
    P = np.repeat([[0.3, 0.7], [0.6, 0.4]], 20, axis=0)
    E = np.hstack([np.zeros((40, 2)), rng.integers(0, 3, (40, 4))])
    shuffled = rng.permutation(40)
    first, second = (
        reading_order(Outputs.from_posteriors(P[rows], [0, 1], embeddings=E[rows]))
        for rows in (np.arange(40), shuffled)
    )
    np.testing.assert_array_equal(E[first], E[shuffled][second])


def test_predicting_without_torch_is_an_error(monkeypatch):
    X, y = labelled(300)
    quanet = QuaNet(Linear(), **SMALL).fit(X, y)
    monkeypatch.setattr("headcount.learners.neural.torch_options.find_spec", lambda name: None)
    with pytest.raises(MissingPackageError, match="QuaNet needs the package torch"):
        quanet.predict(X)
