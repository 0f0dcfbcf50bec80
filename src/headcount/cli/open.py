"""`headcount open`: estimate shares and look at them in a browser."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from headcount.cli import options
from headcount.cli.model import model_from
from headcount.cli.option_groups import BlackBox, Precision, Rows, with_option_groups
from headcount.cli.output import echo
from headcount.cli.progress import progress_bar

__all__ = ["open_page"]

NO_BROWSER = Annotated[bool, typer.Option("--no-browser", help="Only write the page and print its path.")]


@with_option_groups
def open_page(
    model: options.MODEL,
    files: options.FILES,
    *,
    rows: Rows,
    precision: Precision,
    min_items: options.MIN_ITEMS = 30,
    black_box: BlackBox,
    no_browser: NO_BROWSER = False,
) -> None:
    """Estimate the share of each class among new items, and look at the answer in a browser.

    The page is a file in the folder for temporary files, whose path is printed. It needs no network: keep it or send it on.

    Example: headcount open stars.headcount new.csv --by date:month
    """
    import webbrowser

    from headcount.desk import estimate_tables, provenance
    from headcount.report.shares_page import page_of_shares, page_title
    from headcount.stream.groups import grouping_title

    by = rows.grouping
    loaded = model_from(model, files, black_box)
    with progress_bar("Reading") as progress:
        groups = estimate_tables(
            loaded,
            files,
            by=by,
            where=rows.conditions,
            total=by is not None,
            level=precision.level,
            estimand=precision.estimand,
            min_items=min_items,
            counts=black_box.confusion,
            progress=progress,
        )
    by_title = grouping_title(by)
    title = page_title(loaded.columns.label, by_title)
    page = page_of_shares(groups, title=title, by=by_title, facts=provenance(loaded, files, model))
    with tempfile.NamedTemporaryFile("w", prefix="headcount-", suffix=".html", delete=False, encoding="utf-8") as file:
        file.write(page)
    echo(file.name)
    if not no_browser and not webbrowser.open(Path(file.name).as_uri()):
        echo("No browser could be opened: open this file in one.", err=True)
