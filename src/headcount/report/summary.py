"""The summary of a study as Markdown, for those who read it in a repository: words, claims, tables, what it rests on."""

from headcount.report.contents import Contents
from headcount.report.table import plain

__all__ = ["summary"]


def summary(contents: Contents, command: str) -> str:
    """Return the summary; `command` is what wrote it."""
    parts = [
        f"# {plain(contents.title)}",
        f"Written by `{command}`; from the store alone, nothing is fitted.",
        plain(" ".join(contents.words)),
    ]
    near = contents.reproduction
    if near.of:
        parts += ["## Measured beside published", near.in_words()]
        if near.misses:
            parts.append("Not within:\n\n" + _listed(near.misses))
    parts += ["## The paper's conclusions", _claims(contents), "## Tables"]
    parts += [table.to_markdown() for table in reversed(contents.tables)]
    if near.of:
        parts.append(near.table.to_markdown())
    if contents.missing:
        parts += ["## What is missing", _listed(contents.missing)]
    parts += ["## Provenance", _listed([f"{what}: {value}" for what, value in contents.provenance])]
    spent = [
        f"| {plain(entry.data_set)} | {plain(entry.learner)} | {entry.choosing:.0f} | {entry.testing:.0f} |"
        for entry in contents.times
    ]
    head = "| data set | learner | seconds choosing | seconds testing |\n|---|---|---:|---:|"
    parts += ["## Time", "\n".join([head, *spent])]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _listed(sentences: list[str]) -> str:
    return "\n".join(f"- {plain(sentence)}" for sentence in sentences)


def _claims(contents: Contents) -> str:
    lines = ["| conclusion | here | published figures | why |", "|---|---|---|---|"]
    lines += [f"| {c.says} | {c.verdict} | {c.published} | {plain(c.why)} |" for c in contents.claims]
    return "\n".join(lines)
