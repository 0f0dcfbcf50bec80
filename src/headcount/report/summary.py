"""The summary of a study as Markdown, for those who read it in a repository: words, claims, tables, what it rests on."""

from headcount.report.contents import Contents
from headcount.report.figures import Errors
from headcount.report.reproduction import reproduction

__all__ = ["summary"]


def summary(contents: Contents, errors: Errors, command: str) -> str:
    """Return the summary; `command` is what wrote it."""
    parts = [
        f"# {contents.title}",
        f"Written by `{command}`; from the store alone, nothing is fitted.",
        " ".join(contents.words),
    ]
    near = reproduction(errors)
    if near.of:
        parts += ["## Measured beside published", near.in_words()]
        if near.misses:
            parts.append("Not within:\n\n" + "\n".join(f"- {miss}" for miss in near.misses))
    parts += ["## The paper's conclusions", _claims(contents), "## Tables"]
    parts += [table.to_markdown() for table in reversed(contents.tables)]
    if near.of:
        parts.append(near.table.to_markdown())
    if contents.missing:
        parts += ["## What is missing", "\n".join(f"- {sentence}" for sentence in contents.missing)]
    parts += ["## Provenance", "\n".join(f"- {what}: {value}" for what, value in contents.provenance)]
    spent = [
        f"| {entry.data_set} | {entry.learner} | {entry.choosing:.0f} | {entry.testing:.0f} |"
        for entry in contents.times
    ]
    head = "| data set | learner | seconds choosing | seconds testing |\n|---|---|---:|---:|"
    parts += ["## Time", "\n".join([head, *spent])]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _claims(contents: Contents) -> str:
    lines = ["| conclusion | here | published figures | why |", "|---|---|---|---|"]
    lines += [f"| {c.says} | {c.verdict} | {c.published} | {c.why} |" for c in contents.claims]
    return "\n".join(lines)
