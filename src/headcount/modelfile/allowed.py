"""The types that a model file may name. A file that names any other is refused before an object is made."""

from collections.abc import Iterable, Iterator
from typing import Any

from headcount._renamed import RENAMED
from headcount.exceptions import FileFormatError
from headcount.modelfile.body import KNOWN_LOADERS

__all__ = ["LISTED_TYPES", "allowed_types", "check_types", "nodes_of", "renamed_types"]

_HEADCOUNT = {
    "headcount.features.table_columns": ("TableColumns",),
    "headcount.features.term_weights": ("TermWeights",),
    "headcount.features.tfidf": ("LogTfidf",),
    "headcount.learners.black_box": ("BlackBox",),
    "headcount.learners.boosting": ("BoostedTrees",),
    "headcount.learners.fold_classifiers": ("FoldClassifiers",),
    "headcount.learners.folds_besides": ("FoldsBesides",),
    "headcount.learners.linear.classifiers": ("NewtonLinearSVC", "NewtonLogisticRegression"),
    "headcount.learners.outputs": ("Outputs",),
    "headcount.learners.svmperf.classifier": ("SVMperf",),
    "headcount.learners.temperature": (
        "BiasCorrectedTemperature",
        "NoBiasVectorScaling",
        "TemperatureScaling",
        "VectorScaling",
    ),
    "headcount.learners.vote": ("Vote",),
    "headcount.quantifiers.meta.similarity": ("PosteriorSimilarity",),
}
_SCIKIT_LEARN = {
    "sklearn.calibration": ("CalibratedClassifierCV", "_CalibratedClassifier", "_SigmoidCalibration"),
    "sklearn.decomposition._truncated_svd": ("TruncatedSVD",),
    "sklearn.ensemble._forest": ("ExtraTreesClassifier", "RandomForestClassifier"),
    "sklearn.frozen._frozen": ("FrozenEstimator",),
    "sklearn.impute._base": ("SimpleImputer",),
    "sklearn.linear_model._logistic": ("LogisticRegression",),
    "sklearn.naive_bayes": ("GaussianNB", "MultinomialNB"),
    "sklearn.pipeline": ("Pipeline",),
    "sklearn.preprocessing._data": ("StandardScaler",),
    "sklearn.preprocessing._label": ("LabelBinarizer", "LabelEncoder"),
    "sklearn.svm._classes": ("LinearSVC",),
    "sklearn.tree._classes": ("DecisionTreeClassifier", "ExtraTreeClassifier"),
    "sklearn.tree._tree": ("Tree",),
}
_PLAIN = {
    "builtins": ("bool", "dict", "float", "int", "list", "NoneType", "set", "str", "tuple"),
    "numpy": ("bool", "bool_", "dtype", "float32", "float64", "int32", "int64", "intp", "ndarray", "str_"),
    "scipy.sparse._csr": ("csr_matrix", "csr_array"),
    "numpy.random.mtrand": ("RandomState",),
}
_NESTED = frozenset((dict, list))
LISTED_TYPES = frozenset(
    f"{module}.{name}"
    for part in (_HEADCOUNT, _SCIKIT_LEARN, _PLAIN)
    for module, names in part.items()
    for name in names
)


def allowed_types() -> frozenset[str]:
    """Return the paths of all types that a model file may name: a fixed list, and the quantifiers in the catalogue."""
    from headcount.quantifiers import registered_types

    quantifiers = {f"{one.__module__}.{one.__qualname__}" for one in registered_types()}
    return LISTED_TYPES | quantifiers


def renamed_types(schema: Any) -> Any:
    """Return a schema in which classes that have moved since it was written are named by their new path."""
    for node in nodes_of(schema):
        path = RENAMED.get(f"{node.get('__module__')}.{node.get('__class__')}")
        if path is not None:
            node["__module__"], _, node["__class__"] = path.rpartition(".")
    return schema


def check_types(schema: Any, path: Any) -> list[str]:
    """Raise if the schema of a skops file names a type, or a way to make one, that is not allowed; return the types named."""
    named: set[str] = set()
    for node in nodes_of(schema):
        named.add(f"{node.get('__module__')}.{node.get('__class__')}")
        loader = node.get("__loader__")
        if not isinstance(loader, str) or loader not in KNOWN_LOADERS:
            raise FileFormatError(
                f"{path} is refused: it asks for an object made by {loader!r:.100}, which no model of Headcount holds."
            )
    strange = sorted(named - allowed_types())
    if strange:
        from headcount._validation import quoted

        raise FileFormatError(
            f"{path} is refused: it holds {quoted(strange)}, which no model of Headcount holds. Nothing of it was loaded."
        )
    return sorted(named)


def nodes_of(part: Any) -> Iterator[dict[str, Any]]:
    """Yield each part of a schema, as parsed from JSON, that stands for an object."""
    waiting = [part]
    while waiting:
        node = waiting.pop()
        if type(node) is list:
            waiting += [item for item in node if type(item) in _NESTED]
            continue
        if type(node) is not dict:
            continue
        if "__loader__" in node or "__class__" in node:
            yield node
        values: Iterable[Any] = node.values()
        if node.get("__loader__") == "DictNode" and type(node.get("content")) is dict:
            waiting += node["content"].values()  # its keys are a user's, and may be any words
            values = [value for key, value in node.items() if key != "content"]
        for value in values:
            if type(value) in _NESTED:
                waiting.append(value)
