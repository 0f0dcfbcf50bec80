"""Saving a fitted network in one file: numpy's .npz with a line of JSON, so that reading it runs no code."""

import json
from io import BytesIO
from numbers import Integral
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from headcount._typing import AnyArray
from headcount._writing import write_all
from headcount.exceptions import DataError, FileFormatError, HeadcountError

__all__ = ["load_estimator", "save_estimator"]

_FORMAT = 1
_NUMBERS = ("n_ids_", "n_features_in_", "n_iter_", "best_epoch_")
_ARRAYS = ("losses_", "scores_")


def save_estimator(estimator: Any, path: str | Path) -> None:
    """Write parameters, classes, the network, and what else was learnt; a file is never left incomplete."""
    classes = np.asarray(estimator.classes_)
    if classes.dtype.kind == "O":
        raise DataError("Classes of mixed or other types can't be saved: use strings, numbers or booleans as labels.")
    settings = estimator.get_params(deep=False)
    if not isinstance(settings["random_state"], Integral | None):
        settings["random_state"] = None  # the state of a generator is not kept
    about = {
        "format": _FORMAT,
        "class": type(estimator).__name__,
        "settings": settings,
        "numbers": {name: int(getattr(estimator, name)) for name in _NUMBERS},
        "arrays": list(_ARRAYS),
    }
    contents = {f"learnt:{name}": getattr(estimator, name) for name in _ARRAYS}
    contents |= {f"network:{name}": value for name, value in estimator.parameters_.items()}
    if hasattr(estimator, "feature_names_in_"):
        contents["feature_names"] = np.array([str(name) for name in estimator.feature_names_in_])
    buffer = BytesIO()
    np.savez(buffer, about=np.array(json.dumps(about, default=_to_json)), classes=classes, **contents)
    write_all({Path(path): buffer.getvalue()})


def load_estimator(kind: Any, path: str | Path) -> Any:
    """Read an estimator of class ``kind`` that `save_estimator` has written."""
    try:
        with np.load(path, allow_pickle=False) as file:
            about = json.loads(str(file["about"]))
            if about["class"] != kind.__name__ or about["format"] > _FORMAT:
                raise FileFormatError(
                    f"{path} holds a {about['class']} in format {about['format']}, not a {kind.__name__} in format {_FORMAT}."
                )
            settings = {n: tuple(v) if isinstance(v, list) else v for n, v in about["settings"].items()}
            estimator = kind(**settings)
            estimator._validate_params()
            estimator.classes_ = file["classes"]
            for name in _NUMBERS:
                setattr(estimator, name, int(about["numbers"][name]))
            for name in _ARRAYS:
                setattr(estimator, name, file[f"learnt:{name}"])
            if "feature_names" in file.files:
                estimator.feature_names_in_ = file["feature_names"].astype(object)
            estimator.parameters_ = {
                name.removeprefix("network:"): file[name] for name in file.files if name.startswith("network:")
            }
        _check_network(estimator.parameters_, estimator._shapes(estimator.n_ids_, len(estimator.classes_)))
    except FileFormatError:
        raise
    except FileNotFoundError as error:
        raise DataError(f"There is no file {path}.") from error
    except (ValueError, KeyError, EOFError, BadZipFile, TypeError, AttributeError, HeadcountError) as error:
        raise FileFormatError(f"{path} is not a saved {kind.__name__}: {error}") from error
    return estimator


def _check_network(arrays: dict[str, AnyArray], shapes: dict[str, tuple[int, ...]]) -> None:
    if {name: array.shape for name, array in arrays.items()} != shapes:
        raise ValueError("the layers of its network differ from its settings")
    for name, array in arrays.items():
        if array.dtype != np.float32 or not np.isfinite(array).all():
            raise ValueError(f"the values of {name} are not finite numbers of 32 bits")


def _to_json(value: Any) -> Any:
    """Return numpy's numbers and arrays, and sequences other than lists and tuples, as Python objects."""
    return np.asarray(value).tolist()
