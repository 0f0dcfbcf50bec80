"""The small study of tests/study."""

from tests.study.conftest import data_folder

__all__ = ["data_folder"]
