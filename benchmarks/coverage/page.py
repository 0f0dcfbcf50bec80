"""Sums of simulations to figures, figures against what each cell must meet, and the page."""

from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import headcount as hc
from benchmarks.coverage.cells import Cell

NOT_ADDED = {"refused_reason", "raised_reason", "last_vacuous", "changed"}
WIDER = {"SLD bcts": 1.4, "SLD plain": 1.4}
"""Most times the earlier version's mean width, where that covers 94.5 % or more; 1.15 for other methods."""


@dataclass
class Figures:
    """Sums over the simulations of a cell, by method."""

    simulations: int
    seconds: float
    methods: dict[str, dict[str, Any]]

    def mean(self, method: str, name: str, by: str = "n") -> Any:
        """Return the mean of a figure over simulations that have one, an array or a number; None if there is none."""
        s = self.methods.get(method, {})
        return np.asarray(s[name], dtype=float) / s[by] if s.get(by) and name in s else None

    def kept(self) -> dict[str, Any]:
        """Return coverage and mean width by method, as an earlier version's figures are kept."""
        kept = {}
        for method in self.methods:
            held, width = self.mean(method, "held"), self.mean(method, "width")
            if held is not None and width is not None:
                kept[method] = {
                    "n": self.methods[method]["n"],
                    "held": np.round(held, 4).tolist(),
                    "width": np.round(width, 5).tolist(),
                }
        return kept


def merged(blocks: list[dict[str, Any]]) -> Figures:
    """Add up blocks of simulations."""
    figures = Figures(0, 0.0, {})
    for row in blocks:
        figures.simulations += row["simulations"]
        figures.seconds += row["seconds"]
        for method, sums in row["methods"].items():
            total = figures.methods.setdefault(method, {})
            for name, value in sums.items():
                if name == "changed":
                    total[name] = max(total.get(name, 0.0), value)
                elif name in NOT_ADDED or name not in total:
                    total[name] = value if isinstance(value, str) else np.asarray(value, dtype=float)
                else:
                    total[name] = total[name] + np.asarray(value, dtype=float)
    return figures


def error(p: float, n: float) -> float:
    """Return the Monte Carlo standard error of a share."""
    return float(np.sqrt(p * (1 - p) / max(n, 1)))


def _classes(cell: Cell) -> list[int]:
    """Return the classes whose intervals count: of two, the second, as the first's is its mirror image."""
    return [1] if len(cell.shares) == 2 else list(range(len(cell.shares)))


def shortfalls(cell: Cell, figures: Figures, method: str, before: dict[str, Any]) -> list[str]:
    """Return in words what a method does not meet in a cell, beyond two Monte Carlo errors."""
    s = figures.methods.get(method, {})
    words = [f"raised in {s['raised']:.0f}: {s['raised_reason']}"] if s.get("raised") else []
    n = float(s.get("n", 0))
    if method in cell.reported or not n:
        return words
    if cell.kind == "family":
        words += _above("any rejection", figures.mean(method, "any"), 0.065, n)
    elif cell.kind == "rename":
        words += [f"renaming changes shares by {s['changed']:.1e}"] if s["changed"] >= 1e-6 else []
    elif cell.kind == "stability":
        ratio = float(figures.mean(method, "deviation")[1] / figures.mean(method, "width")[1])
        words += [f"deviation over seeds is {ratio:.2f} of the width"] if ratio > 1 / 3 else []
    else:
        held = figures.mean(method, "held")
        for c in _classes(cell):
            if held[c] < cell.floor - 2 * error(cell.floor, n):
                words.append(f"class {c} covers {100 * held[c]:.1f}, least {100 * cell.floor:.0f}")
            if cell.kind == "estimate" and cell.may_be_too_wide(c) and held[c] > 0.99 + 2 * error(0.99, n):
                words.append(f"class {c} covers {100 * held[c]:.1f}, most 99")
        if cell.kind == "difference" and cell.second == cell.shares:
            words += _above("false positives", figures.mean(method, "rejected")[_classes(cell)].max(), 0.065, n)
        if cell.kind == "estimate":
            words += _estimate_shortfalls(cell, figures, method)
        words += _wider(cell, figures, method, before)
    return words


def _estimate_shortfalls(cell: Cell, figures: Figures, method: str) -> list[str]:
    s, words = figures.methods[method], []
    joint = figures.mean(method, "joint", "joint_n")
    if joint is not None:
        low, high = (0.98, 1.0) if cell.level == 0.99 else (0.92, 0.99)
        enough = all(share == 0 or share * cell.target >= 10 for share in cell.shares)
        if joint < low - 2 * error(low, s["joint_n"]):
            words.append(f"region covers {100 * joint:.1f}, least {100 * low:.0f}")
        if cell.identified and enough and joint > high + 2 * error(high, s["joint_n"]):
            words.append(f"region covers {100 * joint:.1f}, most {100 * high:.0f}")
    if s["zero"].max() > 0:
        words.append(f"{s['zero'].max():.0f} intervals of zero width")
    if cell.auc and s.get("informative", 0) >= 20:
        words += _above("vacuous", figures.mean(method, "informative_vacuous", "informative"), 0.05, s["informative"])
    return words


def _above(what: str, value: Any, most: float, n: float) -> list[str]:
    return [f"{what} {100 * value:.1f} %, most {100 * most:g}"] if value > most + 2 * error(most, n) else []


def _wider(cell: Cell, figures: Figures, method: str, before: dict[str, Any]) -> list[str]:
    earlier = before.get(cell.name, {}).get(method)
    if earlier is None:
        return []
    words, width = [], figures.mean(method, "width")
    for c in _classes(cell):
        most = WIDER.get(method, 1.15) * earlier["width"][c]
        if earlier["held"][c] >= 0.945 and width[c] > most:
            words.append(
                f"class {c} is {width[c]:.4f} wide, {width[c] / earlier['width'][c]:.2f} times the earlier version's"
            )
    return words


def failures(cells: list[Cell], figures: dict[str, Figures], before: dict[str, Any]) -> list[str]:
    """Return one line for each requirement that is not met."""
    lines = []
    for cell in cells:
        for method in cell.methods if cell.name in figures else ():
            lines += [
                f"{cell.name} | {method}: {word}" for word in shortfalls(cell, figures[cell.name], method, before)
            ]
    return lines


def row(cell: Cell, figures: Figures, method: str) -> dict[str, str]:
    """Return the cells of a table's row for one method."""
    s, n = figures.methods.get(method, {}), float(figures.methods.get(method, {}).get("n", 0))
    if not n:
        return {"coverage": "none: " + ("refused" if s.get("refused") else "raised" if s.get("raised") else "not run")}
    if cell.kind == "family":
        return {"any rejection": f"{100 * figures.mean(method, 'any'):.1f}"}
    if cell.kind == "rename":
        return {"largest change": f"{s['changed']:.1e}"}
    shown = _classes(cell)
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
    path: Path,
    cells: list[Cell],
    figures: dict[str, Figures],
    before: dict[str, Any],
    seed: int,
    code: str,
    seconds: float,
) -> None:
    """Write the page: a summary with the worst cells first, then one section for each group of cells."""
    lines = [
        "# How often the intervals hold the truth",
        "",
        f"Percent, by simulation, made by `make coverage-table`: seed {seed}, headcount {hc.__version__} (source {code}), numpy "
        f"{version('numpy')}, scipy {version('scipy')}, scikit-learn {version('scikit-learn')}; {seconds / 60:.0f} minutes. In each "
        "simulation labelled items are drawn, the classifier and the quantifier are fitted on them, and a target is drawn; the truth is "
        "the share in the population that the target is drawn from, unless a section says otherwise. Intervals are nominal 95 % unless "
        "said. Coverage is that of each class's interval (of two classes, the second's).",
        "",
        "**What a cell must meet**, within two Monte Carlo errors: coverage at least 93 %, 92 with an absent class or with folds on at "
        "most 200 labelled items, 98 at level 99 %; at most 99 where the class's share is above 0 and at least 10 items of it are "
        "expected; regions for all classes at once 92 to 99; false positives of a comparison, or of a whole family of them, at most "
        "6.5 %; at most 5 % vacuous intervals (wider than .95) where the classifier's AUC says that more is known. Plain SLD, whose "
        "interval holds only if posteriors are calibrated, and the bootstrap are shown and not judged, except where posteriors are true.",
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
    learner = "scores given" if cell.world.scorer() is not None else cell.learner
    validation = "" if cell.world.scorer() is not None else f", validation {cell.validation}"
    return f"{cell.labelled:,} labelled, {learner}{validation}; {cell.target:,} items, shares {shares}{second}"


def _summary(cells: list[Cell], figures: dict[str, Figures], before: dict[str, Any]) -> list[str]:
    """Return the ten lowest coverages that are judged, and what is not met."""
    found = []
    for cell in cells:
        for method in cell.methods if cell.name in figures and cell.kind in ("estimate", "difference") else ():
            held = figures[cell.name].mean(method, "held")
            if held is not None and method not in cell.reported:
                worst = float(held[_classes(cell)].min())
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
        *_joined(list(rows[0]) if rows else [], rows),
        "",
    ]
