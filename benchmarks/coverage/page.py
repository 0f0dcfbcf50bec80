"""The page with all figures, worst first, and the short table for the terminal."""

from importlib.metadata import version
from pathlib import Path
from typing import Any

import headcount as hc
from benchmarks.coverage.cell import Cell
from benchmarks.coverage.field_cells import FIELD
from benchmarks.coverage.figures import Figures, error, failures, judged_classes, shortfalls

INTRODUCTION = """\
In each simulation labelled items are drawn, the classifier and the quantifier are fitted on them, and a target is drawn; the
truth is the share in the population that the target is drawn from, unless a section says otherwise. Intervals are nominal 95 %
unless said. Coverage, in percent, is that of each class's interval (of two classes, the second's).

**What a cell must meet**, within two Monte Carlo errors: coverage at least 93 %, 92 with an absent class or with folds on at
most 200 labelled items, 98 at level 99 %; at most 99 where the class's share is above 0 and at least 10 items of it are
expected; regions for all classes at once 92 to 99; false positives of a comparison, or of a whole family of them, at most 6.5
%; at most 5 % vacuous intervals (wider than .95) where the classifier's AUC says that more is known. Plain SLD, whose interval
holds only if posteriors are calibrated, is judged only where they are; the bootstrap is shown and not judged. "At an end":
estimates on the end of their own interval, other than 0 and 1. "Trust": samples with that verdict, of those checked."""
_OF_THE_FIELD = """\
The methods of the whole field, in the cells of [the other page](coverage.md) where ACC, PACC, SLD and HDy cover least, and
methods on features in ten cells of numbers. KDEyHD, refitted methods, ensembles, medians and one-vs-rest have no interval and
say so. Coverage above 99 % is that of intervals that are too wide: where a class is never decided for (BBSE, BayesianCC), of
KDEyML with five classes, and of DMx where its equation knows little of each class."""

_WHY = """Why widths grow where the earlier version's intervals held: differences now count that the classifier's rates are
known from few items, which hardly matters where nothing has changed (the earlier version's intervals held there in 95
to 99 %) and matters where shares have (there they held in 76 to 97 %); a class that is absent, or that has next to no
labelled items, gets a spread that its few items do not show; SLD's vectors are kept away from shares of 0. Coverage
above 99 % belongs to ACC where a class is hardly ever decided for, and to a rare class whose densities are wrong: the
interval is wide on the other side."""


def row(cell: Cell, figures: Figures, method: str) -> dict[str, str]:
    """Return the cells of a table's row for one method."""
    s, n = figures.methods.get(method, {}), float(figures.methods.get(method, {}).get("n", 0))
    if not n:
        return {"coverage": "none: " + ("refused" if s.get("refused") else "raised" if s.get("raised") else "not run")}
    if cell.kind == "family":
        return {"any rejection": f"{100 * figures.mean(method, 'any'):.1f}"}
    if cell.kind == "rename":
        return {"largest change": f"{s['changed']:.1e}"}
    shown = judged_classes(cell)
    columns = {
        "coverage": " / ".join(f"{100 * x:.1f}" for x in figures.mean(method, "held")[shown]),
        "mean width": " / ".join(f"{x:.3f}" for x in figures.mean(method, "width")[shown]),
    }
    if cell.kind == "stability":
        ratio = figures.mean(method, "deviation")[1] / figures.mean(method, "width")[1]
        return columns | {
            "deviation over seeds": f"{figures.mean(method, 'deviation')[1]:.3f}",
            "of the width": f"{ratio:.2f}",
        }
    if cell.kind == "difference":
        rejected, tiny = figures.mean(method, "rejected")[shown].max(), figures.mean(method, "tiny")[shown].max()
        return columns | {"p < .05": f"{100 * rejected:.1f}", "p < 1e-6": f"{100 * tiny:.1f}"}
    joint = figures.mean(method, "joint", "joint_n")
    columns["region"] = "" if joint is None else f"{100 * joint:.1f}"
    columns["vacuous"] = f"{100 * figures.mean(method, 'vacuous')[shown].max():.1f}"
    columns["at an end"] = f"{100 * figures.mean(method, 'at_end'):.1f}"
    if s.get("refused"):
        columns["refused"] = f"{100 * s['refused'] / figures.simulations:.1f}"
    if s.get("checked"):
        trust = figures.mean(method, "held_trust", "trust")
        given = "" if trust is None else " / ".join(f"{100 * x:.0f}" for x in trust[shown])
        columns["trust"] = f"{100 * s.get('trust', 0) / s['checked']:.0f}"
        columns["coverage given trust"] = given
    if cell.auc:
        vacuous = figures.mean(method, "informative_vacuous", "informative")
        columns["AUC"] = f"{figures.mean(method, 'auc'):.3f}"
        columns["vacuous of those above"] = "" if vacuous is None else f"{100 * vacuous:.1f} of {s['informative']:.0f}"
    return columns


def _joined(columns: list[str], rows: list[dict[str, str]]) -> list[str]:
    used = [column for column in columns if any(column in r for r in rows)]
    return [
        "| " + " | ".join(used) + " |",
        "|" + "---|" * len(used),
        *("| " + " | ".join(r.get(c, "") for c in used) + " |" for r in rows),
    ]


def text_table(cells: list[Cell], figures: dict[str, Figures]) -> str:
    """Return all figures as one line for each cell and method."""
    lines = []
    for cell in cells:
        for method in cell.methods if cell.name in figures else ():
            shown = "; ".join(
                f"{name} {value}" for name, value in row(cell, figures[cell.name], method).items() if value
            )
            lines.append(f"{cell.name} | {method} | {shown}")
    return "\n".join(lines)


def write_page(
    path: Path, cells: list[Cell], figures: dict[str, Figures], before: dict[str, Any], seed: int, code: str
) -> None:
    """Write the page: a summary with the worst cells first, then one section for each group of cells."""
    seconds = sum(f.seconds for f in figures.values())
    counts = sorted({f.simulations for f in figures.values()})
    of_the_field = {cell.group for cell in cells} == {FIELD}
    lines = [
        "# How often the intervals of all methods hold the truth"
        if of_the_field
        else "# How often the intervals hold the truth",
        "",
        f"Made by `make coverage-table`: seed {seed}, headcount {hc.__version__} (source {code}), numpy {version('numpy')}, scipy "
        f"{version('scipy')}, scikit-learn {version('scikit-learn')}; {' or '.join(map(str, counts))} simulations a cell (Monte "
        f"Carlo error of 95 %: {100 * error(0.95, counts[-1]):.1f} to {100 * error(0.95, counts[0]):.1f} points), "
        f"{seconds / 60:.0f} minutes of one core.",
        "",
        *([_OF_THE_FIELD, ""] if of_the_field else []),
        INTRODUCTION,
        "",
        *_summary(cells, figures, before),
    ]
    for group in dict.fromkeys(cell.group for cell in cells):
        rows = []
        for cell in cells:
            if cell.group == group and cell.name in figures:
                for method in cell.methods:
                    failed = shortfalls(cell, figures[cell.name], method, before)
                    settings = {"cell": cell.name, "setting": _setting(cell), "method": method}
                    rows.append(
                        settings
                        | row(cell, figures[cell.name], method)
                        | ({"not met": "; ".join(failed)} if failed else {})
                    )
        columns = list(
            dict.fromkeys(
                ["cell", "setting", "method", "coverage", *(c for r in rows for c in r if c != "not met"), "not met"]
            )
        )
        lines += [f"## {group}", "", *_joined(columns, rows), ""]
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines).rstrip() + "\n")


def _setting(cell: Cell) -> str:
    shares = ", ".join(f"{share:.3g}" for share in cell.shares)
    second = (
        ""
        if cell.second is None or cell.second == cell.shares
        else " to " + ", ".join(f"{share:.3g}" for share in cell.second)
    )
    learner = "scores given" if cell.scored else cell.learner
    validation = "" if cell.scored else f", validation {cell.validation}"
    return f"{cell.labelled:,} labelled, {learner}{validation}; {cell.target:,} items, shares {shares}{second}"


def _summary(cells: list[Cell], figures: dict[str, Figures], before: dict[str, Any]) -> list[str]:
    """Return the ten lowest coverages that are judged, and what is not met."""
    found = []
    for cell in cells:
        for method in cell.methods if cell.name in figures and cell.kind in ("estimate", "difference") else ():
            held = figures[cell.name].mean(method, "held")
            if held is not None and method not in cell.reported:
                worst = float(held[judged_classes(cell)].min())
                n = figures[cell.name].methods[method]["n"]
                found.append((worst - cell.floor, worst, error(worst, n), cell, method))
    found.sort(key=lambda item: item[0])
    rows = [
        {
            "cell": cell.name,
            "method": method,
            "lowest coverage": f"{100 * worst:.1f} ± {100 * se:.1f}",
            "required": f"{100 * cell.floor:.0f}",
        }
        for _, worst, se, cell, method in found[:10]
    ]
    failed = failures(cells, figures, before)
    judged = f"{len(found):,} pairs of a cell and a method are judged by coverage. "
    verdict = f"{len(failed)} requirements are not met." if failed else "All requirements are met."
    listed = [f"- {line}" for line in failed]
    return [
        "## Worst first",
        "",
        judged + verdict,
        "",
        *listed,
        *([""] if listed else []),
        *([_WHY, ""] if any("earlier version" in line for line in failed) else []),
        *_joined(list(rows[0]) if rows else [], rows),
        "",
    ]
