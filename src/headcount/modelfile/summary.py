"""What is in a model file, told from its manifest: no object of it is made, and no learner is imported."""

import json
import zipfile
from dataclasses import dataclass
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any

from headcount._renamed import RENAMED
from headcount.modelfile.allowed import LISTED_TYPES, nodes_of
from headcount.modelfile.archive import schema_of, unpacked
from headcount.modelfile.body import KNOWN_LOADERS, make_object
from headcount.modelfile.columns import Columns
from headcount.modelfile.manifest import columns_of, described

__all__ = ["ModelSummary", "read_summary"]


@dataclass(frozen=True)
class ModelSummary:
    """What a model file says of its model.

    Attributes
    ----------
    columns : Columns
    description : dict
        Everything about the model except the fitted quantifier, as `headcount inspect --json` prints it.
    """

    columns: Columns
    description: dict[str, Any]

    @property
    def method(self) -> str:
        """The name of the quantifier's class."""
        return str(self.description["method"])

    @property
    def learner(self) -> str:
        """The name of the classifier's class: of a pipeline, that of its last step."""
        return str(self.description["learner"])

    @property
    def classes(self) -> list[Any]:
        """The classes, in the order of all shares."""
        return list(self.description["classes"])

    @property
    def source(self) -> dict[str, Any]:
        """Name, fingerprint and number of rows of the labelled file, and the shares of its classes."""
        return dict(self.description["source"])

    @property
    def seed(self) -> int | None:
        """The seed that it was made with."""
        return self.description.get("seed")

    @property
    def ranking(self) -> list[dict[str, Any]]:
        """What else was tried, best first."""
        return list(self.description["ranking"])

    @property
    def skipped(self) -> list[dict[str, Any]]:
        """What was not tried, and why."""
        return list(self.description["skipped"])

    @property
    def written(self) -> str:
        """When the file was written."""
        return str(self.description["written"])

    @property
    def versions(self) -> dict[str, str]:
        """Versions of Headcount and of the libraries that it was made with."""
        return {"headcount": self.description.get("headcount", ""), **self.description["libraries"]}


def read_summary(path: str | Path) -> ModelSummary:
    """Tell what is in a model file, without making an object of it.

    All checksums are verified, and that the manifest is about the model beside it. A file with types of other packages, or of
    another version of scikit-learn, is read whole by `load_model`, which warns or refuses.

    Examples
    --------
    >>> read_summary("nothing.headcount")
    Traceback (most recent call last):
    headcount.exceptions.DataError: There is no file nothing.headcount.
    """
    path = Path(path)
    manifest, body = unpacked(path)
    columns = columns_of(manifest, path)
    if _is_plain(schema_of(body, path), body, manifest):
        return ModelSummary(columns, {name: value for name, value in manifest.items() if name != "members"})
    from headcount.modelfile.files import load_model

    model = load_model(path)
    versions = {name: manifest.get(name) for name in ("headcount", "libraries")}
    return ModelSummary(columns, described(model, model.written) | versions)


def _is_plain(schema: Any, body: bytes, manifest: dict[str, Any]) -> bool:
    """Whether a body names only types of this library and of this scikit-learn, and a quantifier that the manifest describes."""
    try:
        quantifier = schema["content"]["quantifier"]
        attributes = quantifier["content"]["content"]
        path = f"{quantifier['__module__']}.{quantifier['__class__']}"
        with zipfile.ZipFile(BytesIO(body)) as archive:
            classes = make_object(attributes["classes_"], archive, LISTED_TYPES)
        installed = json.dumps(version("scikit-learn"))
        agrees = quantifier["__class__"] == manifest["method"] and classes.tolist() == manifest["classes"]
        return bool(
            agrees
            and path.startswith("headcount.quantifiers.")
            and path not in RENAMED
            and all(_is_known(node, {*LISTED_TYPES, path}, installed) for node in nodes_of(schema))
        )
    except Exception:  # whatever is wrong, `load_model` says it
        return False


def _is_known(node: dict[str, Any], types: set[str], installed: str) -> bool:
    """Whether a node has a known loader and type, and its state is of the scikit-learn that is installed."""
    content = node.get("content")
    state = content.get("_sklearn_version") if isinstance(content, dict) else None
    return (
        node.get("__loader__") in KNOWN_LOADERS
        and f"{node.get('__module__')}.{node.get('__class__')}" in types
        and (not isinstance(state, dict) or state.get("content") == installed)
    )
