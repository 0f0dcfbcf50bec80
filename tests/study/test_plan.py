"""Plans: reading them, errors in them, their parts, and how much they have to compute."""

import time

import pytest

from headcount.exceptions import DataError, HeadcountError
from headcount.report.published import published
from headcount.report.scores import Key
from headcount.study import read_plan, shipped_plans
from headcount.study.counts import count
from headcount.study.plan import OWN
from headcount.study.tasks import select_tasks
from tests.study.conftest import PLAN


def test_shipped_plans_match_the_paper():
    assert shipped_plans() == ["league", "paper", "paper-code", "stand-ins"]
    paper = read_plan("paper")
    methods = [row.method for row in paper.rows()]
    rows = [(row.method.name, row.learner_name) for row in paper.rows()]
    assert len(rows) == 29
    measured = [
        published(Key("imdb", name, learner, m.targets[-1]), "ae")
        for m, (name, learner) in zip(methods, rows, strict=True)
    ]
    assert None not in measured  # every row of the overview is there under the published name
    grids = {row.learner_name: len(row.settings()) for row in paper.rows() if row.learner}
    assert grids == {"svm": 20, "lr": 20, "rf": 40, "mnb": 21, "cnn": 16}
    assert {m.name: m.runs for m in paper.methods} | {"ACC": 10, "PACC": 10, "HDy": 10, "QuaNet": 10} == {
        m.name: m.runs for m in paper.methods
    }
    assert {m.name: m.targets for m in paper.methods}["CC"] == ("none", "accuracy", "f1", "ae")
    assert {m.name: m.targets for m in paper.methods}["SVM(RAE)"] == ("rae",)


def test_the_string_none_is_read_as_null(plan):
    assert plan.learner("lr").grid["class_weight"] == [None, "balanced"]
    assert plan.learner("rf").grid["max_depth"] == [3, None]


def test_part_of_a_plan_has_the_same_tasks_as_the_whole_plan(plan):
    """The results of a part are then found by the whole plan."""
    whole = {task.description["learner"]: set() for task in select_tasks(plan, "small")}
    for task in select_tasks(plan, "small"):
        whole[task.learner].add(repr(task.description))
    for learner in ("lr", "rf"):
        part = plan.only(learners=[learner])
        assert {repr(task.description) for task in select_tasks(part, "small")} == whole[learner]
    without_learners = plan.only(learners=[OWN])
    assert [method.name for method in without_learners.methods] == ["SVM(AE)", "MLPE"]
    with pytest.raises(HeadcountError, match=r"no learner 'svm'; it has 'lr', 'rf', 'own'"):
        plan.only(learners=["svm"])
    with pytest.raises(HeadcountError, match="no data set 'imdb'"):
        plan.only(data_sets=["imdb"])


def test_fits_are_counted(plan):
    counts = {c.learner: c for c in count(plan)}
    lr = counts["lr"]
    assert lr.cells == 2 * 3 + 2
    assert lr.fits == 6 + 2 * 6  # on the whole training part for CC and PCC, and for each run of PACC
    assert lr.each_use == 2 * (1 + 7 + 7) + 2 * 7
    assert counts["rf"].fits == 2 + 2 * 2  # a forest of five contains that of two
    assert counts[OWN].fits == 1  # the path
    assert counts[OWN].each_use == 3
    assert count(plan.with_runs(1))[0].fits == 12


def test_the_paper_needs_at_most_a_fifth_of_the_fits_without_sharing():
    counts = count(read_plan("paper").with_runs(1).only(data_sets=["imdb"]))
    assert sum(c.fits + c.refits for c in counts) <= sum(c.each_use for c in counts) / 5


@pytest.mark.slow
def test_networks_are_fitted_once_for_all_methods_that_share_them():
    paper = {c.learner: c for c in count(read_plan("paper"))}
    assert paper["cnn"].fits == 3 * 16 * 3  # CC with PCC; ACC with PACC; QuaNet: chosen in the first of ten runs
    assert all(
        task.representation == "ids" for task in select_tasks(read_plan("paper"), "imdb") if task.learner == "cnn"
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("seed = 3", "seed = -1"), "seed must be an integer"),
        (("seed = 3", "sead = 3"), "unknown key 'sead'; the keys are 'data_sets'"),
        (('data_sets = ["small"]', "data_sets = []"), "data_sets must be a list of names"),
        (('data_sets = ["small"]', ""), "'data_sets' is missing"),
        (("n_prevalences = 5", "n_prevalences = 1"), "n_prevalences must be an integer"),
        (("sample_size = 40", "held_out = 2.0"), "held_out must be a fraction"),
        (("sample_size = 40", "size = 40"), "unknown key 'size'"),
        (('names = ["PACC"]', 'names = ["PACX"]'), "There is no method 'PACX'. There are:"),
        (('names = ["PACC"]', 'names = ["CC"]'), "'CC' is named more than once"),
        (("runs = 2", "runs = 0"), "runs must be an integer"),
        (("runs = 2", "runs = 10_000_000_000"), "runs must be an integer from 1 to 10,000"),
        (('targets = ["ae"]\nruns', 'targets = ["aee"]\nruns'), "aee"),
        (("LogisticRegression", "LogisticRegretion"), "can't be imported"),
        (("sklearn.linear_model", "no_such_module"), "can't be imported"),
        (("C = [0.1, 1.0, 10.0]", "D = [0.1]"), "can't be given 'D'"),
        (("C = [0.1, 1.0, 10.0]", "C = 0.1"), "C must be a list of values"),
        (("n_estimators = [2, 5]", f"n_estimators = {[3] * 2_000}"), "makes 4,000 settings; a grid may make 2,000"),
        (
            (
                "C = [0.1, 1.0, 10.0]",
                ", ".join(f"{name} = {[1.5] * 1_000}" for name in ("C", "tol", "l1_ratio", "intercept_scaling")),
            ),
            "makes 2,000,000,000,000 settings",
        ),
        (("parameters = { random_state = 0 }", "parameters = { seed = 0 }"), "can't be given 'seed'"),
        (
            ('learners = ["lr", "rf"]\ntargets = ["ae"]', 'learners = ["knn"]\ntargets = ["ae"]'),
            "there is no learner 'knn' in the plan",
        ),
        (('names = ["MLPE"]', 'names = ["MLPE"]\nlearners = ["lr"]'), "MLPE takes no learner"),
        (('name = "small"', "name = "), "is not valid TOML"),
        (("grid = { C = [0.1, 10.0] }", "grid = { D = [0.1] }"), r"SVM\(AE\) has no parameters 'classifier__D'"),
        (('names = ["PACC"]', 'names = ["sklearn.svm.SVC"]'), "is not a quantifier"),
        (
            ("sample_size = 40", "sample_size = 100000000000000000000"),
            "sample_size must be an integer from 1 to 10,000,000",
        ),
        (('class = "sklearn.linear_model.LogisticRegression"', "class = 5"), "class must be a name; got 5"),
        (('class = "sklearn.linear_model.LogisticRegression"', 'class = "..x.y"'), "can't be imported"),
        (('name = "small"', 'name = "small"\nmeasures = ["f1"]'), "f1 is an error of decisions"),
        (("[learners.rf]", '[learners."a b"]'), "learner 'a b': not a valid name for a learner"),
        (("[learners.rf]", "[learners.own]"), "learner 'own': not a valid name for a learner"),
        (
            ('learners = ["lr", "rf"]\ntargets = ["ae"]', 'learners = false\ntargets = ["ae"]'),
            "learners must be a list of names, each listed once; got False",
        ),
        (("runs = 2", "runs = 2\ngrid = { validation = [0.2] }"), "take their grid from these"),
        (("runs = 2", 'runs = 2\nparameters = { classifier = "x" }'), "gets its classifier from its learners"),
        (("C = [0.1, 1.0, 10.0]", "C = [1979-05-27]"), "C must be a number, a string, true or false"),
        (('[[methods]]\nnames = ["MLPE"]', "x = 1"), "unknown key 'x'"),
    ],
)
def test_mistakes_in_a_plan_raise_clear_errors(tmp_path, change, words):
    assert change[0] in PLAN
    path = tmp_path / "wrong.toml"
    path.write_text(PLAN.replace(*change))
    with pytest.raises(HeadcountError, match=words):
        read_plan(path)


def test_unknown_plan_raises_an_error_that_lists_the_shipped_ones(tmp_path):
    with pytest.raises(
        DataError, match=r"There is no plan 'papre': shipped are 'league', 'paper', 'paper-code', 'stand-ins'"
    ):
        read_plan("papre")
    (tmp_path / "latin.toml").write_bytes(b"name = '\xe9'")
    with pytest.raises(DataError, match="is not UTF-8"):
        read_plan(tmp_path / "latin.toml")


def test_user_defined_quantifiers_and_learners_are_named_by_import_path(tmp_path):
    text = PLAN.replace('names = ["PACC"]', 'names = ["headcount.quantifiers.hdy.HDy"]').replace(
        "sklearn.ensemble.Random", "sklearn.ensemble:Random"
    )
    path = tmp_path / "own.toml"
    path.write_text(text)
    assert "headcount.quantifiers.hdy.HDy" in [method.name for method in read_plan(path).methods]


@pytest.mark.parametrize("methods", ["5", "[]", "[5]"])
def test_methods_must_be_tables(tmp_path, methods):
    path = tmp_path / "wrong.toml"
    path.write_text(PLAN.partition("[[methods]]")[0].replace("seed = 3", f"seed = 3\nmethods = {methods}"))
    with pytest.raises(DataError, match=r"methods must be given as \[\[methods\]\]|methods must be a table"):
        read_plan(path)


def test_parameters_of_a_method_in_the_plan_are_not_overwritten(tmp_path):
    text = PLAN.replace("runs = 2", "runs = 2\nparameters = { random_state = 7, validation = 0.3 }")
    path = tmp_path / "kept.toml"
    path.write_text(text)
    members = [m for task in select_tasks(read_plan(path), "small") for m in task.members if m.method == "PACC"]
    assert {(m.quantifier.random_state, m.quantifier.validation) for m in members} == {(7, 0.3)}


def test_every_learner_is_seeded(plan):
    """A learner without a seed gets the plan's, or figures would differ from run to run."""
    for task in select_tasks(plan, "small"):
        for member in task.members:
            unseeded = [
                k for k, v in member.quantifier.get_params().items() if k.endswith("random_state") and v is None
            ]
            assert unseeded == []


def test_methods_are_judged_by_their_targets(plan):
    measures = {task.learner: task.measures for task in select_tasks(plan, "small") if task.members[0].method != "PACC"}
    assert measures["lr"] == ("ae", "f1")
    assert measures[""] == ("ae",)


def test_module_that_fails_on_import_raises_a_clear_error(tmp_path, monkeypatch):
    (tmp_path / "broken_learner.py").write_text('raise RuntimeError("at import")')
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "wrong.toml").write_text(
        PLAN.replace("sklearn.linear_model.LogisticRegression", "broken_learner.Learner")
    )
    with pytest.raises(DataError, match=r"can't be imported as 'broken_learner.Learner': RuntimeError: at import"):
        read_plan(tmp_path / "wrong.toml")


@pytest.mark.parametrize("key", ["names", "methods"])
def test_a_plan_that_names_a_method_very_often_is_refused_at_once(tmp_path, key):
    """Each name was counted among all others, which took minutes."""
    entries = ", ".join(f'{{ name = "CC {i}", method = "CC" }}' for i in range(8_000))
    names = f"[[methods]]\nnames = [{entries}]" if key == "names" else '[[methods]]\nnames = ["MLPE"]\n' * 20_000
    (tmp_path / "p.toml").write_text(f'name = "p"\ndata_sets = ["imdb"]\n{names}\n{names if key == "names" else ""}')
    began = time.process_time()
    with pytest.raises(DataError, match="named more than once"):
        read_plan(tmp_path / "p.toml")
    assert time.process_time() - began < 15
