"""Model files: a fitted quantifier with all that is known of how it came about, in a zip that runs no code when it is read."""

from headcount.modelfile.files import load_model, save_model
from headcount.modelfile.model import Columns, Model

__all__ = ["Columns", "Model", "load_model", "save_model"]
