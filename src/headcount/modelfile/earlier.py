"""Read the models of versions 1 and 2 of the format, which skops wrote: types of a fixed list, checked as those of version 3."""

import warnings
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

from headcount.exceptions import FileFormatError, HeadcountWarning
from headcount.learners.outputs import Outputs
from headcount.modelfile.allowed import check_types, renamed_types
from headcount.modelfile.archive import schema_of
from headcount.modelfile.body import KNOWN_PROTOCOLS, make_object
from headcount.modelfile.checks import UnsoundError, need
from headcount.modelfile.codecs.held import Held, check_held
from headcount.modelfile.codecs.quantifiers import check_quantifier

__all__ = ["held_by"]

_NAMES = ("quantifier", "reference", "reference_codes", "item_rows", "item_features")


def held_by(body: bytes | bytearray, path: Path, manifest: dict[str, Any]) -> Held:
    """Make what a checked body holds; each type is looked up on the list again."""
    from sklearn.exceptions import InconsistentVersionWarning

    schema = schema_of(body, path)
    types = check_types(renamed_types(schema), path)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            made = _made_by_loaders(schema, body, types)
            need(isinstance(made, dict), "it holds no fitted quantifier")
            held = Held(**{name: made.get(name) for name in _NAMES})
            for outputs in (getattr(held.quantifier, "validation_outputs_", None), held.reference):
                if isinstance(outputs, Outputs):
                    outputs.__post_init__()  # its own checks, which making it without a call of the constructor passes by
            check_held(held)
            check_quantifier(held.quantifier)
    except UnsoundError as error:
        raise FileFormatError(f"{path} is damaged: {error}. Make the model again.") from error
    except Exception as error:
        raise FileFormatError(
            f"{path} is damaged: its model can't be made ({type(error).__name__}: {error}). Make it again."
        ) from error
    if any(issubclass(one.category, InconsistentVersionWarning) for one in caught):
        warnings.warn(
            f"{path} was written with scikit-learn {manifest.get('libraries', {}).get('scikit-learn')}, another version than the "
            "one here: its answers may differ. Make the model again to be sure.",
            HeadcountWarning,
            stacklevel=4,
        )
    return held


def _made_by_loaders(schema: Any, body: bytes | bytearray, types: list[str]) -> Any:
    if schema.get("protocol") not in KNOWN_PROTOCOLS:
        raise UnsoundError(
            f"it was written by a version of skops that is not known (protocol {schema.get('protocol')!r})"
        )
    with zipfile.ZipFile(BytesIO(body)) as archive:
        return make_object(schema, archive, frozenset(types))
