"""`Monitor`: what it says after batches, replays, later labels, its state, kills, and refusals."""

import json
import os
import random
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from headcount import ACC, CC, PACC, SLD, HDy, Outputs
from headcount.exceptions import DataError, IdentifiabilityWarning
from headcount.monitor import Monitor, MoveProcess, ShareScores
from headcount.monitor.cell_blocks import CellBlocks
from headcount.protocols import as_samples

CLASSES = np.array(["neg", "pos"])


def drawn(n, share, seed, centre=0.0):
    """Items of two classes with one feature."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    return rng.standard_normal((n, 1)) + 2.5 * y[:, None] + centre, CLASSES[y.astype(int)]


@pytest.fixture(scope="module")
def pacc():
    return PACC(random_state=0).fit(*drawn(2000, 0.4, 0))


@pytest.mark.parametrize("method", [PACC, ACC, HDy, lambda **k: SLD(calibration="bcts", **k)])
def test_mean_scores_of_items_are_shares_of_any_method(method):
    quantifier = method(random_state=0).fit(*drawn(2000, 0.4, 0))
    scores = ShareScores.of(quantifier)
    X, y = drawn(4000, 0.2, 1)
    outputs = quantifier.outputs(X)
    of_items = scores.of_items(outputs)
    statistics = quantifier.reduce(outputs, np.arange(4000)[None, :])
    np.testing.assert_allclose(of_items.mean(axis=0), scores.mean(statistics), atol=1e-9)
    np.testing.assert_allclose(of_items.sum(axis=1), 1.0)
    share = np.mean(y == "pos")
    assert abs(of_items[:, 1].mean() - share) < 4 * np.sqrt(
        scores.error_variance(np.array([0.8, 0.2]))[1] + 0.25 / 4000
    )
    for j in range(2):  # class means are those of the classes, up to their errors
        mean = of_items[y == CLASSES[j]].mean(axis=0)
        assert np.abs(mean - np.eye(2)[j]).max() < 0.08
    variance = of_items[:, 1].var()
    assert variance < 1.1 * scores.variance(np.array([0.8, 0.2]), 0.05)[1]


def test_a_move_from_given_shares_is_found_and_dated(pacc):
    monitor = Monitor(pacc, reference={"pos": 0.4})
    for week in range(60):
        result = monitor.update(drawn(150, 0.4 if week < 20 else 0.5, 100 + week)[0], batch_id=f"w{week}")
        if result.alarms:
            break
    alarm = result.alarms[0]
    assert result.status == "alarm"
    assert (alarm.kind, alarm.label, alarm.batch) == ("moved", "pos", f"w{week}")
    assert 20 < week < 45
    assert 14 <= int(alarm.since[1:]) <= 26
    assert alarm.evidence >= result.thresholds["moved"]
    assert "has moved from the reference (40.0 %)" in alarm.text
    after = monitor.update(drawn(150, 0.5, 999)[0], batch_id="next")
    assert after.n_cumulative == 150  # a new period
    assert after.evidence["moved"] < alarm.evidence


def test_the_monitor_runs_the_process_that_the_benchmark_simulates(pacc):
    monitor = Monitor(pacc, reference=[0.6, 0.4], check=False)
    p = np.array([0.6, 0.4])
    scores = ShareScores.of(pacc, p)
    process = MoveProcess(
        scores.plain_variance(p)[1:], scores.error_variance(p)[1:], 0.05, sizes=scores.moves_from(1, p, 0.05)
    )
    for seed in range(10):
        X = drawn(80, 0.4, seed)[0]
        result = monitor.update(X, batch_id=str(seed))
        process.update(80, (scores.of_items(pacc.outputs(X))[:, 1] - 0.4).sum(keepdims=True))
        assert result.evidence["moved"] == pytest.approx(float(np.exp(process.log_evidence[0])), rel=1e-9)


def test_the_first_items_are_a_reference_without_an_error_of_the_labelled_side(pacc):
    # Classes that look otherwise than the labelled ones move all scores: no alarm as long as the stream itself stays the same.
    monitor, given = (
        Monitor(pacc, reference="first 1000 items", check=False),
        Monitor(pacc, reference={"pos": 0.4}, check=False),
    )
    alarms = []
    for week in range(40):
        X = drawn(150, 0.4, 200 + week, centre=0.35)[0]
        result = monitor.update(X, batch_id=str(week))
        alarms += given.update(X, batch_id=str(week)).alarms
        if week < 6:
            assert result.status == "too early"
            assert "the reference still needs" in result.note
    assert not monitor.alarms
    assert alarms
    for week in range(40, 80):
        monitor.update(drawn(150, 0.52, 200 + week, centre=0.35)[0], batch_id=str(week))
    assert monitor.alarms[0].kind == "moved"
    assert "the first 1,000 items" in monitor.alarms[0].text


def test_a_share_that_leaves_its_band_is_found_and_one_at_its_edge_is_not(pacc):
    monitor = Monitor(pacc, band={"pos": (0.3, 0.5)})
    for week in range(40):
        share = 0.3 if week < 20 else 0.5  # moves inside the band are none of its business
        monitor.update(drawn(150, share, 300 + week)[0], batch_id=str(week))
    assert not monitor.alarms
    for week in range(40, 100):
        if monitor.update(drawn(150, 0.62, 300 + week)[0], batch_id=str(week)).alarms:
            break
    assert (monitor.alarms[0].kind, monitor.alarms[0].label) == ("band", "pos")
    assert "left its band (30.0 % to 50.0 %)" in monitor.alarms[0].text


def test_items_of_another_kind_raise_an_alarm_that_lasts(pacc):
    monitor = Monitor(pacc, reference={"pos": 0.4})
    kinds = []
    for week in range(40):
        X = drawn(300, 0.4, 400 + week)[0]
        X[: 60 * (week >= 8)] = 1.25 + 0.05 * X[: 60 * (week >= 8)]  # neither class: in between
        result = monitor.update(X, batch_id=str(week))
        kinds += [alarm.kind for alarm in result.alarms]
    assert kinds.count("items") == 1
    assert result.status == "alarm"
    assert "neither shares nor their alarms can be trusted" in result.note
    assert next(int(alarm.batch) for alarm in monitor.alarms if alarm.kind == "items") >= 8


def test_little_says_nothing_yet(pacc):
    for question in ({"reference": {"pos": 0.4}}, {"band": {"pos": (0.2, 0.6)}}, {}):
        result = Monitor(pacc, **question).update(drawn(20, 0.9, 5)[0])
        assert result.status == "too early"
        assert "Nothing can be said yet" in result.note
        assert not result.alarms


def test_too_few_labelled_items_are_said():
    quantifier = PACC(random_state=0).fit(*drawn(150, 0.4, 0))
    result = Monitor(quantifier, reference={"pos": 0.4}).update(drawn(5000, 0.4, 1)[0])
    assert "can't be found with so few labelled items" in result.note


def test_a_batch_is_counted_once(pacc):
    monitor, X = Monitor(pacc, reference="labelled"), drawn(200, 0.4, 6)[0]
    first = monitor.update(X, batch_id="monday")
    before = monitor.state_bytes()
    again = monitor.update(X, batch_id="monday")
    assert (first.counted, again.counted) == (True, False)
    assert monitor.state_bytes() == before
    assert monitor.update(X).counted  # without a name, known by its content
    assert not monitor.update(X).counted
    with pytest.raises(DataError, match="seen before with other content"):
        monitor.update(drawn(200, 0.4, 7)[0], batch_id="monday")


def test_three_classes_and_a_stream_of_decisions():
    def three(n, shares, seed):
        generator = np.random.default_rng(seed)
        y = generator.choice(3, n, p=shares)
        return 3.0 * np.eye(3)[y] + generator.standard_normal((n, 3)), y

    shares = np.array([0.5, 0.3, 0.2])
    quantifier = ACC(random_state=0).fit(*three(2500, shares, 0))
    monitor = Monitor(quantifier, reference=shares, band={2: (0.0, 0.35)})
    for week in range(80):
        p = shares if week < 30 else np.array([0.3, 0.3, 0.4])
        result = monitor.update(three(100, p, [1, week])[0], batch_id=str(week))
        if result.alarms:
            break
    assert {alarm.kind for alarm in result.alarms} <= {"moved", "band"}
    assert result.alarms[0].label in ("0", "2")
    assert 30 <= week < 60


def test_sequences_hold_the_share_at_all_looks(pacc):
    # The labelled items are drawn again in each stream, as the level is about them, too.
    held = []
    for seed in range(40):
        monitor = Monitor(PACC(random_state=0).fit(*drawn(1000, 0.4, [seed, 0])), check=False)
        inside = True
        for week in range(25):
            result = monitor.update(drawn(60, 0.3, [seed, 1, week])[0], batch_id=str(week))
            inside &= bool(result.low[1] <= 0.3 <= result.high[1])
        held.append(inside)
    assert np.mean(held) >= 0.95


def test_labels_that_arrive_later_are_used_and_contradict_what_is_wrong(pacc):
    right, wrong = Monitor(pacc, check=False), Monitor(pacc, check=False)
    for week in range(12):
        for monitor, centre in ((right, 0.0), (wrong, 1.0)):
            X, y = drawn(200, 0.4, [8, week], centre)
            monitor.update(X, batch_id=str(week))
            found = monitor.add_labels(str(week), X[:60], y[:60])
            assert monitor.add_labels(str(week), X[:60], y[:60]).n_labels == found.n_labels == 60 * (week + 1)
    assert not right.alarms
    assert [alarm.kind for alarm in wrong.alarms] == ["labels"]
    found = wrong.labelled
    assert found.n_items == 2400
    assert found.low[1] < 0.4 < found.high[1]  # by labels, whatever has changed
    assert found.corrected[1] > 0.5  # by scores alone
    assert right.labelled.high[1] - right.labelled.low[1] < 2 * 1.96 * np.sqrt(0.24 / 720)  # scores help
    assert wrong.update(drawn(200, 0.4, 9)[0]).status == "alarm"


def test_labels_are_counted_once_item_by_item(pacc):
    monitor, X, y = Monitor(pacc, check=False), *drawn(200, 0.4, 8)
    monitor.update(X, batch_id="a")
    for n in (10, 10, 40, 25):  # the same, more, fewer
        found = monitor.add_labels("a", X[:n], y[:n], items=range(n))
    assert found.n_labels == 40
    at_once = Monitor(pacc, check=False)
    at_once.update(X, batch_id="a")
    other = at_once.add_labels("a", X[:40][::-1], y[:40][::-1], items=range(39, -1, -1))
    assert found.shares == pytest.approx(other.shares)
    assert found.low == pytest.approx(other.low)
    changed = np.where(y == "pos", "neg", "pos")
    with pytest.raises(DataError, match="'3' of the batch 'a' was counted before with another label"):
        monitor.add_labels("a", X[3:4], changed[3:4], items=[3])
    with pytest.raises(DataError, match="with another scores: rows must come in the same order"):
        monitor.add_labels("a", X[4:5], y[4:5], items=[3])
    with pytest.raises(DataError, match="all differently"):
        monitor.add_labels("a", X[:2], y[:2], items=["x", "x"])
    assert monitor.labelled.n_labels == 40


def test_shares_by_labels_weigh_batches_by_their_items():
    # Of a small batch half is labelled, of a large one a hundredth, and the classifier is wrong about one of them alone.
    held, errors, widths = [], [], []
    pacc = PACC(random_state=0).fit(*drawn(2000, 0.4, 0))
    for seed in range(60):
        monitor, truth = Monitor(pacc, check=False), 0.0
        for name, n, m, share, centre in (("small", 200, 100, 0.8, 0.0), ("large", 6000, 60, 0.2, 1.0)):
            X, y = drawn(n, share, [9, seed, n], centre)
            monitor.update(X, batch_id=name)
            found = monitor.add_labels(name, X[:m], y[:m])
            truth += (y == "pos").sum() / 6200
        errors.append(found.shares[1] - truth)
        held.append(found.low[1] <= truth <= found.high[1])
        widths.append(found.high[1] - found.low[1])
    assert abs(np.mean(errors)) < 3 * np.std(errors) / np.sqrt(60)
    assert np.mean(held) >= 0.88
    assert np.mean(widths) < 2 * 1.96 * np.sqrt(0.25 / 60)


def test_labels_the_wrong_way_round_contradict_though_their_shares_agree(pacc):
    monitor = Monitor(pacc, check=False)
    for week in range(3):
        X, y = drawn(200, 0.5, [12, week])
        monitor.update(X, batch_id=str(week))
        monitor.add_labels(str(week), X[:40], np.where(y == "pos", "neg", "pos")[:40])
    assert [alarm.kind for alarm in monitor.alarms] == ["labels"]


def test_an_alarm_of_a_share_says_if_the_items_since_then_have_changed(pacc):
    kinds = {}
    for name, changed in (("shares", False), ("items", True)):
        monitor = Monitor(pacc, reference={"pos": 0.4})
        for week in range(60):
            X = drawn(300, 0.4 if changed or week < 6 else 0.55, [14, week])[0]
            if changed and week >= 6:
                X[:75] = 1.25 + 0.05 * X[:75] + 0.6  # neither class, but nearer to one
            if any(alarm.kind == "moved" for alarm in monitor.update(X, batch_id=str(week)).alarms):
                break
        kinds[name] = next(alarm for alarm in monitor.alarms if alarm.kind == "moved")
    assert kinds["shares"].items_p > 0.01
    assert "may have changed" not in kinds["shares"].text
    assert kinds["items"].items_p < 0.01
    assert "they may have changed rather than their shares" in kinds["items"].text


def test_labels_of_an_unknown_batch_or_too_many_are_refused(pacc):
    monitor = Monitor(pacc)
    X, y = drawn(50, 0.4, 0)
    monitor.update(X, batch_id="a")
    with pytest.raises(DataError, match="'b' was not seen"):
        monitor.add_labels("b", X, y)
    with pytest.raises(DataError, match="50 items and 49 labels"):
        monitor.add_labels("a", X, y[:49])
    with pytest.raises(DataError, match="which has 50 items"):
        monitor.add_labels("a", np.vstack([X, X]), np.concatenate([y, y]))


@pytest.mark.parametrize(
    ("words", "question"),
    [
        ("sum to 1", {"reference": [0.5, 0.6]}),
        ("sum to 1", {"reference": {"neg": 1.4, "pos": -0.4}}),
        ("'other', which is not a class", {"reference": {"other": 0.5}}),
        ("each of the 2 classes", {"reference": [0.2, 0.3, 0.5]}),
        ("too uncertain", {"reference": "first 10 items"}),
        ("can't be read", {"reference": "second"}),
        ("between 0 and 1; got 'x'", {"reference": {"pos": "x"}}),
        ("'other', which is not a class", {"band": {"other": (0.1, 0.2)}}),
        ("from a lower to a higher share", {"band": {"pos": (0.4, 0.2)}}),
        ("from a lower to a higher share", {"band": {"pos": (0.4, 1.2)}}),
        ("two shares", {"band": {"pos": (0.4,)}}),
        ("level must be", {"level": 1.5}),
        ("move must be", {"move": 0.9}),
    ],
)
def test_questions_that_make_no_sense_are_refused(pacc, words, question):
    with pytest.raises(DataError, match=words):
        Monitor(pacc, **question)


def test_methods_without_intervals_and_empty_batches_are_refused(pacc):
    with pytest.raises(DataError, match="CC can't be watched"):
        Monitor(CC().fit(*drawn(200, 0.4, 0)))
    with pytest.raises(DataError, match="Expected a fitted quantifier"):
        Monitor("model")
    with pytest.raises(DataError):
        Monitor(pacc).update(np.empty((0, 1)))
    with pytest.warns(IdentifiabilityWarning):
        alike = ACC(random_state=0).fit(np.ones((400, 1)), CLASSES[np.random.default_rng(0).integers(0, 2, 400)])
    with pytest.raises(DataError, match="tell all classes apart"):
        Monitor(alike)


def test_a_state_is_read_as_it_was_written(pacc, tmp_path):
    path = tmp_path / "state.json"
    whole, parts = (Monitor(pacc, reference="first 500 items", band={"pos": (0.3, 0.6)}) for _ in range(2))
    for week in range(30):
        X, y = drawn(120, 0.4 if week < 15 else 0.75, [3, week])
        for monitor in (whole, parts):
            monitor.update(X, batch_id=str(week), time=f"week {week}")
            if week == 3:
                monitor.add_labels("3", X[:20], y[:20])
        parts.save(path)
        parts = Monitor.load(path, pacc)
    assert whole.alarms
    assert parts.state_bytes() == whole.state_bytes()
    assert path.stat().st_size < 40_000
    assert repr(parts) == repr(whole)


def test_states_of_other_models_and_damaged_ones_are_refused(pacc, tmp_path):
    path = tmp_path / "state.json"
    monitor = Monitor(pacc, reference="labelled")
    monitor.update(drawn(100, 0.4, 0)[0])
    monitor.save(path)
    content = path.read_text()
    with pytest.raises(DataError, match="the state of another model"):
        Monitor.load(path, PACC(random_state=0).fit(*drawn(2000, 0.4, 1)))
    for damaged, words in (
        (content[:-40], "damaged"),
        (content.replace('"n_items":100', '"n_items":101'), "does not match its checksum"),
        (content.replace('"version":2', '"version":9'), "version 9"),
        ("{}", "not a state"),
        ("[1]", "not a state"),
        ("", "damaged"),
    ):
        path.write_text(damaged)
        with pytest.raises(DataError, match=words):
            Monitor.load(path, pacc)
    from headcount.monitor.state import write_state

    write_state(path, {"settings": {}})
    with pytest.raises(DataError, match="lacks what a state holds"):
        Monitor.load(path, pacc)
    with pytest.raises(DataError, match="can't be read"):
        Monitor.load(tmp_path / "none.json", pacc)


def _work(pacc, path, batches):
    """Add all batches to the state at ``path``, one after the other, as a scheduler that begins again after each kill.

    Labels of a batch come with the one after it, and are saved with it or on their own.
    """
    monitor = Monitor.load(path, pacc) if path.exists() else Monitor(pacc, reference="first 500 items")
    late = None
    for name, outputs, labels in batches:
        if monitor.update(outputs, batch_id=name).counted:
            monitor.save(path)
        if late is not None:
            before = monitor.labelled
            found = monitor.add_labels(late[0], late[1].take(np.arange(15)), late[2][:15], items=range(15))
            if before is None or found.n_labels > before.n_labels:
                monitor.save(path)
        late = name, outputs, labels


def _killed(pacc, path, batches, kills, seed):
    """Kill workers at random moments until there were so many kills, then let one finish; return how many were killed."""
    clock, killed = random.Random(seed), 0
    while killed < kills:
        worker = os.fork()
        if not worker:
            try:
                _work(pacc, path, batches)
            finally:
                os._exit(0)
        time.sleep(clock.uniform(0.0, 0.06))
        os.kill(worker, signal.SIGKILL)
        _, status = os.waitpid(worker, 0)
        killed += os.WIFSIGNALED(status)
        if not os.WIFSIGNALED(status):  # it had finished: begin anew, so that there is something to kill
            yield path.read_bytes()
            path.unlink()
    _work(pacc, path, batches)
    yield path.read_bytes()


@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_a_kill_while_the_state_is_written_leaves_the_former_one(pacc, tmp_path, monkeypatch, moment):
    path, X = tmp_path / "state.json", drawn(60, 0.4, 0)[0]
    monitor = Monitor(pacc)
    monitor.update(X, batch_id="a")
    monitor.save(path)
    before = path.read_bytes()
    monitor.update(X, batch_id="b")
    worker = os.fork()
    if not worker:
        owner = {"fsync": os, "replace": Path}[moment]
        monkeypatch.setattr(owner, moment, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        monitor.save(path)
        os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(worker, 0)[1])
    assert path.read_bytes() == before
    monitor.save(path)
    assert Monitor.load(path, pacc).n_batches == 2


@pytest.mark.parametrize("kills", [25, pytest.param(1000, marks=pytest.mark.slow)])
def test_kills_at_random_moments_leave_the_same_state(pacc, tmp_path, kills):
    items = [drawn(60, 0.4 if i < 15 else 0.7, [5, i]) for i in range(40)]
    batches = [(f"b{i}", pacc.outputs(X), y) for i, (X, y) in enumerate(items)]
    _work(pacc, tmp_path / "whole.json", batches)
    whole = (tmp_path / "whole.json").read_bytes()
    assert json.loads(whole)["body"]["n_batches"] == 40
    assert json.loads(whole)["body"]["labels"]["n"] == 39 * 15
    finished = list(_killed(pacc, tmp_path / "killed.json", batches, kills, kills))
    assert all(content == whole for content in finished)


def test_blocks_of_cells_double_and_each_is_tested_once(pacc, monkeypatch):
    sizes = []
    monitor = Monitor(pacc)
    test = type(monitor.cells).test
    monkeypatch.setattr(
        type(monitor.cells),
        "test",
        lambda self, counts, n, sums=None: sizes.append(int(n[0])) or test(self, counts, n, sums),
    )
    blocks = CellBlocks(monitor.cells)
    outputs = pacc.outputs(drawn(4000, 0.4, 0)[0])
    for part in np.split(np.arange(4000), 16):
        one = Outputs.from_posteriors(outputs.posteriors[part], CLASSES)
        counts = monitor.cells.representation.reduce(one, as_samples(None, 250)).sums[0]
        blocks = CellBlocks.from_state(monitor.cells, blocks.state())
        blocks.update(counts, one.posteriors.sum(axis=0))
    assert sorted(sizes) == [500] * 8 + [1000] * 4 + [2000] * 2 + [4000]
    assert blocks.evidence < 1.0
