"""Model files of version 3 that `save_model` would not write: each is refused with a sentence, at little cost."""

import io
import json
import os
import tracemalloc
import warnings
import zipfile
from functools import cache

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from headcount import PACC, SLD, HDy, LogTfidf, TableColumns
from headcount.exceptions import DataError, FileFormatError
from headcount.features import TermWeights
from headcount.learners import BlackBox, BoostedTrees
from headcount.modelfile import Columns, Model, load_model, read_summary, save_model
from headcount.modelfile.checks import UnsoundError
from headcount.tables import ColumnRole
from headcount.tables.records import record_type
from tests.conftest import blobs
from tests.modelfile.forging import forge, learnt, members_of, repack, set_learnt
from tests.modelfile.test_codecs import again
from tests.modelfile.test_modelfile import assert_refused, fit_model, texts


@cache
def content_of(kind):
    """Return the bytes of a model file of a kind; models are fitted once."""
    X, y = blobs(90, 3, 0)
    methods = {
        "forest": PACC(RandomForestClassifier(3, random_state=0), validation=2, random_state=0),
        "boosting": PACC(BoostedTrees(n_rounds=2), validation=2, random_state=0),
        "linear": PACC(LogisticRegression(), validation=2, random_state=0),
        "sld": SLD(LogisticRegression(), calibration="bcts", validation=2, random_state=0),
    }
    if kind in methods:
        model = fit_model(methods[kind], X, y)
    elif kind == "hdy":
        model = fit_model(HDy(LogisticRegression(), validation=2, random_state=0), X[y < 2], y[y < 2])
    else:
        items, labels = texts(120)
        classifier = make_pipeline(LogTfidf(1) if kind == "text" else TermWeights(1), LogisticRegression())
        model = fit_model(PACC(classifier, validation=2, random_state=0), items, labels, "text", ("t",))
    out = io.BytesIO()
    out.write(saved(model))
    return out.getvalue()


def saved(model):
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        save_model(model, Path(folder) / "m.headcount")
        return (Path(folder) / "m.headcount").read_bytes()


@pytest.fixture
def file(tmp_path):
    def write(kind, change=None):
        path = tmp_path / "m.headcount"
        path.write_bytes(content_of(kind))
        if change is not None:
            forge(path, change)
        return path

    return write


def change_array(kind, name, change):
    """Return a change that replaces an array that a node has learnt."""

    def changed(nodes, arrays):
        value = learnt(nodes, kind)[0][name]["array"]
        arrays[value] = change(arrays[value])

    return changed


def put(index, value):
    def changed(array):
        array = array.copy()
        array[index] = value
        return array

    return changed


def test_what_is_not_changed_is_read(file):
    for kind in ("forest", "boosting", "linear", "sld", "hdy", "text", "terms"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            load_model(file(kind, lambda nodes, arrays: None))


FITTED = "random forest"


@pytest.mark.parametrize(
    ("kind", "change", "words"),
    [
        ("forest", change_array(FITTED, "left_", put(0, 10**6)), "left_ holds numbers out of range"),
        ("forest", change_array(FITTED, "right_", put(0, -7)), "right_ holds numbers out of range"),
        ("forest", change_array(FITTED, "left_", put(0, 0)), "leads back"),
        ("forest", change_array(FITTED, "feature_", put(0, 4)), "feature_ holds numbers out of range"),
        ("forest", change_array(FITTED, "feature_", put(0, -3)), "feature_ holds numbers out of range"),
        ("forest", change_array(FITTED, "feature_", lambda a: a[:-1]), "not an array of"),
        ("forest", change_array(FITTED, "threshold_", put(0, np.nan)), "threshold_ holds values that are no numbers"),
        ("forest", change_array(FITTED, "threshold_", lambda a: a.astype(np.float32)), "not 64 bits wide"),
        ("forest", change_array(FITTED, "shares_", put((0, 0), -1.0)), "do not sum to 1"),
        ("forest", change_array(FITTED, "shares_", lambda a: a[:, :2]), "shares_ is not an array"),
        ("forest", change_array(FITTED, "roots_", lambda a: np.zeros(300_000, dtype=np.int64)), "names a tree twice"),
        ("forest", change_array(FITTED, "roots_", put(2, 10**9)), "roots_ holds numbers out of range"),
        ("forest", change_array(FITTED, "missing_left_", lambda a: a.astype(np.int8)), "missing_left_ is not an array"),
        ("boosting", change_array("boosted trees", "left_", put(0, 0)), "leads back"),
        ("boosting", change_array("boosted trees", "feature_", put(0, 99)), "feature_ holds numbers out of range"),
        ("boosting", change_array("boosted trees", "value_", lambda a: a[:-1]), "value_ is not an array"),
        ("boosting", change_array("boosted trees", "roots_", lambda a: np.repeat(a, 9**5, axis=0)), "named twice"),
        ("linear", change_array("logistic regression", "coef_", put((0, 0), np.inf)), "not finite"),
        ("linear", change_array("logistic regression", "coef_", lambda a: a[:, :2]), "reads other features"),
        ("linear", change_array("logistic regression", "intercept_", lambda a: a[:1]), "intercept_ is not an array"),
        ("linear", change_array("logistic regression", "classes_", lambda a: a[[0, 0, 1]]), "names a label twice"),
        ("linear", change_array("logistic regression", "classes_", lambda a: a + 7), "has other classes"),
        ("linear", change_array("PACC", "M_", lambda a: a[:, :2]), "M_ is not an array"),
        ("linear", change_array("PACC", "M_", lambda a: a[:2]), "M_ has other rows"),
        ("linear", change_array("PACC", "M_", put((0, 0), np.nan)), "M_ holds values that are not finite"),
        ("linear", change_array("PACC", "validation_codes_", put(0, 99)), "validation_codes_ holds numbers out of"),
        ("linear", change_array("PACC", "validation_codes_", lambda a: a[:4]), "validation_"),
        ("linear", change_array("PACC", "validation_codes_", np.zeros_like), "validation_codes_ lacks a class"),
        ("linear", change_array("PACC", "validation_codes_", lambda a: a.astype(float)), "validation_codes_ is not"),
        ("linear", change_array("PACC", "validation_folds_", put(0, 10**12)), "validation_folds_ holds numbers out of"),
        (
            "linear",
            change_array("PACC", "validation_folds_", lambda a: a.astype(np.uint64)),
            "validation_folds_ is not",
        ),
        ("sld", change_array("SLD", "prior_", lambda a: a[:2]), "prior_ is not an array"),
        ("sld", change_array("SLD", "prior_", put(0, 0.9)), "prior_ does not hold shares"),
        ("text", change_array("log tfidf", "idf_", lambda a: a[:-1]), "idf_ is not an array of floats of shape"),
        ("terms", change_array("term weights", "idf_", put(0, np.nan)), "idf_ holds values that are not finite"),
        ("text", change_array("logistic regression", "coef_", lambda a: a.astype("U9")), "coef_ is not an array"),
    ],
)
def test_arrays_that_no_fit_gives_are_refused(file, kind, change, words):
    assert_refused(file(kind, change), words)


def change_node(kind, change):
    def changed(nodes, arrays):
        change(learnt(nodes, kind)[1], nodes)

    return changed


def set_parameter(kind, name, value):
    def change(node, _):
        node["parameters"]["dict"] = [*(p for p in node["parameters"]["dict"] if p[0] != name), [name, value]]

    return change_node(kind, change)


def share(nodes, arrays):
    """Let votes of two name the vote before them twice each, thirty times."""
    member = next(i for i, node in enumerate(nodes) if node["type"] == "logistic regression" and node["learnt"]["dict"])
    classes = learnt(nodes[member : member + 1], "logistic regression")[0]["classes_"]
    last = nodes.pop()
    for _ in range(30):
        parameters = {"dict": [["classifiers", []]]}
        members = {"dict": [["classes_", classes], ["members_", [{"node": member}, {"node": member}]]]}
        member = len(nodes)
        nodes.append({"type": "vote", "parameters": parameters, "learnt": members})
    nodes.append(last)


def name_often(nodes, arrays):
    """Let the fold classifiers name one forest 300,000 times."""
    node = next(node for node in nodes if node["type"] == "fold classifiers")
    node["parameters"]["dict"][0][1] *= 150_000


def refer_to_itself(nodes, arrays):
    node = next(node for node in nodes if node["type"] == "fold classifiers")
    node["parameters"]["dict"][0][1] = [{"node": nodes.index(node)}]


def nest(nodes, arrays):
    value = 1
    for _ in range(60):
        value = {"tuple": [value]}
    nodes[0]["learnt"] = value


def nest_nodes(nodes, arrays):
    last = nodes.pop()
    start = len(nodes) - 1
    for i in range(60):
        nodes.append({"type": "frozen", "estimator": {"node": start + i}})
    nodes.append(last)


@pytest.mark.parametrize(
    ("kind", "change", "words"),
    [
        ("linear", share, "nested too deeply|refer to each other so often"),
        ("forest", name_often, "refer to each other so often"),
        ("forest", refer_to_itself, "refers to itself or to a later one"),
        ("linear", nest, "nested too deeply"),
        ("linear", nest_nodes, "nested too deeply"),
        ("linear", lambda nodes, arrays: nodes[0].update(type="posix.system"), "holds 'posix.system'"),
        ("linear", lambda nodes, arrays: nodes[0].update(learnt={"made": 1}), "a value is of no kind"),
        ("linear", lambda nodes, arrays: nodes[0].update(learnt={"node": -1}), "refers to itself or to a later one"),
        ("linear", lambda nodes, arrays: nodes.pop(), "manifest and quantifier|no fitted quantifier"),
        ("linear", lambda nodes, arrays: nodes.append({"type": "frozen", "estimator": 3}), "nothing is frozen"),
        ("linear", lambda nodes, arrays: arrays.pop(), "an array is missing"),
        (
            "linear",
            change_node("PACC", lambda node, nodes: node.update({"class": "os.system"})),
            "no method of Headcount",
        ),
        (
            "linear",
            change_node("PACC", lambda node, nodes: node.update({"class": "Nothing"})),
            "no method of Headcount",
        ),
        ("linear", change_node("PACC", lambda node, nodes: node.update({"class": 7})), "has no class"),
        (
            "linear",
            change_node("PACC", lambda node, nodes: node["learnt"]["dict"].append(["predict", 1])),
            "strange attribute",
        ),
        (
            "linear",
            change_node("logistic regression", lambda node, nodes: node["learnt"]["dict"].append(["predict", 1])),
            "unknown attributes",
        ),
        (
            "linear",
            change_node("PACC", lambda node, nodes: set_learnt(node, "validation_outputs_", None)),
            "validation_outputs_|does not fit",
        ),
        (
            "linear",
            change_node("PACC", lambda node, nodes: set_learnt(node, "classifier_", 3)),
            "a classifier is missing",
        ),
        ("linear", set_parameter("PACC", "validation", -3), "'validation' parameter of PACC must be"),
        ("linear", set_parameter("PACC", "made_up", 1), "has no parameter"),
        ("sld", set_parameter("SLD", "max_iter", 10**18), "more than the 1,000,000"),
        ("hdy", set_parameter("HDy", "n_candidates", 10**12), "more than the 100,000"),
        ("hdy", set_parameter("HDy", "bins", [10**9]), "M_ has other rows"),
        ("linear", set_parameter("logistic regression", "made_up", 1), None),
    ],
)
def test_nodes_that_no_model_has_are_refused(file, kind, change, words):
    path = file(kind, change)
    if words is None:
        with pytest.warns(UserWarning, match="made_up.*a new fit would not use them"):
            load_model(path)
    else:
        assert_refused(path, words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda parts: parts.update(columns=10**12), "too wide"),
        (lambda parts: parts.update(columns=1), "columns of a sparse matrix holds numbers out of range"),
        (lambda parts: parts.update(indptr=parts["indices"]), "rows of a sparse matrix"),
        (lambda parts: parts.update(data=parts["indptr"]), "columns of a sparse matrix is not"),
    ],
)
def test_sparse_matrices_beyond_their_shape_are_refused(file, change, words):
    assert_refused(file("text", lambda nodes, arrays: change(nodes[-1]["item_features"]["csr"])), words)


def test_columns_of_a_sparse_matrix_out_of_range_are_refused(file):
    def change(nodes, arrays):
        arrays[nodes[-1]["item_features"]["csr"]["indices"]][0] = 10**8

    assert_refused(file("text", change), "columns of a sparse matrix holds numbers out of range")


def test_coefficients_of_other_terms_than_there_are_are_refused(file):
    def change(nodes, arrays):
        learned, node = learnt(nodes, "logistic regression")
        array = learned["coef_"]["array"]
        arrays[array] = np.tile(arrays[array], 2)
        set_learnt(node, "n_features_in_", arrays[array].shape[1])

    assert_refused(file("text", change), "a step of a pipeline reads other features")


def header(text):
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not in numpy's format"),
        (b"\x93NUMPY\x03\x00", "not in numpy's format"),
        (header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000,)}"), "larger or smaller"),
        (header(b"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}") + bytes(8), "type or shape that no model"),
        (header(b"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}") + bytes(8), "type or shape"),
        (header(b"{'descr': '<U0', 'fortran_order': False, 'shape': (1,)}"), "type or shape"),
        (header(b"{'descr': '>f8', 'fortran_order': False, 'shape': (1,)}") + bytes(8), "type or shape"),
        (header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}") + bytes(8), "type or shape"),
        (header(b"{'descr': '|b1', 'fortran_order': False, 'shape': (1,)}") + b"\7", "truth values holds other"),
        (header(b"__import__('os').system('touch planted')"), "can't be read"),
        (header(b"(" * 900), "can't be read"),
    ],
)
def test_arrays_that_lie_are_refused(file, content, words):
    path = file("linear")
    number = learnt(json.loads(members_of(path)["model.json"])["nodes"], "PACC")[0]["M_"]["array"]
    repack(path, lambda fields, members: members.update({f"{number}.npy": content}))
    assert_refused(path, words)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "can't be read"),
        (b"[" * 100_000, "can't be read"),
        (b'{"nodes": ' + b"[" * 2_000_000, "far more memory|can't be read"),
        (b'{"nodes": [' + b'{"":0},' * 2_000_000 + b"{}]}", "far more memory"),
        (b'{"nodes": NaN}', "not a number of JSON"),
        (b'{"nodes": [1]}', "holds no nodes"),
        (b'{"nodes": [{"type": "model", "x": ' + b"9" * 10_000 + b"}]}", "can't be read"),
        (b"\xff\xfe", "can't be read"),
    ],
)
def test_nodes_that_are_no_json_or_bombs_are_refused(file, content, words):
    path = file("linear")
    repack(path, lambda fields, members: members.update({"model.json": content}))
    assert_refused(path, words)
    with pytest.raises(FileFormatError):
        read_summary(path)


def test_members_that_are_compressed_or_lie_over_each_other_are_refused(file):
    path = file("forest")
    repack(path, compression=zipfile.ZIP_DEFLATED)
    assert_refused(path, "packed or larger")
    path = file("forest")
    content = bytearray(path.read_bytes())
    start = 0
    while (start := content.find(b"PK\x01\x02", start)) >= 0:
        content[start + 20 : start + 28] = (2**28).to_bytes(4, "little") * 2  # both sizes in the directory of the zip
        start += 4
    path.write_bytes(bytes(content))
    assert_refused(path, "packed or larger")


def test_a_manifest_of_other_members_is_refused(file):
    path = file("linear")
    repack(path, extra=[("999.npy", b"")])
    assert_refused(path, "other members than its manifest names")
    path = file("linear")
    repack(path, lambda fields, members: fields.update(version=2))
    assert_refused(path, "other members than its manifest names")


def test_the_summary_makes_no_object_and_decodes_no_array(file, monkeypatch):
    monkeypatch.setattr("headcount.modelfile.nodes.Unpacker.last", None)
    assert read_summary(file("forest")).learner == "RandomForestClassifier"


@pytest.mark.parametrize("kind", ["forest", "text", "sld"])
def test_reading_takes_at_most_ten_times_the_size_of_the_file(file, kind):
    path = file(kind)
    load_model(path)
    tracemalloc.start()
    try:
        model = load_model(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert model.quantifier is not None
    assert peak < 10 * path.stat().st_size


@cache
def table_content():
    roles = {
        "price": ColumnRole("number", complete=False),
        "region": ColumnRole("category"),
        "sold": ColumnRole("date"),
    }
    records = np.empty(40, record_type(roles))
    records["price"], records["region"] = np.arange(40.0), np.array(["n", "s"] * 20, dtype=object)[:, None]
    records["sold"] = np.datetime64("2026-01-01T10:00:00") + np.arange(40) * np.timedelta64(1, "D")
    classifier = make_pipeline(TableColumns(min_count=1), LogisticRegression())
    fitted = PACC(classifier, validation=2, random_state=0).fit(records, [0] * 20 + [1] * 20)
    return saved(Model(fitted, Columns("mixed", tuple(roles), "y", tuple(roles.values()))))


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("roles_", {"dict": []}, "roles_ names no columns"),
        ("roles_", {"dict": [["price", {"dict": [["kind", "number"]]}]]}, "does not say what columns are"),
        ("texts_", {"dict": [["price", 1]]}, "texts_ names other columns"),
        ("categories_", {"dict": []}, "categories are of other columns"),
        ("categories_", {"dict": [["region", ["n", "n"]]]}, "a column has a category twice"),
        ("further_", {"dict": [["region", ["unknown"]]]}, "further_ names other categories"),
        ("clocks_", ["price"], "clocks_ names other columns"),
        ("weight_", {"float": "nan"}, "weight_ is not a number from"),
        ("coordinate_means_", {"dict": [["price", 1]]}, "coordinates are of other columns"),
        ("n_features_in_", 7, "reads other features than its arrays have"),
    ],
)
def test_columns_of_tables_that_do_not_fit_are_refused(tmp_path, name, value, words):
    path = tmp_path / "m.headcount"
    path.write_bytes(table_content())
    load_model(path)
    forge(path, lambda nodes, arrays: set_learnt(learnt(nodes, "table columns")[1], name, value))
    assert_refused(path, words)


def test_columns_that_the_classifier_does_not_read_are_refused(file):
    path = file("linear")
    repack(path, lambda fields, members: fields["columns"].update(names=["a", "b"]))
    assert_refused(path, "its columns are not those that its classifier reads")
    path = file("linear")
    repack(path, lambda fields, members: fields.update(columns={"kind": "text", "names": ["t"], "label": "y"}))
    assert_refused(path, "its columns are not those that its classifier reads")


def test_pipes_are_no_model_files(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="not a regular file"):
        load_model(tmp_path / "pipe")


def test_answers_of_a_black_box_that_are_no_posteriors_are_refused():
    box = BlackBox(("no", "yes"), (("unsure", (0.5, 0.5)),)).fit()
    assert again(box).answers == box.answers
    for answers in ((("unsure", (0.5,)),), (("unsure", (0.5, 7.0)),), 3, ((1, 2),)):
        with pytest.raises(UnsoundError, match="answer"):
            again(BlackBox(("no", "yes"), answers).fit())


def test_parts_of_other_modules_are_not_made(file):
    for path in (
        "os:system",
        "headcount.quantifiers.base:Quantifier",
        "headcount.quantifiers.sld:np",
        "subprocess:Popen",
    ):
        forged = {"type": "part", "class": path, "state": {"dict": []}}
        assert_refused(
            file("linear", lambda nodes, arrays, forged=forged: nodes.insert(0, forged)), "no method of Headcount"
        )
