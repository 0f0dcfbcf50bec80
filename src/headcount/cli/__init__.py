"""The command line: each command reads its arguments, calls a function of desk, study or report, and prints.

A user's mistake is one line on standard error and exit code 2; only a bug shows a traceback.
"""

from headcount.cli.app import main

__all__ = ["main"]
