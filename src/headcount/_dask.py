"""Connect to a Dask cluster; the packages dask and distributed are imported only then."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from headcount.exceptions import DataError

__all__ = ["connect"]


@contextmanager
def connect(address: str) -> Iterator[Any]:
    """Give a client of the Dask scheduler at an address, and close it at the end.

    The client is not Dask's global default: work that does not name it stays on this machine.
    """
    try:
        from distributed import Client  # type: ignore[import-not-found, unused-ignore]
    except ImportError as error:
        raise DataError(
            "A Dask cluster needs the packages dask and distributed: pip install 'headcount[dask]'."
        ) from error
    try:
        client: Any = Client(address, timeout="10s", set_as_default=False)  # type: ignore[no-untyped-call, unused-ignore]
    except (OSError, ValueError) as error:
        raise DataError(f"There is no Dask scheduler at {address}: {error}.") from error
    with client:
        yield client
