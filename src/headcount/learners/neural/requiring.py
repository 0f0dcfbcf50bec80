"""What is known of torch without importing it: the names of devices and precisions, and what to do where it is missing."""

from importlib.util import find_spec

from headcount.exceptions import MissingPackageError

__all__ = ["DEVICES", "PRECISIONS", "require_torch"]

DEVICES = {"auto", "cuda", "mps", "cpu"}
PRECISIONS = {"auto", "float32", "bfloat16"}


def require_torch(who: str) -> None:
    """Raise a sentence if torch is not installed."""
    if find_spec("torch") is None:
        raise MissingPackageError(
            f"{who} needs the package torch, which is not installed: pip install 'headcount[neural]'."
        )
