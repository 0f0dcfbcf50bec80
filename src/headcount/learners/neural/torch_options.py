"""Parameters of training that both networks have, and the error where torch is missing; torch itself is not imported here."""

from dataclasses import dataclass
from importlib.util import find_spec
from numbers import Integral, Real
from typing import Any, ClassVar

from headcount._typing import RandomState
from headcount._validation import Interval, StrOptions, integers_from
from headcount.exceptions import MissingPackageError

__all__ = ["DEVICES", "PRECISIONS", "TrainingParameters", "require_torch"]

DEVICES = {"auto", "cuda", "mps", "cpu"}
PRECISIONS = {"auto", "float32", "bfloat16"}


@dataclass(eq=False, repr=False, kw_only=True)
class TrainingParameters:
    """Parameters that `CNNClassifier` and `QuaNet` share; their documentation describes them."""

    dropout: float = 0.5
    learning_rate: float = 1e-3
    max_epochs: int = 500
    patience: int = 10
    device: str = "auto"
    n_jobs: int | None = None
    random_state: RandomState = None
    keep_when_interrupted: bool = False
    verbose: bool = False

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **dict.fromkeys(("max_epochs", "patience"), integers_from(1)),
        "dropout": [Interval(Real, 0, 1, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "device": [StrOptions(DEVICES)],
        "n_jobs": [Integral, None],
        "random_state": "no_validation",
        "keep_when_interrupted": ["boolean"],
        "verbose": ["boolean"],
    }


def require_torch(user: str) -> None:
    """Raise an error that names the ``user`` of torch, if torch is not installed."""
    if find_spec("torch") is None:
        raise MissingPackageError(
            f"{user} needs the package torch, which is not installed: pip install 'headcount[neural]'."
        )
