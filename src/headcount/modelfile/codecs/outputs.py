"""Codecs of what is no estimator of features or classes: outputs, ready-made posteriors, calibration, splits, generators."""

from typing import Any

import numpy as np

from headcount.exceptions import DataError
from headcount.modelfile.checks import UnsoundError, check_floats, check_integers, check_labels, check_number, need
from headcount.modelfile.codecs.base import EstimatorCodec, Learnt, class_at

__all__ = ["CODECS"]


class _OutputsCodec:
    tag = "outputs"
    path = "headcount.learners.outputs:Outputs"
    _ARRAYS = ("decisions", "posteriors", "embeddings")

    def fields(self, instance: Any) -> dict[str, Any]:
        """Return what is known of the items."""
        known = {name: getattr(instance, name) for name in (*self._ARRAYS, "features", "folds", "members")}
        given = {name: value for name, value in known.items() if value is not None}
        return {"classes": instance.classes, "n_items": instance.n_items, **given}

    def make(self, fields: Any) -> Any:
        """Make the outputs, which check their arrays themselves."""
        from headcount.learners.outputs import Outputs

        arrays = {name: fields.get(name) for name in self._ARRAYS}
        given = [array for array in arrays.values() if array is not None]
        n_items, features = fields.get("n_items"), fields.get("features")
        parts = {name: fields.get(name) for name in ("folds", "members")}
        need(type(n_items) is int and n_items >= 0, "outputs are of no number of items")
        need(given or features is not None or n_items <= 2**40, "outputs hold nothing")
        need(features is None or getattr(features, "shape", (0,))[:1] == (n_items,), "features are of other items")
        need(
            all(isinstance(array, np.ndarray) and array.dtype.kind in "fi" for array in given),
            "outputs hold no numbers",
        )
        check_labels(fields.get("classes"), "classes")
        for name, several in parts.items():
            sound = isinstance(several, tuple) and several and all(isinstance(one, Outputs) for one in several)
            need(several is None or bool(sound), f"the outputs of {name} are not outputs")
        try:
            return Outputs(fields["classes"], n_items, **arrays, features=features, **parts)
        except DataError as error:
            raise UnsoundError(str(error)) from error


def check_black_box(box: Any) -> None:
    """Raise unless the classes are those of the names, and each further answer has a posterior for each."""
    k = check_labels(box.classes_)
    need(
        isinstance(box.names, tuple | list) and np.asarray(box.names).tolist() == box.classes_.tolist(),
        "classes_ are not names",
    )
    need(isinstance(box.answers, tuple | list), "answers are no pairs")
    for pair in box.answers:
        need(isinstance(pair, tuple | list) and len(pair) == 2 and type(pair[0]) is str, "answers are no pairs")
        need(isinstance(pair[1], tuple | list) and len(pair[1]) == k, "an answer has no posterior for each class")
        for share in pair[1]:
            check_number(share, "a posterior of an answer", 0.0, 1.0 + 1e-9)


class _DesignCodec:
    """How the validation items were drawn. Labelled items have no finite population; what earlier files say of one is not read."""

    tag = "survey design"
    path = "headcount.designs.design:SurveyDesign"
    _ARRAYS = ("weights", "strata", "clusters")

    def fields(self, instance: Any) -> dict[str, Any]:
        """Return the arrays that there are, and the number of items."""
        known = {name: getattr(instance, name) for name in self._ARRAYS}
        return {"n_items": instance.n_items} | {name: value for name, value in known.items() if value is not None}

    def make(self, fields: Any) -> Any:
        """Make the design from checked arrays."""
        from headcount.designs.design import SurveyDesign

        n_items = fields.get("n_items")
        need(type(n_items) is int and n_items > 0, "a survey design is of no number of items")
        weights, strata, clusters = (fields.get(name) for name in self._ARRAYS)
        need(any(one is not None for one in (weights, strata, clusters)), "a survey design is empty")
        if weights is not None:
            check_floats(weights, "weights", (n_items,))
            need(bool((weights > 0.0).all()), "a survey design has a weight that is not above 0")
        for name, codes in (("strata", strata), ("clusters", clusters)):
            if codes is not None:
                check_integers(codes, name, (n_items,), 0, 2**40)
        return SurveyDesign._coded(weights, strata, clusters, None, n_items)


class _CalibrationCodec:
    """Temperature or vector scaling of posteriors."""

    def __init__(self, tag: str, name: str) -> None:
        self.tag, self.path = tag, f"headcount.learners.temperature:{name}"

    def fields(self, instance: Any) -> dict[str, Any]:
        """Return the parameters."""
        return {"theta": instance.theta, "least": float(instance.least)}

    def make(self, fields: Any) -> Any:
        """Make the calibration."""
        check_floats(fields.get("theta"), "theta", (None,))
        check_number(fields.get("least"), "least", 1e-300, 1.0)
        return class_at(self.path)(fields["theta"], fields["least"])


class _FoldsBesidesCodec:
    tag = "folds besides"
    path = "headcount.learners.folds_besides:FoldsBesides"

    def fields(self, instance: Any) -> dict[str, Any]:
        """Return the parameters."""
        return {name: getattr(instance, name) for name in ("test_size", "validation", "random_state")}

    def make(self, fields: Any) -> Any:
        """Make the splitter."""
        from headcount.learners.folds_besides import FoldsBesides

        need(set(fields) == {"test_size", "validation", "random_state"}, "a splitter lacks its parameters")
        check_number(fields["test_size"], "test_size", 0.0, 1.0)
        return FoldsBesides(**fields)


class _SplitterCodec:
    """A splitter of scikit-learn, for a later fit."""

    def __init__(self, tag: str, path: str) -> None:
        self.tag, self.path = tag, path

    def fields(self, instance: Any) -> dict[str, Any]:
        """Return the parameters."""
        return {name: getattr(instance, name) for name in ("n_splits", "shuffle", "random_state")}

    def make(self, fields: Any) -> Any:
        """Make the splitter."""
        from sklearn import model_selection

        kind = getattr(model_selection, self.path.partition(":")[2])
        return kind(fields.get("n_splits"), shuffle=fields.get("shuffle"), random_state=fields.get("random_state"))


class _RandomStateCodec:
    tag = "random state"
    path = "numpy.random.mtrand:RandomState"

    def fields(self, instance: Any) -> dict[str, Any]:
        """Return the state."""
        name, key, *rest = instance.get_state(legacy=True)
        need(name == "MT19937", "a generator is of another kind than MT19937")
        return {"key": key, "rest": rest}

    def make(self, fields: Any) -> Any:
        """Make the generator."""
        key, rest = fields.get("key"), fields.get("rest")
        need(isinstance(key, np.ndarray) and key.dtype == np.uint32 and key.shape == (624,), "a generator has no state")
        need(
            isinstance(rest, list) and len(rest) == 3 and type(rest[0]) is int and 0 <= rest[0] <= 624,
            "a generator has no state",
        )
        need(rest[1] in (0, 1) and type(rest[2]) is float, "a generator has no state")
        state = np.random.RandomState(0)
        state.set_state(("MT19937", key, *rest))
        return state


class _GeneratorCodec:
    tag = "random generator"
    path = "numpy.random._generator:Generator"

    def fields(self, instance: Any) -> dict[str, Any]:
        """Return the state."""
        state = instance.bit_generator.state
        need(state["bit_generator"] == "PCG64", "a generator is of another kind than PCG64")
        numbers = state["state"]["state"], state["state"]["inc"], state["has_uint32"], state["uinteger"]
        return {"state": [str(number) for number in numbers]}

    def make(self, fields: Any) -> Any:
        """Make the generator."""
        numbers = fields.get("state")
        need(isinstance(numbers, list) and len(numbers) == 4, "a generator has no state")
        need(all(type(one) is str and one.isdecimal() and len(one) < 40 for one in numbers), "a generator has no state")
        state, inc, has, last = map(int, numbers)
        need(state < 2**128 and inc < 2**128 and has < 2 and last < 2**32, "a generator has no state")
        generator = np.random.default_rng(0)
        generator.bit_generator.state = {
            "bit_generator": "PCG64",
            "state": {"state": state, "inc": inc},
            "has_uint32": has,
            "uinteger": last,
        }
        return generator


CODECS = (
    _OutputsCodec(),
    _DesignCodec(),
    EstimatorCodec("black box", "headcount.learners.black_box:BlackBox", Learnt(("classes_",)), check_black_box),
    _CalibrationCodec("bias-corrected temperature", "BiasCorrectedTemperature"),
    _CalibrationCodec("temperature scaling", "TemperatureScaling"),
    _CalibrationCodec("vector scaling", "VectorScaling"),
    _CalibrationCodec("no-bias vector scaling", "NoBiasVectorScaling"),
    _FoldsBesidesCodec(),
    _SplitterCodec("k-fold", "sklearn.model_selection._split:KFold"),
    _SplitterCodec("stratified k-fold", "sklearn.model_selection._split:StratifiedKFold"),
    _RandomStateCodec(),
    _GeneratorCodec(),
)
