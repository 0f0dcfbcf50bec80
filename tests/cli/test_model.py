"""Which model a command uses: a model file, a scored table or a confusion matrix."""

import pickle
import zipfile

from sklearn.neighbors import KNeighborsClassifier

from headcount import PACC
from headcount.modelfile import Columns, Model, save_model
from tests.conftest import blobs


def test_options_of_scores_are_refused_with_a_confusion_matrix(tmp_path, refused):
    (tmp_path / "matrix.csv").write_text("true,a,b\na,80,20\nb,20,80\n")
    (tmp_path / "counts.csv").write_text("class,count\na,500\nb,500\n")
    for more in (("--scored", "--label", "y"), ("--decisions", "d"), ("--dask", "tcp://127.0.0.1:1")):
        refused("--confusion takes a matrix and counts", "estimate", "--confusion", "matrix.csv", "counts.csv", *more)


def test_a_model_file_with_a_pickle_is_refused(model, refused):
    content = model.read_bytes()
    with zipfile.ZipFile(model, "a") as archive:
        archive.writestr("extra.pkl", pickle.dumps({"a": 1}))
    refused("m.headcount is refused: besides a model it holds 'extra.pkl'", "estimate", "m.headcount", "new.csv")
    refused("is refused", "inspect", "m.headcount")
    model.write_bytes(pickle.dumps([1]))
    refused("is not a model file", "estimate", "m.headcount", "new.csv")
    refused("new.csv is not a model file. Make one with 'headcount fit'", "estimate", "new.csv", "new.csv")
    (model.parent / "cut.headcount").write_bytes(content[: len(content) // 2])
    refused("is a model file that ends in the middle or is damaged", "estimate", "cut.headcount", "new.csv")


def test_a_model_with_objects_of_other_packages_needs_trust(tmp_path, run, refused):
    X, y = blobs(90, 2, 0)
    model = Model(
        PACC(KNeighborsClassifier(), validation=2, random_state=0).fit(X, y), Columns("numbers", tuple("abcd"), "y")
    )
    save_model(model, tmp_path / "m.headcount", trust=True)
    (tmp_path / "new.csv").write_text("\n".join(["a,b,c,d", *(",".join(map(str, x)) for x in X)]) + "\n")
    refused("if you made the file yourself, add --trust", "estimate", "m.headcount", "new.csv")
    code, out, _ = run("estimate", "m.headcount", "new.csv", "--trust")
    assert (code, "95 % interval" in out) == (0, True)
    code, out, _ = run("inspect", "m.headcount")
    assert "KNeighborsClassifier: reading it runs code of other packages, and needs --trust" in out
