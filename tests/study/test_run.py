"""A small study from end to end: the same figures for any number of jobs and interruptions, and failures are reported."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from headcount import CC, PACC, ArtificialPrevalence, LogTfidf, QuantifierSearch, evaluate
from headcount.data import load_set
from headcount.errors import ErrorMeasure, ae, register_error
from headcount.errors import registry as error_registry
from headcount.exceptions import DataError, HeadcountError, StoreError
from headcount.quantifiers import Quantifier
from headcount.study import Results, Store, read_plan, run_study
from headcount.study.overview import overview
from headcount.study.status import status
from headcount.study.store import Record, load, versions
from headcount.study.tasks import seeds, select_tasks
from tests.study.conftest import PLAN, write_small_set


def figures(plan, store):
    """Parameters and estimates of all cells of a study."""
    return {
        (c.data_set, c.method, c.learner, c.target, c.run): (
            repr(c.params),
            None if c.estimated is None else c.estimated.tobytes(),
        )
        for c in Results(plan, store).cells
    }


@pytest.fixture(scope="module")
def done(tmp_path_factory, data_folder):
    folder = tmp_path_factory.mktemp("done")
    (folder / "small.toml").write_text(PLAN)
    plan = read_plan(folder / "small.toml")
    summary = run_study(plan, folder / "store", n_jobs=1, data_dir=data_folder)
    return plan, folder / "store", summary


def test_everything_is_computed_once_and_then_read_from_the_store(done, data_folder):
    plan, store, summary = done
    assert summary.computed > 0
    assert summary.kept == 0
    assert summary.failures == []
    assert summary.notices == []
    again = run_study(plan, store, n_jobs=1, data_dir=data_folder)
    assert (again.computed, again.kept) == (0, summary.computed)
    cells = Results(plan, store).cells
    assert len(cells) == 2 * 2 * 3 + 2 * 2 + 1 + 1
    assert all(cell.missing == "" and cell.estimated.shape == (20, 2) for cell in cells)
    assert all(cell.file.is_file() for cell in cells)


def test_figures_equal_those_of_search_and_evaluate(done, data_folder):
    """Shared fits and stored files change no bit of what the library gives directly."""
    plan, store, _ = done
    train, test = load_set("small", data_folder)
    features = LogTfidf()
    X, X_test = features.fit_transform(train.items), features.transform(test.items)
    plan_seeds = seeds(plan)
    protocol = ArtificialPrevalence(5, repeats=4, sample_size=40, random_state=plan_seeds["test"])
    cells = {(c.method, c.learner, c.target, c.run): c for c in Results(plan, store).cells}
    default = CC(LogisticRegression()).fit(X, train.labels)
    np.testing.assert_array_equal(
        cells["CC", "lr", "none", 0].estimated, evaluate(default, X_test, test.labels, protocol).estimated
    )
    run = int(np.random.SeedSequence([plan_seeds["runs"], 1]).generate_state(1)[0])
    chosen = PACC(LogisticRegression(**cells["PACC", "lr", "ae", 1].params), validation=0.4, random_state=run).fit(
        X, train.labels
    )
    np.testing.assert_array_equal(
        cells["PACC", "lr", "ae", 1].estimated, evaluate(chosen, X_test, test.labels, protocol).estimated
    )
    np.testing.assert_array_equal(
        cells["CC", "lr", "ae", 0].true, evaluate(default, X_test, test.labels, protocol).true
    )


def test_chosen_setting_is_the_best_on_the_held_out_part(done, data_folder):
    from sklearn.model_selection import PredefinedSplit, train_test_split

    plan, store, _ = done
    train, _ = load_set("small", data_folder)
    X = LogTfidf().fit_transform(train.items)
    plan_seeds = seeds(plan)
    rows = np.arange(len(train))
    _, judging = train_test_split(rows, test_size=0.4, stratify=train.labels, random_state=plan_seeds["split"])
    search = QuantifierSearch(
        CC(LogisticRegression()),
        {f"classifier__{k}": v for k, v in plan.learner("lr").grid.items()},
        scoring=["ae", "f1"],
        protocol=ArtificialPrevalence(5, repeats=2, sample_size=40, random_state=plan_seeds["validation"]),
        test_size=PredefinedSplit(np.where(np.isin(rows, judging), 0, -1)),
        refit="ae",
    ).fit(X, train.labels)
    cells = {(c.method, c.learner, c.target): c for c in Results(plan, store).cells}
    assert {f"classifier__{k}": v for k, v in cells["CC", "lr", "ae"].params.items()} == search.best_params_


def test_setting_of_the_first_run_may_serve_all_runs(done, plan_file, data_folder, tmp_path):
    plan_file.write_text(plan_file.read_text().replace("[learners.rf]", "[learners.rf]\nchoose_once = true"))
    plan, store = read_plan(plan_file), tmp_path / "store"
    run_study(plan, store, n_jobs=1, data_dir=data_folder)
    settings = {c.run: c.params for c in Results(plan, store).cells if (c.method, c.learner) == ("PACC", "rf")}
    assert settings[0] == settings[1]
    assert len(select_tasks(plan, "small")) == len(select_tasks(done[0], "small")) - 2  # two depths, in the second run
    first_runs = {key: figure for key, figure in figures(plan, store).items() if key[-1] == 0}
    assert first_runs.items() <= figures(*done[:2]).items()
    lines, _ = status(plan, store)
    assert next(line.judged for line in lines if line.learner == "rf") == 4


@pytest.mark.parametrize("jobs", [2, 3])
def test_figures_do_not_depend_on_the_number_of_jobs(done, data_folder, tmp_path, jobs):
    plan, store, _ = done
    run_study(plan, tmp_path / "store", n_jobs=jobs, data_dir=data_folder)
    assert figures(plan, tmp_path / "store") == figures(plan, store)


def test_running_all_parts_in_turn_equals_running_the_whole_plan(done, data_folder, tmp_path):
    plan, store, summary = done
    computed = sum(
        run_study(plan.only(learners=[name]), tmp_path / "store", n_jobs=1, data_dir=data_folder).computed
        for name in ("rf", "own", "lr")
    )
    assert computed == summary.computed
    assert run_study(plan, tmp_path / "store", n_jobs=1, data_dir=data_folder).computed == 0
    assert figures(plan, tmp_path / "store") == figures(plan, store)


def test_interrupted_run_ends_with_the_same_figures(done, data_folder, tmp_path, monkeypatch):
    plan, store, summary = done
    write = Store.write
    left = [0]

    def interrupted(self, record):
        if left[0] == 0:
            raise KeyboardInterrupt
        left[0] -= 1
        return write(self, record)

    monkeypatch.setattr(Store, "write", interrupted)
    rounds = 0
    while True:
        left[0], rounds = 3, rounds + 1
        try:
            run_study(plan, tmp_path / "store", n_jobs=1, data_dir=data_folder)
        except KeyboardInterrupt:
            continue
        break
    assert rounds > summary.computed / 4
    assert figures(plan, tmp_path / "store") == figures(plan, store)


def test_damage_a_changed_parameter_and_other_data_are_noticed(done, data_folder, tmp_path):
    plan, store, summary = done
    run_study(plan, tmp_path / "store", n_jobs=1, data_dir=data_folder)
    files = list(Store(tmp_path / "store").records())
    content = bytearray(files[3].read_bytes())
    content[-5] ^= 1
    files[3].write_bytes(content)
    old = load(files[5])
    Store(tmp_path / "store").write(
        Record(old.task, old.data, old.outcome, old.seconds, versions() | {"numpy": "0.0"}, old.code)
    )
    again = run_study(plan, tmp_path / "store", n_jobs=1, data_dir=data_folder)
    assert again.computed == 2
    assert any("is damaged" in notice and str(files[3]) in notice for notice in again.notices)
    assert any("other versions" in notice and str(files[5]) in notice for notice in again.notices)
    assert figures(plan, tmp_path / "store") == figures(plan, store)

    (tmp_path / "changed.toml").write_text(PLAN.replace("C = [0.1, 1.0, 10.0]", "C = [0.1, 1.0, 20.0]"))
    changed = read_plan(tmp_path / "changed.toml")
    after = run_study(changed, tmp_path / "store", n_jobs=1, data_dir=data_folder)
    assert "learners[lr].grid.C[2] was 10.0, is 20.0" in after.notices[0]
    assert 0 < after.computed < summary.computed
    _, notices = status(changed, tmp_path / "store")
    assert "belong to another plan, or to this one with other parameters" in notices[0]

    write_small_set(tmp_path / "other", seed=1)
    part = changed.only(learners=["lr"])
    moved = run_study(part, tmp_path / "store", n_jobs=1, data_dir=tmp_path / "other")
    assert moved.kept == 0
    assert "from other data" in moved.notices[0]
    results = Results(changed, tmp_path / "store")  # results of the data before are not used
    assert {cell.learner for cell in results.cells if cell.estimated is not None} == {"lr"}
    assert any("was computed from other data" in notice for notice in results.notices)


def test_status_counts_tasks_of_each_learner(done, data_folder, tmp_path):
    plan, _, _ = done
    with pytest.raises(StoreError, match=r"There is no store at .* run 'headcount study run"):
        status(plan, tmp_path / "nothing")
    run_study(plan.only(learners=["lr"]), tmp_path / "store", n_jobs=1, data_dir=data_folder)
    rows, notices = status(plan, tmp_path / "store")
    by_learner = {row.learner: row for row in rows}
    assert by_learner["lr"].judged == by_learner["lr"].to_judge > 0
    assert by_learner["rf"].judged == 0 < by_learner["rf"].to_judge
    assert notices == []


def test_missing_results_are_reported(done, data_folder, tmp_path):
    plan, _, _ = done
    with pytest.raises(StoreError, match="There is no store"):
        Results(plan, tmp_path / "nothing")
    run_study(plan.only(learners=["lr"]), tmp_path / "store", n_jobs=1, data_dir=data_folder)
    results = Results(plan, tmp_path / "store")
    shown = overview(results)
    assert any("rf for ae: 0 of 1 runs (not all settings are judged yet)" in line for line in shown.missing)
    complete = [row for row in shown.rows if not np.isnan(row[-1])]
    assert {row[1] for row in complete} == {"lr"}
    assert [row[-1] for row in complete] == sorted(row[-1] for row in complete)
    only = overview(results, methods=["cc"], targets=["ae"])
    assert [row[:3] for row in only.rows if row[1] == "lr"] == [("CC", "lr", "ae")]
    next(cell.file for cell in results.cells if cell.file).write_text("broken")
    assert any("not a file of a store" in line for line in overview(Results(plan, tmp_path / "store")).missing)


def test_true_shares_and_mean_errors(done):
    plan, store, _ = done
    frame = Results(plan, store).to_frame()
    mlpe = frame[frame.method == "MLPE"].iloc[0]
    truth = Results(plan, store).truth("small")
    shares = np.linspace(0, 1, 5)
    assert mlpe["ae"] == pytest.approx(np.abs(shares - truth["training"][1]).mean(), abs=0.02)
    assert (frame.runs == frame.of).all()


def test_failures_are_reported_and_other_methods_go_on(data_folder, tmp_path):
    """With three classes HDy and SVM(AE) fail, and samples have random shares."""
    three = tmp_path / "data" / "three"
    three.mkdir(parents=True)
    generator = np.random.default_rng(0)
    for part in ("train", "test"):
        y = np.arange(150) % 3
        words = np.array(["alpha", "beta", "gamma"])
        lines = [f"{c}\t{words[c]} {words[generator.integers(3)]} common" for c in y]
        (three / f"{part}.txt").write_text("\n".join(lines) + "\n")
    text = PLAN.replace('data_sets = ["small"]', 'data_sets = ["three"]').replace('names = ["PACC"]', 'names = ["HDy"]')
    (tmp_path / "three.toml").write_text(text)
    plan = read_plan(tmp_path / "three.toml")
    summary = run_study(plan, tmp_path / "store", n_jobs=1, data_dir=tmp_path / "data")
    assert any("no setting of HDy over lr could be judged" in failure for failure in summary.failures)
    assert any("SVM(AE)" in failure and "Only binary classification" in failure for failure in summary.failures)
    cells = {(c.method, c.learner, c.target): c for c in Results(plan, tmp_path / "store").cells}
    assert cells["CC", "lr", "ae"].estimated.shape == (20, 3)
    assert "could be judged" in cells["HDy", "lr", "ae"].missing


def test_numeric_data_sets_are_used_without_a_representation(tmp_path):
    folder = tmp_path / "data" / "numbers"
    folder.mkdir(parents=True)
    generator = np.random.default_rng(0)
    for part in ("train", "test"):
        y = np.arange(200) % 2
        X = generator.standard_normal((200, 3)) + y[:, None]
        rows = [",".join([str(c), *(f"{v:.6f}" for v in x)]) for c, x in zip(y, X, strict=True)]
        (folder / f"{part}.csv").write_text("\n".join(["label,a,b,c", *rows]) + "\n")
    (tmp_path / "numbers.toml").write_text(PLAN.replace('"small"]', '"numbers"]'))
    plan = read_plan(tmp_path / "numbers.toml")
    summary = run_study(plan, tmp_path / "store", n_jobs=1, data_dir=tmp_path / "data")
    assert summary.failures == []
    frame = Results(plan, tmp_path / "store").to_frame()
    assert frame[frame.method == "PACC"]["ae"].max() < frame[frame.method == "MLPE"]["ae"].min()


def test_unknown_representation_raises_a_clear_error(plan_file, data_folder, tmp_path):
    text = PLAN.replace('LogisticRegression"\n', 'LogisticRegression"\nrepresentation = "embeddings"\n')
    plan_file.write_text(text)
    with pytest.raises(DataError, match="There is no representation 'embeddings': use 'tfidf', 'ids'"):
        run_study(read_plan(plan_file), tmp_path / "store", data_dir=data_folder)


def test_progress_lines_are_sent_where_there_is_no_terminal(plan, data_folder, tmp_path, monkeypatch):
    monkeypatch.setattr("headcount.study.execution._SECONDS_BETWEEN_LINES", 0.0)
    lines = []
    run_study(plan.only(learners=["lr"]), tmp_path / "store", n_jobs=1, data_dir=data_folder, notify=lines.append)
    assert any(line.startswith("small: choosing: 2 of ") and line.endswith(" s left") for line in lines)


class Flaky(LogisticRegression):
    """Fails at C = 10 with the error that `trouble` names."""

    trouble = ""

    def fit(self, X, y):
        if self.C == 10.0 and Flaky.trouble:
            raise {"memory": MemoryError, "file": FileNotFoundError, "value": ValueError}[Flaky.trouble]("at C = 10")
        return super().fit(X, y)


class Halves(Quantifier):
    """Classify and count on a random half: it does not fit its classifier through shared fits."""

    def __init__(self, classifier=None, random_state=None):
        self.classifier = classifier
        self.random_state = random_state

    def fit(self, X, y):
        rows = np.random.default_rng(self.random_state).permutation(len(y))[: len(y) // 2]
        self.inner_ = CC(self.classifier).fit(X[rows], y[rows])
        self.classes_, self.classifier_ = self.inner_.classes_, self.inner_.classifier_
        return self

    needs = frozenset({"decisions"})

    def _score(self, X, needs):
        return self.inner_.outputs(X, needs)

    def reduce(self, outputs, samples=None):
        return self.inner_.reduce(outputs, samples)

    def solve(self, statistics):
        return self.inner_.solve(statistics)


@pytest.mark.parametrize(("trouble", "kept"), [("memory", False), ("file", False), ("value", True)])
def test_temporary_failures_are_not_stored_and_tried_again(
    plan_file, data_folder, tmp_path, monkeypatch, trouble, kept
):
    plan_file.write_text(PLAN.replace("sklearn.linear_model.LogisticRegression", "tests.study.test_run.Flaky"))
    plan = read_plan(plan_file).only(learners=["lr"])
    monkeypatch.setattr(Flaky, "trouble", trouble)
    first = run_study(plan, tmp_path / "store", n_jobs=1, data_dir=data_folder)
    assert any("at C = 10" in failure for failure in first.failures)
    monkeypatch.setattr(Flaky, "trouble", "")
    again = run_study(plan, tmp_path / "store", n_jobs=1, data_dir=data_folder)
    assert (again.computed == 0) == kept
    assert bool(again.failures) == kept
    if not kept:
        run_study(plan, tmp_path / "fresh", n_jobs=1, data_dir=data_folder)
        assert figures(plan, tmp_path / "store") == figures(plan, tmp_path / "fresh")


def test_user_defined_quantifier_is_scored_with_its_own_classifier(plan_file, data_folder, tmp_path):
    text = PLAN.replace('names = ["PACC"]', 'names = ["tests.study.test_run.Halves"]').replace("runs = 2", "runs = 40")
    plan_file.write_text(text)
    plan = read_plan(plan_file).only(learners=["lr"])
    run_study(plan, tmp_path / "store", n_jobs=1, data_dir=data_folder)
    train, test = load_set("small", data_folder)
    features = LogTfidf()
    X, X_test = features.fit_transform(train.items), features.transform(test.items)
    protocol = ArtificialPrevalence(5, repeats=4, sample_size=40, random_state=seeds(plan)["test"])
    cells = [cell for cell in Results(plan, tmp_path / "store").cells if cell.method.endswith("Halves")]
    assert len(cells) == 40
    for cell in cells:
        seed = int(np.random.SeedSequence([seeds(plan)["runs"], cell.run]).generate_state(1)[0])
        q = Halves(LogisticRegression(**cell.params), seed).fit(X, train.labels)
        np.testing.assert_array_equal(evaluate(q, X_test, test.labels, protocol).estimated, cell.estimated)


def test_store_removed_during_a_run_raises_a_clear_error(plan, data_folder, tmp_path, monkeypatch):
    import shutil

    write = Store.write

    def removed(self, record):
        path = write(self, record)
        if record.task["stage"] == "test":
            shutil.rmtree(self.folder)
        return path

    monkeypatch.setattr(Store, "write", removed)
    with pytest.raises(StoreError, match="was removed while the study was running"):
        run_study(plan.only(learners=["lr"]), tmp_path / "store", n_jobs=1, data_dir=data_folder)


def test_file_of_another_task_is_not_used(done, data_folder, tmp_path):
    plan, _, _ = done
    run_study(plan, tmp_path / "store", n_jobs=1, data_dir=data_folder)
    first, second = list((tmp_path / "store" / "select" / "small" / "lr").iterdir())[:2]
    second.write_bytes(first.read_bytes())
    results = Results(plan, tmp_path / "store")
    assert any(cell.missing for cell in results.cells)
    assert any("another task than its name says" in notice for notice in results.notices)


def test_unknown_method_of_an_overview_raises_a_clear_error(done):
    plan, store, _ = done
    with pytest.raises(HeadcountError, match="The plan has no method 'foo'"):
        overview(Results(plan, store), methods=["foo"])


def test_a_target_with_higher_is_better_is_maximised(plan_file, data_folder, tmp_path, monkeypatch):
    monkeypatch.setattr(error_registry, "_REGISTRY", dict(error_registry._REGISTRY))
    register_error(ErrorMeasure("gain", "1 - AE", "one minus AE", lambda p, q: 1 - ae(p, q), lower_is_better=False))
    plan_file.write_text(PLAN.replace('["none", "f1", "ae"]', '["gain", "ae"]'))
    plan = read_plan(plan_file).only(learners=["lr"])
    run_study(plan, tmp_path / "store", n_jobs=1, data_dir=data_folder)
    cells = {(c.method, c.target): c for c in Results(plan, tmp_path / "store").cells if c.method in ("CC", "PCC")}
    assert cells["CC", "gain"].params == cells["CC", "ae"].params
    assert cells["PCC", "gain"].params == cells["PCC", "ae"].params


def test_without_a_chosen_setting_the_estimates_at_defaults_are_not_used(done, data_folder, tmp_path):
    plan, _, _ = done
    plan = plan.only(learners=["lr"])
    run_study(plan, tmp_path / "store", n_jobs=1, data_dir=data_folder)
    for path in (tmp_path / "store" / "select" / "small" / "lr").iterdir():
        path.unlink()
    cells = {(c.method, c.target): c for c in Results(plan, tmp_path / "store").cells}
    assert cells["CC", "none"].estimated is not None
    assert cells["CC", "ae"].estimated is None
    assert cells["CC", "ae"].missing == "not all settings are judged yet"


def test_the_overview_gives_equal_errors_the_mean_of_their_ranks(done):
    plan, store, _ = done
    rows = overview(Results(plan, store)).rows
    errors = [row.errors[0] for row in rows]
    for row in rows:
        better, equal = (sum(compare(e, row.errors[0]) for e in errors) for compare in (np.less, np.equal))
        assert row.mean_rank == better + (equal + 1) / 2
    assert any(row.mean_rank % 1 for row in rows)
