"""The summary of a study as Markdown, to be read in a repository: sentences, claims, tables, provenance, time."""

from headcount.report.page_contents import Contents
from headcount.report.table import escape_markdown

__all__ = ["summary"]


def summary(contents: Contents, command: str) -> str:
    """Return the summary; `command` is the command line that writes it."""
    parts = [
        f"# {escape_markdown(contents.plan.title)}",
        f"Written by `{command}`; from the store alone, nothing is fitted.",
        escape_markdown(" ".join(contents.words)),
    ]
    reproduction = contents.reproduction
    if reproduction.of:
        parts += ["## Measured beside published", reproduction.in_words()]
        if reproduction.misses:
            parts.append("Not within:\n\n" + _as_list(reproduction.misses))
    parts += ["## The paper's conclusions", _claims(contents), "## Tables"]
    parts += [table.to_markdown() for table in reversed(contents.tables)]
    if reproduction.of:
        parts.append(reproduction.table.to_markdown())
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


def _as_list(sentences: list[str]) -> str:
    return "\n".join(f"- {escape_markdown(sentence)}" for sentence in sentences)


def _claims(contents: Contents) -> str:
    lines = ["| conclusion | here | published figures | why |", "|---|---|---|---|"]
    lines += [f"| {c.says} | {c.verdict} | {c.published} | {escape_markdown(c.why)} |" for c in contents.claims]
    return "\n".join(lines)
