"""The application: its commands, and how errors and warnings are reported."""

import errno
import io
import os
import signal
import sys
import threading
import warnings
from contextlib import suppress
from typing import Annotated, Any

import typer

from headcount._escaping import printable
from headcount._version import __version__
from headcount.cli import data, study_results
from headcount.cli.check import check
from headcount.cli.compare import compare
from headcount.cli.deferred import defer_slow_imports
from headcount.cli.estimate import estimate
from headcount.cli.fit import fit, inspect
from headcount.cli.judge import judge
from headcount.cli.methods import methods
from headcount.cli.open import open_page
from headcount.cli.output import echo, in_command_words
from headcount.cli.plain_values import take_plain_values
from headcount.cli.plan import plan
from headcount.cli.sql import sql
from headcount.cli.watch import watch
from headcount.exceptions import HeadcountError, HeadcountWarning

__all__ = ["app", "main"]

app = typer.Typer(
    name="headcount",
    help="Learning to quantify: how many of each kind are there?",
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


for command in (fit, estimate, compare, watch, plan, check, judge, sql, inspect, methods):
    app.command()(command)
app.command("open")(open_page)
app.add_typer(data.app, name="data")
app.add_typer(study_results.app, name="study")

_QUICK = ("check", "compare", "estimate", "watch")
"""Commands that read a model and a table, and need neither pandas nor ``scipy.stats``."""
_MAX_MESSAGE = 4_000
"""Characters of a message; some quote what other libraries say, who quote a whole row."""
_UsageError: Any = typer.BadParameter.__bases__[0]  # typer does not export it


def _show_version(requested: bool) -> None:
    if requested:
        echo(f"headcount {__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 (used by its callback)
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Learning to quantify: how many of each kind are there?"""
    if context.invoked_subcommand is None:
        echo(context.get_help())
    elif context.invoked_subcommand in _QUICK:
        defer_slow_imports()


def main() -> None:
    """Run the command line: a user's mistake is one line and exit code 2, a warning of Headcount one line."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, io.StringIO())
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # characters that the terminal can't encode
    in_main_thread = threading.current_thread() is threading.main_thread()  # only there signals can be handled
    former_handler = signal.signal(signal.SIGTERM, _terminate) if in_main_thread else None
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning(warnings.showwarning)
            sys.exit(_run())
    finally:
        if in_main_thread:
            signal.signal(signal.SIGTERM, former_handler)


def _run() -> int:
    """Run the command and return the exit code."""
    take_plain_values()
    try:
        status = app(standalone_mode=False)
    except HeadcountError as error:
        return _report_mistake(in_command_words(str(error)))
    except _UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            echo(error.format_message())
            return 2
        return _report_mistake(f"{_sentence(error.format_message())} Try 'headcount --help'.")
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        _discard_stdout()
        return 0
    except SystemExit as stop:  # typer exits with 1 where the reader of the output has gone, as in `| head -1`
        if not isinstance(stop.__context__, BrokenPipeError):
            raise
        _discard_stdout()
        return 0
    except OSError as error:
        subject = error.filename or ("The output" if error.errno in (errno.ENOSPC, errno.EIO) else type(error).__name__)
        if subject == "The output":
            _discard_stdout()
        reason = f" can't be used: {error.strerror or error}" if error.errno else f": {error}"
        return _report_mistake(_sentence(f"{subject}{reason}"))
    return status if isinstance(status, int) else 0


def _discard_stdout() -> None:
    """Send the rest of standard output nowhere, so that flushing it at exit can't fail."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _terminate(*_: Any) -> None:
    """Exit on SIGTERM the regular way: temporary files are deleted, incomplete results are not written."""
    sys.exit(143)


def _show_warning(show_other: Any) -> Any:
    """Make the function that shows warnings of Headcount as one line, and all others with ``show_other``."""

    def show(message: Warning | str, category: type[Warning], *args: Any, **kwargs: Any) -> None:
        if issubclass(category, HeadcountWarning):
            sys.stderr.write(f"headcount: {printable(str(message))}\n")
        else:
            show_other(message, category, *args, **kwargs)

    return show


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _report_mistake(message: str) -> int:
    message = _sentence(message.rstrip())  # some end with what another library says
    shown = message if len(message) <= _MAX_MESSAGE else f"{message[:_MAX_MESSAGE]} …"
    sys.stderr.write(f"headcount: {printable(shown)}\n")
    return 2
