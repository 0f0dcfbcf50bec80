"""`headcount data`: list data sets, fetch those of the paper, describe one, write an example."""

from pathlib import Path
from typing import Annotated

import typer

from headcount.cli.options import option
from headcount.cli.output import echo
from headcount.cli.progress import download_bars
from headcount.exceptions import DataError

__all__ = ["app"]

app = typer.Typer(
    help="Data sets: list them, fetch the paper's, describe one, write an example.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_FOLDER = Annotated[
    Path | None,
    option("--data-dir", help="The folder with the data sets [default: HEADCOUNT_DATA]."),
]


@app.command("list")
def list_(data_dir: _FOLDER = None) -> None:
    """List the data sets and their files.

    Example: headcount data list --data-dir ~/reviews
    """
    from headcount.data import PAPER_SETS, STAND_INS, data_folder, find_files, list_sets

    echo(f"Data folder: {data_folder(data_dir)}")
    for name in list_sets(data_dir):
        files = find_files(name, data_dir)
        if name in STAND_INS:
            location = f"synthetic stand-in for {STAND_INS[name].stands_for}, drawn when used"
        elif files is not None:
            location = f"{files[0]}, {files[1].name}"
        else:
            location = f"not there: headcount data fetch {name}" if name in PAPER_SETS else "not there"
        echo(f"  {name:<20} {location}")


@app.command()
def fetch(
    names: Annotated[
        list[str] | None, typer.Argument(help="imdb, kindle, hp; by default all three.", show_default=False)
    ] = None,
    data_dir: _FOLDER = None,
) -> None:
    """Download the paper's data sets from Zenodo; an interrupted download is resumed.

    Example: headcount data fetch kindle hp
    """
    from headcount.data import PAPER_SETS, fetch_set

    for name in names or list(PAPER_SETS):
        with download_bars() as update:
            paths = fetch_set(name, data_dir, update)
        echo(f"{name}: {', '.join(str(path) for path in paths)}")


@app.command()
def info(
    name: Annotated[str, typer.Argument(help="A data set, or the path of a folder with a train and a test file.")],
    data_dir: _FOLDER = None,
) -> None:
    """Show what is in a data set: documents, classes and their shares, lengths.

    Example: headcount data info synthetic-kindle
    """
    import numpy as np

    from headcount.data import load_set

    for part, corpus in zip(("train", "test"), load_set(name, data_dir), strict=True):
        echo(f"{part}: {corpus}")
        echo(f"  from {corpus.source}")
        if corpus.is_text:
            lengths = np.array([len(text.split()) for text in corpus.items])
            low, median, high = np.percentile(lengths, [5, 50, 95]).astype(int)
            echo(f"  words a document: median {median}, from {low} to {high} in nine of ten")
        echo(f"  fingerprint {corpus.fingerprint[:16]}")


@app.command()
def example(
    name: Annotated[
        str,
        typer.Argument(help="reviews, tickets, survey, households, tests, judges or stays; a folder alone: reviews."),
    ] = "reviews",
    folder: Annotated[
        Path | None,
        typer.Argument(help="The folder to write to [default: this one]; it is created if it does not exist."),
    ] = None,
) -> None:
    """Write a made-up example: labelled items, unlabelled ones, and their true shares.

    reviews: reviews of a device over a year; tickets: support tickets by topic; survey: open answers on a tram line;
    households: such answers by household, with weights; tests: tests for an infection by week and site; judges: conversations that
    language models judged; stays: comments of hotel guests with stars.

    Example: headcount data example .

    Example: headcount data example tickets .
    """
    from headcount._writing import write_all
    from headcount.data.examples import EXAMPLES

    if name not in EXAMPLES and folder is None:
        _check_is_folder(name, list(EXAMPLES))
        name, folder = "reviews", Path(name)
    if name not in EXAMPLES:
        raise DataError(f"There is no example {name!r}; there are {', '.join(EXAMPLES)}.")
    chosen, folder = EXAMPLES[name], folder or Path()
    if folder.is_file():
        raise DataError(f"{folder} is a file: name a folder to write the example to.")
    existing = [str(folder / file) for file in chosen.contents if (folder / file).exists()]
    if existing:
        raise DataError(f"{', '.join(existing)} would be overwritten: name another folder, or remove the files.")
    texts = {folder / file: text.encode() for file, text in chosen.make().items()}
    write_all(texts, [folder])
    for path in texts:
        echo(f"{path}: {chosen.contents[path.name]}")
    first, *more = ([] if folder == Path() else [f"cd {folder}"]) + list(chosen.commands)
    echo("\n".join([f"\nNext: {first}", *(f"      {command}" for command in more)]))


def _check_is_folder(name: str, examples: list[str]) -> None:
    """Raise if a name is meant for an example rather than for a folder."""
    from difflib import get_close_matches

    if not Path(name).exists() and get_close_matches(name, examples):
        raise DataError(
            f"There is no example {name!r}; there are {', '.join(examples)}. For a folder of that name: ./{name}."
        )
