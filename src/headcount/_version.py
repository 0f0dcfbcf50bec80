"""The version, on its own so that every module may know it."""

__all__ = ["__version__"]

__version__ = "0.1.0"
