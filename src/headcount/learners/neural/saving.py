"""Estimators of plain arrays in one file: numpy's .npz with a line of JSON, so that reading it runs no code."""

import json
from collections.abc import Callable, Sequence
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


def save_estimator(estimator: Any, path: str | Path, numbers: Sequence[str], arrays: Sequence[str]) -> None:
    """Write parameters, classes, the network, and these learnt numbers and arrays; the file is there whole or not at all."""
    classes = np.asarray(estimator.classes_)
    if classes.dtype.kind == "O":
        raise DataError("Classes of mixed or unusual types can't be saved: use strings, numbers or booleans as labels.")
    settings = estimator.get_params(deep=False)
    if not isinstance(settings["random_state"], Integral | None):
        settings["random_state"] = None  # the state of a generator is not kept
    about = {
        "format": _FORMAT,
        "class": type(estimator).__name__,
        "settings": {name: _plain(value) for name, value in settings.items()},
        "numbers": {name: int(getattr(estimator, name)) for name in numbers},
        "arrays": list(arrays),
    }
    held = {f"learnt:{name}": getattr(estimator, name) for name in arrays}
    held |= {f"network:{name}": value for name, value in estimator.parameters_.items()}
    if hasattr(estimator, "feature_names_in_"):
        held["feature_names"] = np.array([str(name) for name in estimator.feature_names_in_])
    content = BytesIO()
    np.savez(content, about=np.array(json.dumps(about)), classes=classes, **held)
    write_all({Path(path): content.getvalue()})


def load_estimator(
    kind: Any,
    path: str | Path,
    numbers: Sequence[str],
    arrays: Sequence[str],
    shapes: Callable[[Any], dict[str, tuple[int, ...]]],
) -> Any:
    """Read what `save_estimator` has written of an estimator of this class; ``shapes`` says what its network must look like."""
    try:
        with np.load(path, allow_pickle=False) as file:
            about = json.loads(str(file["about"]))
            if about["class"] != kind.__name__ or about["format"] > _FORMAT:
                raise FileFormatError(
                    f"{path} holds a {about['class']} in format {about['format']}, not a {kind.__name__} in format {_FORMAT}."
                )
            estimator = kind(**{name: _back(value) for name, value in about["settings"].items()})
            estimator._validate_params()
            estimator.classes_ = file["classes"]
            for name in numbers:
                setattr(estimator, name, int(about["numbers"][name]))
            for name in arrays:
                setattr(estimator, name, file[f"learnt:{name}"])
            if "feature_names" in file.files:
                estimator.feature_names_in_ = file["feature_names"].astype(object)
            estimator.parameters_ = {
                name.removeprefix("network:"): file[name] for name in file.files if name.startswith("network:")
            }
        _check_network(estimator.parameters_, shapes(estimator))
    except FileFormatError:
        raise
    except FileNotFoundError as error:
        raise DataError(f"There is no file {path}.") from error
    except (ValueError, KeyError, EOFError, BadZipFile, TypeError, AttributeError, HeadcountError) as error:
        raise FileFormatError(f"{path} is no saved {kind.__name__}: {error}") from error
    return estimator


def _check_network(found: dict[str, AnyArray], shapes: dict[str, tuple[int, ...]]) -> None:
    if {name: value.shape for name, value in found.items()} != shapes:
        raise ValueError("its network does not have the layers that its settings say")
    for name, value in found.items():
        if value.dtype != np.float32 or not np.isfinite(value).all():
            raise ValueError(f"the layer {name} holds other than finite numbers of 32 bits")


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Integral):
        return value if value is True or value is False else int(value)
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value


def _back(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
