"""The fixtures of the commands: desk is tested through the command line, which must refuse in one line, and by itself."""

from tests.cli.conftest import model, refused, reviews, run

__all__ = ["model", "refused", "reviews", "run"]
