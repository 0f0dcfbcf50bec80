"""Names of torch's devices and precisions, and the error where torch is missing; torch itself is not imported here."""

from importlib.util import find_spec

from headcount.exceptions import MissingPackageError

__all__ = ["DEVICES", "PRECISIONS", "require_torch"]

DEVICES = {"auto", "cuda", "mps", "cpu"}
PRECISIONS = {"auto", "float32", "bfloat16"}


def require_torch(user: str) -> None:
    """Raise an error that names the ``user`` of torch, if torch is not installed."""
    if find_spec("torch") is None:
        raise MissingPackageError(
            f"{user} needs the package torch, which is not installed: pip install 'headcount[neural]'."
        )
