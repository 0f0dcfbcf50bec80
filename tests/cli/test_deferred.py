"""What commands import: a look at a model and an estimate of a small table need few libraries."""

import gc
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline

from headcount import PACC, SLD, LogTfidf, NewtonLogisticRegression
from headcount.cli.deferred import defer_slow_imports
from headcount.modelfile import Columns, Model, save_model
from tests.modelfile.test_modelfile import texts

NEVER = {
    "torch",
    "dask",
    "pytest",
    "matplotlib",
    "jinja2",
    "duckdb",
    "skops",
    "pandas",
    "sklearn.ensemble._gb",
    "pydantic",
    "numpy.f2py.f2py2e",
    "scipy.optimize._optimize",
    "asyncio.events",
}
"""What neither command imports."""


def in_new_process(code, folder):
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=folder)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def modules_after(folder, *arguments):
    """Run a command in a new process; return the names of all modules that it imported, and what it printed."""
    code = f"""
import json, sys
sys.argv = {["headcount", *arguments]!r}
from headcount.cli import main
try:
    main()
except SystemExit as stop:
    print()
    print(json.dumps([stop.code, sorted(sys.modules)]))
"""
    *printed, last = in_new_process(code, folder).splitlines()
    status, modules = json.loads(last)
    assert status == 0
    return set(modules), "\n".join(printed)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a model of texts and a table of new ones."""
    folder = tmp_path_factory.mktemp("deferred")
    items, y = texts(300)
    quantifier = SLD(make_pipeline(LogTfidf(), NewtonLogisticRegression()), random_state=0)
    quantifier.fit(np.array(items, dtype=object), np.array(["bad", "good"])[y])
    save_model(
        Model(quantifier, Columns("text", ("review",), "stars"), source={"name": "a.csv", "rows": 300}),
        folder / "m.headcount",
    )
    items, _ = texts(120, 1)
    table = pd.DataFrame({"review": items, "day": ["2026-01-05", "2026-02-07"] * 60, "x": 1.5})
    table.to_csv(folder / "new.csv", index=False)
    return folder


def test_inspect_imports_no_learner(folder):
    modules, printed = modules_after(folder, "inspect", "m.headcount")
    assert "SLD over logistic regression" in printed
    assert modules & (NEVER | {"sklearn", "scipy", "numba", "pyarrow"}) == set()


def test_estimate_imports_what_it_uses(folder):
    modules, printed = modules_after(folder, "estimate", "m.headcount", "new.csv", "--by", "day:month")
    assert "2026-02" in printed
    assert {"sklearn.pipeline", "numba", "pyarrow"} <= modules
    others = {"scipy.stats._stats_py", "scipy.stats.distributions", "sklearn.metrics.pairwise", "headcount.auto"}
    assert modules & (NEVER | others) == set()


def test_estimate_by_a_forest_imports_no_other_ensemble(folder):
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(200, 2)), np.arange(200) % 2
    quantifier = PACC(RandomForestClassifier(5, random_state=0), random_state=0).fit(X + y[:, None], y)
    save_model(Model(quantifier, Columns("numbers", ("a", "b"), "y")), folder / "forest.headcount")
    pd.DataFrame(X, columns=["a", "b"]).to_csv(folder / "numbers.csv", index=False)
    modules, printed = modules_after(folder, "estimate", "forest.headcount", "numbers.csv")
    assert "95 % interval" in printed
    assert "sklearn.ensemble._forest" in modules
    assert modules & (NEVER | {"sklearn.metrics.pairwise", "sklearn.neighbors._base"}) == set()


def test_deferred_modules_are_loaded_when_they_are_used(tmp_path):
    code = """
import sys
from headcount.cli.deferred import defer_slow_imports
defer_slow_imports()
from sklearn.covariance import EllipticEnvelope
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler, quantile_transform
assert "scipy.stats.distributions" not in sys.modules
assert "pandas" not in sys.modules
import numpy as np
X = np.random.default_rng(0).normal(size=(30, 2))
import scipy.stats.mstats
from scipy.stats import rankdata
assert rankdata([3, 1]).tolist() == [2.0, 1.0]
assert sys.modules["scipy.stats"] is scipy.stats and scipy.stats.mstats.__spec__.name == "scipy.stats.mstats"
assert EllipticEnvelope(random_state=0).fit(X).predict(X).shape == (30,)
assert roc_auc_score([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4]) == 0.75
assert quantile_transform(X, n_quantiles=5, output_distribution="normal").shape == X.shape
import pandas as pd
frame = pd.DataFrame(X, columns=["a", "b"])
assert list(StandardScaler().set_output(transform="pandas").fit_transform(frame).columns) == ["a", "b"]
"""
    in_new_process(code, tmp_path)


def test_names_of_deferred_modules_load_them(tmp_path):
    code = """
from headcount.cli.deferred import defer_slow_imports
defer_slow_imports()
from scipy import stats
from scipy.stats import norm, rankdata
assert norm.cdf(0.0) == stats.norm.cdf(0.0) == 0.5
assert rankdata([3, 1]).tolist() == [2.0, 1.0]
"""
    in_new_process(code, tmp_path)


def test_every_deferred_module_is_run_when_it_is_used(tmp_path):
    code = """
import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from headcount.cli import deferred
deferred.defer_slow_imports()
for name, names in deferred._DEFERRED.items():
    try:
        module = import_module(name)
    except ModuleNotFoundError:  # optional
        continue
    waiting = {one: getattr(module, one) for one in names}
    assert type(module) is not ModuleType or sys.modules[name].__spec__.loader is not None
    assert module.__all__ if hasattr(module, "__all__") else dir(module)
    for one, stand_in in waiting.items():
        assert getattr(stand_in, "__name__", None) == getattr(getattr(module, one), "__name__", None), (name, one)
import asyncio, numpy as np, scipy.linalg, scipy.optimize, scipy.special, sklearn.linear_model
assert asyncio.run(asyncio.sleep(0, "slept")) == "slept"
if find_spec("narwhals"):  # scikit-learn 1.7 does not need it
    import narwhals.stable.v2 as nw
    assert not nw.dependencies.is_into_dataframe(np.zeros(2)) and nw.from_native is not None
if find_spec("psutil"):  # a library of dask's
    import psutil
    assert psutil.Process().pid > 0
assert scipy.linalg.norm([3.0, 4.0]) == 5.0
assert abs(scipy.optimize.brentq(lambda x: x - 1.0, 0.0, 3.0) - 1.0) < 1e-9
assert scipy.special.expit(0.0) == 0.5 and scipy.special.comb(4, 2) == 6.0
model = sklearn.linear_model.LogisticRegression().fit([[0.0], [1.0]], [0, 1])
assert model.predict([[1.0]]).tolist() == [1]
try:
    scipy.linalg.nothing
except AttributeError as error:
    assert "nothing" in str(error)
else:
    raise AssertionError
"""
    in_new_process(code, tmp_path)


def test_threads_that_use_a_deferred_module_at_once_wait_for_it(tmp_path):
    code = """
from threading import Barrier, Thread
from headcount.cli.deferred import defer_slow_imports
defer_slow_imports()
import scipy.optimize
barrier, found = Barrier(4), []
def use():
    barrier.wait()
    found.append(scipy.optimize.minimize_scalar(lambda x: (x - 1.0) ** 2).x)
threads = [Thread(target=use) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert len(found) == 4 and all(abs(x - 1.0) < 1e-6 for x in found), found
"""
    in_new_process(code, tmp_path)


def test_a_process_that_uses_them_already_is_left_alone():
    before = gc.get_threshold(), list(sys.meta_path), sys.modules["pandas"]
    defer_slow_imports()
    assert (gc.get_threshold(), list(sys.meta_path), sys.modules["pandas"]) == before
