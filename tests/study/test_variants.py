"""Named variants of a method, and measures of the user's own, from the plan to the tables."""

import numpy as np
import pytest

from headcount.errors import ErrorMeasure, ae, get_error
from headcount.errors import registry as error_registry
from headcount.exceptions import DataError, HeadcountError
from headcount.report import tables
from headcount.study import Results, read_plan, run_study
from headcount.study.overview import overview
from headcount.study.results import Cell
from headcount.study.tasks import select_tasks
from tests.study.conftest import PLAN

VARIANTS = PLAN.replace(
    'names = ["PACC"]',
    'names = ["PACC", { name = "PACC-30", method = "pacc", parameters = { validation = 0.3 } }]',
)
LARGEST = "tests.study.test_variants:largest"
FUNCTION = f'{{ name = "largest", function = "{LARGEST}", label = "max" }}'
MEASURES = PLAN.replace("seed = 3", f'seed = 3\nmeasures = ["ae", {FUNCTION}]').replace(
    'targets = ["none", "f1", "ae"]', 'targets = ["ae", "largest"]'
)


def largest(true, estimated):
    """Largest error of a class."""
    return np.abs(np.asarray(true) - np.asarray(estimated)).max(axis=-1)


def smoothed(true, estimated, sample_size):
    return largest(true, estimated) + 1 / np.asarray(sample_size)


gain = ErrorMeasure("gain", "1 - AE", "one minus AE", lambda p, q: 1 - ae(p, q), lower_is_better=False)
five = 5


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    monkeypatch.setattr(error_registry, "_REGISTRY", dict(error_registry._REGISTRY))


def plan_of(tmp_path, text):
    (tmp_path / "plan.toml").write_text(text)
    return read_plan(tmp_path / "plan.toml")


def test_variants_have_figures_of_their_own(tmp_path, data_folder):
    plan = plan_of(tmp_path, VARIANTS).only(learners=["lr"])
    assert [method.name for method in plan.methods] == ["CC", "PCC", "PACC", "PACC-30"]
    members = [member for task in select_tasks(plan, "small") for member in task.members if "PACC" in member.method]
    validations = {member.method: member.quantifier.validation for member in members}
    assert validations["PACC-30"] == 0.3
    assert validations["PACC"] == 0.4
    summary = run_study(plan, tmp_path / "store", n_jobs=1, data_dir=data_folder)
    assert summary.failures == []
    results = Results(plan, tmp_path / "store")
    cells = {(cell.method, cell.run): cell for cell in results.cells if cell.target == "ae"}
    assert not np.array_equal(cells["PACC", 0].estimated, cells["PACC-30", 0].estimated)
    assert {"PACC", "PACC-30"} <= {row.method for row in overview(results).rows}
    assert "PACC-30" in tables(results)[-1].to_text()
    # The figures of the method itself are those that it has without its variant.
    alone = plan_of(tmp_path, PLAN).only(learners=["lr"])
    run_study(alone, tmp_path / "alone", n_jobs=1, data_dir=data_folder)
    of_alone = {(c.method, c.run): c for c in Results(alone, tmp_path / "alone").cells if c.target == "ae"}
    np.testing.assert_array_equal(of_alone["PACC", 1].estimated, cells["PACC", 1].estimated)


def test_variant_may_be_an_entry_of_its_own(tmp_path):
    text = PLAN.replace('names = ["PACC"]', 'name = "by path"\nmethod = "headcount.quantifiers:PACC"')
    method = next(method for method in plan_of(tmp_path, text).methods if method.name == "by path")
    assert type(method.make()).__name__ == "PACC"
    assert method.runs == 2


def test_measure_by_import_path_is_a_target_and_a_column(tmp_path, data_folder):
    plan = plan_of(tmp_path, MEASURES).only(learners=["lr"])
    assert plan.measures == ("ae", "largest")
    measure = get_error("largest")
    assert (measure.label, measure.title, measure.needs_sample_size) == ("max", "Largest error of a class", False)
    error_registry._REGISTRY.pop("largest")  # a worker has not read the plan
    plan = plan_of(tmp_path, MEASURES).only(learners=["lr"])
    summary = run_study(plan, tmp_path / "store", n_jobs=2, data_dir=data_folder)
    assert summary.failures == []
    results = Results(plan, tmp_path / "store")
    cells = {(cell.method, cell.target): cell for cell in results.cells}
    # With two classes both are off by the same: the measure is AE.
    np.testing.assert_allclose(cells["CC", "ae"].errors("largest", 40), cells["CC", "ae"].errors("ae", 40))
    assert cells["CC", "largest"].params == cells["CC", "ae"].params
    assert "small max" in overview(results).columns
    task = select_tasks(plan, "small")[0]
    assert task.description["measures"] == [
        "ae",
        {"name": "largest", "function": f"{__name__}.largest"},
    ]


def test_measure_may_be_a_path_alone_or_an_error_measure(tmp_path):
    text = PLAN.replace(
        "seed = 3",
        "seed = 3\nmeasures = ["
        '"tests.study.test_variants.smoothed", { name = "mine", function = "tests.study.test_variants:gain" }]',
    )
    assert plan_of(tmp_path, text).measures == ("smoothed", "mine")
    assert get_error("smoothed").needs_sample_size
    assert (get_error("mine").label, get_error("mine").lower_is_better) == ("1 - AE", False)
    assert plan_of(tmp_path, text).measures == ("smoothed", "mine")  # read again


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda true: true, "'own' can't be computed: TypeError: .* takes 1 positional argument"),
        (lambda true, estimated: ["x"] * len(true), "'own' can't be computed: ValueError"),
        (lambda true, estimated: 0.5, r"'own' returns numbers of shape \(\) for 2 samples"),
    ],
)
def test_functions_that_are_no_measures_raise_a_sentence(monkeypatch, function, words):
    monkeypatch.setitem(error_registry._REGISTRY, "own", ErrorMeasure("own", "own", "own", function))
    P = np.full((2, 2), 0.5)
    with pytest.raises(DataError, match=words):
        Cell(
            method="CC", learner="lr", params={}, run=0, data_set="small", target="ae", estimated=P, true=P, sizes=5
        ).errors("own")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (VARIANTS.replace("PACC-30", "HDy"), "'HDy' is the name of another method than PACC"),
        (VARIANTS.replace("PACC-30", "PACC"), "'PACC' is named more than once"),
        (VARIANTS.replace("PACC-30", " x"), "' x' is not a valid name for a variant"),
        (VARIANTS.replace('"pacc"', '"pax"'), "There is no method 'pax'"),
        (VARIANTS.replace("validation = 0.3", "folds = 3"), "The method 'PACC-30' can't be given 'folds'"),
        (VARIANTS.replace(', method = "pacc"', ""), "'method' is missing"),
        (PLAN.replace('names = ["PACC"]', 'method = "PACC"'), "'names' is missing, or 'name' with 'method'"),
        (PLAN.replace('names = ["PACC"]', 'names = ["PACC"]\nmethod = "PACC"'), "'method' goes with the 'name'"),
        (PLAN.replace('names = ["PACC"]', "names = [5]"), "names must be a list of names and tables, each listed once"),
        (MEASURES.replace(":largest", ":smallest"), "measure 'largest' can't be imported"),
        (MEASURES.replace(":largest", ":five"), "test_variants:five is not a measure"),
        (MEASURES.replace(LARGEST, "headcount.PACC"), "PACC is not a measure: it takes no true and estimated shares"),
        (MEASURES.replace(LARGEST, "json.dumps"), "json.dumps is not a measure: it takes no true"),
        (MEASURES.replace('"largest"', '"rae"'), "The measure 'rae' of the plan .* has the name of another one"),
        (MEASURES.replace('["ae", {', '["ae", "ae", {'), "measures must be a list of names and tables"),
        (MEASURES.replace('label = "max"', 'lower_is_better = "no"'), "lower_is_better must be true or false"),
    ],
)
def test_mistakes_raise_clear_errors(tmp_path, text, words):
    with pytest.raises(HeadcountError, match=words):
        plan_of(tmp_path, text)
