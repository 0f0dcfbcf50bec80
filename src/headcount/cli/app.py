"""The application: its commands, and how a user's mistake is told."""

import errno
import io
import json
import os
import signal
import sys
import threading
import warnings
from typing import Annotated, Any

import typer

from headcount._version import __version__
from headcount.cli import data, study_results
from headcount.cli.compare import check, compare
from headcount.cli.estimate import estimate
from headcount.cli.fit import fit, inspect
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


for command in (fit, estimate, compare, check, inspect):
    app.command()(command)
app.add_typer(data.app, name="data")
app.add_typer(study_results.app, name="study")

_UsageError: Any = typer.BadParameter.__bases__[0]  # typer does not export it


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"headcount {__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 (acted upon by its callback)
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Learning to quantify: how many of each kind are there?"""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def methods(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List the methods and error measures, with references.

    Example: headcount methods --json
    """
    from headcount.cli.methods import methods_as_records, print_methods

    if as_json:
        typer.echo(json.dumps(methods_as_records(), indent=2))
    else:
        print_methods()


def main() -> None:
    """Run the command line; a user's mistake is one line and exit code 2, a warning of ours one line."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # letters that the terminal does not know
    here = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGTERM, _ended) if here else None
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warned(warnings.showwarning)
            sys.exit(_run())
    finally:
        if here:
            signal.signal(signal.SIGTERM, before)


def _run() -> int:
    """Run the command that was asked for, and return the exit code."""
    try:
        status = app(standalone_mode=False)
    except HeadcountError as error:
        return _told(str(error))
    except _UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            typer.echo(error.format_message())
            return 2
        return _told(f"{_sentence(error.format_message())} Try 'headcount --help'.")
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        _leave_stdout()
        return 0
    except OSError as error:
        what = error.filename or ("The output" if error.errno in (errno.ENOSPC, errno.EIO) else type(error).__name__)
        if what == "The output":
            _leave_stdout()
        return _told(
            _sentence(f"{what} can't be used: {error.strerror or error}" if error.errno else f"{what}: {error}")
        )
    return status if isinstance(status, int) else 0


def _leave_stdout() -> None:
    """Let nothing more be written to standard output, not even at the end."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return


def _ended(*_: Any) -> None:
    """Leave in order when the system asks to: temporary files go, results that are not complete do not appear."""
    sys.exit(143)


def _warned(others: Any) -> Any:
    """Return how warnings are shown: ours as a line, all others as before."""

    def show(message: Warning | str, category: type[Warning], *more: Any, **named: Any) -> None:
        if issubclass(category, HeadcountWarning):
            sys.stderr.write(f"headcount: {message}\n")
        else:
            others(message, category, *more, **named)

    return show


def _sentence(words: str) -> str:
    return words if words.endswith((".", "?", "!")) else f"{words}."


def _told(mistake: str) -> int:
    sys.stderr.write(f"headcount: {mistake}\n")
    return 2
