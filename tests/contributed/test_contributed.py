"""Two methods of a package that Headcount does not know go through everything a built-in one goes through."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from headcount import (
    ArtificialPrevalence,
    Outputs,
    QuantifierSearch,
    Samples,
    UniformPrevalence,
    difference,
    estimate,
    evaluate,
)
from headcount.checks import check
from headcount.exceptions import DataError
from headcount.modelfile import Columns, Model, load_model, save_model
from headcount.quantifiers import catalogue, list_methods, method_named
from headcount.stream import Recipe, estimate_groups
from tests.conftest import blobs

HERE = Path(__file__).parent


@pytest.fixture
def installed(monkeypatch):
    """The package with its entry points is found as an installed one is; afterwards the catalogue is as before."""
    before = dict(catalogue._METHODS)
    monkeypatch.syspath_prepend(str(HERE))
    catalogue._entry_point_types.cache_clear()
    list_methods()
    yield
    for name in [name for name in sys.modules if name.startswith("extra_quantifiers")]:
        del sys.modules[name]  # so that the next test registers them again
    catalogue._METHODS.clear()
    catalogue._METHODS.update(before)
    catalogue._entry_point_types.cache_clear()


@pytest.fixture(params=["TopsoeMatch", "KernelLikelihood"])
def method(request, installed):
    return method_named(request.param)


def made(method, **more):
    return method.make().set_params(classifier=LogisticRegression(), random_state=0, **more)


def sample(n, k, seed, shares):
    """Items with these class shares."""
    X, y = blobs(20 * n, k, seed)
    generator = np.random.default_rng(seed)
    rows = np.concatenate([generator.choice(np.flatnonzero(y == j), round(n * p)) for j, p in enumerate(shares)])
    return X[rows], y[rows]


def test_the_catalogue_lists_it(method):
    assert method.name in [one.name for one in list_methods()]
    assert method.reference


def test_it_is_evaluated(method):
    X, y = blobs(600, 2, 0)
    q = made(method).fit(X[:300], y[:300])
    table = evaluate(q, X[300:], y[300:], ArtificialPrevalence(11, repeats=5, sample_size=100, random_state=0))
    assert table.name == method.name
    assert table.ae.mean() < 0.05


def test_it_is_searched_over(method):
    X, y = blobs(600, 2, 1)
    protocol = ArtificialPrevalence(5, repeats=3, sample_size=50, random_state=0)
    own = {"TopsoeMatch": "n_bins", "KernelLikelihood": "bandwidth"}[method.name]
    values = {"TopsoeMatch": [4, 8], "KernelLikelihood": [0.05, 0.1]}[method.name]
    search = QuantifierSearch(
        made(method), {"classifier__C": [0.1, 1.0], own: values}, protocol=protocol, random_state=0
    ).fit(X, y)
    assert len(search.results_) == 4
    assert search.results_["error"].eq("").all()


def test_it_has_the_interval_of_its_family_or_only_an_explicit_bootstrap(method):
    """Any densities have an interval; a solver has one if it declares an equation, or that it compares cells."""
    X, y = blobs(600, 2, 2)
    q = made(method).fit(X, y)
    target, _ = sample(200, 2, 3, [0.3, 0.7])
    if q.has_interval:
        answer = estimate(q, target)
        assert answer.low[1] < 0.7 < answer.high[1]
        assert answer.contains([0.3, 0.7])
    else:
        with pytest.raises(DataError, match=f"No interval for {method.name}: .* declares no estimating equation.*PACC"):
            estimate(q, target)
    assert q.has_interval == (method.name == "KernelLikelihood")
    answer = estimate(q, target, method="bootstrap", n_replicates=100, random_state=0)
    assert answer.method == ("bootstrap" if q.has_interval else "bootstrap, coverage not measured")
    assert (answer.low <= answer.shares).all()
    assert (answer.shares <= answer.high).all()
    assert answer.low[1] < 0.7 < answer.high[1]
    assert answer.high[1] - answer.low[1] > 0.02


def test_two_estimates_are_compared(method):
    X, y = blobs(600, 2, 2)
    q = made(method).fit(X, y)
    a, b = (
        estimate(q, sample(300, 2, seed, shares)[0], method="bootstrap", n_replicates=200, random_state=0)
        for seed, shares in ((3, [0.3, 0.7]), (4, [0.6, 0.4]))
    )
    change = difference(a, b)
    assert change.low[1] < -0.3 < change.high[1] < 0
    assert change.p_value[1] < 0.02
    assert difference(a, a).p_value.tolist() == [1.0, 1.0]


def test_its_answers_are_checked_as_those_of_a_method_that_adjusts(method):
    X, y = blobs(1200, 2, 5)
    q = made(method).fit(X, y)
    target, _ = sample(500, 2, 6, [0.1, 0.9])
    assert check(q, target).verdict == "trust"


def test_it_streams_to_the_bit(method):
    X, y = blobs(600, 2, 2)
    q = made(method).fit(X, y)
    target, _ = sample(2000, 2, 3, [0.3, 0.7])
    out = q.outputs(target)
    groups = np.arange(len(target)) % 3
    tallies = []
    for size in (len(target), 170):
        tally = Recipe(q).start()
        for start in range(0, len(target), size):
            part = Recipe(q).start()
            columns = np.ascontiguousarray(out.posteriors[start : start + size].T)
            part.add_columns(columns, groups[start : start + size].astype(np.int32), ["a", "b", "c"])
            tally = tally + part
        tallies.append(estimate_groups(tally))
    np.testing.assert_array_equal(tallies[0].shares, tallies[1].shares)
    whole = q.aggregate(out, Samples.from_groups(groups))
    np.testing.assert_allclose(tallies[0].shares, whole, atol=0 if method.name == "TopsoeMatch" else 1e-3)
    assert ("declares no estimating equation" in tallies[0].note) != made(method).has_interval


def test_its_model_file_is_read_where_its_package_is_installed(method, tmp_path):
    X, y = blobs(300, 2, 2)
    model = Model(made(method).fit(X, y), Columns("numbers", ("a", "b", "c", "d"), "y"))
    save_model(model, tmp_path / "m.headcount")
    again = load_model(tmp_path / "m.headcount")
    np.testing.assert_array_equal(again.quantifier.predict(X), model.quantifier.predict(X))


def run(*words, cwd, path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(path), *sys.path])}
    command = [sys.executable, "-m", "headcount", *map(str, words)]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("extra_quantifiers.topsoe_match:TopsoeMatch", marks=pytest.mark.slow),
        "extra_quantifiers.kernel_likelihood:KernelLikelihood",
    ],
)
def test_the_command_line_fits_and_estimates_with_it(name, tmp_path):
    X, y = blobs(150, 2, 2)
    rows = ["a,b,c,d,y", *(",".join([*map(str, x), ("no", "yes")[label]]) for x, label in zip(X, y, strict=True))]
    (tmp_path / "labelled.csv").write_text("\n".join(rows) + "\n")
    options = ["--label", "y", "--learner", "lr", "--jobs", "1", "-o", "m.headcount"]
    fitted = run("fit", "labelled.csv", "--method", name, *options, cwd=tmp_path, path=HERE)
    assert fitted.returncode == 0, fitted.stderr
    answered = run("estimate", "m.headcount", "labelled.csv", cwd=tmp_path, path=HERE)
    assert answered.returncode == 0, answered.stderr
    expected = "95 % interval" if "KernelLikelihood" in name else "declares no estimating equation"
    assert expected in answered.stdout

    # The same package without its entry points: the model is neither written nor read.
    shutil.copytree(HERE / "extra_quantifiers", tmp_path / "lib" / "extra_quantifiers")
    refused = run("estimate", "m.headcount", "labelled.csv", cwd=tmp_path, path=tmp_path / "lib")
    assert refused.returncode == 2
    assert "m.headcount is refused: it holds 'extra_quantifiers." in refused.stderr
    refused = run("fit", "labelled.csv", "--method", name, *options, cwd=tmp_path, path=tmp_path / "lib")
    assert refused.returncode == 2
    assert "entry point 'headcount.quantifiers'" in refused.stderr


PLAN = """
name = "contributed"
data_sets = ["synthetic-kindle"]
[learners.lr]
class = "sklearn.linear_model.LogisticRegression"
grid = { C = [0.1, 1.0] }
[[methods]]
names = ["CC", "PACC", "extra_quantifiers.topsoe_match:TopsoeMatch", "extra_quantifiers.kernel_likelihood:KernelLikelihood"]
learners = ["lr"]
targets = ["ae"]
[protocol]
sample_size = 100
validation_repeats = 1
test_repeats = 2
"""


def test_a_study_plan_names_it_and_the_report_shows_it(tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN)
    ran = run("study", "run", "plan.toml", "--store", "store", "--jobs", "1", cwd=tmp_path, path=HERE)
    assert ran.returncode == 0, ran.stderr
    shown = run("study", "overview", "plan.toml", "--store", "store", cwd=tmp_path, path=HERE)
    assert shown.returncode == 0, shown.stderr
    assert "TopsoeMatch" in shown.stdout
    page = run("study", "report", "plan.toml", "--store", "store", "-o", "page.html", cwd=tmp_path, path=HERE)
    assert page.returncode == 0, page.stderr
    assert "KernelLikelihood" in (tmp_path / "page.html").read_text()


def test_three_classes_are_refused_by_the_one_and_taken_by_the_other(installed):
    X, y = blobs(600, 3, 0)
    with pytest.raises(DataError, match="TopsoeMatch is defined for two classes"):
        made(method_named("TopsoeMatch")).fit(X, y)
    kdey = made(method_named("KernelLikelihood")).fit(X[:300], y[:300])
    table = evaluate(kdey, X[300:], y[300:], UniformPrevalence(50, sample_size=100, random_state=0))
    assert table.ae.mean() < 0.06


def test_no_module_of_headcount_knows_their_names():
    source = Path(catalogue.__file__).parents[1]
    text = "".join(path.read_text(encoding="utf-8") for path in source.rglob("*.py"))
    assert "TopsoeMatch" not in text
    assert "KernelLikelihood" not in text


def test_the_package_imports_public_names_only():
    for path in (HERE / "extra_quantifiers").glob("*.py"):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("from headcount"):
                assert line.startswith("from headcount.quantifiers import ")


def test_fit_takes_the_outputs_of_a_black_box(method):
    X, y = blobs(600, 2, 0)
    box = LogisticRegression().fit(X[:200], y[:200])
    out = Outputs.from_posteriors(box.predict_proba(X[200:400]), [0, 1])
    q = method.make().fit(out, y[200:400])
    shares = q.aggregate(Outputs.from_posteriors(box.predict_proba(X[400:]), [0, 1]))[0]
    np.testing.assert_allclose(shares[1], y[400:].mean(), atol=0.1)
