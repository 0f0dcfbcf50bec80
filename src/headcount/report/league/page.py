"""Write the page of a league as one self-contained HTML file: words, ranking, pictures, tables, provenance."""

from typing import Any

import numpy as np

from headcount._escaping import json_text, page_text
from headcount.errors import get_error
from headcount.report.downloads import table_entry
from headcount.report.drawing import Plot
from headcount.report.league.contents import LeagueContents, RankedView
from headcount.report.league.files import file_name, league_archive
from headcount.report.league.pictures import breakdown_picture, rank_picture, time_picture
from headcount.report.league.ranking import ALPHA, ANY_CLASSES, COVERAGE, TWO_CLASSES, View
from headcount.report.league.sets import IMBALANCES, SIZES
from headcount.report.league.standing import DECIMALS, Standings
from headcount.report.league.tables import errors_table, groups_table, ranking_table
from headcount.report.league.words import settings_of, title_of
from headcount.report.scores import label_of

__all__ = ["render_league", "view_pictures"]

_ALL = ("", "all")


def render_league(contents: LeagueContents) -> str:
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
    standings, first = contents.standings, contents.first
    pictures = [(_key(i), view_pictures(view)) for i, view in enumerate(contents.views)]
    tables = [
        (_key(i), [_entry(table) for table in contents.tables_of(view)[2:-1]]) for i, view in enumerate(contents.views)
    ]
    return environment.get_template("league.html").render(
        page=contents,
        title=standings.plan.title,
        measure=label_of(standings.plan.measures[0]),
        choices=_choices(standings, first.view),
        methods=list(dict.fromkeys(entrant.method for entrant in standings.entrants)),
        ranking=_entry(ranking_table(standings, first.ranking)),
        groups=[(_key(i), groups_table(view.view, view.groups)) for i, view in enumerate(contents.views)],
        errors=_entry(errors_table(standings, first.ranking)),
        common=[table_entry(table) for table in contents.common_tables],
        pictures=pictures,
        tables=tables,
        points=_in_script({f"{key}-{i}": _points(plot) for key, plots in pictures for i, plot in enumerate(plots)}),
        league=_in_script(_figures(contents)),
        archive=league_archive(contents),
        archive_name=f"{standings.plan.name}.zip",
    )


def view_pictures(view: RankedView) -> list[Plot]:
    """Return the pictures of a view, the critical differences first; none if nothing is ranked."""
    ranking = view.ranking
    if not ranking.units:
        return []
    about = title_of(ranking.view)
    plots = [
        rank_picture(ranking),
        *(breakdown_picture(breakdown, ranking.names, about) for breakdown in view.breakdowns),
        time_picture(ranking, view.seconds),
    ]
    return [plot for plot in plots if plot is not None]


def _key(position: int) -> str:
    return f"view-{position}"


def _entry(table: Any) -> Any:
    return table_entry(table)._replace(id=file_name(table))


def _choices(standings: Standings, first: View) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Return the lists of the page: name, label, values with their texts; the first value is what is shown first."""
    learners = list(dict.fromkeys(e.learner for e in standings.entrants if e.learner))
    targets = list(dict.fromkeys(e.target for e in standings.entrants if e.learner)) or [first.target]
    some, classes = {len(facts.classes) == 2 for facts in standings.sets}, []
    if True in some:
        classes.append((TWO_CLASSES, "with two classes"))
    if False in some:
        classes.append((ANY_CLASSES, "with any number of classes"))
    classes.sort(key=lambda option: option[0] != first.classes)
    kinds = sorted({facts.kind for facts in standings.sets})
    sizes = [name for _, name in SIZES if any(facts.size == name for facts in standings.sets)]
    imbalances = [name for _, name in IMBALANCES if any(facts.imbalance == name for facts in standings.sets)]
    lists = [
        ("learner", "classifier", [*((name, name) for name in learners), ("", "any")]),
        ("target", "settings", [*((name, settings_of(name)) for name in targets), ("", "any")]),
        ("classes", "data sets", classes),
        ("kind", "kind", [_ALL, *((name, name) for name in kinds)]),
        ("size", "labelled items", [_ALL, *((name, name) for name in sizes)]),
        ("imbalance", "rarest class", [_ALL, *((name, name) for name in imbalances)]),
        ("part", "samples", [(part, part or "all") for part in standings.parts]),
        ("measure", "error", [(name, label_of(name)) for name in standings.plan.measures]),
    ]
    return [entry for entry in lists if entry[2]]


def _figures(contents: LeagueContents) -> dict[str, Any]:
    """Return what the page ranks by itself: errors as whole numbers of 10^-DECIMALS, null where there are none."""
    standings = contents.standings
    index = {facts.name: i for i, facts in enumerate(standings.sets)}
    return {
        "scale": 10**DECIMALS,
        "alpha": ALPHA,
        "coverage": COVERAGE,
        "critical": _critical_values(len(standings.entrants)),
        "measures": [
            {"name": name, "label": label_of(name), "lower": get_error(name).lower_is_better}
            for name in standings.plan.measures
        ],
        "parts": standings.parts,
        "settings": {entrant.target: settings_of(entrant.target) for entrant in standings.entrants},
        "sets": [
            {
                "name": facts.name,
                "unit": index[facts.unit],
                "kind": facts.kind,
                "classes": len(facts.classes),
                "size": facts.size,
                "imbalance": facts.imbalance,
                "nTrain": facts.n_train,
            }
            for facts in standings.sets
        ],
        "entrants": [{**entrant._asdict(), "name": entrant.name} for entrant in standings.entrants],
        "suits": (standings.of > 0).astype(int).tolist(),
        "errors": {name: _by_part(values, DECIMALS) for name, values in standings.errors.items()},
        "bias": [[[_rounded(v, 5) for v in row] for row in table] for table in np.moveaxis(standings.bias, 2, 0)],
        "seconds": [[_rounded(v, 5) for v in row] for row in standings.seconds],
        "views": {
            _key(i): "|".join([view.view.learner, view.view.target, view.view.classes])
            for i, view in enumerate(contents.views)
        },
    }


def _critical_values(most: int) -> list[float]:
    """Return the critical value of Nemenyi's test by number of entrants, to be multiplied by sqrt(k (k + 1) / 6 N)."""
    from scipy.stats import studentized_range

    several = np.arange(2, max(most, 2) + 1)
    values = studentized_range.ppf(1.0 - ALPHA, several, np.inf) / np.sqrt(2.0)
    return [0.0, 0.0, *(float(value) for value in values)]


def _by_part(values: Any, decimals: int) -> list[list[list[int | None]]]:
    return [
        [[None if np.isnan(v) else round(float(v) * 10**decimals) for v in row] for row in table]
        for table in np.moveaxis(values, 2, 0)
    ]


def _rounded(value: Any, decimals: int) -> float | None:
    return None if np.isnan(value) else round(float(value), decimals)


def _points(plot: Plot) -> dict[str, Any]:
    return {"reading": plot.reading, "series": [vars(series) for series in plot.series]}


def _in_script(data: Any) -> str:
    """Return data as JSON that can stand in a script element."""
    return json_text(data, separators=(",", ":")).replace("<", "\\u003c")
