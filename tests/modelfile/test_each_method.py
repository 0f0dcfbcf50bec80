"""A forged file of any method in the catalogue is refused with a sentence, or does no harm: shares, or a sentence."""

import io
import json

import numpy as np
import pytest

from headcount import ACC, NewtonLogisticRegression
from headcount.exceptions import HeadcountError
from headcount.intervals import estimate
from headcount.modelfile import Columns, Model, load_model, save_model
from headcount.modelfile.checks import UnsoundError
from headcount.modelfile.codecs.quantifiers import check_quantifier, learnt_names
from tests.conftest import blobs
from tests.laws.test_quantifiers import METHODS, limit_classes, make
from tests.modelfile.forging import members_of, repack

ALL = [kind for kind in METHODS if kind.__name__ not in ("QuaNet", "QuantifierSearch")]
"""QuaNet: tests/modelfile/test_networks.py; a search is saved as what it has chosen."""
OTHER_VALUES = {"null": None, "number": 10**9, "list": []}


def number(array, integer, real):
    return np.full_like(array, integer if array.dtype.kind in "iu" else real)


CHANGES = {
    "shorter": lambda a: a[:-1],
    "another axis": lambda a: a[..., None],
    "narrower": lambda a: a[..., :1],
    "wider": lambda a: np.concatenate([a] * 50, axis=-1),
    "zeros": np.zeros_like,
    "minus one": lambda a: number(a, -1, -1.0) if a.dtype.kind != "u" else a,
    "huge": lambda a: number(a, 2**31 - 1, 1e300),
    "tiny": lambda a: number(a, 1, 1e-320),
    "nan": lambda a: number(a, 7, np.nan),
    "truth values": lambda a: a.astype(bool),
}


def fitted(kind, k=2):
    X, y = blobs(48, k, 0)
    X, new = (np.abs(values).round() if "features" in kind().needs else values for values in (X, blobs(16, k, 5)[0]))
    return make(kind, NewtonLogisticRegression()).fit(X, y), new


def forged(path, change):
    """Write the file with nodes and arrays, by number, that ``change`` has changed; an array may be of any type."""

    def changed(_, members):
        nodes = json.loads(members["model.json"])["nodes"]
        change(nodes, members)
        members["model.json"] = json.dumps({"nodes": nodes}).encode()

    repack(path, changed)


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def arrays_of(value):
    """Yield the numbers of the arrays that a value refers to."""
    if isinstance(value, dict) and set(value) == {"array"}:
        yield value["array"]
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from arrays_of(one)


def harm(path, new):
    """Return what a file does beside giving shares and saying sentences: the error, or shares that are none."""
    try:
        quantifier = load_model(path).quantifier
        with np.errstate(all="ignore"):
            shares = quantifier.predict(new)
            assert np.isfinite(shares).all(), f"shares {shares}"
            assert abs(shares.sum() - 1.0) < 1e-6, f"shares {shares}"
            if quantifier.has_interval:
                estimate(quantifier, new)
    except HeadcountError:
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=[pytest.mark.kernels] if "kernel_methods" in kind.__module__ else []) for kind in ALL],
)
def test_forged_arrays_and_attributes_do_no_harm(tmp_path, kind):
    quantifier, new = fitted(kind)
    path = tmp_path / "m.headcount"
    save_model(Model(quantifier, Columns("numbers", ("a", "b", "c", "d"), "y")), path)
    content, nodes = path.read_bytes(), json.loads(members_of(path)["model.json"])["nodes"]
    assert harm(path, new) == ""
    own = [i for i, node in enumerate(nodes) if node["type"] == "quantifier" and node.get("class") == kind.__name__][-1]
    entries = nodes[own]["learnt"]["dict"]
    found = {}
    for place, (name, _) in enumerate(entries):
        if name == "classifier_":
            continue
        for what, value in {"removed": ..., **OTHER_VALUES}.items():

            def change(nodes, _, place=place, value=value):
                changed = nodes[own]["learnt"]["dict"]
                if value is ...:
                    del changed[place]
                else:
                    changed[place][1] = value

            path.write_bytes(content)
            forged(path, change)
            found[name, what] = harm(path, new)
    numbers = {number: name for name, value in entries for number in arrays_of(value)}
    for number_of_array, name in numbers.items():
        if name.startswith(("validation_", "classes_")) and kind is not ACC:
            continue
        array = np.load(io.BytesIO(members_of_content(content)[f"{number_of_array}.npy"]))
        for what, alter in CHANGES.items():
            try:
                other = npy(alter(array))
            except (IndexError, ValueError):
                continue
            path.write_bytes(content)
            forged(path, lambda _, members, key=f"{number_of_array}.npy", other=other: members.update({key: other}))
            found[name, what] = harm(path, new)
    assert {key: what for key, what in found.items() if what} == {}


def members_of_content(content):
    return members_of(io.BytesIO(content))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ALL)
def test_each_fit_learns_what_the_classes_of_a_method_annotate(kind):
    quantifier = fitted(kind, limit_classes(kind, 3))[0]
    assert learnt_names(kind) <= set(vars(quantifier))
    for name in learnt_names(kind) - {"classes_", "classifier_"}:
        value = vars(quantifier).pop(name)
        with pytest.raises(UnsoundError, match=r"lacks .*which each fit learns"):
            check_quantifier(quantifier)
        setattr(quantifier, name, value)
    check_quantifier(quantifier)
