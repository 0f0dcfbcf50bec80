"""The summary of a study as Markdown, to be read in a repository: sentences, pictures, claims, tables, provenance, time."""

from collections.abc import Sequence

from headcount._escaping import escape_markdown
from headcount.report.drawing import Plot
from headcount.report.page import Section
from headcount.report.page_contents import Contents

__all__ = ["pictures", "summary"]


def pictures(sections: Sequence[Section]) -> dict[str, str]:
    """Return the plots of sections as SVG files, by name of file."""
    return {file: plot.standalone() for name, _, plots in sections for file, plot in _named(name, plots)}


def _named(name: str, plots: Sequence[Plot]) -> list[tuple[str, Plot]]:
    return [(f"{name}-{i}.svg", plot) for i, plot in enumerate(plots, 1)]


def summary(contents: Contents, command: str, sections: Sequence[Section] = (), folder: str = "") -> str:
    """Return the summary.

    Parameters
    ----------
    contents : Contents
    command : str
        The command line that writes it.
    sections : sequence of (id, title, plots)
        What to show pictures of (`overview_plots`); the files of `pictures` lie in `folder`.
    folder : str
    """
    parts = [
        f"# {escape_markdown(contents.plan.title)}",
        f"Written by `{command}`; from the store alone, nothing is fitted.",
        *map(escape_markdown, contents.words),
    ]
    reproduction = contents.reproduction
    if reproduction.comparisons:
        parts += ["## Measured beside published", *reproduction.in_words()]
        agreement, figures = contents.agreement
        parts.append(agreement.to_markdown())
        if reproduction.misses:
            parts.append("These figures are outside the stricter tolerance of their measure:")
            parts.append(_as_list(reproduction.misses))
    parts += ["## The paper's conclusions", _claims(contents)]
    if sections:
        parts += ["## All methods compared", *_shown(sections, folder)]
    parts += ["## Tables", *(table.to_markdown() for table in reversed(contents.tables))]
    if contents.settings.rows:
        parts += [contents.settings.to_markdown()]
    if reproduction.comparisons:
        parts.append(figures.to_markdown())
    parts += ["## Fits that did not converge", _not_converged(contents)]
    if contents.missing:
        parts += ["## What is missing", _as_list(contents.missing)]
    parts += ["## Provenance", _as_list([f"{what}: {value}" for what, value in contents.provenance])]
    times = [
        f"| {escape_markdown(entry.data_set)} | {escape_markdown(entry.learner)} | {entry.choosing:.0f} | {entry.testing:.0f} |"
        for entry in contents.times
    ]
    head = "| data set | learner | seconds choosing | seconds testing |\n|---|---|---:|---:|"
    parts += ["## Time", "\n".join([head, *times])]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _shown(sections: Sequence[Section], folder: str) -> list[str]:
    """Return the pictures with their captions."""
    parts = []
    for name, title, plots in sections:
        parts += [f"### {title}", *dict.fromkeys(escape_markdown(plot.caption) for plot in plots)]
        for file, plot in _named(name, plots):
            picture = escape_markdown(plot.title)
            parts += [f"**{picture}**", f"![{picture}]({folder}/{file})"]
    return parts


def _as_list(sentences: list[str]) -> str:
    return "\n".join(f"- {escape_markdown(sentence)}" for sentence in sentences)


def _not_converged(contents: Contents) -> str:
    if not contents.not_converged:
        return "All fits whose results are shown here report that they converged."
    return _as_list(
        [
            f"{data_set}, {method} {learner}".strip() + f", run {run + 1}: {text}"
            for run, method, learner, data_set, text in contents.not_converged
        ]
    )


def _claims(contents: Contents) -> str:
    lines = ["| conclusion | here | published figures | why |", "|---|---|---|---|"]
    lines += [f"| {c.says} | {c.verdict} | {c.published} | {escape_markdown(c.why)} |" for c in contents.claims]
    return "\n".join(lines)
