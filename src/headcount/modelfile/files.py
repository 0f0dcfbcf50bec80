"""Write a model to a file, completely or not at all, and read it back without running any code from it."""

import warnings
import zipfile
from copy import copy
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from headcount._writing import write_all
from headcount.exceptions import DataError, FileFormatError, HeadcountWarning
from headcount.learners import Outputs
from headcount.modelfile.allowed import check_types, renamed_types
from headcount.modelfile.archive import BODY, MANIFEST, schema_of, unpacked
from headcount.modelfile.body import KNOWN_PROTOCOLS, make_object
from headcount.modelfile.manifest import columns_of, described, sealed
from headcount.modelfile.model import Model
from headcount.quantifiers import Quantifier
from headcount.quantifiers.catalogue import ENTRY_POINTS

__all__ = ["load_model", "save_model"]


def save_model(model: Model, path: str | Path) -> None:
    """Write a model file, completely or not at all.

    Parameters
    ----------
    model : Model
        A fitted quantifier, with the columns that it reads.
    path : str or Path

    Examples
    --------
    >>> import tempfile
    >>> from headcount import PACC
    >>> from headcount.modelfile import Columns, Model
    >>> quantifier = PACC(random_state=0).fit([[x] for x in range(40)], [0] * 20 + [1] * 20)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "m.headcount"
    ...     save_model(Model(quantifier, Columns("numbers", ("x",), "y")), path)
    ...     load_model(path)
    Model(PACC over NewtonLogisticRegression, 2 classes, numbers)
    """
    import skops.io

    path = Path(path)
    if not isinstance(model, Model):
        raise DataError(
            f"save_model takes a Model, not {type(model).__name__}: Model(quantifier, Columns('text', ('review',), 'stars')) says "
            "which columns it reads."
        )
    written = datetime.now(UTC).isoformat(timespec="seconds")
    codes = model.reference_codes
    body = BytesIO()
    held = {"quantifier": _without_items(model.quantifier), "reference": model.reference, "reference_codes": codes}
    rows, features = model.kept_items() or (None, None)
    held |= {"item_rows": rows, "item_features": features}
    skops.io.dump(held, body, compression=zipfile.ZIP_DEFLATED)
    members = {BODY: body.getvalue()}
    _check_own_types(members[BODY], path)
    whole = BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(MANIFEST, sealed(described(model, written), members))
        archive.writestr(BODY, members[BODY])
    write_all({path: whole.getvalue()})


def _without_items(quantifier: Quantifier) -> Quantifier:
    """Return the quantifier without the validation items: a file holds what was learnt from them, and features of some."""
    kept = copy(quantifier)
    if getattr(kept, "validation_items_", None) is not None:
        kept.validation_items_ = None
    return kept


def _check_own_types(body: bytes, path: Path) -> None:
    """Raise if the model that is about to be written could not be read again."""
    try:
        check_types(schema_of(body, path), path)
    except FileFormatError as error:
        reason = str(error).removeprefix(f"{path} is refused: it ").partition(", which")[0]
        raise DataError(
            f"This model can't be kept in a file: it {reason}, which is not among the types that are safe to load. Use one of "
            "scikit-learn's learners that `headcount fit` offers; a method of your own must be named by its package under the "
            f"entry point {ENTRY_POINTS!r}, so that another process can find it."
        ) from error


def load_model(path: str | Path) -> Model:
    """Read a model file; a file that `save_model` could not have written is refused with a sentence before any of it is used.

    Examples
    --------
    >>> load_model("nothing.headcount")
    Traceback (most recent call last):
    headcount.exceptions.DataError: There is no file nothing.headcount.
    """
    path = Path(path)
    manifest, body = unpacked(path)
    columns = columns_of(manifest, path)
    held = _made(body, path, manifest)
    quantifier = held.get("quantifier") if isinstance(held, dict) else None
    classes = getattr(quantifier, "classes_", None)
    is_fitted = isinstance(quantifier, Quantifier) and (
        quantifier.needs <= {"features"} or hasattr(quantifier, "classifier_")
    )
    if not is_fitted or not isinstance(quantifier, Quantifier) or not isinstance(classes, np.ndarray):
        raise FileFormatError(f"{path} is damaged: it holds no fitted quantifier. Make the model again.")
    reference, codes = held.get("reference"), held.get("reference_codes")
    if (reference is None) != (codes is None) or (
        reference is not None and not (isinstance(reference, Outputs) and np.shape(codes) == (reference.n_items,))
    ):
        raise FileFormatError(
            f"{path} is damaged: what it holds of labelled items does not fit together. Make it again."
        )
    rows, features = held.get("item_rows"), held.get("item_features")
    if not _items_fit(rows, features, getattr(quantifier, "validation_codes_", None)):
        raise FileFormatError(f"{path} is damaged: what it holds of items does not fit together. Make it again.")
    if classes.tolist() != manifest["classes"] or type(quantifier).__name__ != manifest["method"]:
        raise FileFormatError(f"{path} is damaged: manifest and quantifier do not agree. Make the model again.")
    return Model(
        quantifier,
        columns,
        reference,
        codes,
        manifest["source"],
        manifest.get("seed"),
        manifest.get("ranking", []),
        manifest.get("skipped", []),
        manifest.get("written", ""),
        {"headcount": manifest.get("headcount", ""), **manifest.get("libraries", {})},
        rows,
        features,
    )


def _items_fit(rows: Any, features: Any, codes: Any) -> bool:
    """Whether rows of held-out items and their features, if there are any, are of the same items."""
    if rows is None and features is None:
        return True
    known = isinstance(rows, np.ndarray) and isinstance(codes, np.ndarray) and getattr(features, "ndim", 0) == 2
    return bool(
        known
        and rows.ndim == 1
        and rows.dtype.kind == "i"
        and features.shape[0] == len(rows)
        and (not len(rows) or 0 <= rows.min() <= rows.max() < len(codes))
    )


def _made(body: bytes, path: Path, manifest: dict[str, Any]) -> Any:
    """Make the objects of a checked body; each type is looked up on the list again."""
    from sklearn.exceptions import InconsistentVersionWarning

    schema = schema_of(body, path)
    types = check_types(renamed_types(schema), path)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            made = _made_by_loaders(schema, body, types)
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
    return made


def _made_by_loaders(schema: Any, body: bytes, types: list[str]) -> Any:
    if schema.get("protocol") not in KNOWN_PROTOCOLS:
        import skops.io

        return skops.io.loads(body, trusted=types)
    with zipfile.ZipFile(BytesIO(body)) as archive:
        return make_object(schema, archive, frozenset(types))
