"""Write a model to a file, completely or not at all, and read it back without running any code from it."""

import json
import warnings
from copy import copy
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from headcount._typing import AnyArray
from headcount._writing import write_all
from headcount.exceptions import DataError, FileFormatError
from headcount.modelfile.archive import BODY, NODES, json_nodes, packed, unpacked
from headcount.modelfile.arrays import array_from
from headcount.modelfile.checks import UnsoundError, need
from headcount.modelfile.codecs import codec_for, codec_named
from headcount.modelfile.codecs.held import Held
from headcount.modelfile.codecs.trusted import NotTrustedError, TrustedCodec
from headcount.modelfile.codecs.widths import width_in
from headcount.modelfile.manifest import columns_of, described, sealed
from headcount.modelfile.model import Model
from headcount.modelfile.nodes import Packer, UnknownTypeError, Unpacker
from headcount.quantifiers import Quantifier
from headcount.quantifiers.catalogue import ENTRY_POINTS

__all__ = ["load_model", "save_model"]


def save_model(model: Model, path: str | Path, *, trust: bool = False) -> None:
    """Write a model file, completely or not at all.

    Parameters
    ----------
    model : Model
        A fitted quantifier, with the columns that it reads.
    path : str or Path
    trust : bool, default=False
        Whether estimators of any other type may be kept too, in a file that is read only with ``trust=True``. Code of other
        packages is run then, so that such a file is for whoever made it.

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
    path = Path(path)
    if not isinstance(model, Model):
        raise DataError(
            f"save_model takes a Model, not {type(model).__name__}: Model(quantifier, Columns('text', ('review',), 'stars')) says "
            "which columns it reads."
        )
    rows, features = model.kept_items() or (None, None)
    held = Held(_without_items(model.quantifier), model.reference, model.reference_codes, rows, features)
    nodes, members = _members_of(held, trust)
    written = datetime.now(UTC).isoformat(timespec="seconds")
    about = described(model, written)
    trusted = sorted({str(node["class"]) for node in nodes if node["type"] == TrustedCodec.tag})
    write_all({path: packed(sealed(about | ({"trusted": trusted} if trusted else {}), members), members)})


def _members_of(held: Held, trust: bool) -> tuple[list[dict[str, Any]], dict[str, bytes]]:
    """Return the nodes of a model, and them and its arrays as members of a file; raise if they could not be read again."""
    packer = Packer(codec_for, TrustedCodec(trust) if trust else None)
    try:
        packer.value(held)
        members = {NODES: json.dumps({"nodes": packer.nodes}, allow_nan=False).encode()}
        members |= {f"{number}.npy": content for number, content in enumerate(packer.arrays)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _held_by({name: bytearray(content) for name, content in members.items()}, Path(NODES), trust)
    except UnknownTypeError as error:
        raise DataError(
            f"This model can't be kept in a file: it holds '{error}', which has no place in one. Use one of scikit-learn's "
            "learners that `headcount fit` offers; a method of your own must be named by its package under the entry point "
            f"{ENTRY_POINTS!r}, so that another process can find it. Or save and read it with trust=True (--trust), which runs "
            "code of the packages it is from: only for files that you made yourself."
        ) from error
    except UnsoundError as error:
        raise DataError(
            f"This model can't be kept in a file: {error}. Use another learner or setting, or save and read it with trust=True "
            "(--trust), which runs code of other packages: only for files that you made yourself."
        ) from error
    except FileFormatError as error:
        reason = str(error).removeprefix(f"{NODES} is damaged: ").removesuffix(" Make the model again.")
        raise DataError(
            f"This model can't be kept in a file: {reason} It could not be read again; fit it anew."
        ) from error
    return packer.nodes, members


def _without_items(quantifier: Quantifier) -> Quantifier:
    """Return the quantifier without the validation items: a file holds what was learnt from them, and features of some."""
    kept = copy(quantifier)
    if getattr(kept, "validation_items_", None) is not None:
        kept.validation_items_ = None
    return kept


def load_model(path: str | Path, *, trust: bool = False) -> Model:
    """Read a model file; a file that `save_model` could not have written is refused with a sentence before any of it is used.

    Parameters
    ----------
    path : str or Path
    trust : bool, default=False
        Whether a file that was saved with ``trust=True`` is read: code of other packages is run then, with what the file says. Only
        for files that you made yourself.

    Examples
    --------
    >>> load_model("nothing.headcount")
    Traceback (most recent call last):
    headcount.exceptions.DataError: There is no file nothing.headcount.
    """
    path = Path(path)
    manifest, members = unpacked(path)
    columns = columns_of(manifest, path)
    if BODY in members:
        from headcount.modelfile.earlier import held_by

        held = held_by(members[BODY], path, manifest)
    else:
        held = _held_by(members, path, trust)
    quantifier = held.quantifier
    if quantifier.classes_.tolist() != manifest["classes"] or type(quantifier).__name__ != manifest["method"]:
        raise FileFormatError(f"{path} is damaged: manifest and quantifier do not agree. Make the model again.")
    width = width_in(getattr(quantifier, "classifier_", None))
    if width is None and columns.kind != "text":
        width = getattr(quantifier, "n_features_in_", None)
    n_numbers = width if len(columns.names) == 1 else len(columns.names)  # a single column may hold embeddings
    expected = {"text": None, "numbers": n_numbers}.get(columns.kind, width)
    if width is not None and width != expected:
        raise FileFormatError(
            f"{path} is damaged: its columns are not those that its classifier reads. Make the model again."
        )
    return Model(
        quantifier,
        columns,
        held.reference,
        held.reference_codes,
        manifest["source"],
        manifest.get("seed"),
        manifest.get("ranking", []),
        manifest.get("skipped", []),
        manifest.get("written", ""),
        {"headcount": manifest.get("headcount", ""), **manifest.get("libraries", {})},
        held.item_rows,
        held.item_features,
    )


def _held_by(members: dict[str, bytearray], path: Path, trust: bool) -> Held:
    """Make what the nodes and arrays of a file describe."""
    nodes = json_nodes(members[NODES], path)
    size = sum(map(len, members.values()))
    other = TrustedCodec(trust)
    unpacker = Unpacker(
        nodes,
        partial(_array, members),
        size,
        lambda tag: other if tag == TrustedCodec.tag else codec_named(tag),
    )
    try:
        with np.errstate(all="ignore"):  # forged numbers may overflow in a check that refuses them
            held = unpacker.last()
        need(isinstance(held, Held), "it holds no fitted quantifier")
    except NotTrustedError as error:
        raise FileFormatError(
            f"{path} holds '{error}', which only another package can make. Reading it runs code of that package, with what the "
            "file says: if you made the file yourself, add --trust (trust=True in Python); else do not read it."
        ) from error
    except UnknownTypeError as error:
        raise FileFormatError(
            f"{path} is refused: it holds '{error}', which is no method of Headcount or of an installed package that names it "
            f"under the entry point {ENTRY_POINTS!r}. Install that package, or make the model again."
        ) from error
    except UnsoundError as error:
        raise FileFormatError(f"{path} is damaged: {error}. Make the model again.") from error
    except Exception as error:
        raise FileFormatError(
            f"{path} is damaged: its model can't be made ({type(error).__name__}: {error}). Make the model again."
        ) from error
    return held  # type: ignore[no-any-return]


def _array(members: dict[str, bytearray], number: int) -> AnyArray:
    content = members.get(f"{number}.npy")
    need(content is not None, "an array is missing")
    return array_from(content)  # type: ignore[arg-type]
