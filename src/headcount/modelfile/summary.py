"""What is in a model file, told from its manifest: no object of it is made, and no learner is imported."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headcount.exceptions import FileFormatError
from headcount.modelfile.archive import BODY, NODES, json_nodes, schema_of, unpacked
from headcount.modelfile.arrays import array_from
from headcount.modelfile.columns import Columns
from headcount.modelfile.manifest import class_numbers, columns_of, described

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
    def ordered(self) -> bool:
        """Whether the order of the classes means something."""
        return bool(self.description["ordered"])

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

    All checksums are verified, and that the manifest is about the model beside it. Of a file of version 1 or 2, what can't be told
    in this way is told by `load_model`.

    Examples
    --------
    >>> read_summary("nothing.headcount")
    Traceback (most recent call last):
    headcount.exceptions.DataError: There is no file nothing.headcount.
    """
    path = Path(path)
    manifest, members = unpacked(path)
    columns = columns_of(manifest, path)
    if NODES in members:
        if not _agrees(json_nodes(members[NODES], path), members, manifest):
            raise FileFormatError(f"{path} is damaged: manifest and quantifier do not agree. Make the model again.")
        return ModelSummary(columns, _description(manifest))
    from headcount.modelfile.earlier_summary import is_plain

    if is_plain(schema_of(members[BODY], path), members[BODY], manifest):
        return ModelSummary(columns, _description(manifest))
    from headcount.modelfile.files import load_model

    model = load_model(path)
    versions = {name: manifest.get(name) for name in ("headcount", "libraries")}
    return ModelSummary(columns, described(model, model.written) | versions)


def _description(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return what a manifest says of the model; whether its classes are ordered, which earlier ones do not say, is told from it."""
    description = {name: value for name, value in manifest.items() if name != "members"}
    numbers = class_numbers(manifest["classes"])
    parameters = manifest.get("parameters")
    given = isinstance(parameters, dict) and parameters.get("classes") is not None
    return {"ordered": given or numbers is not None, "values": numbers} | description


def _agrees(nodes: list[Any], members: dict[str, bytearray], manifest: dict[str, Any]) -> bool:
    """Whether the quantifier that the last node names has the method and the classes of the manifest."""
    try:
        quantifier = nodes[nodes[-1]["quantifier"]["node"]]
        method = quantifier["class"].rpartition(".")[2]
        if quantifier["type"] == "trusted":
            return bool(method == manifest["method"])
        classes = dict(quantifier["learnt"]["dict"])["classes_"]
        named = (
            classes["objects"]["items"]
            if "objects" in classes
            else array_from(members[f"{classes['array']}.npy"]).tolist()
        )
        return bool(method == manifest["method"] and named == manifest["classes"])
    except (LookupError, TypeError, ValueError, AttributeError):
        return False
