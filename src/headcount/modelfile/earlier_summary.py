"""Whether the manifest of a model file of version 1 or 2 tells all that reading the model would tell."""

import json
import zipfile
from importlib.metadata import version
from io import BytesIO
from typing import Any

from headcount._renamed import RENAMED
from headcount.modelfile.allowed import LISTED_TYPES, nodes_of
from headcount.modelfile.body import KNOWN_LOADERS, make_object

__all__ = ["is_plain"]


def is_plain(schema: Any, body: bytes | bytearray, manifest: dict[str, Any]) -> bool:
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
