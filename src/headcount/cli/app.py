"""The application: its commands, and how a user's mistake is told."""

import json
import sys
from typing import Annotated

import typer

from headcount import __version__
from headcount.cli.methods import methods_as_records, print_methods
from headcount.exceptions import HeadcountError

__all__ = ["app", "main"]

app = typer.Typer(
    name="headcount",
    help="Learning to quantify: how many of each kind are there?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"headcount {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Learning to quantify: how many of each kind are there?"""


@app.command()
def methods(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List the quantification methods and the error measures there are, with the reference of each."""
    if as_json:
        typer.echo(json.dumps(methods_as_records(), indent=2))
    else:
        print_methods()


def main() -> None:
    """Run the command line; a user's mistake is one line and exit code 2."""
    try:
        app()
    except HeadcountError as error:
        sys.stderr.write(f"headcount: {error}\n")
        sys.exit(2)
