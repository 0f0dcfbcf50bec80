"""Torch's device, precision and number of threads, and its memory errors in plain words."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from headcount._threads import SharedContext
from headcount.exceptions import DeviceError

__all__ = ["computing", "device_label", "device_named", "dtype_named"]


def device_named(name: str) -> torch.device:
    """Return a device; "auto" is the first available one of CUDA, MPS and CPU."""
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        name = next(kind for kind, is_available in available.items() if is_available)
    if not available.get(name):
        raise DeviceError(f"There is no device {name!r} here: use device='auto', which takes the best available one.")
    return torch.device(name)


def device_label(name: str, precision: str | None = None) -> str:
    """Describe the device: the GPU's model or else the kind of device, torch's version, and the precision of products."""
    device = device_named(name)
    kind = torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
    products = "" if precision is None else f", {str(dtype_named(precision, device)).removeprefix('torch.')} products"
    return f"{kind}, torch {torch.__version__}{products}"


def dtype_named(name: str, device: torch.device) -> torch.dtype:
    """Return the type in which large products are computed; "auto" is bfloat16 on CUDA, float32 elsewhere."""
    half = name == "bfloat16" or (name == "auto" and device.type == "cuda")
    return torch.bfloat16 if half else torch.float32


@contextmanager
def _restored_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


# torch's number of threads is global: of computations that run at once, the last one restores what was before the first.
_threads = SharedContext(_restored_threads)


@contextmanager
def computing(n_jobs: int | None, lower: str) -> Iterator[None]:
    """Compute with ``n_jobs`` threads on the CPU (None is 1, -1 all cores); an out-of-memory error names what to ``lower``.

    Other failures of an accelerator are a `DeviceError`, too: another try may succeed.
    """
    from joblib import effective_n_jobs

    try:
        with _threads, torch.inference_mode(False), torch.enable_grad():
            torch.set_num_threads(int(effective_n_jobs(1 if n_jobs is None else n_jobs)))
            yield
    except RuntimeError as error:  # torch.OutOfMemoryError and torch.AcceleratorError among them
        if not isinstance(error, torch.OutOfMemoryError) and "can't allocate memory" not in str(error):
            if not str(error).startswith("CUDA error"):
                raise
            raise DeviceError(
                f"The device failed ({str(error).splitlines()[0]}): try again, or use device='cpu'."
            ) from error
        raise DeviceError(
            f"The device ran out of memory ({str(error).split('. ')[0]}): lower {lower}, or use device='cpu'."
        ) from error
