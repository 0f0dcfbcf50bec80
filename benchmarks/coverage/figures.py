"""Sums of simulations to figures, and figures against what each cell must meet."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.coverage.cell import Cell

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
                    "n": int(self.methods[method]["n"]),
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


def judged_classes(cell: Cell) -> list[int]:
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
        for c in judged_classes(cell):
            if held[c] < cell.floor - 2 * error(cell.floor, n):
                words.append(f"class {c} covers {100 * held[c]:.1f}, least {100 * cell.floor:.0f}")
            if cell.kind == "estimate" and cell.can_cover_too_often(c) and held[c] > 0.99 + 2 * error(0.99, n):
                words.append(f"class {c} covers {100 * held[c]:.1f}, most 99")
        if cell.kind == "difference" and cell.second is None:
            words += _above("false positives", figures.mean(method, "rejected")[judged_classes(cell)].max(), 0.065, n)
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
    for c in judged_classes(cell):
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
