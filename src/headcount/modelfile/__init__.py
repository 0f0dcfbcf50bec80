"""Model files: a fitted quantifier with all that is known of how it came about, in a zip that runs no code when it is read.

Names are imported when they are first used: a look at a file needs no learner.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headcount.modelfile.columns import Columns
    from headcount.modelfile.files import load_model, save_model
    from headcount.modelfile.model import Model
    from headcount.modelfile.summary import ModelSummary, read_summary

_HOME = {
    "Columns": "columns",
    "Model": "model",
    "ModelSummary": "summary",
    "load_model": "files",
    "read_summary": "summary",
    "save_model": "files",
}

__all__ = ["Columns", "Model", "ModelSummary", "load_model", "read_summary", "save_model"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'headcount.modelfile' has no attribute {name!r}")
    value = getattr(import_module(f"headcount.modelfile.{_HOME[name]}"), name)
    globals()[name] = value
    return value
