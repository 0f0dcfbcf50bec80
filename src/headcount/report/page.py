"""Write the page of a study as one self-contained HTML file."""

from headcount._escaping import json_text, page_text
from headcount.report.claims import HOLDS, HOLDS_NOT
from headcount.report.curve_plots import diagonal_plots, prevalence_plots, shift_plots
from headcount.report.downloads import archive_link, table_entry
from headcount.report.drawing import Plot
from headcount.report.page_contents import Contents
from headcount.report.row_plots import bias_plots, difference_plots, mean_error_plots, rank_plot, time_plots
from headcount.report.scores import label_of

__all__ = ["Section", "overview_plots", "render"]

_VERDICT_CLASSES = {HOLDS: "holds", HOLDS_NOT: "fails"}
"""CSS class of each verdict."""
Section = tuple[str, str, list[Plot]]
"""Id, title and plots of a section."""


def overview_plots(contents: Contents) -> list[Section]:
    """Return the plots that compare all methods at once; the Markdown summary has them, too."""
    measure = contents.plan.measures[0]
    sections: list[Section] = [
        ("mean-errors", "All methods at one scale", mean_error_plots(contents.mean_errors)),
        ("differences", "Critical differences", difference_plots(contents.differences)),
        (
            "prevalences",
            "Error against true share",
            prevalence_plots(contents.prevalences, measure, contents.classes),
        ),
    ]
    return [section for section in sections if section[2]]


def render(contents: Contents) -> str:
    """Return the page as HTML."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("headcount.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=page_text,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    overviews = overview_plots(contents)
    sections: list[Section] = [
        ("diagonals", "Estimated against true shares", diagonal_plots(contents.diagonals, contents.classes)),
        ("shifts", "Error against shift", shift_plots(contents.shifts, label_of(contents.plan.measures[0]))),
        ("biases", "Bias", bias_plots(contents.biases)),
        ("ranks", "Ranks", rank_plot(contents.ranks)),
        ("times", "Time spent", time_plots(contents.times)),
    ]
    sections = [section for section in sections if section[2]]
    return environment.get_template("study.html").render(
        page=contents,
        overviews=overviews,
        sections=sections,
        points=_points([*overviews, *sections]),
        tables=[table_entry(table) for table in contents.tables],
        settings=table_entry(contents.settings) if contents.settings.rows else None,
        agreement=[table_entry(table) for table in contents.agreement],
        archive=archive_link(contents),
        archive_name=f"{contents.plan.name}.zip",
        verdicts=_VERDICT_CLASSES,
    )


def _points(sections: list[Section]) -> str:
    """Return the values of all plots as JSON that can stand in a script element, by the name of the plot on the page."""
    points = {
        f"{name}-{i}": {"reading": plot.reading, "series": [vars(series) for series in plot.series]}
        for name, _, plots in sections
        for i, plot in enumerate(plots)
    }
    text = json_text(points, separators=(",", ":"))
    return text.replace("<", "\\u003c")
