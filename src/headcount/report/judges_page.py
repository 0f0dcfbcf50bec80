"""The HTML page and the plot of corrected judges: the answer, what to make of it, warnings, groups, the judges one by one."""

import warnings
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from headcount._escaping import page_text
from headcount._validation import plain
from headcount.judges import CorrectedGroup, JudgedShares, JudgeReport
from headcount.report.shares_plot import OMITTED_METADATA

__all__ = ["page_of_judges", "plot_of_judges"]

_MOST_BIASED = 6
"""Classes whose bias stands in the table of judges: those with the largest shares."""
_MOST_MATRICES = 6
"""Judges whose confusion matrix is shown: those to keep first."""
_WIDEST_MATRIX = 12
"""Classes up to which confusion matrices are shown."""
_ESTIMANDS = {
    "sample": "The shares are those among exactly these items.",
    "population": "These items are taken as a random sample: the intervals allow for the fact that other items from the same "
    "source would have slightly different shares.",
}


def page_of_judges(result: JudgedShares, *, label: str = "", by: str = "", files: Sequence[Any] = ()) -> str:
    """Make a self-contained HTML page to read, print and share, for light and dark screens of any width.

    Parameters
    ----------
    result : JudgedShares
    label : str, optional
        The column of human labels, for the title.
    by : str, optional
        Title of the column of groups.
    files : sequence, optional
        The tables, named at the end.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("headcount.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=page_text,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    total = result.total
    rows = _rows(result, total)
    judges = sorted(result.judges, key=lambda report: (report.name not in result.kept.names, -report.effective_labels))
    biased = sorted(np.argsort(-total.shares, kind="stable")[:_MOST_BIASED].tolist())
    names = [str(plain(one)) for one in result.classes]
    page = environment.get_template("judges.html").render(
        title=f"Judges corrected by {label or 'human labels'}" + (f", by {by.replace(', ', ' and ')}" if by else ""),
        by=by or "group",
        n_items=f"{result.n_items:,}",
        n_labelled=f"{result.n_labelled:,}",
        level=f"{100 * result.level:g} %",
        estimand=_ESTIMANDS[result.estimand],
        rows=rows,
        largest=rows[int(total.shares.argmax())],
        sentences=result.sentences(),
        warnings=result.warnings,
        groups=[
            {
                "name": group.label,
                "n": f"{group.n_items:,}",
                "labelled": f"{group.n_labelled:,}",
                "rows": _rows(result, group),
            }
            for group in result.groups
        ],
        shifted=any(group.shifted is not None for group in result.groups),
        judges=[_judge_row(report, biased, report.name in result.kept.names) for report in judges],
        biased=[names[j] for j in biased],
        n_biased=len(names),
        matrices=[_matrix(report, names) for report in judges[:_MOST_MATRICES]] if len(names) <= _WIDEST_MATRIX else [],
        facts={
            "Items": ", ".join("standard input" if str(name) == "-" else Path(name).name for name in files),
            "Judges": ", ".join(report.name for report in result.judges),
            "Intervals": f"{100 * result.level:g} %, by a score test with the variance of left-out residuals",
        },
    )
    return page.encode("utf-8", "replace").decode()  # a name may hold half a surrogate pair, which no file can


def _rows(result: JudgedShares, group: CorrectedGroup) -> list[dict[str, str]]:
    rows = []
    for j, label in enumerate(result.classes):
        share, interval = _share(group.shares[j], group.low[j], group.high[j])
        alone, alone_interval = _share(group.shares_alone[j], group.low_alone[j], group.high_alone[j])
        shifted = ("", "")
        if group.shifted is not None and group.shifted_low is not None and group.shifted_high is not None:
            shifted = _share(group.shifted[j], group.shifted_low[j], group.shifted_high[j])
        rows.append(
            {
                "label": str(plain(label)),
                "share": share,
                "interval": interval,
                "alone": alone,
                "alone_interval": alone_interval,
                "shifted": shifted[0],
                "shifted_interval": shifted[1],
                "bar": f"--s:{group.shares[j]:.4f};--l:{group.low[j]:.4f};--h:{group.high[j]:.4f}",
            }
        )
    return rows


def _share(share: float, low: float, high: float) -> tuple[str, str]:
    if share != share:  # NaN
        return "too few labels", ""
    return f"{100 * share:z.1f} %", f"{100 * low:z.1f} to {100 * high:z.1f}"


def _judge_row(report: JudgeReport, biased: list[int], keep: bool) -> dict[str, Any]:
    def signed(value: float) -> str:
        return f"{100 * value:+z.1f}".replace("-", "\u2212")

    accuracy, kappa = report.accuracy, report.kappa
    return {
        "name": report.name,
        "keep": keep,
        "worth": f"{report.effective_labels:,.0f}",
        "accuracy": (f"{100 * accuracy[0]:.0f} %", f"{100 * accuracy[1]:.0f} to {100 * accuracy[2]:.0f}"),
        "kappa": (
            f"{kappa[0]:z.2f}".replace("-", "\u2212"),
            f"{kappa[1]:z.2f} to {kappa[2]:z.2f}".replace("-", "\u2212"),
        ),
        "abstained": f"{report.n_abstained:,}",
        "bias": [
            (signed(report.bias[j]), f"{signed(report.bias_low[j])} to {signed(report.bias_high[j])}") for j in biased
        ],
    }


def _matrix(report: JudgeReport, names: list[str]) -> dict[str, Any]:
    some = bool(report.confusion[:, -1].any())
    width = len(names) + some
    rows = [
        {"label": name, "counts": [f"{n:,}" for n in row[:width]]}
        for name, row in zip(names, report.confusion, strict=True)
    ]
    return {"name": report.name, "heads": [*names, *(["no class"] if some else [])], "rows": rows}


def plot_of_judges(result: JudgedShares, format: str = "svg") -> bytes:  # noqa: A002
    """Plot corrected shares beside those of the labels alone and of each judge; the same shares give the same bytes."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(
        {"svg.hashsalt": "headcount", "svg.fonttype": "none", "font.family": "sans-serif", "text.parse_math": False}
    ):
        figure = Figure(figsize=(max(6.0, min(1.1 * len(result.classes) + 2.0, 14.0)), 4.2), layout="constrained")
        result.plot(figure.add_subplot())
        picture = BytesIO()
        metadata: dict[str, Any] = dict.fromkeys(OMITTED_METADATA[format])
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing")  # names in scripts that the font lacks
            figure.savefig(picture, format=format, dpi=150, transparent=format == "svg", metadata=metadata)
    return picture.getvalue()
