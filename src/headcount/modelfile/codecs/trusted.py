"""Codec of objects of any other type: written and read by skops, which runs code of the packages that the types are from."""

from io import BytesIO
from typing import Any

import numpy as np

from headcount.modelfile.checks import UnsoundError, need

__all__ = ["NotTrustedError", "TrustedCodec"]


class NotTrustedError(ValueError):
    """A file holds an object of a type that is read only where the file is trusted; the argument is its import path."""


class TrustedCodec:
    """An object as a file of skops, in an array of bytes.

    Parameters
    ----------
    trust : bool
        Whether such objects are made.
    """

    tag = "trusted"

    def __init__(self, trust: bool) -> None:
        self._trust = trust

    def fields(self, instance: Any) -> dict[str, Any]:
        """Return the import path of the type, and the file."""
        import skops.io

        try:
            content = skops.io.dumps(instance)
        except Exception as error:  # skops raises whatever the object raises
            raise UnsoundError(f"{type(instance).__name__} can't be written by skops ({error})") from error
        path = f"{type(instance).__module__}.{type(instance).__qualname__}"
        return {"class": path, "content": np.frombuffer(content, dtype=np.uint8)}

    def make(self, fields: Any) -> Any:
        """Make the object; raise `NotTrustedError` unless the file is trusted."""
        path, content = fields.get("class"), fields.get("content")
        need(
            type(path) is str and isinstance(content, np.ndarray) and content.dtype == np.uint8, "an object has no type"
        )
        if not self._trust:
            raise NotTrustedError(path)
        import skops.io

        whole = BytesIO(content.tobytes())
        return skops.io.load(whole, trusted=skops.io.get_untrusted_types(file=whole))
