"""CNNClassifier: it learns, is repeatable, is saved and loaded, and raises clear errors for bad input."""

import json
import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import balanced_accuracy_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from headcount import CNNClassifier, LogTfidf, TermIds
from headcount.data import SyntheticReviews
from headcount.exceptions import (
    DataError,
    DeviceError,
    FileFormatError,
    MissingPackageError,
    TrainingError,
    TrainingWarning,
)

torch = pytest.importorskip("torch", reason="needs the package torch, of the extra 'neural'")

SMALL = {"embedding_size": 8, "channels": 8, "document_size": 6, "max_epochs": 4, "device": "cpu", "random_state": 0}


def phrases(n=400, n_classes=2, seed=0):
    """Documents whose class is given by two terms in sequence."""
    generator = np.random.default_rng(seed)
    y = generator.integers(0, n_classes, n)
    y[:10] = np.arange(10) % n_classes
    ids = generator.integers(10, 40, (n, 12))
    positions = generator.integers(0, 8, n)
    ids[np.arange(n), positions], ids[np.arange(n), positions + 1] = 2 + y, 3 + y
    ids[:, 10:] = 0
    return ids, y


@pytest.fixture(scope="module")
def fitted():
    return CNNClassifier(**SMALL | {"max_epochs": 40}).fit(*phrases())


def test_it_learns_phrases(fitted):
    ids, y = phrases(seed=1)
    assert (fitted.predict(ids) == y).mean() > 0.9
    assert fitted.n_iter_ == len(fitted.losses_) == len(fitted.scores_)
    assert fitted.scores_[fitted.best_epoch_ - 1] == fitted.scores_.max()
    assert fitted.losses_[-1] < 0.5 * fitted.losses_[0]


def test_decisions_posteriors_and_embeddings_take_one_pass(fitted, monkeypatch):
    from headcount.learners import score
    from headcount.learners.neural import training

    ids, _ = phrases(seed=1)
    passes = []
    compute = training.embeddings_and_posteriors
    monkeypatch.setattr(training, "embeddings_and_posteriors", lambda *args: passes.append(1) or compute(*args))
    outputs = score(fitted, ids, {"decisions", "posteriors", "embeddings"}, fitted.classes_)
    assert len(passes) == 1
    np.testing.assert_array_equal(outputs.posteriors, fitted.predict_proba(ids))
    np.testing.assert_array_equal(outputs.embeddings, fitted.transform(ids))
    np.testing.assert_array_equal(fitted.classes_[outputs.decisions], fitted.predict(ids))


def test_it_beats_naive_bayes_where_one_class_is_rare():
    train, test = SyntheticReviews("reviews", 1200, 800, positive=0.85, strength=1.0, median_length=30, seed=3).draw()
    ids, terms = TermIds(), LogTfidf()
    cnn = CNNClassifier(32, 64, max_epochs=15, patience=5, device="cpu", random_state=0)
    cnn.fit(ids.fit_transform(train.items), train.labels)
    bayes = MultinomialNB().fit(terms.fit_transform(train.items), train.labels)
    accuracy = balanced_accuracy_score(test.labels, cnn.predict(ids.transform(test.items)))
    assert accuracy >= balanced_accuracy_score(test.labels, bayes.predict(terms.transform(test.items))) - 0.01
    assert accuracy > 0.7


@pytest.mark.parametrize("names", [["neg", "pos", "so-so"], [True, False], [3, -1, 7, 12]])
def test_any_labels_and_any_number_of_classes(names):
    ids, y = phrases(n_classes=len(names))
    cnn = CNNClassifier(**SMALL).fit(ids, np.asarray(names)[y])
    P = cnn.predict_proba(ids)
    assert cnn.classes_.tolist() == sorted(names)
    assert P.shape == (len(ids), len(names))
    np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-9)
    assert np.array_equal(cnn.predict(ids), cnn.classes_[P.argmax(axis=1)])
    assert cnn.transform(ids).shape == (len(ids), 6)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bits_here_and_in_worker_processes(fitted):
    ids, y = phrases()
    first, second = (clone(CNNClassifier(**SMALL)).fit(ids, y) for _ in range(2))
    other = CNNClassifier(**SMALL | {"random_state": 1}).fit(ids, y)
    jobs = (joblib.delayed(CNNClassifier(**SMALL).fit)(ids, y) for _ in range(2))
    for cnn in (second, *joblib.Parallel(n_jobs=2)(jobs)):
        assert all(np.array_equal(cnn.parameters_[name], value) for name, value in first.parameters_.items())
        assert np.array_equal(cnn.predict_proba(ids), first.predict_proba(ids))
    assert not np.array_equal(other.parameters_["output.weight"], first.parameters_["output.weight"])


def test_nothing_global_is_changed_and_nothing_printed(capfd):
    torch.set_num_threads(2)
    before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    CNNClassifier(**SMALL | {"random_state": None}).fit(*phrases()).predict(phrases()[0])
    assert torch.get_num_threads() == 2
    assert torch.equal(torch.get_rng_state(), before[0])
    assert np.array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002
    assert capfd.readouterr() == ("", "")


def test_progress_goes_to_the_error_stream(capfd):
    CNNClassifier(**SMALL | {"max_epochs": 2}, verbose=True).fit(*phrases())
    out, err = capfd.readouterr()
    assert out == ""
    assert "epoch 2: loss" in err


def test_one_thread_or_more_give_nearly_the_same(fitted):
    ids, _ = phrases()
    more = pickle.loads(pickle.dumps(fitted)).set_params(n_jobs=2)
    np.testing.assert_allclose(more.predict_proba(ids[:20]), fitted.predict_proba(ids[:20]), atol=1e-6)


def test_half_precision_gives_nearly_the_same(fitted):
    ids, _ = phrases()
    half = pickle.loads(pickle.dumps(fitted)).set_params(precision="bfloat16")
    np.testing.assert_allclose(half.predict_proba(ids), fitted.predict_proba(ids), atol=0.05)
    assert np.isfinite(CNNClassifier(**SMALL, precision="bfloat16").fit(*phrases()).losses_).all()


def test_posteriors_do_not_depend_on_the_order_or_number_of_items(fitted):
    ids, _ = phrases()
    P = fitted.predict_proba(ids)
    np.testing.assert_allclose(fitted.predict_proba(ids[::-1])[::-1], P, atol=1e-6)
    np.testing.assert_allclose(fitted.predict_proba(ids[:1]), P[:1], atol=1e-6)


def test_empty_documents_and_unknown_terms_are_classified(fitted):
    ids, _ = phrases()
    empty = np.zeros((3, 12), dtype=int)
    assert np.isfinite(fitted.predict_proba(empty)).all()
    new, unknown = ids.copy(), ids.copy()
    new[:, 0], unknown[:, 0] = 5000, 1
    assert np.array_equal(fitted.predict_proba(new), fitted.predict_proba(unknown))
    y = np.arange(20) % 2
    assert np.isfinite(CNNClassifier(**SMALL).fit(np.zeros((20, 4), dtype=int), y).predict_proba(empty[:, :4])).all()


def test_early_stopping_waits_for_patience():
    ids, y = phrases()
    cnn = CNNClassifier(**SMALL | {"max_epochs": 60}, patience=3, learning_rate=1e-9).fit(ids, y)
    assert cnn.n_iter_ == cnn.best_epoch_ + 3


def test_saved_and_loaded_without_pickle(fitted, tmp_path):
    ids, _ = phrases()
    fitted.save(tmp_path / "model.npz")
    loaded = CNNClassifier.load(tmp_path / "model.npz")
    assert np.array_equal(loaded.predict_proba(ids), fitted.predict_proba(ids))
    assert loaded.get_params() == fitted.get_params()
    assert (loaded.n_iter_, loaded.best_epoch_) == (fitted.n_iter_, fitted.best_epoch_)
    assert [path.name for path in tmp_path.iterdir()] == ["model.npz"]
    named = clone(fitted).set_params(random_state=np.random.RandomState(0), max_epochs=1).fit(ids, ["a", "b"] * 200)
    named.save(tmp_path / "named.npz")
    again = CNNClassifier.load(tmp_path / "named.npz")
    assert again.classes_.tolist() == ["a", "b"]
    assert again.random_state is None


def test_other_files_are_refused(fitted, tmp_path):
    wrong = tmp_path / "wrong.npz"
    wrong.write_bytes(b"not a zip")
    with pytest.raises(FileFormatError, match="is not a saved CNNClassifier"):
        CNNClassifier.load(wrong)
    with pytest.raises(NotFittedError):
        CNNClassifier().save(wrong)
    about = json.dumps({"class": "Other", "format": 1})
    np.savez(wrong, about=np.array(about))
    with pytest.raises(FileFormatError, match="holds a Other in format 1"):
        CNNClassifier.load(wrong)
    odd = pickle.loads(pickle.dumps(fitted))
    odd.classes_ = odd.classes_.astype(object)
    with pytest.raises(DataError, match="can't be saved"):
        odd.save(tmp_path / "odd.npz")


def test_it_works_in_a_pipeline_and_pickles(tmp_path):
    texts, y = ["good film", "bad film", "good plot", "bad plot"] * 15, ["pos", "neg"] * 30
    pipeline = make_pipeline(TermIds(length=5), CNNClassifier(**SMALL | {"max_epochs": 15})).fit(texts, y)
    assert pipeline.predict(["good film", "bad plot"]).tolist() == ["pos", "neg"]
    assert pipeline.transform(texts).shape == (60, 6)
    joblib.dump(pipeline, tmp_path / "p.joblib")
    assert np.array_equal(joblib.load(tmp_path / "p.joblib").predict_proba(texts), pipeline.predict_proba(texts))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda ids: ids - 50, "whole numbers from 0"),
        (lambda ids: ids + 0.5, "not whole"),
        (lambda ids: ids.astype(float) * np.nan, "NaN"),
        (lambda ids: ids.astype(np.int64) + 2**40, "fit 32 bits"),
        (lambda ids: ids[0], "1D array"),
        (lambda ids: ids[:, :5], "5 features, but CNNClassifier is expecting 12"),
        (lambda ids: ids.astype(str), "not whole|could not convert|numeric"),
    ],
)
def test_invalid_ids_are_an_error(fitted, change, words):
    with pytest.raises(ValueError, match=words):
        fitted.predict(change(phrases()[0]))


def test_ids_outside_a_given_vocabulary_are_an_error():
    ids, y = phrases()
    with pytest.raises(DataError, match=r"holds the term id 39, and the vocabulary has n_ids=20 \(0 to 19\)"):
        CNNClassifier(**SMALL, n_ids=20).fit(ids, y)
    cnn = CNNClassifier(**SMALL, n_ids=50).fit(ids, y)
    with pytest.raises(DataError, match="n_ids=50"):
        cnn.predict(ids + 40)
    assert len(cnn.parameters_["embedding"]) == 50


def test_too_few_items_of_a_class_are_an_error():
    ids, _ = phrases(20)
    with pytest.raises(DataError, match="only one class"):
        CNNClassifier(**SMALL).fit(ids, np.zeros(20, dtype=int))
    with pytest.raises(DataError, match="at least 2 labelled items of each"):
        CNNClassifier(**SMALL).fit(ids, np.arange(20) == 3)


@pytest.mark.parametrize("windows", [(), (3, 3), (0,), (2.5,), [[3]]])
def test_invalid_windows_are_an_error(windows):
    with pytest.raises(DataError, match="windows must name widths"):
        CNNClassifier(**SMALL, windows=windows).fit(*phrases(20))


def test_invalid_parameters_raise_scikit_learns_error():
    with pytest.raises(ValueError, match="The 'dropout' parameter of CNNClassifier must be"):
        CNNClassifier(dropout=1.0).fit(*phrases(20))


def test_divergence_is_an_error():
    with pytest.raises(TrainingError, match=r"diverged. Lower learning_rate \(it is 1e\+30\)"):
        CNNClassifier(**SMALL | {"learning_rate": 1e30}).fit(*phrases())


def interrupted_in(monkeypatch, epoch):
    from headcount.learners.neural import training

    epoch_function, calls = training.Trainer.epoch, []

    def stopping(self, rows):
        calls.append(1)
        if len(calls) == epoch:
            raise KeyboardInterrupt
        return epoch_function(self, rows)

    monkeypatch.setattr(training.Trainer, "epoch", stopping)


def test_an_interruption_keeps_the_best_network_when_asked(monkeypatch):
    interrupted_in(monkeypatch, 3)
    cnn = CNNClassifier(**SMALL, keep_when_interrupted=True)
    with pytest.warns(TrainingWarning, match="interrupted after 2 epochs"):
        cnn.fit(*phrases())
    assert np.isfinite(cnn.predict_proba(phrases()[0])).all()


@pytest.mark.parametrize(("epoch", "keep"), [(3, False), (1, True)])
def test_an_interruption_is_raised_unless_there_is_something_to_keep(monkeypatch, epoch, keep):
    interrupted_in(monkeypatch, epoch)
    with pytest.raises(KeyboardInterrupt):
        CNNClassifier(**SMALL, keep_when_interrupted=keep).fit(*phrases())


def test_out_of_memory_names_the_parameters_to_lower(monkeypatch):
    from headcount.learners.neural import training

    def full(*_):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB. GPU 0 has 1 GiB.")

    monkeypatch.setattr(training.Trainer, "epoch", full)
    with pytest.raises(DeviceError, match=r"\(CUDA out of memory\): lower batch_size, channels or embedding_size"):
        CNNClassifier(**SMALL).fit(*phrases())


def test_a_failure_of_the_device_is_told_from_a_mistake(monkeypatch):
    from headcount.learners.neural import training

    def failing(text):
        def epoch(*_):
            raise RuntimeError(text)

        monkeypatch.setattr(training.Trainer, "epoch", epoch)
        return CNNClassifier(**SMALL)

    with pytest.raises(DeviceError, match=r"The device failed \(CUDA error: operation failed\): try again"):
        failing("CUDA error: operation failed\nSearch for details.").fit(*phrases())
    with pytest.raises(RuntimeError, match="shapes") as caught:
        failing("shapes do not match").fit(*phrases())
    assert not isinstance(caught.value, DeviceError)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_a_missing_device_is_an_error():
    with pytest.raises(DeviceError, match="There is no device 'cuda' here"):
        CNNClassifier(**SMALL | {"device": "cuda"}).fit(*phrases())


def test_auto_takes_the_best_available_device(monkeypatch):
    from headcount.learners.neural.device import device_named, dtype_named

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert device_named("auto").type == "cpu"
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert device_named("auto").type == "mps"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert device_named("auto").type == "cuda"
    assert dtype_named("auto", torch.device("cuda")) is torch.bfloat16
    assert dtype_named("auto", torch.device("cpu")) is torch.float32


def test_without_torch_the_error_names_the_extra_to_install(monkeypatch):
    monkeypatch.setattr("headcount.learners.neural.torch_options.find_spec", lambda _: None)
    with pytest.raises(
        MissingPackageError, match=r"CNNClassifier needs the package torch.* pip install 'headcount\[neural\]'"
    ):
        CNNClassifier(**SMALL).fit(*phrases(20))
    assert issubclass(MissingPackageError, ImportError)


def test_an_unfitted_classifier_is_an_error():
    with pytest.raises(NotFittedError):
        CNNClassifier().predict([[0]])


def test_weight_decay_reaches_the_optimiser():
    plain, decayed = (CNNClassifier(**SMALL, weight_decay=w).fit(*phrases()).parameters_ for w in (0.0, 0.1))
    assert np.abs(decayed["output.weight"]).sum() < np.abs(plain["output.weight"]).sum()


def test_the_best_network_is_trained_on_the_held_out_part_once(monkeypatch):
    from headcount.learners.neural import training

    passes = []
    epoch = training.Trainer.epoch

    def recorded(self, rows):
        passes.append((len(rows), {name: value.detach().numpy().copy() for name, value in self.parameters.items()}))
        return epoch(self, rows)

    monkeypatch.setattr(training.Trainer, "epoch", recorded)
    fitted = CNNClassifier(**SMALL | {"max_epochs": 12, "patience": 4}).fit(*phrases())
    assert [n for n, _ in passes] == [240] * fitted.n_iter_ + [160]
    if fitted.best_epoch_ < fitted.n_iter_:  # what the pass begins with is what the epoch after the best one began with
        for name, value in passes[-1][1].items():
            np.testing.assert_array_equal(value, passes[fitted.best_epoch_][1][name])
    assert any((passes[-1][1][name] != fitted.parameters_[name]).any() for name in fitted.parameters_)


def test_early_stopping_uses_the_f1_of_the_rarer_class():
    from sklearn.metrics import f1_score

    from headcount.learners.neural.training import Trainer, embeddings_and_posteriors

    for n_classes in (2, 3):
        ids, y = phrases(300, n_classes)
        y[y == 1] = np.where(np.arange((y == 1).sum()) % 3 == 0, 1, 0)
        rows = np.arange(300)
        cnn = CNNClassifier(**SMALL)
        trainer = Trainer(cnn, np.random.SeedSequence(0), cnn._shapes(50, n_classes), ids, y, (rows, rows))
        cnn.parameters_ = {name: value.detach().numpy() for name, value in trainer.parameters.items()}
        decided = embeddings_and_posteriors(cnn, ids)[1].argmax(axis=1)
        expected = f1_score(y, decided, pos_label=1) if n_classes == 2 else f1_score(y, decided, average="macro")
        assert float(trainer.f1(rows)) == pytest.approx(expected, abs=1e-6)


def test_the_embedding_of_padding_stays_zero(fitted):
    assert (fitted.parameters_["embedding"][0] == 0).all()


@pytest.mark.parametrize(
    "change",
    [
        {"numbers": None},
        {"numbers": {"predict": 3}},
        {"settings": []},
        {"settings": {"device": "zzz"}},
        {"settings": {"windows": [3, 5]}},
    ],
)
def test_an_altered_file_is_refused(fitted, tmp_path, change):
    fitted.save(tmp_path / "cnn.npz")
    with np.load(tmp_path / "cnn.npz") as file:
        contents = dict(file)
    about = json.loads(str(contents["about"]))
    for key, value in change.items():
        about[key] = about[key] | value if isinstance(value, dict) and key == "settings" else value
    contents["about"] = np.array(json.dumps(about))
    np.savez(tmp_path / "altered.npz", **contents)
    with pytest.raises(FileFormatError, match="is not a saved CNNClassifier"):
        CNNClassifier.load(tmp_path / "altered.npz")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("network:output.weight", np.zeros((5, 6), np.float32)),
        ("network:output.bias", np.full(2, np.nan, np.float32)),
        ("network:document.bias", np.zeros(6)),
        ("network:more", np.zeros(2, np.float32)),
    ],
)
def test_a_saved_network_that_differs_from_its_settings_is_refused(fitted, tmp_path, name, value):
    fitted.save(tmp_path / "cnn.npz")
    with np.load(tmp_path / "cnn.npz") as file:
        contents = dict(file)
    np.savez(tmp_path / "altered.npz", **contents | {name: value})
    with pytest.raises(FileFormatError, match="is not a saved CNNClassifier"):
        CNNClassifier.load(tmp_path / "altered.npz")


def test_parameters_of_all_types_are_saved(tmp_path):
    ids, y = phrases(200)
    cnn = CNNClassifier(**SMALL | {"random_state": np.int64(3), "windows": range(2, 4), "max_epochs": 1}).fit(ids, y)
    cnn.save(tmp_path / "cnn")
    loaded = CNNClassifier.load(tmp_path / "cnn")
    assert (loaded.random_state, tuple(loaded.windows)) == (3, (2, 3))
    np.testing.assert_array_equal(loaded.predict_proba(ids), cnn.predict_proba(ids))
    with pytest.raises(DataError, match="There is no file"):
        CNNClassifier.load(tmp_path / "none")


def test_a_failed_fit_leaves_it_unfitted():
    cnn = CNNClassifier(**SMALL | {"learning_rate": 1e30})
    with pytest.raises(TrainingError):
        cnn.fit(*phrases())
    with pytest.raises(NotFittedError):
        cnn.predict(phrases()[0])


def test_parameters_set_after_fitting_do_not_change_the_network(fitted):
    ids, _ = phrases()
    before = fitted.predict_proba(ids)
    changed = pickle.loads(pickle.dumps(fitted)).set_params(windows=(2,), document_size=3)
    np.testing.assert_array_equal(changed.predict_proba(ids), before)
    with pytest.raises(DeviceError, match="There is no device 'cdua'"):
        changed.set_params(device="cdua").predict(ids)


def test_torch_settings_of_the_caller_change_nothing(fitted):
    ids, y = phrases()
    torch.set_default_dtype(torch.float64)
    try:
        with torch.inference_mode():
            again = CNNClassifier(**SMALL | {"max_epochs": 40}).fit(ids, y)
    finally:
        torch.set_default_dtype(torch.float32)
    np.testing.assert_array_equal(again.predict_proba(ids), fitted.predict_proba(ids))


def test_read_only_arrays_are_used_without_a_warning(fitted):
    frozen = pickle.loads(pickle.dumps(fitted))
    for value in frozen.parameters_.values():
        value.flags.writeable = False
    np.testing.assert_array_equal(frozen.predict(phrases()[0]), fitted.predict(phrases()[0]))
