"""The command line: thin commands that add arguments, call one plain function each, and print.

A user's mistake is one line on standard error and exit code 2; only a bug shows a traceback.
"""

from headcount.cli.app import main

__all__ = ["main"]
